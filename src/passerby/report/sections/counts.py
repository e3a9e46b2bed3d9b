"""The planned publication: the counts.

A shared page holds the values of the release itself, and no more. These are counts under a fixed rule, but for small
ones and for counts revealing them (`report.complementary`). With noise it holds no counts: the true ones would
undo the noise, and a draw of its own would be a second look at them. The internal page holds the true counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from passerby.audits.subjects import in_words, subject_grid
from passerby.errors import UnsupportedRelease
from passerby.mechanisms import Mechanism
from passerby.model.count import mechanism_of
from passerby.model.counts import Count
from passerby.others.counted import numbers as all_numbers
from passerby.report import chart
from passerby.report.complementary import kept_back, least_told
from passerby.report.evidence import Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import few, length, mechanism
from passerby.support.rule_of_five import FEW

EMPTY, SECRET, BESIDE = "left empty", "not on this page", "not told beside a small one"
#: A number, if there is one, and its text.
Told = tuple[float | None, str]


def build(evidence: Evidence) -> Content:
    """Words, and a picture and a table of the counts of each kind."""
    summary, known = evidence.summary, evidence.summary.coverage
    when = f", from {known.published_from} to {known.steps_end} ({known.timezone})" if known.published_from else ""
    lead = (
        f"{in_words(evidence.release)} over {summary.steps:,} steps of {length(summary.window)}{when}: "
        f"{mechanism(summary.mechanism)}."
    )
    counts = rows(evidence)
    figures = [
        _figure(evidence, counts.filter(kind=kind), kind)
        for kind in dict.fromkeys((*FIGURES, *counts["kind"]))
        if (counts["kind"] == kind).any() or kind == "present" == next(iter(counts["kind"]), "present")
    ]
    return Content([lead], figures)


#: The key and the title of the figure of each kind of count.
FIGURES = {
    "present": ("published", "The counts"),
    "moved": ("flows", "The flows"),
    "visitors": ("visitors", "Different visitors"),
}


def _figure(evidence: Evidence, counts: pl.DataFrame, kind: str) -> Figure:
    """The counts of one kind: by place and step, or for flows by origin and destination."""
    key, title = FIGURES.get(kind, (f"counts-{kind}", f"The counts {kind}"))
    counts = counts.with_columns(pl.col("place").str.strip_prefix("visitors of "))  # its title says so
    place = "place" if evidence.release.reveals else "zone"
    about: Columns = {"place": (place, str)}
    if kind == "moved":
        about = {"origin": ("from", str), "destination": ("to", str)}
    columns: Columns = {"step": ("step", str), "start": ("begins", str), **about, "shown": ("people", str)}
    table = sheet(counts, columns, "counts.csv" if kind == "present" else f"{key}.csv", least=evidence.least)
    spec = None
    if counts.height:
        spec = matrix(counts, evidence.least) if kind == "moved" else picture(counts, evidence.least)
    return Figure(key, title, says(evidence, counts, kind), table, spec)


def rows(evidence: Evidence) -> pl.DataFrame:
    """Each count: kind, step (from 1), start, place (its subject), count, its text (`shown`), and its `people`.

    A flow has an `origin` and a `destination`, and its step is the step of departure; the step of visitors is the first
    of their window. `count` and `people` are null for a withheld number.
    """
    release, labels = evidence.release, evidence.steps
    about, grid = evidence.about, subject_grid(release)
    found, at = [], [*zip(*np.nonzero(grid >= 0), strict=True)]
    counts = [release.counts[t][j] for t, j in at]
    trues = all_numbers(evidence.people, release).tolist()
    said = [told(mechanism_of(count), true) for count, true in zip(counts, trues, strict=True)]
    if evidence.internal:
        said = [(float(true), f"{true:,}") for true in trues]
    elif not release.reveals:
        said = apart(counts, said, release.steps)
    for number, ((t, j), (count, shown)) in enumerate(zip(at, said, strict=True)):
        step, what = counts[number].first, about[grid[t, j]]
        ends = what.zones if what.kind == "moved" else (None, None)
        people = None if count is None else int(count)
        found.append((what.kind, int(step) + 1, labels[step], what.name, *ends, count, shown, people))
    text = dict.fromkeys(("start", "place", "origin", "destination"), pl.String)
    kinds = {"kind": pl.String, "step": pl.Int64, **text, "count": pl.Float64, "shown": pl.String, "people": pl.Int64}
    return pl.DataFrame(found, schema=kinds, orient="row")


def told(rule: Mechanism, true: int) -> Told:
    """A shared page's view of a count: the published number, if it is `FEW` or more; and its words.

    A number for fewer people alone is withheld as well, even a large one.

    >>> from passerby import Gaussian, Raw, Rounding, Scaled
    >>> told(Raw(), 7), told(Raw(), 4), told(Rounding(5), 3), told(Gaussian(1.0), 7)
    ((7.0, '7'), (None, 'fewer than 5'), (5.0, '5'), (None, 'not on this page'))
    >>> told(Scaled(2.0), 4), told(Scaled(2.0), 5)
    ((None, 'fewer than 5'), (10.0, '10'))
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
    return (value, f"{value:,.10g}") if value >= least_told(rule) else (None, few())


def apart(counts: Sequence[Count], said: Sequence[Told], steps: int) -> list[Told]:
    """The counts for the page, without numbers revealing small ones."""
    open_ = [i for i, (_, shown) in enumerate(said) if shown != SECRET]
    kept = kept_back([counts[i] for i in open_], [said[i][0] for i in open_], steps)
    back = {open_[k] for k in kept}
    return [(None, BESIDE) if i in back else each for i, each in enumerate(said)]


SAYS = {
    "present": "Each cell is a count that would be published: a place with a sensor, at a step.",
    "zones": "Each cell is a count that would be published: a zone, at a step.",
    "visitors": "Each cell is a number of different people that would be published: of a zone, in the window that "
    "begins at a step.",
    "other": "Each cell is a count that would be published, at the first step that matters to it.",
    "moved": "Each cell is a flow, from the zone of its row to that of its column, over all steps.",
}


def says(evidence: Evidence, counts: pl.DataFrame, kind: str = "present") -> str:
    """What the picture of the counts shows."""
    out = [SAYS["zones" if kind == "present" and not evidence.release.reveals else kind if kind in SAYS else "other"]]
    if evidence.internal:
        there = "really went" if kind == "moved" else "were really there"
        out.append(f"The colour shows how many people {there}, before anything is done to the count.")
    elif (counts["shown"] == SECRET).any():
        out.append("How many people were there is not told on a page that is shared: it would undo the noise.")
    elif kind == "moved":
        out.append(f"The colour shows the sum of the published numbers, but for {few()}; without any, cells are grey.")
    else:
        out.append(f"The colour shows the published count; cells with {few()} are grey.")
    if (counts["shown"] == BESIDE).any():
        out.append("So are some that count the same people, from which the small ones would follow.")
    if counts["place" if kind != "moved" else "origin"].n_unique() > chart.PLACES:
        out.append(f"The first {chart.PLACES} {'places' if evidence.release.reveals else 'zones'} are shown.")
    return " ".join(out)


def matrix(counts: pl.DataFrame, least: int = FEW) -> dict[str, Any]:
    """Flows over all steps, from the zones of rows to the zones of columns; grey for a withheld number."""
    total = counts.group_by("origin", "destination", maintain_order=True).agg(
        count=pl.when(pl.col("count").count() > 0).then(pl.col("count").sum()),
        people=pl.when(pl.col("people").count() > 0).then(pl.col("people").sum()),
        told=pl.when(pl.col("count").count() > 0).then(pl.format("{} of {}", pl.col("count").count(), pl.len())),
    )
    base, height = chart.flows(total, [chart.tip("count:Q", "people", ",d"), chart.tip("told:N", "steps told")], least)
    few_ = chart.grey(base.transform_filter("datum.count === null"))
    if not total["count"].count():
        return chart.spec(few_, height)
    # Most people stay in their zone: a root scale leaves other flows visible.
    scale, legend = alt.Scale(scheme="viridis", type="sqrt"), chart.people_above(total["count"])
    colour = alt.Color("count:Q", title="people", scale=scale, legend=legend)
    many = base.transform_filter("datum.count !== null").mark_rect().encode(color=colour)
    return chart.spec(few_ + many, height)


def picture(counts: pl.DataFrame, least: int = FEW) -> dict[str, Any]:
    """The counts of each sensor and step, as colours; grey for a withheld number."""
    order = counts["place"].unique(maintain_order=True).to_list()[: chart.PLACES]
    counts = counts.select("step", "start", "place", "count", "shown", "people")
    base = chart.cells(counts, order, [chart.tip("shown:N", "people")], least)
    many = base.transform_filter("datum.count !== null").mark_rect()
    few_ = chart.grey(base.transform_filter("datum.count === null"))
    legend = chart.people_above(counts["count"])
    colour = alt.Color("count:Q", title="people", scale=alt.Scale(scheme="viridis"), legend=legend)
    layers = few_ + many.encode(color=colour) if counts["count"].count() else few_
    return chart.spec(layers, 40 + chart.tall(order, 22) * len(order))


SECTION = Section("counts", "What would be published?", build)
