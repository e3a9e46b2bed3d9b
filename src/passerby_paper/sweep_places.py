"""The number of places M swept on simulated data (the paper's figure 5, upper left)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from .experiment import Experiment
from .simulated import draw_sweep, points, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(table: pl.DataFrame) -> Figure:
    """Loss against M."""
    return draw_sweep(table, "places", "places, $M$", sorted(set(table["places"].to_list()) - {20, 30, 70}))


PLACES = Experiment(
    "places",
    "Simulated: number of places M",
    "simulated",
    lambda s, data: points(s, [(m, s.steps, s.misses, None) for m in s.places_grid]),
    draw,
    table_of,
)
