"""What is tried out for a report: sensors, steps, counts and other ways to publish, on some people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.audit import Settings
from passerby.audits.settings import AuditSettings
from passerby.audits.what_if import Findings, only, some_people, try_out
from passerby.measurement.comparisons import differential_privacy
from passerby.mechanisms import Gaussian, Mechanism, Raw, Rounding
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.workers import Progress

from .data import FEW


def explore(
    people: People,
    release: Release,
    settings: AuditSettings,
    how: Settings,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> Findings:
    """Try out sensors, steps and mechanisms on a sample of the audited people, with a tenth of the effort for each.

    Mechanisms, which take longer, are tried on a third of the sample.
    """
    chosen = only(people, some_people(people, settings.explore, settings.seed + 1))
    how, rules = replace(how, budget=how.budget / 10), candidates(settings)
    few = _third(len(chosen))
    return try_out(chosen, release, rules, how, few=few, workers=workers, progress=progress, file=file)


def number_of_trials(settings: AuditSettings, people: int) -> tuple[int, int]:
    """How many people sensors and steps are tried out on, and how many times somebody is measured with a mechanism."""
    tried = min(settings.explore, people)
    return tried, min(_third(tried), tried) * len(candidates(settings))


def _third(people: int) -> int:
    return max(FEW, people // 3)


def candidates(settings: AuditSettings) -> dict[str, Mechanism]:
    """The mechanisms that a report compares, by the words that it uses for them."""
    noisy = {f"noise {sigma:g}": Gaussian(sigma) for sigma in settings.sigmas}
    return {"raw": Raw(), **noisy, **{f"rounded to {base}": Rounding(base) for base in settings.bases}}


def error_of(mechanism: Mechanism, counts: NDArray[np.int64], seed: int = 0) -> float:
    """Root mean square error of published counts, over the true counts of this release.

    >>> round(error_of(Gaussian(2.0), np.array([3, 9, 4])), 1), error_of(Raw(), np.array([3]))
    (2.0, 0.0)
    """
    if isinstance(mechanism, Gaussian):
        return float(mechanism.sigma)
    many = np.tile(counts, max(1, 2000 // max(1, len(counts))))
    return float(np.sqrt(np.mean((mechanism.sample(many, np.random.default_rng(seed)) - many) ** 2)))


def noise(findings: Findings, people: People, release: Release, settings: AuditSettings) -> pl.DataFrame:
    """Loss, error of the counts and differential privacy under each mechanism."""
    counts = np.array([people.counts[t, x] for t, step in enumerate(release.sensors) for x in step], dtype=np.int64)
    tried = candidates(settings)
    rows = []
    for row in findings.mechanisms.iter_rows(named=True):
        mechanism = tried[row["mechanism"]]
        epsilon = differential_privacy(Release(release.sensors, mechanism), settings.delta).exact
        rows.append({**row, "error": error_of(mechanism, counts, settings.seed), "epsilon": epsilon})
    kinds = dict.fromkeys(("lower", "upper", "baseline", "error", "epsilon"), pl.Float64)
    return pl.DataFrame(rows, schema={"mechanism": pl.String, "people": pl.Int64, **kinds}).sort(
        "error", maintain_order=True
    )
