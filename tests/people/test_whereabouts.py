"""How many others are in a count: everybody who is, also who is seen too seldom to be audited, but for one person."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import passerby as pb
from passerby.others.by_habits import everyone_else
from passerby.others.counted import Counted, counted, numbers
from passerby.people.origins import Whereabouts
from passerby.visits.table import RarelySeen

STEPS = 4


@pytest.fixture(scope="module")
def town() -> tuple[pb.People, pb.Traces]:
    """People who are seen in most steps, and the traces of all, of whom many are seen seldom."""
    city = pb.simulate_city(people=120, places=12, days=4, seen=0.06, seed=3)
    steps = {"window": "3h", "places": 9}
    people = pb.fit_people(city, min_active=6, holdout=STEPS, **steps)  # type: ignore[arg-type]
    return people, pb.window_visits(city, window="3h", places=people.places[:-1], min_active=1)


def places() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True)


@st.composite
def any_count(draw: st.DrawFn) -> pb.Present | pb.Moved | pb.Visitors:
    kind = draw(st.sampled_from(["present", "moved", "visitors"]))
    if kind == "present":
        return pb.Present(draw(places()), draw(st.integers(0, STEPS - 1)))
    if kind == "moved":
        return pb.Moved(draw(places()), draw(places()), draw(st.integers(0, STEPS - 2)))
    window = draw(st.lists(st.integers(0, STEPS - 1), min_size=1, unique=True))
    return pb.Visitors(draw(places()), window, draw(st.integers(1, len(window))))


@given(counts=st.lists(any_count(), min_size=1, max_size=4), who=st.integers(0, 10**6))
def test_numbers_of_others_are_those_of_all_traces(
    town: tuple[pb.People, pb.Traces], counts: list[pb.Present | pb.Moved | pb.Visitors], who: int
) -> None:
    people, traces = town
    person = who % len(people)
    release = pb.Release(counts=counts, steps=STEPS, mechanism=pb.Rounding(5))
    found = everyone_else(people, release)
    assert isinstance(found, Counted)
    others = traces.array[np.flatnonzero(traces.people != people.ids[person]), -STEPS:]
    assert len(others) == len(traces) - 1 > len(people) + 10
    told = iter(n for step in found.besides(person, release) for n in step)
    for count in release.listed:
        assert next(told) == count.bits(others.astype(np.int64)).sum()


def test_some_who_are_seen_seldom_are_never_seen_at_the_published_steps(town: tuple[pb.People, pb.Traces]) -> None:
    """They are elsewhere, and in counts of that."""
    people, traces = town
    assert people.whereabouts is not None
    assert people.whereabouts.away > 0
    assert len(people.whereabouts.steps) + people.whereabouts.away == len(traces)
    assert people.whereabouts.steps.dtype == np.uint8
    np.testing.assert_array_equal(people.counts.sum(axis=1), len(traces))
    gone = pb.Release(counts=[pb.Visitors([9], range(STEPS), STEPS)], steps=STEPS, mechanism=pb.Rounding(5))
    assert numbers(people, gone).tolist() == [(traces.array[:, -STEPS:] == 9).all(axis=1).sum()]


def test_numbers_add_up_from_parts(town: tuple[pb.People, pb.Traces]) -> None:
    everybody = town[0].whereabouts
    assert everybody is not None
    counts = [pb.Moved([0, 1], [2, 3], 1), pb.Visitors([1], range(3), 2)]
    parts = [Whereabouts(everybody.steps[k::3], 0, everybody.elsewhere) for k in range(3)]
    assert np.array_equal(sum(part.numbers(counts) for part in parts), everybody.numbers(counts))


def test_what_is_given_is_kept(town: tuple[pb.People, pb.Traces]) -> None:
    """Others of one count are given, those of another are counted."""
    people, _ = town
    counts = [pb.Moved([0, 9], [1, 9], 0, others=77), pb.Moved([0, 9], [0, 1, 9], 0)]
    release = pb.Release(counts=counts, steps=STEPS, mechanism=pb.Suppression(5))
    found = everyone_else(people, release)
    assert isinstance(found, Counted)
    total = counted(people, release).total
    moved = np.isin(people.actual[:, 0], [0, 9]) & np.isin(people.actual[:, 1], [0, 1, 9])
    assert 0 < moved.sum() < len(people)
    for person in range(len(people)):
        assert found.besides(person, release) == [[], [77, total[1] - moved[person]], [], []]
    assert everyone_else(people, release.through(pb.Raw())) is None


def test_nobody_is_seen_seldom() -> None:
    assert RarelySeen.nobody().between(0, 3, 5).shape == (0, 3)


def test_people_who_hold_nobody_else_refuse_flows(town: tuple[pb.People, pb.Traces]) -> None:
    release = pb.Release(counts=[pb.Moved([0], [1], 0)], steps=STEPS, mechanism=pb.Rounding(5))
    with pytest.raises(pb.InputError, match="from everybody's traces, which these people do not hold"):
        numbers(replace(town[0], whereabouts=None), release)
