"""What the paper leaves open about its real data, run in every plausible way.

Which place stands for a window with visits to several; how a transition matrix is made of some twenty steps; what the
row of a place is that a person never left, and whether such rows count when the spectral gap is taken.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl

import passerby as pb

from .map_attack import likeliest
from .people import SLICE, Preparation, Where, audits, means_of, part, prepare, sensors_for, visitors
from .rules import rank_correlation
from .settings import Piece, Row, Settings
from .simulated import release_of

_BARE = "counts as they are; "
READINGS = (
    Preparation(
        "default",
        "the place visited most in a window; smoothing of one step toward the population's frequencies",
    ),
    Preparation("first visit of a window", "the place of the first visit", rule="first"),
    Preparation("last visit of a window", "the place of the last visit", rule="last"),
    Preparation("smoothing 0.1", "smoothing of a tenth of a step", smoothing=0.1),
    Preparation("smoothing 10", "smoothing of ten steps", smoothing=10.0),
    Preparation(
        "smoothing chosen from the data",
        "the smoothing that predicts the last fifth of the fitted steps best",
        smoothing="auto",
    ),
    Preparation(
        "smoothing 1 toward equal frequencies", "one step spread evenly over all places instead", toward="uniform"
    ),
    Preparation(
        "add one to every count", "one added to every count of a move (Laplace)", smoothing=101.0, toward="uniform"
    ),
    Preparation(
        "no smoothing, unseen rows equal",
        f"{_BARE}from a place never left, anywhere with equal chance",
        smoothing=0.0,
        toward="uniform",
    ),
    Preparation(
        "no smoothing, unseen rows as the population",
        f"{_BARE}from a place never left, by the population's frequencies",
        smoothing=0.0,
    ),
    Preparation(
        "no smoothing, unseen rows as the person",
        f"{_BARE}from a place never left, by the person's own frequencies, so that places never visited play no part",
        smoothing=0.0,
        unseen="own",
    ),
    Preparation(
        "no smoothing, unseen rows stay", f"{_BARE}a place never left is never left", smoothing=0.0, unseen="stay"
    ),
)
#: What "spectral gap" may mean: columns, and words for the page.
GAPS = {"gap_whole": "all places", "gap_reached": "places reached", "gap_signed": "places reached, signed"}
PLACEMENTS: tuple[Where, ...] = ("random", "most-visited")


def pieces(settings: Settings, data: dict[str, pb.Visits]) -> list[Piece]:
    """For each reading and file: everyone's loss with random and with fixed sensors, and the paper's sweeps."""
    out: list[Piece] = []
    for name, visits in data.items():
        for reading in READINGS[:: 4 if settings.quick else 1]:
            people = prepare(name, visits, settings, reading)
            labels = {"reading": reading.name, "dataset": name}
            for where in PLACEMENTS:
                marked = {**labels, "part": where, "sigma": None}
                out += audits(people, settings, marked, where, settings.real_misses, None)
            sensors = sensors_for(people, settings, "random")
            out += [
                partial(plain, part(people, at, at + SLICE), at, sensors, settings, {**labels, "part": "plain"})
                for at in range(0, len(people), SLICE)
            ]
    return out


def plain(people: pb.People, first: int, sensors: list[list[int]], settings: Settings, labels: Row) -> list[Row]:
    """The paper's bounds and attacks alone, by formula and on the real traces: a row per person and point.

    `first` is the number of the first of these people among all; there is one sensor a step.
    """
    points: list[tuple[int, float | None]] = [(misses, None) for misses in range(settings.holdout)]
    points += [(settings.real_misses, sigma) for sigma in settings.sigma_grid]
    rows = []
    for person in range(len(people)):
        prior, states = people.prior(person, sorted({place for step in sensors for place in step}))
        state_of = {int(place): state for state, place in enumerate(states)}
        trace = np.array([state_of.get(int(place), state_of.get(-1, -1)) for place in people.actual[person]])
        seen = [state_of[place] for step in sensors for place in step]
        unaided, _ = likeliest(prior, np.zeros((len(trace), prior.places)))
        for misses, sigma in points:
            release = release_of(seen, sigma)
            information = pb.mutual_information(prior, release, "order1" if sigma is None else "paper-gaussian")
            rng = np.random.default_rng([settings.seed, 5, first + person])
            evidence = release.evidence(release.publish(trace[None], rng))[0]
            weights = np.repeat(evidence[:, :1], prior.places, axis=1)
            weights[np.arange(len(seen)), seen] = evidence[:, 1]
            guess, value = likeliest(prior, weights)
            rows.append(
                {
                    **labels,
                    "misses": misses,
                    "sigma": sigma,
                    "tight": pb.tight_bound(prior, release, misses, information),
                    "loose": pb.loose_bound(prior, release, misses, information),
                    "hit_map": bool(value > -np.inf and (guess != trace).sum() <= misses),
                    "hit_prior": bool((unaided != trace).sum() <= misses),
                }
            )
    return rows


def table_of(rows: list[Row], settings: Settings) -> pl.DataFrame:
    """A row per reading and file."""
    by: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by.setdefault((row["dataset"], row["reading"]), []).append(row)
    order = [reading.name for reading in READINGS]
    keys = sorted(by, key=lambda key: (key[0], order.index(key[1])))
    return pl.DataFrame([_summary(*key, by[key], settings) for key in keys], infer_schema_length=None)


def _summary(dataset: str, reading: str, rows: list[Row], settings: Settings) -> Row:
    out: Row = {"reading": reading, "dataset": dataset}
    table = pl.DataFrame([r for r in rows if r["part"] == "plain"], schema_overrides={"sigma": pl.Float64})
    raw = pl.col("sigma").is_null()
    for key, chosen, columns in (
        ("misses", raw, ("tight", "loose", "hit_map", "hit_prior")),
        ("sigma", ~raw, ("tight", "loose", "hit_map")),
    ):
        for row in table.filter(chosen).group_by(key).agg(pl.col(columns).mean()).sort(key).iter_rows(named=True):
            out |= {f"{column}_{key}_{row[key]:g}": row[column] for column in columns}
    for where in PLACEMENTS:
        people = [r for r in rows if r["part"] == where and not r["failed"]]
        means = means_of(people, keys=("dataset",))
        out |= {f"{column}_{where}": means[column][0] for column in ("lower", "upper", "baseline_lower", "tight")}
        out |= _persons(pl.DataFrame(people, infer_schema_length=None), where, settings)
    return out


def _persons(table: pl.DataFrame, where: Where, settings: Settings) -> Row:
    """What goes with a person's loss: the spectral gap with random sensors, visits with a fixed one."""
    pairs = [(x, y) for x in GAPS for y in ("tight", "upper", "visited")]
    out: Row = {"people": table.height}
    if where != "random":
        pairs, out = [("frequency", "tight"), ("frequency", "upper")], {}
    for x, y in pairs:
        found = rank_correlation(table[x].to_numpy(), table[y].to_numpy(), settings.seed, settings.resamples)
        out |= {f"{x}_{y}{end}": value for end, value in zip(("", "_low", "_high"), found, strict=True)}
    return out if where == "random" else out | visitors(table)
