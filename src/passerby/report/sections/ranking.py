"""The most revealing count, sensor and step; or the most revealing zone, flow and window.

The mean fall of the chance may be due to one or two people, even if many were tried. The number of people behind it is
`support.rule_of_five.effective_people`. A shared page withholds falls of few people, and falls revealing them
(`audits.what_if`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from passerby.audits.findings import Findings
from passerby.audits.subjects import subject_grid
from passerby.model.release import Release
from passerby.report import chart
from passerby.report.evidence import TRIED, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW

HIDDEN = "not told"
#: A fall of so few points is none to speak of.
LITTLE = 0.01
#: The colour of falls, by how much of it there is: the palest cell, its outline, and the largest fall.
FAINT, LINE, FULL = (f"rgba(213, 94, 0, {alpha})" for alpha in (0.12, 0.45, 1))


def build(evidence: Evidence) -> Content:
    """Words, and for counts, sensors and steps a chart and a table."""
    assert evidence.findings is not None
    tables = {what: rows(evidence, what) for what in ("count", "sensor", "step")}
    place, thing, when = words_of(evidence)
    heads: dict[str, Columns] = {
        "count": {"place": (place, str), "step": ("step", str), "start": ("begins", str)},
        "sensor": {"name": (place, str)},
        "step": {"step": ("step", str), "start": ("begins", str)},
    }
    columns: Columns = {
        "with_all": ("chance with all", percent),
        "without": ("without this one", percent),
        "fall": ("fall (points)", lambda fall: HIDDEN if fall is None else f"{fall:.2f}"),
        "error": ("standard error", lambda error: "–" if error is None else f"{error:.2f}"),
        "people": ("people behind it", lambda people: "–" if people is None else f"{people:,}"),
    }
    out = []
    for what, table in tables.items():
        spec = None  # where no fall is told, there is nothing to draw
        if table["fall"].count():
            spec = _drawn(evidence, what, table, tables["sensor"]["place"].to_list())
        numbers = sheet(table, {**heads[what], **columns}, f"left-out-{what}.csv", least=evidence.least)
        title = f"Without each {thing if what == 'sensor' else when if what == 'step' else what}"
        out.append(Figure(f"left-{what}", title, says(what, table, place, thing, when), numbers, spec))
    return Content(words(evidence.findings, thing, when), out)


def words_of(evidence: Evidence) -> tuple[str, str, str]:
    """The words for a count's subject, for leaving out all steps, and for leaving out all counts.

    They are a place, its sensor and a step; or a zone or a flow; or a window if visitors alone are counted.
    """
    if evidence.release.reveals:
        return "place", "sensor", "step"
    kinds = {each.kind for each in evidence.about}
    word = "flow" if kinds == {"moved"} else "zone or flow" if "moved" in kinds else "zone"
    return word, word, "window" if kinds == {"visitors"} else "step"


def question(evidence: Evidence) -> str:
    """The question of the section, in the words of the release."""
    _, thing, when = words_of(evidence)
    return f"Which {thing} and which {when} reveal most?"


def _drawn(evidence: Evidence, what: str, table: pl.DataFrame, order: list[str]) -> dict[str, Any]:
    """Cells for counts, a matrix for flows, and bars for all else."""
    if what == "count":
        return picture(table, order, evidence.least)
    ends = {each.name: each.zones for each in evidence.about if each.kind == "moved"}
    if what == "sensor" and len(ends) == len(evidence.about):
        return matrix(table, ends, evidence.least)
    return bars(table, what, evidence.least)


def rows(evidence: Evidence, what: str) -> pl.DataFrame:
    """How much the chance falls without each sensor, step or count, in percentage points; the largest first.

    Columns: `name`, `place` and `step` (from 1) and `start` if there are any, `with_all`, `without` (chances), `fall`
    and `error` (points), and the `people` behind the fall. On a shared page, all numbers of a withheld fall are null.
    """
    findings, labels = evidence.findings, evidence.steps
    assert findings is not None
    found = findings.left_out.filter(pl.col("what") == what)
    behind = (_behind(findings.people) + 1e-9).floor().cast(pl.Int64)
    kept = pl.lit(True) if evidence.internal else pl.col("told")
    about, begins = evidence.about, beginnings(evidence.release)
    steps = [begins.get(pair, pair[1]) for pair in found.select("subject", "step").iter_rows()]
    known = {
        "place": [None if subject is None else about[subject].name for subject in found["subject"]],
        "start": [None if step is None else labels[step] for step in steps],
    }
    found = found.with_columns(
        people=pl.when(kept).then(behind),
        fall=pl.when(kept).then((100 * pl.col("fall")).round(3)),
        error=pl.when(kept).then((100 * pl.col("error")).round(3)),
        without=pl.when(kept).then(pl.col("without").round(4)),
        with_all=pl.when(kept).then(pl.col("with_all").round(4)),
        step=pl.Series([None if step is None else step + 1 for step in steps], dtype=pl.Int64),
    ).with_columns(pl.Series(name, values, dtype=pl.String) for name, values in known.items())
    when = pl.format("{}: {}", "step", "start")
    name = {"sensor": pl.col("place"), "step": when, "count": pl.format("{}, step {}", "place", when)}[what]
    columns = ("name", "place", "step", "start", "with_all", "without", "fall", "error", "people")
    found = found.with_columns(name=name).select(columns)
    return found.sort("fall", descending=True, nulls_last=True, maintain_order=True)


def beginnings(release: Release) -> dict[tuple[int | None, int | None], int]:
    """The first step of each count with a later reading step: of flows and visitors, by subject and step.

    Of all counts of a step together (subject None), if they share one.
    """
    if release.reveals:
        return {}
    grid, out = subject_grid(release), dict[tuple[int | None, int | None], int]()
    for t, step in enumerate(release.counts):
        out |= {(int(grid[t, j]), t): count.first for j, count in enumerate(step)}
        firsts = {count.first for count in step}
        if len(firsts) == 1:
            out[None, t] = firsts.pop()
    return out


def _behind(people: int) -> pl.Expr:
    """The number of people behind a mean fall, from the fall and its standard error over the tried people."""
    fall, error = pl.col("fall"), pl.col("error")
    same = (fall.abs() + error) < 1e-12  # nobody's chance changes: this is told of all of them
    return pl.when(same).then(float(people)).otherwise(people * fall**2 / ((people - 1) * error**2 + fall**2))


def words(findings: Findings, thing: str = "sensor", when: str = "step") -> list[str]:
    """How sensors, steps and counts were tried out."""
    return [
        f"For {findings.people:,} people drawn at random, each single count, each {thing} and each {when} was left out "
        "in turn. The figures show by how much the mean chance to be found falls, in percentage points, for attacks "
        "that need no search.",
        f"Counts tell in part the same: what is not published of one {thing} or {when} is often plain from another. So "
        f"the falls of single counts do not add up to those of their {thing} or {when}.",
    ]


def says(what: str, table: pl.DataFrame, place: str = "place", thing: str = "sensor", when: str = "step") -> str:
    """The content of the figure, and the most important count, sensor or step."""
    drawn, name = "cell" if thing == "flow" else "bar", {"sensor": thing, "step": when}.get(what, what)
    stopped = {"flow": "a step from which no flows are published"}.get(thing, "a step at which nothing is published")
    stopped = "a window of which nothing is published, by the step at which it begins" if when == "window" else stopped
    shown = {
        "count": "Each cell is a count. The stronger its colour, the more the chance falls without this count alone. ",
        "sensor": f"Each {drawn} is a {place} whose counts are left out at all steps. ",
        "step": f"Each bar is {stopped}. ",
    }[what]
    if not table["fall"].count():
        return f"No single {name} stands out: no fall of the chance rests on {FEW} people or more."
    if table["fall"].null_count():
        grey = what == "count" or (what == "sensor" and drawn == "cell")
        told = "Grey cells are" if grey else "What is left blank is"
        shown += f"{told} not told: fewer than {FEW} people are behind the fall, or behind one that it would tell. "
    if what != "step" and table["place"].n_unique() > chart.PLACES:
        shown += f"The {chart.PLACES} {place.replace(' or ', 's or ')}s that reveal most are shown. "
    best = table.row(0, named=True)
    if best["fall"] <= best["error"] or best["fall"] < LITTLE:
        these = "those that are told" if table["fall"].null_count() else "them"
        return f"{shown}No single {name} stands out: without any one of {these} the chance stays about the same."
    where = {
        "count": f"the count of {best['place']} at step {best['step']} ({best['start']})",
        "sensor": f"the sensor at {best['place']}" if thing == "sensor" else f"{best['place']}",
        "step": f"{'the window from ' if when == 'window' else ''}step {best['step']} ({best['start']})",
    }[what]
    return (
        f"{shown}Most is gained by leaving out {where}: the mean chance, {percent(best['with_all'])} with all, falls "
        f"by {best['fall']:.2f} points (standard error {best['error']:.2f})."
    )


def picture(table: pl.DataFrame, order: list[str], least: int = FEW) -> dict[str, Any]:
    """How much the chance to be found falls without each count: places, in this order, by steps."""
    order = order[: chart.PLACES]
    known = table.filter(pl.col("fall").is_not_null())
    rest = table.filter(pl.col("fall").is_null()).select("place", "step", "start", "people", note=pl.lit(HIDDEN))
    told = _coloured(chart.cells(known, order, _tips(), least), table)
    hidden = chart.grey(chart.cells(rest, order, [chart.tip("note:N", "fall")], least))
    return chart.spec(hidden + told if rest.height else told, 40 + chart.tall(order, 22) * len(order))


def matrix(table: pl.DataFrame, ends: Mapping[str, tuple[str, ...]], least: int = FEW) -> dict[str, Any]:
    """How much the chance to be found falls without each flow: from rows to columns."""
    pairs = [ends[name] for name in table["name"]]
    table = table.with_columns(
        origin=pl.Series([pair[0] for pair in pairs]), destination=pl.Series([pair[1] for pair in pairs])
    ).sort("origin", "destination")
    known, rest = table.filter(pl.col("fall").is_not_null()), table.filter(pl.col("fall").is_null())
    told, height = chart.flows(known, _tips(), least)
    drawn = _coloured(told, table)
    if rest.height:
        rest = rest.select("origin", "destination", "people", note=pl.lit(HIDDEN))
        hidden, _ = chart.flows(rest, [chart.tip("note:N", "fall")], least)
        drawn = chart.grey(hidden) + drawn
    return chart.spec(drawn, height)


def _coloured(cells: chart.Chart, table: pl.DataFrame) -> chart.Chart:
    """Cells by their falls; also the palest is seen by its outline, on white, on grey and on dark."""
    return cells.mark_rect(stroke=LINE, strokeWidth=1).encode(color=_colour(table))


def _colour(table: pl.DataFrame) -> alt.Color:
    """From almost nothing to the full colour."""
    top = max(float(table["fall"].max() or 0.0), LITTLE)  # type: ignore[arg-type]
    scale = alt.Scale(domain=[0, top], range=[FAINT, FULL], clamp=True)
    return alt.Color("fall:Q", title="fall of the chance (points)", scale=scale, legend=chart.legend())


def bars(table: pl.DataFrame, what: str, least: int = FEW) -> dict[str, Any]:
    """How much the chance to be found falls when a sensor or a step is left out."""
    table = table.sort("step") if what == "step" else table.head(chart.PLACES)
    table = table.with_columns(label=chart.label(pl.col("name")))
    title = None if what == "sensor" else "step: begins"
    # Withheld ones have no bar, and keep their place.
    every = alt.Scale(domain=table["label"].to_list())
    drawn = (
        alt.Chart(chart.values(table, least))
        .mark_bar(color="#d55e00")
        .encode(
            x=alt.X("fall:Q", title="fall of the chance (points)", axis=alt.Axis(tickCount=4), scale=_from_zero(table)),
            y=alt.Y("label:N", title=title, sort=None, scale=every, axis=alt.Axis(labelLimit=0)),
            tooltip=[chart.tip("name:N", what), *_tips()],
        )
    )
    return chart.spec(drawn, 30 + chart.tall(table["name"].to_list(), 18) * table.height)


def _from_zero(table: pl.DataFrame) -> alt.Scale:
    """From 0 on, with enough room to show negligible falls as none."""
    falls = [0.0, *table["fall"].drop_nulls().to_list()]
    return alt.Scale(domain=[min(falls), max(LITTLE, *falls)], nice=True)


def _tips() -> list[alt.Tooltip]:
    return [
        chart.tip("with_all:Q", "with all", chart.FINE),
        chart.tip("without:Q", "without this", chart.FINE),
        chart.tip("fall:Q", "fall in points", ".2f"),
        chart.tip("error:Q", "standard error", ".2f"),
        chart.tip("people:Q", "people behind it", ",d"),
    ]


SECTION = Section("ranking", "Which sensor and which step reveal most?", build, needs=(TRIED,), worded=question)
