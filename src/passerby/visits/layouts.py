"""Columns of files of visits: the known layouts, the names of columns, and the caller's settings for both."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from passerby.errors import InputError
from passerby.support.checks import is_word, text, whole

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
        "vehicle_id",
        "taxi_id",
    ),
    "time": (
        *("time", "datetime", "date_time", "started_at", "tracked_at", "timestamp", "utc_time", "utctimestamp"),
        *("check_in_time", "checkin_time", "check_in", "arrived_at", "start_time", "date"),
    ),
    "place": (
        *("place", "place_id", "location_id", "venue_id", "venueid", "poi_id", "poi", "venue", "location", "tile_id"),
        *("cell_id", "zone_id", "zone", "station_id", "station", "place_name", "loc", "loc_id", "locationid", "cell"),
    ),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lng", "lon", "long"),
}
"""Column names by role, best first, among them the names of scikit-mobility, trackintel and check-in files."""


@dataclass(frozen=True)
class Layout:
    """The way to cut lines into columns, and the names of the columns."""

    columns: tuple[str, ...]
    separator: str = "\t"
    quote: str | None = None
    header: bool = False
    skipped: int = 0
    """Lines to pass over before the first row (or the header)."""


FOURSQUARE = Layout(("person", "place", "time", "offset"))
"""TIST2015 check-ins: user, venue, UTC time, offset to local time in minutes (not applied: times stay UTC)."""
GOWALLA = Layout(("person", "time", "latitude", "longitude", "place"))
"""SNAP check-ins (Gowalla, Brightkite): user, UTC time, latitude, longitude, place."""
FIXED = {"foursquare": FOURSQUARE, "gowalla": GOWALLA}

_FOURSQUARE_TIME = re.compile(r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d [+-]\d{4} \d{4}$")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_DATA = re.compile(r"[-+]?\d[\d.]*$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|.*\d\d:\d\d")


def detect_layout(first_line: str, separator: str | None = None) -> Layout:
    """The layout of a text file, told by its first line.

    >>> detect_layout("user_id,started_at,location_id").columns
    ('user_id', 'started_at', 'location_id')
    """
    fields = first_line.split("\t")
    if len(fields) == 4 and _FOURSQUARE_TIME.match(fields[2]):
        return FOURSQUARE
    if len(fields) == 5 and _ISO_TIME.match(fields[1]) and all(map(_DATA.match, fields[2:4])):
        return GOWALLA
    return header_layout(first_line, separator)


HEADLESS = (
    "name them, as in columns='person,time,place', or give layout='foursquare' or layout='gowalla' "
    "if it is one of these"
)
"""The remedy for visits without a header."""


def header_layout(first_line: str, separator: str | None = None, instead: str = HEADLESS) -> Layout:
    """The layout of a table with named columns in its first line; `instead` is the remedy if they are not."""
    if first_line.lstrip()[:1] in ("{", "["):
        raise InputError("it is JSON and no table; write it as CSV, TSV or Parquet, with a column for each value")
    separator = separator or likely_separator(first_line)
    columns = tuple(field.strip() for field in split_line(first_line, separator))
    if any(map(_DATA.match, columns)):
        # Naming the contents would print a row, with someone's id in it.
        raise InputError(
            f"the first line names no columns: it holds numbers or times in {len(columns)} fields; {instead}"
        )
    repeated = {name for name in columns if name and columns.count(name) > 1}
    if repeated:
        raise InputError(f"the first line names {_listed(repeated)} more than once; rename the columns")
    return Layout(columns, separator, quote='"', header=True)


def named_layout(first_line: str, columns: Sequence[str], separator: str | None = None) -> Layout:
    """The layout of a table without a header, whose columns are named by the caller, in order."""
    separator = separator or likely_separator(first_line)
    fields = len(split_line(first_line, separator))
    names = tuple(name.strip() for name in columns)
    if len(set(names)) < len(names) or "" in names:
        raise InputError("columns names a column twice, or one without a name; give a name to each, in order")
    if len(names) != fields:
        raise InputError(f"columns names {len(names)} columns, but the first line has {fields} fields")
    return Layout(names, separator, quote='"')


def likely_separator(line: str) -> str:
    """The most frequent separator, outside of quotes; a blank if there is no other."""
    bare = re.sub(r'"[^"]*"', "", line)
    separator = max("\t,;|", key=bare.count)
    return " " if separator not in bare and " " in bare.strip() else separator


def split_line(line: str, separator: str) -> list[str]:
    """The fields of a line; several blanks separate as one does."""
    blank = separator == " "
    text = re.sub(" +", " ", line.strip()) if blank else line
    return next(csv.reader([text], delimiter=separator), [])


@dataclass(frozen=True)
class Match:
    """The column of each role, and other possible columns."""

    roles: dict[str, str]
    remarks: tuple[str, ...] = ()


def match_columns(columns: Iterable[str], given: Mapping[str, str | None], *, coordinates: bool) -> Match:
    """The column of each role: person, time, and place or, with `coordinates`, latitude and longitude.

    Columns `given` by name must be there, and each for one role; others are found by their synonyms, whatever the case.
    Two columns of the same name but for its case are a tie, and refused. Of several synonyms the best is taken, with a
    remark.

    >>> match_columns(["uid", "datetime", "lat", "lng"], {}, coordinates=True).roles
    {'person': 'uid', 'time': 'datetime', 'latitude': 'lat', 'longitude': 'lng'}
    """
    found = list(columns)
    wanted = ("person", "time", "latitude", "longitude") if coordinates else ("person", "time", "place")
    roles: dict[str, str] = {}
    missing: list[str] = []
    remarks: list[str] = []
    for role in wanted:
        name = given.get(role)
        if name is not None:
            if name in found:
                roles[role] = name
            else:
                missing.append(f"{name!r} (given as {role})")
            continue
        free = [column for column in found if column not in given.values()]
        candidates = [column for key in SYNONYMS[role] for column in free if _key(column) == key]
        if not candidates:
            missing.append(role)
            continue
        roles[role] = candidates[0]
        tied = [column for column in candidates if _key(column) == _key(candidates[0])]
        if len(tied) > 1:
            raise InputError(
                f"the columns {_listed(tied)} could both be the {role}; say which one it is, as in {role}={tied[0]!r}"
            )
        if len(candidates) > 1:
            also = _listed(candidates[1:])
            remarks.append(f"{role} is taken from the column {candidates[0]!r}; {also} could be meant too")
    if missing:
        raise InputError(_without(missing, found))
    for column in roles.values():
        both = [role for role, other in roles.items() if other == column]
        if len(both) > 1:
            raise InputError(f"the column {column!r} is given as {' and as '.join(both)}; each needs one of its own")
    return Match(roles, tuple(remarks))


def _without(missing: list[str], found: list[str]) -> str:
    """The remedy for missing columns. A line without any known column may be data, and is not shown."""
    keys = {_key(name) for name in found}
    known = any(keys & {*names} for names in SYNONYMS.values())
    hint = f"name them, as in {_role(missing[0])}='<column>'"
    if missing == ["place"] and {*SYNONYMS["latitude"]} & keys:
        hint = "to make places of the coordinates give grid_metres, as in grid_metres=500, or h3_resolution"
    elif "place" in missing:
        hint += "; instead of a place there may be latitude and longitude, with grid_metres=500"
    if not known and len(found) == 1:
        hint = f"say what is between its columns, as in separator='!', or {hint}"
    if not known:
        hint += "; if the first line is no header, name all columns, as in columns='person,time,place'"
    fields = "1 field" if len(found) == 1 else f"{len(found)} fields"
    shown = f"found are the columns {_listed(found)}" if known else f"the first line has {fields}"
    return f"no column for {', '.join(missing)}; {shown}; {hint}"


def _role(missing: str) -> str:
    return missing if missing in SYNONYMS else missing.rsplit(" ", 1)[1].rstrip(")")


def _key(name: str) -> str:
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


FILE_NAME = "{file}"
"""In the place of a column: the name of the file, if there is one for each person."""


@dataclass(frozen=True)
class Form:
    """The caller's settings for the form of the files."""

    layout: str
    given: dict[str, str | None]
    coordinates: bool
    columns: tuple[str, ...] | None = None
    separator: str | None = None
    skip_lines: int = 0

    @classmethod
    def checked(
        cls,
        layout: str,
        given: dict[str, str | None],
        coordinates: bool,
        columns: str | Sequence[str] | None,
        separator: str | None,
        skip_lines: int,
    ) -> "Form":
        """A form, unless its settings make no sense."""
        if not is_word(layout, ("auto", "table", *FIXED)):
            known = ", ".join(map(repr, ("auto", "table", *FIXED)))
            raise InputError(f"layout is {layout!r}, which is not known; choose one of {known}")
        for role, column in given.items():
            text(column, role)
        idle = ("place",) if coordinates else ("latitude", "longitude")
        for role in idle:
            if given[role] is not None:
                beside = "with grid_metres or h3_resolution" if coordinates else "without grid_metres or h3_resolution"
                raise InputError(f"{role}={given[role]!r} has no effect {beside}; leave it out")
        lines = whole(skip_lines, "skip_lines", 0, 1000)
        return cls(layout, given, coordinates, _names(columns), check_separator(separator), lines)


def _names(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    names = columns.split(",") if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"columns is {columns!r}; expected the names of all columns in order, as in columns='a,b,c'")
    return tuple(names)


def check_separator(separator: str | None) -> str | None:
    """The character between columns; an impossible one is refused."""
    words = {"tab": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";", "\\t": "\t"}
    text(separator, "separator")
    wanted = None if separator is None else words.get(separator, separator)
    if wanted is not None and (len(wanted) != 1 or wanted in '"\r\n' or wanted.isalnum()):
        raise InputError(f"separator is {separator!r}; give one character, or 'tab', 'blank', 'comma' or 'semicolon'")
    return wanted
