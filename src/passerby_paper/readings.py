"""What the paper leaves open about its real data, run in every plausible way.

Which place stands for a window with visits to several; how a transition matrix is made of some twenty steps; what the
row of a place is that a person never left, and whether such rows count when the spectral gap is taken.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from passerby.measurement.attacks import decode_series, prior_trace
from passerby.measurement.bounds import loose_bound, paper_information, tight_bound
from passerby.mechanisms import Gaussian
from passerby.model.release import Release
from passerby.people.habits import People

from .audits import SLICE, audits
from .experiment import Experiment
from .people import Data, Reading, Where, part, prepare, sensors_for
from .pieces import Piece, Row
from .ranks import rank_correlation
from .real import means_of
from .scatter import visitors
from .settings import Settings

READINGS = (
    Reading("default", "the place visited most in a window; smoothing of one step toward the population's frequencies"),
    Reading("first visit of a window", "the place of the first visit", rule="first"),
    Reading("last visit of a window", "the place of the last visit", rule="last"),
    Reading("smoothing 0.1", "smoothing of a tenth of a step", smoothing=0.1),
    Reading("smoothing 10", "smoothing of ten steps", smoothing=10.0),
    Reading(
        "smoothing chosen from the data",
        "the smoothing that predicts the last fifth of the fitted steps best",
        smoothing="auto",
    ),
    Reading("smoothing 1 toward equal frequencies", "one step spread evenly over all places instead", toward="uniform"),
    Reading(
        "add one to every count", "one added to every count of a move (Laplace)", smoothing=101.0, toward="uniform"
    ),
    Reading(
        "no smoothing, unseen rows equal",
        "counts as they are; from a place never left, anywhere with equal chance",
        smoothing=0.0,
        toward="uniform",
    ),
    Reading(
        "no smoothing, unseen rows as the population",
        "counts as they are; from a place never left, by the population's frequencies",
        smoothing=0.0,
    ),
    Reading(
        "no smoothing, unseen rows as the person",
        "counts as they are; from a place never left, by the person's own frequencies, so that places never visited "
        "play no part",
        smoothing=0.0,
        unseen="own",
    ),
    Reading(
        "no smoothing, unseen rows stay",
        "counts as they are; a place never left is never left",
        smoothing=0.0,
        unseen="stay",
    ),
)
#: What "spectral gap" may mean: columns, and words for the page.
GAPS = {
    "gap_whole": "all places",
    "gap_reached": "places reached",
    "gap_signed": "places reached, signed",
}

PLACEMENTS: tuple[Where, ...] = ("random", "most-visited")
_AVERAGES = [pl.col(c).mean() for c in ("tight", "loose", "hit_map", "hit_prior")]


def plain(people: People, first: int, sensors: list[list[int]], settings: Settings, labels: Row) -> list[Row]:
    """The paper's bounds and attacks alone, by formula and on the real traces: a row per person and point.

    `first` is the number of the first of these people among all.
    """
    points: list[tuple[int, float | None]] = [(misses, None) for misses in range(settings.holdout)]
    points += [(settings.real_misses, sigma) for sigma in settings.sigma_grid]
    rows = []
    sensed = sorted({place for step in sensors for place in step})
    for person in range(len(people)):
        prior, states = people.prior(person, sensed)
        state_of = {int(place): state for state, place in enumerate(states)}
        trace = np.array([state_of.get(int(place), state_of.get(-1, -1)) for place in people.actual[person]])
        likeliest = prior_trace(prior, len(trace))
        for misses, sigma in points:
            release = Release(sensors, None if sigma is None else Gaussian(sigma)).relabelled(state_of)
            information = paper_information(prior, release)
            rng = np.random.default_rng([settings.seed, 5, first + person])
            evidence = release.evidence(release.publish(trace[None], rng))
            guess, value = decode_series(prior, release, evidence)
            rows.append(
                {
                    **labels,
                    "misses": misses,
                    "sigma": sigma,
                    "tight": tight_bound(prior, release, misses, information),
                    "loose": loose_bound(prior, release, misses, information),
                    "hit_map": bool(value[0] > -np.inf and (guess[0] != trace).sum() <= misses),
                    "hit_prior": bool((likeliest != trace).sum() <= misses),
                }
            )
    return rows


def pieces(settings: Settings, data: dict[str, Data]) -> list[Piece]:
    """For each reading and file: everyone's loss with random and with fixed sensors, and the paper's sweeps."""
    out = []
    for name, file in data.items():
        for reading in READINGS[:: 4 if settings.quick else 1]:
            people = prepare(file, settings, reading)
            labels = {"reading": reading.name, "dataset": name}
            for where in PLACEMENTS:
                marked = {**labels, "part": where, "sigma": None}
                out += audits(people, settings, marked, where, settings.real_misses, None)
            sensors = sensors_for(people, settings, "random")
            out += [
                Piece(
                    plain,
                    {
                        "people": part(people, at, at + SLICE),
                        "first": at,
                        "sensors": sensors,
                        "settings": settings,
                        "labels": {**labels, "part": "plain"},
                    },
                )
                for at in range(0, len(people), SLICE)
            ]
    return out


def table_of(rows: list[Row], settings: Settings) -> pl.DataFrame:
    """A row per reading and file."""
    by: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by.setdefault((row["reading"], row["dataset"]), []).append(row)
    order = [reading.name for reading in READINGS]
    keys = sorted(by, key=lambda key: (key[1], order.index(key[0])))
    return pl.DataFrame([_summary(*key, by[key], settings) for key in keys], infer_schema_length=None)


def _summary(reading: str, dataset: str, rows: list[Row], settings: Settings) -> Row:
    out: Row = {"reading": reading, "dataset": dataset}
    light = pl.DataFrame([r for r in rows if r["part"] == "plain"], schema_overrides={"sigma": pl.Float64})
    raw = light.filter(pl.col("sigma").is_null()).group_by("misses").agg(_AVERAGES)
    for row in raw.sort("misses").iter_rows(named=True):
        for column in ("tight", "loose", "hit_map", "hit_prior"):
            out[f"{column}_misses_{row['misses']}"] = row[column]
    noisy = light.filter(pl.col("sigma").is_not_null()).group_by("sigma").agg(_AVERAGES)
    for row in noisy.sort("sigma").iter_rows(named=True):
        for column in ("tight", "loose", "hit_map"):
            out[f"{column}_sigma_{row['sigma']:g}"] = row[column]
    for where in PLACEMENTS:
        people = [r for r in rows if r["part"] == where and not r["failed"]]
        means = means_of(people, ("dataset",))
        for column in ("lower", "upper", "baseline_lower", "tight"):
            out[f"{column}_{where}"] = means[column][0]
        out |= _persons(pl.DataFrame(people, infer_schema_length=None), where, settings)
    return out


def _persons(table: pl.DataFrame, where: str, settings: Settings) -> Row:
    """What goes with a person's loss: the spectral gap with random sensors, visits with a fixed one."""
    out: Row = {}

    def correlate(x: str, y: str) -> None:
        found = rank_correlation(table[x].to_numpy(), table[y].to_numpy(), settings.seed, settings.resamples)
        for end, value in zip(("", "_low", "_high"), found, strict=True):
            out[f"{x}_{y}{end}"] = value

    if where == "random":
        out["people"] = table.height
        for x in GAPS:
            for y in ("tight", "upper", "visited"):
                correlate(x, y)
    else:
        for y in ("tight", "upper"):
            correlate("frequency", y)
        out |= visitors(table)
    return out


OPEN = Experiment("readings", "Real: what the paper leaves open", "real", pieces, None, table_of)
