"""Times that were cut, to days or hours: rows of equal times are visits, and the place of a step has most of them."""

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.visits.test_store import stored, traces_of

import passerby as pb
from passerby.audits.alerts import alerts
from passerby.audits.coverage import coverage_of
from passerby.visits import read_visits, store
from passerby.visits.table import CUT
from passerby.visits.trace_store import taken
from passerby.visits.windows import window_visits

START = datetime(2024, 5, 6)
Row = tuple[str, datetime, str]


def records(people: int = 20, days: int = 12) -> list[Row]:
    """A row an hour of each person, at seven past, who changes places every few hours."""
    rng, rows = np.random.default_rng(7), []
    for person in range(people):
        place = 0
        for hour in range(24 * days):
            place = int(rng.integers(6)) if rng.random() < 0.3 else place
            rows.append((f"p{person:02d}", START + timedelta(hours=hour, minutes=7, seconds=person), f"place {place}"))
    return rows


def cut(rows: list[Row], size: timedelta) -> list[Row]:
    """The same with the beginning of a stretch of time in the place of each time."""
    return [(who, START + (time - START) // size * size, where) for who, time, where in rows]


def table_of(rows: list[Row], form: str = "%Y-%m-%d %H:%M") -> pl.DataFrame:
    cells = [(who, time.strftime(form), where) for who, time, where in rows]
    return pl.DataFrame(cells, schema=["person", "time", "place"], orient="row")


def most_visited(rows: list[Row], length: timedelta, places: tuple[str, ...]) -> tuple[list[list[int]], int]:
    """By counting, the place with most rows in each step, of equal ones the one chosen first, and the ties."""
    counts: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for who, time, where in rows:
        counts[who, (time - START) // length][where] += 1
    people, steps = sorted({who for who, _ in counts}), 1 + max(step for _, step in counts)
    tied = sum(sorted(found.values())[-2:].count(max(found.values())) == 2 for found in counts.values())
    best = {key: min(found, key=lambda name: (-found[name], places.index(name))) for key, found in counts.items()}
    return [[places.index(best[who, step]) for step in range(steps)] for who in people], tied


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, size in ((store, "ROWS", 900), (store, "DRAWN", 20), (store, "RUN", 2000)):
        monkeypatch.setattr(module, name, size)


CASES = [
    pytest.param(timedelta(days=1), "%Y-%m-%d", "1d", id="dates"),
    pytest.param(timedelta(hours=6), "%Y-%m-%d %H:%M", "6h", id="cut to the step"),
    pytest.param(timedelta(days=1), "%d.%m.%Y", "1d", id="dates in another form"),
]


@pytest.mark.parametrize(("size", "form", "window"), CASES)
def test_the_place_of_a_step_has_most_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: timedelta, form: str, window: str
) -> None:
    rows = records()
    options: dict[str, Any] = {"time_format": "%d.%m.%Y"} if form == "%d.%m.%Y" else {}
    table = table_of(cut(rows, size), form)
    table.write_csv(tmp_path / "visits.csv")
    visits = read_visits(tmp_path / "visits.csv", **options)
    assert (visits.skipped.duplicates, len(visits)) == (0, len(rows))
    assert CUT in visits.remarks
    how: dict[str, Any] = {"window": window, "places": 6}
    traces = window_visits(visits, min_active=1, **how)
    expected, tied = most_visited(rows, size, traces.places)
    assert traces.array.tolist() == expected
    assert (traces.left_out.tied, traces.left_out.seen) == (tied, traces.array.size)
    assert tied > 0
    ours = stored(tmp_path / "visits.csv", tmp_path / "store", **options)
    assert (ours.skipped, ours.remarks) == (visits.skipped, visits.remarks)
    on_disk = traces_of(ours.everybody, tmp_path / "traces", 1, **how)
    found = taken(on_disk.blocks, on_disk.sizes(on_disk.blocks), np.arange(len(on_disk)))
    assert found.array.tolist() == expected
    assert found.left_out == traces.left_out


@pytest.mark.parametrize("window", ["2d", "4d"])
def test_longer_steps_are_those_of_the_uncut_times(window: str) -> None:
    """Where no two places are visited equally often, to cut times changes nothing."""
    rows, length = records(), timedelta(days=int(window[0]))
    hours, days = (read_visits(table_of(cut(rows, size))) for size in (timedelta(hours=1), timedelta(days=1)))
    whole, coarse = (window_visits(each, window=window, places=6, min_active=1) for each in (hours, days))
    counts: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for who, time, where in rows:
        counts[who, (time - START) // length][where] += 1
    clear = np.array(
        [
            [
                sorted(counts[who, step].values())[-2:].count(max(counts[who, step].values())) == 1
                for step in range(12 // length.days)
            ]
            for who in whole.people
        ]
    )
    assert clear.mean() > 0.8
    assert np.array_equal(whole.array[clear], coarse.array[clear])


@pytest.mark.parametrize("rule", ["first", "last"])
def test_an_order_is_not_invented(rule: Any) -> None:
    """Of the places of the first (or last) date, the one with most rows."""
    rows = [("a", START, "x"), ("a", START, "y"), ("a", START, "y"), ("a", START + timedelta(days=1), "z")]
    rows += [("b", START, "z"), ("b", START + timedelta(days=1), "y"), ("b", START + timedelta(days=1), "x")]
    rows += [("b", START + timedelta(days=1), "x")]
    traces = window_visits(read_visits(table_of(rows)), window="2d", places=["x", "y", "z"], min_active=1, rule=rule)
    assert [traces.places[place] for (place,) in traces.array] == {"first": ["y", "z"], "last": ["z", "x"]}[rule]
    assert traces.left_out.tied == 0


def test_equal_rows_repeat_each_other_where_times_are_as_they_were_taken(tmp_path: Path) -> None:
    """A file that was exported twice in part, of hours, and of seconds with one person at two places at once."""
    hours = cut(records(), timedelta(hours=1))
    seconds = [*records(), ("p00", START + timedelta(minutes=7), "place 9")]
    for number, rows in enumerate((hours, seconds)):
        file = tmp_path / f"{number}.csv"
        table_of([*rows, *rows[:500]], "%Y-%m-%d %H:%M:%S").write_csv(file)
        visits = read_visits(file)
        assert (visits.skipped.duplicates, len(visits)) == (500, len(rows))
        assert CUT not in visits.remarks
        ours = stored(file, tmp_path / f"store {number}")
        assert (ours.skipped, ours.remarks) == (visits.skipped, visits.remarks)
        assert sum(len(block) for block in ours.everybody.blocks) == len(rows)


def test_ties_are_said() -> None:
    visits = read_visits(table_of(cut(records(), timedelta(days=1))))
    people = pb.fit_people(visits, window="1d", places=6, min_active=2, holdout=3)
    found = coverage_of(people, visits.skipped, visits, 2)
    share = people.left_out.tied / people.left_out.seen
    assert found.tied == share > 0.01
    (said,) = [alert for alert in alerts(found, exact=True) if "equally often" in alert]
    assert said.startswith(f"In {100 * share:.1f} % of the steps in which people are at chosen places, several places")
    assert "ties" in dict(found.lines())
    assert found.shared.tied is not None
    none = replace(people, left_out=replace(people.left_out, tied=0))
    assert not [alert for alert in alerts(coverage_of(none, visits.skipped, visits, 2)) if "equally" in alert]
