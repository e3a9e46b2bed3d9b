"""What `summary.json` holds: a documented, versioned record of an audit that names nobody and tells of no few people.

Every number about people rests on at least five of them (`passerby.support.groups`), so that the record may be shared.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from pydantic import Field

from passerby import __version__
from passerby.measurement.comparisons import differential_privacy
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.groups import FEW, at_rank, middle, reached, shares, told
from passerby.visits.table import Skipped

from .coverage import Coverage, coverage_of
from .population import mean_limits
from .record import Adversary, Backtest, Record
from .settings import Measurement, ReportSettings

#: Raised when a field is removed or changes its meaning; new fields do not raise it.
VERSION = 2


class Statistics(Record):
    """Four numbers over all measured people, none of them the value of one person."""

    mean: float
    median: float = Field(description="Mean of the five people around the middle.")
    percentile_95: float | None = Field(
        description="The value that 5 % of the people exceed: mean of the five people around this rank; null where 5 % "
        "are fewer than five people."
    )
    reached_by_five: float = Field(description="At least five people have this value or more; rounded down to 0.01.")


class Ends(Record):
    """Both ends of everybody's interval: the best attack found, and a bound on all if the habits are right."""

    lower: Statistics
    upper: Statistics


class Mean(Record):
    """Limits of the mean loss over all measured people together: chance cancels out over people.

    Much narrower than the means of everybody's own limits, wherever series were drawn.
    """

    lower: float
    upper: float
    confidence: float | None = Field(description="How sure both are together; null where nothing was drawn.")


class Above(Record):
    """The share of people above a threshold; null where it would tell of one to four people."""

    threshold: float
    baseline: float | None = Field(
        description="Share of people whose best guess without the release is right this often."
    )
    loss_lower: float | None = Field(
        description="Share of people for whom an attack was found that is right this often: surely above."
    )
    loss_upper: float | None = Field(description="Share of people for whom no bound excludes such an attack.")
    surely_below: float | None = Field(default=None, description="Share of people for whom a bound excludes it.")
    open: float | None = Field(
        default=None,
        description="Share of people whose interval holds the threshold: not surely above or below.",
    )


class Privacy(Record):
    """Differential privacy of the release, the same for everyone; null where it gives no guarantee."""

    delta: float
    epsilon: float | None
    remark: str


class Realised(Record):
    """The realised losses, where a published series was given; groups of one to four people are told as five."""

    possible: int = Field(description="People for whom the published series is possible.")
    impossible: int
    refused: int
    loss: Ends | None


class Summary(Record):
    """The whole record."""

    schema_version: int = Field(default=VERSION, description="Version of this schema.")
    passerby: str = Field(default_factory=lambda: __version__, description="Version of passerby.")
    people: int = Field(description="People who were audited.")
    people_eligible: int = Field(description="People who were active enough; audited are all of them, or a sample.")
    people_measured: int = Field(
        description="Audited people with a loss interval; the statistics are over these. Where one to four people have "
        "none, they are told as five."
    )
    steps: int = Field(description="Steps that are published and to be found.")
    steps_fitted: int = Field(description="Earlier steps that habits were fitted to.")
    window: str = Field(description="Length of a step.")
    places: int = Field(description="Places, with `elsewhere`.")
    sensors: int = Field(description="Counts that are published, over all steps.")
    misses: int = Field(description="Steps that the adversary may get wrong.")
    mechanism: str = Field(description="What is done to a count before it is published.")
    smoothing: float = Field(description="Weight of everybody's habits in a person's, in steps.")
    seed: int = Field(description="Seed of all random numbers.")
    loss: Ends | None = Field(
        description="Chance of the best attack with the release; null where fewer than five are measured."
    )
    mean_loss: Mean | None = Field(
        default=None, description="Limits of the mean loss that hold for all people together; null as for the loss."
    )
    baseline: Ends | None = Field(description="The same without the release.")
    advantage: Ends | None = Field(description="What the release adds: (loss - baseline) / (1 - baseline).")
    above: list[Above] = Field(description="The share of people above each threshold.")
    statuses: dict[str, int] = Field(
        description="People by status: ok; wide (the interval holds, but is wider than the tolerance); impossible (the "
        "real trace cannot happen under the fitted habits); refused. A group of one to four people is told as five, "
        "and the largest group as so many less."
    )
    alerts: list[str] = Field(description="What a reader must know before believing the numbers, in sentences.")
    coverage: Coverage = Field(
        description="Rows, times, people and steps, how many were left out, and by which rule. A group of one to four "
        "people is told as five, and all people as so many more."
    )
    differential_privacy: Privacy = Field(description="Differential privacy of the release.")
    realised: Realised | None = Field(default=None, description="Where a published series was given.")
    backtest: Backtest | None = Field(
        default=None, description="What habits promised at earlier origins, and what came true, where that was tried."
    )
    adversaries: list[Adversary] = Field(
        default=[],
        description="Adversaries who know less or more than habits, from the weakest, where they were tried.",
    )


def summarise(
    table: pl.DataFrame,
    people: People,
    release: Release,
    *,
    misses: int,
    window: str,
    seed: int = 0,
    confidence: float = Measurement.confidence,
    delta: float = ReportSettings.delta,
    thresholds: Sequence[float] = ReportSettings.thresholds,
    coverage: Coverage | None = None,
    eligible: int | None = None,
    alerts: Sequence[str] = (),
    backtest: Backtest | None = None,
    adversaries: Sequence[Adversary] = (),
) -> Summary:
    """The summary of an audit's table.

    `window` is the length of a step in words, `coverage` tells what was read and left out, and `eligible` how many
    people those of the table were drawn from. `backtest` and `adversaries` are what is told of those (`record`).
    """
    measured = table.filter(pl.col("lower").is_not_null())
    privacy = differential_privacy(release, delta)
    statuses = _statuses(table["status"])
    return Summary(
        people=table.height,
        people_eligible=len(people) if eligible is None else eligible,
        people_measured=table.height - statuses.get("refused", 0),
        steps=release.steps,
        steps_fitted=people.fitted.shape[1],
        window=window,
        places=len(people.places),
        sensors=sum(map(len, release.sensors)),
        misses=misses,
        mechanism="; ".join(map(repr, release.ways)) or repr(release.mechanism),
        smoothing=people.smoothing,
        seed=seed,
        loss=_ends(measured, "lower", "upper"),
        mean_loss=_mean(measured, confidence),
        baseline=_ends(measured, "baseline_lower", "baseline_upper"),
        advantage=_ends(measured, "advantage_lower", "advantage_upper"),
        above=_above(measured, thresholds),
        statuses=statuses,
        alerts=list(alerts),
        coverage=(coverage or coverage_of(people, Skipped())).shared,
        differential_privacy=Privacy(delta=privacy.delta, epsilon=privacy.exact, remark=privacy.remark),
        realised=_realised(table) if "realised_status" in table.columns else None,
        backtest=backtest,
        adversaries=list(adversaries),
    )


def statistics(values: pl.Series) -> Statistics | None:
    """Mean, median, 95th percentile and what five people reach; None for fewer people.

    >>> statistics(pl.Series([0.0, 0.1, 0.2, 0.6, 0.7, 0.8]))
    Statistics(mean=0.4..., median=0.32, percentile_95=None, reached_by_five=0.1)
    """
    array = values.to_numpy()
    median, high = middle(array), reached(array)
    if median is None or high is None:
        return None
    return Statistics(mean=float(array.mean()), median=median, percentile_95=at_rank(array, 0.95), reached_by_five=high)


def _ends(table: pl.DataFrame, lower: str, upper: str) -> Ends | None:
    low, high = statistics(table[lower]), statistics(table[upper])
    return Ends(lower=low, upper=high) if low and high else None


def _above(table: pl.DataFrame, thresholds: Sequence[float]) -> list[Above]:
    columns = ("baseline_lower", "lower", "upper")
    if table.height < FEW:
        return [Above(threshold=level, baseline=None, loss_lower=None, loss_upper=None) for level in thresholds]
    known, low, high = (shares(table[column].to_numpy(), thresholds) for column in columns)
    rows = zip(thresholds, known, low, high, strict=True)
    return [
        Above(threshold=t, baseline=a, loss_lower=b, loss_upper=c, surely_below=_left(1.0, c), open=_left(c, b))
        for t, a, b, c in rows
    ]


def _left(whole: float | None, part: float | None) -> float | None:
    """What a share leaves of another."""
    return None if whole is None or part is None else max(0.0, whole - part)


def _mean(table: pl.DataFrame, confidence: float) -> Mean | None:
    if table.height < FEW or "pooled_lower" not in table.columns:
        return None
    lower, upper, reach = (table[f"pooled_{end}"].to_numpy() for end in ("lower", "upper", "reach"))
    found = mean_limits(lower, upper, reach, confidence)
    return Mean(lower=found.lower, upper=found.upper, confidence=confidence if table["pooled_reach"].max() else None)


def _statuses(status: pl.Series) -> dict[str, int]:
    counts: dict[str, int] = {}
    for value in status.to_list():
        name = value if value in ("ok", "wide", "impossible") else "refused"
        counts[name] = counts.get(name, 0) + 1
    return told(dict(sorted(counts.items())))


def _realised(table: pl.DataFrame) -> Realised:
    status = table["realised_status"]
    possible = table.filter(status == "ok")
    impossible = int((status == "impossible").sum())
    refused = table.height - possible.height - impossible
    return Realised(
        **told({"possible": possible.height, "impossible": impossible, "refused": refused}),
        loss=_ends(possible, "realised_lower", "realised_upper"),
    )
