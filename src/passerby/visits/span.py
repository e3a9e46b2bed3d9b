"""Between which instants visits count, and times that lie far from all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from passerby.errors import InputError

from .delimited import Batch

#: A time may lie as far outside of those of nearly everybody as these reach apart. On either side this share of the
#: times, and so many at the least, are not asked: they may be the stray ones.
FAR = 1.0
TRIMMED, FEWEST_TRIMMED = 0.001, 3
#: Fewer visits than this do not tell where the rest belongs.
FEWEST = 50
_EXAMPLES = 3


@dataclass(frozen=True)
class Span:
    """Visits count from `since` (included) to `until` (not included), where these are given, in UTC.

    Where neither is, times far from nearly all others are refused: one row dated 1970 would stretch the steps over
    decades in which nobody is anywhere, and everybody would be found.
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

    def check(self, parts: Sequence[pl.DataFrame], batches: Sequence[Batch], source: str) -> None:
        """Refuse visits that lie far from nearly all others, on a side that is open."""
        times = pl.concat([part["time"] for part in parts]).to_physical().to_numpy()
        if len(times) < FEWEST:
            return
        low, high = common_span(times)
        reach = FAR * (high - low)
        first = -np.inf if self.since is not None else low - reach
        last = np.inf if self.until is not None else high + reach
        stray = int(((times < first) | (times > last)).sum())
        if not stray:
            return
        where: list[str] = []
        for part, batch in zip(parts, batches, strict=True):
            at = part["time"].to_physical()
            rows = part.filter((at < first) | (at > last)).head(_EXAMPLES - len(where))
            named = batch.where(rows["row"].to_list())
            where += [f"{line} ({time:%Y-%m-%d})" for line, time in zip(named, rows["time"], strict=True)]
        raise InputError(
            f"{source}: {stray:,} of {len(times):,} visits lie far from all others, which reach from "
            f"{_day(low)} to {_day(high)}: {', '.join(where)}{' ...' if stray > len(where) else ''}; correct or remove "
            f"them, or say which visits count, as in since='{_day(low)}' and until='{_day(high + 86_400_000_000)}'"
        )


def common_span(times: np.ndarray) -> tuple[int, int]:
    """The first and the last of nearly all times, in microseconds since 1970."""
    trimmed = min(max(FEWEST_TRIMMED, int(TRIMMED * len(times))), len(times) // 4)
    ends = np.partition(times, (trimmed, len(times) - 1 - trimmed))
    return int(ends[trimmed]), int(ends[len(times) - 1 - trimmed])


def _day(micros: int) -> str:
    return str(np.datetime64(micros, "us").astype("datetime64[D]"))
