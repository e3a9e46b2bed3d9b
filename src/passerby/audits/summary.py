"""The content of `summary.json`: a documented, versioned record of an audit without names or groups of few people.

Every number about people rests on at least five of them (`support.rule_of_five`), so the record may be shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from pydantic import Field

from passerby import __version__
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.questions.comparisons import differential_privacy
from passerby.support.rule_of_five import rounded_down, sizes_in_fives
from passerby.visits.table import Skipped

from .coverage import Coverage, coverage_of
from .question_record import Answers, PlaceAnswers, ShareAnswers
from .record import Adversary, Backtest, Ends, Mean, Record, Statistics
from .results import ColumnStatistics, Results
from .settings import Measurement, ReportSettings
from .shares import Above, Group, groups_of, mean_of, shares_above

#: Raised when a field is removed or changes its meaning; new fields do not raise it.
VERSION = 3


class Privacy(Record):
    """Differential privacy of the release, the same for everyone; null where it gives no guarantee."""

    delta: float
    epsilon: float | None
    remark: str


class Realised(Record):
    """The realised losses, where a published series was given; groups are told in fives, the largest as the rest."""

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
        "none, they are told as five; else in fives, rounded up."
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
        "real trace cannot happen under the fitted habits); refused. Groups are told in fives, rounded up, and the "
        "largest one as so many less."
    )
    assumed: str | None = Field(
        default=None,
        description="What was taken for the release, where nobody said what would be published, and how to say it; the "
        "first of the alerts, too.",
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
    questions: list[Answers] = Field(
        default=[], description="What else was asked of everybody, over people: a question and an adversary each."
    )
    presence: list[PlaceAnswers] = Field(
        default=[],
        description="Whether it can be told that somebody was at a counted place or zone: a place and an adversary "
        "each. The adversary `habits` knows the others by their habits, and `insider` knows where they were.",
    )
    known_shares: list[ShareAnswers] = Field(
        default=[],
        description="Membership, and presence at the place that tells most, to whoever knows a share of the others: a "
        "question and a share each, over some people.",
    )
    groups: list[Group] = Field(
        default=[],
        description="People who are counted, and then people who hardly ever are; none where either are one to four, "
        "or where the release adds something to one to four of them alone.",
    )


def summarise(
    table: pl.DataFrame | Results,
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
    assumed: str | None = None,
    alerts: Sequence[str] = (),
    backtest: Backtest | None = None,
    adversaries: Sequence[Adversary] = (),
    questions: Sequence[Answers] = (),
    presence: Sequence[PlaceAnswers] = (),
    known_shares: Sequence[ShareAnswers] = (),
) -> Summary:
    """The summary of an audit's table, in memory or on disk; the rest is what is told of it (`record`).

    `window` is the length of a step in words, and `eligible` how many people those of the table were drawn from.
    """
    rows = table if isinstance(table, Results) else Results.here(table, thresholds)
    tally, found = rows.tally, rows.statistics()
    statuses = sizes_in_fives(dict(sorted(tally.statuses.items())))
    measured, above = tally.height - statuses.get("refused", 0), shares_above(tally, thresholds)
    return Summary(
        people=tally.height,
        people_eligible=len(people) if eligible is None else eligible,
        people_measured=measured,
        steps=release.steps,
        steps_fitted=people.fitted.shape[1],
        window=window,
        places=len(people.places),
        sensors=sum(map(len, release.sensors)),
        misses=misses,
        mechanism="; ".join(map(repr, release.ways)) or repr(release.mechanism),
        smoothing=people.smoothing,
        seed=seed,
        loss=_ends(found, "lower", "upper"),
        mean_loss=mean_over(rows, confidence),
        baseline=_ends(found, "baseline_lower", "baseline_upper"),
        advantage=_ends(found, "advantage_lower", "advantage_upper"),
        above=above,
        statuses=statuses,
        assumed=assumed,
        alerts=[*([assumed] if assumed else []), *alerts],
        coverage=(coverage or coverage_of(people, Skipped())).shared,
        differential_privacy=_privacy(release, delta),
        realised=None if tally.realised is None else _realised(tally.realised, found),
        backtest=backtest,
        adversaries=list(adversaries),
        questions=list(questions),
        presence=list(presence),
        known_shares=list(known_shares),
        groups=groups_of(tally, above, measured, confidence),
    )


def _privacy(release: Release, delta: float) -> Privacy:
    found = differential_privacy(release, delta)
    return Privacy(delta=found.delta, epsilon=found.exact, remark=found.remark)


def _ends(found: Mapping[str, ColumnStatistics], lower: str, upper: str) -> Ends | None:
    if lower not in found or upper not in found:
        return None
    low, high = (_told(found[name]) for name in (lower, upper))
    return Ends(lower=low, upper=high)


def _told(of: ColumnStatistics) -> Statistics:
    """Mean, median, 95th percentile, and the value reached by five people."""
    reached = None if of.reached is None else rounded_down(of.reached)
    return Statistics(mean=of.mean, median=of.median, percentile_95=of.percentile_95, reached_by_five=reached)


def mean_over(rows: Results, confidence: float) -> Mean | None:
    """Limits of the mean loss over all rows together."""
    return mean_of(rows.tally, confidence)


def _realised(counts: Mapping[str, int], found: Mapping[str, ColumnStatistics]) -> Realised:
    groups = {name: counts.get(name, 0) for name in ("possible", "impossible", "refused")}
    return Realised(**sizes_in_fives(groups), loss=_ends(found, "realised_lower", "realised_upper"))
