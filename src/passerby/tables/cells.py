"""Numbers as cities write them: decimal commas, separators of thousands, and words for hidden numbers.

Times as cities write them: ISO or by day and month, hours alone, weekdays, and changes of the clock.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from passerby.errors import InputError
from passerby.support.checks import is_word, shown
from passerby.visits.times import DAY_FIRST, MONTH_FIRST

#: The words of three languages for columns, cells and rows.
WORDS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
#: Nothing was counted, or nothing is published; and an existing count, hidden because it is small.
MISSING, HIDDEN_WORDS = (frozenset(WORDS["cells"][name]) for name in ("missing", "hidden"))
_BELOW = re.compile(r"(?:<|below|under|fewer than|less than|unter|weniger als|moins de)\s*(\d+)", re.I)
_UP_TO = re.compile(r"(?:<=|≤|=<|up to|at most|bis(?: zu)?|höchstens|jusqu'à|au plus)\s*(\d+)", re.I)
_RANGE = re.compile(r"\d+\s*(?:-|–|to|bis|à)\s*(\d+)", re.I)
_NUMBER = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?|[+-]?[.,]\d+")
_COUNT = re.compile(r"[+-]?[.,]?\d")
_GROUPED = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+") for mark in ".,"}
#: Blanks of any width, and the Swiss marks between thousands.
_BLANKS = re.compile(r"(?<=\d)[\s'’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
#: Beyond this number floats miss whole numbers.
LARGEST = 2**53


@dataclass(frozen=True)
class CellValue:
    """The content of a cell: a number, or a hidden or missing one; hidden ones may be known to be `most` at most."""

    number: float = math.nan
    hidden: bool = False
    most: float = math.nan


@dataclass(frozen=True)
class Numerals:
    """How a table writes numbers: the decimal sign, and the sign between thousands; either may be none."""

    decimal: str = "."
    thousands: str = ""
    #: A number with two possible readings.
    doubtful: str = ""

    @classmethod
    def of(cls, texts: Iterable[str]) -> Numerals:
        """The one way to read all of some cells.

        >>> Numerals.of(["12", "1.204,5"]).decimal
        ','
        >>> Numerals.of(["1.204", "12"]).thousands
        '.'
        >>> Numerals.of(["0.125", "12"]).decimal
        '.'
        """
        bare = [_BLANKS.sub("", text) for text in texts]
        numbers = [text for text in bare if _NUMBER.fullmatch(text)]
        marked = [text for text in numbers if "." in text or "," in text]
        decimal = {_decimal(text): text for text in marked} if marked else {}
        sure = {mark: text for mark, text in decimal.items() if mark}
        if len(sure) > 1:
            one, other = sure.values()
            raise InputError(
                f"{one!r} and {other!r} write numbers in two ways: the decimal sign of one is the sign of thousands of "
                "the other; write all alike"
            )
        if sure:
            (mark,) = sure
            return cls(mark, "," if mark == "." else ".")
        if not marked:
            return cls()
        # Three digits after each mark. If 1000 is written without a mark elsewhere, the mark is no sign of thousands.
        (mark,) = {"." if "." in text else "," for text in marked} if len({"." in x for x in marked}) == 1 else ("",)
        if not mark:
            raise InputError(f"{marked[0]!r} and others like it use both '.' and ','; write all numbers alike")
        plain = any(text.lstrip("+-").isdigit() and len(text.lstrip("+-")) > 3 for text in numbers)
        if plain:
            return cls(mark, "")
        return cls("," if mark == "." else ".", mark, marked[0])

    def read(self, text: str, where: str) -> CellValue:
        """The value of a cell.

        >>> Numerals().read("< 10", "").most
        9.0
        >>> Numerals(",", ".").read("1.204,5", "").number
        1204.5
        """
        bare = text.strip().strip("\u00a0\u202f")
        word = bare.lower()
        if word in MISSING:
            return CellValue()
        if word in HIDDEN_WORDS:
            return CellValue(hidden=True)
        if found := _BELOW.fullmatch(word):
            return CellValue(hidden=True, most=max(0.0, float(found[1]) - 1))
        if found := _UP_TO.fullmatch(word) or _RANGE.fullmatch(word):
            return CellValue(hidden=True, most=float(found[1]))
        return CellValue(self._number(bare, where))

    def _number(self, text: str, where: str) -> float:
        digits = _BLANKS.sub("", text)
        if self.thousands:
            digits = digits.replace(self.thousands, "") if self._grouped(digits) else digits
        digits = digits.replace(self.decimal, ".")
        try:
            value = float(digits) if _NUMBER.fullmatch(digits) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(
                f"{where}: {shown(text)} is no number of people; expected one such as 12, a word for a hidden count "
                "such as '< 10' or '*', or an empty cell"
            )
        if not 0 <= value <= LARGEST:
            raise InputError(f"{where}: the count is {text}; expected a number from 0 to 2**53")
        return value

    def _grouped(self, digits: str) -> bool:
        whole = digits.partition(self.decimal)[0]
        return bool(_GROUPED[self.thousands].fullmatch(whole))


def may_be_count(text: str) -> bool:
    """Whether a cell looks like a number of people, or a word for a hidden one.

    >>> may_be_count("unter 5"), may_be_count("1.204,5"), may_be_count("rain")
    (True, True, False)
    """
    word = text.strip().lower()
    forms = (_BELOW, _UP_TO, _RANGE)
    return word in HIDDEN_WORDS or any(form.fullmatch(word) for form in forms) or bool(_COUNT.match(word))


def _decimal(text: str) -> str:
    """The only possible decimal sign of a number; none if its marks may be of thousands."""
    last = max(text.rfind("."), text.rfind(","))
    mark = text[last]
    other = "," if mark == "." else "."
    if other in text:
        if text.count(mark) > 1:
            raise InputError(f"{text!r} is no number: it has several decimal signs")
        return mark
    return "" if _GROUPED[mark].fullmatch(text) else mark


#: One zone for each clock, tried if times imply a zone and none is given.
ZONES = (
    *("UTC", "Europe/London", "Europe/Paris", "Europe/Athens", "America/New_York", "America/Chicago"),
    *("America/Denver", "America/Los_Angeles", "Australia/Sydney", "Australia/Brisbane", "Asia/Tokyo", "Asia/Kolkata"),
)
#: The number of each weekday, by its words.
_DAYS = {word: number for number, words in enumerate(WORDS["weekdays"].values()) for word in words}
#: The Monday for days without a date.
MONDAY = datetime(2024, 1, 15)
_MONTHS = [tuple(starts) for starts in WORDS["months"]["starts"]]
_CLOCK = (
    r"(?P<hour>\d{1,2})(?:\s*(?::|h|\.)\s*(?P<minute>\d{2}))?(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s*(?:h|uhr)?"
    r"\s*(?P<half>[ap]\.?m\.?)?"
)
_UNTIL = (
    r"(?:\s*(?:-|–|to|bis|à)\s*(?:\d{1,4}[-./]\d{1,2}[-./]\d{1,4}[ T])?\d{1,2}(?:[:h.]\d{0,2})?(?::\d\d)?"
    r"\s*(?:h|uhr|[ap]m)?)?"
)
_ZONE = r"(?:\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2}))?"
_ISO = r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})"
_BY_DAY = r"(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})[-/.](?P<year>\d{4}|\d{2})"
_NAMED = r"(?P<day>\d{1,2})\.?\s+(?P<name>[^\W\d]{3,9})\.?,?\s+(?P<year>\d{4})"
_NAMED_US = r"(?P<name>[^\W\d]{3,9})\.?\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{4})"
_AFTER = rf"(?:[T ,]+(?:um |à |at )?{_CLOCK}{_UNTIL}{_ZONE})?"
_DATES = tuple(re.compile(date + _AFTER, re.I) for date in (_ISO, _BY_DAY, _NAMED, _NAMED_US))
_HOURS = re.compile(rf"h?{_CLOCK}{_UNTIL}", re.I)
_DIGITS = re.compile(r"(19|20)\d{2}(0[1-9]|1[0-2])([0-2]\d|3[01])(?:T?(\d{2})(\d{2})?)?")
_WEEKDAY = re.compile(r"(?P<name>[^\W\d]{2,9})\.?,?\s*(?P<rest>.*)", re.S)


@dataclass(frozen=True)
class Written:
    """A written time: the clock's reading, its lead on UTC if given, and the kind of time."""

    clock: datetime
    ahead: timedelta | None = None
    #: Whether a date, and an hour, are told.
    dated: bool = True
    hourly: bool = True


def read_moment(text: str, day_first: bool | None = None) -> Written | None:
    """A time, or None for another text; `day_first` decides the reading of 03/04/2024.

    >>> read_moment("31.12.2024 08:00").clock, read_moment("Dec 31, 2024 8:00 PM").clock.hour, read_moment("park")
    (datetime.datetime(2024, 12, 31, 8, 0), 20, None)
    """
    bare = " ".join(text.split())
    number = weekday(bare)
    if number is None:
        return _read(bare, day_first, 0)
    rest = _rest(bare)
    if not rest:
        return Written(MONDAY + timedelta(days=number), dated=False, hourly=False)
    return _read(rest, day_first, number) or _read(bare, day_first, 0)  # "mar" is mardi, and March


def _read(bare: str, day_first: bool | None, number: int) -> Written | None:
    """A time behind a weekday of this number."""
    if found := _DIGITS.fullmatch(bare):
        year, month, day = bare[:4], found[2], found[3]
        return _at(int(year), int(month), int(day), int(found[4] or 0), int(found[5] or 0), hourly=found[4] is not None)
    for pattern in _DATES:
        if found := pattern.fullmatch(bare):
            return _dated(found.groupdict(), day_first)
    if found := _HOURS.fullmatch(bare):
        clock = _hour(found.groupdict())
        return None if clock is None else Written(MONDAY + timedelta(days=number) + clock, dated=False)
    return None


def weekday(text: str) -> int | None:
    """The number of the weekday at the start of a text, in English, German or French; None without one.

    >>> weekday("Montag 08:00"), weekday("dim."), weekday("market")
    (0, 6, None)
    """
    found = _WEEKDAY.match(text)
    if not found:
        return None
    return _DAYS.get(found["name"].lower())


def _rest(text: str) -> str:
    found = _WEEKDAY.match(text)
    return found["rest"].strip(" ,") if found else text


def _at(year: int, month: int, day: int, hour: int = 0, minute: int = 0, *, hourly: bool) -> Written | None:
    try:
        return Written(datetime(year, month, day) + timedelta(hours=hour, minutes=minute), hourly=hourly)
    except ValueError:
        return None


def _hour(part: dict[str, str | None]) -> timedelta | None:
    hour, minute, second = (int(part.get(name) or 0) for name in ("hour", "minute", "second"))
    if half := part.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * half.lower().startswith("p")
    if hour > 24 or minute > 59 or second > 59 or (hour == 24 and (minute or second)):
        return None
    return timedelta(hours=hour, minutes=minute, seconds=second)


def _dated(part: dict[str, str | None], day_first: bool | None) -> Written | None:
    clock = _hour(part)
    if clock is None:
        return None
    month, day = part.get("month"), part.get("day")
    if part.get("one"):
        first = part["mark"] == "." or day_first
        day, month = (part["one"], part["two"]) if first else (part["two"], part["one"])
    if part.get("name"):
        name = str(part["name"]).lower()
        month = next((str(k) for k, names in enumerate(_MONTHS, 1) if name.startswith(names)), None)
    try:
        year = int(str(part["year"])) + 2000 * (len(str(part["year"])) == 2)
        date = datetime(year, int(str(month)), int(str(day)))
    except ValueError:
        return None
    return Written(date + clock, _ahead(part.get("zone")), hourly=part.get("hour") is not None)


def _ahead(zone: str | None) -> timedelta | None:
    if not zone:
        return None
    if zone[0] not in "+-":
        return timedelta(0)
    minutes = int(zone[1:3]) * 60 + int(zone[3:].strip(":") or 0)
    return timedelta(minutes=-minutes if zone[0] == "-" else minutes)


def check_form(form: object) -> None:
    """Refuse a word other than these two."""
    if not is_word(form, (DAY_FIRST, MONTH_FIRST)):
        raise InputError(f"time_format is {shown(form)}; expected {DAY_FIRST!r} or {MONTH_FIRST!r}")


def day_order(texts: Sequence[str], form: str | None, words: bool) -> bool | None:
    """Whether dates with slashes begin with the day; `words` marks a German or French header.

    None without slashes. Ambiguous dates are refused, unless `form` decides.
    """
    if form is not None:
        return form == DAY_FIRST
    pairs = [(int(x[1]), int(x[2])) for text in texts if (x := re.search(r"\b(\d{1,2})[-/](\d{1,2})[-/]\d{2,4}", text))]
    if not pairs:
        return None
    first, second = max(a for a, _ in pairs) > 12, max(b for _, b in pairs) > 12
    if first and second:
        raise InputError("dates begin with the day in some rows, and with the month in others; write all alike")
    if first or second or words:
        return first or not second
    raise InputError(
        f"dates such as {texts[0]!r} can be read in two ways: give time_format='day-first' or "
        "time_format='month-first' (on the command line, --time-format)"
    )


def zone_of(times: Sequence[Written], twice: Sequence[datetime], timezone: str | None) -> tuple[str, str]:
    """The time zone of a table, and remarks on it: the given zone, or the first in agreement with its times.

    `twice` are clock times written twice for one place.
    """
    if timezone is not None:
        return timezone, ""
    told = {(each.clock - each.ahead, each.ahead) for each in times if each.ahead is not None}
    if told:
        for name in ZONES:
            if all(at.replace(tzinfo=UTC).astimezone(ZoneInfo(name)).utcoffset() == ahead for at, ahead in told):
                said = f"The clock is taken for that of {name}, with which all times agree."
                return name, said * (name != "UTC")
        raise InputError(
            "times name offsets from UTC that no usual clock has; give the time zone, as in timezone='Europe/Paris' "
            "(on the command line, --timezone)"
        )
    if twice:
        for name in ZONES:
            if all(is_twice(at, name) for at in twice):
                return name, (
                    f"{twice[0]:%Y-%m-%d %H:%M} comes twice, as where clocks are set back: the clock is taken for "
                    f"that of {name}."
                )
    return "UTC", ""


def is_twice(clock: datetime, timezone: str) -> bool:
    """Whether clocks of a zone show this time twice."""
    local = clock.replace(tzinfo=ZoneInfo(timezone))
    return local.utcoffset() != local.replace(fold=1).utcoffset() and not is_never(clock, timezone)


def is_never(clock: datetime, timezone: str) -> bool:
    """Whether clocks of a zone never show this time: they are set forward past it."""
    local = clock.replace(tzinfo=ZoneInfo(timezone))
    return local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != clock


def usual_gap(instants: Sequence[datetime]) -> timedelta | None:
    """The most frequent time from one instant to the next; the shorter of several; None for a single one."""
    gaps = Counter(after - before for before, after in pairwise(instants))
    return min(gaps, key=lambda gap: (-gaps[gap], gap)) if gaps else None
