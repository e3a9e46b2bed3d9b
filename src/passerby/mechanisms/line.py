"""The line of real numbers, in pieces."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Both ends of intervals, of which the upper one does not belong to the interval.
Spans = tuple[Floats, Floats]

#: What counts as the next number after zero: an interval up to it holds zero alone. It can be divided.
AFTER_ZERO = 1e-290
#: More pieces than this are not listed.
MOST_PIECES = 100_000


def after(values: Floats) -> Floats:
    """The next number after each: an interval up to it holds the number alone."""
    return np.where(values == 0, AFTER_ZERO, np.nextafter(values, np.inf))


class Piece(NamedTuple):
    """The numbers from `low` to `high`, published as `value`; None where they are published as they are."""

    low: float
    high: float
    value: float | None


def cut_line(low: float, high: float, cuts: list[float], values: list[float | None]) -> list[Piece]:
    """The pieces between cuts, from `low` to `high`.

    >>> cut_line(0, 9, [4], [4.0, None])
    [Piece(low=0, high=4.0, value=4.0), Piece(low=4.0, high=9, value=None)]
    """
    edges = [-math.inf, *map(float, cuts), math.inf]
    pieces = [Piece(max(a, low), min(b, high), v) for a, b, v in zip(edges[:-1], edges[1:], values, strict=True)]
    return [piece for piece in pieces if piece.low < piece.high]
