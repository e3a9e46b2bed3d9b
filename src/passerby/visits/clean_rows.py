"""Rows cleaned: times read, people and places named and encoded, unusable rows left out and counted."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, time
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from passerby.errors import InputError
from passerby.support.numbers import rows_in_lots, rows_in_words

from .delimited import Batch
from .names import ZEROS, Cells, Names, about_alike, keys, valid_coordinates
from .span import EXAMPLES, Span
from .table import CUT, ELSEWHERE, Skipped, Visits, drop_duplicates, repeats_of
from .times import FIRST_YEAR, LAST_YEAR, YEARS, advice, in_words, read_times, shown

#: A message for a place with the name of all others.
OF_ALL_OTHERS = (
    f"A place is called {ELSEWHERE!r}, which stands for all places that are not chosen: its visits count as such, and "
    "nobody is found there. Rename it."
)

#: A message for visits in steps shorter than a day.
DATES = (
    "All times are at midnight, as dates without a time of day are: steps that are shorter than a day cannot tell when "
    "somebody was where. Take steps of a day or longer, or the column that holds the time of day too."
)

#: Numbers of times are told in lots of so many: two remarks, before a person was erased and after, tell not how many
#: were theirs.
LOT = 100
ROUNDED = "numbers that have lost digits, being above 2^53 with a decimal point, or written with an exponent"
STRAY = f"years before {FIRST_YEAR} or from {LAST_YEAR} on"
Show = Callable[[dict[str, Any]], str]
"""Ways to show a wrong row, by column, without showing its person."""
Advise = Callable[[dict[str, Any]], str | None]
"""Advice on such a row."""


@dataclass(repr=False)
class RowCleaner:
    """Takes batches one by one, keeps the usable rows of each, and counts the others."""

    source: str
    """The name of the input, for messages."""
    timezone: str = "UTC"
    time_format: str | None = None
    cells: Cells | None = None
    """The way from coordinates to places; None if places have names."""
    max_unparsable: float = 0.01
    span: Span = field(default_factory=Span)
    """The instants between which visits count."""
    columns: dict[str, str] = field(default_factory=dict)
    """The column taken for each role."""
    remarks: list[str] = field(default_factory=list)
    rows: int = 0
    outside: int = 0
    reach: "tuple[datetime, datetime] | None" = None
    """The first and the last time outside."""
    bare: int = 0
    """Readable times without a zone."""
    dated: bool = True
    """Whether all times so far are at midnight, by the clock of the zone."""
    even: bool = True
    """Whether all times so far are at full minutes, so they may have been cut."""
    bad_times: "Bad" = field(default_factory=lambda: Bad("times that cannot be read"))
    bad_coordinates: "Bad" = field(default_factory=lambda: Bad("bad coordinates"))
    stray: "Bad" = field(default_factory=lambda: Bad(STRAY))
    missing: "Bad" = field(default_factory=lambda: Bad("no person or no place"))
    rounded: "Bad" = field(default_factory=lambda: Bad(ROUNDED))

    def cleaned(self, batch: Batch) -> pl.DataFrame:
        """The usable rows of a batch with the columns person, time, and place or latitude and longitude.

        They come out with person and place as text, time in UTC, and `row`, their number in the batch.
        """
        _check_types(batch.frame, self.source)
        frame = batch.frame.with_columns(row=pl.int_range(pl.len(), dtype=pl.UInt32))
        frame = self._named(batch, frame, "person")
        blank = reduce(operator.and_, (pl.col(name).is_null() for name in batch.frame.columns))
        if frame["time"].null_count():
            frame = frame.filter(~blank)
        self.rows += frame.height
        times, bare = read_times(frame["time"], self.timezone, self.time_format)
        self.bare += bare
        frame = frame.with_columns(at=times)
        bad = frame["at"].is_null()
        self._note_times(batch, frame.filter(bad))
        frame = frame.filter(~bad).drop("time")
        frame = self._named(batch, frame, "place") if self.cells is None else self._located(batch, frame, self.cells)
        nameless = frame["person"].is_null() | frame["place"].is_null()
        self.missing.note(batch, frame.filter(nameless), _nameless)
        kept = frame.filter(~nameless)
        if OF_ALL_OTHERS not in self.remarks and (kept["place"] == ELSEWHERE).any():
            self.remarks.append(OF_ALL_OTHERS)
        inside = self.span.holds(kept["at"])
        self._note_outside(kept["at"].filter(~inside))
        kept = kept.filter(inside)
        self.dated = self.dated and _at_midnight(kept["at"], self.timezone)
        self.even = self.even and _at_minutes(kept["at"])
        self.stray.note(batch, kept.filter(self.span.strays(kept["at"])), lambda row: f"{row['at']:%Y-%m-%d}")
        return kept.select("person", pl.col("at").alias("time"), "place", "row")

    def check(self) -> None:
        """Refuse rows if too many of them are unusable."""
        if not self.rows:
            raise InputError(f"{self.source} is empty: it holds no rows")
        if self.rounded.count:
            raise InputError(
                f"{self.source}: {self.rounded.count:,} names are {ROUNDED}: {'; '.join(self.rounded.examples)}; "
                "several people or places may have become one: write their names as text or as whole numbers, with all "
                f"digits ({self.taken})"
            )
        for bad in (self.bad_times, self.bad_coordinates, self.missing):
            bad.refuse_above(self.max_unparsable, self.rows, self.source, self.taken)

        if self.stray.count:
            raise InputError(
                f"{self.source}: {self.stray.count:,} of {self.rows:,} rows lie in {STRAY}: "
                f"{'; '.join(self.stray.examples)}; correct or remove them, or say which visits count, as in "
                f"since='{FIRST_YEAR}-01-01' and until='{LAST_YEAR}-01-01'"
            )

    def nothing(self) -> InputError:
        """The error for no row left."""
        return InputError(
            f"{self.source}: none of its {self.rows:,} rows has a person, a time and a place"
            f"{' in the time that was asked for' if self.outside else ''}; {self._others}check which columns are taken "
            f"for them ({self.taken})"
        )

    @property
    def _others(self) -> str:
        """The times of visits, if all are outside."""
        if self.reach is None:
            return ""
        first, last = (f"{time:%Y-%m-%d}" for time in self.reach)
        return f"its visits reach from {first} to {last} (UTC): ask for some of these, or "

    def _note_outside(self, times: pl.Series) -> None:
        """Take down rows outside of the chosen time."""
        self.outside += len(times)
        if len(times):
            self._reaches(times.min(), times.max())

    def _reaches(self, first: Any, last: Any) -> None:
        """The range outside reaches from here to there, too."""
        before = self.reach or (first, last)
        self.reach = min(before[0], first), max(before[1], last)

    def skipped(self, duplicates: int) -> Skipped:
        """Numbers of rows read and left out, with so many repeats of others."""
        return Skipped(
            rows=self.rows,
            times=self.bad_times.count,
            missing=self.missing.count,
            coordinates=self.bad_coordinates.count,
            duplicates=duplicates,
            outside=self.outside,
        )

    def add_counts(self, other: "RowCleaner") -> None:
        """Add the counts of another cleaner, for the next batches."""
        self.rows += other.rows
        self.outside += other.outside
        if other.reach:
            self._reaches(*other.reach)
        self.bare += other.bare
        self.dated = self.dated and other.dated
        self.even = self.even and other.even
        self.columns.update(other.columns)
        self.remarks += [remark for remark in other.remarks if remark not in self.remarks]
        for name in ("bad_times", "bad_coordinates", "stray", "missing", "rounded"):
            getattr(self, name).add(getattr(other, name))

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for a reader, once all batches are taken."""
        times = self.rows - self.bad_times.count
        remarks = (*self.remarks, DATES) if self.dated else tuple(self.remarks)
        if not 0 < self.bare < times:
            return remarks
        said = f"{rows_in_words(rows_in_lots(self.bare, LOT), LOT)} of {rows_in_words(rows_in_lots(times, LOT), LOT)}"
        mixed = (
            f"Some times ({said}) name no zone, unlike the others, and were read in {self.timezone}: "
            "where another one is meant, set the time zone, or they count hours too early or too late."
        )
        return (*remarks, mixed)

    @property
    def taken(self) -> str:
        """The columns taken for each role, for messages."""
        return ", ".join(f"{role} from {column!r}" for role, column in self.columns.items())

    def _note_times(self, batch: Batch, bad: pl.DataFrame) -> None:
        """Take down rows whose time cannot be read."""
        if bad["time"].dtype in (pl.Date, pl.Datetime):
            words = bad.select("row", time=in_words(bad["time"]))
            self.bad_times.note(batch, words, lambda row: row["time"] or shown(None), lambda row: row["time"] and YEARS)
            return
        form = self.time_format
        self.bad_times.note(batch, bad, lambda row: shown(row["time"]), lambda row: advice(row["time"], form))

    def _named(self, batch: Batch, frame: pl.DataFrame, role: str) -> pl.DataFrame:
        """Rows with the names of people or places; numbers with lost digits are taken down."""
        found = Names.of(frame[role])
        if found.lost.any():
            self.rounded.note(batch, frame.filter(found.lost).select("row"), lambda _: f"such a {role}")
        if found.zeros and ZEROS not in self.remarks:
            self.remarks.append(ZEROS)
        return frame.with_columns(found.names.alias(role))

    def _located(self, batch: Batch, frame: pl.DataFrame, cells: Cells) -> pl.DataFrame:
        """Rows with the cell of their coordinates as place; null if there are none."""
        given = frame.select(pl.col("latitude", "longitude").cast(pl.String).str.strip_chars().replace("", None))
        missing = given["latitude"].is_null() | given["longitude"].is_null()
        degrees = given.cast(pl.Float64, strict=False)
        valid = valid_coordinates(degrees["latitude"], degrees["longitude"])
        bad = ~valid & ~missing
        self.bad_coordinates.note(batch, frame.filter(bad), _shown_coordinates)
        names = cells.names(*degrees.filter(valid).get_columns())
        place = pl.Series("place", [None], dtype=pl.String).new_from_index(0, frame.height)
        return frame.with_columns(place.scatter(valid.arg_true(), names)).filter(~bad)


def _at_midnight(times: pl.Series, timezone: str) -> bool:
    """Whether all times are at midnight, by the clock of a zone; mostly the first few tell."""
    parts = times.head(100), times
    return all((part.dt.convert_time_zone(timezone).dt.time() == time()).all() for part in parts)


def _at_minutes(times: pl.Series) -> bool:
    """Whether all times are at full minutes; mostly the first few tell."""
    return all((part.to_physical() % 60_000_000 == 0).all() for part in (times.head(100), times))


@dataclass(repr=False)
class Bad:
    """Rows with one unusable value: their number, and the position of the first ones."""

    what: str
    count: int = 0
    examples: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    """Advice on these."""

    def note(self, batch: Batch, rows: pl.DataFrame, show: Show, advise: Advise | None = None) -> None:
        """Count rows; of the first ever, remember the position, the value, and advice."""
        self.count += rows.height
        first = rows.head(EXAMPLES - len(self.examples))
        if first.height:
            where = batch.where(first["row"].to_list())
            values = [show(row) for row in first.iter_rows(named=True)]
            self.examples += [f"{place} has {value}" for place, value in zip(where, values, strict=True)]
            self._advise(advise(row) for row in first.iter_rows(named=True) if advise)

    def add(self, other: "Bad") -> None:
        """Count the rows of later batches as well."""
        self.count += other.count
        self.examples += other.examples[: EXAMPLES - len(self.examples)]
        self._advise(other.hints)

    def _advise(self, hints: Iterable[str | None]) -> None:
        self.hints += [hint for hint in dict.fromkeys(hints) if hint and hint not in self.hints]

    def refuse_above(self, share: float, rows: int, source: str, taken: str) -> None:
        """Raise if more than a share of all rows is bad."""
        if self.count > share * rows:
            raise InputError(
                f"{source}: {self.count:,} of {rows:,} rows have {self.what}: {'; '.join(self.examples)}; "
                f"{''.join(f'{hint}; otherwise ' for hint in self.hints)}correct them, check which columns are taken "
                f"({taken}), or raise max_unparsable above {share:g} to leave these rows out"
            )


def _check_types(frame: pl.DataFrame, source: str) -> None:
    """Refuse columns of types other than names and numbers, or times in a column of times."""
    for role, dtype in frame.schema.items():
        names = dtype.is_numeric() or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
        if not names and not (role == "time" and dtype in (pl.Date, pl.Datetime)):
            raise InputError(f"{source}: the column taken for {role} is of type {dtype}; convert it to text or numbers")


def _nameless(row: dict[str, Any]) -> str:
    """The missing part of a row."""
    return "no person" if row["person"] is None else "no place"


def _shown_coordinates(row: dict[str, Any]) -> str:
    """The coordinates if they are numbers; text may be anything, an id too."""
    values = []
    for role in ("latitude", "longitude"):
        try:
            values.append(f"{role} {float(row[role]):g}")
        except ValueError:
            values.append(f"{role} that is no number")
    return ", ".join(values)


#: If all names of people are whole numbers, they are taken for numbers.
NUMBER = r"^(0|-?[1-9]\d{0,17})$"


@dataclass(repr=False)
class RowGatherer(RowCleaner):
    """Takes batches one by one and keeps of each only 16 bytes a row and its new names.

    The names are held by polars categories of this gatherer alone, so they vanish with it.
    """

    cut: bool | None = None
    """Whether times are cut, so equal rows are visits of their own; None if the rows tell."""
    _parts: list[pl.DataFrame] = field(default_factory=list)
    _people: pl.Categorical = field(default_factory=lambda: pl.Categorical(pl.Categories.random()))
    _places: pl.Categorical = field(default_factory=lambda: pl.Categorical(pl.Categories.random()))
    _batches: list[Batch] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Take the rows of a batch, with the columns person, time, and place or latitude and longitude."""
        names = pl.col("person").cast(self._people), pl.col("place").cast(self._places)
        self._parts.append(self.cleaned(batch).with_columns(names))
        self._batches.append(batch.bare)

    def finish(self) -> Visits:
        """All rows taken as `Visits`, or an `InputError` naming their faults."""
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
        remarks = (*self.notes, *about_alike(keys(people), places), *(CUT,) * cut)
        columns, until = dict(self.columns), self.span.until
        return Visits(kept, people, places, skipped, self.timezone, columns, until, remarks, cut)


def encoded(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
    """Rows (person, time, place) by codes, the people and the places, both sorted."""
    person, people = _encode(table["person"], numbers=True)
    place, places = _encode(table["place"])
    return pl.DataFrame({"person": person, "time": table["time"], "place": place}), people, places


def _encode(values: pl.Series, *, numbers: bool = False) -> tuple[pl.Series, pl.Series]:
    """Codes (n,) following the sorted names, and these names; if all are whole numbers, they become numbers."""
    once = values.unique()
    names = once.cast(pl.String)
    if numbers and names.str.contains(NUMBER).all():
        names = names.cast(pl.Int64)
    order = names.arg_sort()
    known = once.to_physical().gather(order).to_numpy()
    rank = np.zeros(int(known.max()) + 1, dtype=np.uint32)
    rank[known] = np.arange(len(names), dtype=np.uint32)
    return pl.Series(rank).gather(values.to_physical()), names.gather(order).rename(values.name)
