"""The parts of a page: questions with answers in words, figures, and the tables behind them."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

#: How a value is shown.
Cell = Callable[[Any], str]
#: The columns of a table that are shown: the head of each, and how its values are.
Columns = Mapping[str, tuple[str, Cell]]

#: The most rows of a table that are shown; the file behind it holds all.
ROWS = 300


@dataclass(frozen=True)
class Sheet:
    """A table as it is shown, and as it is saved."""

    heads: list[str]
    rows: list[list[str]]
    file: str
    numbers: str
    note: str = ""

    @property
    def download(self) -> str:
        """The numbers as a link."""
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(self.numbers.encode()).decode()


@dataclass(frozen=True)
class Figure:
    """A chart with the sentence that says what it shows, and the table behind it."""

    key: str
    title: str
    says: str
    sheet: Sheet
    spec: dict[str, Any] | None = None
    open: bool = False


@dataclass(frozen=True)
class Section:
    """A question, its answer in words, and its figures."""

    key: str
    question: str
    answer: list[str]
    figures: list[Figure] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)


def sheet(table: pl.DataFrame, columns: Columns, file: str) -> Sheet:
    """A table of these columns; where it is long, only its beginning is shown."""
    rows = [[cell(row[name]) for name, (_, cell) in columns.items()] for row in table.head(ROWS).iter_rows(named=True)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_saved(row[name]) for name in columns] for row in table.iter_rows(named=True))
    note = f"The first {ROWS} of {table.height:,} rows; the saved file holds all." if table.height > ROWS else ""
    return Sheet([head for head, _ in columns.values()], rows, file, text.getvalue(), note)


def _saved(value: object) -> object:
    """A value of a CSV file; names that a spreadsheet would take for a formula are quoted."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return "'" + value
    return "" if value is None else value
