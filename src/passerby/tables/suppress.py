"""Complementary suppression: further numbers of a table to hide, so no hidden number follows from the others.

Hiding one more number widens the ranges of the others, so less follows from fewer shown numbers. Sets of numbers are
tried from the cheapest on. This is done separately for each group of counts that may be about the same people. If none
of so many sets is enough, numbers are added one by one, the one with the widest ranges first. Unneeded numbers are then
shown again. A number hidden in vain follows from the shown ones. It is never left in: it protects nothing.

A table of counts with totals, as a file: rows by columns, and some are sums of the others.
"""

from __future__ import annotations

import csv
import heapq
import io
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from passerby.errors import InputError, UnsupportedRelease
from passerby.mechanisms import Suppression
from passerby.mechanisms.checks import MOST_PEOPLE
from passerby.model.counts import Count, Present
from passerby.model.release import Release
from passerby.support.checks import whole

from .recover import Cell, Table, ends_of, recovered

#: Sets of numbers tried for a group before the search adds numbers one by one.
MOST_TRIED = 400


@dataclass(frozen=True)
class Concealment:
    """The numbers to hide `also`, and the remaining ranges.

    `published` are the values in the form of the release's counts, NaN for hidden ones; `cells` has the range of each
    count given all of them. `least` says whether nothing cheaper would do, for certain.
    """

    also: tuple[Count, ...]
    published: tuple[tuple[float, ...], ...]
    cells: tuple[Cell, ...]
    cost: float
    least: bool


def conceal(
    release: Release,
    published: Iterable[float | Iterable[float]],
    *,
    keep: Iterable[Count] = (),
    cost: Callable[[Cell], float] | None = None,
    apart: int = 1,
) -> Concealment:
    """Hide further numbers, so the shown ones give away no number hidden or rounded by a rule (`recovered`).

    The search is for the cheapest choice: as few numbers as possible, or the least sum of the `cost` of each, above 0.
    Counts to `keep` (such as totals) stay. Of each hidden or rounded number, at least two values `apart` by so many
    people must remain possible, or all values possible by itself. The adversary is taken to know the numbers hidden
    `also`, and to know their rule would have shown them.

    >>> from passerby import Present, Suppression
    >>> parts = [Present([place], step=0) for place in range(3)]
    >>> table = Release(counts=[*parts, Present([0, 1, 2], step=0)], steps=1, mechanism=Suppression(10))
    >>> found = conceal(table, [[float("nan"), 40, 31, 76]], keep=table.listed[3:])
    >>> found.published, found.cells[0].together, found.least
    (((nan, nan, 31.0, 76.0),), (0, 9), True)
    """
    table = Table.of(release, published)
    whole(apart, "apart", 1)
    if cost is not None and not callable(cost):
        raise InputError(f"cost: expected a function of a cell, such as lambda cell: cell.value, got {cost!r}")
    shown = [i for i, value in enumerate(table.values) if not math.isnan(value)]
    stay = table.numbers(keep, "keep")
    price = {i: _price(cost, cell) for i, cell in enumerate(table.cells()) if i in shown and i not in stay}
    also: list[int] = []
    least = True
    for g, group in enumerate(table.groups):
        search = _Search(table, g, apart, {i: price[i] for i in group if i in price})
        chosen, sure = search.best()
        also += chosen
        least &= sure
    cells = table.cells(also)
    values = iter(cell.value for cell in cells)
    return Concealment(
        tuple(table.counts[i] for i in sorted(also)),
        tuple(tuple(next(values) for _ in step) for step in release.sensors),
        tuple(cells),
        sum(price[i] for i in also),
        least,
    )


def _price(cost: Callable[[Cell], float] | None, cell: Cell) -> float:
    price = 1.0 if cost is None else cost(cell)
    if (
        isinstance(price, bool)
        or not isinstance(price, (int, float, np.integer, np.floating))
        or not 0 < price < math.inf
    ):
        raise InputError(f"cost: {price!r} for {cell.count!r}; expected a number above 0")
    return float(price)


@dataclass(frozen=True)
class _Search:
    """The choice for one group of counts: the counts to hide also, among those with a `price`."""

    table: Table
    group: int
    apart: int
    price: dict[int, float]

    def best(self) -> tuple[list[int], bool]:
        """The cheapest choice found, and whether it is the cheapest of all for certain."""
        if not self.missing(()):
            return [], True
        if self.missing(list(self.price)):
            raise UnsupportedRelease(self._never())
        for tried, chosen in enumerate(cheapest(self.price)):
            if tried == MOST_TRIED:
                return self._one_by_one(), False
            if not self.missing(chosen):
                return chosen, True
        raise AssertionError("all together were enough")

    def missing(self, also: Collection[int]) -> float:
        """The number of people missing between the ends, over all numbers hidden or rounded by a rule."""
        members = self.table.groups[self.group]
        own = [self.table.possible(i, False) for i in members]
        possible = [self.table.possible(i, True) if i in also else own[k] for k, i in enumerate(members)]
        ends = zip(map(ends_of, own), self.table.ranges(self.group, possible), strict=True)
        return sum(max(0.0, min(self.apart, high - low) - (last - first)) for (low, high), (first, last) in ends)

    def _one_by_one(self) -> list[int]:
        """Add the number with the least missing for its price, and at last show unneeded numbers again."""
        chosen: list[int] = []
        left = self.missing(chosen)
        while left:
            rest = [i for i in self.price if i not in chosen]
            found = {i: self.missing([*chosen, i]) for i in rest}
            # Two numbers of use only together gain nothing one by one: then the cheapest comes first.
            best = min(rest, key=lambda i: ((found[i] - left) / self.price[i], self.price[i], i))
            chosen.append(best)
            left = found[best]
        for i in sorted(chosen, key=lambda i: -self.price[i]):
            fewer = [other for other in chosen if other != i]
            if not self.missing(fewer):
                chosen = fewer
        return chosen

    def _never(self) -> str:
        cells = self.table.counts[self.table.groups[self.group][0]]
        return (
            "hidden numbers follow from others even if all that need not stay are hidden, among the counts from "
            f"{cells!r} on; keep fewer of them, or ask for less (apart={self.apart})"
        )


def cheapest(price: dict[int, float]) -> Iterator[list[int]]:
    """All sets of these numbers but the empty one, from the cheapest on.

    >>> list(cheapest({0: 1.0, 1: 3.0, 2: 1.5}))
    [[0], [2], [0, 2], [1], [0, 1], [2, 1], [0, 2, 1]]
    """
    order: Sequence[int] = sorted(price, key=lambda i: (price[i], i))
    # Each set comes from one: by its last number going one up, or by one more being added after it.
    heap = [(price[order[0]], [0])] if order else []
    while heap:
        total, places = heapq.heappop(heap)
        yield [order[place] for place in places]
        last = places[-1]
        if last + 1 < len(order):
            more = price[order[last + 1]]
            heapq.heappush(heap, (total + more, [*places, last + 1]))
            heapq.heappush(heap, (total - price[order[last]] + more, [*places[:-1], last + 1]))


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
