"""Real data: everyone's loss, with what may go with it (visits, spectral gap, real traces), and what it averages to.

Attacks are scored on the real held-out traces, bounds and intervals are averaged over people.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

import passerby as pb

from .people import Where, part, prepare, reached, sensors_for
from .rules import HALF
from .settings import FULL_FILES, Piece, Row, Settings
from .simulated import release_of

#: People in a piece of work.
SLICE = 150
#: Columns of the tables, and the audit's names for them.
COLUMNS = {
    **{name: name for name in ("lower", "upper", "baseline_lower", "baseline_upper")},
    **{name: f"bound_{name}" for name in ("tight", "loose")},
    **{name: f"attack_{name}" for name in ("map", "prior", "constant")},
    **{name: name for name in ("hit_map", "hit_prior", "hit_constant", "hit_ascent", "spectral_gap", "sighted")},
    "visited": "places",
}
KEYS = ("dataset", "right", "misses", "sigma")
MEANS = (
    "lower", "upper", "baseline_lower", "baseline_upper", "tight", "loose", "map", "prior", "constant",
    "spectral_gap", "sighted",
)  # fmt: skip
HITS = ("hit_map", "hit_prior", "hit_constant", "hit_ascent", "hit_hindsight")
#: The columns that score the paper's attacks on real traces: a constant guess names the same place for everyone.
HIT_OF = {"prior": "hit_prior", "constant": "hit_everyone", "map": "hit_map"}
#: What is kept of each person.
PERSON = ("dataset", "frequency", "spectral_gap", "tight", "lower", "upper", "baseline_lower", "sighted")


def counted(name: str, rows: int, windows: int, people: int) -> list[Row]:
    """How many rows, windows and people there are, beside the paper's numbers."""
    found = {"dataset": name, "rows": rows, "windows": windows, "people": people}
    return [found | {f"paper_{what}": number for what, number in FULL_FILES[name].items()}]


def count_pieces(settings: Settings, data: dict[str, pb.Visits]) -> list[Piece]:
    """A row per file."""
    out: list[Piece] = []
    for name, visits in data.items():
        traces = pb.window_visits(
            visits,
            window=settings.window,
            places=settings.real_places,
            min_active=settings.min_active,
            origin="first-visit",
        )
        people, windows = traces.array.shape
        out.append(partial(counted, name, visits.table.height, windows, people))
    return out


def pieces(
    settings: Settings,
    data: dict[str, pb.Visits],
    where: Where,
    points: Callable[[Settings], list[tuple[int, float | None]]] = lambda settings: [(settings.real_misses, None)],
) -> list[Piece]:
    """Everyone's loss with sensors somewhere, at points: how many steps may be wrong, and the noise (None: raw)."""
    out = []
    for name, visits in data.items():
        people = prepare(name, visits, settings)
        for misses, sigma in points(settings):
            labels = {"dataset": name, "right": settings.holdout - misses, "misses": misses, "sigma": sigma}
            out += audits(people, settings, labels, where, misses, sigma)
    return out


def audits(
    people: pb.People, settings: Settings, labels: Row, where: Where, misses: int, sigma: float | None
) -> list[Piece]:
    """The loss of everyone, in pieces; `labels` are columns that all rows get."""
    release = release_of(sensors_for(people, settings, where), sigma)
    return [
        partial(audited, part(people, at, at + SLICE), release, misses, settings, labels)
        for at in range(0, len(people), SLICE)
    ]


def audited(people: pb.People, release: pb.Release, misses: int, settings: Settings, labels: Row) -> list[Row]:
    """A row per person, without who they are: losses, bounds, and whether attacks get the real trace right."""
    runs, budget = settings.real_runs, settings.real_budget
    table = pb.audit(people, release, misses, runs=runs, budget=budget, seed=settings.seed, workers=1)
    sensor, enough = release.sensors[0][0], release.steps - misses
    rows = []
    for person, found in enumerate(table.iter_rows(named=True)):
        visits = np.bincount(people.actual[person], minlength=len(people.places))[:-1]
        row = labels | {name: found[source] for name, source in COLUMNS.items()}
        row["frequency"] = float((people.fitted[person] == sensor).mean())
        row |= gaps(people, person)
        row["failed"] = found["status"] not in ("ok", "wide", "impossible")
        # The luckiest place in hindsight for this person, and all their visits, for one place for everyone.
        row["hit_hindsight"] = bool(visits.max(initial=0) >= enough)
        row["right_places"] = np.flatnonzero(visits >= enough).tolist()
        rows.append(row)
    return rows


def gaps(people: pb.People, person: int) -> dict[str, float]:
    """The spectral gap of a person's chain as it may be understood.

    `gap_whole`: of the matrix over all places; `gap_reached`: over the places that the person can get to;
    `gap_signed`: the same, with the second largest eigenvalue itself instead of its modulus. Merging the places that
    were never visited leaves all of them as they are, because those places have the same row, or are never left.
    """
    prior, _ = people.prior(person)
    visited = len(np.unique(people.fitted[person]))  # they are the first states
    there = reached(prior.transition, np.arange(visited))
    inside = np.linalg.eigvals(prior.transition[np.ix_(there, there)])
    found = {"whole": prior.spectral_gap, "reached": _below_one(np.abs(inside)), "signed": _below_one(inside.real)}
    # Many people share a gap, such as the share of places visited: rounding must not rank them.
    return {f"gap_{name}": round(gap, 9) for name, gap in found.items()}


def _below_one(sizes: NDArray[np.floating]) -> float:
    """How far the second largest is below one; a single place is forgotten at once."""
    return 1.0 if len(sizes) < 2 else float(1 - min(np.sort(sizes)[-2], 1.0))


def means_of(rows: list[Row], settings: object = None, keys: tuple[str, ...] = KEYS) -> pl.DataFrame:
    """Averages over people: a row per point.

    An attack that is not tried, because the real trace cannot happen under the fitted habits, counts as failed.
    `hit_everyone` is the constant attack that names the same place for all people, the best such place.
    """
    table = pl.DataFrame(rows, schema_overrides={"sigma": pl.Float64}, infer_schema_length=None)
    people = table.group_by(*keys).agg(
        pl.len().alias("people"),
        pl.col(MEANS).mean(),
        pl.col(HITS).fill_null(False).mean(),
        pl.col("failed").sum(),
    )
    places = table.explode("right_places", empty_as_null=True).drop_nulls("right_places")
    lucky = places.group_by(*keys, "right_places").len().group_by(*keys).agg(most=pl.col("len").max())
    joined = people.join(lucky, on=list(keys), how="left", nulls_equal=True)
    everyone = (pl.col("most").fill_null(0) / pl.col("people")).alias("hit_everyone")
    return joined.with_columns(everyone).drop("most").sort(*keys, nulls_last=False)


def persons(rows: list[Row], settings: object = None) -> pl.DataFrame:
    """A row per person, in an order that says nothing about who is who."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.filter(~pl.col("failed")).select(PERSON).sort(PERSON)


def visitors(table: pl.DataFrame) -> dict[str, float]:
    """How many frequent visitors of the sensor there are, their lowest and median loss, and the others' median."""
    often, others = table.filter(pl.col("frequency") >= HALF), table.filter(pl.col("frequency") < HALF)
    out: dict[str, float] = {"frequent": often.height}
    for way in ("tight", "upper"):
        losses, rest = often[way].to_numpy(), others[way].to_numpy()
        out[f"{way}_lowest"] = float(losses.min()) if losses.size else np.nan
        out[f"{way}_median"] = float(np.median(losses)) if losses.size else np.nan
        out[f"{way}_others"] = float(np.median(rest)) if rest.size else np.nan
    return out
