"""Likelihoods for all people at once are those of the chains that are built one by one."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import passerby as pb
from passerby.people import cycles
from passerby.people.evidence import Past, past
from passerby.people.family import Cycle, Habits
from passerby.people.origins import Clock, looked_at, origins
from passerby.support.blocks import Blocks, Team

from .test_family import HABITS
from .test_habits import chance, random_traces, traces


def past_of(array: NDArray[np.int32], places: int, horizon: int, least: int, week: int) -> Past | None:
    return past(Blocks.here(array), array.shape[1], places, horizon, least, week)


RHYTHMS: list[Cycle] = ["none", "hour", "workday", "weekday"]


def in_each_mode(people: pb.People, person: int) -> list[float]:
    """The log probability of what a person did, in each mode."""
    assert people.habits is not None
    found = []
    for weights in np.eye(4):
        # Who does as usual needs a little weight for each place to have a state.
        known = replace(people.habits, chosen=replace(people.habits.chosen, modes="alike"), weights=weights[None])
        prior, _ = replace(people, habits=known).prior(person, reduced=False)
        found.append(chance(prior, people.actual[person].tolist()))
    with np.errstate(divide="ignore"):
        return [float(each) for each in np.log(found)]


@given(st.integers(0, 10**6), HABITS, st.integers(3, 9), st.sampled_from(RHYTHMS), st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=25)
def test_logs_are_those_of_the_chains(seed: int, habits: Habits, places: int, rhythm: Cycle, carry: float) -> None:
    habits = replace(habits, start="last", rhythm=rhythm, carry=carry)
    window = timedelta(hours=12)
    array = random_traces(seed, 6, 60, places, known=True).array
    known = past_of(array, places, 2, 1, 2)
    assert known is not None
    levels = cycles.levels(rhythm, traces(array, places, window).starts, window, 70)
    logs = replace(known, lives=(habits.half_life,)).evidence(habits.trim, levels, (carry,)).logs(habits)
    row = 0
    for origin in known.looked:
        people = pb.fit_people(traces(array[:, : origin.cut + 2], places, window), holdout=2, habits=habits)
        for person in range(6):
            np.testing.assert_allclose(logs[row], in_each_mode(people, person), rtol=1e-9, atol=1e-12)
            row += 1
    assert row == len(logs)


def test_flows_of_people_who_are_at_new_places() -> None:
    # The second step of the stretch is reached from a place that the person never visited.
    array = np.array([[0, 1, 0, 1, 0, 1, 2, 3], [2, 3, 2, 3, 2, 3, 2, 3]], dtype=np.int32)
    known = past_of(array, 5, 2, 1, 2)
    assert known is not None
    habits = Habits()
    logs = known.evidence("before", ()).logs(habits)
    people = pb.fit_people(traces(array, 5), holdout=2, habits=replace(habits, modes="alike"))
    np.testing.assert_allclose(logs[0], in_each_mode(people, 0), rtol=1e-9)


def test_scores_count_later_origins_more() -> None:
    known = past_of(random_traces(3, 30, 24, 6, known=True).array, 6, 3, 1, 2)
    assert known is not None
    logs = known.evidence("none", ()).logs(Habits())
    counts = np.repeat([1.0, 0.5, 0.25], 30)
    expected = (logs[:, 0] @ counts) / (3 * counts.sum())
    assert known.scored(logs, "none") == pytest.approx(expected, rel=1e-12)


def test_origins_lie_at_the_same_time_of_the_week_or_day() -> None:
    weekend = np.arange(28 * 24 + 30) // 24 % 7 >= 5
    hourly = Clock(24, 168, weekend)
    assert origins(28 * 24, 24, hourly) == (24, [21 * 24, 14 * 24])
    # Thirteen days and a half: half of them lie before an origin, and none a week earlier. Saturday is like Sunday.
    assert origins(13 * 24 + 12, 5, hourly) == (5, [12 * 24 + 12])
    # Nine days: a Wednesday, of which only other workdays are looked at.
    assert origins(9 * 24, 5, hourly) == (5, [8 * 24, 7 * 24])
    # Half-days, the last five of two weeks: Friday evening and a weekend. Half of it is in the stretch from Sunday on.
    assert origins(23, 5, Clock(2, 14, np.arange(28) // 2 % 7 >= 5)) == (5, [12])
    # Days: the same five days of the week before.
    assert origins(20, 5, Clock(1, 7, np.arange(30) % 7 >= 5))[1] == [13]
    assert origins(40, 100) == (20, [20])


def test_people_are_looked_at_who_were_known_as_often_as_asked_for() -> None:
    # The third person is there only afterwards, the second seldom.
    array = np.array([[0] * 12, [0] + [2] * 11, [2] * 9 + [1] * 3], dtype=np.int32)
    known = past_of(array, 3, 3, 6, 2)
    assert known is not None
    assert [origin.who.tolist() for origin in known.looked] == [[0]] * len(known.looked)
    assert past_of(array[1:], 3, 3, 6, 2) is None


def test_trims_that_change_nothing_are_tried_once() -> None:
    known = past_of(np.zeros((4, 12), dtype=np.int32), 3, 3, 1, 2)
    assert known is not None
    assert known.trims() == ["none"]


def test_people_of_whom_nothing_is_known() -> None:
    nobody = traces([[2, 2, 2, 2, 0], [2, 2, 2, 2, 2]], 3)
    with pytest.raises(pb.InputError, match="no person is seen in at least 1 of the 4 fitted steps"):
        pb.fit_people(nobody, holdout=1, habits="auto")
    late = traces([[2, 2, 2, 2, 0], [0, 1, 0, 2, 0]], 3)
    people = pb.fit_people(late, holdout=1, habits="auto")
    assert people.ids.to_list() == ["person 1"]
    assert people.left_out.seldom == 1


def test_people_who_are_seen_afterwards_alone_are_left_out_and_counted() -> None:
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 10), eager=True)
    rows = [("late", days[9], "p0"), *(("usual", day, "p0") for day in days)]
    visits = pb.read_visits(pl.DataFrame(rows, schema=["person", "time", "place"], orient="row"))
    people = pb.fit_people(visits, window="1d", places=1, min_active=0, holdout=2, end="2024-01-11", habits="auto")
    assert people.ids.to_list() == ["usual"]
    assert people.left_out.seldom == 1
    assert people.counts[-1].tolist() == [2, 0]


def test_of_many_people_some_are_looked_at() -> None:
    array = np.zeros((9000, 12), dtype=np.int32)
    known = past_of(array, 3, 3, 6, 2)
    assert known is not None
    latest = known.looked[0]
    assert len(latest.who) == 2000
    assert len(latest.everybody) == 9000
    (long,) = looked_at(Blocks.here(np.zeros((3000, 4000), dtype=np.int32)), [3900], 2, 1, 3).origins
    assert len(long.who) == 256
    assert np.isin(long.who, long.everybody).all()
    assert 1282 <= len(long.everybody) <= 1282 + 256


@given(st.integers(0, 10**6), st.lists(st.integers(0, 400), max_size=3))
@settings(max_examples=10)
def test_blocks_are_looked_at_as_one(seed: int, cuts: list[int]) -> None:
    array = random_traces(seed, 400, 12, 4).array
    parts = np.split(array, sorted(cuts))
    with pytest.MonkeyPatch.context() as patch:
        for name, most in (("MOST_STEPS", 30), ("MOST_CELLS", 60), ("MOST_LEARNT", 900), ("FEW", 9)):
            patch.setattr(f"passerby.people.origins.{name}", most)
        whole = looked_at(Blocks.here(array), [8, 6], 3, 5, 3)
        found = looked_at(Blocks.of(parts, Team()), [8, 6], 3, 5, 3)
    assert len(whole.fitted) < 400
    assert np.array_equal(found.fitted, whole.fitted)
    assert np.array_equal(found.numbers, whole.numbers)
    assert np.array_equal(array[whole.numbers], whole.fitted)
    for one, other in zip(found.origins, whole.origins, strict=True):
        assert one.cut == other.cut
        assert np.array_equal(one.who, other.who)
        assert np.array_equal(one.everybody, other.everybody)
