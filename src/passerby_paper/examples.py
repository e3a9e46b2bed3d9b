"""Examples 1 and 2 of the paper as small worked cases (its sections 2.2.1 and 2.2.2).

1. New York and Paris: four places in each city, one step, a sensor in New York. Two people with equally uncertain
   habits, one of whom is mostly in New York and the other mostly in Paris.
2. The one who stays and the one who moves: five circles and a place apart, two steps. The first sensor is at one of the
   circles, the second at the place apart. Both are at any circle at first; then one stays, the other goes anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from passerby.measurement.comparisons import differential_privacy, reconstruction_advantage
from passerby.measurement.information import entropy, mutual_information
from passerby.measurement.measure import measure
from passerby.mechanisms import Gaussian
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from . import style
from .experiment import Experiment
from .pieces import Piece, Row
from .settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The share of time in the city where the person does not live, in example 1.
ABROAD = 0.04
#: The probability of leaving for each of the other circles, for the one who stays, in example 2.
RESTLESS = 0.01


def new_york_and_paris() -> dict[str, tuple[MarkovPrior, list[int]]]:
    """Places 0-3 are in New York, 4-7 in Paris; the sensor is at place 0."""
    home, away = [(1 - ABROAD) / 4] * 4, [ABROAD / 4] * 4
    laws = {"in New York": np.array(home + away), "in Paris": np.array(away + home)}
    return {name: (MarkovPrior(law, np.tile(law, (8, 1))), [0]) for name, law in laws.items()}


def stays_and_moves() -> dict[str, tuple[MarkovPrior, list[int]]]:
    """Places 0-4 are the circles and 5 the place apart; the sensors are at 0 and then at 5."""
    start = np.array([0.2] * 5 + [0.0])
    stay, move = np.full((6, 6), RESTLESS), np.full((6, 6), 0.2)
    np.fill_diagonal(stay, 1 - 4 * RESTLESS)
    for moves in (stay, move):
        moves[:, 5] = 0.0
        moves[5] = start
    return {"stays": (MarkovPrior(start, stay), [0, 5]), "moves": (MarkovPrior(start, move), [0, 5])}


def worked(seed: int) -> list[Row]:
    """A row per example, person and kind of counts: all steps must be right."""
    rows = []
    for example, people in ((1, new_york_and_paris()), (2, stays_and_moves())):
        for person, (prior, sensors) in people.items():
            for sigma in (None, 1.0):
                release = Release(sensors, None if sigma is None else Gaussian(sigma))
                loss = measure(prior, release, 0, seed=[seed, 4], runs=4000)
                seen = measure(prior, Release(sensors), 0, published=[1, 0][: len(sensors)])
                rows.append(
                    {
                        "example": example,
                        "person": person,
                        "sigma": sigma,
                        "entropy": entropy(prior, len(sensors)),
                        "at_sensor": float(prior.initial[sensors[0]]),
                        "information": mutual_information(prior, release, "exact" if sigma is None else "per-step"),
                        "baseline": loss.baseline.upper,
                        "lower": loss.lower,
                        "upper": loss.upper,
                        "advantage_lower": loss.advantage.lower,
                        "advantage_upper": loss.advantage.upper,
                        "guo_bound": reconstruction_advantage(prior, release) if sigma is None else None,
                        "tight": loss.bounds["tight"],
                        "loose": loss.bounds["loose"],
                        "epsilon": differential_privacy(release).exact,
                        "seen_then_not": seen.lower if sigma is None else None,
                    }
                )
    return rows


def draw(table: pl.DataFrame) -> Figure:
    """Loss without and with the counts, for the two people of each example."""
    figure, axes = style.panels(2, 2.6)
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


def pieces(settings: Settings, data: object) -> list[Piece]:
    """One piece: everything here takes a moment."""
    return [Piece(worked, {"seed": settings.seed})]


EXAMPLES = Experiment(
    "examples",
    "Examples 1 and 2",
    "simulated",
    pieces,
    draw,
    lambda rows, s: pl.DataFrame(rows, schema_overrides={"sigma": pl.Float64}, infer_schema_length=None),
)
