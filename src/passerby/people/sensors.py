"""Places with a sensor, at each step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import is_whole, nearest, whole
from passerby.visits.names import name_of
from passerby.visits.small_tables import DistinctRows, Header, read_table
from passerby.visits.steps import on_the_clock, parse_instant

from .habits import People, check_people

Sensors = list[list[int]]
#: The columns of a schedule.
SCHEDULE = Header(
    "schedules",
    ("place", "step", "time"),
    needs=((frozenset({"place"}),), (frozenset({"step"}), frozenset({"time"}))),
    needed="the columns place and step (or time)",
)


def random_sensors(people: People, count: int = 1, seed: int = 0) -> Sensors:
    """`count` places drawn uniformly at each held-out step, without `elsewhere` (the paper's choice, count = 1)."""
    known = _some(people, count)
    rng = np.random.default_rng(whole(seed, "seed"))
    return [sorted(rng.choice(known, count, replace=False).tolist()) for _ in range(people.actual.shape[1])]


def fixed_sensors(people: People, names: Sequence[str]) -> Sensors:
    """The places of these names at every held-out step, as `sensors` of a `Release`."""
    check_people(people)
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"sensor_places: expected a list of the names of places, got {names!r}")
    places = [place_number(people, name, "sensor_places") for name in names]
    if not places or len(set(places)) < len(places):
        raise InputError("sensor_places: name at least one place, and each place once")
    return [list(places) for _ in range(people.actual.shape[1])]


def most_visited_sensors(people: People, count: int = 1) -> Sensors:
    """The `count` most visited places at every held-out step, as `sensors` of a `Release` (the paper's: count = 1)."""
    known = _some(people, count)
    order = np.argsort(-people.background[:known], kind="stable")[:count]
    return [sorted(order.tolist()) for _ in range(people.actual.shape[1])]


def scheduled_sensors(people: People, path: str | Path) -> Sensors:
    """Sensors from a table (CSV or Parquet) with a column `place` and a column `step` or `time`.

    Step 1 is the first held-out step; a time is an instant within the step. A sensor stands there once for each step.
    """
    check_people(people)
    if not isinstance(path, str | Path):
        raise InputError(f"schedule: expected the path of a file, got {path!r}")
    file = Path(path)
    _, rows = read_table(file, SCHEDULE)
    held = people.actual.shape[1]
    out: Sensors = [[] for _ in range(held)]
    once = DistinctRows(file)
    for line, row in rows:
        where = f"{file}, {line}"
        step = step_number(people, row, where)
        place = place_number(people, row["place"], where)
        once.add(line, (place, step), f"the sensor of {people.places[place]!r} at step {step + 1}")
        out[step].append(place)
    if not any(out):
        raise InputError(f"{file}: the schedule holds no sensor; give a row for each place and step")
    return out


def _some(people: People, count: int) -> int:
    """The number of places with a possible sensor; refuse a `count` of sensors if it is not one, or is too large."""
    check_people(people)
    known = people.elsewhere
    if not is_whole(count) or not 1 <= count <= known:
        raise InputError(f"sensor_count: expected 1 to {known} sensors a step (the chosen places), got {count!r}")
    return known


def place_number(people: People, called: object, where: str) -> int:
    """The number of a place by its name; `elsewhere` cannot have a sensor."""
    name = name_of(called)
    if not name:
        raise InputError(f"{where}: it names no place")
    if name not in people.places[:-1]:
        near = nearest(name, people.places[:-1])
        hint = f"did you mean {near!r}?" if near else f"such as {', '.join(map(repr, people.places[:3]))}"
        raise InputError(
            f"{where}: {name!r} is not one of the {people.elsewhere} chosen places ({hint}); choose it, or correct its "
            "spelling"
        )
    return people.places.index(name)


def step_number(people: People, row: dict[str, object], where: str) -> int:
    """The held-out step, from 0, of a row with a `step` (from 1) or a `time`; both must agree.

    A time without a zone is read in the zone of the visits.
    """
    held = people.actual.shape[1]
    said = [by_number(row["step"], held, where)] if given(row.get("step")) else []
    if given(row.get("time")):
        said.append(by_time(people, str(row["time"]), where))
    if not said:
        raise InputError(f"{where}: it has neither a step nor a time")
    if len(set(said)) > 1:
        raise InputError(f"{where}: step is {row['step']}, but time is in step {said[1] + 1}; correct one of them")
    if not 0 <= said[0] < held:
        raise InputError(f"{where}: {_outside(people, row, held)}")
    return said[0]


def _outside(people: People, row: dict[str, object], held: int) -> str:
    """The error for a step or a time outside the published ones."""
    if given(row.get("step")):
        return f"step {row['step']} is outside the {held} steps that are published; expected 1 to {held}"
    first, end = people.starts[people.fitted.shape[1]], people.starts[-1] + np.timedelta64(people.window)
    reach = " to ".join(str(each.astype("datetime64[m]")).replace("T", " ") for each in (first, end))
    return (
        f"the time {str(row['time']).strip()!r} is outside the {held} steps that are published, from {reach} "
        f"({people.timezone})"
    )


def given(value: object) -> bool:
    """Whether a cell of a table holds anything."""
    return value is not None and str(value).strip() != ""


def by_time(people: People, time: str, where: str) -> int:
    """The held-out step, from 0, of a time; it may lie outside of them."""
    return int(_since(people, time, where) // np.timedelta64(people.window))


def edge_number(people: People, time: str, where: str) -> int:
    """The number of published steps ending by a time, at the edge of a step; it may lie outside of them."""
    size = np.timedelta64(people.window)
    number, rest = divmod(_since(people, time, where), size)
    if rest and 0 <= number < people.actual.shape[1]:
        before = people.starts[people.fitted.shape[1]] + number * size
        edges = " and ".join(str(each.astype("datetime64[s]")) for each in (before, before + size))
        raise InputError(
            f"{where}: no step begins or ends at {time.strip()!r}, and a range is of whole steps; the nearest edges of "
            f"steps are {edges} ({people.timezone})"
        )
    return int(number)


def _since(people: People, time: str, where: str) -> np.timedelta64:
    """How long after the first published step begins a time is, by the clock."""
    instant = on_the_clock(parse_instant(time.strip(), where, people.timezone), people.timezone)
    first = people.starts[people.fitted.shape[1]].astype("datetime64[us]").item()
    return np.timedelta64(instant - first, "us")


def by_number(value: object, held: int, where: str) -> int:
    """The held-out step, from 0, by its number from 1 on."""
    text = str(value).strip()
    step = int(text) - 1 if text.isdecimal() and len(text) < 20 else -1
    if step < 0:
        raise InputError(f"{where}: step is {value!r}; expected a whole number from 1 to {held}")
    return step
