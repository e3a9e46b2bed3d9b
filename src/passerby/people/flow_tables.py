"""Tables for people from flows: how many live and work in each zone, and a day by the hour."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from passerby.errors import InputError
from passerby.personas.persona import ANYWHERE, ELSEWHERE, HOME, Persona, read_personas
from passerby.support import checks
from passerby.support.checks import is_number, shown
from passerby.visits.delimited import DistinctRows, Header, names_of, read_table
from passerby.visits.names import Names
from passerby.visits.readers import as_polars

#: The position of a row of a table, and its values.
Row = tuple[str, dict[str, object]]

WORK = "work"
#: The default day of people from flows: a persona of passerby.
RESIDENT = "resident"
#: Names of the columns of a table of flows, with the names of LODES and of ministries' matrices.
NAMES = {
    "home": ("home", "origin", "residence", "from", "h_geocode", "live"),
    "work": ("work", "destination", "workplace", "to", "w_geocode"),
    "people": ("people", "number", "count", "flow", "commuters", "total", "s000"),
}
#: Columns of LODES for the division of a pair's people: they change nothing.
PASSED_OVER = (*(f"{kind}{n:02d}" for kind in ("sa", "se", "si") for n in (1, 2, 3)), "createdate")
FLOWS = Header(
    "flows",
    (*(name for names in NAMES.values() for name in names), *PASSED_OVER),
    needs=tuple(tuple(frozenset({name}) for name in names) for names in (NAMES["home"], NAMES["people"])),
    needed="the columns home, work and people",
)
HOURS = ("home", "work", "elsewhere")
#: Endings of files with a table, without personas.
TABLES = (".csv", ".tsv", ".txt", ".parquet")
DAYS = {"workday": "Mon-Fri", "weekend": "Sat-Sun"}
PROFILE = Header(
    "profiles",
    ("hour", *HOURS, "day", "group", "weight"),
    needs=tuple((frozenset({name}),) for name in ("hour", *HOURS)),
    needed="the columns hour, home, work and elsewhere",
)
#: Shares of an hour add up to one, or to a hundred, but for so much: tables are rounded.
ROUNDED = 0.02
#: People of a table, at most.
MOST_PEOPLE = 10**9


def profiles_of(profile: Any) -> tuple[Persona, ...]:
    """The personas of people from flows: given, by a name or file, or made of a table of shares by the hour."""
    if isinstance(profile, str | Path) and Path(profile).suffix.lower() not in TABLES:
        profile = read_personas(profile)
    if isinstance(profile, Persona):
        profile = [profile]
    if isinstance(profile, list | tuple) and profile and all(isinstance(each, Persona) for each in profile):
        found = tuple(profile)
    else:
        found = by_the_hour(profile)
    for persona in found:
        if HOME not in persona.places:
            raise InputError(f"profile: {persona.name} is never at 'home'; name 'home' and 'work' in its week")
    return found


def by_the_hour(table: Any) -> tuple[Persona, ...]:
    """A persona for each group: at home, at work and elsewhere for these shares of each hour of each kind of day.

    >>> day = [(hour, 1.0, 0.0, 0.0) for hour in range(24)]
    >>> by_the_hour(pl.DataFrame(day, schema=["hour", "home", "work", "elsewhere"], orient="row"))[0].shares["home"]
    1.0
    """
    rows, source = _rows(table, PROFILE, "profile")
    once, weeks, weights = DistinctRows(source), dict[str, list[tuple[str, str, float]]](), dict[str, float]()
    for where, row in rows:
        place = f"{source}, {where}"
        group = str(row.get("group") or "everybody").strip()
        weight = _number(1.0 if row.get("weight") is None else row["weight"], f"{place}: weight", MOST_PEOPLE)
        if weights.setdefault(group, weight) != weight:
            raise InputError(f"{place}: weight is {weight:g}, and {weights[group]:g} further up; {group} has one")
        hour = whole_hour(row.get("hour"), place)
        shares = [_number(row.get(name), f"{place}: {name}", 100) for name in HOURS]
        if abs(sum(shares) / (100 if sum(shares) > 2 else 1) - 1) > ROUNDED:
            raise InputError(f"{place}: the shares at home, at work and elsewhere add up to {sum(shares):g}, not to 1")
        day = str(row.get("day") or "").strip().lower()
        if day and day not in DAYS:
            raise InputError(f"{place}: day is {shown(row.get('day'))}; expected workday, weekend or nothing for both")
        for each in [day] if day else [*DAYS]:
            once.add(where, (group, each, hour), f"hour {hour} of a {each}")
            clock = f"{DAYS[each]} {hour:02}:00-{hour + 1:02}:00"
            pairs = zip((HOME, WORK, ANYWHERE), shares, strict=True)
            weeks.setdefault(group, []).extend((clock, role, share / sum(shares)) for role, share in pairs if share)
    for group in weeks or ["everybody"]:
        missing = [(day, hour) for day in DAYS for hour in range(24) if (group, day, hour) not in once]
        if missing:
            day, hour = missing[0]
            raise InputError(f"{source}: hour {hour} of a {day} is missing; give all 24 hours, for both kinds of days")
    stays = read_personas(RESIDENT)[0].stays
    return tuple(Persona(group, week, stays=stays, weight=weights[group]) for group, week in weeks.items())


def whole_hour(value: object, where: str) -> int:
    """An hour of the day."""
    hour = _number(value, f"{where}: hour", 23)
    if hour != int(hour):
        raise InputError(f"{where}: hour is {hour:g}; expected a whole number from 0 to 23")
    return int(hour)


def pairs_of(flows: Any) -> list[tuple[str, str, float]]:
    """Home, work and number of people of each row; people without work are at home instead."""
    rows, source = _rows(flows, FLOWS, "flows")
    once, found = DistinctRows(source), list[tuple[str, str, float]]()
    for where, row in rows:
        home, work, people = (next((row[name] for name in NAMES[role] if name in row), None) for role in NAMES)
        names = Names.of(pl.Series([None if x is None else str(x) for x in (home, work)], dtype=pl.String)).names
        if names[0] is None:
            raise InputError(f"{source}, {where}: home is empty; name the zone where these people live")
        pair = names[0], names[0] if names[1] is None else names[1]
        if {ELSEWHERE, ANYWHERE} & {*pair}:
            raise InputError(
                f"{source}, {where}: {ELSEWHERE!r} is no zone here; leave work empty, or name it otherwise"
            )
        once.add(where, pair, f"the number of people from {pair[0]!r} to {pair[1]!r}")
        found.append((*pair, _number(people, f"{source}, {where}: people", MOST_PEOPLE)))
    total = sum(people for *_, people in found)
    if total < 1:
        raise InputError(f"{source}: nobody is in it; the numbers of people add up to {total:g}")
    if total > MOST_PEOPLE:
        raise InputError(f"{source}: {total:,.0f} people are too many; the most are {MOST_PEOPLE:,}")
    return found


def _rows(table: Any, header: Header, name: str) -> tuple[Iterator[Row], object]:
    """The rows of a table with their positions, and a name for the table."""
    if isinstance(table, str | Path):
        path = checks.path(table, name)
        return read_table(path, header)[1], path
    if isinstance(table, Iterable) and not hasattr(table, "columns") and name == "flows":
        rows = list(table)
        if not all(isinstance(row, Sequence) and not isinstance(row, str | bytes) and len(row) == 3 for row in rows):
            raise InputError(f"{name}: expected rows of home, work and people, got {shown(table)}")
        return ((f"row {n}", dict(zip(NAMES, row, strict=True))) for n, row in enumerate(rows, 1)), name
    try:
        frame = as_polars(table)
    except InputError:
        raise InputError(f"{name}: {shown(table)} is no table; give a path, or a polars or pandas table") from None
    columns = names_of(frame.columns)
    header.check(columns, Path(name))
    return ((f"row {n}", dict(zip(columns, row, strict=True))) for n, row in enumerate(frame.iter_rows(), 1)), name


def _number(value: object, name: str, most: float) -> float:
    """A number of a table, from 0 on."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    if not is_number(value) or not 0 <= value <= most or math.isnan(value):
        raise InputError(f"{name} is {shown(value)}; expected a number from 0 to {most:,}")
    return float(value)
