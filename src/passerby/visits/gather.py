"""Batches of rows gathered into `Visits`: people and places encoded, repeated rows left out."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from .delimited import Batch
from .sieve import Sieve
from .table import Visits

#: Names of people that are all whole numbers are taken for numbers.
NUMBER = r"^(0|-?[1-9]\d{0,17})$"


@dataclass(repr=False)
class Gatherer(Sieve):
    """Takes batches one by one and keeps of each only 16 bytes a row and the names it brought.

    The names are held by polars categories of this gatherer alone, so that they vanish with it.
    """

    _parts: list[pl.DataFrame] = field(default_factory=list)
    _people: pl.Categorical = field(default_factory=lambda: pl.Categorical(pl.Categories.random()))
    _places: pl.Categorical = field(default_factory=lambda: pl.Categorical(pl.Categories.random()))
    _batches: list[Batch] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Take the rows of a batch, with the columns person, time, and place or latitude and longitude."""
        names = pl.col("person").cast(self._people), pl.col("place").cast(self._places)
        self._parts.append(self.sieved(batch).with_columns(names))
        self._batches.append(batch.bare)

    def finish(self) -> Visits:
        """All rows taken as `Visits`, or an `InputError` that says what is wrong with them."""
        self.check()
        self.span.check(self._parts, self._batches, self.source)
        table = pl.concat([part.drop("row") for part in self._parts])
        self._parts.clear()
        if not table.height:
            raise self.nothing()
        unique, people, places = encoded(table)
        return Visits(
            unique,
            people,
            places,
            self.skipped(table.height - unique.height),
            self.timezone,
            dict(self.columns),
            self.span.until,
            self.told,
        )


def encoded(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
    """Rows (person, time, place) by codes and without repetitions, the people and the places, both sorted."""
    person, people = _encode(table["person"], numbers=True)
    place, places = _encode(table["place"])
    codes = pl.DataFrame({"person": person, "time": table["time"], "place": place})
    return drop_duplicates(codes, len(people)), people, places


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
    return pl.concat([table.filter(~doubtful), _compared(table.filter(doubtful), people, rows)])


def _compared(table: pl.DataFrame, people: int, rows: int) -> pl.DataFrame:
    """The different rows, by ranges of people: one hash table over tens of millions of rows takes gigabytes."""
    parts = max(1, round(table.height / rows))
    if parts == 1:
        return table.unique()
    # Ranges hold about equally many rows, however unequal people are.
    ends = np.cumsum(np.bincount(table["person"].to_numpy(), minlength=people)) * parts // (table.height + 1)
    part_of = pl.Series(ends.astype(np.uint32)).gather(table["person"])
    return pl.concat([table.filter(part_of == part).unique() for part in range(parts)])


def _encode(values: pl.Series, *, numbers: bool = False) -> tuple[pl.Series, pl.Series]:
    """Codes (n,) that follow the sorted names, and these names; whole numbers become numbers where all are."""
    once = values.unique()
    names = once.cast(pl.String)
    if numbers and names.str.contains(NUMBER).all():
        names = names.cast(pl.Int64)
    order = names.arg_sort()
    known = once.to_physical().gather(order).to_numpy()
    rank = np.zeros(int(known.max()) + 1, dtype=np.uint32)
    rank[known] = np.arange(len(names), dtype=np.uint32)
    return pl.Series(rank).gather(values.to_physical()), names.gather(order).rename(values.name)
