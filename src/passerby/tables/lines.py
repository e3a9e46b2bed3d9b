"""The rows of a table as text: from files with any usual separator and encoding, titles above them, and frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from passerby.errors import InputError
from passerby.support import checks
from passerby.visits.files import DAMAGED, check_file, read_chunks
from passerby.visits.readers import as_polars

#: Bytes of a table, at most.
MOST_BYTES = 200_000_000
SEPARATORS = ";\t,|"
#: The lines inspected for the separator of columns, and for the line with their names.
LOOKED_AT = 60


def rows_of(source: Any) -> tuple[str, list[str], list[list[str]], list[int], tuple[str, ...]]:
    """The name of a table, its header, its rows as text, the line of each, and remarks on it."""
    if not isinstance(source, str | Path):
        return "the table", *_frame_rows(as_polars(source)), ()
    path = checks.path(source, "source")
    if check_file(path)[:4] == b"PAR1":
        try:
            return str(path), *_frame_rows(pl.read_parquet(path, glob=False)), ()
        except DAMAGED:
            raise InputError(f"{path} is damaged or no table; copy or write it again") from None
    data = b""
    for chunk in read_chunks(path):
        data += chunk
        if len(data) > MOST_BYTES:
            raise InputError(f"{path}: a table of counts has {MOST_BYTES:,} bytes at most; give a part of it")
    text, remarks = _decoded(data, path)
    try:
        return str(path), *_text_rows(text), remarks
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _frame_rows(table: pl.DataFrame) -> tuple[list[str], list[list[str]], list[int]]:
    columns = []
    for column in table:
        if column.dtype in (pl.Date, pl.Datetime):
            column = column.dt.to_string("iso:strict" if isinstance(column.dtype, pl.Datetime) else "iso")
        elif not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)):
            raise InputError(f"the column {column.name!r} is of type {column.dtype}; convert it to text or numbers")
        columns.append(column.cast(pl.String).fill_null("").to_list())
    rows = [list(row) for row in zip(*columns, strict=True)]
    if not rows:
        raise InputError("the table holds no rows")
    return list(table.columns), rows, list(range(1, len(rows) + 1))


def _decoded(data: bytes, path: Path) -> tuple[str, tuple[str, ...]]:
    """The text of a file: UTF-8, UTF-16 with its mark, or the Windows encoding of Western languages."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace"), ()
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        if b"\x00" in data[:1000]:
            raise InputError(f"{path} is no text table; save it as CSV in UTF-8") from None
        return data.decode("cp1252", errors="replace"), ("The file is not in UTF-8; it was read as Windows text.",)


def _text_rows(text: str) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, the rows and their lines."""
    head = [line for line in text.splitlines()[:LOOKED_AT] if line.strip() and not line.startswith("#")]
    if not head:
        raise InputError("it holds no rows")
    separator = max(SEPARATORS, key=lambda mark: _fields(head, mark))
    records = _records(text, separator)
    first = _header(records)
    header = records[first][1]
    while not header[-1]:
        header = header[:-1]
    width = len(header)
    rows, lines = [], []
    for number, record in records[first + 1 :]:
        if record == records[first][1]:
            continue  # the header once more, as on each printed page
        if any(record[width:]):
            raise InputError(
                f"line {number:,}: {len(record)} fields where {width} columns are named; a field that holds "
                f"{separator!r} must stand in quotes"
            )
        rows.append((record + [""] * width)[:width])
        lines.append(number)
    if not rows:
        raise InputError("it holds a header and no rows")
    return header, rows, lines


def _records(text: str, separator: str) -> list[tuple[int, list[str]]]:
    """The records with any content, and the line of each; comments begin with `#`."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    records: list[tuple[int, list[str]]] = []
    line = 1
    try:
        for record in reader:
            if any(field.strip() for field in record) and not record[0].startswith("#"):
                records.append((line, [field.strip() for field in record]))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"line {line:,}: {error}; close its quotes") from None
    if not records:
        raise InputError("it holds no rows")
    return records


def _header(records: Sequence[tuple[int, list[str]]]) -> int:
    """The first record with nearly as many fields as most: titles above a table have one or two."""
    sizes = [sum(map(bool, record)) for _, record in records[:LOOKED_AT]]
    usual = sorted(sizes)[len(sizes) // 2]
    return next(k for k, size in enumerate(sizes) if size >= max(min(2, usual), usual - 1))


def _fields(lines: Sequence[str], separator: str) -> tuple[int, int]:
    """How many lines a separator cuts into as many fields as most lines, and into how many."""
    sizes = [len(row) for row in csv.reader(lines, delimiter=separator)]
    usual = max({*sizes}, key=lambda size: (sizes.count(size) * (size > 1), size))
    return (sizes.count(usual) if usual > 1 else 0), usual
