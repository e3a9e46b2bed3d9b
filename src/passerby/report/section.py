"""A section of a report: a question, an answer in words, and figures with the tables behind them.

A section is one file below `sections`, and one line in the list there. It names its `needs`; if one is missing, the
section is left out, with the reason. It is built from the `Evidence` of an audit.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from passerby.errors import PasserbyError
from passerby.support.rule_of_five import FEW

from .evidence import Evidence, Need

#: How a value is shown.
Cell = Callable[[Any], str]
#: The shown columns of a table: the head of each, and the form of its values.
Columns = Mapping[str, tuple[str, Cell]]

#: The most shown rows of a table; the file behind it holds all.
ROWS = 300
#: A spreadsheet takes a cell with one of these at its start for a formula, or for the end of a cell or a row.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


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
    """A table, the sentence on its content, and the chart in front of it, if there is one."""

    key: str
    title: str
    says: str
    sheet: Sheet
    spec: dict[str, Any] | None = None

    def _repr_html_(self) -> str:
        """The chart as a picture, for notebooks; nothing is loaded for it."""
        from .picture import as_svg

        return as_svg(self.spec) if self.spec else f"<p>{self.title}: a table only; see the report.</p>"


@dataclass(frozen=True)
class Content:
    """The content of a section: paragraphs, figures, and a list."""

    lead: list[str]
    figures: list[Figure] = field(default_factory=list)
    points: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    """A question, the needs of its answer, and the function that makes the answer."""

    key: str
    title: str
    build: Callable[[Evidence], Content]
    needs: tuple[Need, ...] = ()
    #: The question in the words of the release, if they differ.
    worded: Callable[[Evidence], str] | None = None

    def heading(self, evidence: Evidence) -> str:
        """The question, as it is put on the page."""
        return self.title if self.worded is None else self.worded(evidence)

    def missing(self, evidence: Evidence) -> str | None:
        """Why the section is left out, by the last missing need, its own one; None if it is included."""
        return next((need.reason for need in reversed(self.needs) if not need.met(evidence)), None)


@dataclass(frozen=True)
class Built:
    """A section with its content."""

    key: str
    title: str
    content: Content


def sheet(table: pl.DataFrame, columns: Columns, file: str, *, least: int = FEW) -> Sheet:
    """A table of these columns; a long one shows only its beginning."""
    rests_on(table, least)
    rows = [[cell(row[name]) for name, (_, cell) in columns.items()] for row in table.head(ROWS).iter_rows(named=True)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_saved(row[name]) for name in columns] for row in table.iter_rows(named=True))
    note = f"The first {ROWS} of {table.height:,} rows; the saved file holds all." if table.height > ROWS else ""
    return Sheet([head for head, _ in columns.values()], rows, file, text.getvalue(), note)


def rests_on(table: pl.DataFrame, least: int = FEW) -> pl.DataFrame:
    """The table, if each of its rows rests on enough `people`; a row without a number of people has none there.

    >>> rests_on(pl.DataFrame({"share": [0.5, 0.1], "people": [20, 4]}))
    Traceback (most recent call last):
    passerby.errors.PasserbyError: a row of ('share', 'people') rests on 4 people; 5 is the least that is told
    """
    fewest = table["people"].min()
    if isinstance(fewest, int | float) and fewest < least:
        raise PasserbyError(
            f"a row of {tuple(table.columns)} rests on {fewest:g} people; {least} is the least that is told"
        )
    return table


def _saved(value: object) -> object:
    r"""A value of a CSV file; names with the look of a formula are quoted.

    >>> [_saved(value) for value in ("=1+1", "\tx", "a=b", 0.123456789, None)]
    ["'=1+1", "'\tx", 'a=b', '0.123', '']
    """
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, str) and value.startswith(FORMULA):
        return "'" + value
    return "" if value is None else value
