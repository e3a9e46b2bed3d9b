"""Places with a sensor, at each step.

Zones: named sets of places, at one level or at several, as a table tells them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import is_whole, nearest, whole
from passerby.visits.delimited import DistinctRows, Header, read_table
from passerby.visits.names import name_of
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


#: The names of places by zone, and these by level; one level without a name for a table without levels.
Levels = dict[str, dict[str, list[str]]]
Zone = tuple[int, ...]
#: The columns of a table of zones.
HEADER = Header(
    "zones",
    ("place", "zone", "level"),
    needs=((frozenset({"place", "zone"}),),),
    needed="the columns place and zone (and level, where there are several kinds of zones)",
)
#: The most names in a message.
QUOTED = 5


def read_zones(path: str | Path) -> Levels:
    """Read a table (CSV or Parquet) with the columns `place`, `zone` and, for several kinds of zones, `level`.

    A place may be in several zones, also of one level. The order is the order of the rows.
    """
    file = Path(path)
    columns, rows = read_table(file, HEADER)
    out: Levels = {}
    for line, row in rows:
        place, zone, level = (name_of(row.get(name)) for name in ("place", "zone", "level"))
        if not place or not zone:
            raise InputError(f"{file}, {line}: it names no {'zone' if place else 'place'}")
        if "level" in columns and not level:
            raise InputError(
                f"{file}, {line}: zone {zone!r} has no level; name one in each row, or leave the column out"
            )
        members = out.setdefault(level, {}).setdefault(zone, [])
        if place not in members:
            members.append(place)
    if not out:
        raise InputError(f"{file}: it holds no zone; give a row for each place of a zone")
    return out


def places_of(levels: Levels) -> list[str]:
    """The names of all places of zones, each once."""
    return list(dict.fromkeys(name for zones in levels.values() for names in zones.values() for name in names))


@dataclass(frozen=True)
class Zones:
    """Sets of place numbers by zone and level, their names, and the number of places unknown to the table."""

    levels: Mapping[str, Mapping[str, Zone]]
    unknown: tuple[str, ...] = ()

    @classmethod
    def among(cls, people: People, levels: Levels, path: str | Path) -> Zones:
        """Zones of the places of these people; a zone without any known place is refused."""
        number = {name: k for k, name in enumerate(people.places[:-1])}
        found: dict[str, dict[str, Zone]] = {}
        for level, zones in levels.items():
            for zone, names in zones.items():
                known = tuple(sorted(number[name] for name in names if name in number))
                if not known:
                    raise InputError(
                        f"{path}: zone {zone!r} is empty: nobody visits any of its places ({_some_zones(names)}); "
                        "correct their spelling, or leave the zone out"
                    )
                found.setdefault(level, {})[zone] = known
        return cls(found, tuple(name for name in places_of(levels) if name not in number))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings to read before believing the zones."""
        if not self.unknown:
            return ()
        these = "1 place" if len(self.unknown) == 1 else f"{len(self.unknown):,} places"
        return (
            f"Zones: nobody visits {these} of theirs ({_some_zones(self.unknown)}). Check the spelling; zones are "
            "counted without them.",
        )

    def named(self) -> dict[str, Zone]:
        """Zones by name: if zones of several levels share a name, with the level before it.

        >>> Zones({"ward": {"a": (0,), "b": (1,)}, "city": {"a": (0, 1)}}).named()
        {'ward: a': (0,), 'b': (1,), 'city: a': (0, 1)}
        """
        names = [zone for zones in self.levels.values() for zone in zones]
        return {
            zone if names.count(zone) == 1 else f"{level}: {zone}": places
            for level, zones in self.levels.items()
            for zone, places in zones.items()
        }


def _some_zones(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(map(repr, names[:QUOTED])) + " ..." * (len(names) > QUOTED)
