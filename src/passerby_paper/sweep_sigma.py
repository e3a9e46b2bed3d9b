"""The noise swept on simulated data (the paper's figure 7), and a closer look at whether it helps.

At the paper's setting (half of the steps right) the loss is far below what the published figures can show. `noise`
asks the same where the loss is large enough to see: one or two steps must be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from . import style
from .experiment import Experiment
from .pieces import Piece
from .settings import Settings
from .simulated import averaged, points, table_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def pieces(settings: Settings, data: object) -> list[Piece]:
    """All sigmas and no noise, at the paper's setting."""
    grid = [(settings.places, settings.steps, settings.misses, sigma) for sigma in (None, *settings.sigma_grid)]
    return points(settings, grid)


def close_pieces(settings: Settings, data: object) -> list[Piece]:
    """All sigmas and no noise, where one step or two must be right, with more effort."""
    grid = [
        (settings.places, settings.steps, settings.steps - right, sigma)
        for right in (1, 2)
        for sigma in (None, *settings.sigma_grid)
    ]
    return points(settings, grid, close=True)


def draw(table: pl.DataFrame) -> Figure:
    """Loss against sigma; thin lines are the values for raw counts."""
    figure, axes = style.panels(2, 3.4)
    means = averaged(table)
    for axis, log in zip(axes, (False, True), strict=True):
        against_sigma(axis, means, monte_carlo=not log)
        axis.set_title("logarithmic" if log else "linear, as in the paper")
        if log:
            axis.set_yscale("log")
        else:
            axis.set_ylim(-0.03, 1.04)
            axis.set_ylabel("success probability")
    style.legend(figure, axes, "thin level lines: the same with raw counts", columns=4)
    return figure


def draw_close(table: pl.DataFrame) -> Figure:
    """The interval and the baseline against sigma, where one step or two must be right."""
    figure, axes = style.panels(2, 3.2)
    for axis, right in zip(axes, (1, 2), strict=True):
        means = averaged(table.filter(pl.col("right") == right))
        against_sigma(axis, means, bounds=False, baseline=True)
        axis.set_ylim(0, 1.15 * max(means["upper"].to_list()))
        axis.set_title(f"{right} step{'s' * (right > 1)} must be right")
    axes[0].set_ylabel("success probability")
    style.legend(figure, axes, "thin level lines: the same with raw counts")
    return figure


def against_sigma(
    axis: Axes,
    means: pl.DataFrame,
    *,
    bounds: bool = True,
    baseline: bool = False,
    monte_carlo: bool = False,
    attacks: Sequence[str] = style.ATTACKS,
) -> None:
    """Attacks, bounds and the interval against sigma, with the values for raw counts as thin lines."""
    noisy, raw = means.filter(pl.col("sigma").is_not_null()), means.filter(pl.col("sigma").is_null())
    sigma = noisy["sigma"].to_list()
    style.band(axis, "interval", sigma, noisy["lower"].to_list(), noisy["upper"].to_list())
    if raw.height:
        style.level(axis, "interval", raw["lower"][0])
        style.level(axis, "interval", raw["upper"][0])
    for name in (*(style.PAPER_BOUNDS if bounds else ()), *attacks):
        style.line(axis, name, sigma, noisy[name].to_list())
        if raw.height:
            style.level(axis, name, raw[name][0])
        if monte_carlo and name in style.ATTACKS:
            style.sampled(axis, name, sigma, noisy[f"{name}_mc"].to_list(), noisy[f"{name}_mc_error"].to_list())
    if baseline:
        style.band(axis, "baseline", sigma, noisy["baseline_lower"].to_list(), noisy["baseline_upper"].to_list())
    axis.set_xscale("log")
    axis.set_xticks(sigma, [f"{s:g}" for s in sigma])
    axis.minorticks_off()
    axis.set_xlabel(r"standard deviation of the noise, $\sigma$")


SIGMA = Experiment("sigma", "Simulated: noise", "simulated", pieces, draw, table_of)
NOISE = Experiment("noise", "Simulated: noise where the loss is large", "simulated", close_pieces, draw_close, table_of)
