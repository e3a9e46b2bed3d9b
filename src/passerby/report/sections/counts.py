"""What would be published: the counts.

A page that is shared holds what the release itself would tell, and no more: counts that follow a fixed rule, but for
small ones. With noise it holds no counts: the true ones would undo the noise, and a draw of its own would be a second
look at them. The internal page holds the true counts.
"""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import polars as pl

from passerby.errors import UnsupportedRelease
from passerby.mechanisms import Mechanism
from passerby.report import chart
from passerby.report.evidence import Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.terms import few, length, mechanism
from passerby.support.groups import FEW

EMPTY, SECRET = "left empty", "not on this page"


def build(evidence: Evidence) -> Content:
    """Words, picture and table of the counts."""
    summary, release = evidence.summary, evidence.release
    places = len({place for step in release.sensors for place in step})
    some = "1 place" if places == 1 else f"{places:,} places"
    known = summary.coverage
    when = f", from {known.published_from} to {known.steps_end} ({known.timezone})" if known.published_from else ""
    lead = (
        f"{summary.sensors:,} numbers, from {some} over {summary.steps:,} steps of {length(summary.window)}{when}: "
        f"{mechanism(summary.mechanism)}."
    )
    counts = rows(evidence)
    columns: Columns = {
        "step": ("step", str),
        "start": ("begins", str),
        "place": ("place", str),
        "shown": ("people", str),
    }
    table = sheet(counts, columns, "counts.csv", least=evidence.least)
    spec = picture(counts, evidence.least) if counts.height else None
    return Content([lead], [Figure("published", "The counts", says(evidence, counts), table, spec)])


def rows(evidence: Evidence) -> pl.DataFrame:
    """Each count: step (from 1), start, place, count, how it is `shown`, and the `people` it rests on.

    `count` and `people` are null where no number is told.
    """
    release, people, labels = evidence.release, evidence.people, evidence.steps
    found = []
    for t, step in enumerate(release.sensors):
        for x in step:
            true = int(people.counts[t, x])
            count, shown = (float(true), f"{true:,}") if evidence.internal else told(release.mechanism, true)
            found.append((t + 1, labels[t], evidence.places[x], count, shown, None if count is None else int(count)))
    kinds = {"step": pl.Int64, "start": pl.String, "place": pl.String, "count": pl.Float64, "shown": pl.String}
    return pl.DataFrame(found, schema={**kinds, "people": pl.Int64}, orient="row")


def told(rule: Mechanism, true: int) -> tuple[float | None, str]:
    """What a page that is shared tells of a count: the published number, where it is `FEW` or more; and its words.

    >>> from passerby import Gaussian, Raw, Rounding
    >>> told(Raw(), 7), told(Raw(), 4), told(Rounding(5), 3), told(Gaussian(1.0), 7)
    ((7.0, '7'), (None, 'fewer than 5'), (5.0, '5'), (None, 'not on this page'))
    """
    try:
        values, _ = rule.law(true)
    except UnsupportedRelease:
        return None, SECRET
    if len(values) != 1:
        return None, SECRET
    value = float(values[0])
    if math.isnan(value):
        return None, EMPTY
    return (value, f"{value:,.10g}") if value >= FEW else (None, few())


def says(evidence: Evidence, counts: pl.DataFrame) -> str:
    """What the picture of the counts shows."""
    out = ["Each cell is a count that would be published: a place with a sensor, at a step."]
    if evidence.internal:
        out.append("The colour shows how many people were really there, before anything is done to the count.")
    elif (counts["shown"] == SECRET).any():
        out.append("How many people were there is not told on a page that is shared: it would undo the noise.")
    else:
        out.append(f"The colour shows the published count; cells with {few()} are grey.")
    if counts["place"].n_unique() > chart.PLACES:
        out.append(f"The first {chart.PLACES} places are shown.")
    return " ".join(out)


def picture(counts: pl.DataFrame, least: int = FEW) -> dict[str, Any]:
    """The counts of each sensor and step, as colours; grey where no number is told."""
    order = counts["place"].unique(maintain_order=True).to_list()[: chart.PLACES]
    base = chart.cells(counts, order, [chart.tip("shown:N", "people")], least)
    many = base.transform_filter("datum.count !== null").mark_rect()
    few_ = base.transform_filter("datum.count === null").mark_rect(color="#8a8f98", opacity=0.35)
    legend = chart.legend(format=",d")
    colour = alt.Color("count:Q", title="people", scale=alt.Scale(scheme="viridis"), legend=legend)
    layers = few_ + many.encode(color=colour) if counts["count"].count() else few_
    return chart.spec(layers, 40 + chart.tall(order, 22) * len(order))


SECTION = Section("counts", "What would be published?", build)
