"""What `summary.json` holds: a documented, versioned record of an audit that names nobody."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from passerby import __version__
from passerby.measurement.comparisons import differential_privacy
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.visits.table import Skipped

from .settings import ReportSettings

#: Raised when a field is removed or changes its meaning; new fields do not raise it.
VERSION = 1


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Statistics(_Record):
    """Four numbers over all measured people."""

    mean: float
    median: float
    percentile_95: float = Field(description="The value that 5 % of the people exceed.")
    maximum: float


class Ends(_Record):
    """Statistics of both ends of everybody's interval: what was achieved, and what nobody can exceed."""

    lower: Statistics
    upper: Statistics


class Above(_Record):
    """The share of people above a threshold."""

    threshold: float
    baseline: float = Field(description="Share of people whose best guess without the release is right this often.")
    loss_lower: float = Field(description="Share of people for whom an attack was found that is right this often.")
    loss_upper: float = Field(description="Share of people for whom no bound excludes such an attack.")


class Rows(_Record):
    """What was read and what was left out; each row of the visits is counted once."""

    read: int
    kept: int
    unreadable_times: int
    missing: int
    bad_coordinates: int
    duplicates: int


class Privacy(_Record):
    """Differential privacy of the release, the same for everyone; null where it gives no guarantee."""

    delta: float
    epsilon: float | None
    remark: str


class Realised(_Record):
    """The realised losses, where a published series was given."""

    possible: int = Field(description="People for whom the published series is possible.")
    impossible: int
    refused: int
    loss: Ends | None


class Summary(_Record):
    """The whole record."""

    schema_version: int = Field(default=VERSION, description="Version of this schema.")
    passerby: str = Field(default_factory=lambda: __version__, description="Version of passerby.")
    people: int = Field(description="People who were audited.")
    people_eligible: int = Field(description="People who were active enough; audited are all of them, or a sample.")
    people_measured: int = Field(description="Audited people with a loss interval; the statistics are over these.")
    steps: int = Field(description="Steps that are published and to be found.")
    steps_fitted: int = Field(description="Earlier steps that habits were fitted to.")
    window: str = Field(description="Length of a step.")
    places: int = Field(description="Places, with `elsewhere`.")
    sensors: int = Field(description="Counts that are published, over all steps.")
    misses: int = Field(description="Steps that the adversary may get wrong.")
    mechanism: str = Field(description="What is done to a count before it is published.")
    smoothing: float = Field(description="Weight of everybody's habits in a person's, in steps.")
    seed: int = Field(description="Seed of all random numbers.")
    loss: Ends | None = Field(description="Chance of the best attack with the release; null where nobody is measured.")
    baseline: Ends | None = Field(description="The same without the release.")
    advantage: Ends | None = Field(description="What the release adds: (loss - baseline) / (1 - baseline).")
    above: list[Above] = Field(description="The share of people above each threshold.")
    statuses: dict[str, int] = Field(
        description="People by status: ok; wide (the interval holds, but is wider than the tolerance); impossible (the "
        "real trace cannot happen under the fitted habits); refused."
    )
    visits: Rows = Field(description="Rows of the visits.")
    differential_privacy: Privacy = Field(description="Differential privacy of the release.")
    realised: Realised | None = Field(default=None, description="Where a published series was given.")


def summarise(
    table: pl.DataFrame,
    people: People,
    release: Release,
    *,
    misses: int,
    window: str,
    seed: int = 0,
    delta: float = ReportSettings.delta,
    thresholds: Sequence[float] = ReportSettings.thresholds,
    skipped: Skipped = Skipped(),  # noqa: B008
    eligible: int | None = None,
) -> Summary:
    """The summary of an audit's table.

    `window` is the length of a step in words, `skipped` tells how many rows of the visits were read, and `eligible` how
    many people those of the table were drawn from.
    """
    measured = table.filter(pl.col("lower").is_not_null())
    privacy = differential_privacy(release, delta)
    return Summary(
        people=table.height,
        people_eligible=len(people) if eligible is None else eligible,
        people_measured=measured.height,
        steps=release.steps,
        steps_fitted=people.fitted.shape[1],
        window=window,
        places=len(people.places),
        sensors=sum(map(len, release.sensors)),
        misses=misses,
        mechanism=repr(release.mechanism),
        smoothing=people.smoothing,
        seed=seed,
        loss=_ends(measured, "lower", "upper"),
        baseline=_ends(measured, "baseline_lower", "baseline_upper"),
        advantage=_ends(measured, "advantage_lower", "advantage_upper"),
        above=[_above(measured, threshold) for threshold in thresholds],
        statuses=_statuses(table["status"]),
        visits=Rows(
            read=skipped.rows,
            kept=skipped.kept,
            unreadable_times=skipped.times,
            missing=skipped.missing,
            bad_coordinates=skipped.coordinates,
            duplicates=skipped.duplicates,
        ),
        differential_privacy=Privacy(delta=privacy.delta, epsilon=privacy.exact, remark=privacy.remark),
        realised=_realised(table) if "realised_status" in table.columns else None,
    )


def statistics(values: pl.Series) -> Statistics:
    """Mean, median, 95th percentile and maximum.

    >>> statistics(pl.Series([0.0, 0.5, 1.0])).median
    0.5
    """
    array = values.to_numpy()
    return Statistics(
        mean=float(array.mean()),
        median=float(np.median(array)),
        percentile_95=float(np.quantile(array, 0.95)),
        maximum=float(array.max()),
    )


def _ends(table: pl.DataFrame, lower: str, upper: str) -> Ends | None:
    return Ends(lower=statistics(table[lower]), upper=statistics(table[upper])) if table.height else None


def _above(table: pl.DataFrame, threshold: float) -> Above:
    def share(column: str) -> float:
        return float((table[column] >= threshold).sum() / max(1, table.height))

    return Above(
        threshold=threshold,
        baseline=share("baseline_lower"),
        loss_lower=share("lower"),
        loss_upper=share("upper"),
    )


def _statuses(status: pl.Series) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in status.to_list():
        name = value if value in ("ok", "wide", "impossible") else "refused"
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items()))


def _realised(table: pl.DataFrame) -> Realised:
    status = table["realised_status"]
    possible = table.filter(status == "ok")
    impossible = int((status == "impossible").sum())
    return Realised(
        possible=possible.height,
        impossible=impossible,
        refused=table.height - possible.height - impossible,
        loss=_ends(possible, "realised_lower", "realised_upper"),
    )
