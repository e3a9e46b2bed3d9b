"""A table of counts with totals, as a file: rows by columns, and some are sums of the others."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

from passerby.errors import InputError, UnsupportedRelease
from passerby.mechanisms import Suppression
from passerby.mechanisms.checks import MOST_PEOPLE
from passerby.model.counts import Present
from passerby.model.release import Release
from passerby.support.checks import whole

from .recover import recovered
from .suppress import conceal

#: Names of rows and columns with sums.
TOTALS = ("total", "totals", "sum", "all", "gesamt", "summe", "somme", "ensemble")
#: Signs of a hidden number, besides an empty cell.
HIDDEN = ("", "*", "-", "x", "nan")


@dataclass(frozen=True)
class Choice:
    """Cells by name: `small` ones, the ones `given_away` by the others, and the ones to hide `also`.

    `published` has the values (rows, columns) to show, NaN for a hidden cell.
    """

    small: list[str]
    given_away: list[str]
    also: list[str]
    published: list[list[float]]


@dataclass(frozen=True)
class Margins:
    """Names of rows and columns, `corner` the title of the first column, and numbers; NaN for a hidden one."""

    corner: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]

    def release(self, below: int) -> Release:
        """The table as counts of people: each inner cell is a place of its own, and a total counts all of its parts."""
        inner = [[j for j, name in enumerate(names) if not _total(name)] for names in (self.rows, self.columns)]
        place = {cell: n for n, cell in enumerate((i, j) for i in inner[0] for j in inner[1])}
        counts = []
        for i in range(len(self.rows)):
            for j in range(len(self.columns)):
                parts = [[k] if k in some else some for k, some in zip((i, j), inner, strict=True)]
                counts.append(Present([place[a, b] for a in parts[0] for b in parts[1]], step=0))
        return Release(counts=counts, steps=1, mechanism=Suppression(below))

    def concealed(self, below: int) -> Choice:
        """Hide numbers below a threshold, and as few others as needed, so the rest gives none of them away.

        Among equally small sets, the one with the fewest people is hidden.

        >>> table = Margins("place", ["a", "b", "c", "total"], ["08:00"], [[5.0], [40.0], [31.0], [76.0]])
        >>> found = table.concealed(10)
        >>> found.small, found.given_away, found.also
        (['a at 08:00'], ['a at 08:00'], ['c at 08:00'])
        """
        whole(below, "below", 1, MOST_PEOPLE)
        release = self.release(below)
        names = [f"{row} at {column}" for row in self.rows for column in self.columns]
        sums = [_total(row) or _total(column) for row in self.rows for column in self.columns]
        flat = [value if value >= below else math.nan for row in self.values for value in row]
        all_people = 1 + sum(value for value in flat if not math.isnan(value))
        kept = [count for count, total in zip(release.listed, sums, strict=True) if total]
        try:
            cells = recovered(release, [flat])
            found = conceal(release, [flat], keep=kept, cost=lambda cell: 1 + cell.value / all_people)
        except UnsupportedRelease:
            raise UnsupportedRelease(
                "table: a hidden number follows from totals, which stay; leave totals of so few parts out of the table"
            ) from None
        except InputError:
            raise InputError(
                f"table: no numbers of people fit; check the totals, and that each hidden number is below {below}"
            ) from None
        (published,) = found.published
        wide = len(self.columns)
        return Choice(
            [name for name, value in zip(names, flat, strict=True) if math.isnan(value)],
            [name for name, cell in zip(names, cells, strict=True) if cell.recovered],
            [n for n, value, left in zip(names, flat, published, strict=True) if math.isnan(left) > math.isnan(value)],
            [list(published[at : at + wide]) for at in range(0, len(published), wide)],
        )

    def written(self, values: list[list[float]]) -> str:
        """The file with other values; hidden cells are empty."""
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow([self.corner, *self.columns])
        for row, numbers in zip(self.rows, values, strict=True):
            lines.writerow([row, *("" if math.isnan(value) else f"{value:.0f}" for value in numbers)])
        return out.getvalue()


def read_margins(file: Path) -> Margins:
    """A table of counts from a CSV file: names in the first line and the first column, whole numbers elsewhere."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            found = [line for line in csv.reader(lines) if any(part.strip() for part in line)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"table: {str(file)!r} cannot be read: {error}") from None
    if len(found) < 2 or len(found[0]) < 2:
        raise InputError(f"table: {str(file)!r} needs a line of names, and a line for each row with a name and numbers")
    (corner, *columns), rows = [part.strip() for part in found[0]], [line[0].strip() for line in found[1:]]
    for what, names in (("column", columns), ("row", rows)):
        _check_names(file, what, names)
    if all(map(_total, rows)) or all(map(_total, columns)):
        raise InputError(f"table: {str(file)!r} holds totals alone; the numbers that they are made of are needed")
    return Margins(corner, rows, columns, [_numbers(file, n, line, columns) for n, line in enumerate(found[1:], 2)])


def _check_names(file: Path, what: str, names: list[str]) -> None:
    twice = [name for n, name in enumerate(names) if name.lower() in map(str.lower, names[:n])]
    if twice:
        raise InputError(f"table: {str(file)!r} has two {what}s named {twice[0]!r}; give each a name of its own")
    if sum(map(_total, names)) > 1:
        raise InputError(f"table: {str(file)!r} has several {what}s of totals; keep one")


def _numbers(file: Path, number: int, line: list[str], columns: list[str]) -> list[float]:
    parts = [part.strip() for part in line[1:]]
    if len(parts) != len(columns):
        raise InputError(f"table: {str(file)!r}, line {number}: {len(parts)} numbers for {len(columns)} columns")
    out = []
    for name, part in zip(columns, parts, strict=True):
        if part.lower() in HIDDEN or part.startswith("<"):
            out.append(math.nan)
        elif part.isdecimal() and int(part) <= MOST_PEOPLE:
            out.append(float(part))
        else:
            raise InputError(
                f"table: {str(file)!r}, line {number}, column {name!r}: {part!r} is no count; expected a whole number "
                "from 0 on, or an empty cell for a hidden one"
            )
    return out


def _total(name: str) -> bool:
    return name.lower() in TOTALS
