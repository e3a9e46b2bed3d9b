import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from tests.guesses import masked_cases, successes
from tests.hostile import Hostile, exact_loss, hostile_cases
from tests.oracle import World
from tests.strategies import FINITE, Case, chain

import passerby as pb
from passerby.kernels.search.ceiling import quick_ceilings
from passerby.outcomes.series import enumerate_series, relative
from passerby.questions.trace.guess import log_posterior
from passerby.questions.trace.subsample import quick_ceiling

Floats = NDArray[np.float64]


def told(start: Floats, moves: Floats, named: Floats, misses: int) -> float:
    """The plain twin, on a posterior chain: with k misses left before each step, name a place, then be told."""
    steps, places = len(moves) + 1, len(start)
    value = np.ones((misses + 1, places))
    for t in range(steps - 1, -1, -1):
        rows = start[None] if t == 0 else moves[t - 1]
        before = np.ones((misses + 1, len(rows)))
        for k in range(min(misses + 1, steps - t)):
            wrong = value[k - 1] if k else np.zeros(places)
            before[k] = rows @ wrong + np.max(rows * (value[k] - wrong) * named, axis=1)
        value = before
    return float(value[misses, 0])


@given(masked_cases(mechanisms=FINITE))
def test_no_guess_exceeds_it_and_it_is_telling_the_past(case: Case) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    found = quick_ceilings(
        case.prior.initial,
        case.prior.matrices,
        case.release.classes(case.prior),
        relative(series.evidence),
        case.prior.named,
        case.misses,
    )
    for evidence, bound in zip(series.evidence, found, strict=True):
        start, moves = log_posterior(case.prior, case.release, evidence)
        assert bound == pytest.approx(min(1.0, told(start, moves, case.prior.named, case.misses)), rel=1e-9)
    world = World(case.prior, case.steps)
    best = successes(world, world.likelihoods(case.release), case.misses, case.prior.guessable).sum()
    assert (
        best
        <= series.mass @ quick_ceiling(case.prior, case.release, series, case.misses) * (1 + 1e-9) + series.left_over
    )


@given(hostile_cases())
def test_no_guess_exceeds_it_where_numbers_are_tiny(case: Hostile) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    found = quick_ceiling(case.prior, case.release, series, case.misses)
    assert (found > 0).all()
    upper = float(series.mass @ found) + series.left_over
    assert float(exact_loss(case)) <= upper * (1 + case.error) + 1e-290


def test_a_series_that_numbers_may_have_vanished_from_is_not_bounded() -> None:
    prior, release = chain(0, 3, 4, "varying"), pb.Release([0, 1, 2, 0])
    weights = np.ones((3, 4, 2))
    weights[1, :, 1] = 1e-70  # as unlikely as it gets, and still bounded
    weights[2] = 1e-70
    found = quick_ceilings(prior.initial, prior.matrices, release.classes(prior), weights, prior.named, 1)
    assert (found[:2] < 1).all()
    assert found[2] == 1
    weights[0, 2] = 0.0  # impossible
    assert quick_ceilings(prior.initial, prior.matrices, release.classes(prior), weights, prior.named, 1)[0] == 1


def test_states_that_share_places_are_not_bounded() -> None:
    shared = pb.MarkovPrior([0.2, 0.3, 0.5], np.full((3, 3), 1 / 3), place_of=[0, 0, 1])
    series = enumerate_series(shared, pb.Release([1, 1]))
    assert series is not None
    assert (quick_ceiling(shared, pb.Release([1, 1]), series, 0) == 1).all()
