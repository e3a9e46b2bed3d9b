"""Fixed rules: raw counts, suppression, rounding, bands, a least value, nothing below zero.

A rule maps each count to one published value. It maps real numbers as well, so that it can follow noise: the line is
cut into pieces, each published as one value or left as it is.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError

from .base import HIDDEN, Discrete, Floats, Law, Record
from .checks import at_least, flag


class Piece(NamedTuple):
    """The numbers from `low` to `high`, published as `value`; None where they are published as they are."""

    low: float
    high: float
    value: float | None


class Rule(Record, Discrete):
    """A fixed rule: no chance in it, so all that matters is whether the target changes the published value."""

    @abstractmethod
    def apply(self, values: Floats) -> Floats:
        """What is published for each value; an empty cell stays empty."""

    @abstractmethod
    def pieces(self, low: float, high: float) -> list[Piece]:
        """The pieces of the line from `low` to `high`, in increasing order."""

    def law(self, count: float) -> Law:
        """One value."""
        return self.apply(np.array([count], dtype=np.float64)), np.ones(1)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """What the rule makes of each count: nothing is drawn."""
        return np.array(self.apply(np.asarray(count, dtype=np.float64)))


@dataclass(frozen=True)
class Raw(Rule):
    """The count itself.

    >>> Raw().total_variation()
    1.0
    """

    shift_invariant = True

    __repr__ = Record.__repr__

    def apply(self, values: Floats) -> Floats:
        """The values, unchanged."""
        return values

    def pieces(self, low: float, high: float) -> list[Piece]:
        """One piece, left as it is."""
        return [Piece(low, high, None)]

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """0 where the output is the count, minus infinity elsewhere."""
        return np.where(np.asarray(output) == np.asarray(count), 0.0, -np.inf)

    def total_variation(self, count: int = 0) -> float:
        """One: a raw count always tells whether the target was there."""
        return 1.0


@dataclass(frozen=True, repr=False)
class Suppression(Rule):
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

    def pieces(self, low: float, high: float) -> list[Piece]:
        """Empty below the threshold, and as it is from there on; a real number is never exactly zero."""
        return _cut(low, high, [self.below], [HIDDEN, None])


@dataclass(frozen=True, repr=False)
class Rounding(Rule):
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

    def pieces(self, low: float, high: float) -> list[Piece]:
        """One for each multiple."""
        return _rounded_pieces(low, high, self.base)


@dataclass(frozen=True, repr=False)
class Bands(Rule):
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
            if isinstance(cut, (bool, str)) or not (isinstance(cut, (int, float, np.number)) and math.isfinite(cut)):
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

    def pieces(self, low: float, high: float) -> list[Piece]:
        """One for each band."""
        return _cut(low, high, list(self.edges), [float(i) for i in range(len(self.edges) + 1)])


@dataclass(frozen=True, repr=False)
class AtLeast(Rule):
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

    def pieces(self, low: float, high: float) -> list[Piece]:
        """One value below, and as it is above."""
        return _cut(low, high, [self.least], [float(self.least), None])


@dataclass(frozen=True)
class Nearest(Rule):
    """The nearest whole number; halves are rounded up."""

    shift_invariant = True

    def apply(self, values: Floats) -> Floats:
        """`floor(value + 1/2)`."""
        return np.asarray(np.floor(values + 0.5) + 0.0)

    def pieces(self, low: float, high: float) -> list[Piece]:
        """One for each whole number."""
        return _rounded_pieces(low, high, 1)


def _cut(low: float, high: float, cuts: list[float], values: list[float | None]) -> list[Piece]:
    """The pieces between cuts, from `low` to `high`."""
    edges = [-math.inf, *map(float, cuts), math.inf]
    pieces = [Piece(max(a, low), min(b, high), v) for a, b, v in zip(edges[:-1], edges[1:], values, strict=True)]
    return [piece for piece in pieces if piece.low < piece.high]


def _rounded_pieces(low: float, high: float, base: int) -> list[Piece]:
    first, last = math.floor(low / base + 0.5), math.floor(high / base + 0.5)
    pieces = [
        Piece(max((k - 0.5) * base, low), min((k + 0.5) * base, high), float(k * base)) for k in range(first, last + 1)
    ]
    return [piece for piece in pieces if piece.low < piece.high]


def pieces_of(rules: Iterable[Rule], low: float, high: float) -> list[Piece]:
    """The pieces of several rules, one after another."""
    pieces = [Piece(low, high, None)]
    for rule in rules:
        after = []
        for piece in pieces:
            if piece.value is None:
                after += rule.pieces(piece.low, piece.high)
            else:
                after.append(Piece(piece.low, piece.high, float(rule.apply(np.array([piece.value]))[0])))
        pieces = after
    return pieces
