"""`window_visits` against a plain Python reading of its description."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby import InputError
from passerby.visits import Traces, Visits, read_visits, window_visits, windows
from passerby.visits.steps import Times, step_length

START = datetime(2024, 1, 1, 9, 30, tzinfo=UTC)


class Visit(NamedTuple):
    person: str
    hours: int
    place: str

    @property
    def time(self) -> datetime:
        return START + timedelta(hours=self.hours)


def oracle(
    rows: list[Visit], window: timedelta, places: int, min_active: int, rule: str
) -> tuple[list[str], list[str], list[list[int]]]:
    """People, places and places by person and step, slowly."""
    rows = sorted(set(rows))
    popularity = Counter(row.place for row in rows)
    chosen = sorted(popularity, key=lambda place: (-popularity[place], place))[:places]
    origin = min(row.time for row in rows)
    steps = (max(row.time for row in rows) - origin) // window + 1
    people, traces = [], []
    for person in sorted({row.person for row in rows}):
        trace = []
        for step in range(steps):
            begin = origin + step * window
            here = [
                (row.time, chosen.index(row.place))
                for row in rows
                if row.person == person and begin <= row.time < begin + window and row.place in chosen
            ]
            trace.append(choose(here, rule) if here else len(chosen))
        if sum(place < len(chosen) for place in trace) >= max(1, min_active):
            people.append(person)
            traces.append(trace)
    return people, chosen, traces


def choose(here: list[tuple[datetime, int]], rule: str) -> int:
    if rule == "first":
        return min(here)[1]
    if rule == "last":
        latest = max(time for time, _ in here)
        return min(place for time, place in here if time == latest)
    count = Counter(place for _, place in here)
    return min(count, key=lambda place: (-count[place], min(t for t, p in here if p == place), place))


def visits_of(rows: list[Visit]) -> Visits:
    return read_visits(
        pl.DataFrame(
            {"person": [r.person for r in rows], "time": [r.time for r in rows], "place": [r.place for r in rows]}
        )
    )


ROWS = st.lists(
    st.builds(Visit, st.sampled_from("abcd"), st.integers(0, 60), st.sampled_from("uvwxyz")), min_size=1, max_size=60
)


@given(
    rows=ROWS,
    hours=st.integers(1, 30),
    places=st.integers(1, 7),
    min_active=st.integers(0, 3),
    rule=st.sampled_from(["most-visited", "first", "last"]),
    data=st.data(),
)
def test_equals_the_oracle_in_any_row_order(
    rows: list[Visit], hours: int, places: int, min_active: int, rule: Any, data: st.DataObject
) -> None:
    window = timedelta(hours=hours)
    people, chosen, traces = oracle(rows, window, places, min_active, rule)
    shuffled = visits_of(data.draw(st.permutations(rows)))
    settings: dict[str, Any] = {"window": window, "places": places, "min_active": min_active, "rule": rule}
    settings["origin"] = "first-visit"
    if not people:
        with pytest.raises(InputError, match="no person is seen"):
            window_visits(shuffled, **settings)
        return
    result = window_visits(shuffled, **settings)
    assert result.people.to_list() == people
    assert result.places == (*chosen, "elsewhere")
    assert result.array.tolist() == traces
    assert result.active.tolist() == [sum(place < len(chosen) for place in trace) for trace in traces]
    flat = Counter(place for trace in traces for place in trace)
    assert result.frequency == pytest.approx([flat[k] / np.size(traces) for k in range(len(chosen) + 1)])


def week() -> Visits:
    return visits_of(
        [Visit("ann", 24 * day, place) for day, place in enumerate("uuvw")]
        + [Visit("bob", 1, "u"), Visit("bob", 2, "v"), Visit("cid", 80, "v")]
    )


def test_result_is_compact_and_immutable() -> None:
    traces = window_visits(week(), window="1d", places=2, min_active=1, origin="first-visit")
    assert isinstance(traces, Traces)
    assert traces.array.dtype == np.int32
    assert traces.array.flags.c_contiguous
    for array in (traces.array, traces.active, traces.frequency):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert traces.starts.tolist() == [(START + timedelta(days=d)).replace(tzinfo=None) for d in range(4)]
    assert traces.window == timedelta(days=1)
    assert len(traces) == 3
    assert repr(traces) == "Traces(people=3, steps=4, places=3)"


def test_chosen_places_keep_their_order() -> None:
    traces = window_visits(week(), window="1d", places=["w", "u"], min_active=1)
    assert traces.places == ("w", "u", "elsewhere")
    assert traces.array.tolist() == [[1, 1, 2, 0], [1, 2, 2, 2]]


def test_unknown_places_are_named() -> None:
    with pytest.raises(InputError, match="2 of the 3 chosen places are in no visit: 'attic', '<b>'"):
        window_visits(week(), places=["u", "attic", "<b>"])


@pytest.mark.parametrize("places", [[], ["u", "u"], ["elsewhere"]])
def test_lists_of_places_that_make_no_sense(places: list[str]) -> None:
    with pytest.raises(InputError, match="name each chosen place once"):
        window_visits(week(), places=places)


def test_a_place_called_elsewhere_is_elsewhere() -> None:
    visits = visits_of([Visit("a", 0, "elsewhere"), Visit("a", 1, "elsewhere"), Visit("a", 30, "u")])
    traces = window_visits(visits, window="1d", places=5, min_active=1)
    assert traces.places == ("u", "elsewhere")
    assert traces.array.tolist() == [[1, 0]]


def test_origin_and_end_bound_the_visits() -> None:
    origin, end = START + timedelta(days=1), "2024-01-04T09:30:00Z"
    traces = window_visits(week(), window="1d", origin=origin, end=end, places=9, min_active=1)
    assert traces.array.shape == (1, 2)
    assert traces.places == ("u", "v", "elsewhere")
    earlier = window_visits(week(), window="1d", origin=START - timedelta(days=2), min_active=1)
    assert earlier.array.shape == (3, 6)
    assert (earlier.array[:, :2] == len(earlier.places) - 1).all()
    with pytest.raises(InputError, match="no visit lies from origin"):
        window_visits(week(), origin="2023-01-01", end="2023-02-01")


def test_empty_results_say_why() -> None:
    with pytest.raises(
        InputError,
        match="at least 10 of 4 steps at the 3 chosen places; the most active is seen in 4; lower min_active",
    ):
        window_visits(week(), window="1d")


@pytest.mark.parametrize("wrong", [{"rule": "longest"}, {"places": 0}, {"window": "soon"}])
def test_settings_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        window_visits(week(), **wrong)


def test_too_many_steps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = visits_of([Visit("a", 0, "u"), Visit("a", 24, "u")])
    with pytest.raises(InputError, match=r"^window='1s' makes 86,401 steps, more than there are visits \(2\)"):
        window_visits(visits, window="1s", min_active=1)
    monkeypatch.setattr(windows, "MANY_STEPS", 86_401)
    assert window_visits(visits, window="1s", min_active=1).array.shape == (1, 86_401)
    monkeypatch.setattr(windows, "_MOST_CELLS", 86_400)
    with pytest.raises(InputError, match="1 people times 86,401 steps are too many to hold"):
        window_visits(visits, window="1s", min_active=1)


def test_steps_begin_where_the_clock_strikes() -> None:
    hourly = window_visits(week(), window="1h", places=2, min_active=1)
    assert hourly.starts[0].tolist() == datetime(2024, 1, 1, 9)
    daily = window_visits(week(), window="1d", places=2, min_active=1)
    assert daily.starts.tolist() == [datetime(2024, 1, day) for day in range(1, 5)]


def test_steps_begin_by_the_clock_of_the_time_zone() -> None:
    rows = pl.DataFrame(
        {
            "person": ["a"] * 4,
            "time": [f"2024-03-{day} 12:00" for day in (29, 30, 31)] + ["2024-04-01 23:50"],
            "place": list("uvuv"),
        }
    )
    paris = window_visits(read_visits(rows, timezone="Europe/Paris"), window="1d", places=2, min_active=1)
    # Clocks were set forward on the 31st: days still begin at midnight.
    assert paris.timezone == "Europe/Paris"
    assert paris.starts.tolist() == [datetime(2024, 3, 29) + timedelta(days=day) for day in range(4)]
    assert paris.array.tolist() == [[0, 1, 0, 1]]
    later = window_visits(
        read_visits(rows, timezone="Europe/Paris"), window="1d", places=2, min_active=1, origin="2024-03-30"
    )
    assert later.starts[0].tolist() == datetime(2024, 3, 30)
    assert later.left_out.outside == 1


def test_a_last_step_that_is_covered_in_part_is_left_out_and_said() -> None:
    rows = [Visit("a", hour, "uv"[hour % 2]) for hour in range(24 * 27)]
    traces = window_visits(visits_of(rows), window="10d", places=2, min_active=1)
    assert (traces.array.shape[1], traces.left_out.partial_step) == (2, True)
    assert traces.left_out.outside > 24 * 6
    whole = window_visits(visits_of(rows), window="10d", places=2, min_active=1, end="2024-01-31")
    assert (whole.array.shape[1], whole.left_out.partial_step) == (3, False)
    assert (
        window_visits(visits_of(rows), window="10d", places=2, min_active=1, origin="first-visit").array.shape[1] == 3
    )


def recorded(minutes: range, **options: Any) -> Visits:
    """Forty people who are recorded at the same minutes since midnight of 1 May."""
    times = [str(datetime(2024, 5, 1) + timedelta(minutes=minute)) for minute in minutes]
    rows = [(person, time, "uv"[n % 2]) for person in range(40) for n, time in enumerate(times)]
    return read_visits(pl.DataFrame(rows, schema=["person", "time", "place"], orient="row"), **options)


@pytest.mark.parametrize(("hours", "steps", "partial"), [(96, 16, False), (92, 15, True)])
def test_a_last_step_is_covered_as_far_as_the_others(hours: int, steps: int, partial: bool) -> None:
    """Where people are recorded every other hour, at ten past, no step is covered to its very end."""
    traces = window_visits(recorded(range(10, 60 * hours, 120)), window="6h", places=2, min_active=1)
    assert (traces.array.shape[1], traces.left_out.partial_step) == (steps, partial)


@pytest.mark.parametrize(
    ("until", "steps", "partial"), [(None, 10, True), ("2024-05-03 17:00", 10, True), ("2024-05-03 18:00", 11, False)]
)
def test_steps_that_end_by_the_time_that_was_asked_for_are_covered(until: str, steps: int, partial: bool) -> None:
    """Visits until 15:00 cover the step from 12:00 to 18:00 where no more than that was asked for."""
    traces = window_visits(recorded(range(0, 60 * 63, 20), until=until), window="6h", places=2, min_active=1)
    assert (traces.array.shape[1], traces.left_out.partial_step) == (steps, partial)


def test_who_was_left_out_is_counted() -> None:
    rows = [*(Visit("a", hour, "u") for hour in range(0, 96, 8)), Visit("b", 3, "u"), Visit("c", 5, "x")]
    rows += [Visit("d", hour, "v") for hour in (1, 30, 50)]
    left = window_visits(visits_of(rows), window="1d", places=["u", "v"], min_active=2).left_out
    assert (left.people, left.unseen, left.seldom, left.kept) == (4, 1, 1, 2)
    assert (left.visits, left.other_places) == (len(rows), 1)


@pytest.mark.parametrize(("rule", "place"), [("first", "A"), ("last", "B"), ("most-visited", "A")])
def test_first_and_last_go_by_time_when_clocks_are_set_back(rule: Any, place: str) -> None:
    """At 02:30 in summer time A, and forty minutes later, at 02:10 in winter time, B."""
    rows = [("x", "2024-10-27T00:30:00Z", "A"), ("x", "2024-10-27T01:10:00Z", "B"), ("y", "2024-10-27T12:00:00Z", "B")]
    frame = pl.DataFrame(rows, schema=["person", "time", "place"], orient="row")
    visits = read_visits(frame, timezone="Europe/Berlin")
    found = window_visits(visits, window="1h", places=["A", "B"], min_active=1, rule=rule)
    seen = [found.places[number] for number in found.array[found.people.to_list().index("x")]]
    assert [each for each in seen if each != "elsewhere"] == [place]


@pytest.mark.parametrize(
    ("rhythm", "days", "length"),
    [
        ("none", 10, timedelta(hours=6)),
        ("none", 800, timedelta(days=20)),
        ("hour", 800, timedelta(hours=6)),
        ("weekday", 800, timedelta(days=1)),
        ("workday", 800, timedelta(days=1)),
        ("workday", 10, timedelta(hours=6)),  # which one week is enough to tell
    ],
)
def test_steps_that_fit_the_visits_fit_a_rhythm(rhythm: str, days: int, length: timedelta) -> None:
    first = datetime(2024, 1, 1)
    times = Times.of(pl.Series([first, first + timedelta(days=days)]))
    assert step_length(times, 5, 10, rhythm) == length
