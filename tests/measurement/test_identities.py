"""What must be the same whatever the habits, and what must not be less: identities of counts, on random chains."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.questions.trace.test_counts import any_counts, zones
from tests.states import state_chains

import passerby as pb
from passerby.model.counts import Count

Case = tuple[pb.MarkovPrior, int]


def loss(prior: pb.MarkovPrior, counts: Any, steps: int, misses: int) -> float:
    return pb.measure(prior, pb.Release(counts=list(counts), steps=steps), misses, tolerance=0).upper


def about(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-270)


@st.composite
def asked(draw: st.DrawFn) -> tuple[pb.MarkovPrior, int, int, int]:
    """A chain, its number of steps, one of them, and how many may be wrong."""
    prior, steps = draw(state_chains())
    return prior, steps, draw(st.integers(0, steps - 1)), draw(st.integers(0, steps - 1))


@given(asked(), st.data())
def test_a_zone_of_one_place_is_a_sensor(case: tuple[pb.MarkovPrior, int, int, int], data: st.DataObject) -> None:
    prior, steps, step, misses = case
    place = data.draw(st.integers(0, prior.places - 1))
    sensors = [[place] if t == step else [] for t in range(steps)]
    want = pb.measure(prior, pb.Release(sensors), misses, tolerance=0).upper
    assert loss(prior, [pb.Present([place], step)], steps, misses) == about(want)
    # Beside a number that tells nothing it is not a sensor any more, but a zone.
    zone = [pb.Present([place], step), pb.Present(range(prior.places), step)]
    assert loss(prior, zone, steps, misses) == about(want)


@given(asked())
def test_a_zone_of_all_places_tells_nothing(case: tuple[pb.MarkovPrior, int, int, int]) -> None:
    prior, steps, step, misses = case
    nothing = loss(prior, [], steps, misses)
    everywhere = range(prior.places)
    assert loss(prior, [pb.Present(everywhere, step)], steps, misses) == about(nothing)
    assert loss(prior, [pb.Visitors(everywhere, range(steps), steps)], steps, misses) == about(nothing)


@given(asked(), st.data())
def test_visitors_of_one_step_are_present(case: tuple[pb.MarkovPrior, int, int, int], data: st.DataObject) -> None:
    prior, steps, step, misses = case
    zone = data.draw(zones(prior.places))
    present = loss(prior, [pb.Present(zone, step)], steps, misses)
    assert loss(prior, [pb.Visitors(zone, [step])], steps, misses) == about(present)


@given(asked(), st.data())
def test_flows_from_everywhere_are_present_at_the_next_step(
    case: tuple[pb.MarkovPrior, int, int, int], data: st.DataObject
) -> None:
    prior, steps, step, misses = case
    if step == 0:
        return
    zone, everywhere = data.draw(zones(prior.places)), range(prior.places)
    present = loss(prior, [pb.Present(zone, step)], steps, misses)
    assert loss(prior, [pb.Moved(everywhere, zone, step - 1)], steps, misses) == about(present)
    # All flows into a zone, by where they come from, tell at least as much as their sum.
    flows = [pb.Moved([place], zone, step - 1) for place in everywhere]
    assert loss(prior, flows, steps, misses) >= present * (1 - 1e-9)


@given(any_counts(), st.data())
def test_a_count_more_never_lowers_the_loss(case: tuple[pb.MarkovPrior, pb.Release], data: st.DataObject) -> None:
    prior, release = case
    misses = data.draw(st.integers(0, release.steps - 1))
    every = list(release.listed)
    grown = [loss(prior, every[:n], release.steps, misses) for n in range(len(every) + 1)]
    assert all(more >= less * (1 - 1e-9) for less, more in pairwise(grown))


@given(any_counts(), st.data())
def test_releases_together_are_at_least_each_in_any_order(
    case: tuple[pb.MarkovPrior, pb.Release], data: st.DataObject
) -> None:
    prior, release = case
    steps, misses = release.steps, data.draw(st.integers(0, release.steps - 1))
    cut = data.draw(st.integers(0, len(release.listed)))
    parts = [pb.Release(counts=each, steps=steps) for each in (release.listed[:cut], release.listed[cut:])]
    alone = [pb.measure(prior, each, misses, tolerance=0).upper for each in parts]
    both, turned = (
        pb.measure(prior, each, misses, tolerance=0).upper for each in (parts[0] + parts[1], parts[1] + parts[0])
    )
    assert both == about(turned)
    assert both == about(pb.measure(prior, release, misses, tolerance=0).upper)
    assert both >= max(alone) * (1 - 1e-9)


def zones_of(count: Count) -> dict[str, tuple[int, ...]]:
    """The places of a count, by the name of their field."""
    return {name: getattr(count, name) for name in ("places", "origin", "destination") if hasattr(count, name)}


def renamed(count: Count, name: Any) -> Count:
    """The same count over places of other numbers."""
    made: dict[str, Any] = {field: [int(name[place]) for place in zone] for field, zone in zones_of(count).items()}
    return replace(count, **made)


@given(any_counts(), st.randoms(use_true_random=False), st.data())
def test_numbers_of_places_and_states_do_not_matter(
    case: tuple[pb.MarkovPrior, pb.Release], random: Any, data: st.DataObject
) -> None:
    prior, release = case
    misses = data.draw(st.integers(0, release.steps - 1))
    name, order = (np.array(random.sample(range(n), n)) for n in (prior.places, prior.states))
    guessable = np.zeros(prior.places, dtype=bool)
    guessable[name] = prior.guessable
    other = pb.MarkovPrior(
        prior.initial[order],
        prior.transition[..., order[:, None], order],
        place_of=name[prior.place_of[order]],
        guessable=guessable,
    )
    counts = [renamed(count, name) for count in release.listed]
    want = pb.measure(prior, release, misses, tolerance=0).upper
    assert loss(other, counts, release.steps, misses) == about(want)


@given(any_counts(), st.floats(0.05, 0.95), st.booleans(), st.data())
def test_to_merge_what_is_alike_changes_nothing(
    case: tuple[pb.MarkovPrior, pb.Release], share: float, apart: bool, data: st.DataObject
) -> None:
    """Two states with the same habits, visited in a fixed proportion and counted alike, tell no more than one.

    They have the same place, or two places that nobody names.
    """
    prior, release = case
    misses = data.draw(st.integers(0, release.steps - 1))
    state = data.draw(st.integers(0, prior.states - 1))
    parts, weight = np.append(np.arange(prior.states), state), np.ones(prior.states + 1)
    weight[[state, -1]] = share, 1 - share
    place_of, named, counts = prior.place_of[parts], prior.guessable.copy(), list(release.listed)
    if apart and named.sum() > named[prior.place_of[state]]:
        named[prior.place_of[state]] = False
        prior = pb.MarkovPrior(prior.initial, prior.transition, place_of=prior.place_of, guessable=named)
        place_of[-1], named = prior.places, np.append(named, False)
        counts = [with_twin(count, int(prior.place_of[state]), prior.places) for count in counts]
    split = pb.MarkovPrior(
        prior.initial[parts] * weight,
        prior.transition[..., parts[:, None], parts] * weight,
        place_of=place_of,
        guessable=named,
    )
    want = pb.measure(prior, release, misses, tolerance=0).upper
    assert loss(split, counts, release.steps, misses) == about(want)


def with_twin(count: Count, place: int, twin: int) -> Count:
    """The same count with one place more wherever a place is."""
    made: dict[str, Any] = {f: (*zone, twin) if place in zone else zone for f, zone in zones_of(count).items()}
    return replace(count, **made)


@given(any_counts(), st.data())
def test_numbers_of_others_do_not_matter_to_raw_counts(
    case: tuple[pb.MarkovPrior, pb.Release], data: st.DataObject
) -> None:
    prior, release = case
    misses = data.draw(st.integers(0, release.steps - 1))
    raw, many = (
        [replace(count, mechanism=pb.Raw(), others=others) for count in release.listed] for others in (None, 1234)
    )
    assert loss(prior, raw, release.steps, misses) == about(loss(prior, many, release.steps, misses))
