"""How figures look: the same colour and mark for the same attack or bound everywhere.

Colours are from the palette of Okabe and Ito, which people with colour-blindness can tell apart; marks and dashes
differ as well, so that figures survive a print in grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import passerby as pb

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
