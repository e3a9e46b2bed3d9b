"""The figures of docs/speed.md and docs/tightness.md, from results.json, in the style of the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.pages import COMPARED, Results, comparisons, grown, word
from benchmarks.record import Row
from passerby.support.files import whole_or_nothing
from passerby_paper import figures
from passerby_paper.settings import NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, PINK, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
GREY = "#777777"
#: Colour and mark of a peer.
PEERS = {
    "hmmlearn": (BLUE, "o"),
    "deeptime": (ORANGE, "s"),
    "dynamax": (GREEN, "^"),
    "qif": (RED, "D"),
    "pandas": (PINK, "v"),
    "plain NumPy": (GREY, "P"),
}


def speed(results: Results) -> Figure:
    """How many times as fast, a row for each case, a mark for each peer."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    lines: dict[str, list[Row]] = {}
    for section, row in comparisons(results):
        size = ", ".join(f"{count:,} {name}" for name, count in row["size"].items() if name not in ("series", "people"))
        lines.setdefault(f"{section['title']}: {row['case']}; {size}", []).append(row)
    figure, [[axes]] = figures.grid(1, 1, 0.9 + 0.2 * len(lines))
    axes.axvline(1, color="#000000", linewidth=0.8)
    for y, rows in enumerate(lines.values()):
        for row in rows:
            colour, mark = PEERS[row["peer"]]
            axes.plot([row["lowest"], row["highest"]], [y, y], color=colour, linewidth=2, alpha=0.5)
            axes.plot(row["ratio"], y, mark, color=colour, markersize=5, label=row["peer"])
    for y, rows in enumerate(lines.values()):
        for row in rows:
            if "target" in row:
                axes.plot(row["target"], y, "|", color="#000000", markersize=9, label="aimed at")
    axes.set_yticks(range(len(lines)), list(lines))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("times as fast as")
    figures.legend(figure, [axes], columns=7)
    return figure


#: Colour and mark of a size.
SIZES = {
    "steps": (BLUE, "o"),
    "places": (ORANGE, "s"),
    "sensors": (GREEN, "^"),
    "misses": (PINK, "v"),
    "1 / tolerance": (RED, "D"),
    "people": (GREY, "P"),
    "rows": (SKY, "X"),
}


def growth(results: Results) -> Figure:
    """Seconds against each size, a panel for each task, with the slope of the formula through the last point."""
    tasks: dict[str, list[Row]] = {}
    for row in grown(results):
        tasks.setdefault(row["task"], []).append(row)
    columns = 4
    figure, grid = figures.grid(-(-len(tasks) // columns), columns, 1.75 * -(-len(tasks) // columns))
    panels = [axes for line in grid for axes in line]
    for axes, (task, rows) in zip(panels, tasks.items(), strict=False):
        for row in rows:
            size, spent = row["sizes"], row["seconds"]
            colour, mark = SIZES[word(row["along"])]
            axes.plot(size, spent, color=colour, marker=mark, markersize=3, label=word(row["along"]))
            if (power := row.get("time", {}).get("expected")) is not None:
                slope = [spent[-1] * (n / size[-1]) ** power for n in size]
                axes.plot(size, slope, color=colour, linewidth=0.8, linestyle=(0, (4, 2)), alpha=0.7)
        axes.set_xscale("log")
        axes.set_yscale("log")
        spent = [seconds for row in rows for seconds in row["seconds"]]
        axes.set_ylim(min(spent) / 3, max(spent) * 3)
        axes.minorticks_off()
        axes.set_title(task)
    for axes in panels[len(tasks) :]:
        axes.set_visible(False)
    for line in grid:
        line[0].set_ylabel("seconds")
    figures.legend(figure, panels, "against:", columns=len(SIZES))
    return figure


#: Panels of the sweeps: name, title, what is swept, its label.
SWEEPS = (
    ("places", "places", "places, $M$"),
    ("right", "right", "steps that must be right"),
    ("steps-half", "steps", "steps, half may be wrong"),
    ("steps-two", "steps", "steps, two must be right"),
    ("sigma", "sigma", "σ; 5 of 10 steps right"),
    ("noise", "sigma", "σ; 1 of 10 steps right"),
)
#: Bounds beside the best attack: their colour, mark and name.
BESIDE = {
    "loose": ("#D55E00", "v", "loose bound (paper)"),
    "tight": ("#CC79A7", "D", "tight bound (paper)"),
    "dp": ("#E69F00", "s", "differential privacy"),
    "ratio": ("#000000", "o", "upper end of the interval"),
}


def against_attack(axes: Axes, x: Sequence[float], rows: Sequence[Row]) -> None:
    """Bounds as multiples of the best attack."""
    for name, (colour, mark, label) in BESIDE.items():
        if all(name in row for row in rows):
            axes.plot(x, [row[name] for row in rows], color=colour, marker=mark, markersize=3, label=label)
    axes.set_yscale("log")
    axes.axhline(1, color=GREY, linewidth=0.8)


def sweeps(results: Results) -> Figure:
    """The paper's sweeps: every bound as a multiple of the best attack."""
    figure, grid = figures.grid(2, 3, 4.6)
    panels = [one for line in grid for one in line]
    for axes, (name, swept, label) in zip(panels, SWEEPS, strict=True):
        rows = [row | {"right": row["steps"] - row["misses"]} for row in results["interval_sweeps"]["rows"]]
        rows = [row for row in rows if row["sweep"] == name and (name != "right" or row["steps"] == 10)]
        rows.sort(key=lambda row: row[swept])
        against_attack(axes, [row[swept] for row in rows], rows)
        if swept == "sigma":
            axes.set_xscale("log")
            axes.set_xticks([row[swept] for row in rows], [f"{row[swept]:g}" for row in rows])
            axes.minorticks_off()
        axes.set_xlabel(label)
    for line in grid:
        line[0].set_ylabel("multiple of the best attack")
    figures.legend(figure, panels, columns=4)
    return figure


def budgets(results: Results) -> Figure:
    """How the gap falls: with the budget on the paper's line and in a day of hours."""
    figure, [axes] = figures.grid(1, 2, 3.0)
    line = [row for row in results["interval_line"]["rows"] if "budget" in row]
    for misses, colour, mark in ((3, GREEN, "^"), (5, BLUE, "o"), (7, ORANGE, "s")):
        rows = [row for row in line if row["misses"] == misses]
        gap = [row["ratio"] - 1 for row in rows]
        axes[0].plot([row["seconds"] for row in rows], gap, color=colour, marker=mark, label=f"{misses} misses of 10")
    axes[0].set_title("the paper's line")
    axes[0].set_xlabel("seconds of one core")
    for stay, dashes in ((0.3, "-"), (0.7, (0, (4, 2)))):
        for misses, colour, mark in ((6, RED, "D"), (12, PINK, "v"), (18, GREY, "P")):
            rows = [row for row in results["interval_day"]["rows"] if (row["stay"], row["misses"]) == (stay, misses)]
            gap = [max(row["ratio"] - 1, 1e-4) for row in rows]
            axes[1].plot(
                [row["milliseconds"] for row in rows], gap, color=colour, marker=mark, linestyle=dashes,
                label=f"{misses} misses of 24, stays {stay}",
            )  # fmt: skip
    axes[1].set_title("a day of hours")
    axes[1].set_xlabel("milliseconds a series")
    for one in axes:
        one.set_xscale("log")
        one.set_yscale("log")
        one.set_ylabel("upper / lower - 1")
    figures.legend(figure, axes, columns=3)
    return figure


def people(results: Results) -> Figure:
    """The people of the samples: median and 95th percentile of upper/lower by misses, a panel per kind of release."""
    rows = [row for row in results["interval_samples"]["rows"] if "file" in row]
    kinds = [
        ("raw counts, random sensors", None, "random"),
        ("raw counts, busiest place", None, "most-visited"),
        ("σ = 1, random sensors", 1.0, "random"),
        ("σ = 1, busiest place", 1.0, "most-visited"),
    ]
    figure, [axes] = figures.grid(1, 4, 2.9)
    for one, (title, sigma, where) in zip(axes, kinds, strict=True):
        for file, colour in (("foursquare", BLUE), ("gowalla", ORANGE)):
            for tolerance, mark in ((0.04, "v"), (0.01, "o"), (0.004, "^")):
                kept = [row for row in rows if (row["file"], row["sigma"], row["sensors"]) == (file, sigma, where)]
                kept = [row for row in kept if row["tolerance"] == tolerance]
                if kept:
                    gap = [max(row["most"] - 1, 1e-5) for row in kept]
                    label = f"{NAMES[file]}, tolerance {tolerance:g}"
                    one.plot([row["misses"] for row in kept], gap, color=colour, marker=mark, label=label)
        one.axhline(0.01 if sigma is None else 0.1, color="#000000", linewidth=0.8, linestyle=(0, (4, 2)))
        one.set_yscale("log")
        one.set_ylim(1e-5, 1)
        one.set_title(title, fontsize=7.5)
        one.set_xlabel("misses")
        one.set_xticks(range(5))
    axes[0].set_ylabel("upper / lower - 1, 95th percentile")
    figures.legend(figure, axes, "dashed: what was aimed at", columns=3)
    return figure


#: Each figure, and the sections that it needs.
FIGURES: dict[str, tuple[Callable[[Results], Any], tuple[str, ...]]] = {
    "speed": (speed, COMPARED[:1]),
    "growth": (growth, ("growth",)),
    "sweeps": (sweeps, ("interval_sweeps",)),
    "budgets": (budgets, ("interval_line", "interval_day")),
    "people": (people, ("interval_samples",)),
}


def draw(results: Results, folder: Path) -> None:
    """Draw all figures there are results for; the same results give the same bytes."""
    for name, (make, needed) in FIGURES.items():
        if all(section in results for section in needed):
            with figures.styled(), whole_or_nothing(folder / f"{name}.svg") as temporary:
                make(results).savefig(temporary, format="svg", metadata={"Date": None})
