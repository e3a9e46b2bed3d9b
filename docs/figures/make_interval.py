"""Draw interval.svg: every bound and attack on the paper's simulated default, by the number of misses.

Run with `.venv/bin/python docs/figures/make_interval.py` (a minute) after `make docs` has installed matplotlib. With a
path as argument, a PNG is written there as well.
"""

import sys
from pathlib import Path
from typing import Any

import passerby as pb

SENSORS = (7, 93, 41, 15, 60, 22, 88, 5, 50, 71)
MISSES = range(len(SENSORS))
# Colours that stay apart for colour-blind readers (Okabe and Ito), and a mark of its own for each line.
BLUE, ORANGE, GREEN, RED, PINK, SKY, BLACK, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
    "#777777",
)


def bounds(axes: Any, losses: list[pb.Loss]) -> None:
    """Left: what each bound says that any attack can achieve at most, and the best attack."""
    lines = (
        ("loose", GREY, "s", 0.1, 0.62, "loose (the paper's)"),
        ("tight", ORANGE, "D", 2.0, 0.135, "tight (the paper's)"),
        ("fano", PINK, "v", 3.2, 0.016, "fano"),
        ("leakage", RED, "^", 2.15, 1.2e-4, "leakage"),
    )
    for name, colour, mark, x, y, text in lines:
        values = [loss.bounds[name] for loss in losses]
        axes.plot(MISSES, values, color=colour, marker=mark, markersize=4, linewidth=1.5)
        axes.text(x, y, text, color=colour, fontsize=9, va="center", ha="right" if name == "leakage" else "left")
    lower, upper = [loss.lower for loss in losses], [loss.upper for loss in losses]
    axes.fill_between(MISSES, lower, upper, color=BLUE, alpha=0.5, linewidth=0)
    axes.plot(MISSES, upper, color=BLUE, marker="o", markersize=4, linewidth=1.5)
    axes.plot(MISSES, lower, color=BLUE, marker="o", markersize=3, markerfacecolor="white", linewidth=1, linestyle="--")
    axes.text(3.6, 1.5e-8, "the interval:\nposterior and ascent", color=BLUE, fontsize=9, va="center")
    axes.set_ylabel("success probability")
    axes.set_title("What an attack can achieve at most", loc="left", fontsize=11)


def attacks(axes: Any, losses: list[pb.Loss]) -> None:
    """Right: attacks and the upper end, as shares of the best attack."""
    lines = (
        ("ascent", BLUE, "o", 9.15, 0.95, "ascent"),
        ("map", GREEN, "P", 9.15, 0.73, "map"),
        ("marginal", SKY, "X", 9.15, 1.115, "marginal"),
        ("constant", GREY, "^", 9.15, 0.52, "constant"),
        ("prior", BLACK, "s", 9.15, 0.26, "prior"),
    )
    for name, colour, mark, x, y, text in lines:
        values = [loss.attacks[name].value / loss.lower for loss in losses]
        style = "--" if name == "ascent" else "-"
        axes.plot(MISSES, values, color=colour, marker=mark, markersize=4, linewidth=1.3, linestyle=style)
        axes.text(x, y, text, color=colour, fontsize=9, va="center")
    ratio = [loss.upper / loss.lower for loss in losses]
    axes.fill_between(MISSES, 1, ratio, color=BLUE, alpha=0.3, linewidth=0)
    axes.plot(MISSES, ratio, color=BLUE, marker="o", markersize=4, linewidth=1.5)
    axes.text(4.6, 1.33, "posterior (upper end)", color=BLUE, fontsize=9, va="center", ha="center")
    axes.set_ylabel("share of the best attack found")
    axes.set_ylim(0.06, 1.7)
    axes.set_xlim(-0.4, 11.2)
    axes.set_title("What attacks achieve", loc="left", fontsize=11)


def main() -> None:
    """Measure, draw and write the figure beside this file."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    plt.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "passerby", "font.family": "sans-serif"})
    prior, release = pb.line_prior(100, 0.1), pb.Release(SENSORS)
    losses = [pb.measure(prior, release, misses, budget=5e10) for misses in MISSES]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8))
    for axes in (left, right):
        axes.set_yscale("log")
        axes.set_xticks(list(MISSES))
        axes.set_xlabel("steps that may be wrong (misses)")
        axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    bounds(left, losses)
    attacks(right, losses)
    right.yaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1.0, 1.5]))
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    right.yaxis.set_minor_formatter(NullFormatter())
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("interval.svg"), metadata={"Date": None})
    for path in sys.argv[1:]:
        figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
