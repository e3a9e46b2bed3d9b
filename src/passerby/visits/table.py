"""The record that every reader hands on: who was where and when, encoded as integers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

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
    """Rows that repeat the person, time and place of another row."""
    outside: int = 0
    """Rows before `since` or from `until` on, where these were given."""

    @property
    def kept(self) -> int:
        """Rows that became visits."""
        return self.rows - self.times - self.missing - self.coordinates - self.duplicates - self.outside


@dataclass(frozen=True, eq=False, repr=False)
class Visits:
    """Who was where and when: one row per visit, people and places as codes.

    Codes follow the sorted names, so they do not depend on the order of the rows that were read.
    """

    table: pl.DataFrame
    """Columns `person` (UInt32), `time` (Datetime in microseconds, UTC), `place` (UInt32); in no promised order."""
    people: pl.Series
    """The ids as they were read, whole numbers or strings, sorted; a person's code is the index."""
    places: pl.Series
    """The names as strings, sorted; a place's code is the index."""
    skipped: Skipped = Skipped()
    """What was left out."""
    timezone: str = "UTC"
    """The zone in which times without one were read, and by whose clock steps begin."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The column that was taken for each of person, time and place (or latitude and longitude)."""
    until: datetime | None = None
    """Up to when visits count, where that was asked for: a step that ends by then is covered to its end."""
    remarks: tuple[str, ...] = ()
    """What a reader should know, such as a second column that could have been meant."""
    cut: bool = False
    """Whether times are cut, as dates are, so that equal rows are visits of their own."""

    def __len__(self) -> int:
        """The number of visits."""
        return self.table.height

    def __repr__(self) -> str:
        # Sizes only: ids of people must not reach logs or tracebacks.
        return f"Visits(rows={len(self)}, people={len(self.people)}, places={len(self.places)})"
