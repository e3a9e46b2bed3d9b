"""All visits, in memory or on disk, in blocks of people, and the span of time over all of them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial

import polars as pl

from passerby.errors import InputError
from passerby.support.blocks import Blocks
from passerby.support.checks import is_word, whole

from .steps import AUTO, FIRST_VISIT, USUAL, Times, clock_times, on_the_clock, open_ends, parse_instant, step_length
from .table import Visits


@dataclass(frozen=True)
class AllVisits:
    """All visits, in blocks of people: the zone of their clock, and until when they count."""

    blocks: Blocks[Visits]
    timezone: str = "UTC"
    until: datetime | None = None

    @classmethod
    def of(cls, visits: "Visits | AllVisits") -> "AllVisits":
        """Visits in memory, as one block; or existing blocks."""
        if isinstance(visits, AllVisits):
            return visits
        if not isinstance(visits, Visits):
            raise InputError(f"visits is a {type(visits).__name__}; expected what read_visits returns")
        return cls(Blocks.here(visits), visits.timezone, visits.until)

    @cached_property
    def all_times(self) -> Times:
        """All of their times by the clock: to know them, all blocks are read."""
        return self._times(None, None)

    def times(self, origin: str | datetime | None = None, end: str | datetime | None = None) -> Times:
        """Their times by the clock, between origin and end."""
        zone = self.timezone
        first = None if origin in (None, FIRST_VISIT) else on_the_clock(parse_instant(origin, "origin", zone), zone)
        last = None if end is None else on_the_clock(parse_instant(end, "end", zone), zone)
        return self.all_times if first is last is None else self._times(first, last)

    def _times(self, first: datetime | None, last: datetime | None) -> Times:
        starts, stops, counts = zip(*self.blocks.map(_ends, (first, last)), strict=True)
        ends = (start for start in starts if start is not None), (stop for stop in stops if stop is not None)
        left = partial(_left, self.blocks)
        return Times(min(ends[0], default=None), max(ends[1], default=None), sum(counts), left)


def clock(visits: Visits) -> pl.Series:
    """The times of visits, by the clock."""
    return clock_times(visits.table["time"], visits.timezone)


def _ends(
    between: tuple[datetime | None, datetime | None], visits: Visits
) -> tuple[datetime | None, datetime | None, int]:
    """The first and the last time, and how many there are."""
    times, (first, last) = clock(visits), between
    if first is not None:
        times = times.filter(times >= first)
    if last is not None:
        times = times.filter(times < last)
    found = Times.of(times)
    return found.first, found.last, found.count


def _left(blocks: Blocks[Visits], stop: int, size: int) -> dict[int, int]:
    """The opening of each step, over all blocks."""
    out: dict[int, int] = {}
    for found in blocks.map(_open, (stop, size)):
        for step, left in found.items():
            out[step] = min(left, out.get(step, left))
    return out


def _open(cut: tuple[int, int], visits: Visits) -> dict[int, int]:
    return open_ends(clock(visits), *cut)


def chosen_window(
    visits: Visits | AllVisits,
    window: str | timedelta,
    *,
    holdout: int = 0,
    min_active: int = 0,
    rhythm: str = "none",
    origin: str | datetime | None = None,
    end: str | datetime | None = None,
) -> str | timedelta:
    """The length of a step: as given, or for "auto" the length fitting the visits between origin and end."""
    if not is_word(window, (AUTO,)):
        return window
    times = AllVisits.of(visits).times(origin, end)
    least = whole(min_active, "min_active")
    # Without visits between them, the message about origin and end comes with any length.
    return step_length(times, whole(holdout, "holdout"), least, rhythm) if times.count else USUAL[0]
