"""The trace question where a guess names zones, or places that are near enough."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import rows

import passerby as pb
from passerby.questions.trace.loss import Loss

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Rounding, in sums over all traces.
CLOSE = 1e-9


def best_named(world: World, channel: Floats, right: Flags, misses: int) -> Floats:
    """Success of the best guess together with each series (n,), of all guesses of names; `right` is (G, P)."""
    guesses = np.array(list(product(range(len(right)), repeat=world.steps)))
    wrong = np.stack([(~right[guess, world.traces]).sum(axis=1) for guess in guesses])
    return np.asarray(((channel * world.chance) @ (wrong <= misses).T).max(axis=1))


def truth(prior: pb.MarkovPrior, release: pb.Release, right: Flags, misses: int) -> tuple[float, float]:
    """The loss and the baseline, by enumeration."""
    world = World(prior, release.steps)
    channel = world.sightings(release) if release.plain else world.likelihoods(release)
    silent = np.ones((1, len(world.traces)))
    loss, without = (best_named(world, each, right, misses).sum() for each in (channel, silent))
    return float(loss), float(without)


def check(loss: Loss, best: float, baseline: float, gap: float = 1e-6) -> None:
    """Both ends, every certain attack and every bound hold; the ends are close."""
    assert loss.lower <= best + CLOSE
    assert best - CLOSE <= loss.upper <= loss.lower + gap
    assert loss.baseline.lower - CLOSE <= baseline <= loss.baseline.upper + CLOSE
    assert all(bound >= best - CLOSE for bound in loss.bounds.values())
    assert all(a.value <= best + CLOSE for a in loss.attacks.values() if a.level is None)


def case(
    seed: int, mechanisms: tuple[pb.Mechanism, ...]
) -> tuple[pb.MarkovPrior, pb.Release, int, np.random.Generator]:
    """A random chain of a few places, a release, and a number of misses."""
    rng = np.random.default_rng(seed)
    places, steps = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    prior = pb.MarkovPrior(rows(rng, (places,), False), rows(rng, (places, places), seed % 3 == 0))
    sensors = [rng.choice(places, int(rng.integers(0, min(places, 3))), replace=False).tolist() for _ in range(steps)]
    others = [[int(rng.integers(0, 3)) for _ in step] for step in sensors]
    mechanism = mechanisms[seed % len(mechanisms)]
    return prior, pb.Release(sensors, mechanism, others), int(rng.integers(0, steps)), rng


def zones_of(rng: np.random.Generator, places: int) -> NDArray[np.int64]:
    """Zones of places, numbered from 0 on."""
    return np.asarray(np.unique(rng.integers(0, places, places), return_inverse=True)[1])


FINITE = (pb.Raw(), pb.Rounding(2), pb.Suppression(2))


@pytest.mark.parametrize("seed", range(12))
def test_zones_are_named_as_well_as_enumeration_finds(seed: int) -> None:
    prior, release, misses, rng = case(seed, FINITE)
    zones = zones_of(rng, prior.places)
    right = np.arange(zones.max() + 1)[:, None] == zones
    loss = pb.measure(prior, release, pb.Trace(misses, zones=zones.tolist()), tolerance=0.0)
    check(loss, *truth(prior, release, right, misses))


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Geometric(1.0), pb.Gaussian(1.0)], ids=repr)
def test_a_zone_for_each_place_is_the_old_question_to_the_last_bit(mechanism: pb.Mechanism) -> None:
    prior, release = pb.line_prior(5), pb.Release([[0, 2], [], [3], [1, 4]], mechanism)
    plain, zoned = (pb.measure(prior, release, q) for q in (pb.Trace(1), pb.Trace(1, zones=range(5))))
    assert replace(zoned, effort=plain.effort) == replace(plain)
    assert replace(zoned.effort, seconds=0.0) == replace(plain.effort, seconds=0.0)


def numbered_anew(prior: pb.MarkovPrior) -> pb.Trace:
    """A zone for each place, under another number: the old question, asked by way of names."""
    return pb.Trace(1, zones=[*range(1, prior.places), 0])


def releases() -> dict[str, pb.Release]:
    """A release of each kind over three places and three steps."""
    clinic = pb.Visitors([1], steps=range(3), times=1)
    crowd = pb.Crowd([pb.MarkovPrior([0.2, 0.5, 0.3], np.eye(3) * 0.7 + 0.1)] * 3)
    return {
        "raw": pb.Release([0, [1, 2], 0]),
        "noise": pb.Release([0, 1, 0], pb.Geometric(1.0)),
        "counts": pb.Release(counts=[pb.Present([0, 1], 0), pb.Moved([0], [2], 1), clinic], steps=3),
        "crowd": pb.Release([0, 1, 0], others=crowd),
        "adaptive": pb.Release.adaptive(lambda history: [0] if not history or history[-1] == (1.0,) else [1], 3),
        "long": pb.Release([[0, 1]] * 12),
    }


@pytest.mark.parametrize("name", releases())
def test_zones_under_other_numbers_change_nothing(name: str) -> None:
    release = releases()[name]
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    plain = pb.measure(prior, release, 1)
    named = pb.measure(prior, release, numbered_anew(prior))
    assert named.lower <= plain.upper + CLOSE
    assert plain.lower <= named.upper + CLOSE
    assert named.baseline.lower == pytest.approx(plain.baseline.lower, abs=1e-6)
    if name != "long":
        assert named.upper == pytest.approx(plain.upper, rel=0.05)


@pytest.mark.parametrize("within", [False])
def test_what_was_published_is_looked_at_alone(within: bool) -> None:
    prior, release, zones = pb.line_prior(4), pb.Release([1, 2, 1]), np.array([0, 0, 1, 1])
    right = zones[:, None] == zones
    question = pb.Trace(0, within=right) if within else pb.Trace(0, zones=zones)
    loss = pb.measure(prior, release, question, published=[1, 0, 1])
    world = World(prior, 3)
    seen = ((world.traces[:, 0] == 1) & (world.traces[:, 1] != 2) & (world.traces[:, 2] == 1)).astype(float)[None]
    names = right if within else np.arange(2)[:, None] == zones
    assert loss.lower == pytest.approx(best_named(world, seen, names, 0)[0] / (seen @ world.chance)[0], rel=1e-9)


def test_habits_of_several_kinds_are_asked_for_zones() -> None:
    rng = np.random.default_rng(5)
    parts = [pb.MarkovPrior(rows(rng, (3,), False), rows(rng, (3, 3), False)) for _ in range(2)]
    prior, release = pb.MarkovPrior.mixture([0.4, 0.6], parts), pb.Release([0, [], 1])
    right = np.array([[True, True, False], [False, False, True]])
    loss = pb.measure(prior, release, pb.Trace(1, zones=[0, 0, 1]), tolerance=0.0)
    check(loss, *truth(prior, release, right, 1))


def test_a_zone_of_places_that_may_not_be_named_is_not_named() -> None:
    moves = [[0.2, 0.2, 0.6]] * 3
    prior = pb.MarkovPrior(moves[0], moves, guessable=[True, True, False], elsewhere=2)
    alone, among = (pb.measure(prior, pb.Release([[]]), pb.Trace(zones=zones)) for zones in ([0, 0, 1], [0, 1, 1]))
    assert alone.lower == pytest.approx(0.4)
    assert among.lower == pytest.approx(0.8)
    assert alone.attacks["constant"].guess == (0,)


def test_one_zone_of_all_is_always_right() -> None:
    loss = pb.measure(pb.line_prior(6), pb.Release([2, 3]), pb.Trace(zones=[0] * 6))
    assert (loss.lower, loss.baseline.lower, loss.advantage.upper) == (1.0, 1.0, 0.0)


def test_formulas_of_places_are_refused_with_the_reason() -> None:
    loss = pb.measure(pb.line_prior(6), pb.Release([2, 3, 1]), pb.Trace(1, zones=[0, 0, 0, 1, 1, 1]))
    assert {"loose", "tight"}.isdisjoint(loss.bounds)
    assert {"fano", "leakage"} <= set(loss.bounds)
    assert "holds for guesses of the place itself" in loss.refused["tight"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"zones": [0, 0]}, "zones: expected the zone of each of the 3 places, got 2"),
        ({"zones": [0, 2, 2]}, "zones: no place is in zone 1"),
        ({"zones": [0, -1, 1]}, r"zones\[1\] = -1"),
        ({"zones": "abc"}, "zones='abc'"),
        ({"within": 3}, "within=3"),
        ({"within": [{0}, {1}]}, "for each of the 3 places, got 2"),
        ({"within": [{0}, {1, 7}, {2}]}, r"within\[1\]: expected places from 0 to 2, got 7"),
        ({"within": [{0}, {0}, {2}]}, r"within\[1\]: place 1 is near itself"),
        ({"within": [[1, 0, 0], [0, 1, 0.5], [0, 0, 1]]}, r"within\[1\]: expected 3 truth values"),
        ({"within": [[1, 0], [0, 1], [0, 1]]}, r"within\[0\]: expected 3 truth values"),
        ({"within": np.eye(3), "zones": [0, 1, 2]}, "not both"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(pb.InputError, match=says):
        pb.measure(pb.line_prior(3), pb.Release([0, 1]), pb.Trace(**wrong))  # type: ignore[arg-type]


def test_the_papers_way_is_for_places() -> None:
    with pytest.raises(pb.InputError, match="names places"):
        pb.measure(pb.line_prior(3), pb.Release([0, 1]), pb.Trace(zones=[0, 0, 1]), method="sampling")


def test_questions_that_ask_the_same_are_equal() -> None:
    one, other = pb.Trace(1, zones=[0, 0, 1]), pb.Trace(1, zones=np.array([0, 0, 1]))
    assert one == other
    assert hash(one) == hash(other)
    assert one != pb.Trace(1)
    assert one != pb.Trace(2, zones=[0, 0, 1])
    assert pb.Trace(within=np.eye(2)) == pb.Trace(within=[[1, 0], [0, 1]])
    assert pb.Trace(1, zones=[0, 0]).sentence == "all but 1 of the zones of the person"
