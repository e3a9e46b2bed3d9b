"""Time cut into steps: lengths such as `20d`, instants such as `2012-04-03`, and the window of each step."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_word

from .times import parse_times

_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST = timedelta(days=36_525)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)

FIRST_VISIT = "first-visit"
"""The origin of the paper's steps: the very instant of the first visit."""
AUTO = "auto"
"""The step length fitting the visits."""
USUAL = ("20d", "1w", "1d", "6h", "1h", "15m")
"""Usual lengths of steps, the longest first."""
_CYCLES = {"hour": (timedelta(days=1), 2), "weekday": (timedelta(days=7), 2), "workday": (timedelta(days=7), 1)}
"""Cycles of habits, by the word for their rhythm, and the number of cycles needed."""


def parse_length(length: str | timedelta, what: str = "length", instead: str = "") -> timedelta:
    """A length of time such as "20d", "1h", "30m", "1w", "90s" or "1d12h"; `what` is its meaning in errors.

    >>> parse_length("1d12h")
    datetime.timedelta(days=1, seconds=43200)
    """
    if isinstance(length, timedelta):
        total = length
    elif isinstance(length, str) and re.fullmatch(r"(\d{1,9}[wdhms])+", length.replace(" ", "")):
        parts = re.findall(r"(\d+)([wdhms])", length.replace(" ", ""))
        seconds = sum(_SECONDS[unit] * int(number) for number, unit in parts)
        total = timedelta(seconds=min(seconds, 10**12))
    else:
        raise InputError(
            f"{what} is {length!r}, which is no length of time; write a number and a unit (w, d, h, m, s), as in '20d' "
            f"or '30m'{f', or {instead!r}' if instead else ''}"
        )
    if total < timedelta(seconds=1):
        raise InputError(f"{what} is {length!r}, which is too short; the shortest is '1s'")
    if total > _LONGEST:
        raise InputError(f"{what} is {length!r}, which is too long; the longest is a century, '{_LONGEST.days}d'")
    return total


def parse_instant(instant: str | datetime, what: str, timezone: str = "UTC") -> datetime:
    """An instant as a datetime in UTC; without a zone of its own, it is read in `timezone`."""
    if isinstance(instant, str):
        parsed = parse_times(pl.Series([instant]), timezone)[0] if instant.isprintable() else None
        if parsed is None:
            raise InputError(
                f"{what} is {instant!r}, which is no time; write it as '2012-04-03' or '2012-04-03T18:00Z'"
            )
        return datetime.fromisoformat(parsed.isoformat()).astimezone(UTC)
    if not isinstance(instant, datetime):
        raise InputError(f"{what} is {instant!r}; give a datetime or a string such as '2012-04-03'")
    return instant.replace(tzinfo=ZoneInfo(timezone)).astimezone(UTC) if instant.tzinfo is None else instant


def on_the_clock(instant: datetime, timezone: str) -> datetime:
    """The time shown by the clocks of a time zone at an instant, without the zone."""
    return instant.astimezone(ZoneInfo(timezone)).replace(tzinfo=None)


def clock_times(times: pl.Series, timezone: str) -> pl.Series:
    """The same for a column of times in UTC."""
    return times.dt.convert_time_zone(timezone).dt.replace_time_zone(None)


def written(length: timedelta) -> str:
    """A length of time as `parse_length` reads it.

    >>> written(timedelta(days=1, hours=12)), written(timedelta(weeks=1))
    ('1d12h', '7d')
    """
    seconds, out = int(length.total_seconds()), ""
    for unit, size in list(_SECONDS.items())[1:]:
        out += f"{seconds // size}{unit}" if seconds >= size else ""
        seconds %= size
    return out


@dataclass(frozen=True)
class Times:
    """Facts on times by the clock for steps: the first, the last, their number, and the open parts of steps.

    `left(stop, size)` tells how long before its end each step but the last is covered, for steps of `size` up to
    `stop`, both in microseconds (since 1970).
    """

    first: datetime | None
    last: datetime | None
    count: int
    left: Callable[[int, int], Mapping[int, int]]

    @classmethod
    def of(cls, times: pl.Series) -> "Times":
        """The facts on a column."""
        first, last = times.min(), times.max()
        if not isinstance(first, datetime) or not isinstance(last, datetime):
            first = last = None
        return cls(first, last, len(times), lambda stop, size: open_ends(times, stop, size))

    @property
    def ends(self) -> tuple[datetime, datetime]:
        """The first and the last of them; refused if there is none."""
        if self.first is None or self.last is None:
            raise InputError("there are no visits to cut into steps")
        return self.first, self.last


def open_ends(times: pl.Series, stop: int, size: int) -> dict[int, int]:
    """How long before its end each step (numbered from the last one backwards) is covered by the times in it."""
    before = pl.DataFrame({"left": stop - times.to_physical()}).filter(pl.col("left") > size)
    found = before.group_by(step=(pl.col("left") - 1) // size).agg(((pl.col("left") - 1) % size + 1).min())
    return dict(zip(found["step"].to_list(), found["left"].to_list(), strict=True))


def fitting_length(times: Times, steps: int, rhythm: str = "none") -> timedelta | None:
    """The longest usual step with at least so many in the span of the times; None if none is short enough.

    With a rhythm, only parts of a day or a week filling it evenly, with two such cycles in the span. A rhythm telling
    workdays from weekends needs one week only.

    >>> fitting_length(Times.of(pl.Series([datetime(2024, 1, 1), datetime(2024, 1, 9)])), 20)
    datetime.timedelta(seconds=21600)
    """
    first, last = times.ends
    cycle, often = _CYCLES.get(rhythm, (None, 0))
    for length in map(parse_length, USUAL):
        even = cycle is None or (cycle % length == timedelta(0) and cycle // length > 1)
        wanted = max(steps, often * (cycle // length) if cycle else 0)
        if even and (last - first) // length >= wanted:
            return length
    return None


def step_length(times: Times, holdout: int, min_active: int, rhythm: str = "none") -> timedelta:
    """A step fitting the times (by the clock), with enough steps both for habits and for the steps to find.

    Habits want many times as many steps as are to be found, and people are to be seen in a good part of all. The aim is
    four times `holdout` and twice `min_active` if the span allows, or else the fewest possible.
    """
    least = max(holdout + 3, min_active + 1)
    length = fitting_length(times, max(4 * holdout, 2 * min_active, least), rhythm)
    length = length or fitting_length(times, least, rhythm)
    if length is None:
        raise InputError(
            f"the visits reach from {times.first!s} to {times.last!s}, too short a time for {least} steps of "
            f"{USUAL[-1]}, which holdout={holdout} and min_active={min_active} need; give shorter steps, as in "
            "window='1m', or lower these"
        )
    return length


@dataclass(frozen=True)
class Steps:
    """Windows of equal length side by side: step t covers [origin + t·length, origin + (t+1)·length).

    The origin is a time on the clocks of the time zone. On the day of a change of clocks a step is an hour longer or
    shorter than the others: people live by the clock.
    """

    origin: datetime
    length: timedelta
    count: int
    timezone: str = "UTC"
    partial: bool = False
    """Whether a last step was left out because the times cover only a part of it."""

    @classmethod
    def covering(
        cls,
        times: pl.Series | Times,
        length: str | timedelta,
        origin: str | datetime | None,
        end: str | datetime | None,
        timezone: str = "UTC",
        until: datetime | None = None,
    ) -> "Steps":
        """The steps from the origin through the last of the times (clock times), or up to the end.

        Without an origin, steps begin when the clock strikes: at midnight, and every `length` from there if a day holds
        a whole number of them. Weeks begin on Mondays. With "first-visit", they begin at the very first time. A last
        step covered only in part by the times is left out, unless an end is given, or "first-visit". Times chosen
        `until` an instant cover the steps before it, however late the last one is.
        """
        size = parse_length(length, "window", AUTO)
        times = times if isinstance(times, Times) else Times.of(times)
        first, last = times.ends
        if origin is None:
            start = aligned(first, size)
        elif is_word(origin, (FIRST_VISIT,)):
            start = first
        else:
            start = on_the_clock(parse_instant(origin, "origin", timezone), timezone)
        if end is not None:
            stop = on_the_clock(parse_instant(end, "end", timezone), timezone)
            count = -((start - stop) // size)  # rounded up: the last step may reach beyond
            if count < 1:
                raise InputError(f"end is {end}, not later than the first step begins, {start}; choose a later one")
            return cls(start, size, count, timezone)
        count = (last - start) // size + 1
        if count < 1:
            raise InputError(f"origin is {start}, later than the last visit ({last}); choose an earlier one")
        stop = start + count * size
        covered = until is not None and stop <= on_the_clock(until, timezone)
        short = origin != FIRST_VISIT and count > 1 and not covered and _ends_early(stop, times, size)
        return cls(start, size, count - 1 if short else count, timezone, short)

    @property
    def starts(self) -> NDArray[np.datetime64]:
        """When each step begins, by the clock of the time zone (T,)."""
        return np.datetime64(self.origin, "us") + np.arange(self.count) * np.timedelta64(self.length // _MICROSECOND)

    def of(self, column: str) -> pl.Expr:
        """The step of each clock time in a column, below 0 or at least `count` if it lies outside."""
        since = pl.col(column).to_physical() - (self.origin - datetime(1970, 1, 1)) // _MICROSECOND
        return (since // (self.length // _MICROSECOND)).cast(pl.Int64)


def aligned(first: datetime, length: timedelta) -> datetime:
    """The last stroke of the clock before `first`: steps of this length from there on begin at round times.

    >>> aligned(datetime(2024, 5, 8, 13, 40), timedelta(hours=6))
    datetime.datetime(2024, 5, 8, 12, 0)
    >>> aligned(datetime(2024, 5, 8, 13, 40), timedelta(days=7))
    datetime.datetime(2024, 5, 6, 0, 0)
    """
    midnight = datetime(first.year, first.month, first.day)
    if length < _DAY:
        return midnight if _DAY % length else first - (first - midnight) % length
    return midnight - timedelta(days=midnight.weekday()) if length % (7 * _DAY) == timedelta(0) else midnight


def _ends_early(end: datetime, times: Times, length: timedelta) -> bool:
    """Whether the times end long before the last step does, compared with the step, how dense they are, and the others.

    If people are recorded every other hour, no step is covered to its very end: half of the steps before it are to be
    covered further than the last.
    """
    first, last = times.ends
    usual = (last - first) / max(1, times.count - 1)
    if end - last <= max(length / 10, 10 * usual):
        return False
    size, stop = length // _MICROSECOND, (end - datetime(1970, 1, 1)) // _MICROSECOND
    lefts = [*times.left(stop, size).values()]
    return not lefts or (end - last) // _MICROSECOND - median(lefts) > size / 10


def names_of_steps(starts: NDArray[np.datetime64]) -> list[str]:
    """When each of some steps begins, as short as tells them apart.

    >>> names_of_steps(np.array(["2024-01-10T08:00", "2024-01-10T09:00"], dtype="datetime64[us]"))
    ['08:00', '09:00']
    """
    moments: list[datetime] = [start.astype("datetime64[us]").item() for start in starts]
    if all(start.hour == start.minute == 0 for start in moments):
        return [f"{start:%Y-%m-%d}" for start in moments]
    same_day = len({start.date() for start in moments}) == 1
    return [f"{start:%H:%M}" if same_day else f"{start:%Y-%m-%d %H:%M}" for start in moments]
