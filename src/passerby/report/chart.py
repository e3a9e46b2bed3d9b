"""The common parts of a report's charts: colours, dashes, axes, legends, tooltips and sizes."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import altair as alt
import polars as pl

from passerby.support.rule_of_five import FEW

from .section import rests_on

WITHOUT, FOUND, BOUND = "without the release", "with it: best attack found", "with it: bound if the habits are right"
HAPPENED = "given what was published"
INSIDER, HABITS = "insider: knows others", "acquaintance: habits"

#: Dark is for findings and light for bounds: the pair stays distinct in grey, on paper and for people with colour
#: blindness. On a dark screen the style sheet of the page turns each into its counterpart.
COLOURS = {
    WITHOUT: "#2f6fb0",
    FOUND: "#7f2704",
    BOUND: "#e8820e",
    HAPPENED: "#762a83",
    INSIDER: "#6a51a3",
    HABITS: "#01665e",
}
ON_DARK = {
    WITHOUT: "#6baed6",
    FOUND: "#fdd0a2",
    BOUND: "#d9730d",
    HAPPENED: "#d4b9da",
    INSIDER: "#bcbddc",
    HABITS: "#5ab4ac",
}
DASHES = {WITHOUT: [2, 3], FOUND: [1, 0], BOUND: [8, 4], HAPPENED: [10, 3, 2, 3]}

#: For marks without a colour of their own, on white and on dark.
GREY = "#8a8f98"
#: The most places in a figure.
PLACES = 40
#: Letters in a line of a label.
LINE = 18
PERCENT, FINE = ".0%", ".1%"
#: Labels of axes have as many digits as tell them apart.
TICK = "~%"
#: The usual numbers in a legend; there are more if they are round.
STEPS = 5
#: How lines are shown in a legend.
STROKE: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 600}
ZOOM = "Hold Ctrl and turn the mouse wheel to zoom, drag to move, double-click to go back."
Chart = Any


def values(table: pl.DataFrame, least: int = FEW) -> alt.Data:
    """The data of a chart, if each datum rests on enough people."""
    return alt.Data(values=rests_on(table, least).to_dicts())  # type: ignore[no-untyped-call]


def cells(
    rows: pl.DataFrame, order: list[str], tips: list[alt.Tooltip], least: int = FEW, *, clock: bool = False
) -> Chart:
    """A place by step picture of the places in this order; steps by their numbers, or by the `clock`."""
    rows = rows.filter(pl.col("place").is_in(order)).with_columns(label=label(pl.col("place")))
    # A narrow gap between cells: they stay distinct even in one colour.
    gap, names = alt.Scale(paddingInner=0.03), [wrapped(name) for name in order]
    axis = alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=3)
    begins = alt.X("start:O", title="begins", sort=alt.SortField("step"), scale=gap, axis=axis)
    return alt.Chart(values(rows, least)).encode(
        x=begins if clock else alt.X("step:O", title="step", scale=gap, axis=axis),
        y=alt.Y("label:N", title=None, scale=gap, sort=names, axis=alt.Axis(labelLimit=0)),
        tooltip=[tip("place:N"), tip("step:O"), tip("start:N", "begins"), *tips],
    )


def flows(rows: pl.DataFrame, tips: list[alt.Tooltip], least: int = FEW) -> tuple[Chart, int]:
    """A picture of flows from each `origin` to each `destination`, and its height."""
    order = list(dict.fromkeys([*rows["origin"].to_list(), *rows["destination"].to_list()]))[:PLACES]
    inside = pl.col("origin").is_in(order) & pl.col("destination").is_in(order)
    drawn = rows.filter(inside).with_columns(left=label(pl.col("origin")), came=label(pl.col("destination")))
    gap, names = alt.Scale(paddingInner=0.03), [wrapped(name) for name in order]
    made = alt.Chart(values(drawn, least)).encode(
        x=alt.X("came:N", title="to", scale=gap, sort=names, axis=alt.Axis(labelAngle=-45, labelLimit=0)),
        y=alt.Y("left:N", title="from", scale=gap, sort=names, axis=alt.Axis(labelLimit=0)),
        tooltip=[tip("origin:N", "from"), tip("destination:N", "to"), *tips],
    )
    return made, 40 + tall(order, 22) * len(order)


def grey(cells: Chart) -> Chart:
    """Cells with a withheld number."""
    return cells.mark_rect(color=GREY, opacity=0.35)


def label(name: pl.Expr, line: int = LINE) -> pl.Expr:
    """Names on several lines if they are long: an axis shows them in full."""
    return name.map_elements(lambda each: wrapped(each, line), return_dtype=pl.String)


def wrapped(name: str, line: int = LINE) -> str:
    """A name on lines of at most so many letters."""
    # Blanks are kept, so different names stay different.
    return "\n".join(wrap(name, line, expand_tabs=False, replace_whitespace=False, drop_whitespace=False))


def tall(names: list[str], least: int, line: int = LINE) -> int:
    """The height of a row with room for the longest of these names; its first line stands at the middle."""
    return max([least, *(18 + 28 * wrapped(name, line).count("\n") for name in names)])


def tip(name: str, title: str | None = None, form: str | None = None) -> alt.Tooltip:
    """A line of a tooltip."""
    words: dict[str, Any] = {"title": title or name.partition(":")[0]}
    if form:
        words["format"] = form
    return alt.Tooltip(name, **words)


def unit() -> alt.Scale:
    """From 0 to 1, with room for marks on either."""
    return alt.Scale(domain=[-0.02, 1.02], nice=False)


def zoom() -> alt.Parameter:
    """Ctrl and the wheel zoom (or two fingers on a touch pad), dragging moves, a double click goes back."""
    # Not shift, as browsers turn the wheel sideways with it.
    return alt.selection_interval(bind="scales", zoom="wheel![event.ctrlKey || event.metaKey]")


def legend(**more: Any) -> alt.Legend:
    """A legend above the chart."""
    return alt.Legend(orient="top", direction="horizontal", titleLimit=0, labelLimit=0, columns=1, **more)


def people_above(counts: pl.Series) -> alt.Legend:
    """A legend of numbers of people. Of few numbers, it has whole ones only, as a rounded one would stand twice."""
    least, most = counts.min(), counts.max()
    few = isinstance(least, int | float) and isinstance(most, int | float) and most - least < STEPS
    return legend(labelExpr="datum.value % 1 ? '' : format(datum.value, ',d')") if few else legend(format=",d")


def names_above(**more: Any) -> alt.Legend:
    """Names of marks or curves above the chart, one below the other."""
    return alt.Legend(orient="top", title=None, labelLimit=0, columns=1, **more)


def which(names: list[str], **symbols: Any) -> alt.Color:
    """The colour of each curve."""
    scale = alt.Scale(domain=names, range=[COLOURS[name] for name in names])
    return alt.Color("which:N", scale=scale, legend=names_above(**symbols))


def dashes(names: list[str]) -> alt.StrokeDash:
    """The dashes of each curve."""
    return alt.StrokeDash("which:N", scale=alt.Scale(domain=names, range=[DASHES[name] for name in names]))


def spec(chart: Any, height: int) -> dict[str, Any]:
    """The chart as Vega-Lite, as wide as the page and of this height."""
    sized = chart.properties(width="container", height=height, background="transparent")
    sized = sized.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    sized = sized.configure(font="system-ui, sans-serif", lineBreak="\n").configure_view(stroke=None)
    sized = sized.configure_axis(labelFontSize=12, titleFontSize=12)
    made: dict[str, Any] = sized.configure_legend(labelFontSize=12, titleFontSize=12).to_dict(validate=False)
    return made
