"""The number of steps that must be right swept on simulated data (the paper's figure 5, upper right).

The trace length of the real data is swept beside the paper's, so that the two can be compared like for like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from .experiment import Experiment
from .pieces import Piece
from .settings import Settings
from .simulated import draw_sweep, points, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def pieces(settings: Settings, data: object) -> list[Piece]:
    """All numbers of steps that must be right, for the simulated and for the real number of steps."""
    lengths = sorted({settings.steps, settings.holdout})
    return points(settings, [(settings.places, t, t - right, None) for t in lengths for right in range(1, t + 1)])


def draw(table: pl.DataFrame) -> Figure:
    """Loss against the number of steps that must be right, at the longer of the two trace lengths."""
    longest = table.filter(pl.col("steps") == pl.col("steps").max())
    return draw_sweep(longest, "right", "steps that must be right, $T - s$")


RIGHT = Experiment("right", "Simulated: steps that must be right", "simulated", pieces, draw, table_of)
