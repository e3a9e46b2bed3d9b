"""Text tables in bounded memory: blocks of whole records, each parsed at once into strings.

Small tables beside the visits (sensors, zones, published counts): their columns, their rows, and no row said twice.

A column overlooked by everybody would change the meaning of its rows: a row without its `step` is about all steps.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from passerby.errors import InputError
from passerby.support.checks import nearest
from passerby.support.processes import raise_about_memory
from passerby.support.workers import Progress

from .files import DAMAGED, check_file, read_chunks
from .layouts import Layout, header_layout
from .times import YEARS, in_words, unheard

BOM = b"\xef\xbb\xbf"
_LONGEST_RECORD = 16 << 20
"""Bytes after which an open quote is taken for a stray one."""


@dataclass(frozen=True, repr=False)
class Batch:
    """Some rows with columns named by role, and their origin."""

    frame: pl.DataFrame
    first: int
    """Line or row number of the first row."""
    word: str = "row"
    block: bytes | None = None
    layout: Layout | None = None
    file: str = ""
    """The file, if there are several."""

    @property
    def bare(self) -> Batch:
        """The same without its rows: enough for the position of a row."""
        return replace(self, frame=self.frame.clear(), block=None)

    def where(self, rows: Iterable[int]) -> list[str]:
        """A name for some rows, as in 'line 17'."""
        numbers = [self.first + row for row in rows]
        if self.block is not None and self.layout is not None and self.layout.quote and b'"' in self.block:
            lines = _line_numbers(self.block, self.layout)
            numbers = [self.first + lines[number - self.first] for number in numbers]
        place = f"{self.file}, " if self.file else ""
        return [f"{place}{self.word} {number:,}" for number in numbers]


def first_line(path: Path, skipped: int = 0) -> tuple[str, int]:
    """The first line of a text after `skipped` ones, neither blank nor a comment, and the number of lines before.

    Comments begin with `#`, on top of the file only.
    """
    start = next(read_chunks(path, 1 << 16), b"").removeprefix(BOM)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in start:
        raise InputError(f"{path} is not a text table (or not in UTF-8); save it as CSV in UTF-8, or as Parquet")
    inside = start.rstrip(b"\r\n")  # programs add a usual line end to the last line
    if b"\r" in inside and b"\n" not in inside:
        raise InputError(
            f"{path} has no line ends but carriage returns; save it with the usual ones (LF, or CR and LF)"
        )
    for number, line in enumerate(start.decode(errors="replace").splitlines()):
        if number >= skipped and line.strip() and not line.startswith("#"):
            return line, number
    raise InputError(f"{path} is empty: it holds no rows")


def read_batches(
    path: Path, layout: Layout, roles: dict[str, str], progress: Progress | None = None
) -> Iterator[Batch]:
    """The columns of `roles` as strings, a block of lines at a time."""
    line = 1
    before = layout.skipped + layout.header
    for block in blocks(read_chunks(path, progress=progress), layout.quote):
        start = line
        line += block.count(b"\n")
        while before and block:
            end = block.find(b"\n") + 1 or len(block)
            start += 1
            block, before = block[end:], before - 1
        if block.lstrip(b"\r\n"):  # strip would copy the whole block for its last line end
            if layout.separator == " ":
                block = re.sub(rb"(?m)^ +| +(?=\r?$)", b"", re.sub(rb"[ \t]+", b" ", block))
            yield Batch(_parse(path, block, start, layout, roles), start, "line", block, layout)


def blocks(chunks: Iterable[bytes], quote: str | None) -> Iterator[bytes]:
    """Chunks cut anew so that each ends with a whole record: at a line end outside of quotes."""
    rest = b""
    for number, chunk in enumerate(chunks):
        rest += chunk.removeprefix(BOM) if number == 0 else chunk
        end = _record_end(rest, quote)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _record_end(text: bytes, quote: str | None) -> int:
    """The end of the last whole record, or 0. In valid CSV an even number of quotes lies before it."""
    last = end = text.rfind(b"\n") + 1
    if quote is None or not end:
        return end
    odd = text.count(quote.encode(), 0, end) % 2
    while odd and end:
        previous = text.rfind(b"\n", 0, end - 1) + 1
        odd ^= text.count(quote.encode(), previous, end) % 2
        end = previous
    return end or (last if len(text) > _LONGEST_RECORD else 0)


def _parse(path: Path, block: bytes, line: int, layout: Layout, roles: dict[str, str]) -> pl.DataFrame:
    wanted = [layout.columns.index(column) for column in roles.values()]
    try:
        frame = pl.read_csv(
            block,
            has_header=False,
            separator=layout.separator,
            quote_char=layout.quote,
            infer_schema=False,
            # All columns, also unwanted ones: polars overlooks overlong rows if it may skip columns.
            schema={str(index): pl.String for index in range(len(layout.columns))},
        )
    except pl.exceptions.PolarsError:  # its message quotes the data, possibly with ids
        frame = _parse_leniently(path, block, line, layout)
    return frame.select(pl.col(str(index)).alias(role) for role, index in zip(roles, wanted, strict=True))


def _parse_leniently(path: Path, block: bytes, line: int, layout: Layout) -> pl.DataFrame:
    """Python's reader puts up with quotes inside of a field, and knows the line of the real fault."""
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        bad = line + block.count(b"\n", 0, error.start)
        raise InputError(f"{path}, line {bad:,}: not UTF-8 text; save the file in UTF-8") from None
    width = len(layout.columns)
    reader = _Reader(text, layout, strict=True)
    rows: list[list[str | None]] = []
    begin = line
    try:
        for fields in reader:
            if len(fields) > width:
                raise InputError(
                    f"{path}, line {line + reader.line_num - 1:,}: {len(fields)} fields where {width} columns are "
                    "expected; a field that holds the separator must stand in quotes"
                )
            rows.append([*(field or None for field in fields), *[None] * (width - len(fields))])
            begin = line + reader.line_num
    except csv.Error:
        raise InputError(
            f"{path}, line {begin:,}: a quote is never closed, or closes before the end of its field; "
            "quotes inside a quoted field must be doubled"
        ) from None
    return pl.DataFrame(rows, schema={str(index): pl.String for index in range(width)}, orient="row")


class _Reader:
    """Python's reader of one block: the fields of each record, and the lines read so far."""

    def __init__(self, text: str, layout: Layout, *, strict: bool) -> None:
        lines = io.StringIO(text, newline="")
        if layout.quote:
            self._rows = csv.reader(lines, delimiter=layout.separator, quotechar=layout.quote, strict=strict)
        else:
            self._rows = csv.reader(lines, delimiter=layout.separator, quoting=csv.QUOTE_NONE)

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self._rows)

    @property
    def line_num(self) -> int:
        return self._rows.line_num


def _line_numbers(block: bytes, layout: Layout) -> list[int]:
    """Lines before each record: quoted fields may hold line ends."""
    starts = [0]
    reader = _Reader(block.decode(errors="replace"), layout, strict=False)
    starts += [reader.line_num for _ in reader]
    return starts


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
