"""Fixed mechanisms, in which nothing is left to chance: raw counts, suppression, rounding, bands, a least value.

Each maps a count to one published value. It maps real numbers as well, so that it can follow noise: the line is cut
into pieces, each published as one value or left as it is, and `preimage` says from where a value may come.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease
from passerby.support.checks import is_number

from .base import Record
from .checks import at_least, flag
from .discrete import Discrete
from .domain import COUNTS, REALS, Domain
from .law import HIDDEN, Floats, Law
from .line import AFTER_ZERO, AS_IT_IS, MOST_PIECES, Pieces, Spans, cut_line


class Fixed(Record, Discrete):
    """No chance is in it, so all that matters is whether the target changes the published value."""

    takes = REALS

    def gives(self, taken: Domain) -> Domain:
        """What it is given, or less."""
        return taken

    def noise(self) -> None:
        """There is none."""

    @abstractmethod
    def apply(self, values: Floats) -> Floats:
        """What is published for each value; an empty cell stays empty."""

    @abstractmethod
    def pieces(self, low: float, high: float) -> Pieces:
        """The pieces of the line from `low` to `high`, in increasing order."""

    @abstractmethod
    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """From where values from `low` to below `high` come: disjoint intervals, empty ones among them."""

    def hidden(self) -> list[tuple[float, float]]:
        """From where empty cells come."""
        return []

    @property
    def hides(self) -> bool:
        """Where empty cells come from somewhere."""
        return bool(self.hidden())

    def law(self, count: float) -> Law:
        """One value."""
        return self.apply(np.array([count], dtype=np.float64)), np.ones(1)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """What is made of each count: nothing is drawn."""
        return np.array(self.apply(np.asarray(count, dtype=np.float64)))


@dataclass(frozen=True)
class Raw(Fixed):
    """The count itself.

    >>> Raw().total_variation()
    1.0
    """

    shift_invariant = True

    __repr__ = Record.__repr__

    def apply(self, values: Floats) -> Floats:
        """The values, unchanged."""
        return values

    def pieces(self, low: float, high: float) -> Pieces:
        """One piece, left as it is."""
        return cut_line(low, high, [], [AS_IT_IS])

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """The values themselves."""
        return [(low, high)]

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """0 where the output is the count, minus infinity elsewhere."""
        return np.where(np.asarray(output) == np.asarray(count), 0.0, -np.inf)

    def total_variation(self, count: int = 0) -> float:
        """One: a raw count always tells whether the target was there."""
        return 1.0


@dataclass(frozen=True, repr=False)
class Suppression(Fixed):
    """Counts below `below` are not published: the cell is empty (NaN). With `keep_zeros`, zeros are published.

    That a cell is empty is published too, and tells that the count is small. Others alone at `below - 1` are hidden
    and together with the target are not, so the target is seen there as well as in any larger crowd.

    >>> [Suppression(10).total_variation(others) for others in (3, 8, 9, 10, 50)]
    [0.0, 0.0, 1.0, 1.0, 1.0]
    """

    below: int
    keep_zeros: bool = False

    def __post_init__(self) -> None:
        at_least(self, "below", self.below, 1, "below 1 there is nothing to suppress; use Raw()")
        flag(self, "keep_zeros", self.keep_zeros)

    def apply(self, values: Floats) -> Floats:
        """Empty below the threshold."""
        kept = values >= self.below
        if self.keep_zeros:
            kept = kept | (values == 0)
        return np.where(kept, values, HIDDEN)

    def pieces(self, low: float, high: float) -> Pieces:
        """Empty below the threshold, and as it is from there on; a real number is never exactly zero."""
        return cut_line(low, high, [self.below], [HIDDEN, AS_IT_IS])

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """The values themselves, from the threshold on, and zero if it is kept."""
        kept = [(np.maximum(low, self.below), high)]
        if self.keep_zeros:
            kept.append((np.maximum(low, 0.0), np.minimum(high, AFTER_ZERO)))
        return kept

    def hidden(self) -> list[tuple[float, float]]:
        """Below the threshold, but for zero if it is kept."""
        return [(-math.inf, 0.0), (AFTER_ZERO, self.below)] if self.keep_zeros else [(-math.inf, self.below)]


@dataclass(frozen=True, repr=False)
class Rounding(Fixed):
    """The nearest multiple of `base`; halves are rounded up.

    >>> [Rounding(5).total_variation(others) for others in range(6)]
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """

    base: int

    def __post_init__(self) -> None:
        at_least(self, "base", self.base, 2, "a count is a multiple of 1 already; use Raw()")

    def apply(self, values: Floats) -> Floats:
        """`base * floor(value / base + 1/2)`."""
        return np.asarray(self.base * np.floor(values / self.base + 0.5) + 0.0)

    def pieces(self, low: float, high: float) -> Pieces:
        """One for each multiple."""
        first, last = math.floor(low / self.base + 0.5), math.floor(high / self.base + 0.5)
        if last - first > MOST_PIECES:
            raise UnsupportedRelease(
                f"{self!r}: {last - first:,} multiples of {self.base} lie within reach of the noise that comes first, "
                f"more than the {MOST_PIECES:,} that are listed; leave the rounding out: the noise alone tells a "
                "little more, so that its upper end holds"
            )
        multiples = np.arange(first, last + 1.0)
        return cut_line(low, high, (multiples[:-1] + 0.5) * self.base, multiples * self.base)

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """Half a base around the multiples."""
        return [((np.ceil(low / self.base) - 0.5) * self.base, (np.ceil(high / self.base) - 0.5) * self.base)]

    def gives(self, taken: Domain) -> Domain:
        """Whole numbers."""
        return Domain(whole=True, negative=taken.negative)


class Nearest(Rounding):
    """The nearest whole number; halves are rounded up."""

    shift_invariant = True

    def __init__(self) -> None:
        object.__setattr__(self, "base", 1)


@dataclass(frozen=True, repr=False)
class Bands(Fixed):
    """The number of the band: 0 below the first edge ("quiet"), 1 from there to the second ("normal"), and so on.

    >>> Bands([10, 50]).sample([3, 10, 49, 50], np.random.default_rng()).tolist()
    [0.0, 1.0, 1.0, 2.0]
    """

    edges: tuple[float, ...]

    def __init__(self, edges: Iterable[float]) -> None:
        if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
            raise InputError(f"Bands(edges={edges!r}): edges must be a list of numbers, such as [10, 50]")
        cuts = tuple(edges)
        for i, cut in enumerate(cuts):
            if not is_number(cut) or not math.isfinite(cut):
                raise InputError(f"Bands: edges[{i}] = {cut!r}: expected a finite number")
            if i and cut <= cuts[i - 1]:
                raise InputError(f"Bands: edges[{i}] = {cut!r} must be above the edge before it, {cuts[i - 1]!r}")
        if not cuts:
            raise InputError("Bands(edges=[]): at least one edge is needed; with none, nothing is published")
        object.__setattr__(self, "edges", cuts)

    def apply(self, values: Floats) -> Floats:
        """The number of edges at or below each value."""
        band = np.searchsorted(np.array(self.edges, dtype=np.float64), values, side="right")
        return np.where(np.isnan(values), HIDDEN, band)

    def pieces(self, low: float, high: float) -> Pieces:
        """One for each band."""
        return cut_line(low, high, self.edges, np.arange(len(self.edges) + 1))

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """From the lower edge of the first band to the lower edge of the band after the last."""
        edges = np.array([-math.inf, *self.edges, math.inf])
        first, after = (np.ceil(end).clip(0, len(self.edges) + 1).astype(np.int64) for end in (low, high))
        return [(edges[first], edges[after])]

    def gives(self, taken: Domain) -> Domain:
        """Counts: the numbers of bands."""
        return COUNTS


@dataclass(frozen=True, repr=False)
class AtLeast(Fixed):
    """Values below `least` are published as `least`: "2 to 4 are shown as 4", after `Suppression(2)`.

    >>> AtLeast(4).sample([1, 4, 9], np.random.default_rng()).tolist()
    [4.0, 4.0, 9.0]
    """

    least: int

    def __post_init__(self) -> None:
        at_least(self, "least", self.least, 0, "counts are never negative")

    def apply(self, values: Floats) -> Floats:
        """The larger of value and `least`."""
        return np.maximum(values, float(self.least))

    def pieces(self, low: float, high: float) -> Pieces:
        """One value below, and as it is above."""
        return cut_line(low, high, [self.least], [self.least, AS_IT_IS])

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """The values themselves, and all below with the least."""
        return [(np.where(low <= self.least, -math.inf, low), np.where(high <= self.least, -math.inf, high))]

    def gives(self, taken: Domain) -> Domain:
        """Nothing below zero."""
        return Domain(whole=taken.whole, negative=False)
