"""The page of several tables about the same people: their evidence together, beside each alone.

It holds means and shares of five people or more, and nobody's name.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from passerby.audits.together import DIGITS, JOINT, WITHOUT, Together
from passerby.model.release import Release
from passerby.support.numbers import percent, span
from passerby.support.rule_of_five import FEW, counting, nested_shares

from . import chart
from .page import filled
from .section import Built, Columns, Content, Figure, sheet
from .words import few, group, mechanism, question, share_of_people

TITLE = "Several tables about the same people"
LEAD = "What somebody who has all of these tables finds out about the people who were counted, beside each table alone."
#: Added chances as borders between people.
ADDED = (0.01, 0.05, 0.1, 0.25, 0.5)
AT_LEAST, AT_MOST = "added for sure", "added at most"
COLOURS = {AT_LEAST: chart.COLOURS[chart.FOUND], AT_MOST: chart.COLOURS[chart.BOUND]}

MEANING = [
    "The adversary knows a person's habits and where everybody else was, and sees the tables. Intervals hold for "
    "each person by themselves; drawn above are means of both ends over the people who could be measured with each "
    "table and with all of them. Everything holds given the habits.",
    "Two tables of nearly the same zone tell by their difference how many people are in the rest, also where both "
    "hide small numbers. What helps is to publish one of the two, or the same zones in both, or noise; to hide "
    "small numbers in each table by itself does not.",
]


def render_together(found: Together, releases: Mapping[str, Release], how: Sequence[str]) -> str:
    """The page as one shareable HTML file that needs no other file and no network.

    `releases` are the releases by name, and `how` the words of their command.
    """
    said = found.lines()
    return filled(
        sections(found, releases),
        title=TITLE,
        lead=LEAD,
        internal="",
        short=[*_in_short(found), said[-1]] if len(said) > 1 else said,
        facts=_facts(found, releases),
        settings=None,
        beside="",
        again=shlex.join(["passerby", "together", *found.names, *how]),
    )


def sections(found: Together, releases: Mapping[str, Release]) -> list[Built]:
    """The sections of the page, with their content."""
    if found.measured["person"].n_unique() < FEW:
        return [Built("tables", "What do they tell?", Content([f"Of {few()} people, nothing is told."]))]
    return [
        Built("tables", "What does each table tell, and all of them together?", _tables(found, releases)),
        Built("added", "How much do they add, and to how many people?", _added(found)),
        Built("means", "What does this mean?", Content(MEANING)),
    ]


def _in_short(found: Together) -> list[str]:
    means = found.means()
    called = [*(f'with "{name}"' for name in means["release"][:-1]), "with all of them together"]
    chances = [
        f"{span(low, high)} {name}" for low, high, name in zip(means["lower"], means["upper"], called, strict=True)
    ]
    without, asked = percent(means["baseline_lower"][0]), question(found.misses, found.steps)
    return [
        f"An adversary who knows a person's habits, and where everybody else is, can name {asked}: with a "
        f"chance of {without} on average without any of these tables, {', '.join(chances[:-1])}, and {chances[-1]}."
    ]


def _tables(found: Together, releases: Mapping[str, Release]) -> Content:
    means = found.means()
    first = means.row(0, named=True)
    levels = [name for name in means.columns if name.startswith("above_")]
    nothing = {"release": WITHOUT, "lower": first["baseline_lower"], "upper": first["baseline_lower"]}
    rows = pl.concat([pl.DataFrame([{**nothing, "people": first["people"]}]), means], how="diagonal_relaxed")
    about = {WITHOUT: "nothing", **{name: in_words(each) for name, each in releases.items()}, JOINT: "all of these"}
    rows = rows.with_columns(
        pl.col(levels).round(DIGITS),
        published=pl.col("release").replace_strict(about, default=""),
        people=pl.lit(found.sizes["measured"]),
    )
    columns: Columns = {
        "release": ("table", str),
        "published": ("what is published", str),
        "lower": ("chance: best attack found", percent),
        "upper": ("chance: bound if the habits are right", percent),
        **{name: (f"people surely above {percent(float(name[6:]))}", share_of_people) for name in levels},
        "people": ("people", "{:,}".format),
    }
    says = (
        f"The mean chance that an adversary names {question(found.misses, found.steps)}. Each bar goes from the best "
        "attack found (the dot) to the bound that no attack exceeds if the habits are right; the dashed line is the "
        "chance without any table."
    )
    lead = [
        "Each table was measured alone, and then all of them as one. Whoever has all knows at least as much as with "
        "one; tables that are harmless each may tell by their difference what each of them hides."
    ]
    figure = Figure("tables", "Each table, and all together", says, sheet(rows, columns, "tables.csv"), _bars(rows))
    return Content(lead, [figure])


def _bars(rows: pl.DataFrame) -> dict[str, Any]:
    drawn = rows.filter(pl.col("release") != WITHOUT).with_columns(label=chart.label(pl.col("release")))
    names = [chart.wrapped(name) for name in drawn["release"].to_list()]
    wanted = drawn.select("label", "release", "published", "lower", "upper", "people")
    base = alt.Chart(chart.values(wanted)).encode(
        y=alt.Y("label:N", title=None, sort=names, axis=alt.Axis(labelLimit=0)),
        tooltip=[
            chart.tip("release:N", "table"),
            chart.tip("published:N", "what is published"),
            chart.tip("lower:Q", "best attack found", chart.FINE),
            chart.tip("upper:Q", "bound if the habits are right", chart.FINE),
            chart.tip("people:Q", "people", ",d"),
        ],
    )
    # From 0 on, so small gaps look small: the table shows them.
    whole = alt.Scale(zero=True, nice=True)
    x = alt.X("lower:Q", title="mean chance to be found", axis=alt.Axis(format=chart.TICK, tickCount=6), scale=whole)
    bars = base.mark_rule(strokeWidth=6, opacity=0.4, color=chart.COLOURS[chart.BOUND]).encode(x=x, x2="upper:Q")
    found = base.mark_point(filled=True, size=110, opacity=1, color=chart.COLOURS[chart.FOUND]).encode(x=x)
    bound = base.mark_tick(thickness=3, size=18, color=chart.COLOURS[chart.BOUND]).encode(x="upper:Q")
    without = alt.Data(values=[{"without": float(rows["lower"][0])}])  # type: ignore[no-untyped-call]
    line = alt.Chart(without).mark_rule(strokeDash=[6, 4], strokeWidth=2, color=chart.COLOURS[chart.WITHOUT])
    return chart.spec(
        alt.layer(line.encode(x="without:Q"), bars, bound, found), 50 + chart.tall(names, 34) * len(names)
    )


def _added(found: Together) -> Content:
    rows = added(found).with_columns(pl.col("sure", "most").round(DIGITS))
    lead = [
        "What all tables together add to a person's chance with the one table that tells most of them. Added for sure "
        "is what the best attack found with all has more than the bound with any one; added at most, the bound with "
        "all less the best attack found with any one."
    ]
    if rows["most"][0] == 0:
        lead.append(f"They add {100 * ADDED[0]:g} point or more to nobody.")
    columns: Columns = {
        "level": ("points or more", lambda level: f"{100 * level:g}"),
        "sure": (AT_LEAST, share_of_people),
        "most": (AT_MOST, share_of_people),
        "people": ("people", "{:,}".format),
    }
    says = (
        f"The share of people to whom so many points or more are added. Shares that would tell of {few()} are left out."
    )
    drawn = _steps(rows) if rows.select(pl.max_horizontal("sure", "most").max()).item() else None
    return Content(lead, [Figure("added", "Points that are added", says, sheet(rows, columns, "added.csv"), drawn)])


def added(found: Together) -> pl.DataFrame:
    """The share of people to whom all tables together add each of some levels or more: for sure, and at most."""
    wide = found.measured.pivot(on="release", index="person", values=["lower", "upper"])
    ends = {
        end: wide.select(f"{end}_{name}" for name in found.names).to_numpy().max(axis=1) for end in ("lower", "upper")
    }
    sure = np.maximum(0.0, wide[f"lower_{JOINT}"].to_numpy() - ends["upper"])
    most = np.maximum(0.0, wide[f"upper_{JOINT}"].to_numpy() - ends["lower"])
    told = nested_shares([counting(sure), counting(most)], len(sure), ADDED, (1, 0), (1,))
    return pl.DataFrame(
        {
            "level": ADDED,
            "sure": told[0],
            "most": told[1],
            "people": [found.sizes["measured"]] * len(ADDED),
        },
        schema={"level": pl.Float64, "sure": pl.Float64, "most": pl.Float64, "people": pl.Int64},
    )


def _steps(rows: pl.DataFrame) -> dict[str, Any]:
    long = rows.rename({"sure": AT_LEAST, "most": AT_MOST}).unpivot(
        on=[AT_LEAST, AT_MOST], index=["level", "people"], variable_name="which", value_name="share"
    )
    drawn = long.drop_nulls("share").with_columns(points=(100 * pl.col("level")).cast(pl.String).str.strip_suffix(".0"))
    order = [f"{100 * level:g}" for level in ADDED]
    base = alt.Chart(chart.values(drawn)).encode(
        x=alt.X("points:N", title="points or more", sort=order, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("which:N", sort=[AT_LEAST, AT_MOST]),
        y=alt.Y("share:Q", title="share of people", axis=alt.Axis(format=chart.TICK), scale=alt.Scale(domain=[0, 1])),
        color=alt.Color(
            "which:N",
            scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
            legend=alt.Legend(orient="top", title=None, labelLimit=0),
        ),
        tooltip=[
            chart.tip("which:N", ""),
            chart.tip("points:N", "points or more"),
            chart.tip("share:Q", "", chart.FINE),
        ],
    )
    return chart.spec(base.mark_bar(), 240)


def in_words(release: Release) -> str:
    """The published parts of a release.

    >>> from passerby import Moved, Present
    >>> in_words(Release([0, [1, 2]])), in_words(Release(counts=[Present([0, 1], 0), Moved([0], [1], 0)], steps=2))
    ('3 numbers of people at places, raw counts', '1 number of people in zones and 1 of flows, raw counts')
    """
    kinds: dict[str, int] = {}
    for count in release.listed:
        kinds[count.noun] = kinds.get(count.noun, 0) + 1
    parts = [f"{n:,} of {what}" for what, n in kinds.items()]
    first, *rest = parts or ["0 of people"]
    number, _, what = first.partition(" of ")
    words = [f"{number} number{'' if number == '1' else 's'} of {what}", *rest]
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    ways = dict.fromkeys(mechanism(repr(way)) for way in release.ways)
    return f"{listed}, {'; '.join(ways)}"


def _facts(found: Together, releases: Mapping[str, Release]) -> list[tuple[str, str]]:
    sizes = found.sizes
    rest = f"; {group(sizes['not'])} could not be measured with all of them" if sizes["not"] else ""
    about = "about " if sizes["not"] == FEW else ""
    return [
        ("People", f"{found.people:,}: {about}{sizes['measured']:,} measured with each table and with all{rest}"),
        ("Steps", f"{found.steps:,}"),
        ("Misses", f"{found.misses:,}"),
        *((f"Table {name}", in_words(release)) for name, release in releases.items()),
    ]
