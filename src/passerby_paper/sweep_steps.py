"""The number of steps T swept on simulated data, with s = T/2 and with s = T-2 (the paper's figure 5, lower row)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from .experiment import Experiment
from .simulated import draw_sweep, points, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(table: pl.DataFrame) -> Figure:
    """Loss against T."""
    return draw_sweep(table, "steps", "steps, $T$")


STEPS_HALF = Experiment(
    "steps-half",
    "Simulated: number of steps T, half of them may be wrong",
    "simulated",
    lambda s, data: points(s, [(s.places, t, t // 2, None) for t in s.steps_grid]),
    draw,
    table_of,
)
STEPS_TWO = Experiment(
    "steps-two",
    "Simulated: number of steps T, two must be right",
    "simulated",
    lambda s, data: points(s, [(s.places, t, t - 2, None) for t in s.steps_grid]),
    draw,
    table_of,
)
