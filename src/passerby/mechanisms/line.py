"""The line of real numbers, in pieces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
#: Both ends of intervals, of which the upper one does not belong to the interval.
Spans = tuple[Floats, Floats]

#: What counts as the next number after zero: an interval up to it holds zero alone. It can be divided.
AFTER_ZERO = 1e-290
#: In place of a value, for numbers that are published as they are.
AS_IT_IS = np.inf
#: More pieces than this are not listed.
MOST_PIECES = 100_000


def after(values: Floats) -> Floats:
    """The next number after each: an interval up to it holds the number alone."""
    return np.where(values == 0, AFTER_ZERO, np.nextafter(values, np.inf))


class Pieces(NamedTuple):
    """Pieces of the line: both ends of each, and the value it is published as, `AS_IT_IS` where it is left alone."""

    low: Floats
    high: Floats
    value: Floats

    @property
    def left_alone(self) -> list[tuple[float, float]]:
        """Both ends of the pieces that are published as they are."""
        plain = np.isinf(self.value)
        return list(zip(self.low[plain].tolist(), self.high[plain].tolist(), strict=True))

    @property
    def values(self) -> Floats:
        """The values of the others."""
        return np.unique(self.value[~np.isinf(self.value)])


def cut_line(low: float, high: float, cuts: ArrayLike, values: ArrayLike) -> Pieces:
    """The pieces between cuts, from `low` to `high`.

    >>> cut_line(0, 9, [4], [4, AS_IT_IS])
    Pieces(low=array([0., 4.]), high=array([4., 9.]), value=array([ 4., inf]))
    """
    edges = np.concatenate([[-np.inf], np.asarray(cuts, np.float64), [np.inf]])
    left, right = np.maximum(edges[:-1], low), np.minimum(edges[1:], high)
    some = left < right
    return Pieces(left[some], right[some], np.asarray(values, np.float64)[some])
