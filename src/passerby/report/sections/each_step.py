"""When people are easiest to find: the chance of the best guess of each step by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from passerby.audits.record import Answers
from passerby.report import chart
from passerby.report.evidence import STEP_BY_STEP, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import WHO, WITH_IT
from passerby.support.numbers import percent, span

SAYS = (
    "For each step by itself: the mean chance that the best guess of where a person is then is right. Where the curves "
    "with the release lie above the one without it, the counts give people away at that time."
)
CLOCK = " Of steps at the same time of several days, the mean is drawn; the table has each."
#: The least stated difference of chances.
MATTERS = 0.005
#: Gains below this are told with a digit more.
FEW_POINTS = 0.02


def build(evidence: Evidence) -> Content:
    """The easiest steps in words, and the curves over the clock."""
    asked = [each for each in evidence.summary.questions if each.by_step]
    one = next((each for each in asked if each.adversary == "insider"), asked[0])
    table = rows(one, evidence.steps)
    clock = by_clock(table)
    columns: Columns = {
        "step": ("step", str),
        "start": ("begins", str),
        **WITH_IT,
        "people": ("mean of (people)", "{:,}".format),
    }
    says = SAYS + (CLOCK if clock.height < table.height else "")
    figure = Figure("each-step", "Hour by hour", says, sheet(table, columns, "each-step.csv"), picture(clock))
    return Content(words(one, table, clock), [figure])


def rows(found: Answers, starts: Sequence[str]) -> pl.DataFrame:
    """A row for each step: step (from 1), when it begins, and means over people."""
    out = [(s.step + 1, starts[s.step], s.baseline, s.lower, s.upper, found.open) for s in found.by_step]
    ends = dict.fromkeys(("baseline", "lower", "upper"), pl.Float64)
    kinds = {"step": pl.Int64, "start": pl.String, **ends, "people": pl.Int64}
    return pl.DataFrame(out, schema=kinds, orient="row")


def by_clock(table: pl.DataFrame) -> pl.DataFrame:
    """The same by the time of the day, as means over days; unchanged if steps have no such time, or one day each.

    >>> starts = [f"2024-01-{day} {hour}:00" for day in ("01", "02") for hour in ("06", "18")]
    >>> rows = {"step": [1, 2, 3, 4], "start": starts}
    >>> ends = {"baseline": [0.1, 0.2, 0.3, 0.4], "lower": [0.2] * 4, "upper": [0.2] * 4, "people": [9] * 4}
    >>> by_clock(pl.DataFrame({**rows, **ends}))["start", "baseline"].rows()
    [('06:00', 0.2), ('18:00', 0.3)]
    """
    times = table["start"].str.extract(r"(\d\d:\d\d)$")
    if times.null_count() or times.n_unique() == len(times):
        return table
    grouped = table.with_columns(start=times).group_by("start", maintain_order=True)
    out = grouped.agg(
        pl.col("step").first(), pl.col("baseline", "lower", "upper").mean().round(12), pl.col("people").first()
    )
    return out.sort("start")


def words(found: Answers, table: pl.DataFrame, clock: pl.DataFrame) -> list[str]:
    """The steps at which people are easiest to find, and the steps with the largest gain from the release."""
    what = "At" if clock.height == table.height else "On average over the days, at"
    best = _highest(clock, pl.col("lower"))
    added = _highest(clock, pl.col("lower") - pl.col("baseline"))
    first = (
        f"{what} {best['start']} people are easiest to find: {WHO[found.adversary]} names where they are with a "
        f"chance of {span(best['lower'], best['upper'])}, and of {percent(best['baseline'])} without the release."
    )
    gain = added["lower"] - added["baseline"]
    if gain < MATTERS:
        highest = _highest(clock, pl.col("upper") - pl.col("baseline"))
        room = highest["upper"] - highest["baseline"]
        if room < MATTERS:
            return [first, "The release makes no step easier to find by more than half a point."]
        return [
            first,
            f"No attack was found that gains more than half a point at any step; at {highest['start']}, up to "
            f"{100 * room:.0f} points cannot be excluded.",
        ]
    # Few points are told with a digit more, so that both chances differ as the points say.
    say = percent if gain >= FEW_POINTS else _tenths
    points = f"{100 * gain:.0f}" if gain >= FEW_POINTS else f"{100 * gain:.1f}"
    return [
        first,
        f"The release adds most at {added['start']}, at least {points} points: the chance is "
        f"{say(added['baseline'])} without it and {span(added['lower'], added['upper'], say)} with it.",
    ]


def _tenths(value: float) -> str:
    """A share with a digit more than usual.

    >>> _tenths(0.9571)
    '95.7 %'
    """
    return f"{100 * value:.1f} %"


def _highest(table: pl.DataFrame, of: pl.Expr) -> dict[str, Any]:
    """The first row of the highest value."""
    return table.row(int(table.select(of.arg_max()).item()), named=True)


def picture(table: pl.DataFrame) -> dict[str, Any]:
    """Three curves over the steps, by when they begin."""
    names = {"baseline": chart.WITHOUT, "lower": chart.FOUND, "upper": chart.BOUND}
    long = table.unpivot(
        on=list(names), index=["step", "start", "people"], variable_name="which", value_name="chance"
    ).with_columns(pl.col("which").replace(names))
    shown = list(names.values())
    axis = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=6)
    begins = alt.X("start:O", title="step begins", sort=table["start"].to_list(), axis=axis)
    base = alt.Chart(chart.values(long)).encode(
        x=begins,
        y=alt.Y("chance:Q", title="chance to be found", axis=alt.Axis(format=chart.TICK), scale=chart.unit()),
        color=chart.which(shown, **chart.STROKE),
        tooltip=[
            chart.tip("start:N", "begins"),
            chart.tip("which:N", " "),
            chart.tip("chance:Q", "chance", chart.FINE),
            chart.tip("people:Q", "mean of (people)", ",d"),
        ],
    )
    curves = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=22)).encode(strokeDash=chart.dashes(shown))
    return chart.spec(curves, 240)


SECTION = Section("each_step", "When are people easiest to find?", build, needs=(STEP_BY_STEP,))
