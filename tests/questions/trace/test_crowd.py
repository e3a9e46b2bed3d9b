"""Both ends against a crowd, beside the enumeration of everybody's traces."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.joint import Law, channel, check_ends, numbers_of_others, told, truth
from tests.oracle import World
from tests.strategies import chain

import passerby as pb
from passerby.others.crowd import Crowd
from passerby.questions.trace.methods import crowd as measured

STEADY = pb.MarkovPrior([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]])
COIN = pb.MarkovPrior([0.5, 0.5], np.full((2, 2), 0.5))
STILL = pb.MarkovPrior([0.5, 0.5], np.eye(2))

RULES: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Rounding(2),
    pb.Suppression(2),
    pb.RandomRounding(3),
    pb.Sampling(0.4),
    pb.Then(pb.Suppression(2), pb.Miscount(0.1, 0.2)),
)

#: Places, and sensors at each step: gaps, several sensors, the same ones and others.
SHAPES: tuple[tuple[int, list[list[int]]], ...] = (
    (2, [[0], [0], [0]]),
    (2, [[0], [1], [], [0]]),
    (3, [[0, 1], [2]]),
    (3, [[0, 1], [1, 2]]),
    (3, [[0], [], [1, 2]]),
)
#: Each rule, and each shape but the smallest.
FEW: tuple[tuple[int, pb.Mechanism], ...] = ((2, pb.Rounding(2)), (3, pb.Raw()), (4, pb.Sampling(0.4)))


def others_of(seed: int, shape: int, number: int, still: bool) -> tuple[pb.MarkovPrior, list[pb.MarkovPrior]]:
    places, sensors = SHAPES[shape]
    prior = chain(seed, places, len(sensors), "varying")
    crowd = [chain(seed + 1 + i, places, len(sensors), ("varying", "started")[i % 2]) for i in range(number)]
    return prior, [pb.MarkovPrior(person.initial, np.eye(places)) for person in crowd] if still else crowd


@settings(max_examples=60)
@example(pb.Raw(), 3, 0, 2, 0, True)
@example(pb.Raw(), 5, 3, 3, 1, False)
@given(
    st.sampled_from(RULES),
    st.integers(0, 10**6),
    st.integers(0, len(SHAPES) - 1),
    st.integers(1, 3),
    st.integers(0, 1),
    st.booleans(),
)
def test_the_truth_lies_between_the_ends(
    rule: pb.Mechanism, seed: int, shape: int, number: int, misses: int, still: bool
) -> None:
    if shape == 3 and rule != pb.Raw():
        number = 1  # more series of four counts take long to list
    prior, others = others_of(seed, shape, number, still)
    release = pb.Release(SHAPES[shape][1], rule, pb.Crowd(others))
    loss = pb.measure(prior, release, misses, tolerance=0)
    check_ends(loss, prior, release, others, misses)


def test_somebody_who_stays_hides_nobody() -> None:
    """Ten raw counts tell where another person is, unless the target is always or never there as well."""
    loss = pb.measure(COIN, pb.Release([0] * 10, pb.Raw(), pb.Crowd([STILL])))
    assert loss.lower == pytest.approx(1 - 2**-11, rel=1e-9)
    assert loss.bounds["crowd"] == pytest.approx(1.0)
    assert loss.effort.confidence is None


@pytest.mark.thorough
def test_the_bound_falls_with_the_crowd() -> None:
    """Four raw counts of others who stay with 0.8; whoever knows them all finds the target for certain."""
    bounds = []
    for number in (1, 2, 4, 8, 16, 64):
        release = pb.Release([0] * 4, pb.Raw(), pb.Crowd([STEADY] * number))
        loss = pb.measure(COIN, release)
        assert loss.baseline.lower == pytest.approx(0.0625)
        assert loss.bounds["known"] == pytest.approx(1.0)
        bounds.append(loss.upper)
        if number <= 8:
            assert loss.lower <= truth(COIN, release, [STEADY] * number, 0) * (1 + 1e-9)
            assert truth(COIN, release, [STEADY] * number, 0) <= loss.upper
    assert all(later < 0.95 * earlier for earlier, later in pairwise(bounds))
    assert bounds[4] == pytest.approx(0.221, abs=0.02)


class TestDrawn:
    """Where too much can be told to be listed."""

    @pytest.fixture(autouse=True)
    def nothing_is_listed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(measured, "MOST_TOLD", 0)

    @pytest.mark.parametrize(
        ("shape", "rule"),
        [
            pytest.param(*case, marks=[] if case in FEW else pytest.mark.thorough)
            for case in product((0, 2, 3, 4), (pb.Raw(), pb.Rounding(2), pb.Sampling(0.4)))
        ],
        ids=repr,
    )
    def test_ends_and_values_are_those_of_the_enumeration(self, shape: int, rule: pb.Mechanism) -> None:
        prior, others = others_of(7, shape, 2, False)
        release = pb.Release(SHAPES[shape][1], rule, pb.Crowd(others))
        loss = pb.measure(prior, release, 0, runs=4000, tolerance=0)
        assert loss.effort.confidence == 0.99
        best, bound = (of(prior, release, others, 0) for of in (truth, told))
        assert loss.lower <= best <= bound <= loss.bounds["crowd"]
        assert loss.bounds["crowd"] <= bound + 0.06
        world = World(prior, release.steps)
        exact = channel(world, release, numbers_of_others(release, others), len(others))
        # The likeliest trace under independence, scored under the true law.
        alone = pb.Release(release.sensors, rule, release.others.as_if_independent(release.sensors))  # type: ignore[union-attr]
        values = np.unique(np.concatenate([rule.law(n)[0] for n in range(len(others) + 2)]))
        cells = [(t, j) for t, step in enumerate(release.sensors) for j in range(len(step))]
        published = np.full((len(exact), *release.grid.shape), np.nan)
        for cell, grid in zip(cells, np.meshgrid(*[values] * len(cells), indexing="ij"), strict=True):
            published[:, *cell] = grid.reshape(-1)
        likely = exact.sum(axis=1) > 0
        guess = measured.blind_guesses(prior, alone, published[likely], 0)["map"]
        right = (world.traces[None] == guess[:, None]).all(axis=2)
        expected = float((exact[likely] * world.chance * right).sum())
        found = loss.attacks["map"]
        assert abs(found.value - expected) <= 4 * found.error + 1e-12

    def test_intervals_hold_as_often_as_they_say(self) -> None:
        prior, others = others_of(11, 0, 2, False)
        release, repeats = pb.Release(SHAPES[0][1], pb.Raw(), pb.Crowd(others)), 60
        best, held, bounded = truth(prior, release, others, 0), 0, 0
        bound = told(prior, release, others, 0)
        for seed in range(repeats):
            loss = pb.measure(prior, release, runs=60, confidence=0.7, seed=seed)
            held += loss.lower <= best <= loss.upper
            bounded += bound <= loss.bounds["crowd"]
        assert held >= 0.7 * repeats - 3 * np.sqrt(repeats * 0.21)
        assert bounded >= 0.9 * repeats - 3 * np.sqrt(repeats * 0.09)

    @pytest.mark.parametrize("shape", [0, 2, 4])
    def test_what_is_hidden_of_somebody_who_is_told_is_a_bound(
        self, shape: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Raw counts that are shown at random tell no less than what somebody is told, by the enumeration of that."""
        monkeypatch.setattr(measured, "FAR", 0.0)
        prior, others = others_of(5, shape, 3, False)
        release = pb.Release(SHAPES[shape][1], pb.Raw(), pb.Crowd(others))
        loss = pb.measure(prior, release, 0, runs=400, tolerance=0)
        assert told(prior, release, others, 0) <= loss.bounds["erasure"] <= loss.bounds["known"] + 1e-9

    def test_many_others_hide_what_no_sample_resolves(self) -> None:
        line = pb.line_prior(20)
        release = pb.Release([[3, 5, 9]] * 8, pb.Raw(), pb.Crowd([line] * 40))
        loss = pb.measure(line, release, runs=200)
        assert loss.effort.bound == "erasure"
        assert loss.upper < loss.bounds["known"] / 2

    @pytest.mark.parametrize("rule", [pb.Gaussian(1.0), pb.Laplace(0.5, clamped=True)], ids=repr)
    def test_noise_from_a_continuum(self, rule: pb.Mechanism) -> None:
        crowd = pb.Crowd([STEADY] * 6)
        loss = pb.measure(COIN, pb.Release([0, 0, 0], rule, crowd))
        raw = pb.measure(COIN, pb.Release([0, 0, 0], pb.Raw(), crowd))
        assert loss.baseline.lower <= loss.lower <= loss.upper < loss.bounds["known"]
        assert loss.lower <= raw.upper
        assert loss.upper <= raw.upper * 1.1

    @pytest.mark.parametrize(
        ("number", "least"), [(1, 0.9), (4, 0.8), pytest.param(8, 0.85, marks=pytest.mark.thorough)]
    )
    def test_guesses_know_how_numbers_go_together(self, number: int, least: float) -> None:
        """Far better than with independent numbers, and never above the truth."""
        release = pb.Release([0] * 4, pb.Raw(), pb.Crowd([STEADY] * number))
        loss = pb.measure(COIN, release)
        best = truth(COIN, release, [STEADY] * number, 0)
        assert least * best < loss.attacks["ascent"].value < best + 4 * loss.attacks["ascent"].error
        assert loss.attacks["ascent"].value > 1.1 * loss.attacks["map"].value

    @pytest.mark.parametrize("rule", RULES, ids=repr)
    def test_guesses_of_every_mechanism_are_attacks(self, rule: pb.Mechanism) -> None:
        prior, others = others_of(3, 4, 3, False)
        release = pb.Release(SHAPES[4][1], rule, pb.Crowd(others))
        loss = pb.measure(prior, release, 1)
        best = truth(prior, release, others, 1)
        assert loss.lower <= best <= loss.upper
        for attack in loss.attacks.values():
            assert attack.value <= best + 4 * attack.error + 1e-9

    def test_people_who_are_too_many_are_told_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from passerby.others import sensors as disclosure

        release = pb.Release([0, 0, 0], pb.Raw(), pb.Crowd([STEADY] * 30))
        free = pb.measure(COIN, release).upper
        monkeypatch.setattr(disclosure, "_WORK", 0.0)
        monkeypatch.setattr(disclosure, "_FEWEST", 4)
        assert pb.measure(COIN, release).upper > 1.5 * free


class TestLaws:
    def test_nothing_is_said_of_how_numbers_go_together(self) -> None:
        """The other person may stay, or be drawn afresh: the ends hold for both."""
        release = pb.Release([0, 0], pb.Raw(), pb.Crowd(laws=[[0.5, 0.5]] * 2))
        loss = pb.measure(COIN, release)
        assert "how numbers of others at different counts go together is not known" in loss.refused["crowd"]
        assert "crowd" not in loss.bounds
        drawn = pb.measure(COIN, release, method="sampling")
        assert "cannot be drawn" in drawn.refused["map"]
        assert drawn.lower <= loss.upper
        assert loss.lower == loss.baseline.lower
        for others in ([STILL], [COIN]):
            assert loss.lower <= truth(COIN, release, others, 0) <= loss.upper

    def test_independent_numbers_are_measured_exactly(self) -> None:
        laws = [[0.5, 0.5], [0.25, 0.5, 0.25]]
        loss = pb.measure(COIN, pb.Release([0, 0], pb.Raw(), pb.Crowd(laws=laws, told=laws)))
        law: Law = {(a, b): p * q for a, p in enumerate(laws[0]) for b, q in enumerate(laws[1])}
        world = World(COIN, 2)
        best = world.optimum(channel(world, pb.Release([0, 0]), law, 2), 0)
        assert loss.lower == pytest.approx(best, rel=1e-9)
        assert loss.upper == pytest.approx(best, rel=1e-9)

    def test_told_laws_bound_what_is_guessed_without_them(self) -> None:
        """Told where everybody is, the bound is that of one who knows; the guess still goes by habits."""
        laws, all_told = [[0.6, 0.4]] * 3, [[0.0, 1.0]] * 3
        loss = pb.measure(COIN, pb.Release([0, 0, 0], pb.Raw(), pb.Crowd(laws=laws, told=all_told)))
        assert loss.bounds["crowd"] == pytest.approx(1.0)
        # A count of one is taken for the target, but it is the other person each time.
        assert loss.attacks["ascent"].value == pytest.approx(1 / 8, abs=5 * loss.attacks["ascent"].error)


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_covariances_are_those_of_the_enumeration(shape: int) -> None:
    _, others = others_of(9, shape, 3, False)
    release = pb.Release(SHAPES[shape][1], pb.Raw(), pb.Crowd([*others, others[0]]))
    law = numbers_of_others(release, [*others, others[0]])
    numbers, chances = np.array(list(law)), np.array(list(law.values()))
    apart = numbers - chances @ numbers
    found = pb.Crowd([*others, others[0]]).covariance(release.sensors)
    assert found == pytest.approx((apart * chances[:, None]).T @ apart, abs=1e-12)


def test_a_crowd_keeps_its_places_when_the_release_changes_numbers() -> None:
    prior, others = others_of(5, 2, 2, False)
    release = pb.Release(SHAPES[2][1], pb.Raw(), pb.Crowd(others))
    swapped = pb.MarkovPrior(prior.initial[[2, 0, 1]], prior.transition[:, [2, 0, 1]][:, :, [2, 0, 1]])
    there = pb.measure(swapped, release.relabelled({0: 1, 1: 2, 2: 0}), tolerance=0)
    here = pb.measure(prior, release, tolerance=0)
    assert (there.lower, there.upper) == pytest.approx((here.lower, here.upper), rel=1e-9)


def test_given_values_are_refused() -> None:
    release = pb.Release([0, 0], pb.Raw(), pb.Crowd([STILL]))
    with pytest.raises(pb.UnsupportedRelease, match=r"^published: .* Crowd\(1 people\) .* the same people"):
        pb.measure(COIN, release, published=[1, 1])
    assert pb.measure(COIN, pb.Release([0, []], pb.Raw(), pb.Crowd([STILL])), published=[2, []]).lower > 0


def test_plain_sampling_draws_everybody() -> None:
    """The paper's Monte Carlo of a guess: what is published comes from traces of the others too."""
    release = pb.Release([0] * 3, pb.Raw(), pb.Crowd([STILL]))
    loss = pb.measure(COIN, release, method="sampling", runs=4000)
    exact = pb.measure(COIN, release).attacks["map"].value
    assert loss.attacks["map"].value == pytest.approx(exact, abs=5 * loss.attacks["map"].error + 1e-9)
    assert loss.upper >= truth(COIN, release, [STILL], 0) * (1 - 1e-9)


def test_nobody_else_is_a_known_crowd() -> None:
    empty, alone = (pb.measure(COIN, pb.Release([0, 0], pb.Raw(), others)) for others in (Crowd([]), None))
    assert (empty.lower, empty.upper) == pytest.approx((alone.lower, alone.upper))
