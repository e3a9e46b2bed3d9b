import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats
from tests.strategies import Halved, Jumbled

import passerby as pb
from passerby.mechanisms.laws import mixture_information

EVERY = [pb.Raw(), pb.Gaussian(0.3), pb.Gaussian(1.0), pb.Gaussian(5), Jumbled(0.4), Halved()]


@pytest.mark.parametrize("sigma", [0, 0.0, -1.0, math.inf, -math.inf, math.nan, "1", None])
def test_gaussian_refuses_sigma(sigma: Any) -> None:
    with pytest.raises(pb.InputError, match=r"Gaussian\(sigma=" + str(sigma if sigma != "1" else "'1'")):
        pb.Gaussian(sigma)


def test_gaussian_refuses_a_flag() -> None:
    with pytest.raises(pb.InputError, match="sigma"):
        pb.Gaussian(True)


def test_records_are_equal_when_their_settings_are() -> None:
    assert pb.Gaussian(1.0) == pb.Gaussian(1.0) != pb.Gaussian(2.0)
    assert pb.Raw() == pb.Raw()
    assert repr(pb.Gaussian(sigma=1.5)) == "Gaussian(sigma=1.5)"


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
@pytest.mark.parametrize("count", [0, 1])
class TestEvery:
    """What the rest of the package relies on, for any mechanism."""

    def test_total_variation_is_that_of_the_likelihoods(self, mechanism: pb.Mechanism, count: int) -> None:
        outputs = mechanism.outputs(count)
        if outputs is None:

            def gap(value: float) -> float:
                return float(np.abs(np.subtract(*np.exp([mechanism.log_likelihood(value, count + i) for i in (0, 1)]))))

            found = (
                integrate.quad(gap, count - 40, count + 41, points=[count, count + 0.5, count + 1], limit=400)[0] / 2
            )
        else:
            laws = np.exp([mechanism.log_likelihood(outputs, count + i) for i in (0, 1)])
            np.testing.assert_allclose(laws.sum(axis=1), 1)
            found = float(np.abs(laws[0] - laws[1]).sum() / 2)
        assert mechanism.total_variation(count) == pytest.approx(found, abs=1e-7)

    def test_samples_follow_the_likelihood(self, mechanism: pb.Mechanism, count: int) -> None:
        runs = 20_000
        drawn = mechanism.sample(np.full(runs, count), np.random.default_rng(5))
        assert drawn.shape == (runs,)
        assert drawn.dtype == np.float64
        outputs = mechanism.outputs(count)
        if outputs is None:
            assert isinstance(mechanism, pb.Gaussian)
            assert stats.kstest(drawn, stats.norm(count, mechanism.sigma).cdf).pvalue > 1e-4
        else:
            law = np.exp(mechanism.log_likelihood(outputs, count))
            seen = (drawn[:, None] == outputs).mean(axis=0)
            np.testing.assert_allclose(seen, law, atol=4 * np.sqrt(0.25 / runs))

    def test_shift_invariance(self, mechanism: pb.Mechanism, count: int) -> None:
        if mechanism.shift_invariant:
            values = np.array([-0.5, 0.0, 1.0, 2.5])
            here = mechanism.log_likelihood(values + count, count)
            np.testing.assert_allclose(mechanism.log_likelihood(values, 0), here, atol=1e-12)

    def test_one_person_more_is_a_ratio(self, mechanism: pb.Mechanism, count: int) -> None:
        drawn = mechanism.sample(np.repeat([count, count + 1], 5), np.random.default_rng(3))
        more, less = (mechanism.log_likelihood(drawn, count + i) for i in (1, 0))
        np.testing.assert_allclose(mechanism.log_ratio(drawn, count), more - less, atol=1e-12)

    def test_broadcasts(self, mechanism: pb.Mechanism, count: int) -> None:
        assert mechanism.log_likelihood(np.zeros((4, 1)), np.full(3, count)).shape == (4, 3)


def test_gaussian_density_does_not_underflow() -> None:
    value = pb.Gaussian(1e-3).log_likelihood(1.0, 0)
    assert float(value) == pytest.approx(-0.5e6 - math.log(1e-3 * math.sqrt(2 * math.pi)))


@pytest.mark.parametrize("presence", [1e-300, 1e-310])
def test_somebody_who_is_next_to_never_there_is_told_of_next_to_nothing(presence: float) -> None:
    """Whether a bit is 1 that is so with probability p, told for certain: -p log p, where p is a tiny number."""
    told = mixture_information(presence, np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert told == pytest.approx(-presence * math.log(presence), rel=1e-6)


def test_a_presence_above_one_by_rounding_is_one() -> None:
    """The law of both cases together would otherwise be negative where one of them is next to nothing."""
    absent, present = np.array([1.0, 1e-18]), np.array([1e-18, 1.0])
    assert mixture_information(1 + 2.0**-52, absent, present) == mixture_information(1.0, absent, present) == 0.0


@dataclass(frozen=True)
class Broad(pb.Discrete):
    """So many values, all as likely, but for one that the target changes."""

    size: int
    shift_invariant = True

    def law(self, count: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return count + np.arange(float(self.size)), np.full(self.size, 1 / self.size)


def test_laws_of_many_values_are_measured_and_of_too_many_refused() -> None:
    prior = pb.MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    size = 100_000
    loss = pb.measure(prior, pb.Release([0], Broad(size)), 0)
    assert loss.lower * (1 - 1e-9) <= 0.5 + 0.5 / size <= loss.upper * (1 + 1e-9)
    with pytest.raises(pb.InputError, match="its law has 1,000,001 values, of which at most 1,000,000 are listed"):
        pb.measure(prior, pb.Release([0], Broad(1_000_001)), 0)
