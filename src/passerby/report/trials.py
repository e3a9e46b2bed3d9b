"""What other ways to publish would do: the loss, the error of the counts and differential privacy under each."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.settings import AuditSettings
from passerby.audits.trials import candidates
from passerby.audits.what_if import Findings
from passerby.measurement.comparisons import differential_privacy
from passerby.mechanisms import Gaussian, Mechanism
from passerby.model.release import Release
from passerby.people.habits import People


def error_of(mechanism: Mechanism, counts: NDArray[np.int64], seed: int = 0) -> float:
    """Root mean square error of published counts, over the true counts of this release.

    >>> from passerby.mechanisms import Raw
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
    tried = candidates(settings.sigmas, settings.bases)
    rows = []
    for row in findings.mechanisms.iter_rows(named=True):
        mechanism = tried[row["mechanism"]]
        epsilon = differential_privacy(Release(release.sensors, mechanism), settings.delta).exact
        rows.append({**row, "error": error_of(mechanism, counts, settings.seed), "epsilon": epsilon})
    kinds = dict.fromkeys(("lower", "upper", "baseline", "error", "epsilon"), pl.Float64)
    return pl.DataFrame(rows, schema={"mechanism": pl.String, "people": pl.Int64, **kinds}).sort(
        "error", maintain_order=True
    )
