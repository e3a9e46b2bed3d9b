"""Chance that decides about a count: random rounding, and sums of independent whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passerby.errors import InputError

from .base import Record
from .checks import at_least, flag
from .discrete import Discrete
from .domain import WHOLE, Domain
from .law import TAIL, Floats, Law, trimmed

#: The law of a whole number: its least value, and the probabilities from there on.
Sum = tuple[int, Floats]


@dataclass(frozen=True, repr=False)
class RandomRounding(Record, Discrete):
    """One of the two multiples of `base` around the count, drawn so that the mean is the count.

    A count of `q base + r` goes up with probability `r / base`, so one person more always changes the law by `1 / base`
    in total variation. With `persistent`, the draw of a cell is used again whenever the cell is published.

    >>> [round(RandomRounding(3).total_variation(others), 6) for others in range(4)]
    [0.333333, 0.333333, 0.333333, 0.333333]
    """

    base: int
    persistent: bool = False

    takes = WHOLE
    hides = False

    def __post_init__(self) -> None:
        at_least(self, "base", self.base, 2, "a count is a multiple of 1 already; use Raw()")
        flag(self, "persistent", self.persistent)

    def law(self, count: float) -> Law:
        """The multiple below and the multiple above."""
        check_whole(self, count)
        below, rest = divmod(int(count), self.base)
        values = np.array([below, below + 1.0]) * self.base
        return trimmed(values, np.array([self.base - rest, rest]) / self.base)

    def gives(self, taken: Domain) -> Domain:
        """Multiples, of the same sign."""
        return taken

    def preimage(self, low: Floats, high: Floats) -> list[tuple[Floats, Floats]]:
        """Less than a base away."""
        return [(low - self.base, high + self.base)]

    def total_variation(self, count: int = 0) -> float:
        """`1 / base`."""
        return 1 / self.base


def added(left: Sum, right: Sum, tail: float = TAIL) -> Sum:
    """The law of a sum of independent whole numbers; a `tail` is cut at both ends."""
    chances = np.convolve(left[1], right[1])
    kept = np.flatnonzero((np.cumsum(chances) > tail) & (np.cumsum(chances[::-1])[::-1] > tail))
    return left[0] + right[0] + int(kept[0]), chances[kept[0] : kept[-1] + 1]


def check_whole(owner: object, count: float) -> None:
    """Refuse what is not a whole number."""
    if not (math.isfinite(count) and count == math.floor(count)):
        raise InputError(f"{owner!r}: {count:g} is not a whole number; let noise that comes first be rounded")
