"""Simulated people: points of the sweeps on the paper's line of places, its examples 1 and 2, and its formulas.

In the sweeps, one sensor a step is placed at random. The examples need no sweep:

1. New York and Paris: four places in each city, one step, a sensor in New York. Two people with equally uncertain
   habits, one of whom is mostly in New York and the other mostly in Paris (its section 2.2.1).
2. The one who stays and the one who moves: five circles and a place apart, two steps. The first sensor is at one of the
   circles, the second at the place apart. Both are at any circle at first; then one stays, the other goes anywhere
   (its section 2.2.2).
"""

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


#: The share of time in the city where the person does not live, in example 1.
ABROAD = 0.04
#: The probability of leaving for each of the other circles, for the one who stays, in example 2.
RESTLESS = 0.01

People = dict[str, tuple[pb.MarkovPrior, list[int]]]


def new_york_and_paris() -> People:
    """Places 0-3 are in New York, 4-7 in Paris; the sensor is at place 0."""
    home, away = [(1 - ABROAD) / 4] * 4, [ABROAD / 4] * 4
    laws = {"in New York": np.array(home + away), "in Paris": np.array(away + home)}
    return {name: (pb.MarkovPrior(law, np.tile(law, (8, 1))), [0]) for name, law in laws.items()}


def stays_and_moves() -> People:
    """Places 0-4 are the circles and 5 the place apart; the sensors are at 0 and then at 5."""
    start = np.array([0.2] * 5 + [0.0])
    stay, move = np.full((6, 6), RESTLESS), np.full((6, 6), 0.2)
    np.fill_diagonal(stay, 1 - 4 * RESTLESS)
    for moves in (stay, move):
        moves[:, 5] = 0.0
        moves[5] = start
    return {"stays": (pb.MarkovPrior(start, stay), [0, 5]), "moves": (pb.MarkovPrior(start, move), [0, 5])}


def examples(seed: int) -> list[Row]:
    """A row per example, person and kind of counts: all steps must be right."""
    rows = []
    for example, people in ((1, new_york_and_paris()), (2, stays_and_moves())):
        for person, (prior, sensors) in people.items():
            for sigma in (None, 1.0):
                row = {"example": example, "person": person, "sigma": sigma}
                rows.append(row | _example(prior, sensors, sigma, seed))
    return rows


def _example(prior: pb.MarkovPrior, sensors: list[int], sigma: float | None, seed: int) -> Row:
    release, raw = release_of(sensors, sigma), sigma is None
    loss = pb.measure(prior, release, 0, seed=[seed, 4], runs=4000)
    seen = pb.measure(prior, pb.Release(sensors), 0, published=[1, 0][: len(sensors)])
    return {
        "entropy": pb.entropy(prior, len(sensors)),
        "at_sensor": float(prior.initial[sensors[0]]),
        "information": pb.mutual_information(prior, release, "exact" if raw else "per-step"),
        "baseline": loss.baseline.upper,
        "lower": loss.lower,
        "upper": loss.upper,
        "advantage_lower": loss.advantage.lower,
        "advantage_upper": loss.advantage.upper,
        "guo_bound": pb.reconstruction_advantage(prior, release) if raw else None,
        "tight": loss.bounds["tight"],
        "loose": loss.bounds["loose"],
        "epsilon": pb.differential_privacy(release).exact,
        "seen_then_not": seen.lower if raw else None,
    }


def formulas(settings: Settings) -> list[Row]:
    """What is out of reach by the paper, and what differential privacy charges: quantity, steps, misses, value."""
    prior, steps = pb.line_prior(settings.places, settings.tau), settings.steps
    rows: list[Row] = []

    def say(quantity: str, value: float, steps: int, misses: int | None = None) -> None:
        rows.append({"quantity": quantity, "steps": steps, "misses": misses, "value": value})

    for length in (steps, 10 * steps):
        release = pb.Release(sensors_of(settings, 0, settings.places, length))
        say("information, exact", pb.mutual_information(prior, release, "exact"), length)
        say("information, order 1", pb.mutual_information(prior, release, "order1"), length)
    law = series_law(prior, sensors_of(settings, 0, settings.places, steps))
    say("information, by listing all series", float(-(law * np.log(np.where(law > 0, law, 1.0))).sum()), steps)
    for misses in (0, 1, 2, settings.misses, steps - 2, steps - 1):
        loss = pb.measure(prior, pb.Release.silent(steps), misses, budget=steps * settings.close_budget)
        say("baseline, lower", loss.baseline.lower, steps, misses)
        say("baseline, upper", loss.baseline.upper, steps, misses)
    for length in (1, steps, 10 * steps):
        privacy = pb.differential_privacy(release_of([0] * length, 1.0))
        say("epsilon, formula", privacy.formula or 0.0, length)
        say("epsilon, exact", privacy.exact or 0.0, length)
    return rows


def series_law(prior: pb.MarkovPrior, sensors: list[int]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The probability of each series of raw counts, shape (2^T,), one sensor a step: "away" and "there" at each step.

    >>> series_law(pb.MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]), [0, 0])
    array([0.4 , 0.05, 0.1 , 0.45])
    """
    now = prior.initial[None]
    for t, sensor in enumerate(sensors):
        now = now @ prior.transition if t else now
        there = np.zeros_like(now)
        there[:, sensor] = now[:, sensor]
        now = np.concatenate([now - there, there])
    return np.asarray(now.sum(axis=1))
