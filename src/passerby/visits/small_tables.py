"""Small tables beside the visits (sensors, zones, published counts): their columns, their rows, and no row said twice.

A column overlooked by everybody would change the meaning of its rows: a row without its `step` is about all steps.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from passerby.errors import InputError
from passerby.support.checks import nearest
from passerby.support.memory import raise_about_memory

from .delimited import Batch, first_line, read_batches
from .files import DAMAGED, check_file
from .layouts import header_layout
from .times import YEARS, in_words, unheard

#: The column for remarks, in any table: nobody looks at it.
NOTE = "note"
#: The most unknown columns named by a message.
NAMED = 5
#: Pandas' name for the row numbers of a table in Parquet.
ROW_NUMBERS = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Header:
    """The subject of a table, and its possible columns.

    Of each group in `needs`, one of its sets of columns must be there; `needed` says so in words. `hints` have other
    names for some columns; these are never read by them.
    """

    what: str
    known: tuple[str, ...]
    needs: tuple[tuple[frozenset[str], ...], ...]
    needed: str
    hints: Mapping[str, str] = field(default_factory=dict)

    def check(self, columns: Sequence[str], path: Path) -> None:
        """Refuse a table lacking a column, or with an unknown one. Blanks and capitals are gone by now."""
        unknown = [(number, name) for number, name in enumerate(columns, start=1) if name not in (*self.known, NOTE)]
        if not all(any(some <= {*columns} for some in group) for group in self.needs):
            near = [(name, nearest(name, self.known)) for _, name in unknown]
            # A word unlike any known name may be a row, with somebody's id in it: it is not shown.
            meant = "; ".join(f"{name!r}: did you mean {known}?" for name, known in near if known)
            some = f"{len(columns)} column{'s' * (len(columns) != 1)}"
            raise InputError(
                f"{path}: {self.what} need {self.needed}; its first line names {some} that are not all of these"
                f"{f' ({meant})' if meant else ''}"
            )
        if unknown:
            more = f", and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
            shown = ", ".join(self._unknown(number, name) for number, name in unknown[:NAMED])
            raise InputError(
                f"{path}: {self.what} have no column {shown}{more}; they may have {', '.join(self.known)}, and {NOTE} "
                "for remarks. Correct the name, or take the column out"
            )

    def _unknown(self, number: int, name: str) -> str:
        near = self.hints.get(name) or nearest(name, self.known)
        if not name:
            return f"without a name (column {number})"
        return f"{name!r} (did you mean {near}?)" if near else repr(name)


def names_of(columns: Sequence[str]) -> list[str]:
    """The names of columns in small letters, without blanks around them.

    >>> names_of([" Place", "STEP "])
    ['place', 'step']
    """
    return [name.strip().lower() for name in columns]


@dataclass
class DistinctRows:
    """The subjects of a table's rows so far, and their positions.

    >>> rows = DistinctRows("sensors.csv")
    >>> rows.add("line 2", ("park", 0), "the sensor of 'park'")
    >>> rows.add("line 7", ("park", 0), "the sensor of 'park'")
    Traceback (most recent call last):
    passerby.errors.InputError: sensors.csv, line 7: the sensor of 'park' is given twice, before in line 2; take one out
    """

    source: object
    _lines: dict[Hashable, str] = field(default_factory=dict)

    def add(self, line: str, about: Hashable, what: str) -> None:
        """Take down a row's subject; refuse it if an earlier one was about the same."""
        if about in self._lines:
            raise InputError(
                f"{self.source}, {line}: {what} is given twice, before in {self._lines[about]}; take one out"
            )
        self._lines[about] = line

    def __contains__(self, about: Hashable) -> bool:
        return about in self._lines


#: Types of columns with names, beside numbers.
TEXTS = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)


def read_table(path: Path, header: Header) -> tuple[list[str], Iterator[tuple[str, dict[str, object]]]]:
    """A small table with the columns of a `header`: Parquet, or text with any usual separator, every column as text.

    The names of its columns, in small letters and without blanks around them, and its rows with their positions, as in
    ("line 17", {"place": "park"}). Blank lines are no rows.
    """
    try:
        if check_file(path)[:4] == b"PAR1":
            table = pl.read_parquet(path, glob=False)
            batches = [
                Batch(_with_words(table.select(name for name in table.columns if not ROW_NUMBERS.fullmatch(name))), 1)
            ]
        else:
            line, before = first_line(path)
            layout = replace(header_layout(line, instead="put a line above that names them"), skipped=before)
            roles = dict(zip(layout.columns, layout.columns, strict=True))
            nothing = pl.DataFrame(schema=dict.fromkeys(layout.columns, pl.String()))
            batches = [*read_batches(path, layout, roles)] or [Batch(nothing, 1)]
    except DAMAGED as error:
        raise_about_memory(error)
        raise InputError(f"{path} is damaged or no table; copy or write it again") from None
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from None
    names = names_of(batches[0].frame.columns)
    if len(set(names)) < len(names):
        raise InputError(f"{path}: two columns have the same name but for its case; rename one")
    header.check(names, path)
    return names, _located_rows(batches, names)


def _with_words(table: pl.DataFrame) -> pl.DataFrame:
    """A table of text, numbers and times within Python's words; any other column or time is refused."""
    for column in table:
        dtype = column.dtype
        if names_of([column.name])[0] == NOTE:
            table = table.with_columns(pl.lit(None, pl.String).alias(column.name))
        elif dtype in (pl.Date, pl.Datetime):
            wrong = unheard(column).arg_true()
            if len(wrong):
                word = in_words(column.gather(wrong.head(1)))[0]
                raise InputError(f"row {wrong[0] + 1:,}: {column.name} is {word}; {YEARS}")
        elif not (dtype.is_numeric() or dtype in TEXTS):
            raise InputError(f"the column {column.name!r} is of type {dtype}; convert it to text or numbers")
    return table


def _located_rows(batches: Iterable[Batch], names: list[str]) -> Iterator[tuple[str, dict[str, object]]]:
    for batch in batches:
        for where, row in zip(batch.where(range(batch.frame.height)), batch.frame.iter_rows(), strict=True):
            if any(value is not None for value in row):
                yield where, dict(zip(names, row, strict=True))
