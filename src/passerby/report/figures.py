"""The figures of a report, as Altair charts. They can be used in a notebook too.

>>> import polars as pl
>>> from passerby.report import data, figures
>>> table = pl.DataFrame({"baseline_lower": [0.1], "lower": [0.2], "upper": [0.3]})
>>> figures.exposure(data.exposure(table)).to_dict()["mark"]["type"]
'line'
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import altair as alt
import polars as pl

from .data import BOUND, FEW, FOUND, HAPPENED, PLACES, WITHOUT

#: Colours that are seen on white and on dark, and told apart by those who see few colours.
COLOURS = {WITHOUT: "#3d8fd1", FOUND: "#d55e00", BOUND: "#9a7200", HAPPENED: "#a05195"}
DASHES = {WITHOUT: [2, 2], FOUND: [1, 0], BOUND: [6, 3], HAPPENED: [8, 2, 2, 2]}

_PERCENT = ".0%"
_FINE = ".1%"
#: Letters in a line of a label.
LINE = 18
#: How lines are shown in a legend.
_LINE: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 300}
#: Room for small and for large errors, and for points at zero.
_SQRT = alt.Scale(type="sqrt", padding=8, nice=False)
Chart = Any


def published(counts: pl.DataFrame) -> Chart:
    """The counts of each sensor and step."""
    order = counts["place"].unique(maintain_order=True).to_list()[:PLACES]
    shown = alt.expr.if_(alt.datum.count == None, f"fewer than {FEW}", alt.datum.count)  # noqa: E711
    base = _cells(counts, order, [_tip("shown:N", "people")]).transform_calculate(shown=shown)
    many = base.transform_filter("datum.count !== null").mark_rect()
    few = base.transform_filter("datum.count === null").mark_rect(color="#8a8f98", opacity=0.35)
    colour = alt.Color("count:Q", title="people", scale=alt.Scale(scheme="viridis"), legend=_legend(format=",d"))
    return _sized(few + many.encode(color=colour), 40 + _tall(order, 22) * len(order))


def picture(rows: pl.DataFrame, order: list[str]) -> Chart:
    """How much the chance to be found falls without each count: places, in this order, by steps."""
    order = order[:PLACES]
    top = max(float(rows["fall"].max() or 0.0), 1e-6)  # type: ignore[arg-type]
    # From almost nothing to the full colour: it is seen on white and on dark.
    faint, full = (f"rgba(213, 94, 0, {alpha})" for alpha in (0.07, 1))
    scale = alt.Scale(domain=[0, top], range=[faint, full], clamp=True)
    colour = alt.Color("fall:Q", title="fall of the chance (points)", scale=scale, legend=_legend())
    chart = _cells(rows, order, _falls()).mark_rect().encode(color=colour)
    return _sized(chart, 40 + _tall(order, 22) * len(order))


def _cells(rows: pl.DataFrame, order: list[str], tips: list[alt.Tooltip]) -> Chart:
    """A place by step picture of the places in this order."""
    rows = rows.filter(pl.col("place").is_in(order)).with_columns(label=_label(pl.col("place")))
    return alt.Chart(_values(rows)).encode(
        x=alt.X("step:O", title="step", axis=alt.Axis(labelAngle=0, labelOverlap=True, labelSeparation=3)),
        y=alt.Y("label:N", title=None, sort=[_wrapped(name) for name in order], axis=alt.Axis(labelLimit=0)),
        tooltip=[_tip("place:N"), _tip("step:O"), _tip("start:N", "begins"), *tips],
    )


def _label(name: pl.Expr) -> pl.Expr:
    """Names on several lines where they are long: an axis shows them in full."""
    return name.map_elements(_wrapped, return_dtype=pl.String)


def _wrapped(name: str) -> str:
    # Blanks are kept, so that different names stay different.
    return "\n".join(wrap(name, LINE, expand_tabs=False, replace_whitespace=False, drop_whitespace=False))


def _tall(names: list[str], least: int) -> int:
    """The height of a row that has room for the longest of these names."""
    return max([least, *(4 + 14 * (1 + _wrapped(name).count("\n")) for name in names)])


def exposure(curves: pl.DataFrame) -> Chart:
    """The share of people who are found at least so often."""
    names = [name for name in COLOURS if name in set(curves["which"])]
    chart = (
        alt.Chart(_values(curves))
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("chance:Q", title="chance to be found, at least", axis=alt.Axis(format=_PERCENT)),
            y=alt.Y("share:Q", title="share of people", axis=alt.Axis(format=_PERCENT), scale=_unit()),
            color=_which(names, **_LINE),
            strokeDash=_dashes(names),
            tooltip=[_tip("which:N", " "), _tip("chance:Q", "at least", _PERCENT), _tip("share:Q", "people", _FINE)],
        )
        .add_params(_zoom())
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
    """The loss of each person against one of their traits."""
    chart = (
        alt.Chart(_values(dots))
        .mark_circle(size=28, opacity=0.65, color=COLOURS[FOUND], aria=False)
        .encode(
            x=alt.X(
                f"{column}:Q",
                title=title,
                scale=_unit() if column == "sighted" else alt.Scale(padding=8),
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
        .add_params(_zoom())
    )
    return _sized(chart, 260)


def left_out(rows: pl.DataFrame, what: str) -> Chart:
    """How much the chance to be found falls when a sensor or a step is left out."""
    rows = rows.sort("step") if what == "step" else rows.head(PLACES)
    rows = rows.with_columns(label=_label(pl.col("name")))
    title = None if what == "sensor" else "step: begins"
    chart = (
        alt.Chart(_values(rows))
        .mark_bar(color=COLOURS[FOUND])
        .encode(
            x=alt.X("fall:Q", title="fall of the chance (points)", axis=alt.Axis(tickCount=4)),
            y=alt.Y("label:N", title=title, sort=None, axis=alt.Axis(labelLimit=0)),
            tooltip=[_tip("name:N", what), *_falls()],
        )
    )
    return _sized(chart, 30 + _tall(rows["name"].to_list(), 18) * rows.height)


def _falls() -> list[alt.Tooltip]:
    return [
        _tip("with_all:Q", "with all", _FINE),
        _tip("without:Q", "without this", _FINE),
        _tip("fall:Q", "fall in points", ".2f"),
        _tip("error:Q", "standard error", ".2f"),
    ]


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
        x=alt.X("error:Q", title="typical error of a count (people)", scale=_SQRT, axis=alt.Axis(tickCount=6)),
        y=alt.Y("chance:Q", title="mean chance to be found", axis=alt.Axis(format=_PERCENT), scale=_unit()),
        color=_which(names, **_LINE),
        tooltip=[
            _tip("mechanism:N", "counts"),
            _tip("which:N", " "),
            _tip("error:Q", "error", ".2f"),
            _tip("chance:Q", "chance", _FINE),
        ],
    )
    drawn = base.transform_filter("!datum.rounded")
    lines = drawn.mark_line(strokeWidth=2).encode(strokeDash=_dashes(names)).add_params(_zoom())
    dots = drawn.mark_circle(size=50, opacity=1)
    squares = base.transform_filter(f"datum.rounded && datum.which !== '{WITHOUT}'").mark_square(size=70, opacity=1)
    return _sized(lines + dots + squares, 260)


def _values(table: pl.DataFrame) -> alt.Data:
    return alt.Data(values=table.to_dicts())  # type: ignore[no-untyped-call]


def _tip(field: str, title: str | None = None, form: str | None = None) -> alt.Tooltip:
    words: dict[str, Any] = {"title": title or field.partition(":")[0]}
    if form:
        words["format"] = form
    return alt.Tooltip(field, **words)


def _unit() -> alt.Scale:
    """From 0 to 1, with room for points that lie on either."""
    return alt.Scale(domain=[-0.02, 1.02], nice=False)


def _zoom() -> alt.Parameter:
    """Ctrl and the wheel zoom (or two fingers on a touch pad), dragging moves, a double click goes back."""
    # Not shift, with which browsers turn the wheel sideways.
    return alt.selection_interval(bind="scales", zoom="wheel![event.ctrlKey || event.metaKey]")


def _legend(**more: Any) -> alt.Legend:
    return alt.Legend(orient="top", direction="horizontal", titleLimit=0, labelLimit=0, columns=1, **more)


def _which(names: list[str], **symbols: Any) -> alt.Color:
    scale = alt.Scale(domain=names, range=[COLOURS[name] for name in names])
    legend = alt.Legend(orient="top", title=None, labelLimit=0, columns=1, **symbols)
    return alt.Color("which:N", scale=scale, legend=legend)


def _dashes(names: list[str]) -> alt.StrokeDash:
    scale = alt.Scale(domain=names, range=[DASHES[name] for name in names])
    return alt.StrokeDash("which:N", scale=scale)


def _sized(chart: Any, height: int) -> Any:
    sized = chart.properties(width="container", height=height, background="transparent")
    sized = sized.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
    font = "system-ui, sans-serif"
    sized = sized.configure(font=font, lineBreak="\n").configure_view(stroke=None)
    return sized.configure_axis(labelFontSize=12, titleFontSize=12).configure_legend(labelFontSize=12, titleFontSize=12)
