"""Whether somebody is counted, and when they are easiest to find, against enumeration; and their laws."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import events
from tests.joint import seen
from tests.oracle import World
from tests.questions.test_event import CHANCES, FALSE, MECHANISMS, count_of, prior_of
from tests.strategies import rows

import passerby as pb


def release_of(rng: np.random.Generator, seed: int, places: int, steps: int) -> pb.Release:
    """A release of single places, or of zones, flows and visitors, with few series."""
    mechanism = MECHANISMS[seed % len(MECHANISMS)]
    if seed % 3 == 0:
        counts = dict.fromkeys(count_of(rng, places, steps, int(rng.integers(0, 4))) for _ in range(2))
        return pb.Release(counts=list(counts), steps=steps, mechanism=mechanism)
    sensors = [rng.choice(places, int(rng.integers(0, 2)), replace=False).tolist() for _ in range(steps)]
    return pb.Release(sensors, mechanism, [[int(rng.integers(0, 4)) for _ in step] for step in sensors])


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("seed", range(24))
def test_membership_is_told_as_well_as_enumeration_finds(seed: int, replaced: bool) -> None:
    rng = np.random.default_rng(seed)
    places, steps = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    prior = pb.MarkovPrior(rows(rng, (places,), False), rows(rng, (places, places), seed % 4 == 0))
    release = release_of(rng, seed, places, steps)
    other = pb.MarkovPrior(rows(rng, (places,), False), rows(rng, (places, places), False)) if replaced else None
    share = float(rng.choice([0.5, 0.1]))
    found = pb.measure(prior, release, pb.InData(other, share=share), tolerance=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        want = events.membership(prior, release, other, share)
        assert events.contains(found.advantage, want.advantage)
        assert found.advantage.upper - found.advantage.lower < 1e-6
        for false in FALSE:
            assert events.contains(found.power(false), want.power(false))
        for chance in CHANCES:
            assert events.contains(found.certain(chance), want.certain(chance))
            assert events.contains(found.absent(chance), want.absent(chance))


@pytest.mark.parametrize("seed", range(24))
def test_each_step_is_found_as_well_as_enumeration_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places, steps = int(rng.integers(2, 4)), int(rng.integers(1, 5))
    prior, release = prior_of(rng, places, steps), release_of(rng, seed, places, steps)
    found = pb.measure(prior, release, pb.EachStep(), tolerance=0.0)
    traces = World(prior, steps).traces
    want = events.each_step(prior, events.channel(release, seen(release, traces)), steps)
    assert found.lower == pytest.approx(want, abs=1e-9)
    assert found.upper == pytest.approx(want, abs=1e-9)
    assert (found.baseline <= found.lower + 1e-12).all()
    assert found.easiest == int(np.argmax(found.lower))


@pytest.mark.parametrize("seed", range(24))
def test_raw_membership_has_a_closed_form_for_any_habits(seed: int) -> None:
    """A mixture of habits: one pass finds how likely no sighting is, and everything follows; nothing is drawn."""
    rng = np.random.default_rng(seed)
    places, steps = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    parts = [pb.MarkovPrior(rows(rng, (places,), False), rows(rng, (places, places), seed % 3 == 0)) for _ in range(2)]
    prior = pb.MarkovPrior.mixture([0.3, 0.7], parts)
    sensors = [rng.choice(places, int(rng.integers(0, places)), replace=False).tolist() for _ in range(steps)]
    release = pb.Release(sensors) if seed % 4 else pb.Release(counts=[pb.Present([0, 1], 0)], steps=steps)
    share = float(rng.choice([0.5, 0.05]))
    found = pb.measure(prior, release, pb.InData(share=share))
    assert found.methods == ("sightings",)
    assert not found.sampled
    with np.errstate(invalid="ignore", divide="ignore"):
        want = events.membership(prior, release, None, share)
        assert found.advantage.lower == found.advantage.upper == pytest.approx(want.advantage, abs=1e-12)
        for false in FALSE:
            assert found.power(false).lower == pytest.approx(want.power(false), abs=1e-12)
            assert found.power(false).lower == pytest.approx(false + (1 - false) * want.advantage, abs=1e-12)
        for chance in CHANCES:
            assert events.contains(found.certain(chance), want.certain(chance))
            assert events.contains(found.absent(chance), want.absent(chance))


@pytest.mark.parametrize("seed", range(12))
def test_an_event_that_sensors_see_is_seen_whatever_the_habits(seed: int) -> None:
    """Sensors where it comes true, at all of its steps: told for certain, also of habits with modes."""
    rng = np.random.default_rng(seed)
    parts = [pb.MarkovPrior(rows(rng, (3,), False), rows(rng, (3, 3), False)) for _ in range(2)]
    prior = pb.MarkovPrior.mixture([0.5, 0.5], parts)
    event = pb.Event(pb.Visitors([1], range(3)))
    found = pb.measure(prior, pb.Release([[1], [0, 1], [1]]), event)
    assert found.methods == ("sightings",)
    assert found.advantage.lower == 1.0
    partly = pb.measure(prior, pb.Release([[1], [0], [1]]), event)
    with np.errstate(invalid="ignore", divide="ignore"):
        want = events.truth(prior, pb.Release([[1], [0], [1]]), event)
        assert events.contains(partly.advantage, want.advantage)


@pytest.mark.thorough
@given(st.integers(24, 10**9), st.booleans())
def test_both_are_answered_as_well_as_enumeration_finds(seed: int, replaced: bool) -> None:
    test_membership_is_told_as_well_as_enumeration_finds(seed, replaced)
    test_each_step_is_found_as_well_as_enumeration_finds(seed)


@given(st.integers(0, 10_000), st.floats(0.3, 3.0), st.sampled_from([pb.Geometric, pb.Laplace]))
def test_membership_never_exceeds_differential_privacy(seed: int, scale: float, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    prior, release = prior_of(rng, 3, 2), pb.Release([0, 1], kind(scale))
    found = pb.measure(prior, release, pb.InData())
    epsilon = 2 / scale
    assert found.advantage.lower <= np.tanh(epsilon / 2) + 1e-9
    for false in FALSE:
        assert found.power(false).lower <= min(1.0, np.exp(epsilon) * false) + 1e-9


@given(st.integers(0, 10_000), st.floats(0.5, 2.0), st.floats(1.1, 3.0))
def test_more_noise_never_tells_more(seed: int, scale: float, factor: float) -> None:
    prior = prior_of(np.random.default_rng(seed), 3, 2)
    for kind in (pb.Gaussian, pb.Laplace):
        releases = [pb.Release([0, 1], kind(s)) for s in (scale, scale * factor)]
        less, more = (pb.measure(prior, release, pb.InData()) for release in releases)
        assert more.advantage.lower <= less.advantage.upper + 1e-9
        before, after = (pb.measure(prior, release, pb.EachStep()) for release in releases)
        assert (after.lower <= before.upper + 1e-9).all()


def test_raw_counts_tell_of_whoever_is_sighted() -> None:
    prior = pb.MarkovPrior([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]])
    found = pb.measure(prior, pb.Release([1, [], 1]), pb.InData())
    unseen = 0.6 * (0.7 * 0.7 + 0.3 * 0.2)
    assert (found.advantage.lower, found.advantage.upper) == pytest.approx((1 - unseen,) * 2)


def test_nothing_published_tells_nothing() -> None:
    prior, silent = pb.line_prior(4), pb.Release([[], []])
    assert pb.measure(prior, silent, pb.InData()).advantage.upper == pytest.approx(0.0, abs=1e-12)
    found = pb.measure(prior, silent, pb.EachStep())
    assert found.upper == pytest.approx(found.baseline)


def test_a_crowd_hides_no_less_than_nobody() -> None:
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    known = pb.measure(prior, pb.Release([0, 1]), pb.InData())
    hidden = pb.measure(prior, pb.Release([0, 1], others=pb.Crowd([prior] * 20)), pb.InData())
    assert hidden.advantage.lower <= hidden.advantage.upper <= known.advantage.upper + 1e-9
    assert hidden.advantage.upper < 0.5 * known.advantage.lower


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (lambda: pb.InData(share=0.0), "share=0.0"),
        (lambda: pb.InData(share=True), "share=True"),
        (lambda: pb.InData(instead=3), "instead=3"),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_said(question: Any, says: str) -> None:
    with pytest.raises(pb.InputError, match=says):
        question()


def test_habits_over_other_places_are_refused() -> None:
    with pytest.raises(pb.InputError, match="over the same places"):
        pb.measure(pb.line_prior(4), pb.Release([1, 2]), pb.InData(pb.line_prior(5)))


@pytest.mark.thorough
def test_limits_of_drawn_series_hold_as_often_as_promised() -> None:
    """All ends of a curve hold together; noise is drawn once for both hypotheses, and for all questions."""
    prior = pb.MarkovPrior([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]])
    release = pb.Release([1, 1, 1], pb.Geometric(1.0))
    want = events.membership(prior, release)
    curve = events.each_step(prior, events.channel(release, seen(release, World(prior, 3).traces)), 3)
    truths = want.advantage, want.power(0.05), want.certain(0.6), want.absent(0.6)
    outside, above = np.zeros(4), 0
    for seed in range(300):
        how: Any = {"series": "sample", "runs": 100, "confidence": 0.9, "seed": seed}
        found, steps = pb.measure(prior, release, [pb.InData(), pb.EachStep()], **how)
        ends = found.advantage, found.power(0.05), found.certain(0.6), found.absent(0.6)
        outside += [not events.contains(end, truth) for end, truth in zip(ends, truths, strict=True)]
        above += not ((steps.lower <= curve + 1e-9) & (curve <= steps.upper + 1e-9)).all()
    assert (np.append(outside, above) / 300 <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 300)).all()
