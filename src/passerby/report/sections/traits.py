"""The most exposed people: the loss against two traits, and the common traits of the most exposed.

People as boxes: a picture of two of their values that shows dense regions and no single person.

The plane is cut into fine classes. Strips along the first value are merged until each holds enough people. Classes of
the second value are merged in the same way within each strip. So everybody is in a box, and no box holds fewer than
`FEW` people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.results import COUNTED
from passerby.people.habits import People
from passerby.report import chart
from passerby.report.evidence import CURVES, MEASURED, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import few, level
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW, classes_in_fives, counting, merged, middle, reached, rest_enough

Floats = NDArray[np.float64]

#: Classes along each axis, before classes with few people are merged.
CLASSES = 20
#: Boxes, at most: more people make larger groups, not more of them.
BOXES = 150
#: A strip has room for at least so many boxes.
STRIP = 3


def sizes(values: Floats, edges: Floats) -> NDArray[np.int64]:
    """The number of people in each class; people beyond the last edge are in the last class."""
    return np.histogram(values.clip(edges[0], edges[-1]), edges)[0]


def strips(x: Floats, top: float, cut: float | None = None) -> list[tuple[float, float, NDArray[np.bool_]]]:
    """Classes of x from 0 to `top`, each with enough people for a few boxes: its ends, and a mark of its people (n,).

    None of them lies on both sides of a `cut`, a border between people in other tables.

    People beyond the top are in the last one. All figures by x use these classes: two different divisions could be
    compared, and their difference could reveal a few people.

    >>> [int(who.sum()) for _, _, who in strips(np.repeat([0.1, 0.9], 30), 1.0) if who.any()]
    [30, 30]
    """
    across, place = np.linspace(0, top, CLASSES + 1), x.clip(0, top)
    counts, wanted, out = sizes(x, across), STRIP * _least(len(x)), []
    between = 0 if cut is None else int(np.argmin(abs(across - cut)))
    halves = [(first, last) for first, last in ((0, between), (between, CLASSES)) if first < last]
    if any(0 < counts[first:last].sum() < FEW for first, last in halves):
        halves = [(0, CLASSES)]
    parts = [
        (begin + first, begin + last)
        for begin, end in halves
        for first, last in merged(counts[begin:end], min(wanted, int(counts[begin:end].sum())))
    ]
    for first, last in parts:
        low, high = float(across[first]), float(across[last])
        out.append((low, high, (place >= low) & ((place < high) | (last == CLASSES))))
    return out


def _least(people: int) -> int:
    """The fewest people in a box."""
    return max(FEW, math.ceil(people / BOXES))


def boxes(
    x: Floats, y: Floats, top: float, edges: Sequence[float], cut: float | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Boxes of x, from 0 to `top`, by a chance y, and the median of y in each strip of boxes.

    Chances are cut at some of the `edges` between 0 and 1, and at no others. Boxes have the columns `x`, `x2`, `y`,
    `y2`, `people` (in fives) and `density` (of them, in each of the fine classes); strips have `x`, `x2`, `median` and
    `people`. The number of all people below a chance is shown elsewhere. If a box lay on both sides of this chance,
    subtracting the other boxes would reveal the few of its people below it.

    >>> x = np.repeat([0.1, 0.9], 30)
    >>> rows, strips = boxes(x, np.tile([0.2, 0.8], 30), 1.0, [0.5])
    >>> rows["people"].to_list(), strips["median"].to_list()
    ([15, 15, 15, 15], [0.44, 0.44])
    """
    inner = [edge for edge in edges if 0 < edge < 1]
    up = [0.0, *inner, 1.0]
    found, medians = [], []
    for left, right, inside in strips(x, top, cut):
        centre = middle(y[inside])
        if centre is None:
            continue
        medians.append((left, right, centre, int(inside.sum())))
        below = counting(y[inside])
        counts = np.diff([0, *map(below, inner), int(inside.sum())])
        width = round(CLASSES * (right - left) / top)
        for low, high in merged(counts, min(_least(len(x)), int(inside.sum()))):
            people, tall = int(counts[low:high].sum()), CLASSES * (up[high] - up[low])
            if people:
                told = FEW * round(people / FEW)
                found.append((left, right, up[low], up[high], told, told / (width * tall)))
    sizes_told = classes_in_fives([people for *_, people in medians])
    medians = [(*row[:-1], told) for row, told in zip(medians, sizes_told, strict=True)]
    rows = pl.DataFrame(found, schema=["x", "x2", "y", "y2", "people", "density"], orient="row")
    lines = pl.DataFrame(medians, schema=["x", "x2", "median", "people"], orient="row")
    return rows.with_columns(pl.col("x", "x2", "y", "y2").round(3)), lines.with_columns(
        pl.col("x", "x2", "median").round(3)
    )


#: The border in other sections: between counted people and hardly ever counted ones.
CUT = {"sighted": COUNTED, "spectral_gap": None}
#: The most people with a second fit of habits for their spectral gap, if habits follow a rhythm.
REFITTED = 1500

BOX = (
    f"Each box holds at least {FEW} people, told in fives; the fuller its colour, the closer together they are. The "
    "line is the median."
)
SIGHTED = (
    f"{BOX} To the right are people who are likely to be in a count. Where the line rises to the right, being counted "
    f"exposes people. {chart.ZOOM}"
)
GAP = (
    f"{BOX} The spectral gap is small for people who stay where they are for long and large for people who move about "
    "freely. Where the line falls to the right, slow movers are the exposed ones: one sighting tells of many steps. "
    f"{chart.ZOOM}"
)
PROFILE = (
    "Groups of people, never a single one: the tenth who are found most often, the tenth to whose chance the release "
    "adds most, and everyone. Half of a group lie below its median and half above."
)
REASONS = (
    "People are exposed for three reasons: they are counted often; they move slowly, so that one sighting tells of "
    "many steps; or they are predictable anyway, with or without the release."
)
#: Traits of a group, and how their medians are written; the last is its size.
TRAITS = {
    "baseline": ("chance without the release", percent),
    "lower": ("chance with the release: best attack found", percent),
    "upper": ("chance with the release: bound if the habits are right", percent),
    "sighted": ("chance to be counted at least once", percent),
    "spectral_gap": ("spectral gap", "{:.2f}".format),
    "places": ("places visited", "{:.0f}".format),
    "people": ("people in the group", "{:,.0f}".format),
}


def build(evidence: Evidence) -> Content:
    """Words, two charts with their classes, and the profile of the most exposed."""
    people = traits(evidence.known, evidence.people, evidence.table)
    out = []
    # Boxes are cut at the points of the curves of the chance, so both are about the same groups.
    edges = evidence.cuts.levels(CURVES)
    for key, column, title, axis, says in (
        ("sighted", "sighted", "Being counted", "chance to be counted", SIGHTED),
        ("gap", "spectral_gap", "Slow and quick movers", "spectral gap", GAP),
    ):
        columns: Columns = {
            "class": (axis, str),
            "people": ("people", "{:,}".format),
            "baseline": ("median without the release", percent),
            "lower": ("median with it: best attack", percent),
            "upper": ("median with it: bound if the habits are right", percent),
        }
        table = sheet(classes(people, column), columns, f"{key}.csv")
        out.append(Figure(key, title, says, table, picture(people, column, axis, edges)))
    groups = profile(people)
    if groups is not None:
        cells: Columns = {
            "trait": ("median of", str),
            "most_exposed": ("most exposed tenth", str),
            "most_added": ("tenth with most added", str),
            "everyone": ("everyone", str),
        }
        out.append(Figure("profile", "The most exposed tenth", PROFILE, sheet(named(groups), cells, "profile.csv")))
    return Content([*words(groups), *_drawn(people.height, evidence.known.height)], out)


def traits(known: pl.DataFrame, people: People, table: pl.DataFrame) -> pl.DataFrame:
    """The traits of each measured person, for the groups below: never shown as they are.

    Columns: `sighted`, `spectral_gap`, `baseline`, `lower`, `upper`, `places`.
    """
    gap = known["spectral_gap"]
    if gap.null_count():
        # Habits with a rhythm or modes are no single chain; the chain of doing as usual stands for them.
        rows = np.flatnonzero(table["lower"].is_not_null().to_numpy())
        most = rest_enough(REFITTED, len(rows))
        chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:most])
        plain, known = people.plain, known[chosen.tolist()]
        gap = pl.Series([plain.prior(int(rows[i]))[0].spectral_gap for i in chosen], dtype=pl.Float64)
    return known.select(
        "sighted", gap.alias("spectral_gap"), pl.col("baseline_lower").alias("baseline"), "lower", "upper", "places"
    )


def _top(values: NDArray[np.float64], column: str) -> float:
    """The end of classes: one for a chance; for a gap, the value reached by five people."""
    least = None if column == "sighted" else reached(values)
    return 1.0 if least is None else least + 0.01


def classes(people: pl.DataFrame, column: str) -> pl.DataFrame:
    """Medians of the loss in the classes of a column; its picture has the same classes."""
    x = people[column].to_numpy()
    rows = []
    found = [
        (low, high, people.filter(inside))
        for low, high, inside in strips(x, _top(x, column), CUT[column])
        if inside.any()
    ]
    told = classes_in_fives([group.height for _, _, group in found])
    for number, (low, high, group) in enumerate(found, start=1):
        open_end = number == len(found) and column != "sighted"
        first, last = (level(round(edge, 2)) if column == "sighted" else f"{edge:.2f}" for edge in (low, high))
        name = f"{first} " + ("and more" if open_end else f"to {last}")
        rows.append((name, told[number - 1], *(middle(group[c].to_numpy()) for c in ("baseline", "lower", "upper"))))
    kinds = {"class": pl.String, "people": pl.Int64, **dict.fromkeys(("baseline", "lower", "upper"), pl.Float64)}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def profile(people: pl.DataFrame) -> pl.DataFrame | None:
    """Medians of the most exposed tenth, of the tenth with the largest gain from the release, and of all.

    None if a tenth is too small a group.
    """
    count = people.height // 10
    if count < FEW:
        return None
    groups = {
        "most_exposed": people.sort("lower", descending=True).head(count),
        "most_added": people.sort(pl.col("lower") - pl.col("baseline"), descending=True).head(count),
        "everyone": people,
    }
    cells = {
        name: [*(middle(group[trait].to_numpy()) for trait in list(TRAITS)[:-1]), float(group.height)]
        for name, group in groups.items()
    }
    return pl.DataFrame({"column": list(TRAITS), **cells, "people": [count] * len(TRAITS)})


def named(groups: pl.DataFrame) -> pl.DataFrame:
    """The profile of groups with its rows named and its numbers written."""
    rows = []
    for row in groups.iter_rows(named=True):
        name, form = TRAITS[row["column"]]
        rows.append((name, *(form(row[group]) for group in ("most_exposed", "most_added", "everyone")), row["people"]))
    return pl.DataFrame(rows, schema=["trait", *groups.columns[1:]], orient="row")


def words(groups: pl.DataFrame | None) -> list[str]:
    """Three reasons, and the visible ones among the most exposed tenths."""
    if groups is None:
        return [REASONS, f"There are too few people to describe the most exposed tenth: it would be {few()}."]
    return [
        REASONS,
        f"The tenth who are found most often {_apart(groups, 'most_exposed')}. The tenth to whose chance the release "
        f"adds most {_apart(groups, 'most_added')}.",
    ]


def _drawn(some: int, everyone: int) -> list[str]:
    """The people in the figures, if not everybody is."""
    return [] if some == everyone else [f"The figures are of {some:,} people, drawn at random from {everyone:,}."]


def _apart(groups: pl.DataFrame, group: str) -> str:
    """How the medians of a group differ from everyone's."""
    these, all_ = (
        {column: value or 0.0 for column, value in zip(groups["column"], groups[name], strict=True)}
        for name in (group, "everyone")
    )
    told = {
        "sighted": ("are counted less often", "are counted more often"),
        "spectral_gap": ("move more slowly", "move about more freely"),
        "baseline": ("are less predictable without the release", "are more predictable even without the release"),
    }
    said = [
        words[these[column] > all_[column]]
        for column, words in told.items()
        if abs(these[column] - all_[column]) > 0.1 * all_[column]
    ]
    if not said:
        return "differ little from everyone in these traits"
    return " and ".join([*([", ".join(said[:-1])] if said[1:] else []), said[-1]])


def picture(people: pl.DataFrame, column: str, title: str, edges: Sequence[float]) -> dict[str, Any]:
    """The loss against a trait: boxes of people, cut at these chances, and the median of each strip."""
    x = people[column].to_numpy()
    rows, strips = boxes(x, people["lower"].to_numpy(), _top(x, column), edges, CUT[column])
    chance = column == "sighted"
    axis = alt.Axis(format=chart.TICK if chance else ".2f", tickCount=5)
    scale = chart.unit() if chance else alt.Scale(nice=False, padding=4)
    form = chart.PERCENT if chance else ".2f"
    sides = [chart.tip("x:Q", f"{title}, from", form), chart.tip("x2:Q", "to", form)]
    fullness = alt.Opacity("density:Q", legend=None, scale=alt.Scale(type="sqrt", range=[0.12, 0.95], zero=True))
    drawn = (
        alt.Chart(chart.values(rows))
        .mark_rect(color=FILL, stroke=chart.GREY, strokeWidth=0.4)
        .encode(
            x=alt.X("x:Q", title=title, scale=scale, axis=axis),
            x2="x2:Q",
            y=alt.Y("y:Q", title="chance to be found", axis=alt.Axis(format=chart.TICK), scale=chart.unit()),
            y2="y2:Q",
            fillOpacity=fullness,
            tooltip=[
                chart.tip("people:Q", "people, in fives", ",d"),
                *sides,
                chart.tip("y:Q", "best attack found, from", chart.PERCENT),
                chart.tip("y2:Q", "to", chart.PERCENT),
            ],
        )
        .add_params(chart.zoom())
    )
    lines = (
        alt.Chart(chart.values(strips))
        .mark_rule(color=chart.COLOURS[chart.FOUND], strokeWidth=3)  # dark on boxes of any fullness, also in grey
        .encode(
            x="x:Q",
            x2="x2:Q",
            y="median:Q",
            tooltip=[
                chart.tip("median:Q", "median of the chance", chart.FINE),
                *sides,
                chart.tip("people:Q", "people", ",d"),
            ],
        )
    )
    return chart.spec(drawn + lines, 260)


#: The colour of boxes: it is seen on white and on dark.
FILL = "#d55e00"

SECTION = Section("traits", "Who is most exposed, and why?", build, needs=(MEASURED,))
