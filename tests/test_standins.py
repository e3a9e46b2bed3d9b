"""Stand-ins for continuous noise: one tells less than the mechanism, the other more, whatever is asked."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import laplace, norm

import passerby as pb
from passerby.series import bracketing_series
from passerby.standins import CUTS, stand_ins

Floats = NDArray[np.float64]
SPREADS = [1e-4, 0.02, 0.3, 1.0, 4.0, 100.0]


def noise(kind: str, spread: float) -> pb.Mechanism:
    return pb.Gaussian(spread) if kind == "gaussian" else pb.Laplace(spread)


def told(kind: str, spread: float, presence: float) -> float:
    """How often "was the person there?" is answered right from the published value, by integration."""
    law = norm(scale=spread) if kind == "gaussian" else laplace(scale=spread)
    ends = [-40 * spread, 0, 0.5, 1, 1 + 40 * spread]
    # Where the two are as likely.
    odds = math.log((1 - presence) / presence)
    threshold = 0.5 + spread**2 * odds if kind == "gaussian" else (spread * odds + 1) / 2
    cuts = sorted({*ends, min(max(threshold, ends[0]), ends[-1])})

    def better(y: float) -> float:
        return float(max((1 - presence) * law.pdf(y), presence * law.pdf(y - 1)))

    return sum(quad(better, a, b, limit=200)[0] for a, b in pairwise(cuts))


def answered(table: Floats, presence: float) -> float:
    return float(np.maximum((1 - presence) * table[:, 0], presence * table[:, 1]).sum())


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("cuts", range(1, len(CUTS) + 1))
def test_are_laws_with_increasing_ratios(kind: str, spread: float, cuts: int) -> None:
    pair = stand_ins(noise(kind, spread), 3, cuts)
    assert pair is not None
    for table in pair:
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-9)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("cuts", range(1, len(CUTS) + 1))
def test_bracket_the_mechanism_for_every_prior(kind: str, spread: float, cuts: int) -> None:
    """Of two experiments about a yes or no, one tells more if it is the better one for all priors (Blackwell)."""
    pair = stand_ins(noise(kind, spread), 0, cuts)
    assert pair is not None
    for presence in (0.01, 0.1, 0.3, 0.5, 0.8, 0.97):
        exact = told(kind, spread, presence)
        less, more = (answered(table, presence) for table in pair)
        assert less - 1e-7 <= exact <= more + 1e-7


@given(st.sampled_from(["gaussian", "laplace"]), st.sampled_from(SPREADS), st.floats(0.001, 0.999))
def test_more_cuts_tell_apart_what_few_do(kind: str, spread: float, presence: float) -> None:
    for cuts in range(1, len(CUTS) + 1):
        pair = stand_ins(noise(kind, spread), 0, cuts)
        assert pair is not None
        less, more = (answered(table, presence) for table in pair)
        assert max(presence, 1 - presence) - 1e-9 <= less <= more + 1e-9


def test_hardly_any_noise_is_no_noise() -> None:
    for kind in ("gaussian", "laplace"):
        pair = stand_ins(noise(kind, 1e-4), 0, 3)
        assert pair is not None
        for table in pair:
            assert answered(table, 0.5) == pytest.approx(1, abs=1e-9)


def test_series_of_stand_ins_are_few_enough_or_none() -> None:
    prior = pb.line_prior(6)
    release = pb.Release([[0, 1], 2, 3], pb.Gaussian(1.0))
    pair = bracketing_series(prior, release, 512, 0.01)
    assert pair is not None
    for series in pair:
        assert len(series) <= 512
        assert series.mass.sum() == pytest.approx(1)
    assert bracketing_series(prior, release, 50, 0.01) is None
    assert bracketing_series(prior, pb.Release([[0, 1], 2, 3]), 512, 0.01) is None
