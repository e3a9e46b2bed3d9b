"""The people of real check-in files, prepared in the paper's way and in other readings of it; and everyone's loss.

Beside each loss stand visits, spectral gap and real traces. Attacks are scored on the real held-out traces. Bounds and
intervals are averaged over people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

import passerby as pb

from .rules import HALF
from .settings import FULL_FILES, LAYOUTS, Piece, Row, Settings
from .simulated import release_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Where = Literal["random", "most-visited"]
Unseen = Literal["spread", "own", "stay"]


@dataclass(frozen=True)
class Preparation:
    """One way to read what the paper leaves open about the preparation.

    `rule`: which place stands for a window with visits to several. `smoothing`: the weight, in steps, of frequencies
    that are mixed into each row of the transition matrix, those of the population (`toward="population"`) or equal
    ones ("uniform"); 0 leaves rows with counts as they are. `unseen`: without smoothing, the row of a place that a
    person never left is those frequencies ("spread") or the person's own ("own"), or remains there ("stay").
    """

    name: str
    words: str = ""
    rule: Literal["most-visited", "first", "last"] = "most-visited"
    smoothing: float | Literal["auto"] = 1.0
    toward: Literal["population", "uniform"] = "population"
    unseen: Unseen = "spread"


@dataclass(frozen=True, eq=False, repr=False)
class Unsmoothed(pb.People):
    """People whose seen rows are their own counts, without anything mixed in."""

    unseen: Unseen = "spread"

    def prior(
        self, person: int, sensed: Sequence[int] = (), *, reduced: bool = True, zones: Ints | None = None
    ) -> tuple[pb.MarkovPrior, Ints]:
        """One person's chain and the places of its states, as `People.prior` gives them, from counts alone."""
        smoothed, states = super().prior(person, sensed, reduced=reduced, zones=zones)
        state_of = {int(place): state for state, place in enumerate(states)}
        steps = np.array([state_of[int(place)] for place in self.fitted[person]])
        moves = np.zeros(smoothed.transition.shape)
        np.add.at(moves, (steps[:-1], steps[1:]), 1.0)
        never = moves.sum(axis=1) == 0
        # Smoothing leaves nothing but what is mixed in to the row of a place that was never left.
        moves[never] = {
            "spread": smoothed.transition,
            "own": np.tile(np.bincount(steps, minlength=len(states)), (len(states), 1)),
            "stay": np.eye(len(states)),
        }[self.unseen][never]
        moves /= moves.sum(axis=1, keepdims=True)
        # In the long run they are at places that can be reached from those they visited.
        there = reached(moves, steps)
        start = np.zeros(len(states))
        start[there] = pb.MarkovPrior.stationary(moves[np.ix_(there, there)]).initial
        return replace(smoothed, initial=start, transition=moves), states


def reached(moves: Floats, start: Ints) -> Ints:
    """The states that a chain can get to from any of `start`, which are among them."""
    found = np.zeros(len(moves), dtype=bool)
    found[start] = True
    while (more := found | (moves[found] > 0).any(axis=0)).sum() > found.sum():
        found = more
    return np.flatnonzero(found)


def read_file(name: str, path: Path) -> pb.Visits:
    """A file of check-ins in the layout of its name, "foursquare" or "gowalla"."""
    try:
        return pb.read_visits(path, layout="foursquare" if name == "foursquare" else "gowalla")
    except pb.InputError as error:
        raise pb.InputError(f"--{name}, which takes the layout of {LAYOUTS[name]}: {error}") from None


def prepare(name: str, visits: pb.Visits, settings: Settings, reading: Preparation | None = None) -> pb.People:
    """The people of a file under a reading (the default one: as the rest of this package fits habits)."""
    reading = reading or Preparation("default", smoothing=settings.smoothing)
    try:
        people = pb.fit_people(
            paper_traces(visits, settings, reading),
            holdout=settings.holdout,
            smoothing=reading.smoothing or 1.0,
            name_elsewhere=True,
            habits="paper",
        )
    except pb.InputError as error:
        raise pb.InputError(f"--{name}: too little is left by the paper's preparation ({error})") from None
    if reading.toward == "uniform":
        people = replace(people, background=np.full(len(people.places), 1 / len(people.places)))
    if reading.smoothing == 0:
        parts = {f.name: getattr(people, f.name) for f in fields(pb.People)}
        people = Unsmoothed(**parts, unseen=reading.unseen)
    return people if settings.most_people is None else part(people, 0, settings.most_people)


def paper_traces(visits: pb.Visits, settings: Settings, reading: Preparation) -> pb.Traces:
    """Places by the visits of the fitted steps, and people who are active in enough of all steps, as the paper has it.

    An audit counts fitted steps alone: who was there in the steps to be found must not choose who is looked at.
    """
    steps: dict[str, Any] = {"window": settings.window, "origin": "first-visit", "rule": reading.rule}
    ranked = pb.window_visits(visits, places=settings.real_places, min_active=1, holdout=settings.holdout, **steps)
    return pb.window_visits(visits, places=ranked.places[:-1], min_active=settings.min_active, **steps)


def part(people: pb.People, start: int, stop: int) -> pb.People:
    """Some of the people."""
    chosen = slice(start, stop)
    return replace(people, fitted=people.fitted[chosen], actual=people.actual[chosen], ids=people.ids[chosen])


def sensors_for(people: pb.People, settings: Settings, where: Where) -> list[list[int]]:
    """One sensor a step: drawn uniformly, or the most visited place throughout."""
    if where == "random":
        return pb.random_sensors(people, 1, settings.seed)
    # A reading may mix in other frequencies than those of the visits.
    visited = np.bincount(people.fitted.ravel(), minlength=len(people.places)) / people.fitted.size
    return pb.most_visited_sensors(replace(people, background=visited), 1)


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
