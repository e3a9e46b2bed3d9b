"""A week in words, as chances of places: at each minute of it, and on average over each step.

The clock is the local one. An entry such as `Fri 22:00-06:00` runs past midnight, and belongs to the day it begins on.
Chances of several entries at the same time add up; the rest of one is spread as at all other times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_number, shown

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LONG = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DAY, WEEK = 24 * 60, 7 * 24 * 60
#: Minutes from Monday 1970-01-05 on are minutes of weeks; 1970 began on a Thursday.
_MONDAY = 4 * DAY
_WHEN = re.compile(r"(?P<days>[^\d]*?)\s*(?:(?P<begin>\d{1,2}:\d\d)\s*[-–]\s*(?P<end>\d{1,2}:\d\d))?")
#: Chances may exceed one by rounding.
ROUNDING = 1e-9
HOW = 'expected days, hours or both, as in "Mon-Fri 07:00-15:00", "Sat,Sun" or "22:00-06:00"'


@dataclass(frozen=True)
class Habit:
    """A place with its times and chance: minutes from the beginning of each of some days, up to two days on."""

    days: tuple[int, ...]
    begin: int
    end: int
    place: str
    chance: float

    @classmethod
    def read(cls, row: object, where: str) -> Habit:
        """From a row: time, place, chance.

        >>> Habit.read(["Fri-Sun 22:00-06:00", "club", 0.5], "week")
        Habit(days=(4, 5, 6), begin=1320, end=1800, place='club', chance=0.5)
        """
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 3:
            raise InputError(
                f'{where}: expected [when, where, how likely], as in ["Sat", "park", 0.4]; got {shown(row)}'
            )
        when, place, chance = row
        if not isinstance(when, str) or not (found := _WHEN.fullmatch(when.strip())) or not when.strip():
            raise InputError(f"{where}: {shown(when)} says no time; {HOW}")
        check_place(place, where)
        check_chance(chance, f"{where}: the chance of {place!r}")
        begin, end = (0, DAY) if found["begin"] is None else (_minute(found[x], where) for x in ("begin", "end"))
        if begin in (DAY, end):
            raise InputError(f"{where}: {when!r} has no length; for a whole day write 00:00-24:00, or the day alone")
        return cls(_days(found["days"], where), begin, end if end > begin else end + DAY, place, float(chance))

    @property
    def minutes(self) -> NDArray[np.bool_]:
        """The minutes of the week in this entry (10080,)."""
        out = np.zeros(WEEK, dtype=bool)
        for day in self.days:
            out[np.arange(day * DAY + self.begin, day * DAY + self.end) % WEEK] = True
        return out


def check_place(place: object, where: str) -> None:
    """Refuse an impossible name of a place."""
    if not isinstance(place, str) or not place.strip() or not place.isprintable():
        raise InputError(f"{where}: {shown(place)} is no name of a place; expected one such as 'clinic', or '*'")


def check_chance(chance: object, what: str) -> None:
    """Refuse anything but a chance above 0."""
    if not is_number(chance) or not 0 < chance <= 1:
        raise InputError(f"{what} is {shown(chance)}; expected a number above 0, and 1 at most")


def _minute(text: str, where: str) -> int:
    hour, minute = map(int, text.split(":"))
    if minute > 59 or hour * 60 + minute > DAY:
        raise InputError(f"{where}: {text!r} is no time of day; expected 00:00 to 24:00")
    return hour * 60 + minute


def _days(text: str, where: str) -> tuple[int, ...]:
    """The days of a list of days and ranges; all of them if none is named."""
    if text.strip().lower() in ("", "daily", "every day"):
        return tuple(range(7))
    out: set[int] = set()
    for part in text.split(","):
        ends = [_day(word, where) for word in re.split(r"[-–]", part)]
        if len(ends) > 2:
            raise InputError(f"{where}: {part.strip()!r} is no range of days; {HOW}")
        out |= {day % 7 for day in range(ends[0], ends[-1] + (7 if ends[-1] < ends[0] else 0) + 1)}
    return tuple(sorted(out))


def _day(word: str, where: str) -> int:
    name = word.strip().lower()
    number = next((k for k, day in enumerate(DAYS) if name[:3] == day.lower()), None)
    if number is None or not LONG[number].startswith(name):
        raise InputError(f"{where}: {word.strip()!r} is no day; expected {', '.join(DAYS)}")
    return number


def chances(week: Sequence[Habit], otherwise: Mapping[str, float], places: Sequence[str], who: str) -> Floats:
    """How likely somebody is at each of some places at each minute of a week (10080, places).

    >>> found = chances([Habit.read(["Mon 08:00-09:00", "work", 0.5], "")], {"home": 1.0}, ["home", "work"], "ann")
    >>> found[[479, 480]].tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    out = np.zeros((WEEK, len(places)))
    for entry in week:
        out[entry.minutes, places.index(entry.place)] += entry.chance
    taken = out.sum(axis=1)
    full = np.flatnonzero(taken > 1 + ROUNDING)
    if len(full):
        first = int(full[0])
        both = " and ".join(dict.fromkeys(repr(entry.place) for entry in week if entry.minutes[first]))
        day, clock = DAYS[first // DAY], f"{first % DAY // 60:02}:{first % 60:02}"
        raise InputError(
            f"{who}: the week contradicts itself: on {day} at {clock} the chances of {both} add up to "
            f"{taken[first]:g}, and nobody is at two places at once; lower them, or change the hours"
        )
    left = np.maximum(0.0, 1 - taken)
    for place, chance in otherwise.items():
        out[:, places.index(place)] += left * chance
    return np.asarray(out / out.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Calendar:
    """Calendar in minutes since 1970, from each of `begins` to before the same of `ends` (T,), and the local clock."""

    begins: Ints
    ends: Ints
    timezone: str

    @classmethod
    def regular(cls, start: datetime, step: timedelta, steps: int, timezone: str) -> Calendar:
        """A calendar of steps of the same length, one after another; whole days are days of the local calendar."""
        minute = timedelta(minutes=1)
        if step % minute or start.second or start.microsecond:
            raise InputError(f"step: weeks are told by the minute, and a step of {step} from {start} is not")
        if datetime.max.replace(tzinfo=UTC) - timedelta(days=400) - step * steps < start:
            raise InputError(f"steps: {steps:,} steps of {step} from {start:%Y-%m-%d} on end after the last year")
        if step % timedelta(days=1):
            edges = minutes_of(start) + np.arange(steps + 1) * (step // minute)
        else:
            zone = ZoneInfo(timezone)
            clock = start.astimezone(zone).replace(tzinfo=None)
            local = [clock + number * step for number in range(steps + 1)]
            edges = np.array([minutes_of(each.replace(tzinfo=zone)) for each in local])
        return cls(edges[:-1], edges[1:], timezone)

    @property
    def hours(self) -> Floats:
        """From the beginning of each step to the beginning of the next, in hours (T-1,)."""
        return np.diff(self.begins) / 60

    def average(self, minutely: Floats) -> Floats:
        """Chances by the minute of the week (10080, places) on average over each step (T, places)."""
        sums = np.vstack([np.zeros(minutely.shape[1]), minutely.cumsum(axis=0)])

        def until(minute: Ints) -> Floats:
            whole, part = np.divmod(minute - _MONDAY, WEEK)
            return np.asarray(whole[:, None] * sums[-1] + sums[part])

        first, last = self._ahead(self.begins), self._ahead(self.ends - 1)
        total = until(self.ends + last) - until(self.begins + first)
        changed = np.flatnonzero(first != last)
        for t in changed.tolist():  # the clock is changed within the step: each part has its own
            cut = self._change(int(self.begins[t]), int(self.ends[t]) - 1)
            parts = [(int(self.begins[t]), cut, first[t]), (cut, int(self.ends[t]), last[t])]
            total[t] = sum(until(np.array([b + ahead]))[0] - until(np.array([a + ahead]))[0] for a, b, ahead in parts)
        total = np.maximum(total, 0.0)
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def _ahead(self, minutes: Ints) -> Ints:
        """By how many minutes the local clock is ahead of UTC at each of some minutes."""
        return np.array([_offset(minute, ZoneInfo(self.timezone)) for minute in minutes.tolist()], dtype=np.int64)

    def _change(self, first: int, last: int) -> int:
        """The first minute of a step with the clock offset of its end."""
        zone = ZoneInfo(self.timezone)
        new = _offset(last, zone)
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if _offset(middle, zone) == new else (middle, last)
        return last


def minutes_of(instant: datetime) -> int:
    """Minutes since 1970."""
    return int((instant.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(minutes=1))


def _offset(minute: int, zone: ZoneInfo) -> int:
    if zone.key == "UTC":
        return 0
    ahead = datetime.fromtimestamp(minute * 60, zone).utcoffset()
    return int(ahead.total_seconds() // 60) if ahead else 0
