"""Read a table of counts as it is published: places by steps, whatever its form, language and separators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.personas.week import Calendar, minutes_of
from passerby.support import checks
from passerby.visits.steps import parse_length, written
from passerby.visits.times import check_timezone

from .cells import (
    MONDAY,
    WORDS,
    CellValue,
    Numerals,
    Written,
    check_form,
    day_order,
    is_never,
    is_twice,
    read_moment,
    usual_gap,
    zone_of,
)
from .columns import TOTALS, Columns, columns_of, is_total, key, rows_of

#: Cells of a table, at most; a year of hours at 200 places has 1.8 million.
MOST_CELLS = 5_000_000
#: Words of German and French headers: their dates begin with the day.
_WORDS = frozenset(WORDS["columns"]["day_first"])


@dataclass(frozen=True, eq=False)
class CountTable:
    """A table of counts: how many people were at each of some places, step by step.

    `counts` (T, P) is NaN for an unpublished count: `hidden` (T, P) because it is small, or missing. `most` (T, P) is
    the highest possible value of a hidden count, if the table has it. `calendar` has the steps.

    >>> import polars as pl
    >>> table = read_counts(pl.DataFrame({"time": ["2024-01-15 08:00", "2024-01-15 09:00"], "clinic": [3, 12]}))
    >>> table.places, table.counts.tolist()
    (('clinic',), [[3.0], [12.0]])
    """

    places: tuple[str, ...]
    calendar: Calendar
    counts: NDArray[np.float64]
    hidden: NDArray[np.bool_]
    most: NDArray[np.float64]
    #: The guesses made, and the left-out parts.
    remarks: tuple[str, ...] = ()
    source: str = ""
    #: Whether counts are expected sizes, around which the numbers of people vary.
    expected: bool = False
    #: Whether the table has totals, which are left out.
    totals: bool = False

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.calendar.begins)

    @property
    def clock(self) -> list[datetime]:
        """The clock's reading at the beginning of each step."""
        zone = ZoneInfo(self.calendar.timezone)
        return [datetime.fromtimestamp(m * 60, zone).replace(tzinfo=None) for m in self.calendar.begins.tolist()]

    def between(self, first: int, last: int) -> CountTable:
        """The steps from `first` to before `last`."""
        part = slice(first, last)
        calendar = Calendar(self.calendar.begins[part], self.calendar.ends[part], self.calendar.timezone)
        counts, hidden, most = self.counts[part], self.hidden[part], self.most[part]
        return replace(self, calendar=calendar, counts=counts, hidden=hidden, most=most)


@dataclass(frozen=True)
class _Row:
    """One count: its time, place and value, and its position in the file."""

    time: Written
    place: str
    value: CellValue
    where: str


def read_counts(
    source: Any, *, timezone: str | None = None, time_format: str | None = None, step: str | timedelta | None = None
) -> CountTable:
    """Read a table of counts: a path (text or Parquet), or a polars or pandas table.

    The table is wide (a column of times and one for each place) or long (time, place, count). It may also have a row
    for each place and day, and a column for each hour. `timezone` is the zone of times without an offset, `time_format`
    is "day-first" or "month-first", and `step` the length of a step if the table leaves it open.
    """
    if timezone is not None:
        check_timezone(timezone)
    if time_format is not None:
        check_form(time_format)
    name, header, rows, lines, remarks = rows_of(source)
    try:
        columns = columns_of(header, [row for row in rows if not is_total(row[0])])
        cells, said = _counts(columns, header, rows, lines, time_format)
        length = None if step is None else parse_length(step, "step")
        return _grid(cells, (*remarks, *columns.remarks, *said), timezone, length, name, columns.expected)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _counts(
    columns: Columns, header: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[int], form: str | None
) -> tuple[list[_Row], tuple[str, ...]]:
    """All counts of a table, and the left-out parts."""
    if len(rows) * len(columns.cells) > MOST_CELLS:
        raise InputError(f"a table has {MOST_CELLS:,} cells at most; give a part of it")
    words = any(word in _WORDS for name in header for word in key(name).split())
    stamps = [" ".join(row[k] for k in columns.time) for row in rows]
    order = day_order(stamps if columns.time else [header[k] for k in columns.hours], form, words)
    kept, left, sources = [], 0, 0
    for row, stamp, line in zip(rows, stamps, lines, strict=True):
        place = "" if columns.place is None else row[columns.place]
        if is_total(place) or is_total(row[0]) or (columns.time and is_total(row[columns.time[0]])):
            left += 1
        elif sum(map(bool, row)) <= 1 and not (columns.time and read_moment(stamp, order)):
            sources += 1  # a line of words below the table
        else:
            kept.append((row, stamp, line))
    numerals = Numerals.of(row[k] for row, _, _ in kept for k in columns.cells)
    hours = _hours(header, columns, order)
    shift = _ends(kept, columns)
    times: dict[str, Written | None] = {}
    out: list[_Row] = []
    for row, stamp, line in kept:
        if stamp not in times:
            times[stamp] = _moment(row, columns, order, shift) if columns.time else Written(MONDAY, dated=False)
        time = times[stamp]
        if time is None:
            raise InputError(f"line {line:,}: {checks.shown(stamp)} is no time; expected one such as 2024-01-15 08:00")
        for k in columns.cells:
            place = header[k].strip() if columns.place is None else _place(row, columns, line)
            at = time if not columns.hours else _on(time, hours[k])
            where = f"line {line:,}, {header[k].strip() or f'column {k + 1}'}"
            out.append(_Row(at, place, numerals.read(row[k], where), where))
    said = [f"{TOTALS}: {left} row{'s' * (left > 1)}. Totals may give back hidden counts."] if left else []
    said += ["Lines of words left out."] if sources else []
    if numerals.doubtful:
        said.append(f"'{numerals.thousands}' is taken for the sign of thousands, as in {numerals.doubtful}.")
    said += ["Hours are named 1 to 24: each is taken for the hour that ends then."] if shift else []
    return out, tuple(said)


def _place(row: Sequence[str], columns: Columns, line: int) -> str:
    place = row[columns.place or 0].strip()
    if not place:
        raise InputError(f"line {line:,}: it names no place")
    direction = "" if columns.direction is None else row[columns.direction].strip()
    return f"{place} ({direction})" if direction else place


def _ends(kept: Sequence[tuple[Sequence[str], str, int]], columns: Columns) -> bool:
    """Whether hours are called 1 to 24: they are named by their ends."""
    if not columns.time:
        return False
    cells = {row[columns.time[-1]].strip() for row, _, _ in kept}
    return cells <= {str(k) for k in range(1, 25)} and "24" in cells


def _hours(header: Sequence[str], columns: Columns, order: bool | None) -> dict[int, Written]:
    """The times in the names of the columns."""
    out: dict[int, Written] = {}
    names = [header[k].strip() for k in columns.hours]
    late = {*names} <= {str(k) for k in range(1, 25)} and "24" in names
    for k in columns.hours:
        found = read_moment(header[k], order)
        if found is None:
            raise InputError(f"column {k + 1}: {checks.shown(header[k])} is no hour")
        out[k] = Written(found.clock - timedelta(hours=late), found.ahead, found.dated)
    return out


def _moment(row: Sequence[str], columns: Columns, order: bool | None, shift: bool) -> Written | None:
    """The time of a row: of one cell, or of a date and an hour."""
    parts = [read_moment(row[k], order) for k in columns.time]
    first, last = parts[0], parts[-1]
    if first is None or last is None:
        return None
    back = timedelta(hours=shift)
    if len(parts) == 1:
        return Written(first.clock - back, first.ahead, first.dated, first.hourly)
    return Written(first.clock.replace(hour=0, minute=0) + (last.clock - MONDAY) - back, None, first.dated)


def _on(day: Written, hour: Written) -> Written:
    """An hour of a day, unless it has a date of its own."""
    return hour if hour.dated else Written(day.clock + (hour.clock - MONDAY), day.ahead, day.dated)


def _grid(
    cells: Sequence[_Row],
    remarks: tuple[str, ...],
    timezone: str | None,
    step: timedelta | None,
    name: str,
    expected: bool,
) -> CountTable:
    """Counts as a table of steps by places."""
    if not cells:
        raise InputError("it holds no counts")
    places = tuple(dict.fromkeys(cell.place for cell in cells))
    said = [*remarks]
    seen: set[tuple[str, datetime, timedelta | None]] = set()
    twice: dict[datetime, str] = {}
    for cell in cells:
        at = (cell.place, cell.time.clock, cell.time.ahead)
        if at in seen and cell.time.ahead is None:
            twice.setdefault(cell.time.clock, cell.where)
        seen.add(at)
    zone, why = zone_of([cell.time for cell in cells], [*twice], timezone)
    said += [why] if why else []
    instants = _instants(cells, zone, twice)
    order = sorted({*instants})
    length = step or _length(order, cells, said)
    whole = length % timedelta(days=1) == timedelta(0)
    begins = np.array([minutes_of(each) for each in order], dtype=np.int64)
    zoned = ZoneInfo(zone)
    if whole:
        late = [each.astimezone(zoned).replace(tzinfo=None) + length for each in order]
        ends = np.array([minutes_of(each.replace(tzinfo=zoned)) for each in late], dtype=np.int64)
    else:
        ends = begins + int(length / timedelta(minutes=1))
    close = np.flatnonzero(begins[1:] < ends[:-1])
    if len(close):
        raise InputError(
            f"steps overlap: most are {written(length)} long, and {order[close[0]]:%Y-%m-%d %H:%M} and "
            f"{order[close[0] + 1]:%Y-%m-%d %H:%M} are closer; give one table for each length"
        )
    table = _filled(cells, instants, places, order)
    dated = all(cell.time.dated for cell in cells)
    said += [] if dated else ["Times have no date: they are taken for the week from a Monday on."]
    expected = expected or bool((table[0] != np.round(table[0]))[~np.isnan(table[0])].any())
    said += _words(table, expected)
    totals = any(each.startswith(TOTALS) for each in said)
    return CountTable(places, Calendar(begins, ends, zone), *table, tuple(said), Path(name).name, expected, totals)


def _instants(cells: Sequence[_Row], zone: str, twice: dict[datetime, str]) -> list[datetime]:
    """The time of each count, in UTC; of a repeated hour the second is the later one."""
    zoned = ZoneInfo(zone)
    wrong = next((at for at in twice if not is_twice(at, zone)), None)
    if wrong is not None:
        raise InputError(
            f"{twice[wrong]}: {wrong:%Y-%m-%d %H:%M} is there twice for the same place; take one row out, or name what "
            "tells them apart in a column direction"
        )
    seen: dict[tuple[str, datetime], int] = {}
    out = []
    for cell in cells:
        clock = cell.time.clock
        if cell.time.ahead is not None:
            out.append((clock - cell.time.ahead).replace(tzinfo=UTC))
            continue
        if is_never(clock, zone):
            raise InputError(f"{cell.where}: the clocks of {zone} never show {clock:%Y-%m-%d %H:%M}; check the zone")
        fold = 0
        if twice and clock in twice:
            fold = seen[cell.place, clock] = seen.get((cell.place, clock), -1) + 1
        if fold > 1:
            raise InputError(f"{cell.where}: {clock:%Y-%m-%d %H:%M} is there three times for the same place")
        out.append(clock.replace(tzinfo=zoned, fold=fold).astimezone(UTC))
    return out


def _length(order: Sequence[datetime], cells: Sequence[_Row], said: list[str]) -> timedelta:
    usual = usual_gap(order)
    hourly = any(cell.time.hourly for cell in cells)
    if usual is None or (hourly and usual > timedelta(days=7)):
        usual = timedelta(hours=1) if hourly else timedelta(days=1)
        said.append(f"The table does not tell how long a step is: it is taken to be {written(usual)}.")
    if usual < timedelta(minutes=1):
        raise InputError(f"steps are {usual} long; the shortest that can be read is a minute")
    return timedelta(days=1) if abs(usual - timedelta(days=1)) <= timedelta(hours=1) else usual


def _filled(
    cells: Sequence[_Row], instants: Sequence[datetime], places: Sequence[str], order: Sequence[datetime]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    shape = (len(order), len(places))
    if shape[0] * shape[1] > MOST_CELLS:
        raise InputError(f"{shape[0]:,} steps at {shape[1]:,} places are more than {MOST_CELLS:,} cells; give a part")
    counts, most = np.full(shape, np.nan), np.full(shape, np.nan)
    hidden, there = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    row, column = {at: k for k, at in enumerate(order)}, {place: k for k, place in enumerate(places)}
    for cell, at in zip(cells, instants, strict=True):
        k = (row[at], column[cell.place])
        if there[k]:
            raise InputError(f"{cell.where}: {cell.time.clock:%Y-%m-%d %H:%M} is there twice for the same place")
        there[k], counts[k], hidden[k], most[k] = True, cell.value.number, cell.value.hidden, cell.value.most
    return counts, hidden, most


def _words(table: tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]], expected: bool) -> list[str]:
    counts, hidden, _ = table
    if hidden.any() and np.isnan(counts).all():
        raise InputError("every count is hidden or missing: nothing is published, so that there is nothing to check")
    if np.isnan(counts).all():
        raise InputError("every cell is empty: nothing is published, so that there is nothing to check")
    said = []
    missing = int((np.isnan(counts) & ~hidden).sum())
    if hidden.any():
        many = f"{int(hidden.sum()):,} of {counts.size:,}"
        said.append(f"Hidden counts: {many}. What it tells that a count is hidden is left out.")
    if missing:
        said.append(f"Empty cells: {missing:,} of {counts.size:,}; they are taken for not published.")
    if expected:
        said.append(
            "Counts are expected sizes: an insider is taken to know how many others come each time, and figures are "
            "averages over that (Poisson law)."
        )
    return said
