"""The table of experiments: what each varies and what it fixes, what becomes of its rows, and what is drawn of them.

The trace length of the real data is swept beside the paper's in `right`, so that the two can be compared like for like.
At the paper's setting (half of the steps right) the loss is far below what the published figures can show: `noise` asks
whether noise helps where the loss is large enough to see, with one or two steps right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

import passerby as pb
from passerby_paper import figures, people, readings, simulated

from .settings import Piece, Row, Settings
from .simulated import Point

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or one that looks at it more closely.

    `pieces(settings, data)` lists the work, `data` being the files by name (none but for real data);
    `table(rows, settings)` makes one table of its rows; `draw(table)` a figure of the table, None where there is
    nothing to draw, which the page shows with the title as its caption.
    """

    title: str
    pieces: Callable[[Settings, dict[str, pb.Visits]], list[Piece]]
    table: Callable[[list[Row], Settings], pl.DataFrame] = lambda rows, _: pl.DataFrame(rows, infer_schema_length=None)
    draw: Callable[[pl.DataFrame], Figure] | None = None


def _sweep(title: str, x: str, grid: Callable[[Settings], list[Point]], unmarked: tuple[int, ...] = ()) -> Experiment:
    """A sweep over points on simulated data, drawn against x."""
    draw = partial(figures.sweep, x=x, unmarked=unmarked)
    return Experiment(f"Simulated: {title}.", partial(simulated.pieces, grid=grid), simulated.table_of, draw)


def _sigmas(settings: Settings) -> list[tuple[int, float | None]]:
    return [(settings.real_misses, sigma) for sigma in (*settings.sigma_grid, None)]


SIMULATED = {
    "examples": Experiment(
        "Examples 1 and 2: success with nothing published, with noisy and with raw counts.",
        lambda s, _: [partial(simulated.examples, s.seed)],
        draw=figures.examples,
    ),
    "formulas": Experiment(
        "What is out of reach, and what differential privacy charges.", lambda s, _: [partial(simulated.formulas, s)]
    ),
    "places": _sweep(
        "the number of places (figure 5 of the paper, upper left)",
        "places",
        lambda s: [Point(places, s.steps, s.misses) for places in s.places_grid],
        unmarked=(20, 30, 70),
    ),
    "right": _sweep(
        "the number of steps that must be right (figure 5, upper right)",
        "right",
        lambda s: [Point(s.places, t, t - r) for t in sorted({s.steps, s.holdout}) for r in range(1, t + 1)],
    ),
    "steps-half": _sweep(
        "the number of steps, half of which may be wrong (figure 5, lower left)",
        "steps",
        lambda s: [Point(s.places, t, t // 2) for t in s.steps_grid],
    ),
    "steps-two": _sweep(
        "the number of steps, two of which must be right (figure 5, lower right)",
        "steps",
        lambda s: [Point(s.places, t, t - 2) for t in s.steps_grid],
    ),
    "sigma": _sweep(
        "noise at the paper's setting (figure 7)",
        "sigma",
        lambda s: [Point(s.places, s.steps, s.misses, sigma) for sigma in (None, *s.sigma_grid)],
    ),
    "noise": Experiment(
        "Simulated: noise where one or two steps must be right (not in the paper).",
        partial(simulated.pieces, grid=simulated.one_or_two_right, close=True),
        simulated.table_of,
        figures.close_noise,
    ),
}
REAL = {
    "people": Experiment("Real: numbers of windows and people.", people.count_pieces),
    "real-right": Experiment(
        "Real: the number of steps that must be right (figure 6).",
        partial(people.pieces, where="random", points=lambda s: [(misses, None) for misses in range(s.holdout)]),
        people.means_of,
        partial(figures.real_sweep, x="right"),
    ),
    "real-sigma": Experiment(
        "Real: noise, sensors at random places (figure 8).",
        partial(people.pieces, where="random", points=_sigmas),
        people.means_of,
        partial(figures.real_sweep, x="sigma"),
    ),
    "real-noise": Experiment(
        "Real: noise, a sensor at the most visited place (not in the paper).",
        partial(people.pieces, where="most-visited", points=_sigmas),
        people.means_of,
        figures.real_noise,
    ),
    "sensor-visits": Experiment(
        "Real: loss and visits to the one sensor (figure 3); marks are moved sideways to be told apart.",
        partial(people.pieces, where="most-visited"),
        people.persons,
        partial(figures.scatter, x="frequency", label="share of fitted steps at the sensor", apart=0.01),
    ),
    "spectral-gap": Experiment(
        "Real: loss and spectral gap (figure 4).",
        partial(people.pieces, where="random"),
        people.persons,
        partial(figures.scatter, x="spectral_gap", label="spectral gap of the person's chain"),
    ),
    "readings": Experiment("Real: what the paper leaves open.", readings.pieces, readings.table_of),
}
EXPERIMENTS = SIMULATED | REAL
