"""Which column holds what: the known layouts, and the names by which columns are recognised."""

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from passerby.errors import InputError

SYNONYMS: dict[str, tuple[str, ...]] = {
    "person": (
        "person",
        "person_id",
        "uid",
        "user_id",
        "userid",
        "user",
        "agent_id",
        "agent",
        "device_id",
        "subject_id",
    ),
    "time": (
        *("time", "datetime", "date_time", "started_at", "tracked_at", "timestamp", "utc_time", "utctimestamp"),
        *("check_in_time", "checkin_time", "check_in", "arrived_at", "start_time", "date"),
    ),
    "place": (
        *("place", "place_id", "location_id", "venue_id", "venueid", "poi_id", "poi", "venue", "location", "tile_id"),
        *("cell_id", "zone_id", "zone", "station_id", "station", "place_name"),
    ),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lng", "lon", "long"),
}
"""Column names by what they hold, best first, among them those of scikit-mobility, trackintel and check-in files."""


@dataclass(frozen=True)
class Layout:
    """How lines are cut into columns, and what the columns are called."""

    columns: tuple[str, ...]
    separator: str = "\t"
    quote: str | None = None
    header: bool = False


FOURSQUARE = Layout(("person", "place", "time", "offset"))
"""TIST2015 check-ins: user, venue, UTC time, offset to local time in minutes (not applied: times stay UTC)."""
GOWALLA = Layout(("person", "time", "latitude", "longitude", "place"))
"""SNAP check-ins (Gowalla, Brightkite): user, UTC time, latitude, longitude, place."""
FIXED = {"foursquare": FOURSQUARE, "gowalla": GOWALLA}

_FOURSQUARE_TIME = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d [+-]\d{4} \d{4}$")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_DATA = re.compile(r"[-+]?\d[\d.]*$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|.*\d\d:\d\d")


def detect_layout(first_line: str) -> Layout:
    """The layout of a text file, told by its first line.

    >>> detect_layout("user_id,started_at,location_id").columns
    ('user_id', 'started_at', 'location_id')
    """
    fields = first_line.split("\t")
    if len(fields) == 4 and _FOURSQUARE_TIME.match(fields[2]):
        return FOURSQUARE
    if len(fields) == 5 and _ISO_TIME.match(fields[1]) and all(map(_DATA.match, fields[2:4])):
        return GOWALLA
    return header_layout(first_line)


def header_layout(first_line: str) -> Layout:
    """The layout of a table whose first line names the columns; the separator is the one that occurs most."""
    bare = re.sub(r'"[^"]*"', "", first_line)
    separator = max("\t,;|", key=bare.count)
    fields = next(csv.reader([first_line], delimiter=separator), [])
    columns = tuple(field.strip() for field in fields)
    if any(map(_DATA.match, columns)):
        # Naming what was found would print a row, with someone's id in it.
        raise InputError(
            f"the first line names no columns: it holds numbers or times in {len(columns)} fields; add a line such as "
            "'person,time,place' on top, or give layout='foursquare' or layout='gowalla' if it is one of these"
        )
    repeated = {name for name in columns if name and columns.count(name) > 1}
    if repeated:
        raise InputError(f"the first line names {_listed(repeated)} more than once; rename the columns")
    return Layout(columns, separator, quote='"', header=True)


def match_columns(columns: Iterable[str], given: Mapping[str, str | None], *, coordinates: bool) -> dict[str, str]:
    """The column of each role: person, time, and place or, with `coordinates`, latitude and longitude.

    Columns that are `given` by name must be there; others are found by their synonyms, whatever the case.

    >>> match_columns(["uid", "datetime", "lat", "lng"], {}, coordinates=True)
    {'person': 'uid', 'time': 'datetime', 'latitude': 'lat', 'longitude': 'lng'}
    """
    found = list(columns)
    by_key = {_key(name): name for name in reversed(found)}
    roles = ("person", "time", "latitude", "longitude") if coordinates else ("person", "time", "place")
    matched: dict[str, str] = {}
    missing: list[str] = []
    for role in roles:
        wanted = given.get(role)
        if wanted is not None:
            column = wanted if wanted in found else None
            missing += [f"{wanted!r} (given as {role})"] if column is None else []
        else:
            column = next((by_key[key] for key in SYNONYMS[role] if key in by_key), None)
            missing += [role] if column is None else []
        if column is not None:
            matched[role] = column
    if not missing:
        return matched
    hint = f"name them, as in {_role(missing[0])}='<column>'"
    if missing == ["place"] and {*SYNONYMS["latitude"]} & {*by_key}:
        hint = "to make places of the coordinates give grid_metres, as in grid_metres=500, or h3_resolution"
    elif "place" in missing:
        hint += "; instead of a place there may be latitude and longitude, with grid_metres=500"
    raise InputError(f"no column for {', '.join(missing)}; found are the columns {_listed(found)}; {hint}")


def _role(missing: str) -> str:
    return missing if missing in SYNONYMS else missing.rsplit(" ", 1)[1].rstrip(")")


def _key(name: str) -> str:
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
