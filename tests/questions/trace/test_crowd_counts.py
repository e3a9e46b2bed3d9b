"""Zones, flows and visitors against a crowd, beside the enumeration of everybody's traces."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.joint import check_ends, numbers_of_others, told, truth
from tests.strategies import chain

import passerby as pb
from passerby.others import bridges as passage
from passerby.questions.trace.methods import crowd as measured

RULES: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Rounding(2),
    pb.Suppression(2),
    pb.RandomRounding(3),
    pb.Sampling(0.4),
)

#: Places, steps and counts: a zone and all of the rest, levels, flows, windows, and mixtures of them.
SHAPES: tuple[tuple[int, int, list[pb.Present | pb.Moved | pb.Visitors]], ...] = (
    (3, 3, [pb.Present([0, 1], step=t) for t in range(3)]),
    (3, 2, [pb.Present(zone, step=t) for t in range(2) for zone in ([0, 1], [2])]),
    (3, 2, [pb.Present([0], step=0), pb.Present([0, 1], step=0), pb.Present([1, 2], step=1)]),
    (3, 3, [pb.Moved([0], [1, 2], step=0), pb.Moved([0, 1], [2], step=1)]),
    (2, 3, [pb.Moved([a], [b], step=0) for a in (0, 1) for b in (0, 1)]),
    (2, 4, [pb.Visitors([0], steps=[0, 1]), pb.Visitors([0], steps=[2, 3]), pb.Present([1], step=2)]),
    (2, 3, [pb.Visitors([0], steps=range(3), times=2), pb.Moved([0], [1], step=0)]),
    (3, 3, [pb.Visitors([0, 1], steps=[0, 2]), pb.Present([1, 2], step=1)]),
    (2, 3, [pb.Present([0], step=1), pb.Present([0], step=1, mechanism=pb.Rounding(3)), pb.Present([1], step=2)]),
)
Case = tuple[pb.MarkovPrior, pb.Release, list[pb.MarkovPrior]]


def case_of(rule: pb.Mechanism, seed: int, shape: int, number: int, still: bool = False) -> Case:
    places, steps, counts = SHAPES[shape]
    prior = chain(seed, places, steps, "varying")
    others = [chain(seed + 1 + i, places, steps, ("varying", "started")[i % 2]) for i in range(number)]
    others = [pb.MarkovPrior(person.initial, np.eye(places)) for person in others] if still else others
    return prior, pb.Release(counts=counts, steps=steps, mechanism=rule, others=pb.Crowd(others)), others


@example(pb.Raw(), 1, 1, 2, 0, False)
@example(pb.Raw(), 2, 4, 2, 0, True)
@example(pb.Rounding(2), 3, 5, 2, 1, False)
@given(
    st.sampled_from(RULES),
    st.integers(0, 10**6),
    st.integers(0, len(SHAPES) - 1),
    st.integers(1, 2),
    st.integers(0, 1),
    st.booleans(),
)
def test_the_truth_lies_between_the_ends(
    rule: pb.Mechanism, seed: int, shape: int, number: int, misses: int, still: bool
) -> None:
    if len(SHAPES[shape][2]) > 3 and rule != pb.Raw():
        number = 1  # more series of four counts take long to list
    prior, release, others = case_of(rule, seed, shape, number, still)
    # Where ends rest on a sample, they fail less often than this test is ever run.
    loss = pb.measure(prior, release, misses, tolerance=0, confidence=1 - 1e-9)
    check_ends(loss, prior, release, others, misses)


@pytest.mark.parametrize("noise", [pb.Geometric(0.4), pb.DiscreteGaussian(0.6)], ids=repr)
def test_noise_in_whole_numbers(noise: pb.Mechanism) -> None:
    """A flow and a window of visitors, both with noise: values without an end, of which all likely ones are listed."""
    prior, others = chain(5, 2, 3, "varying"), [chain(6, 2, 3, "varying"), chain(7, 2, 3, "started")]
    counts = [pb.Moved([0], [1], step=0), pb.Visitors([0], steps=range(3), times=2)]
    release = pb.Release(counts=counts, steps=3, mechanism=noise, others=pb.Crowd(others))
    loss = pb.measure(prior, release, 0, tolerance=0, confidence=1 - 1e-6)
    best, bound = (of(prior, release, others, 0) for of in (truth, told))
    assert loss.lower <= best * (1 + 1e-9)
    assert best <= bound * (1 + 1e-9)
    assert bound <= loss.bounds["crowd"] * (1 + 1e-9)
    assert loss.lower >= 0.9 * best


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_numbers_by_habits_are_those_of_the_enumeration(shape: int) -> None:
    """Each count's law by itself, and how all of them go together."""
    _, release, others = case_of(pb.Raw(), 9, shape, 3)
    law = numbers_of_others(release, others)
    numbers, chances = np.array(list(law)), np.array(list(law.values()))
    apart = numbers - chances @ numbers
    crowd = release.crowd
    assert crowd is not None
    assert crowd.covariance(release.sensors) == pytest.approx((apart * chances[:, None]).T @ apart, abs=1e-12)
    laws = [law for step in crowd.laws(release.sensors) for law in step]
    for cell, (least, single) in enumerate(laws):
        for n in range(4):
            expected = chances[numbers[:, cell] == n].sum()
            found = single[n - least] if 0 <= n - least < len(single) else 0.0
            assert found == pytest.approx(expected, abs=1e-12)
    drawn = crowd.draw(release.sensors, 4000, np.random.default_rng(3))[:, release.grid >= 0]
    assert drawn.mean(axis=0) == pytest.approx(chances @ numbers, abs=0.06)


class TestDrawn:
    """Where too much can be told to be listed."""

    @pytest.fixture(autouse=True)
    def nothing_is_listed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(measured, "MOST_TOLD", 0)

    @pytest.mark.parametrize("shape", range(len(SHAPES)))
    def test_ends_are_those_of_the_enumeration(self, shape: int) -> None:
        rule = RULES[shape % len(RULES)]
        prior, release, others = case_of(rule, 7, shape, 1 if len(SHAPES[shape][2]) > 3 else 2)
        loss = pb.measure(prior, release, 0, runs=2000, tolerance=0, confidence=1 - 1e-4)
        assert loss.effort.confidence is not None
        best, bound = (of(prior, release, others, 0) for of in (truth, told))
        assert loss.lower <= best <= bound <= loss.bounds["crowd"]
        assert loss.bounds["crowd"] <= bound + 0.1
        for attack in loss.attacks.values():
            assert attack.value <= best + 5 * attack.error + 1e-9

    def test_intervals_hold_as_often_as_they_say(self) -> None:
        prior, release, others = case_of(pb.Raw(), 11, 7, 2)
        best, bound, held, bounded, repeats = (
            truth(prior, release, others, 0),
            told(prior, release, others, 0),
            0,
            0,
            40,
        )
        for seed in range(repeats):
            loss = pb.measure(prior, release, runs=60, confidence=0.7, seed=seed)
            held += loss.lower <= best <= loss.upper
            bounded += bound <= loss.bounds["crowd"]
        assert held >= 0.7 * repeats - 3 * np.sqrt(repeats * 0.21)
        assert bounded >= 0.9 * repeats - 3 * np.sqrt(repeats * 0.09)

    def test_noise_from_a_continuum(self) -> None:
        prior, release, _ = case_of(pb.Gaussian(1.0), 5, 5, 2)
        raw = pb.measure(prior, release.through(pb.Raw()))
        loss = pb.measure(prior, release)
        assert loss.baseline.lower <= loss.lower <= loss.upper <= loss.bounds["known"] * 1.02
        assert loss.lower <= raw.upper


def test_a_crowd_of_visitors_hides_better_the_larger_it_is() -> None:
    """Different visitors of two days: nothing between the ends of the days is told."""
    walk = pb.MarkovPrior([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]])
    days = [pb.Visitors([0], steps=range(3)), pb.Visitors([0], steps=range(3, 6))]
    bounds = []
    for number in (1, 8, 64):
        release = pb.Release(counts=days, steps=6, others=pb.Crowd([walk] * number))
        loss = pb.measure(walk, release, 1)
        bounds.append(loss.upper)
        assert loss.bounds["known"] > 0.6
    assert bounds[0] > 1.05 * bounds[1] > 1.05**2 * bounds[2]


def test_flows_between_all_zones_are_told_by_the_steps_around() -> None:
    """Told the states at every second step, one knows the flows between: the bound is that of who knows everybody."""
    walk = pb.MarkovPrior([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]])
    flows = [pb.Moved([a], [b], step=t) for t in range(2) for a in (0, 1) for b in (0, 1)]
    loss = pb.measure(walk, pb.Release(counts=flows, steps=3, others=pb.Crowd([walk] * 3)))
    assert loss.upper == pytest.approx(loss.bounds["known"])


class TestForms:
    def test_counts_of_single_places_are_sensors(self) -> None:
        prior, _, others = case_of(pb.Raw(), 4, 0, 2)
        counts = [pb.Present([0], step=0), pb.Present([1], step=2)]
        by_counts = pb.Release(counts=counts, steps=3, others=pb.Crowd(others))
        assert type(by_counts) is pb.Release
        one, two = (pb.measure(prior, each) for each in (by_counts, pb.Release([0, [], 1], pb.Raw(), by_counts.crowd)))
        assert (one.lower, one.upper) == (two.lower, two.upper)

    def test_both_releases_of_the_same_crowd(self) -> None:
        prior, _, others = case_of(pb.Raw(), 4, 0, 2)
        crowd = pb.Crowd(others)
        one = pb.Release([0, [], 1], pb.Raw(), crowd)
        two = pb.Release(counts=[pb.Present([1, 2], step=1)], steps=3, mechanism=pb.Rounding(2), others=crowd)
        both = pb.measure(prior, one + two, tolerance=0)
        assert truth(prior, one + two, others, 0) <= both.upper * (1 + 1e-9)
        assert both.upper >= max(truth(prior, each, others, 0) for each in (one, two)) * (1 - 1e-9)
        assert two == pb.Release(counts=[two.listed[0]], steps=3, others=crowd)
        assert two != pb.Release(counts=[two.listed[0]], steps=3, others=pb.Crowd(others[:1]))
        assert two != pb.Release(counts=[two.listed[0]], steps=3)
        for other in (pb.Release([0, 1, 2]), pb.Release([0, 1, 2], pb.Raw(), pb.Crowd(others[:1]))):
            with pytest.raises(pb.InputError, match="have the same others"):
                one + other
        with pytest.raises(pb.UnsupportedRelease, match="chosen as one goes beside counts of Crowd"):
            one + pb.Release.adaptive(lambda history: [0], steps=3)

    def test_what_is_wrong_is_said(self) -> None:
        prior, release, others = case_of(pb.Raw(), 4, 0, 2)
        count = pb.Present([0, 1], step=0)
        with pytest.raises(pb.InputError, match=r"its others are given, and beside it others=Crowd\(2 people\)"):
            pb.Release(counts=[pb.Present([0, 1], step=0, others=3)], steps=1, others=pb.Crowd(others))
        with pytest.raises(pb.InputError, match="a count is of place 7, but one of the priors has 3 places"):
            pb.Release(counts=[pb.Present([0, 7], step=0)], steps=3, others=pb.Crowd(others))
        with pytest.raises(pb.InputError, match=r"Crowd\(\) is everyone else in an audit"):
            pb.measure(prior, pb.Release(counts=[count], steps=3, others=pb.Crowd()))
        with pytest.raises(pb.UnsupportedRelease, match="published: what these very values tell"):
            pb.measure(prior, release, published=[1, 1, 1])
        with pytest.raises(pb.InputError, match="not sensors or others beside"):
            pb.Release(counts=[count], steps=3, others=[[1], [], []])

    def test_too_many_others_to_remember_leave_what_holds_anyway(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(passage, "MOST_NUMBERS", 100)
        prior, release, others = case_of(pb.Raw(), 4, 5, 3)
        passage.passages.cache_clear()
        loss = pb.measure(prior, release)
        assert "too much to remember of 3 others" in loss.refused["crowd"]
        assert loss.lower == loss.baseline.lower
        assert truth(prior, release, others, 0) <= loss.upper == loss.bounds["known"]

    def test_laws_of_numbers_that_are_independent_are_measured_exactly(self) -> None:
        prior = chain(3, 3, 2, "varying")
        counts = [pb.Present([0, 1], step=0), pb.Moved([0], [1, 2], step=0)]
        laws = [[[0.5, 0.5]], [[0.25, 0.5, 0.25]]]
        release = pb.Release(counts=counts, steps=2, others=pb.Crowd(laws=laws, told=laws))
        loss = pb.measure(prior, release, tolerance=0)
        assert loss.lower == pytest.approx(loss.upper, rel=1e-9)
        unknown = pb.measure(prior, pb.Release(counts=counts, steps=2, others=pb.Crowd(laws=laws)), tolerance=0)
        assert unknown.lower <= loss.lower <= loss.upper <= unknown.upper * (1 + 1e-9)

    def test_relabelled_counts_keep_the_places_of_the_crowd(self) -> None:
        prior, release, _ = case_of(pb.Raw(), 5, 0, 2)
        swapped = pb.MarkovPrior(prior.initial[[2, 0, 1]], prior.transition[:, [2, 0, 1]][:, :, [2, 0, 1]])
        there = pb.measure(swapped, release.relabelled({0: 1, 1: 2, 2: 0}), tolerance=0)
        here = pb.measure(prior, release, tolerance=0)
        assert (there.lower, there.upper) == pytest.approx((here.lower, here.upper), rel=1e-9)


def test_a_rule_that_tells_nothing_of_one_count_may_tell_by_two() -> None:
    """Whether each of two counts is odd, of somebody who stays or not: alone it is a fair coin, together it is not."""

    class Odd(pb.Discrete):
        def law(self, count: float) -> tuple[np.ndarray, np.ndarray]:
            return np.array([count % 2]), np.ones(1)

    coin, still = pb.MarkovPrior([0.5, 0.5], np.full((2, 2), 0.5)), pb.MarkovPrior([0.5, 0.5], np.eye(2))
    release = pb.Release([0, 0], Odd(), pb.Crowd([still]))
    assert release.revealed is None  # single counts do not say what they tell together
    assert pb.measure(coin, release).upper >= truth(coin, release, [still], 0) * (1 - 1e-9) > 0.3
