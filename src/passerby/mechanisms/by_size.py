"""Rounding that gets coarser as counts get larger."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import is_whole

from .checks import MOST_PEOPLE
from .domain import Domain
from .fixed import Fixed, Rounding
from .law import HIDDEN, Floats
from .line import Pieces, Spans, cut_line

#: From each size on, counts are rounded to multiples of a base; smaller ones are left empty. These are the sizes of the
#: United States Census Bureau's Disclosure Review Board: four digits at most are left of a million and more.
CENSUS = ((15, 10), (100, 50), (1_000, 100), (10_000, 500), (100_000, 1_000), (10_000_000, 10_000), (10**8, 10**5))


@dataclass(frozen=True, repr=False)
class RoundingBySize(Fixed):
    """From each size on, the nearest multiple of its base; below the first size, the cell is empty.

    >>> by_size = RoundingBySize([[15, 10], [100, 50]])
    >>> by_size.sample([14, 15, 99, 124, 125], np.random.default_rng()).tolist()
    [nan, 20.0, 100.0, 100.0, 150.0]
    >>> [by_size.total_variation(others) for others in (13, 14, 24, 99, 124)]
    [0.0, 1.0, 1.0, 0.0, 1.0]
    """

    sizes: tuple[tuple[int, int], ...] = CENSUS

    def __init__(self, sizes: Any = CENSUS) -> None:
        if isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable):
            raise InputError(f"RoundingBySize(sizes={sizes!r}): expected pairs such as [[15, 10], [100, 50]]")
        pairs = tuple(tuple(pair) if isinstance(pair, Iterable) else (pair,) for pair in sizes)
        if not pairs:
            raise InputError("RoundingBySize(sizes=[]): at least one pair of a size and a base is needed")
        for i, pair in enumerate(pairs):
            if (
                len(pair) != 2
                or not all(map(is_whole, pair))
                or not (0 <= pair[0] <= MOST_PEOPLE and 1 <= pair[1] <= MOST_PEOPLE)
            ):
                raise InputError(
                    f"RoundingBySize: sizes[{i}] = {list(pair)}: expected a size of at least 0 and a base of at least "
                    "1, both whole numbers"
                )
            if i and pair[0] <= pairs[i - 1][0]:
                raise InputError(
                    f"RoundingBySize: sizes[{i}] = {list(pair)}: must be above the size before it, {pairs[i - 1][0]}"
                )
        object.__setattr__(self, "sizes", tuple((int(size), int(base)) for size, base in pairs))

    @property
    def _parts(self) -> list[tuple[float, float, int]]:
        """From where to where which base is in use."""
        starts = [*(size for size, _ in self.sizes), math.inf]
        return [(starts[i], starts[i + 1], base) for i, (_, base) in enumerate(self.sizes)]

    def apply(self, values: Floats) -> Floats:
        """Nearest multiples, by size."""
        out = np.full(np.shape(values), HIDDEN)
        for low, high, base in self._parts:
            out = np.where((values >= low) & (values < high), _nearest(base).apply(values), out)
        return out

    def pieces(self, low: float, high: float) -> Pieces:
        """One for each multiple of each size."""
        first = self.sizes[0][0]
        parts = [cut_line(low, min(high, first), [], [HIDDEN])] if low < first else []
        for start, end, base in self._parts:
            if max(low, start) < min(high, end):
                parts.append(_nearest(base).pieces(max(low, start), min(high, end)))
        return Pieces(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """Half a base around the multiples, within each size."""
        out = []
        for start, end, base in self._parts:
            for first, last in _nearest(base).preimage(low, high):
                out.append((np.clip(first, start, end), np.clip(last, start, end)))
        return out

    def hidden(self) -> list[tuple[float, float]]:
        """Below the first size."""
        return [(-math.inf, float(self.sizes[0][0]))]

    def gives(self, taken: Domain) -> Domain:
        """Whole numbers from zero on."""
        return Domain(whole=True, negative=False)


def _nearest(base: int) -> Rounding:
    """The nearest multiple; of one, the nearest whole number."""
    out = object.__new__(Rounding)
    object.__setattr__(out, "base", base)
    return out
