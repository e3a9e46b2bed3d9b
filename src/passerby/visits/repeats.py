"""Rows that are equal to others in person, time and place: repetitions, or visits that cut times do not tell apart.

Nobody is at two places at one time. Where rows say so of many people, times were cut, to days, hours or minutes. Equal
rows are then visits of their own, and how many they are says where somebody was most. Where times are as they were
taken, equal rows repeat each other, and one of them is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

#: Times are cut where, of the times at which a person has equal rows, this share or more has other places too.
SPLIT = 0.01

#: Said where equal rows are visits of their own.
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
        """Those of two groups of people."""
        return Repeats(self.rows + other.rows, self.times + other.times, self.split + other.split)

    @property
    def visits(self) -> bool:
        """Whether equal rows are visits of their own.

        >>> Repeats(900, 300, 150).visits, Repeats(900, 300, 2).visits, Repeats().visits
        (True, False, False)
        """
        return self.split > 0 and self.split >= SPLIT * self.times


def repeats_of(table: pl.DataFrame, kept: int, people: int, rows: int = 4_000_000) -> Repeats:
    """The repeats of rows (person, time, place), of which so many are `kept` where equal ones are left out."""
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
    """The table without rows that repeat another in person, time and place.

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
