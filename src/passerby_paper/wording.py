"""How numbers are written on the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import polars as pl

from .settings import BOUNDS, NAMES


def shown(p: float | None) -> str:
    """A probability with two digits: as a percentage down to 0.1 %, below that as a power of ten.

    >>> [shown(p) for p in (0, 5.43e-10, 0.0264, 0.257, 0.9987, 1, None)]
    ['0', '5.4e-10', '2.6 %', '26 %', '99.9 %', '100 %', '?']
    """
    if p is None or math.isnan(p):
        return "?"
    if p <= 0:
        return "0"
    if p < 0.001:
        digits, power = f"{p:.1e}".split("e")
        return f"{digits}e{int(power)}"
    digits = f"{100 * p:.{1 if p < 0.0995 or 0.99 <= p < 0.9995 else 0}f}"
    return f"{digits} %"


def between(lower: float, upper: float) -> str:
    """Two probabilities between which another one lies.

    >>> between(0.1, 0.25), between(0.1, 0.1001)
    ('10 % to 25 %', '10 %')
    """
    low, high = shown(lower), shown(upper)
    return low if low == high else f"{low} to {high}"


def fine(lower: float, upper: float) -> str:
    """Two probabilities, to a tenth of a percentage point, between which another one lies.

    >>> fine(0.5138, 0.5142), fine(0.5138, 0.52), fine(1e-5, 2e-5)
    ('51.4 %', '51.4 % to 52.0 %', '1.0e-5 to 2.0e-5')
    """
    low, high = (f"{100 * p:.1f} %" if p >= 0.001 else shown(p) for p in (lower, upper))
    return low if low == high else f"{low} to {high}"


def correlated(value: float, low: float, high: float) -> str:
    """A correlation with its interval.

    >>> correlated(-0.304, -0.39, -0.22), correlated(math.nan, math.nan, math.nan)
    ('-0.30 [-0.39, -0.22]', 'undefined')
    """
    return "undefined" if math.isnan(value) else f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


def times(ratio: float) -> str:
    """A ratio in words: two digits, or a power of ten where it is large.

    >>> times(2.84), times(231.0), times(2.1e9)
    ('2.8 times', '231 times', '10^9 times')
    """
    if ratio < 1000:
        return f"{ratio:.{1 if ratio < 10 else 0}f} times"
    return f"10^{math.log10(ratio):.0f} times"


def rows_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def by_file(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The part of a table about each file, by what the file is called."""
    return {NAMES[name]: table.filter(pl.col("dataset") == name) for name in sorted(set(table["dataset"].to_list()))}


def values(table: pl.DataFrame, column: str) -> list[float]:
    """A column as numbers."""
    return [float(v) for v in table[column].to_list()]


def ends(table: pl.DataFrame, column: str) -> str:
    """The first and the last value of a column."""
    return f"{shown(table[column][0])} to {shown(table[column][-1])}"


def course(table: pl.DataFrame, *, to: str = "down to", between: str = ", ", attack: str | None = "map") -> str:
    """How MAP (in a column), the loss and both bounds go along a sweep."""
    words = [f"MAP {ends(table, attack)}"] if attack else []
    words += [f"loss {loss_at(table, 0)} {to} {loss_at(table, -1)}"]
    return between.join([*words, *(f"{bound} {ends(table, bound)}" for bound in BOUNDS)])


def loss_at(table: pl.DataFrame, row: int) -> str:
    """The interval of the loss in a row."""
    return between(table["lower"][row], table["upper"][row])
