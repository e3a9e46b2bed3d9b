"""How exposed people are, with and without the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from passerby.audits.summary import Summary
from passerby.report import chart
from passerby.report.evidence import BARS, CURVES, MEASURED, Evidence, alone
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import WITH_IT, has_half, level, question, share_of_people, tail
from passerby.support.numbers import at_least, percent
from passerby.support.rule_of_five import FEW, NestedCounts, at_rank, rest_enough

RANKS = (0.05, 0.25, 0.5, 0.75, 0.95)

THRESHOLDS = (
    "The share of all people who are found with at least this chance: without the release, with an attack that was "
    "found, and with any attack that the bounds allow if the habits are right. Shares that would tell of "
    f"{FEW - 1} people or fewer, also by their difference to another share, are not told; others are told in fives of "
    "people, bounds rounded up and all else down, so that nobody follows from another page about the same people."
)
EXPOSURE = (
    "Choose a chance on the horizontal axis: the curves give the share of people who are found with at least this "
    "chance. The truth with the release lies between the two curves for it; the further they are above the curve "
    f"without it, the more the release reveals. Between two points of a curve, and between two curves at a point, lie "
    f"at least {FEW} people or nobody; where nobody is, is told by tenths of the chance. A straight piece says nothing "
    f"of where between its ends people are. {chart.ZOOM}"
)
ADVANTAGE = (
    "The advantage is the part of the remaining uncertainty that the release takes away: 0 % if it adds nothing to "
    "what was known anyway, 100 % if it makes a person certain to be found. The bars give the share of people by "
    "advantage: at least so much by the best attack found, at most so much by the bounds. Classes are as narrow as "
    f"groups of {FEW} people allow, and people are told in fives."
)


def build(evidence: Evidence) -> Content:
    """Words, thresholds, the curves of the chance and the bars of the advantage."""
    known, summary = evidence.known, evidence.summary
    table = ranks(known, ("baseline_lower", "lower", "upper", "advantage_lower", "advantage_upper"))
    table = table.rename({"baseline_lower": "baseline"})
    added: Columns = {
        "advantage_lower": ("advantage, at least", percent),
        "advantage_upper": ("advantage, at most", percent),
    }
    levels: Columns = {
        "level": ("chance of at least", level),
        "without": ("without the release", share_of_people),
        "found": ("with it: attack found", share_of_people),
        "bound": ("with it: bound if the habits are right", share_of_people),
        "people": ("share of (people)", "{:,}".format),
    }
    above = sheet(thresholds(summary), levels, "thresholds.csv")
    bars = sheet(table, {**RANKED, **added}, "advantage.csv")
    told = evidence.cuts
    return Content(
        words(summary),
        [
            Figure("thresholds", "People above a threshold", THRESHOLDS, above),
            Figure(
                "exposure", "The chance to be found", EXPOSURE, _ranks_sheet(table), curve_chart(curves(known, told))
            ),
            Figure("advantage", "What the release adds", ADVANTAGE, bars, bar_chart(advantages(told))),
        ],
    )


#: The first columns of a table of ranks.
RANKED: Columns = {"share_below": ("share of people below", level), "people": ("mean of (people)", str)}


def _ranks_sheet(table: pl.DataFrame) -> Any:
    return sheet(table, {**RANKED, **WITH_IT}, "exposure.csv")


def words(summary: Summary) -> list[str]:
    """How exposed people are."""
    loss, known = summary.loss, summary.baseline
    assert loss
    assert known

    most, before = tail(loss.lower), tail(known.lower)
    half = has_half(summary.people_measured)
    usual = [at_least(each.median) if half else percent(each.mean) for each in (loss.lower, known.lower)]
    asked = question(summary.misses, summary.steps).replace("a person was", "they were")
    return [
        f"A person is found if an adversary names {asked}. Each person's chance to be found with the release lies "
        "between that of the best attack found and a bound that no attack exceeds if the habits are right.",
        f"{'For half of the people' if half else 'On average'} the chance is {usual[0]} with the release and "
        f"{usual[1]} without it"
        + (f"; for {most[0]}, {at_least(most[1])} and {at_least(before[1])}." if most and before else "."),
    ]


def ranks(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The values at given ranks, each the mean of `FEW` people, the table behind a distribution.

    Ranks with fewer than `FEW` people beyond them are left out.
    """
    rows = []
    for share in RANKS:
        values = [at_rank(table[name].to_numpy(), share) for name in columns]
        if None not in values:
            rows.append((share, FEW, *values))
    kinds = {"share_below": pl.Float64, "people": pl.Int64, **dict.fromkeys(columns, pl.Float64)}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def thresholds(summary: Summary) -> pl.DataFrame:
    """The share of people at or above each level; null if it would reveal few people."""
    rows = [(row.threshold, row.baseline, row.loss_lower, row.loss_upper) for row in summary.above]
    names = ("level", "without", "found", "bound")
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Float64), orient="row")
    return table.with_columns(people=pl.lit(summary.people_measured, pl.Int64))


def curves(table: pl.DataFrame, told: NestedCounts) -> pl.DataFrame:
    """The share of people found at least so often; long, with a column `which`.

    A curve has a point only if at least `FEW` people, or nobody, lie between it and the next. The same holds between
    two curves.
    """
    rows = []
    names = (chart.WITHOUT, chart.FOUND, chart.BOUND)
    for column, which, levels in zip(CURVES, names, _edges(told), strict=True):
        rows += [(which, *point) for point in _line(told, column, levels)]
    if "realised_lower" in table.columns:
        values = table["realised_lower"].drop_nulls().to_numpy()
        # A curve of nearly all people would tell how many are not among them.
        if FEW <= len(values) == rest_enough(len(values), table.height):
            own = alone(values)
            rows += [(chart.HAPPENED, *point) for point in _line(own, 0, own.levels([0]))]
    kinds = {"which": pl.String, "chance": pl.Float64, "share": pl.Float64, "people": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _edges(told: NestedCounts) -> list[list[float]]:
    """The chances at points of each curve: common points of all curves, and other points of some.

    A curve thus agrees with the table of thresholds. At a crossing with another one, it has no such point.
    """
    common = told.levels(CURVES)
    chosen = [common for _ in CURVES]
    for edge in sorted({edge for column in CURVES for edge in told.levels([column])} - {*common}):
        has = [told.share(column, edge) is not None for column in CURVES]
        tried = [sorted([*own, edge]) if here else own for own, here in zip(chosen, has, strict=True)]
        if _apart(told, tried):
            chosen = tried
    return chosen


def _apart(told: NestedCounts, levels: Sequence[Sequence[float]]) -> bool:
    """Whether no curve with points at these chances crosses the next one."""
    edges = sorted({edge for own in levels for edge in own})
    lines = [_line(told, column, own) for column, own in zip(CURVES, levels, strict=True)]
    heights = [np.interp(edges, [x for x, *_ in line], [share for _, share, _ in line]) for line in lines]
    return bool((np.diff(heights, axis=0) >= -1e-9).all())


def _line(told: NestedCounts, column: int, levels: Sequence[float]) -> list[tuple[float, float, int]]:
    """Points of one curve, from all people at a chance of 0 to nobody."""
    everyone = above = told.everyone
    points = [(0.0, 1.0, everyone)]
    for edge in levels:
        share = told.share(column, edge) or 0.0
        count = round(share * everyone)
        # If nobody lies between two points, the second is about the people above it, or about all if there are none.
        points.append((edge, round(share, 4), above - count or count or everyone))
        above = count
    return [*points, (1.0, 0.0, above)] if above else points


def curve_chart(curve: pl.DataFrame) -> dict[str, Any]:
    """The share of people found at least so often."""
    names = [name for name in chart.COLOURS if name in set(curve["which"])]
    drawn = (
        alt.Chart(chart.values(curve))
        .mark_line(strokeWidth=2, interpolate="linear")
        .encode(
            x=alt.X("chance:Q", title="chance to be found, at least", axis=alt.Axis(format=chart.TICK)),
            y=alt.Y("share:Q", title="share of people", axis=alt.Axis(format=chart.TICK), scale=chart.unit()),
            color=chart.which(names, **chart.STROKE),
            strokeDash=chart.dashes(names),
            # A straight down stroke joins two points at the same chance.
            order=alt.Order("share:Q", sort="descending"),
            tooltip=[
                chart.tip("which:N", " "),
                chart.tip("chance:Q", "at least", chart.PERCENT),
                chart.tip("share:Q", "people", chart.FINE),
                chart.tip("people:Q", "rests on (people)", ",d"),
            ],
        )
        .add_params(chart.zoom())
    )
    return chart.spec(drawn, 260)


def advantages(told: NestedCounts) -> pl.DataFrame:
    """The share of people by advantage, in classes of at least `FEW` people; long, with a column `which`.

    Both ends have the same classes. At each edge they differ by nobody or by at least `FEW` people.
    """
    inner, everyone = told.levels(BARS), told.everyone
    edges, rows = [0.0, *inner, 1.0], []
    for column, which in zip(BARS, (chart.FOUND, chart.BOUND), strict=True):
        above = [1.0, *(told.share(column, edge) or 0.0 for edge in inner), 0.0]
        for low, high, first, last in zip(edges, edges[1:], above, above[1:], strict=False):
            name = f"{round(100 * low)}–{round(100 * high)} %"
            rows.append((which, name, round(first - last, 4), round((first - last) * everyone)))
    kinds = {"which": pl.String, "advantage": pl.String, "share": pl.Float64, "people": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def bar_chart(bars: pl.DataFrame) -> dict[str, Any]:
    """The share of people by advantage."""
    names, classes = [chart.FOUND, chart.BOUND], bars["advantage"].unique(maintain_order=True).to_list()
    axis = alt.Axis(labelAngle=-45)
    drawn = (
        alt.Chart(chart.values(bars.filter(pl.col("people") > 0)))
        .mark_bar()
        .encode(
            x=alt.X("advantage:N", title="advantage", sort=None, scale=alt.Scale(domain=classes), axis=axis),
            xOffset=alt.XOffset("which:N", sort=names),
            y=alt.Y("share:Q", title="share of people", axis=alt.Axis(format=chart.TICK)),
            color=chart.which(names),
            tooltip=[
                chart.tip("which:N", " "),
                chart.tip("advantage:N"),
                chart.tip("share:Q", "share", chart.FINE),
                chart.tip("people:Q", "people", ",d"),
            ],
        )
    )
    return chart.spec(drawn, 220)


SECTION = Section("exposure", "How exposed are people?", build, needs=(MEASURED,))
