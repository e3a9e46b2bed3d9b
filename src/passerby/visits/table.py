"""The record of all readers, by codes for people, times and places; and rows equal to others.

Nobody is at two places at one time. If rows say so of many people, times were cut, to days, hours or minutes. Equal
rows are then visits of their own, and their number shows a person's main place. If times are as they were taken, equal
rows repeat each other, and one of them is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import polars as pl

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
