"""Rules: raw counts, suppression, rounding, bands, a least value, a weight; nothing is left to chance.

Each maps a count to one published value. It maps real numbers as well, so it can follow noise. The line is cut into
pieces, each published as one value or left as it is. `preimage` gives the origins of a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease
from passerby.support.checks import is_number, is_whole

from .base import Mechanism
from .checks import MOST_COUNTED, MOST_NOISE, MOST_PEOPLE, Record, at_least, flag
from .fixed import Fixed
from .laws import AFTER_ZERO, AS_IT_IS, COUNTS, HIDDEN, MOST_PIECES, Domain, Floats, Law, Pieces, Spans, cut_line


@dataclass(frozen=True)
class Raw(Fixed):
    """The count itself.

    >>> Raw().total_variation()
    1.0
    """

    shift_invariant = True
    raw = True

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
        """0 if the output is the count, minus infinity elsewhere."""
        return np.where(np.asarray(output) == np.asarray(count), 0.0, -np.inf)

    def total_variation(self, count: int = 0) -> float:
        """One: a raw count always tells whether the target was there."""
        return 1.0

    def divided(self, size: int) -> Raw:
        """Itself."""
        return self


@dataclass(frozen=True, repr=False)
class Suppression(Fixed):
    """Counts below `below` are not published: the cell is empty (NaN). With `keep_zeros`, zeros are published.

    An empty cell is published too: it tells that the count is small. Others alone at `below - 1` are hidden, and with
    the target they are not. So the target is seen there as well as in any larger crowd.

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

    def tells_less_than(self, fine: Mechanism) -> bool:
        """A higher threshold empties further cells."""
        higher = isinstance(fine, Suppression) and self.keep_zeros == fine.keep_zeros and self.below >= fine.below
        return higher or super().tells_less_than(fine)


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
        """The range of each base."""
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


@dataclass(frozen=True, repr=False)
class Scaled(Fixed):
    """Each person counts for `weight`: the count times the weight.

    A threshold after it is a threshold for fewer people. With a weight of 5 and everything below 5 left empty, a single
    person is shown:

    >>> from passerby.mechanisms import Suppression, Then
    >>> shown = Then(Scaled(5), Suppression(5))
    >>> shown.sample([0, 1, 2], np.random.default_rng()).tolist(), shown.total_variation(0)
    ([nan, 5.0, 10.0], 1.0)
    """

    weight: float

    def __post_init__(self) -> None:
        weight = self.weight
        if not is_number(weight) or not 0 < weight < math.inf:
            raise InputError(f"Scaled(weight={weight!r}): weight must be a finite number above 0")
        if not 1 / MOST_NOISE <= weight <= MOST_NOISE:
            raise InputError(
                f"Scaled(weight={weight!r}): weight must lie between {1 / MOST_NOISE:g} and {MOST_NOISE:,}"
            )

    @cached_property
    def _ratio(self) -> tuple[float, float]:
        """The weight as it is written, 4.7 as 47 to 10: three times 4.7 is then the number read from 14.1."""
        exact = Fraction(str(self.weight))
        return float(exact.numerator), float(exact.denominator)

    def law(self, count: float) -> Law:
        """One value, unless the count is too large to be scaled."""
        self._check(count)
        return super().law(count)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The same."""
        self._check(float(np.max(count, initial=0.0)))
        return super().sample(count, rng)

    def _check(self, count: float) -> None:
        if count * self.weight > MOST_COUNTED:
            raise InputError(
                f"{self!r}: a count of {count:,.0f} is scaled to {count * self.weight:,.0f}, of which not all digits "
                f"can be told; at most {MOST_COUNTED:,} is possible"
            )

    def apply(self, values: Floats) -> Floats:
        """The values times the weight."""
        up, down = self._ratio
        return np.asarray(values * up / down)

    def pieces(self, low: float, high: float) -> Pieces:
        """There are none: every number of a continuum is published as another."""
        raise UnsupportedRelease(
            f"{self!r}: to scale what was done to noise from a continuum is not modelled; scale first, and do the rest "
            "afterwards, with noise and thresholds that are larger by the weight"
        )

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """The values divided by the weight, from the first number scaled to `low` or more."""
        return [(self._first(low), self._first(high))]

    def _first(self, end: Floats) -> Floats:
        up, down = self._ratio
        out = np.asarray(end, np.float64) * down / up
        for _ in range(2):
            below = np.nextafter(out, -np.inf)
            out = np.where(np.isfinite(out) & (self.apply(below) >= end), below, out)
            out = np.where(np.isfinite(out) & (self.apply(out) < end), np.nextafter(out, np.inf), out)
        return out

    def gives(self, taken: Domain) -> Domain:
        """Whole numbers only if the weight is one."""
        return Domain(whole=taken.whole and self._ratio[1] == 1, negative=taken.negative)
