"""Where people are divided by their chance and by their advantage, in all tables and pictures of a page alike.

Two pictures that cut the same people at different values could be held against each other, and their difference be
about few people.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from passerby.audits.summary import TOLD_FIRST
from passerby.support.groups import Nested, counting

#: Chances at which curves may have a point, and edges of classes of the advantage.
GRID, EDGES = np.linspace(0.01, 1, 100).round(2).tolist(), np.linspace(0.1, 0.9, 9).round(1).tolist()
#: The values by which people are divided, and for each which others are never below it: an advantage never exceeds the
#: chance that it is a part of.
VALUES = ("baseline_lower", "lower", "upper", "advantage_lower", "advantage_upper")
OVER = ((1, 2), (2,), (), (1, 2, 4), (2,))
CURVES, BARS = (0, 1, 2), (3, 4)


def cuts(table: pl.DataFrame, levels: Sequence[float]) -> Nested:
    """What may be told of measured people: first at the thresholds, as in their table, then of bars, then of curves."""
    told = Nested([counting(table[name].to_numpy().clip(0, 1)) for name in VALUES], table.height, OVER)
    told.take_each(levels, TOLD_FIRST)
    for edge in EDGES:
        told.take(edge, BARS)
    for edge in reversed(GRID):
        told.take(edge, CURVES)
    return told
