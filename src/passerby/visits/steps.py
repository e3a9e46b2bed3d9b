"""Time cut into steps: lengths such as `20d`, instants such as `2012-04-03`, and the window of each step."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError

from .times import parse_times

_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_LONGEST = timedelta(days=36_525)
_MICROSECOND = timedelta(microseconds=1)


def parse_length(length: str | timedelta) -> timedelta:
    """A length of time such as "20d", "1h", "30m", "1w", "90s" or "1d12h".

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
            f"a length of time cannot be {length!r}; write a number and a unit (w, d, h, m, s), as in '20d' or '30m'"
        )
    if total < timedelta(seconds=1):
        raise InputError(f"a step cannot last {length!r}; the shortest is '1s'")
    if total > _LONGEST:
        raise InputError(f"a step cannot last {length!r}; the longest is a century, '{_LONGEST.days}d'")
    return total


def parse_instant(instant: str | datetime, what: str) -> datetime:
    """An instant as a datetime in UTC, which is also taken for the zone where none is given."""
    if isinstance(instant, str):
        parsed = parse_times(pl.Series([instant]))[0]
        if parsed is None:
            raise InputError(
                f"{what} is {instant!r}, which is no time; write it as '2012-04-03' or '2012-04-03T18:00Z'"
            )
        return datetime.fromisoformat(parsed.isoformat()).astimezone(UTC)
    if not isinstance(instant, datetime):
        raise InputError(f"{what} is {instant!r}; give a datetime or a string such as '2012-04-03'")
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


@dataclass(frozen=True)
class Steps:
    """Windows of equal length side by side: step t covers [origin + t·length, origin + (t+1)·length)."""

    origin: datetime
    length: timedelta
    count: int

    @classmethod
    def covering(
        cls, times: pl.Series, length: str | timedelta, origin: str | datetime | None, end: str | datetime | None
    ) -> "Steps":
        """The steps from the origin (the first time, unless given) through the last time or up to the end."""
        size = parse_length(length)
        first, last = times.min(), times.max()
        if not isinstance(first, datetime) or not isinstance(last, datetime):
            raise InputError("there are no visits to cut into steps")
        start = first.astimezone(UTC) if origin is None else parse_instant(origin, "origin")
        if end is None:
            count = (last - start) // size + 1
            if count < 1:
                raise InputError(f"origin {start} is later than the last visit ({last}); choose an earlier one")
        else:
            count = -((start - parse_instant(end, "end")) // size)  # rounded up: the last step may reach beyond
            if count < 1:
                raise InputError(f"end {end} is not later than origin {start}; choose a later one")
        return cls(start, size, count)

    @property
    def starts(self) -> NDArray[np.datetime64]:
        """When each step begins, in UTC (T,)."""
        first = np.datetime64(self.origin.replace(tzinfo=None), "us")
        return first + np.arange(self.count) * np.timedelta64(self.length // _MICROSECOND, "us")

    def of(self, column: str) -> pl.Expr:
        """The step of each time in a column, below 0 or at least `count` where it lies outside."""
        since = pl.col(column).to_physical() - (self.origin - datetime(1970, 1, 1, tzinfo=UTC)) // _MICROSECOND
        return (since // (self.length // _MICROSECOND)).cast(pl.Int64)
