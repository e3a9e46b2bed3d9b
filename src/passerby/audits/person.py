"""One person of an audit: their row of the table.

The columns of an audit's table.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError, PasserbyError
from passerby.measurement.information import sighted
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import one_series
from passerby.questions.trace.guess import UNBOUNDED, bracket_series
from passerby.questions.trace.loss import Loss
from passerby.questions.trace.measure import Enough
from passerby.questions.trace.methods import ATTACKS, BOUNDS
from passerby.questions.trace.methods.crowd import blind_guesses

from .job import Job, Measured, by_steps, measured, over_states


def audit_person(job: Job, person: int) -> dict[str, object]:
    """One row of the table."""
    prior, release, _, state_of = over_states(job, person)
    seed = stream_of(job.measurement.seed, job.people.ids[person])
    try:
        found = measured(prior, release, **{**vars(job.measurement), "seed": seed})
    except PasserbyError as reason:
        return {"status": str(reason)}
    loss, part = found.loss, found.part
    row = _row(loss) if part is release else _wider(_row(loss), found, job.measurement.tolerance)
    row["sighted"] = sighted(prior, release if part is release else by_steps(release))
    row["spectral_gap"] = prior.spectral_gap if prior.homogeneous and prior.modes == 1 else None
    row["places"] = len(set(job.people.fitted[person].tolist()))
    if job.people.actual.shape[1]:
        trace = state_of[job.people.actual[person]]
        try:
            row.update(_hits(*part.over(prior), trace, loss, seed))
        except InputError:
            row["status"] = "impossible"
    return row


def _row(loss: Loss) -> dict[str, object]:
    return {
        "status": "ok" if loss.effort.reached else "wide",
        "lower": loss.lower,
        "upper": loss.upper,
        "baseline_lower": loss.baseline.lower,
        "baseline_upper": loss.baseline.upper,
        "advantage_lower": loss.advantage.lower,
        "advantage_upper": loss.advantage.upper,
        "pooled_lower": loss.pooled.lower,
        "pooled_upper": loss.pooled.upper,
        "pooled_reach": loss.pooled.reach,
        **{f"attack_{name}": attack.value for name, attack in loss.attacks.items()},
        **{f"error_{name}": attack.error for name, attack in loss.attacks.items()},
        **{f"bound_{name}": value for name, value in loss.bounds.items()},
        "series": loss.effort.series,
        "sampled": loss.effort.sampled,
        "estimated": " ".join(name for name, attack in loss.attacks.items() if attack.level is not None),
    }


def _wider(row: dict[str, Any], found: Measured, tolerance: float) -> dict[str, object]:
    """The row of all counts, from a part's row and an upper end of all; bounds of the part are left out."""
    row["upper"], row["pooled_upper"] = found.upper, found.pooled_upper
    row["sampled"] = row["sampled"] or not found.certain
    without = row["baseline_lower"]
    row["advantage_upper"] = (row["upper"] - without) / (1 - without) if without < 1 else 0.0
    row["status"] = "ok" if row["upper"] <= row["lower"] * (1 + tolerance) else "wide"
    return {name: None if name.startswith("bound_") else value for name, value in row.items()}


def _hits(
    prior: MarkovPrior, release: Release, trace: NDArray[np.int64], loss: Loss, seed: list[int]
) -> dict[str, object]:
    """Whether each attack gets the real trace right, given the published values for it."""
    if release.independent:
        series = one_series(release.drawn(trace[None], [*seed, 1]))
        found = bracket_series(prior, release, series, loss.misses, 0.0, UNBOUNDED).guesses[0]
        guesses = dict(zip(("map", "marginal", "ascent"), found, strict=True))
    else:
        published = release.publish(trace[None], np.random.default_rng([*seed, 1]))
        # Others may have been at places their habits never lead to: no reason to give up.
        blind = blind_guesses(prior, release, published, loss.misses)
        guesses = {name: guess[0] for name, guess in blind.items()}
    for name in ("prior", "constant"):
        guess = loss.attacks[name].guess
        if guess is not None:
            guesses[name] = np.array(guess)
    wrong = (np.array(list(guesses.values())) != trace).sum(axis=1).tolist()
    return {f"hit_{name}": count <= loss.misses for name, count in zip(guesses, wrong, strict=True)}


def person_ends(job: Job, person: int, enough: Enough | None = None) -> tuple[tuple[float, float, float, float], bool]:
    """Both ends of a person's loss and of their baseline, as in their row; from 0 to 1 if a number is refused.

    They may be wider if this is `enough`. The last value marks certain ends; otherwise they rest on drawn series.
    """
    prior, release, *_ = over_states(job, person)
    seed = stream_of(job.measurement.seed, job.people.ids[person])
    try:
        found = measured(prior, release, enough, **{**vars(job.measurement), "seed": seed})
    except PasserbyError:
        return (0.0, 1.0, 0.0, 1.0), True
    without = found.loss.baseline
    return (found.loss.lower, found.upper, without.lower, without.upper), found.certain


def stream_of(seed: int, person: object) -> list[int]:
    """The seed of one person's random numbers: depends on the seed and the person alone."""
    digest = hashlib.blake2b(str(person).encode(), digest_size=8).digest()
    return [seed, int.from_bytes(digest, "big")]


HITS = tuple(f"hit_{name}" for name in ATTACKS)

SCHEMA: dict[str, pl.DataType] = {
    "status": pl.String(),
    **{
        name: pl.Float64()
        for name in (
            "lower",
            "upper",
            "baseline_lower",
            "baseline_upper",
            "advantage_lower",
            "advantage_upper",
            "pooled_lower",
            "pooled_upper",
            "pooled_reach",
            *(f"attack_{name}" for name in ATTACKS),
            *(f"error_{name}" for name in ATTACKS),
            *(f"bound_{name}" for name in BOUNDS),
            "sighted",
            "spectral_gap",
        )
    },
    "places": pl.Int64(),
    "series": pl.Int64(),
    "sampled": pl.Boolean(),
    "estimated": pl.String(),
    **{name: pl.Boolean() for name in HITS},
}
