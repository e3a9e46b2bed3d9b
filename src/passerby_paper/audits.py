"""Everyone's loss on real data, in pieces of work, with what may go with it: visits, spectral gap, real traces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from passerby.audits.job import Job
from passerby.audits.person import audit_person
from passerby.audits.settings import Measurement as Effort
from passerby.mechanisms import Gaussian
from passerby.model.release import Release
from passerby.people.habits import People

from .people import Where, part, reached, sensors_for
from .pieces import Piece, Row
from .settings import Settings

#: People in a piece of work.
SLICE = 150

#: Columns of the tables, and the audit's names for them.
COLUMNS = {
    "lower": "lower",
    "upper": "upper",
    "baseline_lower": "baseline_lower",
    "baseline_upper": "baseline_upper",
    "tight": "bound_tight",
    "loose": "bound_loose",
    "map": "attack_map",
    "prior": "attack_prior",
    "constant": "attack_constant",
    "hit_map": "hit_map",
    "hit_prior": "hit_prior",
    "hit_constant": "hit_constant",
    "hit_ascent": "hit_ascent",
    "spectral_gap": "spectral_gap",
    "sighted": "sighted",
    "visited": "places",
}


def audits(
    people: People, settings: Settings, labels: Row, where: Where, misses: int, sigma: float | None
) -> list[Piece]:
    """The loss of everyone, in pieces; `labels` are columns that all rows get."""
    release = Release(sensors_for(people, settings, where), None if sigma is None else Gaussian(sigma))
    effort = Effort(misses, runs=settings.real_runs, budget=settings.real_budget, seed=settings.seed)
    return [
        Piece(audited, {"people": part(people, at, at + SLICE), "release": release, "effort": effort, "labels": labels})
        for at in range(0, len(people), SLICE)
    ]


def audited(people: People, release: Release, effort: Effort, labels: Row) -> list[Row]:
    """A row per person, without who they are: losses, bounds, and whether attacks get the real trace right."""
    job = Job(people, release, effort)
    sensor = release.sensors[0][0]
    rows = []
    for person in range(len(people)):
        row = audit_person(job, person)
        actual = people.actual[person]
        visited = np.bincount(actual, minlength=len(people.places))[:-1]
        rows.append(
            {
                **labels,
                **{name: row.get(source) for name, source in COLUMNS.items()},
                "frequency": float((people.fitted[person] == sensor).mean()),
                **gaps(people, person),
                "failed": row["status"] not in ("ok", "wide", "impossible"),
                # The luckiest place in hindsight for this person, and all their visits, for one place for everyone.
                "hit_hindsight": bool(visited.max(initial=0) >= release.steps - effort.misses),
                "right_places": np.flatnonzero(visited >= release.steps - effort.misses).tolist(),
            }
        )
    return rows


def gaps(people: People, person: int) -> dict[str, float]:
    """The spectral gap of a person's chain as it may be understood.

    `gap_whole`: of the matrix over all places; `gap_reached`: over the places that the person can get to;
    `gap_signed`: the same, with the second largest eigenvalue itself instead of its modulus. Merging the places that
    were never visited leaves all of them as they are, because those places have the same row, or are never left.
    """
    prior, _ = people.prior(person)
    visited = len(np.unique(people.fitted[person]))  # they are the first states
    there = reached(prior.transition, np.arange(visited))
    inside = np.linalg.eigvals(prior.transition[np.ix_(there, there)])
    return {
        "gap_whole": prior.spectral_gap,
        "gap_reached": _below_one(np.abs(inside)),
        "gap_signed": _below_one(inside.real),
    }


def _below_one(sizes: NDArray[np.floating]) -> float:
    """How far the second largest is below one; a single place is forgotten at once."""
    return 1.0 if len(sizes) < 2 else float(1 - min(np.sort(sizes)[-2], 1.0))
