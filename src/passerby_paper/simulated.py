"""Points of the simulated sweeps: a person on the paper's line of places, one sensor a step placed at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from passerby.measurement.loss import Loss
from passerby.measurement.measure import measure
from passerby.mechanisms import Gaussian
from passerby.model.prior import line_prior
from passerby.model.release import Release

from . import style
from .exact_map import map_success
from .pieces import Piece, Row
from .settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Columns that are averaged over sensor draws.
VALUES = (
    "map", "prior", "constant", "lower", "upper", "baseline_lower", "baseline_upper", "tight", "loose",
    "map_mc", "prior_mc", "constant_mc",
)  # fmt: skip
#: Standard errors, which are averaged as those of a mean of independent values.
ERRORS = ("map_error", "map_mc_error", "prior_mc_error", "constant_mc_error")


def sensors_of(settings: Settings, draw: int, places: int, steps: int) -> list[int]:
    """One uniform place per step. A draw keeps its relative positions along a sweep, so that curves are comparable."""
    where = np.random.default_rng([settings.seed, 1, draw]).random(steps)
    return [int(place) for place in np.floor(where * places)]


def point(
    settings: Settings, places: int, steps: int, misses: int, sigma: float | None, draw: int, close: bool = False
) -> list[Row]:
    """One row: the paper's attacks by its Monte Carlo and exactly, its bounds, and the interval of the loss."""
    prior = line_prior(places, settings.tau)
    sensors = sensors_of(settings, draw, places, steps)
    release = Release(sensors, None if sigma is None else Gaussian(sigma))
    seed = [settings.seed, 2, places, steps, misses, draw]
    plain = measure(prior, release, misses, method="sampling", runs=settings.traces, seed=[*seed, 0])
    loss = measure(
        prior,
        release,
        misses,
        seed=[*seed, 1],
        budget=steps * (settings.close_budget if close else settings.budget),
        runs=settings.close_runs if close else settings.runs,
    )
    row: Row = {"places": places, "steps": steps, "misses": misses, "right": steps - misses, "sigma": sigma}
    row |= {"draw": draw, **_found(loss)}
    if sigma is None:
        row |= {"map": (exact := map_success(prior, sensors, misses)), "map_error": 0.0}
        if exact > row["lower"]:
            row |= {"lower": exact, "upper": max(exact, row["upper"])}
    for name in style.ATTACKS:
        row[f"{name}_mc"] = plain.attacks[name].value
        row[f"{name}_mc_error"] = plain.attacks[name].error
    return [row]


def _found(loss: Loss) -> Row:
    return {
        "map": loss.attacks["map"].value,
        "map_error": loss.attacks["map"].error,
        "prior": loss.attacks["prior"].value,
        "constant": loss.attacks["constant"].value,
        "lower": loss.lower,
        "upper": loss.upper,
        "baseline_lower": loss.baseline.lower,
        "baseline_upper": loss.baseline.upper,
        "tight": loss.bounds["tight"],
        "loose": loss.bounds["loose"],
        "upper_by": loss.effort.bound,
        "series": loss.effort.series,
        "sampled": loss.effort.sampled,
    }


def points(
    settings: Settings, grid: Sequence[tuple[int, int, int, float | None]], *, close: bool = False
) -> list[Piece]:
    """A piece for every (places, steps, misses, sigma) of a sweep and every draw of sensors; the longest first.

    A `close` look spends its effort on the first draw alone.
    """
    longest = sorted(grid, key=lambda p: (p[3] is None, -p[1], p[0]))
    return [
        Piece(
            point,
            {
                "settings": settings,
                "places": places,
                "steps": steps,
                "misses": misses,
                "sigma": sigma,
                "draw": draw,
                "close": close,
            },
        )
        for places, steps, misses, sigma in longest
        for draw in range(1 if close else settings.draws)
    ]


def table_of(rows: list[Row], settings: Settings) -> pl.DataFrame:
    """All rows, a row per point and draw, in the order of the sweep.

    Noisy counts are a function of raw ones, so what bounds the loss from raw counts bounds that from noisy ones too.
    """
    table = pl.DataFrame(rows, schema_overrides={"sigma": pl.Float64}, infer_schema_length=None)
    keys = ["places", "steps", "misses", "draw"]
    raw = table.filter(pl.col("sigma").is_null() & ~pl.col("sampled")).select(*keys, raw_upper="upper")
    table = table.join(raw, on=keys, how="left", maintain_order="left")
    capped = pl.col("raw_upper") < pl.col("upper")
    table = table.with_columns(
        pl.when(capped).then("raw_upper").otherwise("upper").alias("upper"),
        pl.when(capped).then(pl.lit("raw")).otherwise("upper_by").alias("upper_by"),
    ).drop("raw_upper")
    return table.sort("places", "steps", "right", "sigma", "draw", nulls_last=False)


def averaged(table: pl.DataFrame) -> pl.DataFrame:
    """Means over sensor draws, a row per point."""
    square = [(pl.col(c).pow(2).sum().sqrt() / pl.len()).alias(c) for c in ERRORS]
    keys = ["places", "steps", "misses", "right", "sigma"]
    grouped = table.group_by(keys).agg(*[pl.col(c).mean() for c in VALUES], *square, draws=pl.len())
    return grouped.sort("places", "steps", "right", "sigma", nulls_last=False)


def draw_sweep(table: pl.DataFrame, x: str, label: str, ticks: Sequence[float] | None = None) -> Figure:
    """The paper's view with a linear axis, and the same on a logarithmic one, where small losses can be told apart."""
    means = averaged(table)
    figure, axes = style.panels(2, 3.3)
    for axis, log in zip(axes, (False, True), strict=True):
        value = means[x].to_list()
        style.band(axis, "interval", value, means["lower"].to_list(), means["upper"].to_list())
        for name in style.PAPER_BOUNDS:
            style.line(axis, name, value, means[name].to_list())
        for name in style.ATTACKS:
            style.line(axis, name, value, means[name].to_list())
            if not log:
                rates, errors = means[f"{name}_mc"].to_list(), means[f"{name}_mc_error"].to_list()
                style.sampled(axis, name, value, rates, errors)
        axis.set_xlabel(label)
        axis.set_xticks(value if ticks is None else list(ticks))
        if log:
            axis.set_yscale("log")
            axis.set_title("logarithmic")
        else:
            axis.set_ylim(-0.03, 1.04)
            axis.set_title("linear, as in the paper")
            axis.set_ylabel("success probability")
    style.legend(figure, axes, columns=4)
    return figure
