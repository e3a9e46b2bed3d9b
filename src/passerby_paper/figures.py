"""What is drawn of the tables: a function per kind of figure, which takes the table of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from . import style
from .real import HIT_OF
from .settings import ATTACKS, BOUNDS, NAMES
from .simulated import averaged
from .wording import values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RIGHT = "steps that must be right, $T - s$"
#: Ways to measure a person's loss: column, look, words.
WAYS = (("tight", "tight", "tight bound (paper)"), ("upper", "interval", "upper end of the loss"))


def curves(
    axis: Axes,
    means: pl.DataFrame,
    x: str,
    *,
    raw: pl.DataFrame | None = None,
    names: Sequence[str] = (*BOUNDS, *ATTACKS),
    monte_carlo: bool = False,
) -> None:
    """The interval, bounds and attacks against x; values for `raw` counts are thin lines."""
    at, levels = values(means, x), {} if raw is None or not raw.height else raw.row(0, named=True)
    style.band(axis, "interval", at, values(means, "lower"), values(means, "upper"))
    for end in ("lower", "upper") if levels else ():
        style.level(axis, "interval", levels[end])
    for name in names:
        style.line(axis, name, at, values(means, name))
        if levels:
            style.level(axis, name, levels[name])
        if monte_carlo and name in ATTACKS:
            style.sampled(axis, name, at, values(means, f"{name}_mc"), values(means, f"{name}_mc_error"))


def against_sigma(
    axis: Axes,
    means: pl.DataFrame,
    names: Sequence[str] = (*BOUNDS, *ATTACKS),
    *,
    baseline: bool = False,
    monte_carlo: bool = False,
) -> None:
    """The same against sigma, and what there is without counts."""
    noisy, raw = means.filter(pl.col("sigma").is_not_null()), means.filter(pl.col("sigma").is_null())
    curves(axis, noisy, "sigma", raw=raw, names=names, monte_carlo=monte_carlo)
    sigma = values(noisy, "sigma")
    if baseline:
        style.band(axis, "baseline", sigma, values(noisy, "baseline_lower"), values(noisy, "baseline_upper"))
    axis.set_xscale("log")
    axis.set_xticks(sigma, [f"{s:g}" for s in sigma])
    axis.minorticks_off()
    axis.set_xlabel(r"standard deviation of the noise, $\sigma$")


def sweep(table: pl.DataFrame, x: str, label: str = "", unmarked: Sequence[float] = ()) -> Figure:
    """The paper's view with a linear axis, and the same on a logarithmic one, where small losses can be told apart.

    Traces of the greatest length alone, unless the length is what is swept.
    """
    means = averaged(table if x == "steps" else table.filter(pl.col("steps") == pl.col("steps").max()))
    figure, (axes,) = style.grid(1, 2, 3.4 if x == "sigma" else 3.3)
    for axis, log in zip(axes, (False, True), strict=True):
        if x == "sigma":
            against_sigma(axis, means, monte_carlo=not log)
        else:
            curves(axis, means, x, monte_carlo=not log)
            axis.set_xlabel(label)
            axis.set_xticks([v for v in values(means, x) if v not in unmarked])
        axis.set_title("logarithmic" if log else "linear, as in the paper")
        if log:
            axis.set_yscale("log")
        else:
            axis.set_ylim(-0.03, 1.04)
            axis.set_ylabel("success probability")
    style.legend(figure, axes, "thin level lines: the same with raw counts" if x == "sigma" else "", columns=4)
    return figure


def close_noise(table: pl.DataFrame) -> Figure:
    """The interval and the baseline against sigma, where one step or two must be right."""
    figure, (axes,) = style.grid(1, 2, 3.2)
    for axis, right in zip(axes, (1, 2), strict=True):
        means = averaged(table.filter(pl.col("right") == right))
        against_sigma(axis, means, ATTACKS, baseline=True)
        axis.set_ylim(0, 1.15 * max(means["upper"].to_list()))
        axis.set_title(f"{right} step{'s' * (right > 1)} must be right")
    axes[0].set_ylabel("success probability")
    style.legend(figure, axes, "thin level lines: the same with raw counts")
    return figure


def real_sweep(table: pl.DataFrame, x: str) -> Figure:
    """Mean loss against the number of steps that must be right, or against sigma, a panel per file."""
    files = sorted(set(table["dataset"].to_list()))
    figure, (axes,) = style.grid(1, len(files), 3.3 if x == "right" else 3.4)
    scored = table.with_columns(*[pl.col(column).alias(attack) for attack, column in HIT_OF.items()])
    for axis, name in zip(axes, files, strict=True):
        group = scored.filter(pl.col("dataset") == name)
        if x == "sigma":
            against_sigma(axis, group)
        else:
            curves(axis, group, x)
            axis.set_xticks(values(group, x))
            axis.set_xlabel(RIGHT)
        axis.set_ylim(-0.03, 1.04)
        axis.set_title(NAMES[name])
    axes[0].set_ylabel("mean loss, success rate")
    rest = "bounds and loss: under the fitted habits" if x == "right" else "thin level lines: raw counts"
    style.legend(figure, axes, f"attacks: on the real traces; {rest}")
    return figure


def real_noise(table: pl.DataFrame) -> Figure:
    """The interval and the baseline against sigma, with a sensor at the most visited place: a panel per file."""
    files = sorted(set(table["dataset"].to_list()))
    figure, (axes,) = style.grid(1, len(files), 3.2)
    for axis, name in zip(axes, files, strict=True):
        group = table.filter(pl.col("dataset") == name)
        against_sigma(axis, group, ("map",), baseline=True)
        low, high = min(values(group, "baseline_lower")), max(values(group, "upper"))
        axis.set_ylim(low - 0.25 * (high - low), high + 0.25 * (high - low))
        axis.set_title(NAMES[name])
    axes[0].set_ylabel("mean success probability")
    style.legend(figure, axes, "under the fitted habits; thin level lines: raw counts", columns=4)
    return figure


def scatter(table: pl.DataFrame, x: str, label: str, apart: float = 0.0) -> Figure:
    """A panel per file and way of measuring: the paper's tight bound above, this tool's upper end below.

    People with the same value are moved sideways by up to `apart`, so that they can be told apart.
    """
    from scipy.stats import spearmanr

    names = sorted(set(table["dataset"].to_list()))
    figure, axes = style.grid(2, len(names), 4.8, shared=True)
    for column, name in enumerate(names):
        group = table.filter(pl.col("dataset") == name)
        where = group[x].to_numpy() + apart * np.random.default_rng(0).uniform(-1, 1, group.height)
        for row, (loss, look, words) in enumerate(WAYS):
            axis = axes[row][column]
            colour, mark = style.LOOKS[look].colour, style.LOOKS[look].mark or "o"
            axis.scatter(where, group[loss], s=11, color=colour, marker=mark, alpha=0.4, linewidth=0, zorder=3)
            varied = min(group[x].n_unique(), group[loss].n_unique()) > 1
            value = float(spearmanr(group[x], group[loss]).statistic) if varied else np.nan
            found = f"rank correlation {value:+.2f}".replace("-", "\N{MINUS SIGN}")
            axis.set_title(f"{NAMES[name]}: {found}")
            axis.set_ylim(-0.03, 1.04)
            axes[row][0].set_ylabel(words)
        axes[1][column].set_xlabel(label)
    return figure


def examples(table: pl.DataFrame) -> Figure:
    """Loss without and with the counts, for the two people of each example."""
    figure, (axes,) = style.grid(1, 2, 2.6)
    titles = ("Example 1: a sensor in New York, one step", "Example 2: sensors at a circle and apart, two steps")
    bars = (
        ("baseline", None, "without the counts", "#CCCCCC"),
        ("lower", 1.0, r"noisy counts, $\sigma=1$", "#888888"),
        ("lower", None, "raw counts", "#222222"),
    )
    for axis, example, title in zip(axes, (1, 2), titles, strict=True):
        group = table.filter(pl.col("example") == example)
        people = group["person"].unique(maintain_order=True).to_list()
        for place, (column, sigma, label, colour) in enumerate(bars):
            chosen = group.filter(pl.col("sigma").eq_missing(pl.lit(sigma, pl.Float64)))
            at = np.arange(len(people)) + (place - 1) * 0.26
            drawn = axis.bar(at, chosen[column].to_list(), 0.24, color=colour, label=label, zorder=3)
            axis.bar_label(drawn, fmt="%.2f", fontsize=7, padding=1)
        axis.set_xticks(range(len(people)), people)
        axis.grid(axis="x", visible=False)
        axis.set_title(title)
        axis.set_ylim(0, 1.15 * max(group["lower"].to_list()))
    axes[0].set_ylabel("success probability")
    style.legend(figure, axes)
    return figure
