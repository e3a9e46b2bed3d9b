"""How much each kind of knowledge matters: adversaries from the weakest to the strongest."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from passerby.audits.record import Adversary
from passerby.report import chart
from passerby.report.evidence import ADVERSARIES, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import of_a_crowd
from passerby.support.numbers import percent, span

TITLE = "The chance to be found, by what an adversary knows"
FOUND_REALLY = "really found"
SAYS = (
    "From the weakest adversary to the strongest: the mean chance to be found without the release and with it, if "
    "people live by their habits, and the share of people whom this adversary really found. The thin line says where "
    "the mean over all people lies (95 %), since only some were tried."
)
KNOWN = "All of them know where everybody else was, too: here they differ in what they know of the person."
#: Words on the axis, in lines.
_LINE = 11


def build(evidence: Evidence) -> Content:
    """Words, chart and table of the tried adversaries."""
    found = evidence.summary.adversaries
    columns: Columns = {
        "adversary": ("adversary", str),
        "baseline": ("without the release", percent),
        "lower": ("with it: best attack found", percent),
        "upper": ("with it: no attack above", percent),
        "right": ("really found, with it", percent),
        "people": ("mean of (people)", "{:,}".format),
    }
    table = rows(found)
    figure = Figure("adversaries", TITLE, SAYS, sheet(table, columns, "adversaries.csv"), picture(table))
    taken = "The stranger's chances, and what is gained by knowing steps, take the numbers of others"
    known = [] if evidence.release.crowd is not None else [KNOWN]
    return Content([*words(found), *known, *of_a_crowd(evidence.release, taken)], [figure])


def rows(found: list[Adversary]) -> pl.DataFrame:
    """A row for each adversary."""
    names = ("baseline", "lower", "upper", "least", "most", "right")
    kinds = {"adversary": pl.String, **dict.fromkeys(names, pl.Float64), "people": pl.Int64}
    return pl.DataFrame([each.model_dump() for each in found], schema=kinds)


def words(found: list[Adversary]) -> list[str]:
    """The gain from knowing the person, and the further gain from knowing some steps."""
    stranger, habits, *more = found
    first = (
        f"For {habits.people:,} people drawn at random: a stranger, who knows where everybody goes but nothing of the "
        f"person, names where they were with a chance of {percent(stranger.lower)} from the counts; whoever knows the "
        f"person's habits, of {span(habits.lower, habits.upper)}."
    )
    if more:
        last = more[-1]
        steps = last.adversary.removeprefix("and where they were at ")
        first += (
            f" A colleague, who also knows where they were at {steps}, does so with {span(last.lower, last.upper)}."
        )
    return [
        first,
        "Knowing habits never makes the best guess worse, nor does knowing more steps on average, if people live by "
        "their habits. What was really found need not grow with what is known, nor need the stranger gain from the "
        "counts: their idea of the person is wrong.",
    ]


def picture(table: pl.DataFrame) -> dict[str, Any]:
    """Adversaries from the weakest on top, and the chance to be found by each."""
    order = table["adversary"].to_list()
    names = [chart.WITHOUT, chart.FOUND, chart.BOUND, FOUND_REALLY]
    renamed = dict(zip(("baseline", "lower", "upper", "right"), names, strict=True))
    long = table.unpivot(
        on=list(renamed), index=["adversary", "least", "most", "people"], variable_name="which", value_name="chance"
    ).with_columns(pl.col("which").replace(renamed), shown=chart.label(pl.col("adversary"), _LINE))
    colours = [chart.COLOURS[chart.WITHOUT], chart.COLOURS[chart.FOUND], chart.COLOURS[chart.BOUND], "#555555"]
    legend = chart.names_above(labelFontSize=10)
    axis = alt.Axis(format=chart.TICK, tickCount=10)
    base = alt.Chart(chart.values(long)).encode(
        y=alt.Y("shown:N", title=None, sort=[chart.wrapped(name, _LINE) for name in order], axis=alt.Axis(labelLimit=0))
    )
    lines = base.transform_filter(f"datum.which === '{chart.FOUND}'").mark_rule(color="#888888", strokeWidth=1.5)
    shapes = ["square", "circle", "circle", "cross"]
    marks = base.encode(
        x=alt.X("chance:Q", title="mean chance to be found", axis=axis, scale=chart.unit()),
        color=alt.Color("which:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        shape=alt.Shape("which:N", scale=alt.Scale(domain=names, range=shapes), legend=legend),
        tooltip=[
            chart.tip("adversary:N"),
            chart.tip("which:N", " "),
            chart.tip("chance:Q", "chance", chart.FINE),
            chart.tip("people:Q", "mean of (people)", ",d"),
        ],
    )
    # The larger marks are drawn first, so each is visible if two overlap.
    sizes = {chart.BOUND: 150, chart.WITHOUT: 60, chart.FOUND: 45, FOUND_REALLY: 80}
    layered = [
        marks.transform_filter(f"datum.which === '{name}'").mark_point(filled=True, opacity=1, size=size)
        for name, size in sizes.items()
    ]
    drawn = alt.layer(lines.encode(x=alt.X("least:Q", scale=chart.unit()), x2="most:Q"), *layered)
    return chart.spec(drawn, chart.tall(order, 60, _LINE) * len(order))


SECTION = Section("adversaries", "How much does it matter what an adversary knows?", build, needs=(ADVERSARIES,))
