"""The worst series: how often somebody is found with more than a chance, against enumeration of all series."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests import reference
from tests.oracle import World
from tests.strategies import rows

import passerby as pb
from passerby.questions.trace.goal import pose
from passerby.questions.trace.loss import Loss
from passerby.questions.trace.worst import Spread, _by_sightings, _drawn

Floats = NDArray[np.float64]
CHANCES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
EFFORT: dict[str, Any] = {"tolerance": 0.0, "budget": 1e9, "confidence": 0.9, "runs": 200, "series": "auto"}


def law(prior: pb.MarkovPrior, release: pb.Release, misses: int) -> tuple[Floats, Floats]:
    """The best guess's chance in each series (n,), and how likely the series is, by trying all guesses."""
    world = World(prior, release.steps)
    channel = world.sightings(release) if release.plain else world.likelihoods(release)
    mass = channel @ world.chance
    channel, mass = channel[mass > 0], mass[mass > 0]
    may = prior.guessable[world.traces].all(axis=1)
    return ((channel * world.chance) @ ((world.distance <= misses) & may)).max(axis=1) / mass, mass


def worst_mean(values: Floats, mass: Floats, share: float) -> float:
    """The mean over the worst series, as the least of all tangents: its dual form."""
    return float(min(edge + (mass @ np.maximum(values - edge, 0.0)) / share for edge in [0.0, *values]))


def case(seed: int, places: int = 3, steps: int = 4) -> tuple[pb.MarkovPrior, list[list[int]]]:
    rng = np.random.default_rng(seed)
    may = np.ones(places, dtype=bool)
    may[-1] = seed % 3 > 0
    prior = pb.MarkovPrior(
        rows(rng, (places,), False), rows(rng, (steps - 1, places, places), seed % 4 == 0), guessable=may
    )
    return prior, [rng.choice(places, int(rng.integers(0, 3)), replace=False).tolist() for _ in range(steps)]


@pytest.mark.parametrize("case", reference.asked_cases("worst.json"))
def test_reference_values(case: Any) -> None:
    prior, release, answer = reference.chain_of(case), reference.channel_release(case), case["answer"]
    loss = pb.measure(prior, release, case["misses"], tolerance=0.0)
    for chance, value in answer["above"].items():
        ends = loss.worst(float(chance))
        assert (ends.lower, ends.upper) == pytest.approx((value, value), abs=1e-9)
    ends = loss.tail(0.1)
    assert (ends.lower, ends.upper) == pytest.approx((answer["worst_tenth"],) * 2, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_law_of_raw_series_is_that_of_all_of_them(seed: int) -> None:
    prior, sensors = case(seed)
    release = pb.Release(sensors)
    values, mass = law(prior, release, 0)
    found = _by_sightings(pose(prior, release, 0, 0, None, **EFFORT))
    assert found is not None
    assert found.mass.sum() == pytest.approx(1.0, abs=1e-12)
    for chance in np.unique(values.round(9)):
        for near in (chance - 1e-7, chance + 1e-7):
            ends = found.above(near)
            assert ends[0] - 1e-9 <= mass[values > near].sum() <= ends[1] + 1e-9
    for share in (0.05, 0.3, 1.0):
        ends = found.mean_of_worst(share)
        assert ends[0] - 1e-9 <= worst_mean(values, mass, share) <= ends[1] + 1e-9
        assert ends[1] - ends[0] < 5e-3


def test_long_raw_series_are_followed_from_sighting_to_sighting() -> None:
    loss = pb.measure(pb.line_prior(8, 0.3), pb.Release([[2, 5]] * 30))
    assert loss.series is not None
    spread = loss.series.spread
    assert spread is not None
    assert spread.level is None
    assert spread.mass @ spread.lower <= loss.lower <= spread.mass @ spread.upper
    assert spread.mass @ (spread.upper - spread.lower) < 0.05 * loss.lower
    ends = loss.tail(1.0)
    assert ends.lower <= loss.lower <= ends.upper * (1 + 1e-9)


def releases(seed: int) -> dict[str, tuple[pb.MarkovPrior, pb.Release, int, dict[str, Any]]]:
    """Cases whose series cannot be listed one by one, or are not to be."""
    prior, sensors = case(seed)
    crowd = pb.Crowd([pb.MarkovPrior([0.2, 0.5, 0.3], np.eye(3) * 0.7 + 0.1)] * 3)
    return {
        "sampled": (prior, pb.Release(sensors, pb.Geometric(1.0)), 1, {"series": "sample"}),
        "crowd": (prior, pb.Release([[0, 1]] * 4, others=crowd), 1, {}),
        "few": (prior, pb.Release(sensors, pb.Geometric(1.0)), 1, {"budget": 1e4}),
    }


@pytest.mark.parametrize("name", ["sampled", "few"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_drawn_holds_too(seed: int, name: str) -> None:
    prior, release, misses, how = releases(seed)[name]
    values, mass = law(prior, release, misses)
    loss = pb.measure(prior, release, misses, **how)
    for chance in CHANCES:
        ends = loss.worst(chance)
        assert ends.lower - 1e-9 <= mass[values > chance + 1e-12].sum() <= ends.upper + 1e-9
    for share in (0.1, 0.5, 1.0):
        ends = loss.tail(share)
        assert ends.lower - 1e-9 <= worst_mean(values, mass, share) <= ends.upper + 1e-9


def test_of_a_crowd_the_loss_alone_is_known() -> None:
    prior, release, misses, how = releases(1)["crowd"]
    loss = pb.measure(prior, release, misses, **how)
    ends = loss.worst(0.8)
    assert ends.lower == max(0.0, (loss.lower - 0.8) / 0.2)
    assert ends.upper == min(1.0, loss.upper / 0.8)
    assert loss.tail(0.5) == pb.Interval(loss.lower, min(1.0, loss.upper / 0.5))


def test_counts_that_are_chosen_as_one_goes() -> None:
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    fixed = pb.measure(prior, pb.Release([0, 1, 0]), 1, tolerance=0.0)
    chosen = pb.measure(prior, pb.Release.adaptive(lambda history: [len(history) % 2], 3), 1, tolerance=0.0)
    for chance in CHANCES:
        assert chosen.worst(chance).lower == pytest.approx(fixed.worst(chance).lower, abs=1e-9)
        assert chosen.worst(chance).upper == pytest.approx(fixed.worst(chance).upper, abs=1e-9)


def test_one_series_that_was_published_has_one_chance() -> None:
    loss = pb.measure(pb.line_prior(4), pb.Release([1, 2]), published=[1, 0])
    assert loss.worst(loss.lower - 1e-6) == pb.Interval(1.0, 1.0)
    assert loss.worst(loss.lower + 1e-6) == pb.Interval(0.0, 0.0)


def test_the_ends_of_the_scale() -> None:
    loss = pb.measure(pb.line_prior(4), pb.Release([1, 2]))
    assert loss.worst(1.0) == pb.Interval(0.0, 0.0)
    assert loss.worst(0.0) == pb.Interval(1.0, 1.0)
    assert loss.tail(1.0).lower == pytest.approx(loss.lower)
    assert "worst tenth of series" in loss._repr_html_()


@pytest.mark.parametrize("wrong", [-0.1, 1.5, "half", None, float("nan"), True])
def test_what_is_no_share_is_refused(wrong: Any) -> None:
    loss: Loss = pb.measure(pb.line_prior(3), pb.Release([1]))
    with pytest.raises(pb.InputError, match="expected a number from 0 to 1"):
        loss.worst(wrong)
    with pytest.raises(pb.InputError, match="expected a number from 0 to 1"):
        loss.tail(wrong)
    with pytest.raises(pb.InputError, match="share above 0"):
        loss.tail(0)


@pytest.mark.thorough
def test_ends_of_drawn_series_hold_as_often_as_promised() -> None:
    prior, sensors = case(7)
    release = pb.Release(sensors, pb.Geometric(1.0))
    values, mass = law(prior, release, 1)
    edge = float(np.quantile(values, 0.8))
    truths = float(mass[values > edge + 1e-12].sum()), worst_mean(values, mass, 0.2)
    outside = np.zeros(2)
    for seed in range(300):
        found = _drawn(pose(prior, release, 1, seed, None, **(EFFORT | {"series": "sample"})))
        assert isinstance(found, Spread)
        both = found.above(edge), found.mean_of_worst(0.2)
        outside += [not low - 1e-9 <= truth <= high + 1e-9 for (low, high), truth in zip(both, truths, strict=True)]
    assert (outside / 300 <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 300)).all()


def test_a_share_of_the_worst_by_hand() -> None:
    spread = Spread(np.array([0.5, 0.3, 0.2]), *np.array([[0.1, 0.9, 0.5]] * 2))
    assert spread.above(0.5) == (0.3, 0.3)
    assert spread.mean_of_worst(0.4) == pytest.approx(((0.3 * 0.9 + 0.1 * 0.5) / 0.4,) * 2)
