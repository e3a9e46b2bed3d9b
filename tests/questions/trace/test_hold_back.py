"""Holding steps back: nobody is found too well, and that a step was held back tells nothing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import chains

import passerby as pb

LINE = pb.line_prior(4, 0.4)
Rows = NDArray[np.bool_]


def transcript(policy: Any, trace: NDArray[np.int64], steps: int, others: int) -> tuple[tuple[float, ...], ...]:
    """What is published of a trace, raw, by a policy that is asked step by step."""
    history: tuple[tuple[float, ...], ...] = ()
    for _ in range(steps):
        values = [float(others + count.bits(trace[None])[0]) for count in policy(history)]
        history = (*history, tuple(values))
    return history


def chance(world: World, kept: Rows, misses: int) -> float:
    """How likely the best guess is right for those of the traces that are kept."""
    weight = world.chance * kept
    return float((weight @ (world.distance <= misses)).max() / weight.sum())


def wanted_of(data: st.DataObject, places: int, steps: int, others: int | None) -> pb.Release:
    """A count of any kind that is over at each of the steps."""
    zones = st.lists(st.integers(0, places - 1), min_size=1, max_size=places, unique=True)
    counts: list[Any] = []
    for t in range(steps):
        kind = data.draw(st.sampled_from(["present", "moved", "visitors"]))
        if kind == "moved" and t:
            counts.append(pb.Moved(data.draw(zones), data.draw(zones), t - 1, others=others))
        elif kind == "visitors":
            counts.append(pb.Visitors(data.draw(zones), range(data.draw(st.integers(0, t)), t + 1), others=others))
        else:
            counts.append(pb.Present(data.draw(zones), t, others=others))
    return pb.Release(counts=counts, steps=steps)


@settings(max_examples=12)
@given(chains(), st.booleans(), st.data())
def test_nobody_is_ever_above_the_limit_and_holding_back_tells_nothing(
    chain: tuple[pb.MarkovPrior, int], known: bool, data: st.DataObject
) -> None:
    """By enumeration: who has the same transcript, and who has the same values where something was published."""
    prior, steps = chain
    others = 3 if known else None
    wanted = wanted_of(data, prior.places, steps, others)
    misses = data.draw(st.integers(0, steps - 1))
    world = World(prior, steps)
    without = chance(world, np.ones(len(world.chance), bool), misses)
    limit = min(1.0, without + data.draw(st.floats(0.001, 1.0)) * (1 - without) + 1e-9)
    policy = pb.hold_back(prior, wanted, limit, misses)
    possible = world.chance > 0
    told = [transcript(policy, trace, steps, others or 0) for trace in world.traces]
    bits = np.stack([count.bits(world.traces) for count in wanted.listed], axis=1)
    for t in range(1, steps + 1):
        for seen in {each[:t] for each, chance_of in zip(told, possible, strict=True) if chance_of}:
            together = np.array([each[:t] == seen for each in told])
            published = [s for s in range(t) if seen[s]]
            one = bits[np.flatnonzero(together & possible)[0]]
            same = (bits[:, published] == one[published]).all(axis=1)
            # To know the values that came out is to know all that the transcript tells.
            assert (together == same)[possible].all()
            assert chance(world, together, misses) <= limit * (1 + 1e-9)
    loss = pb.measure(prior, pb.Release.adaptive(policy, steps), misses, tolerance=0)
    assert loss.upper <= limit * (1 + 1e-9)
    assert loss.upper <= pb.measure(prior, wanted, misses, tolerance=0).upper * (1 + 1e-9)


def test_a_look_at_the_number_that_is_held_back_gives_it_away() -> None:
    """What is not done: to hold back only what would really tell too much. That it is held back then tells it."""
    prior = pb.MarkovPrior([0.5, 0.25, 0.25], np.eye(3))
    world = World(prior, 1)
    there = world.traces[:, 0] == 0
    # Not there, one is at one of two other places: 0.5 is within the limit, 1.0 is not, so 1 is never published.
    assert chance(world, ~there, 0) == 0.5
    assert chance(world, there, 0) == 1.0
    assert pb.hold_back(prior, pb.Release([0]), 0.6)(()) == []
    # A publisher who looks holds back exactly those who are there, and their place is known for sure.
    held_back = there
    assert chance(world, held_back, 0) == 1.0


class TestDecisions:
    wanted = pb.Release([1, 2, 1])

    def test_all_is_published_where_anything_goes(self) -> None:
        policy = pb.hold_back(LINE, self.wanted, 1.0)
        loss = pb.measure(LINE, pb.Release.adaptive(policy, 3), 1, tolerance=0)
        want = pb.measure(LINE, self.wanted, 1, tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((want.lower, want.upper), rel=1e-12)

    def test_nothing_is_published_where_nothing_may_be_added(self) -> None:
        without = pb.measure(LINE, pb.Release.silent(3), 1, tolerance=0).upper
        policy = pb.hold_back(LINE, self.wanted, without * (1 + 1e-9), 1)
        assert [policy(((),) * t) for t in range(3)] == [[], [], []]

    def test_an_unlikely_person_is_protected_too(self) -> None:
        """One person alone may be published, but not with somebody beside them who would be found."""
        still = pb.MarkovPrior([0.3, 0.1, 0.3, 0.3], np.full((4, 4), 0.25))
        found = pb.MarkovPrior([0.2, 0.4, 0.2, 0.2], np.eye(4))
        assert pb.hold_back(still, pb.Release([1, 1]), 0.5)(())
        assert not pb.hold_back([still, found], pb.Release([1, 1]), 0.5)(())

    def test_a_raw_zero_tells_that_nobody_was_there(self) -> None:
        policy = pb.hold_back(LINE, self.wanted, 0.3)
        decisions = [bool(policy(((value,),))) for value in (0.0, 17.0)]
        known = pb.hold_back(LINE, pb.Release([1, 2, 1], others=[17, 17, 17]), 0.3)
        assert decisions[0] == bool(known(((17.0,),)))
        assert decisions == [True, False]

    def test_noise_of_which_no_value_tells_much_is_published(self) -> None:
        """Laplace noise of scale b moves the odds by a factor of exp(1/b) at most."""
        decisions = {scale: bool(pb.hold_back(LINE, pb.Release([1], pb.Laplace(scale)), 0.3)(())) for scale in (1, 20)}
        assert decisions == {1: False, 20: True}
        # Alone at place 1 with a chance of 1/4: odds of 1/3, and with a factor of e a chance of 0.475.
        even = pb.MarkovPrior(np.full(4, 0.25), np.eye(4))
        assert pb.hold_back(even, pb.Release([1], pb.Laplace(1.0)), 0.476)(())
        assert not pb.hold_back(even, pb.Release([1], pb.Laplace(1.0)), 0.475)(())

    def test_a_continuum_is_measured_with_a_certain_bound(self) -> None:
        mild = pb.hold_back(LINE, pb.Release([1, 2, 1], pb.Gaussian(20.0)), 0.3)
        assert mild(((3.7,), (-2.0,)))
        loss = pb.measure(LINE, pb.Release.adaptive(mild, 3), runs=50, budget=1e8)
        assert loss.upper <= loss.bounds["among"] <= 0.3

    def test_what_is_all_but_impossible_is_protected_too(self) -> None:
        """Chances below what a float can hold are still chances."""
        moves = [[0.5, 0.5, 0.0, 0.0]] * 2 + [[0.5, 0.5, 0.0, 1e-200], [0.5, 0.5, 0.0, 0.0]]
        rare = pb.MarkovPrior([0.5, 0.5, 1e-200, 0.0], moves)
        # Whoever is at place 3 then was at 2 before, with a chance of 1e-400, and is found for certain.
        assert pb.hold_back(rare, pb.Release([[], 3]), 0.6)(((),)) == []
        assert pb.hold_back(rare, pb.Release([[], 0]), 0.6)(((),)) != []

    @pytest.mark.parametrize("value", [11.0, 20.0, 1e6])
    def test_a_value_far_off_tells_as_much_as_any(self, value: float) -> None:
        """Its likelihood is too small for a float with the person and without, and far smaller without."""
        policy = pb.hold_back(LINE, pb.Release([2, 3, 2], pb.Gaussian(0.2), others=[10, 10, 10]), 0.3)
        exact = pb.hold_back(LINE, pb.Release([2, 3, 2], others=[10, 10, 10]), 0.3)
        assert policy(((value,),)) == exact(((11.0,),)) == []

    def test_flows_and_visitors_are_held_back_too(self) -> None:
        wanted = pb.Release(counts=[pb.Moved([0], [1], 0), pb.Visitors([2, 3], range(3))], steps=3)
        policy = pb.hold_back(LINE, wanted, 0.4)
        assert policy(()) == []
        loss = pb.measure(LINE, pb.Release.adaptive(policy, 3), tolerance=0)
        assert loss.upper <= 0.4

    def test_fitted_people_are_protected_by_their_habits(self) -> None:
        visits = pb.simulate_city(people=6, places=8, days=6, seed=3)
        people = pb.fit_people(visits, window="6h", places=6, min_active=3, holdout=2)
        wanted = pb.Release([[0, 1], [2, 3]])
        priors = [people.prior(i, reduced=False)[0] for i in range(len(people))]
        assert pb.hold_back(people, wanted, 1.0)(()) == pb.hold_back(priors, wanted, 1.0)(()) != []

    def test_rules_need_their_others(self) -> None:
        quiet = pb.hold_back(LINE, pb.Release([1, 2], pb.Suppression(10), others=[3, 3]), 0.25)
        assert quiet(()) != []
        assert quiet(((np.nan,),)) != []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pb.hold_back([LINE, 5], pb.Release([0])), r"priors\[1\]: expected a MarkovPrior"),  # type: ignore[list-item]
        (lambda: pb.hold_back(5, pb.Release([0])), "priors: expected MarkovPriors"),  # type: ignore[arg-type]
        (lambda: pb.hold_back([], pb.Release([0])), "priors: there are none, so that nothing would be held back"),
        (lambda: pb.hold_back(LINE, pb.Release([0, 1]))(3), "history: expected a value for each count of each step"),  # type: ignore[arg-type]
        (lambda: pb.hold_back(LINE, pb.Release([0, 1]))((("a",),)), r"history\[0\] = 'a': expected a number"),  # type: ignore[arg-type]
        (lambda: pb.hold_back(LINE, [0]), "wanted: expected a Release"),  # type: ignore[arg-type]
        (lambda: pb.hold_back(LINE, pb.Release.adaptive(lambda h: 0, 2)), "fixed in advance"),
        (lambda: pb.hold_back(LINE, pb.Release([0]), 0.0), "limit: expected a probability above 0"),
        (lambda: pb.hold_back(LINE, pb.Release([0]), 0.01), "is below what is achieved without any counts for 1 of 1"),
        (lambda: pb.hold_back(LINE, pb.Release([0]), 0.5, 1), "misses: expected a whole number from 0 to 0"),
        (lambda: pb.hold_back(LINE, pb.Release([9]), 0.5), "the prior has 4 places"),
        (lambda: pb.hold_back(LINE, pb.Release([0]), 0.5)(((1.0,),)), "1 steps were published, and there are 1"),
        (lambda: pb.hold_back(LINE, pb.Release([0, 1]), 0.5)(((1.0, 2.0),)), "2 values at step 0, where 1 are"),
        (lambda: pb.hold_back(LINE, pb.Release([0, 1], others=[2, 2]), 0.5)(((7.0,),)), "7 cannot be published for"),
    ],
)
def test_bad_input(make: Any, words: str) -> None:
    with pytest.raises(pb.InputError, match=words):
        make()


def test_too_many_ways_say_how_many() -> None:
    policy = pb.hold_back(LINE, pb.Release([1] * 14), 0.99)
    with pytest.raises(pb.UnsupportedRelease, match="in 8,192 ways, of which at most 4,096 are looked at"):
        policy(((1.0,),) * 12)
