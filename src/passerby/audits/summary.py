"""The content of `summary.json`: a documented, versioned record of an audit without names or groups of few people.

Every number about people rests on at least five of them (`support.rule_of_five`), so the record may be shared.
Shares above thresholds and means of counted people obey it together with the numbers of everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import polars as pl
from pydantic import Field

from passerby import __version__
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.questions.comparisons import differential_privacy
from passerby.support.rule_of_five import (
    FEW,
    NestedCounts,
    effective_people_of,
    fives_above,
    fives_below,
    nested_shares,
    rounded_down,
    sizes_in_fives,
    two_in_fives,
)
from passerby.support.statistics import exact_mean
from passerby.visits.table import Skipped

from .coverage import Coverage, coverage_of
from .record import Adversary, Answers, Backtest, Ends, Mean, PlaceAnswers, Record, ShareAnswers, Statistics, with_some
from .results import COUNTED, LEVELS, ColumnStatistics, Results, Tally, limits_around
from .settings import Measurement, ReportSettings

#: Shares without the release come first (numbers of `LEVELS`): they are the same on each page about the same people.
TOLD_FIRST = (0, 1, 2)
UP = (2,)  # bounds, rounded up
_LEAST = f"{100 * COUNTED:g} %"
#: The two groups in words.
WHO = {
    True: f"people who are counted (by their habits at least {_LEAST} likely to be in a published count)",
    False: f"people who hardly ever are counted (less than {_LEAST} likely)",
}


class Above(Record):
    """The share of people above a threshold, in fives of people; null where it would tell of one to four people."""

    threshold: float
    baseline: float | None = Field(
        description="Share of people whose best guess without the release is right this often; at least, rounded down."
    )
    loss_lower: float | None = Field(
        description="Share of people for whom an attack was found that is right this often: surely above; at least, "
        "rounded down."
    )
    loss_upper: float | None = Field(
        description="Share of people for whom no bound excludes such an attack; at most, rounded up."
    )
    surely_below: float | None = Field(
        default=None, description="Share of people for whom a bound excludes it; at least, the rest of `loss_upper`."
    )
    open: float | None = Field(
        default=None,
        description="Share of people whose interval holds the threshold: not surely above or below; at most, the "
        "difference of `loss_upper` and `loss_lower`.",
    )


class Group(Record):
    """People who are counted, or people who hardly ever are: means over them, and shares above thresholds."""

    counted: bool = Field(description="Whether these are the people who are counted.")
    sentence: str = Field(description="Who they are.")
    people: int = Field(
        description="How many of those measured: counted people in fives, rounded down, and the rest of them. Means "
        "of the rest are as if the counted people who were rounded away were among them."
    )
    baseline: Mean = Field(description="Limits of their mean chance to be found without the release.")
    loss: Mean = Field(description="The same with the release.")
    above: list[Above] = Field(description="As of everybody; null where it would tell of few people of either group.")


def shares_above(tally: Tally, thresholds: Sequence[float]) -> list[Above]:
    """The share of people above each threshold."""
    count = tally.counts["lower"]
    if count < FEW:
        return [Above(threshold=level, baseline=None, loss_lower=None, loss_upper=None) for level in thresholds]
    below = [partial(_below, tally, column) for column in LEVELS]
    known, low, high = nested_shares(below, count, thresholds, TOLD_FIRST, UP)
    return [_above(*row) for row in zip(thresholds, known, low, high, strict=True)]


def mean_of(tally: Tally, confidence: float) -> Mean | None:
    """Limits of the mean loss over some people together."""
    count = tally.counts["lower"]
    if count < FEW or tally.squares is None:
        return None
    lower, upper = (exact_mean(tally.sums[f"pooled_{end}"], count) for end in ("lower", "upper"))
    found = limits_around(lower, upper, float(tally.squares), count, confidence)
    # Nobody's loss is below the prior knowledge of them, and no sample decides this.
    least = max(found.lower, exact_mean(tally.sums["baseline_lower"], count))
    return Mean(lower=least, upper=max(least, found.upper), confidence=confidence if tally.reach else None)


def groups_of(tally: Tally, above: Sequence[Above], measured: int, confidence: float) -> list[Group]:
    """Counted people first, then those hardly ever counted.

    None if either group has one to four people, or if the release adds to either for one to four of them only.

    A share is given for both groups or for neither. It is given only at a threshold with the share of all (`above`):
    they add up to it. Counted people are in fives, and the others are the rest of those stated as `measured`, in their
    means too: the mean of all would else give the true sizes back (`two_in_fives`).
    """
    parts = {counted: part for counted, part in tally.parts.items() if part.counts["lower"]}
    if any(part.counts["lower"] < FEW or _by_few(part) for part in parts.values()):
        return []
    sizes, weight = _sizes(parts, measured)
    if any(size < FEW for size in sizes.values()):
        return []
    shares, out = _shares_of(parts, sizes, above), []
    for counted in sorted(parts, reverse=True):
        loss = mean_of(parts[counted], confidence)
        if loss is not None:
            out.append(_group(counted, parts[counted], sizes[counted], loss, shares[counted]))
    if len(out) == 2:
        few, many = out
        means = {name: with_some(getattr(many, name), getattr(few, name), weight) for name in ("baseline", "loss")}
        out[1] = many.model_copy(update=means)
    return out if len(out) == len(parts) else []


def _sizes(parts: Mapping[bool, Tally], measured: int) -> tuple[dict[bool, int], float]:
    """The sizes of groups as they are told, and the weight of counted people in the means of the others."""
    if len(parts) < 2:
        return dict.fromkeys(parts, measured), 0.0
    size, weight = two_in_fives(parts[True].counts["lower"], parts[False].counts["lower"], measured)
    return {True: size, False: measured - size}, weight


def _by_few(part: Tally) -> bool:
    """Whether nearly all the gain from the release is for few of them: the mean would reveal these."""
    return (
        effective_people_of(float(part.sums["gain"]), float(part.sums["gain_squared"]), part.counts["lower"])
        < FEW - 1e-9
    )


def _group(counted: bool, part: Tally, people: int, loss: Mean, above: list[Above]) -> Group:
    low, high = (exact_mean(part.sums[f"baseline_{end}"], part.counts["lower"]) for end in ("lower", "upper"))
    baseline = Mean(lower=low, upper=max(low, high), confidence=None)
    return Group(counted=counted, sentence=WHO[counted], people=people, baseline=baseline, loss=loss, above=above)


def _shares_of(
    parts: Mapping[bool, Tally], sizes: Mapping[bool, int], above: Sequence[Above]
) -> dict[bool, list[Above]]:
    """The shares of each group, of so many people as are told, at the thresholds of all."""
    told = {
        counted: NestedCounts([partial(_below, part, column) for column in LEVELS], part.counts["lower"])
        for counted, part in parts.items()
    }
    none: tuple[float | None, ...] = (None, None, None)
    out = {counted: [[*none] for _ in above] for counted in parts}
    of_all = [(each.baseline, each.loss_lower, each.loss_upper) for each in above]
    order = sorted(range(len(above)), key=lambda i: abs(above[i].threshold - 0.5))
    for column, i in product(TOLD_FIRST, order):
        level = above[i].threshold
        if of_all[i][column] is not None and all(of.take(level, [column]) for of in told.values()):
            for counted, part in parts.items():
                count = part.counts["lower"] - _below(part, LEVELS[column], level)
                out[counted][i][column] = share_told(count, part.counts["lower"], sizes[counted], up=column in UP)
    return {
        counted: [_above(each.threshold, *row) for each, row in zip(above, rows, strict=True)]
        for counted, rows in out.items()
    }


def share_told(count: int, everyone: int, told: int, *, up: bool = False) -> float:
    """A share of everyone, in fives of so many people as are told: not above it, or `up`, and not below.

    >>> share_told(40, 93, 95), share_told(40, 93, 95, up=True), share_told(93, 93, 95)
    (0.42105263157894735, 0.47368421052631576, 1.0)
    """
    if count in (0, everyone):
        return float(count > 0)
    scaled = count * told / everyone
    if not up:
        return fives_below(scaled) / told
    return min(fives_above(scaled), told) / told if told - fives_above(scaled) >= FEW else 1.0


def _above(level: float, known: float | None, low: float | None, high: float | None) -> Above:
    return Above(
        threshold=level,
        baseline=known,
        loss_lower=low,
        loss_upper=high,
        surely_below=_left(1.0, high),
        open=_left(high, low),
    )


def _below(tally: Tally, column: str, level: float) -> int:
    """How many people are below a level."""
    return tally.below[column, level]


def _left(whole: float | None, part: float | None) -> float | None:
    """The rest of a share without another."""
    return None if whole is None or part is None else max(0.0, whole - part)


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
    together: int = Field(
        default=1, description="How many people move as one: all numbers are about a member of such a group."
    )
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
    """The summary of a table: `window` is the length of a step in words, and its people were drawn from `eligible`."""
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
        together=release.size,
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
