"""Figures: a function per kind, which takes the table of an experiment, and one style for all.

The same attack or bound has the same colour and mark everywhere. Colours are from the palette of Okabe and Ito, which
people with colour-blindness can tell apart. Marks and dashes differ as well, so that figures survive a print in grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

import passerby as pb
from passerby_paper import figures

from .claims import by_file, values
from .people import HIT_OF
from .settings import ATTACKS, BOUNDS
from .simulated import averaged
from .tables import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """Legend, colour, mark, dashes and size of mark of one quantity.

    The mark of the prior attack is larger than those that often lie on top of it.
    """

    label: str
    colour: str
    mark: str
    line: Any = "-"
    size: float = 4


LOOKS = {
    "map": Look("MAP attack", "#0072B2", "o"),
    "prior": Look("prior attack", "#E69F00", "s", size=6.5),
    "constant": Look("constant attack", "#009E73", "^"),
    "tight": Look("tight bound (paper)", "#CC79A7", "D", (0, (5, 1.5))),
    "loose": Look("loose bound (paper)", "#D55E00", "v", (0, (1.5, 1.2))),
    "interval": Look("loss (this tool's interval)", "#000000", "", "-"),
    "baseline": Look("loss without the release", "#777777", "", (0, (4, 2, 1, 2))),
}
SAMPLED = "attacks by Monte Carlo"

_RC: dict[Any, Any] = {
    "font.size": 8, "axes.titlesize": 8.5, "axes.labelsize": 8, "legend.fontsize": 7.5,
    "xtick.labelsize": 7.5, "ytick.labelsize": 7.5, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#E4E4E4", "grid.linewidth": 0.6,
    "lines.linewidth": 1.2, "lines.markersize": 4, "legend.frameon": False,
    "pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "passerby",
}  # fmt: skip


def need_matplotlib() -> None:
    """Refuse to start, saying what to install, where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise pb.PasserbyError(
            "figures need the package matplotlib, which is not installed: pip install 'passerby[paper]'"
        ) from None


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save in the common style."""
    import matplotlib

    with matplotlib.rc_context(_RC):
        yield


def grid(rows: int, columns: int, height: float, *, shared: bool = False) -> tuple[Figure, list[list[Axes]]]:
    """A figure with rows and columns of panels, as wide as a page."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(7.0, height), layout=ConstrainedLayoutEngine(w_pad=0.1))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=shared, sharey=shared)
    return figure, [list(row) for row in axes]


def line(axes: Axes, name: str, x: Sequence[float], y: Sequence[float]) -> None:
    """One attack or bound against the swept value."""
    look = LOOKS[name]
    axes.plot(x, y, color=look.colour, marker=look.mark, markersize=look.size, linestyle=look.line, label=look.label)


def sampled(axes: Axes, name: str, x: Sequence[float], y: Sequence[float], error: Sequence[float]) -> None:
    """Monte Carlo estimates of an attack: hollow marks with two standard errors, without a line."""
    look, hollow = LOOKS[name], {"markerfacecolor": "none", "linestyle": "none"}
    bars: dict[str, Any] = {"yerr": [2 * e for e in error], "elinewidth": 0.8, "zorder": 1.9, **hollow}
    axes.errorbar(x, y, color=look.colour, marker=look.mark, markersize=look.size + 2, **bars)
    if SAMPLED not in axes.get_legend_handles_labels()[1]:
        axes.plot([], [], marker="o", color="#555555", label=SAMPLED, markerfacecolor="none", linestyle="none")


def band(axes: Axes, name: str, x: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> None:
    """An interval around a loss."""
    look = LOOKS[name]
    axes.fill_between(x, lower, upper, color=look.colour, alpha=0.18, linewidth=0, label=look.label)
    axes.plot(x, lower, color=look.colour, linestyle=look.line, linewidth=0.9, label=look.label)
    axes.plot(x, upper, color=look.colour, linestyle=look.line, linewidth=0.9)


def level(axes: Axes, name: str, value: float) -> None:
    """A value without noise, for reference: a thin line across."""
    look = LOOKS[name]
    axes.axhline(value, color=look.colour, linestyle=look.line, linewidth=0.7, alpha=0.8, zorder=1.5)


def legend(figure: Figure, axes: Iterable[Axes], note: str = "", columns: int = 3) -> None:
    """One legend for all panels, below them, with a line of explanation."""
    seen: dict[str, tuple[Any, ...]] = {}
    for ax in axes:
        known = set(seen)
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            if label not in known:  # a band is an area and a line, drawn as one
                seen[label] = (*seen.get(label, ()), handle)
    labels = sorted(seen, key=lambda label: label == SAMPLED)
    handles: list[Any] = [seen[label][0] if len(seen[label]) == 1 else seen[label] for label in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, title=note, title_fontsize=7.5)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PDF and SVG; the same figure gives the same bytes."""
    for kind, metadata in (("pdf", {"CreationDate": None, "Producer": None}), ("svg", {"Date": None})):
        with whole(folder / f"{name}.{kind}") as draft:
            figure.savefig(draft, format=kind, metadata=metadata)


#: What is swept, in words.
LABELS = {
    "places": "places, $M$",
    "right": "steps that must be right, $T - s$",
    "steps": "steps, $T$",
    "sigma": r"standard deviation of the noise, $\sigma$",
}
THIN = "thin level lines"
#: Ways to measure a person's loss: column, look, words.
WAYS = (("tight", "tight", "tight bound (paper)"), ("upper", "interval", "upper end of the loss"))


@contextmanager
def panels(
    titles: Iterable[str], height: float, label: str, note: str = "", columns: int = 3
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Panels side by side, to be drawn in, with one legend below them."""
    titles = list(titles)
    figure, (axes,) = figures.grid(1, len(titles), height)
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title)
    axes[0].set_ylabel(label)
    yield figure, axes
    figures.legend(figure, axes, note, columns)


def curves(
    axis: Axes,
    means: pl.DataFrame,
    x: str,
    names: Sequence[str] = (*BOUNDS, *ATTACKS),
    *,
    unmarked: Sequence[float] = (),
    baseline: bool = False,
    monte_carlo: bool = False,
) -> None:
    """The interval, bounds and attacks against x; against sigma, values for raw counts are thin lines."""
    noisy, raw = (means.drop_nulls("sigma"), means.filter(pl.col("sigma").is_null())) if x == "sigma" else (means, None)
    at, levels = values(noisy, x), {} if raw is None or not raw.height else raw.row(0, named=True)
    figures.band(axis, "interval", at, values(noisy, "lower"), values(noisy, "upper"))
    for end in ("lower", "upper") if levels else ():
        figures.level(axis, "interval", levels[end])
    for name in names:
        figures.line(axis, name, at, values(noisy, name))
        if levels:
            figures.level(axis, name, levels[name])
        if monte_carlo and name in ATTACKS:
            figures.sampled(axis, name, at, values(noisy, f"{name}_mc"), values(noisy, f"{name}_mc_error"))
    if baseline:
        figures.band(axis, "baseline", at, values(noisy, "baseline_lower"), values(noisy, "baseline_upper"))
    axis.set_xlabel(LABELS[x])
    if x == "sigma":
        axis.set_xscale("log")
        axis.set_xticks(at, [f"{s:g}" for s in at])
        axis.minorticks_off()
    else:
        axis.set_xticks([v for v in at if v not in unmarked])


def sweep(table: pl.DataFrame, x: str, unmarked: Sequence[float] = ()) -> Figure:
    """The paper's view with a linear axis, and the same on a logarithmic one, where small losses can be told apart.

    Traces of the greatest length alone, unless the length is what is swept.
    """
    means = averaged(table if x == "steps" else table.filter(pl.col("steps") == pl.col("steps").max()))
    height, note = (3.4, f"{THIN}: the same with raw counts") if x == "sigma" else (3.3, "")
    titles = ("linear, as in the paper", "logarithmic")
    with panels(titles, height, "success probability", note, columns=4) as (figure, (linear, logarithmic)):
        curves(linear, means, x, unmarked=unmarked, monte_carlo=True)
        curves(logarithmic, means, x, unmarked=unmarked)
        linear.set_ylim(-0.03, 1.04)
        logarithmic.set_yscale("log")
    return figure


def close_noise(table: pl.DataFrame) -> Figure:
    """The interval and the baseline against sigma, where one step or two must be right."""
    titles = ("1 step must be right", "2 steps must be right")
    with panels(titles, 3.2, "success probability", f"{THIN}: the same with raw counts") as (figure, axes):
        for right, axis in enumerate(axes, 1):
            means = averaged(table.filter(pl.col("right") == right))
            curves(axis, means, "sigma", ATTACKS, baseline=True)
            axis.set_ylim(0, 1.15 * max(means["upper"].to_list()))
    return figure


def real_sweep(table: pl.DataFrame, x: str) -> Figure:
    """Mean loss against the number of steps that must be right, or against sigma, a panel per file."""
    files = by_file(table.with_columns(*[pl.col(column).alias(attack) for attack, column in HIT_OF.items()]))
    height, rest = (3.4, f"{THIN}: raw counts") if x == "sigma" else (3.3, "bounds and loss: under the fitted habits")
    note = f"attacks: on the real traces; {rest}"
    with panels(files, height, "mean loss, success rate", note) as (figure, axes):
        for axis, group in zip(axes, files.values(), strict=True):
            curves(axis, group, x)
            axis.set_ylim(-0.03, 1.04)
    return figure


def real_noise(table: pl.DataFrame) -> Figure:
    """The interval and the baseline against sigma, with a sensor at the most visited place: a panel per file."""
    files, note = by_file(table), f"under the fitted habits; {THIN}: raw counts"
    with panels(files, 3.2, "mean success probability", note, columns=4) as (figure, axes):
        for axis, group in zip(axes, files.values(), strict=True):
            curves(axis, group, "sigma", ("map",), baseline=True)
            low, high = min(values(group, "baseline_lower")), max(values(group, "upper"))
            axis.set_ylim(low - 0.25 * (high - low), high + 0.25 * (high - low))
    return figure


def scatter(table: pl.DataFrame, x: str, label: str, apart: float = 0.0) -> Figure:
    """A panel per file and way of measuring: the paper's tight bound above, this tool's upper end below.

    People with the same value are moved sideways by up to `apart`, so that they can be told apart.
    """
    from scipy.stats import spearmanr

    files = by_file(table)
    figure, axes = figures.grid(2, len(files), 4.8, shared=True)
    for column, (name, group) in enumerate(files.items()):
        where = group[x].to_numpy() + apart * np.random.default_rng(0).uniform(-1, 1, group.height)
        for row, (loss, look, words) in enumerate(WAYS):
            axis = axes[row][column]
            colour, mark = figures.LOOKS[look].colour, figures.LOOKS[look].mark or "o"
            axis.scatter(where, group[loss], s=11, color=colour, marker=mark, alpha=0.4, linewidth=0, zorder=3)
            varied = min(group[x].n_unique(), group[loss].n_unique()) > 1
            value = float(spearmanr(group[x], group[loss]).statistic) if varied else np.nan
            found = f"rank correlation {value:+.2f}".replace("-", "\N{MINUS SIGN}")
            axis.set_title(f"{name}: {found}")
            axis.set_ylim(-0.03, 1.04)
            axes[row][0].set_ylabel(words)
        axes[1][column].set_xlabel(label)
    return figure


def examples(table: pl.DataFrame) -> Figure:
    """Loss without and with the counts, for the two people of each example."""
    titles = ("Example 1: a sensor in New York, one step", "Example 2: sensors at a circle and apart, two steps")
    bars = (
        ("baseline", None, "without the counts", "#CCCCCC"),
        ("lower", 1.0, r"noisy counts, $\sigma=1$", "#888888"),
        ("lower", None, "raw counts", "#222222"),
    )
    with panels(titles, 2.6, "success probability") as (figure, axes):
        for example, axis in enumerate(axes, 1):
            group = table.filter(pl.col("example") == example)
            people = group["person"].unique(maintain_order=True).to_list()
            for place, (column, sigma, label, colour) in enumerate(bars):
                chosen = group.filter(pl.col("sigma").eq_missing(pl.lit(sigma, pl.Float64)))
                at = np.arange(len(people)) + (place - 1) * 0.26
                drawn = axis.bar(at, chosen[column].to_list(), 0.24, color=colour, label=label, zorder=3)
                axis.bar_label(drawn, fmt="%.2f", fontsize=7, padding=1)
            axis.set_xticks(range(len(people)), people)
            axis.grid(axis="x", visible=False)
            axis.set_ylim(0, 1.15 * max(group["lower"].to_list()))
    return figure
