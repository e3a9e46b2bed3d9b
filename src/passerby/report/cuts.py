"""The borders between groups of people by chance and by advantage, alike in all tables and pictures of a page.

Two pictures with different borders for the same people could be compared, and their difference could reveal a few
people.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from passerby.audits.shares import TOLD_FIRST
from passerby.support.rule_of_five import NestedCounts, counting

#: Tenths of a chance or an advantage, for points of curves and for the statement that nobody lies in between.
TENTHS, GRID = np.linspace(0.1, 1, 10).round(1).tolist(), np.linspace(0.01, 1, 100).round(2).tolist()
#: With fewer people, curves have points at each fifth chance of the grid: else one of few people would be told closely.
MANY, EACH = 100, 5
#: The values by which people are divided. For each, the values that are never below it: an advantage never exceeds its
#: chance.
VALUES = ("baseline_lower", "lower", "upper", "advantage_lower", "advantage_upper")
OVER = ((1, 2), (2,), (), (1, 2, 4), (2,))
CURVES, BARS = (0, 1, 2), (3, 4)
#: Bounds, rounded up.
UP = (2, 4)


def cuts(table: pl.DataFrame, levels: Sequence[float]) -> NestedCounts:
    """The shareable borders for measured people: first the thresholds, as in their table, then bars, then curves."""
    told = NestedCounts([counting(table[name].to_numpy().clip(0, 1)) for name in VALUES], table.height, OVER, UP)
    told.take_each(levels, TOLD_FIRST)
    for edge in TENTHS[:-1]:
        told.take(edge, BARS)
    _draw(told, CURVES)
    return told


def alone(values: ArrayLike) -> NestedCounts:
    """The shareable borders for one value of some people, as a curve."""
    told = NestedCounts([counting(values)], np.size(values))
    _draw(told, (0,))
    return told


def _draw(told: NestedCounts, columns: Sequence[int]) -> None:
    """Take points of curves, the same for all of them: a finer one only if it divides people.

    Empty ranges are shown by tenths: the lowest unreached chance is next to the chance of the most exposed person.
    """
    for edge in TENTHS:
        told.take(edge, columns)
    for edge in reversed(GRID[EACH - 1 :: EACH] if told.everyone < MANY else GRID):
        told.take(edge, columns, divides=True)
