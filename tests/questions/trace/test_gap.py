from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guesses import masked_cases
from tests.oracle import World
from tests.strategies import Case

import passerby as pb
from passerby.outcomes.series import Series
from passerby.questions.trace.methods.renewal import Gap, gap_of, sample_gap
from passerby.questions.trace.stretches import bracket_stretches, stretch_ceiling


def known_of(prior: pb.MarkovPrior, release: pb.Release, misses: int, budget: float) -> tuple[Gap, float] | None:
    """The gap between guesses and ceilings for stretches, and the success of the guesses."""
    found = bracket_stretches(prior, release, misses, 0.0, budget)
    if found is None or found.law is None or found.ceilings is None or found.law.shape[1] != release.grid.size + 1:
        return None
    return gap_of(prior, release, found.law, found.ceilings), found.lower


def sensor_of(release: pb.Release, traces: np.ndarray) -> np.ndarray:
    """The sensor (n, T) at which each trace is seen at each step, or -1."""
    out = np.full(traces.shape, -1)
    for j in range(release.grid.shape[1]):
        out[traces == release.grid[:, j]] = j
    return out


@given(masked_cases(), st.sampled_from([0.0, 1e9]))
def test_the_best_guess_given_each_series_is_between_guesses_and_ceilings_for_stretches(
    case: Case, budget: float
) -> None:
    release = pb.Release(case.release.sensors)
    known = known_of(case.prior, release, case.misses, budget)
    if known is None:
        return
    gap, success = known
    world = World(case.prior, case.steps)
    low, high = gap.ends(sensor_of(release, world.traces))
    assert world.chance @ low == pytest.approx(success, rel=1e-9)
    assert world.chance @ high == pytest.approx(gap.later[0, -1], rel=1e-9)
    channel = world.sightings(release)
    allowed = case.prior.guessable[world.traces].all(axis=1)
    best = ((channel * world.chance) @ (world.distance <= case.misses))[:, allowed].max(axis=1)
    for row, top in zip(channel, best, strict=True):
        chance = float(row @ world.chance)
        if chance > 1e-200:
            assert low[row > 0].max() <= top / chance * (1 + 1e-9)
            assert top / chance <= high[row > 0].min() * (1 + 1e-9)


class Walk:
    """Somebody at four places and five steps, all of whose series are known, and what is best for each."""

    def __init__(self, misses: int) -> None:
        rng = np.random.default_rng(5)
        self.prior = pb.MarkovPrior(rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4), (4, 4)))
        self.release = pb.Release([[0, 1], [2], [], [0, 3], [1]])
        known = known_of(self.prior, self.release, misses, 0.0)
        assert known is not None
        self.gap, self.success = known
        world = World(self.prior, 5)
        channel = world.sightings(self.release)
        joint = channel * world.chance
        best = (joint @ (world.distance <= misses)).max(axis=1)
        self.loss, self.chance = best.sum(), joint.sum(axis=1)
        self.seen = seen_by(self.release, world, channel)
        self.best = dict(zip(map(tuple, self.seen), best / self.chance, strict=True))

    def drawn(self, seed: int, runs: int) -> tuple[Series, np.ndarray]:
        """A sample, and the success of the best guess for each of its series."""
        drawn = sample_gap(self.release, self.gap, self.success, np.random.default_rng(seed), runs)
        assert drawn is not None
        return drawn, np.array([self.best[tuple(row)] for row in drawn.evidence.argmax(axis=2)])


def test_a_sample_between_averages_to_the_loss() -> None:
    walk = Walk(misses=2)
    drawn, values = walk.drawn(0, 4000)
    mean, error = drawn.mean(values)
    assert mean == pytest.approx(walk.loss, abs=4 * error)
    assert 0 < error < 0.05 * (drawn.most - drawn.success)
    assert drawn.lower(values, values, 0.999) <= walk.loss <= drawn.upper(values, values, 0.999)
    assert drawn.upper(values, values, 0.999) <= walk.loss + 0.1 * (drawn.most - drawn.success)
    assert drawn.upper(np.ones(4000), values, 0.999) == pytest.approx(drawn.most)


def test_series_are_drawn_as_often_as_they_are_open() -> None:
    walk = Walk(misses=1)
    drawn, _ = walk.drawn(1, 20_000)
    low, high = walk.gap.ends(walk.seen - 1)
    share = walk.chance * (high - low)
    share /= share.sum()
    numbers = Counter(map(tuple, drawn.evidence.argmax(axis=2)))
    counts = np.array([numbers[tuple(row)] for row in walk.seen])
    expected = 20_000 * share
    assert counts.sum() == 20_000
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected) + 1).all()


def test_limits_of_few_draws_are_wrong_as_rarely_as_they_say() -> None:
    walk = Walk(misses=2)
    low = high = 0
    for seed in range(300):
        drawn, values = walk.drawn(seed, 12)
        low += bool(drawn.lower(values, values, 0.9) > walk.loss)
        high += bool(drawn.upper(values, values, 0.9) < walk.loss)
    # 30 of 300 are allowed on average; 46 or more would be by chance once in a thousand such tests.
    assert low < 46
    assert high < 46


def seen_by(release: pb.Release, world: World, channel: np.ndarray) -> np.ndarray:
    """For each series, 0 or 1 + the sensor at each step."""
    columns = np.stack([world.column(release, t) for t in range(world.steps)], axis=1)
    return np.array([columns[row > 0][0] for row in channel])


def test_where_guesses_are_as_good_as_any_nothing_is_drawn() -> None:
    """One of three places, for good, of which one is watched."""
    release = pb.Release([0, 0])
    known = known_of(pb.MarkovPrior(np.full(3, 1 / 3), np.eye(3)), release, 0, 0.0)
    assert known is not None
    assert known[1] == pytest.approx(2 / 3)
    assert sample_gap(release, *known, np.random.default_rng(0), 10) is None


def test_who_is_always_found_has_no_gap() -> None:
    assert known_of(pb.MarkovPrior([0.5, 0.5], np.eye(2)), pb.Release([0, 0]), 0, 0.0) is None


def test_what_is_hardly_ever_guessed_is_drawn_all_the_same() -> None:
    """Draws of everybody would never come across it."""
    rng = np.random.default_rng(3)
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(30)), rng.dirichlet(np.ones(30), (23, 30)))
    release = pb.Release([rng.permutation(30)[:3].tolist() for _ in range(24)])
    known = known_of(prior, release, 3, 1e9)
    assert known is not None
    gap, success = known
    drawn = sample_gap(release, gap, success, np.random.default_rng(0), 50)
    assert drawn is not None
    assert drawn.most < 1e-6
    assert success < drawn.upper(drawn.anchored, drawn.anchored, 0.99) < 0.5 * success + 0.5 * drawn.most
    assert drawn.upper(drawn.capped, drawn.anchored, 0.99) == pytest.approx(drawn.most)


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
