"""The figures of a report, as Altair charts. They can be used in a notebook too.

>>> import polars as pl
>>> from passerby.report import data, figures
>>> table = pl.DataFrame({"baseline_lower": [0.1], "lower": [0.2], "upper": [0.3]})
>>> figures.exposure(data.exposure(table)).to_dict()["mark"]["type"]
'line'
"""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from .data import BOUND, FEW, FOUND, HAPPENED, WITHOUT

#: Colours that are seen on white and on dark, and told apart by those who see few colours.
COLOURS = {WITHOUT: "#3d8fd1", FOUND: "#d55e00", BOUND: "#9a7200", HAPPENED: "#a05195"}
DASHES = {WITHOUT: [2, 2], FOUND: [1, 0], BOUND: [6, 3], HAPPENED: [8, 2, 2, 2]}

_PERCENT = ".0%"
_FINE = ".1%"
Chart = Any


def published(counts: pl.DataFrame) -> Chart:
    """The counts of each sensor and step."""
    base = alt.Chart(_values(counts)).encode(
        x=alt.X("step:O", title="step", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        y=alt.Y("place:N", title=None, sort=None, axis=alt.Axis(labelLimit=130)),
        tooltip=[_tip("place:N"), _tip("step:O"), _tip("start:N", "begins"), _tip("shown:N", "people")],
    )
    shown = alt.expr.if_(alt.datum.count == None, f"fewer than {FEW}", alt.datum.count)  # noqa: E711
    base = base.transform_calculate(shown=shown)
    many = base.transform_filter("datum.count !== null").mark_rect()
    few = base.transform_filter("datum.count === null").mark_rect(color="#8a8f98", opacity=0.35)
    scale = alt.Scale(scheme="viridis")
    chart = few + many.encode(color=alt.Color("count:Q", title="people", scale=scale, legend=_legend()))
    return _sized(chart, 40 + 22 * counts["place"].n_unique())


def exposure(curves: pl.DataFrame) -> Chart:
    """The share of people who are found at least so often."""
    names = [name for name in COLOURS if name in set(curves["which"])]
    chart = (
        alt.Chart(_values(curves))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("chance:Q", title="chance to be found, at least", axis=alt.Axis(format=_PERCENT)),
            y=alt.Y("share:Q", title="share of people", axis=alt.Axis(format=_PERCENT), scale=_unit()),
            color=_which(names),
            strokeDash=alt.StrokeDash("which:N", scale=alt.Scale(domain=names, range=[DASHES[n] for n in names])),
            tooltip=[_tip("which:N", " "), _tip("chance:Q", "at least", _PERCENT), _tip("share:Q", "people", _FINE)],
        )
    )
    return _sized(chart, 260)


def advantage(bars: pl.DataFrame) -> Chart:
    """The share of people by advantage."""
    names = [FOUND, BOUND]
    chart = (
        alt.Chart(_values(bars))
        .mark_bar()
        .encode(
            x=alt.X("advantage:N", title="advantage", sort=None, axis=alt.Axis(labelAngle=-45)),
            xOffset=alt.XOffset("which:N", sort=names),
            y=alt.Y("share:Q", title="share of people", axis=alt.Axis(format=_PERCENT)),
            color=_which(names),
            tooltip=[_tip("which:N", " "), _tip("advantage:N"), _tip("share:Q", "people", _FINE)],
        )
    )
    return _sized(chart, 220)


def scatter(dots: pl.DataFrame, column: str, title: str) -> Chart:
    """The loss of each person against one of their traits; shift and wheel zoom, dragging moves."""
    hold = alt.selection_interval(bind="scales", zoom="wheel![event.shiftKey]")
    chart = (
        alt.Chart(_values(dots))
        .mark_circle(size=28, opacity=0.65, color=COLOURS[FOUND], aria=False)
        .encode(
            x=alt.X(
                f"{column}:Q",
                title=title,
                scale=alt.Scale(domain=[-0.02, 1.02], nice=False) if column == "sighted" else alt.Scale(),
                axis=alt.Axis(format=_PERCENT if column == "sighted" else ".2f", tickCount=5),
            ),
            y=alt.Y("lower:Q", title="chance to be found", axis=alt.Axis(format=_PERCENT), scale=_unit()),
            tooltip=[
                _tip(f"{column}:Q", title, ".2f"),
                _tip("lower:Q", "best attack found", _FINE),
                _tip("upper:Q", "no attack above", _FINE),
                _tip("baseline:Q", WITHOUT, _FINE),
            ],
        )
        .add_params(hold)
    )
    return _sized(chart, 260)


def left_out(rows: pl.DataFrame, what: str) -> Chart:
    """How much the chance to be found falls when a sensor or a step is left out."""
    form = _FINE if float(rows["fall"].abs().max() or 0) > 0.005 else ".2%"  # type: ignore[arg-type]
    tips = [
        _tip("name:N", what),
        _tip("with_all:Q", "with all", _FINE),
        _tip("without:Q", "without this", _FINE),
        _tip("fall:Q", "fall", ".2%"),
        _tip("error:Q", "standard error", ".2%"),
    ]
    chart = (
        alt.Chart(_values(rows))
        .mark_bar(color=COLOURS[FOUND])
        .encode(
            x=alt.X("fall:Q", title="fall of the chance", axis=alt.Axis(format=form, tickCount=4)),
            y=alt.Y(
                "name:N",
                title=None if what == "sensor" else "step: begins",
                sort=None,
                axis=alt.Axis(labelLimit=130),
            ),
            tooltip=tips,
        )
    )
    return _sized(chart, 30 + 18 * rows.height)


def noise(rows: pl.DataFrame) -> Chart:
    """The mean loss against the error of the counts."""
    long = rows.select("mechanism", "error", "baseline", "lower", "upper").unpivot(
        index=["mechanism", "error"], variable_name="which", value_name="chance"
    )
    names = [WITHOUT, FOUND, BOUND]
    renamed = dict(zip(("baseline", "lower", "upper"), names, strict=True))
    rounded = pl.col("mechanism").str.starts_with("rounded")
    long = long.with_columns(pl.col("which").replace(renamed), rounded=rounded)
    # Noise is a line; rounding, which is no more or less of the same, stands beside it as squares.
    base = alt.Chart(_values(long)).encode(
        x=alt.X("error:Q", title="typical error of a count (people)", scale=alt.Scale(type="sqrt")),
        y=alt.Y("chance:Q", title="mean chance to be found", axis=alt.Axis(format=_PERCENT), scale=_unit()),
        color=_which(names),
        strokeDash=alt.StrokeDash("which:N", scale=alt.Scale(domain=names, range=[DASHES[n] for n in names])),
        tooltip=[
            _tip("mechanism:N", "counts"),
            _tip("which:N", " "),
            _tip("error:Q", "error", ".2f"),
            _tip("chance:Q", "chance", _FINE),
        ],
    )
    lines = base.transform_filter("!datum.rounded").mark_line(point=True, strokeWidth=2)
    squares = base.transform_filter(f"datum.rounded && datum.which !== '{WITHOUT}'").mark_square(size=70, opacity=1)
    return _sized(lines + squares, 260)


def _values(table: pl.DataFrame) -> alt.Data:
    return alt.Data(values=table.to_dicts())  # type: ignore[no-untyped-call]


def _tip(field: str, title: str | None = None, form: str | None = None) -> alt.Tooltip:
    words: dict[str, Any] = {"title": title or field.partition(":")[0]}
    if form:
        words["format"] = form
    return alt.Tooltip(field, **words)


def _unit() -> alt.Scale:
    return alt.Scale(domain=[0, 1])


def _legend() -> alt.Legend:
    return alt.Legend(orient="top", direction="horizontal", titleLimit=0, labelLimit=0, columns=1)


def _which(names: list[str]) -> alt.Color:
    scale = alt.Scale(domain=names, range=[COLOURS[name] for name in names])
    legend = alt.Legend(orient="top", title=None, labelLimit=0, columns=1, symbolStrokeWidth=2)
    return alt.Color("which:N", scale=scale, legend=legend)


def _sized(chart: Any, height: int) -> Any:
    sized = chart.properties(width="container", height=height, background="transparent")
    sized = sized.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    font = "system-ui, sans-serif"
    return sized.configure(font=font).configure_view(stroke=None).configure_axis(labelFontSize=12, titleFontSize=12)
