"""Points of the simulated sweeps: a person on the paper's line of places, one sensor a step placed at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs

import passerby as pb

from .map_attack import map_success
from .settings import ATTACKS, Piece, Row, Settings


class Point(NamedTuple):
    """A point of a sweep: numbers of places and steps, how many may be wrong, and the noise (None: raw counts)."""

    places: int
    steps: int
    misses: int
    sigma: float | None = None


def sensors_of(settings: Settings, draw: int, places: int, steps: int) -> list[int]:
    """One uniform place per step. A draw keeps its relative positions along a sweep, so that curves are comparable."""
    where = np.random.default_rng([settings.seed, 1, draw]).random(steps)
    return [int(place) for place in np.floor(where * places)]


def release_of(sensors: Sequence[int | Sequence[int]], sigma: float | None) -> pb.Release:
    """Counts of these sensors, raw or with Gaussian noise."""
    return pb.Release(sensors, None if sigma is None else pb.Gaussian(sigma))


def measured(settings: Settings, at: Point, draw: int, close: bool = False) -> list[Row]:
    """One row: the paper's attacks by its Monte Carlo and exactly, its bounds, and the interval of the loss."""
    prior = pb.line_prior(at.places, settings.tau)
    sensors = sensors_of(settings, draw, at.places, at.steps)
    release = release_of(sensors, at.sigma)
    seed = [settings.seed, 2, at.places, at.steps, at.misses, draw]
    plain = pb.measure(prior, release, at.misses, method="sampling", runs=settings.traces, seed=[*seed, 0])
    loss = pb.measure(
        prior,
        release,
        at.misses,
        seed=[*seed, 1],
        budget=at.steps * (settings.close_budget if close else settings.budget),
        runs=settings.close_runs if close else settings.runs,
    )
    row: Row = {"places": at.places, "steps": at.steps, "misses": at.misses, "right": at.steps - at.misses}
    row |= {"sigma": at.sigma, "draw": draw, "map": loss.attacks["map"].value, "map_error": loss.attacks["map"].error}
    row |= {name: loss.attacks[name].value for name in ("prior", "constant")}
    row |= {"lower": loss.lower, "upper": loss.upper}
    row |= {"baseline_lower": loss.baseline.lower, "baseline_upper": loss.baseline.upper}
    row |= {"tight": loss.bounds["tight"], "loose": loss.bounds["loose"], "upper_by": loss.effort.bound}
    row |= {"series": loss.effort.series, "sampled": loss.effort.sampled}
    if at.sigma is None:
        row |= {"map": (exact := map_success(prior, sensors, at.misses)), "map_error": 0.0}
        if exact > row["lower"]:
            row |= {"lower": exact, "upper": max(exact, row["upper"])}
    for name in ATTACKS:
        row |= {f"{name}_mc": plain.attacks[name].value, f"{name}_mc_error": plain.attacks[name].error}
    return [row]


def one_or_two_right(settings: Settings) -> list[Point]:
    """Points with noise where one or two steps must be right."""
    sigmas = (None, *settings.sigma_grid)
    return [Point(settings.places, settings.steps, settings.steps - r, sigma) for r in (1, 2) for sigma in sigmas]


def pieces(
    settings: Settings, data: object, grid: Callable[[Settings], list[Point]], close: bool = False
) -> list[Piece]:
    """A piece for every point of a sweep and every draw of sensors; the longest first.

    A `close` look spends its effort on the first draw alone.
    """
    longest = sorted(grid(settings), key=lambda at: (at.sigma is None, -at.steps, at.places))
    draws = range(1 if close else settings.draws)
    return [partial(measured, settings, at, draw, close) for at in longest for draw in draws]


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
    """Means over sensor draws, a row per point; standard errors are those of a mean of independent values."""
    errors = cs.ends_with("_error")
    values = cs.float() - errors - cs.by_name("sigma")
    points = table.group_by("places", "steps", "misses", "right", "sigma")
    means = points.agg(values.mean(), errors.pow(2).sum().sqrt() / pl.len(), draws=pl.len())
    return means.sort("places", "steps", "right", "sigma", nulls_last=False)
