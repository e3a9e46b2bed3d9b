"""A group that moves as one (`Release(size=g)`): values by enumeration, laws, and what it is refused beside."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.oracle import World
from tests.reference import load
from tests.strategies import chain

import passerby as pb
from passerby.measurement.accounting import epsilon, noise_for
from passerby.measurement.information import mutual_information
from passerby.questions.trace.hold_back import hold_back

HOUSEHOLDS = [case for case in load("together.json")["cases"] if "size" in case]
KINDS: dict[str, Callable[[Any], pb.Mechanism]] = {
    "raw": lambda channel: pb.Raw(),
    "geometric": lambda channel: pb.Geometric(channel["scale"]),
    "gaussian": lambda channel: pb.Gaussian(channel["sigma"]),
    "rounding": lambda channel: pb.Rounding(channel["base"]),
    "suppression": lambda channel: pb.Suppression(channel["below"]),
}
MECHANISMS = (
    pb.Raw(),
    pb.Geometric(3.0),
    pb.Geometric(3.0, clamped=True),
    pb.Suppression(5),
    pb.Rounding(4),
    pb.RandomRounding(3),
    pb.Then(pb.Suppression(4), pb.Rounding(3)),
    pb.Sampling(0.4),
    pb.Gaussian(1.0, rounded=True),
)
OTHERS: list[list[int]] = [[2], [0, 3], [4]]


def release_of(case: Any, size: int) -> pb.Release:
    """The release of a case of `together.json`, about a group of a size."""
    numbers = iter(case["others"])
    others = [[next(numbers) for _ in step] for step in case["sensors"]]
    return pb.Release(case["sensors"], KINDS[case["channel"]["kind"]](case["channel"]), others, size=size)


@pytest.mark.parametrize("case", HOUSEHOLDS)
def test_households_have_the_values_of_enumeration(case: Any) -> None:
    prior = pb.MarkovPrior(case["start"], case["moves"]) if case["moves"] else pb.MarkovPrior(case["start"], np.eye(2))
    for size, name in ((case["size"], "loss"), (1, "alone")):
        found = pb.measure(prior, release_of(case, size), case["misses"], tolerance=0)
        assert found.lower - 1e-9 <= case["answer"][name] <= found.upper + 1e-9
        if case["channel"]["kind"] != "gaussian":
            assert found.upper - found.lower <= 1e-9


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_channels_are_the_laws_without_the_group_and_with_it(mechanism: pb.Mechanism, size: int) -> None:
    prior = chain(3, 3, 3, "varying")
    release = pb.Release([0, [0, 1], 2], mechanism, OTHERS, size=size)
    world = World(prior, 3)
    there = release.there(world.traces)
    series = release.publish(world.traces[np.zeros(200, dtype=int)], np.random.default_rng(0))
    found = release.evidence(series)
    for k in range(9):
        expected = np.zeros(len(series))
        for t, step in enumerate(release.sensors):
            for j in range(len(step)):
                count = OTHERS[t][j] + size * there[k, t, j]
                expected += mechanism.log_likelihood(series[:, t, j], count)
        mine = sum(found[:, t, world.column(release, t)[k]] for t in range(3))
        assert np.allclose(np.exp(mine), np.exp(expected), atol=1e-12)


@pytest.mark.parametrize("mechanism", [rule for rule in MECHANISMS if not rule.endless], ids=repr)
@pytest.mark.parametrize("size", [2, 5])
def test_the_loss_of_a_group_is_that_of_enumeration(mechanism: pb.Mechanism, size: int) -> None:
    prior = chain(5, 3, 3, "varying")
    release = pb.Release([0, [0, 1], 2], mechanism, OTHERS, size=size)
    values = [np.unique(np.concatenate([mechanism.outputs(n + k) for k in range(size)])) for n in (2, 0, 3, 4)]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*values, indexing="ij")], axis=1)
    series = np.full((len(grid), 3, 2), np.nan)
    series[:, [0, 1, 1, 2], [0, 0, 1, 0]] = grid
    world = World(prior, 3)
    evidence = np.exp(release.evidence(series))
    channel = np.prod([evidence[:, t][:, world.column(release, t)] for t in range(3)], axis=0)
    assert np.allclose(channel.sum(axis=0), 1.0, atol=1e-9)
    found = pb.measure(prior, release, 1, tolerance=0)
    assert found.lower == pytest.approx(world.optimum(channel, 1), abs=1e-9)
    assert found.upper == pytest.approx(world.optimum(channel, 1), abs=1e-9)


@pytest.mark.parametrize("size", [2, 5])
def test_all_that_is_said_of_normal_noise_is_that_of_a_part_of_it_for_one(size: int) -> None:
    prior = chain(8, 3, 4, "stationary")
    sensors: list[list[int]] = [[0], [1, 2], [], [0]]
    group, alone = (
        pb.Release(sensors, pb.Gaussian(3.0), size=size),
        pb.Release(sensors, pb.Gaussian(3.0 / size)),
    )
    for method in ("best", "per-step", "paper-gaussian"):
        assert mutual_information(prior, group, method) == pytest.approx(
            mutual_information(prior, alone, method), rel=1e-12
        )
    mine, theirs = (pb.measure(prior, release, 1, seed=4) for release in (group, alone))
    # The search for the best guess may stop a little earlier or later.
    assert (mine.lower, mine.upper) == pytest.approx((theirs.lower, theirs.upper), rel=1e-4)
    assert mine.bounds == pytest.approx(theirs.bounds, rel=1e-4)
    private = [pb.differential_privacy(release) for release in (group, alone)]
    for name in ("formula", "exact", "added", "changed_counts"):
        assert getattr(private[0], name) == pytest.approx(getattr(private[1], name), rel=1e-9)
    event = pb.Event(pb.Present([0], step=0))
    one, other = (pb.measure(prior, release, event, seed=4) for release in (group, alone))
    assert one.advantage.lower == pytest.approx(other.advantage.lower, rel=1e-9)
    assert one.advantage.upper == pytest.approx(other.advantage.upper, rel=1e-9)


@pytest.mark.parametrize("mechanism", [pb.Geometric(4.0), pb.Suppression(8), pb.AtLeast(6)], ids=repr)
def test_monotone_rules_and_noise_tell_more_of_larger_groups(mechanism: pb.Mechanism) -> None:
    prior = chain(11, 3, 3, "stationary")
    losses = [
        pb.measure(prior, pb.Release([0, 1, 2], mechanism, [3, 0, 5], size=size), 0, tolerance=0)
        for size in range(1, 7)
    ]
    for smaller, larger in pairwise(losses):
        assert smaller.lower <= larger.upper + 1e-9
    assert losses[-1].lower > losses[0].upper


def test_raw_counts_tell_of_a_group_what_they_tell_of_one() -> None:
    prior = chain(2, 4, 6, "stationary")
    sensors: list[list[int]] = [[0], [1], [2], [0, 3], [], [1]]
    one, group = (pb.measure(prior, pb.Release(sensors, size=size), 2) for size in (1, 4))
    assert (one.lower, one.upper) == (group.lower, group.upper)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_counts_of_any_kind_tell_of_a_group_what_sensors_tell(mechanism: pb.Mechanism) -> None:
    prior = chain(6, 3, 3, "varying")
    sensors = pb.Release([0, [0, 1], 2], mechanism, OTHERS, size=3)
    # Another mechanism at one count keeps them from being sensors.
    counts = [*sensors.listed[:-1], replace(sensors.listed[-1], mechanism=pb.Then(pb.Raw(), mechanism))]
    zones = pb.Release(counts=counts, steps=3, size=3)
    assert not zones.reveals
    assert zones.size == 3
    mine, theirs = (pb.measure(prior, release, 1, tolerance=0) for release in (zones, sensors))
    assert (mine.lower, mine.upper) == pytest.approx((theirs.lower, theirs.upper), abs=1e-9)


@pytest.mark.parametrize("mechanism", [pb.Geometric(3.0), pb.Rounding(4), pb.Suppression(5)], ids=repr)
def test_counts_that_are_chosen_as_one_goes_tell_of_a_group_what_fixed_ones_tell(mechanism: pb.Mechanism) -> None:
    prior = chain(6, 3, 3, "varying")
    fixed = pb.Release([0, [], 2], mechanism, [2, [], 4], size=3)
    release = pb.Release.adaptive(
        lambda history: [count for count in fixed.listed if count.read == len(history)], steps=3, size=3
    )
    mine, theirs = (pb.measure(prior, each, 1, tolerance=0) for each in (release, fixed))
    assert mine.lower - 1e-9 <= theirs.upper
    assert theirs.lower <= mine.upper + 1e-9
    assert mine.upper - mine.lower < 0.02
    assert release.after([[2.0], [], [4.0]]).size == 3


def test_what_is_held_back_goes_by_the_size_of_the_group() -> None:
    prior = chain(6, 3, 3, "stationary")
    wanted = {size: pb.Release([0, 1, 2], pb.Geometric(2.0), size=size) for size in (1, 5)}
    silent = pb.measure(prior, pb.Release([[], [], []]), 0).upper
    held = {size: hold_back(prior, release, silent + 0.05) for size, release in wanted.items()}
    assert len(held[5](())) <= len(held[1](()))
    assert pb.Release.adaptive(held[5], steps=3, size=5).size == 5
    with pytest.raises(pb.InputError, match="groups of one size, not of 5 and of 1"):
        pb.Release.adaptive(held[5], steps=3)


@pytest.mark.parametrize("mechanism", [pb.Laplace(3.0), pb.Geometric(3.0)], ids=repr)
def test_pure_epsilon_of_a_group_is_its_size_times_that_of_one(mechanism: pb.Mechanism) -> None:
    for size in (2, 4):
        found = pb.differential_privacy(pb.Release([0] * 3, mechanism, size=size), delta=1e-9)
        assert found.exact == pytest.approx(3 * size / 3.0, rel=1e-3)
        some = pb.differential_privacy(pb.Release([0] * 3, mechanism, size=size), delta=0.01)
        assert (some.exact or np.inf) < (found.exact or 0.0)


def test_a_sample_of_a_group_is_bounded_by_its_noise() -> None:
    noise = noise_for(pb.Then(pb.Sampling(0.5), pb.Gaussian(4.0)), 2)
    assert noise == pb.Gaussian(2.0)
    assert epsilon(noise, 1, 1e-5) > epsilon(pb.Gaussian(4.0), 1, 1e-5)


@pytest.mark.parametrize("mechanism", [pb.Geometric(2.0), pb.DiscreteGaussian(2.0), pb.Laplace(2.0)], ids=repr)
def test_no_advantage_exceeds_what_privacy_of_the_group_allows(mechanism: pb.Mechanism) -> None:
    prior = chain(9, 3, 3, "stationary")
    release = pb.Release([0, 1, 2], mechanism, size=3)
    privacy = pb.differential_privacy(release, delta=1e-9)
    found = pb.measure(prior, release, pb.InData())
    assert privacy.added is not None
    assert found.advantage.lower <= np.tanh(privacy.added / 2) + 1e-6


class TestRefused:
    def test_sizes_that_are_none(self) -> None:
        sizes: tuple[Any, ...] = (0, -1, 1.5, True, "two")
        for size in sizes:
            with pytest.raises(pb.InputError, match="size is"):
                pb.Release([0], size=size)
            with pytest.raises(pb.InputError, match="size is"):
                pb.Release(counts=[pb.Present([0, 1], step=0)], steps=1, size=size)

    def test_a_crowd(self) -> None:
        crowd = pb.Crowd([pb.line_prior(4)] * 3)
        with pytest.raises(pb.UnsupportedRelease, match="a group of 2 beside"):
            pb.Release([0, 1], others=crowd, size=2)
        with pytest.raises(pb.UnsupportedRelease, match="a group of 2 beside"):
            pb.Release(counts=[pb.Present([0, 1], step=0)], steps=1, others=crowd, size=2)
        for release in (pb.Release([0, 1], size=2), pb.Release(counts=[pb.Present([0, 1], 0)], steps=1, size=2)):
            with pytest.raises(pb.UnsupportedRelease, match="a group of 2 beside"):
                release.with_others(crowd)
        with pytest.raises(pb.UnsupportedRelease, match="a group of 2 beside"):
            pb.Release([0, 1], others=crowd).of_groups(2)

    def test_releases_of_two_sizes(self) -> None:
        one, two = (pb.Release([0, 1], size=size) for size in (1, 2))
        adaptive = pb.Release.adaptive(lambda history: [0], steps=2)
        for first, second in ((one, two), (adaptive, two), (two, adaptive)):
            with pytest.raises(pb.InputError, match="groups of one size"):
                first + second
        assert (two + two).size == 2


def test_whatever_is_made_of_a_release_keeps_its_size() -> None:
    sensors = pb.Release([0, [1, 2]], pb.Gaussian(1.0), [3, [4, 5]], size=3)
    zones = pb.Release(counts=[pb.Present([0, 1], 0), pb.Moved([0], [1], 0)], steps=2, size=3)
    prior = pb.line_prior(4)
    for release in (sensors, zones):
        chain_of, over = release.over(prior)
        made = [
            over,
            over.of_states(np.arange(chain_of.states)),
            release.as_raw(),
            release.through(pb.Rounding(3)),
            release.with_others(None),
            release.relabelled(np.arange(4)),
            release.of_nobody,
            release + release,
        ]
        assert [each.size for each in made] == [3] * len(made)
        assert release.of_groups(1).size == 1
        assert release.of_groups(1).of_groups(3) == release != release.of_groups(1)
        assert "size=3" in repr(release)
        assert "size" not in repr(release.of_groups(1))
        assert "groups of 3" in release.words


def test_what_is_published_counts_the_whole_group() -> None:
    release = pb.Release([0, [1, 2]], others=[3, [4, 5]], size=4)
    found = release.publish([[0, 2], [1, 1]], np.random.default_rng(0))
    assert found[:, 0, 0].tolist() == [7, 3]
    assert found[:, 1].tolist() == [[4, 9], [8, 5]]


def test_published_values_are_told_by_the_size() -> None:
    prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))
    release = pb.Release([0, 0], pb.Geometric(1.0), others=[3, 3], size=4)
    high, low = (pb.measure(prior, release, 0, published=values).upper for values in ([7, 7], [3, 3]))
    assert high == pytest.approx(1 / (1 + np.exp(-8.0)))
    assert low == pytest.approx(1 / (1 + np.exp(-8.0)))
    assert pb.measure(prior, release, 0, published=[5, 5]).upper == pytest.approx(0.5)
