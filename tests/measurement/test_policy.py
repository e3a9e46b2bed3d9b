import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guesses import masked_cases
from tests.oracle import World
from tests.strategies import Case

import passerby as pb
from passerby.measurement.policy import policy_of, sample_beyond, sensor_of
from passerby.measurement.stretches import bracket_stretches, stretch_ceiling


@given(masked_cases(), st.sampled_from([0.0, 1e9]))
def test_success_given_each_series_is_what_the_guesses_achieve(case: Case, budget: float) -> None:
    release = pb.Release(case.release.sensors)
    found = bracket_stretches(case.prior, release, case.misses, 0.0, budget)
    if found is None or found.law is None or found.law.shape[1] != release.grid.size + 1:
        return
    policy = policy_of(case.prior, release, found.law, found.lower)
    world = World(case.prior, case.steps)
    success = policy.successes(sensor_of(release, world.traces))
    assert world.chance @ success == pytest.approx(found.lower, rel=1e-9)
    channel = world.sightings(release)
    allowed = case.prior.guessable[world.traces].all(axis=1)
    best = ((channel * world.chance) @ (world.distance <= case.misses))[:, allowed].max(axis=1)
    for row, top in zip(channel, best, strict=True):
        chance = float(row @ world.chance)
        if chance > 1e-200:
            assert success[row > 0].max() <= top / chance * (1 + 1e-9)


def test_a_sample_beyond_the_policy_averages_to_the_loss() -> None:
    """The best guess for every series is known here: over what is drawn, its success averages to that over all."""
    rng = np.random.default_rng(5)
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4), (4, 4)))
    release = pb.Release([[0, 1], [2], [], [0, 3], [1]])
    found = bracket_stretches(prior, release, 2, 0.0, 0.0)
    assert found is not None
    assert found.law is not None
    policy = policy_of(prior, release, found.law, found.lower)
    drawn = sample_beyond(prior, release, policy, np.random.default_rng(0), 4000)
    assert drawn is not None
    world = World(prior, 5)
    channel = world.sightings(release)
    joint = channel * world.chance
    best = (joint @ (world.distance <= 2)).max(axis=1)
    by_series = dict(zip(map(tuple, seen_by(release, world, channel)), best / joint.sum(axis=1), strict=True))
    values = np.array([by_series[tuple(row)] for row in drawn.evidence.argmax(axis=2)])
    mean, error = drawn.mean(values)
    assert mean == pytest.approx(best.sum(), abs=4 * error)
    assert 0 < error < 0.01
    assert drawn.lower(values, values, 0.999) <= best.sum() <= drawn.upper(values, values, 0.999)
    assert drawn.upper(values, values, 0.999) <= best.sum() + 0.02


def seen_by(release: pb.Release, world: World, channel: np.ndarray) -> np.ndarray:
    """For each series, 0 or 1 + the sensor at each step."""
    columns = np.stack([world.column(release, t) for t in range(world.steps)], axis=1)
    return np.array([columns[row > 0][0] for row in channel])


def test_who_is_always_found_leaves_nothing_to_draw() -> None:
    prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))
    release = pb.Release([0, 0])
    found = bracket_stretches(prior, release, 0, 0.0, 0.0)
    assert found is not None
    assert found.law is not None
    policy = policy_of(prior, release, found.law, found.lower)
    assert sample_beyond(prior, release, policy, np.random.default_rng(0), 10) is None


@given(masked_cases())
def test_the_ceiling_alone_is_one(case: Case) -> None:
    release = pb.Release(case.release.sensors)
    world = World(case.prior, case.steps)
    allowed = case.prior.guessable[world.traces].all(axis=1)
    best = ((world.sightings(release) * world.chance) @ (world.distance <= case.misses))[:, allowed].max(axis=1).sum()
    assert best <= stretch_ceiling(case.prior, release, case.misses) * (1 + 1e-12)


def test_a_person_who_is_everywhere_is_drawn_beside_the_certain_ends() -> None:
    """Told the places of a long stretch one would follow them; the sample shows that no guess can."""
    rng = np.random.default_rng(0)
    moves = 0.7 * np.eye(30) + 0.2 * np.eye(30)[0] + 0.1 * rng.dirichlet(np.ones(30), 30)
    prior = pb.MarkovPrior(np.eye(30)[0], np.repeat(moves[None], 17, axis=0))
    release = pb.Release([rng.permutation(30)[:4].tolist() for _ in range(18)])
    loss = pb.measure(prior, release, 5, budget=1e9, runs=100)
    certain = bracket_stretches(prior, release, 5, 0.01, 4e8)
    assert certain is not None
    assert loss.effort.confidence == 0.99
    assert certain.lower * (1 - 1e-9) <= loss.lower
    assert loss.upper - loss.lower < 0.7 * (certain.upper - certain.lower)
    assert loss.attacks["marginal"].value - 4 * loss.attacks["marginal"].error <= loss.upper
