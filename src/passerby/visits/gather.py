"""Batches of rows gathered into `Visits`: people and places encoded, repeated rows left out."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from .delimited import Batch
from .names import about_alike, keys
from .repeats import CUT, drop_duplicates, repeats_of
from .sieve import Sieve
from .table import Visits

#: Names of people that are all whole numbers are taken for numbers.
NUMBER = r"^(0|-?[1-9]\d{0,17})$"


@dataclass(repr=False)
class Gatherer(Sieve):
    """Takes batches one by one and keeps of each only 16 bytes a row and the names it brought.

    The names are held by polars categories of this gatherer alone, so that they vanish with it.
    """

    cut: bool | None = None
    """Whether times are cut, so that equal rows are visits of their own; None where the rows tell."""
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
        codes, people, places = encoded(table)
        del table
        kept = drop_duplicates(codes, len(people))
        cut = self.even and repeats_of(codes, kept.height, len(people)).visits if self.cut is None else self.cut
        kept = codes if cut else kept
        skipped = self.skipped(codes.height - kept.height)
        remarks = (*self.told, *about_alike(keys(people), places), *(CUT,) * cut)
        columns, until = dict(self.columns), self.span.until
        return Visits(kept, people, places, skipped, self.timezone, columns, until, remarks, cut)


def encoded(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
    """Rows (person, time, place) by codes, the people and the places, both sorted."""
    person, people = _encode(table["person"], numbers=True)
    place, places = _encode(table["place"])
    return pl.DataFrame({"person": person, "time": table["time"], "place": place}), people, places


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
