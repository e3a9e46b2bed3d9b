"""The content of a table's columns: inferred from their names in three languages, and from their cells.

The rows of a table as text: from files with any usual separator and encoding, titles above them, and frames.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from passerby.errors import InputError
from passerby.support import checks
from passerby.support.checks import shown
from passerby.visits.files import DAMAGED, check_file, read_chunks
from passerby.visits.readers import as_polars

from .cells import MISSING, WORDS, may_be_count, read_moment, weekday

Rows = Sequence[Sequence[str]]
Holds = Callable[[Rows, int], bool]

#: Names of columns by content, best first.
NAMES = WORDS["columns"]
#: Remarks on a row beside its counts: passed over.
ABOUT = frozenset(NAMES["about"])
#: Names of a column, row or place with the sum or mean of others; a day or a remark may follow.
_TOTALS = re.compile(rf"({'|'.join(map(re.escape, WORDS['rows']['totals']))})([ :_(-].*)?", re.I)
_HOUR = re.compile(r"[hH]?\d{1,2}([:h.]\d{0,2})?(\s*(-|–|bis|à|to)\s*\d{1,2}([:h.]\d{0,2})?)?\s*(h|uhr)?", re.I)
#: In a column of times, this share of its first cells can be read.
MOST_ROWS, SHARE = 50, 0.6
#: How the remark about totals begins.
TOTALS = "Totals left out"


@dataclass(frozen=True)
class Columns:
    """The columns by content, as numbers: times, and a place with its count (long) or a column a place (wide)."""

    time: tuple[int, ...]
    places: tuple[int, ...] = ()
    place: int | None = None
    count: int | None = None
    direction: int | None = None
    #: Columns named by hours or times, in a table with a row for each place or day.
    hours: tuple[int, ...] = ()
    expected: bool = False
    remarks: tuple[str, ...] = field(default=())

    @property
    def cells(self) -> tuple[int, ...]:
        """Columns with counts."""
        return self.hours or ((self.count,) if self.count is not None else self.places)


def key(name: str) -> str:
    """The name of a column, fit to be looked up.

    >>> key(" Date_Time "), key("SensorName (ID)")
    ('date time', 'sensorname')
    """
    bare = re.sub(r"[\[(].*?[\])]", "", name)
    return " ".join(re.sub(r"[\s_\-./]+", " ", bare).split()).lower()


def is_total(name: str) -> bool:
    """Whether a row, column or place adds up others.

    >>> is_total("Total 01.05.2024"), is_total("Gesamt"), is_total("Allee"), is_total("Summerfield")
    (True, True, False, False)
    """
    return bool(_TOTALS.fullmatch(" ".join(name.split())))


def columns_of(header: Sequence[str], rows: Rows) -> Columns:
    """The content of each column."""
    names = [key(name) for name in header]
    sample = rows[:MOST_ROWS]
    hours = _hour_columns(header)
    if len(hours) >= 2:
        return _by_hours(header, names, hours, sample)
    time = _time_columns(names, sample, header)
    count, expected = _count_column(names, sample, time)
    place = _first(names, "place", sample, {*time} | ({count} if count is not None else set()))
    others = [k for k in range(len(names)) if k not in time and names[k] not in ABOUT]
    # A column station beside others and their total is one place of several: a total is no count of it.
    doubtful = place is not None and count is not None and is_total(names[count]) and _holds_numbers(sample, place)
    if doubtful and any(k not in (place, count) and _holds_numbers(sample, k) for k in others):
        place = None
    if place is not None and count is not None:
        return _long(header, names, sample, time, place, count, expected=expected)
    return _wide(header, time, [k for k in others if _holds_numbers(sample, k)], expected=False)


def _long(
    header: Sequence[str],
    names: Sequence[str],
    sample: Rows,
    time: tuple[int, ...],
    place: int,
    count: int,
    *,
    expected: bool,
) -> Columns:
    direction = next((k for k, name in enumerate(names) if name in NAMES["direction"]), None)
    used = {*time, place, count} | ({direction} if direction is not None else set())
    remarks = _beside(header, used, sample)
    return Columns(time, (), place, count, direction, expected=expected, remarks=remarks)


def _wide(header: Sequence[str], time: tuple[int, ...], wide: Sequence[int], expected: bool) -> Columns:
    totals = [k for k in wide if is_total(key(header[k]))]
    places = [k for k in wide if k not in totals]
    if not places and len(totals) == 1:
        places, totals = totals, []
    if not places:
        raise InputError(
            f"no column holds counts; found are {', '.join(map(repr, header))}. A table of counts has a column of "
            "times and one for each place, or the columns time, place and count"
        )
    blank = next((k for k in places if not header[k].strip()), None)
    if blank is not None:
        raise InputError(f"column {blank + 1} holds counts but has no name; name the place that it counts")
    same = next((header[k] for k in places if sum(header[j].strip() == header[k].strip() for j in places) > 1), None)
    if same is not None:
        raise InputError(f"two columns are called {same.strip()!r}; each place needs a name of its own")
    used = {*time, *places, *totals}
    passed = [header[k] for k in range(len(header)) if k not in used and header[k].strip()]
    remarks = [f"Columns passed over: {', '.join(passed)}."] if passed else []
    if totals:
        remarks.append(_left(header, totals))
    return Columns(time, tuple(places), expected=expected, remarks=tuple(remarks))


def _left(header: Sequence[str], totals: Sequence[int]) -> str:
    return f"{TOTALS}: the column {', '.join(header[k].strip() for k in totals)}. Totals may give back hidden counts."


def _beside(header: Sequence[str], used: Collection[int], sample: Rows) -> tuple[str, ...]:
    """What is said of columns beside those that are used: totals, and the rest."""
    rest = [k for k in range(len(header)) if k not in used and header[k].strip()]
    totals = [k for k in rest if is_total(key(header[k])) and _holds_numbers(sample, k)]
    passed = [header[k] for k in rest if k not in totals]
    said = (f"Columns passed over: {', '.join(passed)}.",) if passed else ()
    return (*said, _left(header, totals)) if totals else said


def _by_hours(header: Sequence[str], names: Sequence[str], hours: Sequence[int], sample: Rows) -> Columns:
    """A row for each place and day, and a column for each hour."""
    rest = [k for k in range(len(names)) if k not in hours]
    dates = [k for k in rest if names[k] in (*NAMES["date"], *NAMES["time"]) and _holds_times(sample, k)][:1]
    place = _first(names, "place", sample, {*hours, *dates})
    if place is None:
        texts = [k for k in rest if k not in dates and not _holds_numbers(sample, k) and not is_total(names[k])]
        place = texts[0] if texts else None
    if place is None:
        raise InputError(
            "columns are named by hours, but no column says which place a row is about; add one named place"
        )
    remarks = _beside(header, {*hours, *dates, place}, sample)
    return Columns(tuple(dates), (), place, hours=tuple(hours), remarks=remarks)


def _hour_columns(header: Sequence[str]) -> list[int]:
    found = []
    for k, name in enumerate(header):
        text = name.strip()
        if not text or (text.isdigit() and len(text) > 2):
            continue
        if _HOUR.fullmatch(text) or (any(x.isdigit() for x in text) and read_moment(text, True) is not None):
            found.append(k)
    bare = [k for k in found if header[k].strip().isdigit()]
    return [k for k in found if k not in bare] if 0 < len(bare) < 12 else found


def _time_columns(names: Sequence[str], sample: Rows, header: Sequence[str]) -> tuple[int, ...]:
    """The column of times, or the columns of dates and of hours."""
    time, date = (_first(names, kind, sample, set(), _holds_times) for kind in ("time", "date"))
    hour = _first(names, "hour", sample, set(), _holds_hours)
    if hour is None and time is not None and date is not None and _holds_hours(sample, time):
        hour, time = time, None
    if time is not None:
        return (time,)
    if date is not None and hour is not None:
        return (date, hour)
    if date is not None or hour is not None:
        return (date if date is not None else hour,)  # type: ignore[return-value]
    dated = [k for k in range(len(names)) if _holds_times(sample, k) and not _holds_hours(sample, k)]
    if dated:
        return (dated[0],)
    raise InputError(
        f"no column holds times; found are {', '.join(shown(name.strip()) for name in header[:20])}. Name one time (or "
        "date and hour), with times such as 2024-01-15 08:00"
    )


def _count_column(names: Sequence[str], sample: Rows, time: tuple[int, ...]) -> tuple[int | None, bool]:
    for kind in ("count", "expected"):
        found = _first(names, kind, sample, {*time}, _holds_numbers)
        if found is not None:
            return found, kind == "expected"
    return None, False


def _first(names: Sequence[str], kind: str, sample: Rows, used: set[int], holds: Holds | None = None) -> int | None:
    """The first column of a kind with the right content, in the order of its names."""
    for x in NAMES[kind]:
        for k, name in enumerate(names):
            if name == x and k not in used and (holds is None or holds(sample, k)):
                return k
    return None


def _cells(sample: Rows, k: int) -> list[str]:
    found = [row[k].strip() for row in sample if k < len(row)]
    return [text for text in found if text.lower() not in MISSING]


def _holds_times(sample: Rows, k: int) -> bool:
    cells = _cells(sample, k)
    read = [read_moment(text, True) or read_moment(text, False) for text in cells]
    return bool(cells) and sum(each is not None for each in read) >= SHARE * len(cells)


def _holds_hours(sample: Rows, k: int) -> bool:
    cells = [text for text in _cells(sample, k) if not is_total(text)]
    found = [read_moment(text, True) for text in cells if weekday(text) is None]
    return bool(cells) and sum(each is not None and not each.dated for each in found) >= SHARE * len(cells)


def _holds_numbers(sample: Rows, k: int) -> bool:
    cells = _cells(sample, k)
    if not cells:
        return True  # nothing is shown there: hidden, or nobody counts
    return sum(map(may_be_count, cells)) >= SHARE * len(cells) and not (
        _holds_times(sample, k) and not _holds_hours(sample, k)
    )


#: Bytes of a table, at most.
MOST_BYTES = 200_000_000
SEPARATORS = ";\t,|"
#: The lines inspected for the separator of columns, and for the line with their names.
LOOKED_AT = 60


def rows_of(source: Any) -> tuple[str, list[str], list[list[str]], list[int], tuple[str, ...]]:
    """The name of a table, its header, its rows as text, the line of each, and remarks on it."""
    if not isinstance(source, str | Path):
        return "the table", *_frame_rows(as_polars(source)), ()
    path = checks.path(source, "source")
    if check_file(path)[:4] == b"PAR1":
        try:
            return str(path), *_frame_rows(pl.read_parquet(path, glob=False)), ()
        except DAMAGED:
            raise InputError(f"{path} is damaged or no table; copy or write it again") from None
    data = b""
    for chunk in read_chunks(path):
        data += chunk
        if len(data) > MOST_BYTES:
            raise InputError(f"{path}: a table of counts has {MOST_BYTES:,} bytes at most; give a part of it")
    text, remarks = _decoded(data, path)
    try:
        return str(path), *_text_rows(text), remarks
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _frame_rows(table: pl.DataFrame) -> tuple[list[str], list[list[str]], list[int]]:
    columns = []
    for column in table:
        if column.dtype in (pl.Date, pl.Datetime):
            column = column.dt.to_string("iso:strict" if isinstance(column.dtype, pl.Datetime) else "iso")
        elif not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)):
            raise InputError(f"the column {column.name!r} is of type {column.dtype}; convert it to text or numbers")
        columns.append(column.cast(pl.String).fill_null("").to_list())
    rows = [list(row) for row in zip(*columns, strict=True)]
    if not rows:
        raise InputError("the table holds no rows")
    return list(table.columns), rows, list(range(1, len(rows) + 1))


def _decoded(data: bytes, path: Path) -> tuple[str, tuple[str, ...]]:
    """The text of a file: UTF-8, UTF-16 with its mark, or the Windows encoding of Western languages."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace"), ()
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        if b"\x00" in data[:1000]:
            raise InputError(f"{path} is no text table; save it as CSV in UTF-8") from None
        return data.decode("cp1252", errors="replace"), ("The file is not in UTF-8; it was read as Windows text.",)


def _text_rows(text: str) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows and their lines."""
    head = [line for line in text.splitlines()[:LOOKED_AT] if line.strip() and not line.startswith("#")]
    if not head:
        raise InputError("it holds no rows")
    separator = max(SEPARATORS, key=lambda mark: _fields(head, mark))
    records = _records(text, separator)
    first = _header(records)
    header = records[first][1]
    while not header[-1]:
        header = header[:-1]
    width = len(header)
    rows, lines = [], []
    for number, record in records[first + 1 :]:
        if record == records[first][1]:
            continue  # the header once more, as on each printed page
        if any(record[width:]):
            raise InputError(
                f"line {number:,}: {len(record)} fields where {width} columns are named; a field that holds "
                f"{separator!r} must stand in quotes"
            )
        rows.append((record + [""] * width)[:width])
        lines.append(number)
    if not rows:
        raise InputError("it holds a header and no rows")
    return header, rows, lines


def _records(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """The records with any content, and the line of each; comments begin with `#`."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    records: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for record in reader:
            if any(field.strip() for field in record) and not record[0].startswith("#"):
                records.append((line, [field.strip() for field in record]))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"line {line:,}: {error}; close its quotes") from None
    if not records:
        raise InputError("it holds no rows")
    return records


def _header(records: Sequence[tuple[int, list[str]]]) -> int:
    """The first record with nearly as many fields as most: titles above a table have one or two."""
    sizes = [sum(map(bool, record)) for _, record in records[:LOOKED_AT]]
    usual = sorted(sizes)[len(sizes) // 2]
    return next(k for k, size in enumerate(sizes) if size >= max(min(2, usual), usual - 1))


def _fields(lines: Sequence[str], separator: str) -> tuple[int, int]:
    """How many lines a separator cuts into as many fields as most lines, and into how many."""
    sizes = [len(row) for row in csv.reader(lines, delimiter=separator)]
    usual = max({*sizes}, key=lambda size: (sizes.count(size) * (size > 1), size))
    return (sizes.count(usual) if usual > 1 else 0), usual
