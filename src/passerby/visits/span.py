"""The instants between which visits count, and times far from all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from passerby.errors import InputError

from .delimited import Batch
from .times import EARLIEST, LATEST

#: A time may lie as far outside the range of nearly everybody as this range is long. On either side this share of the
#: times, and so many at the least, are not asked: they may be the stray ones.
FAR = 1.0
TRIMMED, FEWEST_TRIMMED = 0.001, 3
#: Fewer visits than this do not show the range of the rest.
FEWEST = 50
#: The most rows named by a message.
EXAMPLES = 3


@dataclass(frozen=True)
class Span:
    """Visits count from `since` (included) to `until` (not included), if these are given, in UTC.

    If neither is, times far from nearly all others are refused, and times before 1900 or from 2100 on. One row dated
    1970 would stretch the steps over decades with nobody anywhere, and everybody would be found.
    """

    since: datetime | None = None
    until: datetime | None = None

    def holds(self, times: pl.Series) -> pl.Series:
        """Whether each time lies inside."""
        inside = times.is_not_null()
        if self.since is not None:
            inside &= times >= self.since
        if self.until is not None:
            inside &= times < self.until
        return inside

    def strays(self, times: pl.Series) -> pl.Series:
        """Whether each time lies in years without any counts of people, on an open side."""
        at = times.to_physical()
        early, late = (at < EARLIEST) & (self.since is None), (at >= LATEST) & (self.until is None)
        return early | late

    def check(self, parts: Sequence[pl.DataFrame], batches: Sequence[Batch], source: str) -> None:
        """Refuse visits far from nearly all others, on an open side."""
        times = pl.concat([part["time"] for part in parts]).to_physical().to_numpy()
        if len(times) < FEWEST:
            return
        low, high = common_span(times)
        first, last = self.limits(low, high)
        stray = int(((times < first) | (times > last)).sum())
        if not stray:
            return
        where: list[str] = []
        for part, batch in zip(parts, batches, strict=True):
            where += named(part, batch, first, last, EXAMPLES - len(where))
        raise far_away(source, stray, len(times), low, high, where)

    def limits(self, low: int, high: int) -> tuple[float, float]:
        """The limits for visits if nearly all lie from `low` to `high`, in microseconds since 1970."""
        reach = FAR * (high - low)
        first = -np.inf if self.since is not None else low - reach
        return first, np.inf if self.until is not None else high + reach


def named(part: pl.DataFrame, batch: Batch, first: float, last: float, most: int = EXAMPLES) -> list[str]:
    """The position and the day of some visits of a batch before the first time or after the last."""
    at = part["time"].to_physical()
    rows = part.filter((at < first) | (at > last)).head(most)
    return [f"{line} ({time:%Y-%m-%d})" for line, time in zip(batch.where(rows["row"]), rows["time"], strict=True)]


def far_away(source: str, stray: int, visits: int, low: int, high: int, where: Sequence[str]) -> InputError:
    """The error for some visits far from all others."""
    return InputError(
        f"{source}: {stray:,} of {visits:,} visits lie far from all others, which reach from "
        f"{_day(low)} to {_day(high)}: {', '.join(where)}{' ...' if stray > len(where) else ''}; correct or remove "
        f"them, or say which visits count, as in since='{_day(low)}' and until='{_day(high + 86_400_000_000)}'"
    )


def trimmed(visits: int) -> int:
    """How many times are not asked on either side."""
    return min(max(FEWEST_TRIMMED, int(TRIMMED * visits)), visits // 4)


def common_span(times: np.ndarray) -> tuple[int, int]:
    """The first and the last of nearly all times, in microseconds since 1970."""
    first = trimmed(len(times))
    ends = np.partition(times, (first, len(times) - 1 - first))
    return int(ends[first]), int(ends[len(times) - 1 - first])


def _day(micros: int) -> str:
    return str(np.datetime64(micros, "us").astype("datetime64[D]"))
