"""The record of all readers, by codes for people, times and places; and rows equal to others.

Nobody is at two places at one time. If rows say so of many people, times were cut, to days, hours or minutes. Equal
rows are then visits of their own, and their number shows a person's main place. If times are as they were taken, equal
rows repeat each other, and one of them is kept.

Traces: one place per person and step; and the people and visits left out on the way to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

TIME = pl.Datetime("us", "UTC")


@dataclass(frozen=True)
class Skipped:
    """How many rows were read, and how many of them were left out and why.

    Each row is counted once: a row whose time cannot be read is not looked at further.

    >>> Skipped(rows=10, times=1, duplicates=2).kept
    7
    """

    rows: int = 0
    """Rows read; blank lines are no rows."""
    times: int = 0
    """Rows whose time is missing or cannot be read."""
    missing: int = 0
    """Rows without a person or without a place."""
    coordinates: int = 0
    """Rows whose latitude or longitude is no number or out of range."""
    duplicates: int = 0
    """Rows repeating the person, time and place of another row."""
    outside: int = 0
    """Rows before `since` or from `until` on, if these were given."""

    @property
    def kept(self) -> int:
        """Rows kept as visits."""
        return self.rows - self.times - self.missing - self.coordinates - self.duplicates - self.outside


@dataclass(frozen=True, eq=False, repr=False)
class Visits:
    """People, times and places: one row per visit, people and places as codes.

    Codes follow the sorted names, so they do not depend on the order of the rows read.
    """

    table: pl.DataFrame
    """Columns `person` (UInt32), `time` (Datetime in microseconds, UTC), `place` (UInt32); in no promised order."""
    people: pl.Series
    """The ids as they were read, whole numbers or strings, sorted; a person's code is the index."""
    places: pl.Series
    """The names as strings, sorted; a place's code is the index."""
    skipped: Skipped = Skipped()
    """Numbers of rows left out."""
    timezone: str = "UTC"
    """The zone of times without one, and of the clock at which steps begin."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The column taken for each of person, time and place (or latitude and longitude)."""
    until: datetime | None = None
    """The end of counted visits, if given: a step ending by then is covered to its end."""
    remarks: tuple[str, ...] = ()
    """Remarks for a reader, such as a second possible column."""
    cut: bool = False
    """Whether times are cut, as dates are, so equal rows are visits of their own."""

    def __len__(self) -> int:
        """The number of visits."""
        return self.table.height

    def __repr__(self) -> str:
        # Sizes only: ids of people must not reach logs or tracebacks.
        return f"Visits(rows={len(self)}, people={len(self.people)}, places={len(self.places)})"


#: Times are cut if so large a share of a person's times with equal rows has other places too.
SPLIT = 0.01

#: A message for equal rows as visits of their own.
CUT = (
    "Times are cut, as dates without a time of day are: people are at several places at one time, and equal rows are "
    "taken for visits of their own. The place of a step is the one with most rows. Which of two places came first is "
    "not known."
)


@dataclass(frozen=True)
class Repeats:
    """How many rows are left out if equal ones are, and at how many times of a person there are equal ones.

    At `split` of these times the person is at other places, too.
    """

    rows: int = 0
    times: int = 0
    split: int = 0

    def __add__(self, other: Repeats) -> Repeats:
        """The sum for two groups of people."""
        return Repeats(self.rows + other.rows, self.times + other.times, self.split + other.split)

    @property
    def visits(self) -> bool:
        """Whether equal rows are visits of their own.

        >>> Repeats(900, 300, 150).visits, Repeats(900, 300, 2).visits, Repeats().visits
        (True, False, False)
        """
        return self.split > 0 and self.split >= SPLIT * self.times


def repeats_of(table: pl.DataFrame, kept: int, people: int, rows: int = 4_000_000) -> Repeats:
    """The repeats of rows (person, time, place), if equal ones are left out and so many are `kept`."""
    found = Repeats(table.height - kept)
    if not found.rows:
        return found
    for part in by_person(table, people, rows):
        places = part.group_by("person", "time", "place").agg(rows=pl.len())
        times = places.group_by("person", "time").agg(equal=(pl.col("rows") > 1).any(), split=pl.len() > 1)
        equal = times.filter("equal")
        found += Repeats(0, equal.height, int(equal["split"].sum()))
    return found


def drop_duplicates(table: pl.DataFrame, people: int, rows: int = 4_000_000) -> pl.DataFrame:
    """The table without repeats of another row in person, time and place.

    A row with a hash of its own repeats no other, and nearly all rows have one: only the rest is compared.
    """
    hashes = table.hash_rows()
    ordered = hashes.sort()
    shared = ordered.filter(ordered == ordered.shift())
    if not len(shared):
        return table
    doubtful = hashes.is_in(shared.unique().implode())
    compared = [part.unique() for part in by_person(table.filter(doubtful), people, rows)]
    return pl.concat([table.filter(~doubtful), *compared])


def by_person(table: pl.DataFrame, people: int, rows: int) -> Iterator[pl.DataFrame]:
    """The rows by ranges of people, about so many at a time: a hash table over tens of millions takes gigabytes."""
    parts = max(1, round(table.height / rows))
    if parts == 1:
        yield table
        return
    # Ranges hold about equally many rows, however unequal people are.
    ends = np.cumsum(np.bincount(table["person"].to_numpy(), minlength=people)) * parts // (table.height + 1)
    part_of = pl.Series(ends.astype(np.uint32)).gather(table["person"])
    for part in range(parts):
        yield table.filter(part_of == part)


@dataclass(frozen=True, eq=False)
class RarelySeen:
    """The number of `people`, and each sighting: at a `place`, of a `person` (from 0), at a `step`, (n,) each.

    At all other steps they are elsewhere. As they are seen seldom, this is small beside the traces of the others.
    """

    people: int
    person: NDArray[np.uint32]
    step: NDArray[np.uint32]
    place: NDArray[np.int32]

    @classmethod
    def nobody(cls) -> RarelySeen:
        """Nobody is seen too seldom."""
        return cls(0, np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.int32))

    @classmethod
    def among(cls, seen: pl.DataFrame, kept: pl.Series) -> RarelySeen:
        """The sightings `seen` (person, step, place) of people who are not `kept`."""
        rows = seen.filter(~pl.col("person").is_in(kept.implode()))
        ids, person = np.unique(rows["person"].to_numpy(), return_inverse=True)
        step, place = rows["step"].to_numpy().astype(np.uint32), rows["place"].to_numpy().astype(np.int32)
        return cls(len(ids), person.astype(np.uint32), step, place)

    def between(self, first: int, stop: int, elsewhere: int) -> NDArray[np.int32]:
        """The places of people seen in some steps, (n, stop - first); the rest are elsewhere at all of them.

        >>> few = RarelySeen(3, np.array([0, 0, 2]), np.array([1, 4, 5]), np.array([7, 8, 9]))
        >>> few.between(4, 6, elsewhere=20)
        array([[ 8, 20],
               [20,  9]], dtype=int32)
        """
        inside = (self.step >= first) & (self.step < stop)
        who, row = np.unique(self.person[inside], return_inverse=True)
        out = np.full((len(who), stop - first), elsewhere, dtype=np.int32)
        out[row, self.step[inside].astype(np.int64) - first] = self.place[inside]
        return out


ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class LeftOut:
    """Losses on the way from visits to traces: visits, people, and a last step."""

    visits: int = 0
    """Visits in all."""
    outside: int = 0
    """Visits outside of the steps."""
    other_places: int = 0
    """Visits within the steps to unchosen places."""
    people: int = 0
    """People in all."""
    unseen: int = 0
    """People at none of the chosen places in any step."""
    seldom: int = 0
    """People at chosen places in fewer than `min_active` steps."""
    seen: int = 0
    """Steps with somebody at a chosen place, over all people."""
    tied: int = 0
    """Such steps with a tie: nothing told the place left out from the place taken."""
    partial_step: bool = False
    """Whether a last step was left out because the visits cover only a part of it."""
    cut: bool = False
    """Whether times are cut, so equal rows were counted as visits."""

    @property
    def kept(self) -> int:
        """People with a trace."""
        return self.people - self.unseen - self.seldom


@dataclass(frozen=True, eq=False, repr=False)
class Traces:
    """The place of each of N people at each of T steps, among K chosen places and `elsewhere`."""

    array: NDArray[np.int32]
    """Place of each person and step (N, T), from 0 to K; K is `elsewhere`. Read-only."""
    places: tuple[str, ...]
    """Names of the places (K+1,), `elsewhere` last."""
    people: pl.Series
    """The people's ids (N,), sorted."""
    starts: NDArray[np.datetime64]
    """When each step begins (T,), by the clock of the time zone."""
    window: timedelta
    """How long a step lasts."""
    active: NDArray[np.int32]
    """In how many steps each person is seen at a chosen place (N,)."""
    frequency: NDArray[np.float64]
    """Share of all person-steps spent at each place (K+1,)."""
    counts: NDArray[np.int64]
    """The number of people at each place at each step (T, K+1), including people seen too seldom."""
    timezone: str = "UTC"
    """The zone by whose clock steps begin."""
    left_out: LeftOut = field(default_factory=lambda: LeftOut())
    """The people and visits left out, and the reasons."""
    seldom: RarelySeen = field(default_factory=RarelySeen.nobody)
    """The places of people left out for being seen too seldom."""

    def __len__(self) -> int:
        """The number of people."""
        return len(self.array)

    def __repr__(self) -> str:
        people, steps = self.array.shape
        return f"Traces(people={people}, steps={steps}, places={len(self.places)})"
