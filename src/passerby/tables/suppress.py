"""Complementary suppression: further numbers of a table to hide, so no hidden number follows from the others.

Hiding one more number widens the ranges of the others, so less follows from fewer shown numbers. Sets of numbers are
tried from the cheapest on. This is done separately for each group of counts that may be about the same people. If none
of so many sets is enough, numbers are added one by one, the one with the widest ranges first. Unneeded numbers are then
shown again. A number hidden in vain follows from the shown ones. It is never left in: it protects nothing.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from passerby.errors import InputError, UnsupportedRelease
from passerby.model.counts import Count
from passerby.model.release import Release
from passerby.support.checks import whole

from .recover import Cell, Table, ends_of

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
