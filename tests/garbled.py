"""Files that are nearly right: tables and settings with something wrong in them, drawn by hypothesis.

A file begins as a valid one. Its rows, cells, header, line ends, encoding and compression are then changed, and at last
its bytes. What is left of its structure leads past the first check, into the code behind it.
"""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import Any

import polars as pl
from hypothesis import strategies as st

Rows = list[list[str]]

#: Values that are no names, no numbers, no times, or too much of any of these.
NASTY = (
    *("", " ", "\t", '"', '""', "'", ",", ";", "\\", "\n", "\r", "\x00", "\x0b", "\x1c", "\u2028", "\ufeff", "\x7f"),
    *("nan", "NaN", "inf", "-inf", "null", "None", "NULL", "true", "0", "-0", "-1", "1.5", "1e308", "1e309", "1e-320"),
    *("9" * 19, "9" * 40, "9" * 5000, "0x10", "１２", "٣", "1_000", "+1", "1,5", "1 000"),
    *("2024-02-30", "2024-13-01", "0000-01-01", "0001-01-01", "9999-12-31", "9999-12-31T23:59-23:00", "-0001-01-01"),
    *("2024-03-31T02:30", "2024-01-01T24:00", "2024-01-01T00:00+99:99", "1e18", "253402300800", "-62135596801"),
    *("Tue Apr 03 18:00:08 +0000 2012", "20240101", "20240101T000000Z", "91", "-91", "181", "90.0000001"),
    *("2024-01-01T00:00+25:00", "Wed May 01 08:00:00 +2500 2024", "2024-01-01T00:00-12:00", "2024-05-01"),
    *("7", "7.0", "7.00", "-0.0", "9007199254740993.0", "1e+16", "1.23457E+17", "1e+05", "PARK", "ann@example.ORG"),
    *("elsewhere", "=1+1", "é", "☕", "a" * 300, "x" * 70_000, "\ud7ff", "\U0010ffff", "e\u0301", "‮"),
)
HEADERS = (
    *("person", "time", "place", "latitude", "longitude", "lat", "lng", "uid", "datetime", "Person", "step", "count"),
    *("draw", "mechanism", "zone", "kind"),
    *("", " time ", "time.1", "PLACE", "12", "2024-01-01", "x" * 300),
)

Pack = Callable[[bytes], bytes]
PACKS: tuple[Pack, ...] = (bytes, bytes, bytes, gzip.compress, bz2.compress, lzma.compress)


@st.composite
def garbled_rows(draw: st.DrawFn, rows: Rows) -> Rows:
    """A table with some rows, columns and cells changed."""
    rows = [list(row) for row in rows]
    for _ in range(draw(st.integers(0, 3))):
        if not rows or not rows[0]:
            break
        at, place = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, len(rows[0]) - 1))
        change = draw(
            st.sampled_from([_cell, _cell, _cell, _head, _column, _twice, _again, _end, _ragged, _cells, _dates])
        )
        rows = change(draw, rows, at, place)
    return rows


def _cell(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    rows[at][place : place + 1] = [draw(st.sampled_from(NASTY))]
    return rows


def _cells(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    for row in rows[1:]:
        row[place : place + 1] = [draw(st.sampled_from(NASTY))]
    return rows


def _head(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    rows[0][place] = draw(st.sampled_from(HEADERS))
    return rows


def _column(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    return [row[:place] + row[place + 1 :] for row in rows]


def _twice(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    return [[*row, *row[place : place + 1]] for row in rows]


def _again(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    return [*rows[:at], list(rows[at]), *rows[at:]]


def _dates(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    """Times cut to dates, and some rows several times: cut rows are equal."""
    again = draw(st.integers(1, 3))
    return [
        [cell.partition("T")[0] if cell.startswith("20") else cell for cell in row]
        for row in rows
        for _ in range(again)
    ]


def _end(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    return rows[:at]


def _ragged(draw: st.DrawFn, rows: Rows, at: int, place: int) -> Rows:
    rows[at] = [*rows[at], "more"] if draw(st.booleans()) else rows[at][:place]
    return rows


@st.composite
def garbled_text(draw: st.DrawFn, rows: Rows, separator: str = ",") -> bytes:
    """A table as text: with its separator or another, any line ends, quotes where needed or not, in some encoding."""
    rows = draw(garbled_rows(rows))
    separator = draw(st.sampled_from([separator] * 8 + [",", ";", "\t", "|"]))
    end = draw(st.sampled_from(["\n"] * 6 + ["\r\n", "\r", "\n\n"]))
    quoted = draw(st.sampled_from(["never", "needed", "needed", "always"]))

    def cell(text: str) -> str:
        special = any(character in text for character in (separator, '"', "\n", "\r"))
        if quoted == "always" or (quoted == "needed" and special):
            return '"' + text.replace('"', '""') + '"'
        return text

    text = end.join(separator.join(map(cell, row)) for row in rows) + draw(st.sampled_from([end, end, "", end * 3]))
    coding = draw(st.sampled_from(["utf-8"] * 10 + ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp037"]))
    return text.encode(coding, errors="replace")


@st.composite
def garbled_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes turned over, cut off, put in, or said twice; most often none."""
    changed = bytearray(content)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5]))):
        at = draw(st.integers(0, max(0, len(changed) - 1)))
        what = draw(st.sampled_from(["flip", "flip", "cut", "drop", "put", "again"]))
        if what == "flip" and changed:
            changed[at] ^= draw(st.integers(1, 255))
        elif what == "cut":
            del changed[at:]
        elif what == "drop":
            del changed[at : at + draw(st.integers(1, 40))]
        elif what == "put":
            changed[at:at] = draw(st.binary(min_size=1, max_size=8))
        elif what == "again":
            changed[at:at] = changed[at : at + draw(st.integers(1, 200))]
    return bytes(changed)


@st.composite
def garbled_files(draw: st.DrawFn, rows: Rows, separator: str = ",") -> bytes:
    """A text table, packed or not, with something wrong with it."""
    packed = draw(st.sampled_from(PACKS))(draw(garbled_text(rows, separator)))
    return draw(garbled_bytes(packed))


#: Values of every type that a column may have.
COLUMNS: tuple[pl.DataType, ...] = (
    *(pl.String(), pl.Int64(), pl.UInt8(), pl.Float64(), pl.Float32(), pl.Boolean(), pl.Null(), pl.Binary()),
    *(pl.Date(), pl.Datetime("us"), pl.Datetime("ns", "Asia/Tokyo"), pl.Datetime("ms"), pl.Time(), pl.Duration("us")),
    *(pl.Categorical(), pl.List(pl.Int64()), pl.Struct({"a": pl.Int64()}), pl.Decimal(20, 2), pl.Array(pl.Int64(), 2)),
)


@st.composite
def garbled_parquet(draw: st.DrawFn, rows: Rows) -> bytes:
    """A Parquet table with columns of any type, with something wrong with it."""
    head, *body = draw(garbled_rows(rows)) or [["person"]]
    names = list(dict.fromkeys(head)) or ["person"]
    columns = []
    for number, name in enumerate(names):
        values = pl.Series(name, [row[number] if len(row) > number else None for row in body], dtype=pl.String)
        kind = draw(st.sampled_from([pl.String()] * 20 + list(COLUMNS)))
        number = draw(st.one_of(st.integers(-(10**6), 2**53), st.sampled_from(WILD)))
        columns.append(_wild(draw, _as(values, kind, number), number))
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file, compression=draw(st.sampled_from(["zstd", "snappy", "uncompressed"])))
    return draw(garbled_bytes(file.getvalue()))


#: The least and the greatest number, and the year 20000 in milliseconds and microseconds.
WILD = (-(2**63), 2**63 - 1, 568_971_820_800_000, 568_971_820_800_000_000)


def _wild(draw: st.DrawFn, values: pl.Series, number: int) -> pl.Series:
    """Times of which some may be a number that is no time of ours."""
    if not (values.dtype in (pl.Date, pl.Datetime) and len(values) and draw(st.booleans())):
        return values
    numbers = values.to_physical().to_list()
    small = values.dtype == pl.Date
    numbers[draw(st.integers(0, len(numbers) - 1))] = max(-(2**31), min(number, 2**31 - 1)) if small else number
    return pl.Series(values.name, numbers, dtype=pl.Int32 if small else pl.Int64).cast(values.dtype)


def _as(values: pl.Series, kind: pl.DataType, number: int) -> pl.Series:
    """The values as another type where they are of it, and otherwise some number taken for that type."""
    if kind == pl.String():
        return values
    try:
        known = values.cast(kind, strict=False)
        if known.null_count() < len(known):
            return known
        return pl.Series(values.name, [number] * len(values), dtype=pl.Int64).cast(kind, strict=False)
    except pl.exceptions.PolarsError:
        filling: dict[type[Any], Any] = {pl.List: [number], pl.Struct: {"a": number}, pl.Array: [number, number]}
        return pl.Series(values.name, [filling.get(type(kind))] * len(values), dtype=kind)


#: What may stand behind an equals sign of a settings file, right or wrong.
VALUES = (
    *("", "0", "1", "2", "-1", "3", "10", "1_000", "9" * 19, "9" * 40, "0x1F", "1e3", "1e-300", "1e300", "0.5", "1.0"),
    *("nan", "inf", "-inf", "true", "false", '""', '"auto"', '"raw"', '"gaussian"', '"3h"', '"20d"', '"0s"', '"9w9w"'),
    *('"9999999w"', '"999999999w"', '"2024-01-01"', '"9999-12-31T23:59-23:00"', '"0000-01-01"', '"x\\u0000y"', '"☕"'),
    *("'''", '"""', "[]", "[[]]", "[1, 2]", '["a", "a"]', '["elsewhere"]', "[0.1, nan]", "{}", "{a = 1}", "{a.b = []}"),
    *(
        "1979-05-27",
        "1979-05-27T07:32:00Z",
        "07:32:00",
        '"."',
        '"/"',
        '"/dev/null"',
        '"~"',
        '"C:\\\\x"',
        '"' + "x" * 300 + '"',
    ),
    *(
        "[" * 50 + "]" * 50,
        "[" * 5000,
        '"fixed"',
        '"random"',
        '"schedule"',
        '"most-visited"',
        '"Europe/Paris"',
        '"Moon"',
    ),
)


#: What may stand before an equals sign by mistake.
WRONG = ("missses", '"a b"', "a.b", "é", "", "visits.x", "[x]", "[[y]]")


@st.composite
def garbled_settings(draw: st.DrawFn, settings: dict[str, str], names: tuple[str, ...]) -> bytes:
    """A settings file, given as the text of each value, with some values, names and bytes changed."""
    lines = [*settings.items()]
    for _ in range(draw(st.integers(0, 4))):
        name, value = draw(st.sampled_from(names)), draw(st.sampled_from(VALUES))
        what = draw(st.sampled_from(["set", "set", "set", "again", "drop", "name", "table"]))
        known = [line for line in lines if line[0] != name]
        if what == "set":
            lines = [*known, (name, value)]
        elif what == "again":
            lines = [*lines, (name, value)]
        elif what == "drop":
            lines = known
        elif what == "name":
            lines = [
                *lines,
                (draw(st.sampled_from(["missses", '"a b"', "a.b", "é", "", "visits.x", "[x]", "[[y]]"])), value),
            ]
        else:
            lines = [*lines, (f"[{name}]\nx", value)]
    end = draw(st.sampled_from(["\n"] * 4 + ["\r\n", "\r"]))
    coding = draw(st.sampled_from(["utf-8"] * 10 + ["utf-8-sig", "utf-16", "latin-1"]))
    text = end.join(f"{name} = {value}" for name, value in lines) + end
    return draw(garbled_bytes(text.encode(coding, errors="replace")))
