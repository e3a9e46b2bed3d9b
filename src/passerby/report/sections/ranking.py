"""Which count, sensor and step reveal most.

The mean fall of the chance may be due to one or two people, also where many were tried. The number of people that it
rests on is taken as (sum of falls)^2 / (sum of squared falls), which is n where all fall alike, 1 where one person
alone does, and never more than the number of those whose chance changes (Kish, *Survey Sampling*, 1965).
"""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from passerby.audits.what_if import Findings
from passerby.report import chart
from passerby.report.evidence import TRIED, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.terms import few
from passerby.support.groups import FEW
from passerby.support.numerals import percent

HIDDEN = f"rests on {few()}"


def build(evidence: Evidence) -> Content:
    """Words, and for counts, sensors and steps a chart and a table."""
    assert evidence.findings is not None
    tables = {what: rows(evidence, what) for what in ("count", "sensor", "step")}
    heads: dict[str, Columns] = {
        "count": {"place": ("place", str), "step": ("step", str), "start": ("begins", str)},
        "sensor": {"name": ("place", str)},
        "step": {"step": ("step", str), "start": ("begins", str)},
    }
    columns: Columns = {
        "with_all": ("chance with all", percent),
        "without": ("without this one", percent),
        "fall": ("fall (points)", lambda fall: HIDDEN if fall is None else f"{fall:.2f}"),
        "error": ("standard error", lambda error: "–" if error is None else f"{error:.2f}"),
        "people": ("people behind it", lambda people: few() if people is None else f"{people:,}"),
    }
    out = []
    for what, table in tables.items():
        spec = None  # where no fall is told, there is nothing to draw
        if table["fall"].count():
            order = tables["sensor"]["place"].to_list()
            least = evidence.least
            spec = picture(table, order, least) if what == "count" else bars(table, what, least)
        numbers = sheet(table, {**heads[what], **columns}, f"left-out-{what}.csv", least=evidence.least)
        out.append(Figure(f"left-{what}", f"Without each {what}", says(what, table), numbers, spec))
    return Content(words(evidence.findings), out)


def rows(evidence: Evidence, what: str) -> pl.DataFrame:
    """How much the chance falls without each sensor, step or count, in percentage points; the largest first.

    Columns: `name`, `place` and `step` (from 1) and `start` where there are such, `with_all`, `without` (chances),
    `fall` and `error` (points), and the `people` behind the fall. On a page that is shared, all numbers are null where
    these are fewer than `FEW`.
    """
    findings, labels = evidence.findings, evidence.steps
    assert findings is not None
    found = findings.left_out.filter(pl.col("what") == what)
    behind = (_behind(findings.people) + 1e-9).floor().cast(pl.Int64)
    kept = behind >= evidence.least
    known = {
        "place": [None if place is None else evidence.places[place] for place in found["place"]],
        "start": [None if step is None else labels[step] for step in found["step"]],
    }
    found = found.with_columns(
        people=pl.when(kept).then(behind),
        fall=pl.when(kept).then((100 * pl.col("fall")).round(3)),
        error=pl.when(kept).then((100 * pl.col("error")).round(3)),
        without=pl.when(kept).then(pl.col("without").round(4)),
        with_all=pl.when(kept).then(pl.col("with_all").round(4)),
        step=pl.col("step") + 1,
    ).with_columns(pl.Series(name, values, dtype=pl.String) for name, values in known.items())
    steps = pl.format("{}: {}", "step", "start")
    name = {"sensor": pl.col("place"), "step": steps, "count": pl.format("{}, step {}", "place", steps)}[what]
    columns = ("name", "place", "step", "start", "with_all", "without", "fall", "error", "people")
    found = found.with_columns(name=name).select(columns)
    return found.sort("fall", descending=True, nulls_last=True, maintain_order=True)


def _behind(people: int) -> pl.Expr:
    """How many people a mean fall rests on, from the fall and its standard error over the people who were tried."""
    fall, error = pl.col("fall"), pl.col("error")
    same = (fall.abs() + error) < 1e-12  # nobody's chance changes: this is told of all of them
    return pl.when(same).then(float(people)).otherwise(people * fall**2 / ((people - 1) * error**2 + fall**2))


def words(findings: Findings) -> list[str]:
    """How sensors, steps and counts were tried out."""
    return [
        f"For {findings.people:,} people drawn at random, each single count, each sensor and each step was left out in "
        "turn. The figures show by how much the mean chance to be found falls, in percentage points, for attacks that "
        "need no search.",
        "Counts tell in part the same: what is not published at one place or step is often plain from another. So the "
        "falls of single counts do not add up to those of their sensor or step.",
    ]


def says(what: str, table: pl.DataFrame) -> str:
    """What the figure shows, and the count, sensor or step that matters most."""
    shown = {
        "count": "Each cell is a count. The stronger its colour, the more the chance falls without this count alone. ",
        "sensor": "Each bar is a place whose counts are left out at all steps. ",
        "step": "Each bar is a step at which nothing is published. ",
    }[what]
    if not table["fall"].count():
        return f"No single {what} stands out: no fall of the chance rests on {FEW} people or more."
    if table["fall"].null_count():
        told = "Grey cells are" if what == "count" else "What is left blank is"
        shown += f"{told} not told: fewer than {FEW} people are behind the fall. "
    if what != "step" and table["place"].n_unique() > chart.PLACES:
        shown += f"The {chart.PLACES} places that reveal most are shown. "
    best = table.row(0, named=True)
    if best["fall"] <= best["error"] or best["fall"] < 0.01:
        return f"{shown}No single {what} stands out: without any one of them the chance stays about the same."
    where = {
        "count": f"the count of {best['place']} at step {best['step']} ({best['start']})",
        "sensor": f"the sensor at {best['place']}",
        "step": f"step {best['step']} ({best['start']})",
    }[what]
    return (
        f"{shown}Most is gained by leaving out {where}: the mean chance, {percent(best['with_all'])} with all, falls "
        f"by {best['fall']:.2f} points (standard error {best['error']:.2f})."
    )


def picture(table: pl.DataFrame, order: list[str], least: int = FEW) -> dict[str, Any]:
    """How much the chance to be found falls without each count: places, in this order, by steps."""
    order = order[: chart.PLACES]
    top = max(float(table["fall"].max() or 0.0), 1e-6)  # type: ignore[arg-type]
    # From almost nothing to the full colour: it is seen on white and on dark.
    faint, full = (f"rgba(213, 94, 0, {alpha})" for alpha in (0.07, 1))
    scale = alt.Scale(domain=[0, top], range=[faint, full], clamp=True)
    colour = alt.Color("fall:Q", title="fall of the chance (points)", scale=scale, legend=chart.legend())
    known = table.filter(pl.col("fall").is_not_null())
    rest = table.filter(pl.col("fall").is_null()).select("place", "step", "start", "people", note=pl.lit(HIDDEN))
    told = chart.cells(known, order, _tips(), least).mark_rect().encode(color=colour)
    hidden = chart.cells(rest, order, [chart.tip("note:N", "fall")], least).mark_rect(color="#8a8f98", opacity=0.35)
    return chart.spec(hidden + told if rest.height else told, 40 + chart.tall(order, 22) * len(order))


def bars(table: pl.DataFrame, what: str, least: int = FEW) -> dict[str, Any]:
    """How much the chance to be found falls when a sensor or a step is left out."""
    table = table.sort("step") if what == "step" else table.head(chart.PLACES)
    table = table.with_columns(label=chart.label(pl.col("name")))
    title = None if what == "sensor" else "step: begins"
    drawn = (
        alt.Chart(chart.values(table, least))
        .mark_bar(color="#d55e00")
        .encode(
            x=alt.X("fall:Q", title="fall of the chance (points)", axis=alt.Axis(tickCount=4)),
            y=alt.Y("label:N", title=title, sort=None, axis=alt.Axis(labelLimit=0)),
            tooltip=[chart.tip("name:N", what), *_tips()],
        )
    )
    return chart.spec(drawn, 30 + chart.tall(table["name"].to_list(), 18) * table.height)


def _tips() -> list[alt.Tooltip]:
    return [
        chart.tip("with_all:Q", "with all", chart.FINE),
        chart.tip("without:Q", "without this", chart.FINE),
        chart.tip("fall:Q", "fall in points", ".2f"),
        chart.tip("error:Q", "standard error", ".2f"),
        chart.tip("people:Q", "people behind it", ",d"),
    ]


SECTION = Section("ranking", "Which sensor and which step reveal most?", build, needs=(TRIED,))
