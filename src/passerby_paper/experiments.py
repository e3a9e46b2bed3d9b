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

from . import cases, figures, readings, real, simulated
from .people import Where
from .settings import Settings
from .simulated import Point
from .work import Piece, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[pl.DataFrame], "Figure"]


def _tabled(rows: list[Row], settings: Settings) -> pl.DataFrame:
    sigma = {"sigma": pl.Float64} if "sigma" in rows[0] else None
    return pl.DataFrame(rows, schema_overrides=sigma, infer_schema_length=None)


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or one that looks at it more closely.

    `pieces(settings, data)` lists the work, `data` being the files by name (none unless `real`);
    `table(rows, settings)` makes one table of its rows; `draw(table)` a figure of the table, None where there is
    nothing to draw, which the page shows with the title as its caption.
    """

    title: str
    pieces: Callable[[Settings, dict[str, pb.Visits]], list[Piece]]
    table: Callable[[list[Row], Settings], pl.DataFrame] = _tabled
    draw: Draw | None = None
    real: bool = False


def _simulated(title: str, grid: Callable[[Settings], list[Point]], draw: Draw, close: bool = False) -> Experiment:
    """A sweep on simulated data over a grid of points."""

    def pieces(settings: Settings, data: object) -> list[Piece]:
        return simulated.pieces(settings, grid(settings), close=close)

    return Experiment(f"Simulated: {title}.", pieces, simulated.table_of, draw)


def _real(
    title: str,
    where: Where,
    points: Callable[[Settings], list[tuple[int, float | None]]],
    draw: Draw,
    table: Callable[[list[Row]], pl.DataFrame] = real.means_of,
) -> Experiment:
    """Everyone's loss with sensors somewhere, at points (misses, sigma)."""

    def pieces(settings: Settings, data: dict[str, pb.Visits]) -> list[Piece]:
        return real.pieces(settings, data, where, points(settings))

    return Experiment(f"Real: {title}.", pieces, lambda rows, _: table(rows), draw, real=True)


def _raw(settings: Settings) -> list[tuple[int, float | None]]:
    return [(settings.real_misses, None)]


def _sigmas(settings: Settings) -> list[tuple[int, float | None]]:
    return [(settings.real_misses, sigma) for sigma in (*settings.sigma_grid, None)]


EXPERIMENTS = {
    "examples": Experiment(
        "Examples 1 and 2: success with nothing published, with noisy and with raw counts.",
        lambda s, _: [partial(cases.examples, s.seed)],
        draw=figures.examples,
    ),
    "formulas": Experiment(
        "What is out of reach, and what differential privacy charges.", lambda s, _: [partial(cases.formulas, s)]
    ),
    "places": _simulated(
        "the number of places (figure 5 of the paper, upper left)",
        lambda s: [Point(places, s.steps, s.misses) for places in s.places_grid],
        partial(figures.sweep, x="places", label="places, $M$", unmarked=(20, 30, 70)),
    ),
    "right": _simulated(
        "the number of steps that must be right (figure 5, upper right)",
        lambda s: [Point(s.places, t, t - r) for t in sorted({s.steps, s.holdout}) for r in range(1, t + 1)],
        partial(figures.sweep, x="right", label=figures.RIGHT),
    ),
    "steps-half": _simulated(
        "the number of steps, half of which may be wrong (figure 5, lower left)",
        lambda s: [Point(s.places, t, t // 2) for t in s.steps_grid],
        partial(figures.sweep, x="steps", label="steps, $T$"),
    ),
    "steps-two": _simulated(
        "the number of steps, two of which must be right (figure 5, lower right)",
        lambda s: [Point(s.places, t, t - 2) for t in s.steps_grid],
        partial(figures.sweep, x="steps", label="steps, $T$"),
    ),
    "sigma": _simulated(
        "noise at the paper's setting (figure 7)",
        lambda s: [Point(s.places, s.steps, s.misses, sigma) for sigma in (None, *s.sigma_grid)],
        partial(figures.sweep, x="sigma"),
    ),
    "noise": _simulated(
        "noise where one or two steps must be right (not in the paper)",
        lambda s: [Point(s.places, s.steps, s.steps - r, sigma) for r in (1, 2) for sigma in (None, *s.sigma_grid)],
        figures.close_noise,
        close=True,
    ),
    "people": Experiment("Real: numbers of windows and people.", real.count_pieces, real=True),
    "real-right": _real(
        "the number of steps that must be right (figure 6)",
        "random",
        lambda s: [(misses, None) for misses in range(s.holdout)],
        partial(figures.real_sweep, x="right"),
    ),
    "real-sigma": _real(
        "noise, sensors at random places (figure 8)",
        "random",
        _sigmas,
        partial(figures.real_sweep, x="sigma"),
    ),
    "real-noise": _real(
        "noise, a sensor at the most visited place (not in the paper)",
        "most-visited",
        _sigmas,
        figures.real_noise,
    ),
    "sensor-visits": _real(
        "loss and visits to the one sensor (figure 3); marks are moved sideways to be told apart",
        "most-visited",
        _raw,
        partial(figures.scatter, x="frequency", label="share of fitted steps at the sensor", apart=0.01),
        real.persons,
    ),
    "spectral-gap": _real(
        "loss and spectral gap (figure 4)",
        "random",
        _raw,
        partial(figures.scatter, x="spectral_gap", label="spectral gap of the person's chain"),
        real.persons,
    ),
    "readings": Experiment("Real: what the paper leaves open.", readings.pieces, readings.table_of, real=True),
}
