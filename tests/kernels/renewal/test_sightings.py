import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import masked_cases, successes
from tests.oracle import World
from tests.strategies import Case, cases

from passerby.kernels.renewal import sightings
from passerby.support.numbers import logs

Floats = NDArray[np.float64]


def reveals(case: Case, seed: int) -> Floats:
    """Random probabilities of being seen at each sensor, some of them 0 or 1."""
    rng = np.random.default_rng(seed)
    values = rng.random(case.release.grid.shape)
    return np.where(rng.random(values.shape) < 0.3, values.round(), values)


def unseen(case: Case, world: World, reveal: Floats) -> Floats:
    """For each trace and step (n, T), the probability of not being seen there."""
    out = np.ones((len(world.traces), case.steps))
    for t, step in enumerate(case.release.sensors):
        for j, place in enumerate(step):
            out[world.traces[:, t] == place, t] = 1 - reveal[t, j]
    return out


@given(cases(), st.integers(0, 10**6))
def test_stretches_are_those_of_all_traces(case: Case, seed: int) -> None:
    world, reveal = World(case.prior, case.steps), reveals(case, seed)
    hidden = unseen(case, world, reveal)
    steps, width = case.release.grid.shape
    first, stay = sightings.stretches(case.prior.initial, case.prior.matrices, case.release.grid, reveal)
    points = [(0, -1, 0, np.ones(len(world.traces), dtype=bool))]
    for t, step in enumerate(case.release.sensors):
        points += [(1 + t * width + j, t, j, world.traces[:, t] == place) for j, place in enumerate(step)]
    for u, since, _, there in points:
        chance = np.where(there, world.chance, 0.0)
        if chance.sum() == 0:
            continue
        chance = chance / chance.sum()
        for t in range(since + 1, steps):
            quiet = chance * hidden[:, since + 1 : t].prod(axis=1)
            for j, place in enumerate(case.release.sensors[t]):
                expected = quiet[world.traces[:, t] == place].sum()
                assert math.exp(first[u, t * width + j]) == pytest.approx(expected, abs=1e-12)
            assert math.exp(stay[u, t]) == pytest.approx((quiet * hidden[:, t]).sum(), abs=1e-12)


@given(cases(), st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]))
def test_the_power_sum_is_that_of_all_series(case: Case, power: float) -> None:
    if case.release.grid.shape[1] == 0:
        return
    world, reveal = World(case.prior, case.steps), np.ones(case.release.grid.shape)
    first, stay = sightings.stretches(case.prior.initial, case.prior.matrices, case.release.grid, reveal)
    law = world.sightings(case.release) @ world.chance
    expected = math.log((law[law > 0] ** power).sum())
    found, slope = sightings.log_power_sum(first, stay, np.zeros(reveal.size), power)
    assert found == pytest.approx(expected, abs=1e-9)
    share = law[law > 0] ** power
    assert slope == pytest.approx((share @ np.log(law[law > 0])) / share.sum(), abs=1e-9)


def erased_power_sum(case: Case, world: World, reveal: Floats, power: float) -> float:
    """`Σ_Z Pr[Z] Σ_y Pr[y seen at the sensors Z]^β`, by enumeration of Z."""
    sensors = [(t, j) for t, step in enumerate(case.release.sensors) for j in range(len(step))]
    total = 0.0
    for chosen in product([False, True], repeat=len(sensors)):
        share = math.prod(reveal[s] if on else 1 - reveal[s] for s, on in zip(sensors, chosen, strict=True))
        told = [
            world.traces[:, t] == case.release.sensors[t][j] for (t, j), on in zip(sensors, chosen, strict=True) if on
        ]
        code = np.array(told, dtype=np.int64).reshape(-1, len(world.traces)).T
        _, series = np.unique(code, axis=0, return_inverse=True)
        law = np.bincount(series.reshape(-1), weights=world.chance)
        total += share * float((law[law > 0] ** power).sum())
    return total


@settings(max_examples=25)
@given(cases(), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.8, 1.0]))
def test_with_sightings_that_may_fail_it_is_never_below_the_sum_over_what_was_revealed(
    case: Case, seed: int, power: float
) -> None:
    count = sum(map(len, case.release.sensors))
    if not 0 < count <= 7:
        return
    world, reveal = World(case.prior, case.steps), reveals(case, seed)
    first, stay = sightings.stretches(case.prior.initial, case.prior.matrices, case.release.grid, reveal)
    found = math.exp(sightings.log_power_sum(first, stay, logs(reveal.reshape(-1)), power)[0])
    assert found >= erased_power_sum(case, world, reveal, power) - 1e-9
    # The twin: which sensor saw the person at each step (or none), each term with the mass that stays unseen.
    hidden, total = unseen(case, world, reveal), 0.0
    for seen in product(*([-1, *range(len(step))] for step in case.release.sensors)):
        share, chance = 1.0, world.chance.copy()
        for t, j in enumerate(seen):
            if j < 0:
                chance = chance * hidden[:, t]
            else:
                share *= reveal[t, j]
                chance = chance * (world.traces[:, t] == case.release.sensors[t][j])
        total += share * chance.sum() ** power if share * chance.sum() > 0 else 0.0
    assert found == pytest.approx(total, abs=1e-9)


@given(cases(), st.floats(-8, -0.01))
def test_the_best_power_is_found(case: Case, log_kappa: float) -> None:
    """The smallest value over all powers from 0 to 1, by golden sections on the law of all series."""
    if case.release.grid.shape[1] == 0:
        return
    world, reveal = World(case.prior, case.steps), np.ones(case.release.grid.shape)
    law = world.sightings(case.release) @ world.chance
    law = law[law > 0]

    def value(power: float) -> float:
        return (1 - power) * log_kappa + math.log((law**power).sum())

    low, high = 0.0, 1.0
    while high - low > 1e-9:
        third = (high - low) / 3
        low, high = (low, high - third) if value(low + third) < value(high - third) else (low + third, high)
    lowest = min(0.0, value(0.0), value(1.0), value((low + high) / 2))
    first, stay = sightings.stretches(case.prior.initial, case.prior.matrices, case.release.grid, reveal)
    found = sightings.lowest_power_sum(first, stay, np.zeros(reveal.size), log_kappa)
    assert found == pytest.approx(lowest, abs=1e-8)
    # The slope is the root that it stops at, so the value is nearer to the lowest than any tolerance on the power.
    assert found >= lowest - 1e-12


@settings(max_examples=60)
@given(masked_cases())
def test_all_right_is_the_best_guess_of_each_series(case: Case) -> None:
    world = World(case.prior, case.steps)
    named = np.where(case.prior.guessable, 0.0, -np.inf)
    found = sightings.log_all_right(
        logs(case.prior.initial) + named, logs(case.prior.matrices) + named, case.release.grid
    )
    expected = successes(world, world.sightings(case.release), 0, case.prior.guessable).sum()
    assert math.exp(found) == pytest.approx(expected, abs=1e-12)


def test_long_chains_do_not_underflow() -> None:
    """Two places at random for 5000 steps, one of them watched: every series has probability 2^-5000."""
    steps = 5000
    start, moves = np.full(2, 0.5), np.full((1, 2, 2), 0.5)
    places = np.zeros((steps, 1), dtype=np.int64)
    assert sightings.log_all_right(np.log(start), np.log(moves), places) == pytest.approx(0, abs=1e-8)
    first, stay = sightings.stretches(start, moves, places[:1500], np.ones((1500, 1)))
    for power in (0.0, 0.5, 1.0):
        expected = 1500 * (1 - power) * math.log(2)
        assert sightings.log_power_sum(first, stay, np.zeros(1500), power)[0] == pytest.approx(expected, abs=1e-8)


def test_what_is_never_told_adds_nothing_to_the_sum() -> None:
    """Somebody who is sighted for certain, where no sighting is told: there is no series, and the sum is zero."""
    first, stay = sightings.stretches(np.ones(1), np.ones((1, 1, 1)), np.zeros((2, 1), dtype=np.int64), np.ones((2, 1)))
    assert sightings.log_power_sum(first, stay, np.full(2, -np.inf), 0.5) == (-np.inf, 0.0)
    assert sightings.log_power_sum(first, stay, np.zeros(2), 0.5) == pytest.approx((0.0, 0.0))
