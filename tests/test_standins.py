import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import passerby as pb
from passerby.mechanisms.base import mixture_information
from passerby.series import bracketing_series, enumerate_series
from passerby.standins import CUTS, stand_ins

NOISES = st.one_of(
    st.floats(0.05, 20).map(pb.Gaussian),
    st.floats(0.05, 20).map(pb.Laplace),
)


def best_guess(table: NDArray[np.float64], presence: float) -> float:
    """How often the bit is guessed right from an outcome."""
    return float(np.maximum((1 - presence) * table[:, 0], presence * table[:, 1]).sum())


@given(NOISES, st.integers(1, len(CUTS)), st.floats(0.001, 0.999))
def test_one_tells_less_and_one_tells_more(mechanism: pb.Mechanism, cuts: int, presence: float) -> None:
    pair = stand_ins(mechanism, 3, cuts)
    assert pair is not None
    less, more = pair
    for table in pair:
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)
    information = [mixture_information(presence, *table.T) for table in pair]
    assert information[0] <= mechanism.information(presence, 3) + 1e-9
    assert mechanism.information(presence, 3) <= information[1] + 1e-9
    assert best_guess(less, presence) <= best_guess(more, presence) + 1e-12
    # At even odds the advantage over a blind guess is half the total variation.
    assert 2 * best_guess(less, 0.5) - 1 <= mechanism.total_variation(3) + 1e-9
    assert mechanism.total_variation(3) <= 2 * best_guess(more, 0.5) - 1 + 1e-9


@given(NOISES)
def test_one_cut_in_the_middle_tells_the_truth_with_the_total_variation(mechanism: pb.Mechanism) -> None:
    pair = stand_ins(mechanism, 0, 1)
    assert pair is not None
    less, _ = pair
    assert less[1, 1] - less[1, 0] == pytest.approx(mechanism.total_variation(), abs=1e-9)


def test_finer_cuts_close_the_gap() -> None:
    gaps = []
    for cuts in range(1, len(CUTS) + 1):
        pair = stand_ins(pb.Gaussian(1.0), 0, cuts)
        assert pair is not None
        gaps.append(mixture_information(0.3, *pair[1].T) - mixture_information(0.3, *pair[0].T))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.35 * gaps[0]


def test_rules_with_few_outputs_need_none() -> None:
    assert stand_ins(pb.Raw(), 0, 1) is None
    prior, release = pb.line_prior(5), pb.Release([0, 1], pb.Raw())
    assert bracketing_series(prior, release, 100, 1.0) is None


def test_likely_sensors_get_the_finest_cuts() -> None:
    law = np.array([0.5, 0.05, 0.45, 0.0])
    prior = pb.MarkovPrior(law, np.tile(law, (4, 1)))
    pair = bracketing_series(prior, pb.Release([0, 1, 3], pb.Gaussian(1.0)), 20, 1.0)
    assert pair is not None
    for series, outcomes in zip(pair, (5 * 2, 6 * 3), strict=True):
        # The third sensor is where the person never is: it tells nothing, and multiplies nothing.
        assert len(series) == outcomes
        assert series.mass.sum() == pytest.approx(1)
        assert not series.sampled
    assert bracketing_series(prior, pb.Release([0] * 9, pb.Gaussian(1.0)), 1000, 1.0) is None


@given(st.integers(0, 10**6), st.floats(0.3, 4), st.integers(0, 2))
def test_the_loss_is_bracketed_without_chance(seed: int, sigma: float, misses: int) -> None:
    rng = np.random.default_rng(seed)
    prior = pb.MarkovPrior.stationary(rng.dirichlet(np.ones(4), 4))
    sensors = rng.integers(0, 4, 3)
    noisy = pb.measure(prior, pb.Release(sensors, pb.Gaussian(sigma)), misses, runs=300)
    assert not noisy.effort.sampled
    assert noisy.effort.confidence is None
    raw = pb.measure(prior, pb.Release(sensors), misses)
    assert noisy.lower <= raw.upper + 1e-9
    assert noisy.upper <= raw.upper * 1.0001
    sampled = pb.measure(prior, pb.Release(sensors, pb.Gaussian(sigma)), misses, runs=300, series="sample")
    assert sampled.effort.sampled
    estimate = sampled.attacks["ascent"]
    assert noisy.lower <= estimate.value * 1.011 + 5 * estimate.error
    assert noisy.upper >= estimate.value - 5 * estimate.error


def test_listing_leaves_nothing_over() -> None:
    prior = pb.line_prior(6)
    listed = enumerate_series(prior, pb.Release([1, 2], pb.Raw()), 1, 0.0)
    assert listed is None
