"""The content of a table's columns: inferred from their names in three languages, and from their cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from passerby.errors import InputError
from passerby.support.checks import shown

from .cells import MISSING, WORDS, may_be_count
from .moments import read_moment, weekday

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
