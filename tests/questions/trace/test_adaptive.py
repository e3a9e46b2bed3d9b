"""Counts that are chosen as one goes, against the reference values and against enumeration of traces and histories."""

import json
from collections.abc import Iterator
from itertools import product, repeat
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.questions.trace.test_counts import Flip
from tests.states import state_chains

import passerby as pb

REFERENCE = [
    case
    for case in json.loads((Path(__file__).parents[2] / "reference_values" / "any_counts.json").read_text())
    if "policy" in case
]
PANEL = pb.Sampling(0.5, persistent=True)
LINE = pb.line_prior(5, 0.4)


@pytest.mark.parametrize("number", range(len(REFERENCE)))
def test_reference_values(number: int) -> None:
    case = REFERENCE[number]
    told = case["policy"]

    def policy(history: Any) -> int:
        sensor = int(told["first_sensor"])
        for (value,) in history:
            sensor = told["next_sensor_if_unseen_or_seen"][sensor][int(value)]
        return sensor

    prior = pb.MarkovPrior(case["initial"], case["transition"])
    for misses, want in enumerate(told["loss"]):
        loss = pb.measure(prior, pb.Release.adaptive(policy, case["steps"]), misses, tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((want, want), abs=1e-9)


class Hostile:
    """Names any counts of any kind that are over, by a fixed function of the whole history."""

    def __init__(self, seed: int, places: int, flipped: bool) -> None:
        self.seed, self.places, self.flipped = seed, places, flipped

    def __call__(self, history: Any) -> list[Any]:
        rng = np.random.default_rng(crc32(repr((self.seed, history)).encode()))
        return [self.one(rng, len(history)) for _ in range(rng.integers(0, 3))]

    def one(self, rng: np.random.Generator, step: int) -> Any:
        zone, other = (np.flatnonzero(rng.integers(0, 2, self.places)).tolist() or [0] for _ in range(2))
        more: dict[str, Any] = {"mechanism": Flip(0.2), "others": 0} if self.flipped and rng.integers(0, 2) else {}
        kind = rng.integers(0, 4)
        if kind == 0 and not more:
            return zone[0]
        if kind == 1 and step:
            return pb.Moved(zone, other, step - 1, **more)
        if kind == 2:
            window = range(int(rng.integers(0, step + 1)), step + 1)
            return pb.Visitors(zone, window, int(rng.integers(1, len(window) + 1)), **more)
        return pb.Present(zone, step, **more)


def leaves(world: World, policy: Any, steps: int) -> Iterator[NDArray[np.float64]]:
    """`Pr[history | trace]` for every history, from the definition: the policy is followed value by value."""
    open_: list[tuple[Any, NDArray[np.float64]]] = [((), np.ones(len(world.traces)))]
    for t in range(steps):
        after = []
        for history, row in open_:
            named = policy(history)
            counts = [pb.Present([each], t) if isinstance(each, int) else each for each in named]
            for values in product((0.0, 1.0), repeat=len(counts)):
                chance = row.copy()
                for value, count in zip(values, counts, strict=True):
                    wrong = count.mechanism.chance if isinstance(count.mechanism, Flip) else 0.0
                    chance *= np.where(count.bits(world.traces) == value, 1 - wrong, wrong)
                if (chance * world.chance).any():
                    after.append(((*history, values), chance))
        open_ = after
    return (row for _, row in open_)


def optimum(prior: pb.MarkovPrior, world: World, policy: Any, misses: int) -> float:
    right = world.distance <= misses
    named = np.flatnonzero(prior.guessable[world.traces].all(axis=1))
    return sum(float(((row * world.chance) @ right[:, named]).max()) for row in leaves(world, policy, world.steps))


@given(state_chains(), st.integers(0, 2**31), st.booleans(), st.data())
def test_hostile_policies_are_measured_exactly(
    chain: tuple[pb.MarkovPrior, int], seed: int, flipped: bool, data: st.DataObject
) -> None:
    prior, steps = chain
    misses = data.draw(st.integers(0, steps - 1))
    policy = Hostile(seed, prior.places, flipped)
    truth = optimum(prior, World(prior, steps), policy, misses)
    loss = pb.measure(prior, pb.Release.adaptive(policy, steps), misses, tolerance=0)
    assert loss.lower <= truth * (1 + 1e-9)
    assert truth <= loss.upper * (1 + 1e-9)
    assert loss.upper <= loss.lower * (1 + 1e-9) + 1e-270
    assert loss.effort.confidence is None
    assert loss.baseline.lower <= loss.lower * (1 + 1e-12)


def test_samples_hold_the_optimum() -> None:
    """Limits at 99 %: of 20 small cases hardly one may fail, and with these seeds none does."""
    prior = pb.MarkovPrior.stationary([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.4, 0.1, 0.5]])
    world = World(prior, 3)
    for seed in range(20):
        policy = Hostile(seed, 3, flipped=True)
        truth = optimum(prior, world, policy, 1)
        loss = pb.measure(prior, pb.Release.adaptive(policy, 3), 1, series="sample", seed=seed, runs=200)
        assert loss.lower <= truth * (1 + 1e-9) <= loss.upper * (1 + 2e-9)
        assert loss.effort.confidence == 0.99 or loss.lower == loss.upper


def chase(history: Any) -> list[int]:
    """Stay where somebody is counted, go on where nobody is."""
    place = 0
    for (value,) in history:
        place = place if value > 0.5 else (place + 1) % 5
    return [place]


class TestIdentities:
    def test_a_policy_that_does_not_look_is_a_release(self) -> None:
        fixed = pb.Release([[0, 1], [], 2])
        loss = pb.measure(LINE, pb.Release.adaptive(lambda history: fixed.sensors[len(history)], 3), 1, tolerance=0)
        want = pb.measure(LINE, fixed, 1, tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((want.lower, want.upper), rel=1e-12)
        assert loss.attacks["marginal"].value == pytest.approx(want.attacks["marginal"].value, rel=1e-12)

    def test_a_policy_that_names_nothing_adds_nothing(self) -> None:
        loss = pb.measure(LINE, pb.Release.adaptive(lambda history: [], 3), 1, tolerance=0)
        assert loss.upper == pytest.approx(loss.baseline.lower, rel=1e-12)

    def test_all_that_may_be_chosen_tells_more(self) -> None:
        loss = pb.measure(LINE, pb.Release.adaptive(chase, 4), 1, tolerance=0)
        every = pb.measure(LINE, pb.Release([[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]), 1, tolerance=0)
        assert loss.baseline.upper < loss.lower <= every.upper * (1 + 1e-12)

    def test_releases_together_go_each_their_own_way(self) -> None:
        """As one policy that is told of both, whichever comes first; the other's values do not matter to a policy."""
        fixed = pb.Release(counts=[pb.Present([3, 4], 0), pb.Moved([1], [2], 0)], steps=3)
        release, other = pb.Release.adaptive(chase, 3), pb.Release.adaptive(lambda history: len(history), 3)
        tables = {"fixed": fixed, "other": other, "itself": release}
        for name, table in tables.items():
            both, turned = (pb.measure(LINE, each, 1, tolerance=0).upper for each in (release + table, table + release))
            alone = [pb.measure(LINE, each, 1, tolerance=0).upper for each in (release, table)]
            assert both == pytest.approx(turned, rel=1e-9), name
            assert both >= max(alone) * (1 - 1e-9), name
            assert (both == pytest.approx(alone[0], rel=1e-9)) == (name == "itself")

    def test_a_fixed_table_beside_a_policy_is_one_that_the_policy_names(self) -> None:
        beside = [[4], [3], []]

        def with_it(history: Any) -> list[int]:
            own = tuple(values[len(table) :] for values, table in zip(history, beside, strict=False))
            return [*beside[len(history)], *chase(own)]

        release = pb.Release(beside) + pb.Release.adaptive(chase, 3)
        want = pb.measure(LINE, pb.Release.adaptive(with_it, 3), 1, tolerance=0)
        assert pb.measure(LINE, release, 1, tolerance=0).upper == pytest.approx(want.upper, rel=1e-12)
        with pytest.raises(pb.InputError, match="releases of 3 and 2 steps"):
            _ = release + pb.Release([0, 1])

    def test_the_loss_is_the_mean_of_what_is_realised(self) -> None:
        release = pb.Release.adaptive(chase, 3)
        total = 0.0
        for series in product((0.0, 1.0), repeat=3):
            fixed = release.after(series)
            raw = sum(
                chance
                for chance, told in zip(World(LINE, 3).chance, fixed.publish(World(LINE, 3).traces, RNG), strict=True)
                if tuple(told[:, 0]) == series
            )
            if raw:
                total += raw * pb.measure(LINE, release, 1, published=series, tolerance=0).upper
        assert total == pytest.approx(pb.measure(LINE, release, 1, tolerance=0).upper, rel=1e-9)


RNG = np.random.default_rng(0)


class TestNoise:
    release = pb.Release.adaptive(chase, 3, pb.Gaussian(1.0))

    def test_histories_of_a_continuum_are_drawn(self) -> None:
        loss = pb.measure(LINE, self.release, 1, runs=400)
        raw = pb.measure(LINE, pb.Release([[0, 1, 2]] * 3), 1)
        assert loss.effort.sampled
        assert loss.effort.confidence == 0.99
        assert loss.baseline.lower <= loss.lower < loss.upper < raw.upper

    def test_what_is_chosen_among_bounds_for_certain(self) -> None:
        among = [pb.Present([place], t, mechanism=pb.Gaussian(5.0)) for t in range(2) for place in range(2)]
        loss = pb.measure(LINE, pb.Release.adaptive(chase, 2, pb.Gaussian(5.0), among=among), 0, runs=20, budget=1e8)
        want = pb.measure(LINE, pb.Release(counts=among, steps=2), 0)
        assert want.effort.confidence is None
        assert loss.bounds["among"] == pytest.approx(want.upper, rel=0.02)
        assert loss.upper <= loss.bounds["among"]

    def test_many_values_are_drawn_and_not_listed(self) -> None:
        loss = pb.measure(LINE, pb.Release.adaptive(chase, 4, pb.Geometric(0.5)), 1, runs=50)
        assert loss.effort.sampled

    def test_too_many_histories_say_how_many(self) -> None:
        with pytest.raises(pb.InputError, match=r" [\d,]+ histories are possible up to step 1, and at most 4,096"):
            pb.measure(LINE, pb.Release.adaptive(chase, 5, pb.Geometric(2.0)), 1, series="enumerate")
        with pytest.raises(pb.InputError, match="endlessly many histories are possible up to step 0"):
            pb.measure(LINE, self.release, 1, series="enumerate")

    def test_empty_cells_are_part_of_the_history(self) -> None:
        asked = []

        def policy(history: Any) -> Any:
            asked.append(history)
            return pb.Present([1], len(history), others=1 + 3 * len(history))

        release = pb.Release.adaptive(policy, 2, pb.Suppression(2))
        loss = pb.measure(LINE, release, 0, tolerance=0)
        want = pb.measure(LINE, pb.Release([1, 1], pb.Suppression(2), others=[1, 4]), 0, tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((want.lower, want.upper), rel=1e-12)
        assert {len(history) for history in asked} == {0, 1}
        assert any(np.isnan(history[0][0]) for history in asked if history)


class Forgetful:
    """Names something else each time it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, history: Any) -> list[int]:
        self.asked += 1
        return [self.asked % 2]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (lambda history: pb.Present([0], len(history) + 1), "it looks ahead: Present.* is over at step 1.*for step 0"),
        (lambda history: pb.Moved([0], [1], len(history)), "it looks ahead: Moved.* is over at step 1"),
        (lambda history: pb.Visitors([0], range(2)), "it looks ahead: Visitors.* is over at step 1"),
        (lambda history: pb.Present([0], 0), "named for the step at which it is over"),
        (lambda history: None, r"it names None after \(\); expected places, or counts"),
        (lambda history: "here", "it names 'here' after"),
        (lambda history: [[0]], r"it names \[0\] after"),
        (lambda history: True, "it names True after"),
        (lambda history: -1, "it names -1 after"),
        (lambda history: 0.5, r"it names 0\.5 after"),
        (lambda history: {0: 1}, r"it names \{0: 1\} after"),
        (lambda history: {0, 1}, r"it names \{0, 1\} after"),
        (lambda history: repeat(0), "it names more than 10,000 counts for one step"),
        (lambda history: 9, "but the prior has 5 places, numbered 0 to 4"),
        (lambda history: history[0], r"it raised IndexError \(tuple index out of range\) after \(\)"),
        (lambda history: pb.Present([0], len(history), mechanism=PANEL), "a draw that is used again is not modelled"),
        (Forgetful(), "and .* when asked again; what is chosen must follow from what was published"),
        (lambda history: pb.Present([0], len(history), mechanism=pb.Rounding(5)), "the number of other people is"),
    ],
)
@pytest.mark.parametrize("series", ["auto", "sample"])
def test_policies_that_are_none(policy: Any, words: str, series: Any) -> None:
    with pytest.raises(pb.InputError, match=words):
        pb.measure(LINE, pb.Release.adaptive(policy, 2), 0, series=series)


def test_a_policy_that_counts_its_calls_is_found_out() -> None:
    """It answers each question twice in the same way, and only later in another."""
    asked: list[Any] = []

    def policy(history: Any) -> int:
        asked.append(history)
        return int(len(asked) > 4)

    with pytest.raises(pb.InputError, match="what is chosen must follow"):
        pb.measure(LINE, pb.Release.adaptive(policy, 2))


class TestBadInput:
    release = pb.Release.adaptive(chase, 2)

    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: pb.Release.adaptive(5, 2), "expected a function of what was published"),  # type: ignore[arg-type]
            (lambda: pb.Release.adaptive(chase, 0), "steps"),
            (lambda: pb.Release.adaptive(chase, 2, "raw"), "expected a Mechanism"),  # type: ignore[arg-type]
            (lambda: pb.Release.adaptive(chase, 2, among=pb.Release([0])), "counts over 1 steps"),  # type: ignore[arg-type]
            (lambda: TestBadInput.release.after([0, 1, 0]), "no step 2"),
            (lambda: TestBadInput.release.after([0]), "1 steps, but the release has 2"),
            (lambda: TestBadInput.release.after([[0, 1], 0]), "asks for 1 values"),
            (lambda: TestBadInput.release.after(5), "expected a value for each count"),  # type: ignore[arg-type]
            (lambda: TestBadInput.release.after([0, "1"]), "expected a number"),  # type: ignore[list-item]
        ],
    )
    def test_arguments(self, make: Any, words: str) -> None:
        with pytest.raises(pb.InputError, match=words):
            make()

    def test_what_was_not_said_to_be_chosen(self) -> None:
        release = pb.Release.adaptive(chase, 2, among=[pb.Present([0], 0)])
        with pytest.raises(pb.InputError, match="none of the counts that it was said to choose among"):
            pb.measure(LINE, release)

    def test_what_is_named_more_often_than_was_said(self) -> None:
        """Drawn afresh, each tells more: what is chosen among would not bound it."""
        noisy = [pb.Present([0], 0, mechanism=pb.Gaussian(1.0))]
        once, twice = (pb.Release.adaptive(lambda history: noisy * 2, 1, among=noisy * times) for times in (1, 2))
        with pytest.raises(pb.InputError, match="named 2 times for one step, and only 1 times among"):
            pb.measure(LINE, once)
        assert pb.measure(LINE, twice, runs=20).lower > 0

    @pytest.mark.parametrize(
        "use",
        [
            lambda release: pb.mutual_information(LINE, release),
            lambda release: pb.reconstruction_advantage(LINE, release),
            lambda release: pb.measure(LINE, release, method="sampling"),
            lambda release: release.publish([[0, 1]], RNG),
        ],
    )
    def test_what_is_for_fixed_counts_is_refused(self, use: Any) -> None:
        with pytest.raises(pb.UnsupportedRelease):
            use(self.release)

    @pytest.mark.parametrize("name", ["ways", "grid", "channels", "classes", "listed", "publish", "evidence", "as_raw"])
    def test_nothing_of_fixed_counts_is_inherited(self, name: str) -> None:
        """A release that has no sensors of its own would pass for one that publishes nothing."""
        with pytest.raises(pb.UnsupportedRelease, match="a policy chooses these as one goes"):
            getattr(self.release, name)

    def test_bounds_for_fixed_counts_say_so(self) -> None:
        assert "fixed in advance" in pb.measure(LINE, self.release).refused["fano"]
        assert "fixed in advance" in pb.measure(LINE, pb.Release([0, 1])).refused["among"]
