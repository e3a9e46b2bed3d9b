import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guesses import masked_cases
from tests.oracle import World
from tests.strategies import Case

import passerby as pb
from passerby.kernels import stretchwise
from passerby.posterior import bracket_stretches


def raw(case: Case) -> pb.Release:
    return pb.Release(case.release.sensors)


@given(masked_cases(), st.sampled_from([0.0, 1e4, 1e9]), st.sampled_from([0.0, 0.05]))
def test_best_guess_over_all_series_is_bracketed(case: Case, budget: float, tolerance: float) -> None:
    release = raw(case)
    found = bracket_stretches(case.prior, release, case.misses, tolerance, budget)
    if found is None:
        assert not release.grid.size or not case.prior.guessable[release.grid[release.grid >= 0]].all()
        return
    world = World(case.prior, case.steps)
    allowed = case.prior.guessable[world.traces].all(axis=1)
    channel = world.sightings(release)
    best = ((channel * world.chance) @ (world.distance <= case.misses))[:, allowed].max(axis=1).sum()
    assert found.lower <= best * (1 + 1e-12) + 1e-15
    assert best <= found.upper * (1 + 1e-12) + 1e-15


@given(masked_cases())
def test_without_misses_the_bracket_is_closed(case: Case) -> None:
    release = raw(case)
    found = bracket_stretches(case.prior, release, 0, 0.0, 1e9)
    if found is not None:
        assert found.upper == pytest.approx(found.lower, rel=1e-12)


def test_a_day_of_hours_is_closed_within_the_tolerance() -> None:
    rng = np.random.default_rng(3)
    moves = 0.8 * np.eye(6) + 0.2 * rng.dirichlet(np.ones(6), 6)
    prior = pb.MarkovPrior(np.full(6, 1 / 6), moves)
    release = pb.Release([[0, 1, 2]] * 24)
    found = bracket_stretches(prior, release, 1, 0.05, 1e9)
    assert found is not None
    assert found.lower <= found.upper <= found.lower * 1.05
    drawn = pb.measure(prior, release, 1, series="sample", runs=400, seed=1)
    assert found.lower <= drawn.upper
    error = drawn.attacks["ascent"].error
    assert found.upper >= drawn.attacks["ascent"].value - 4 * error


def test_chances_of_what_comes_next_add_up_to_one() -> None:
    rng = np.random.default_rng(5)
    prior = pb.MarkovPrior(np.full(4, 0.25), rng.dirichlet(np.ones(4), 4))
    release = pb.Release([[0, 1], [2], [], [1, 3]])
    steps, sensors = release.grid.shape
    chance = np.zeros((1 + steps * sensors, steps * sensors + 1))
    upper = np.ones((*chance.shape, 2))
    hidden = stretchwise.unseen(release.grid, 4)
    stretchwise.tell_the_past(prior.initial, prior.matrices, release.grid, hidden, np.ones(4), chance, upper)
    there = np.append(True, release.grid.reshape(-1) >= 0)
    assert chance.sum(axis=1) == pytest.approx(there.astype(float))
