"""Evidence on presence at a counted place, by place, by way to publish and by hour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from passerby.audits.record import Bracket, PlaceAnswers
from passerby.report import chart
from passerby.report.evidence import PRESENCE, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import (
    HABITS,
    HARDLY,
    INSIDER,
    POWER,
    WHO,
    Spot,
    in_groups,
    lead,
    of_hundred,
    spots,
    visitors,
)
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW

#: The adversaries as charts and tables call them.
NAMES = {INSIDER: chart.INSIDER, HABITS: chart.HABITS}
#: Where no upper end is below that for known others, as where counts cover everything.
ALL_OPEN = (
    f"For {WHO[HABITS]}, no end below that for {WHO[INSIDER]} could be certified at any place. It rests on telling "
    "where others were at every second step. If exact counts cover all places, nothing is left unknown then. The truth "
    "may be lower."
)
#: The way in which counts are published as they are.
RAW = "raw"
PLACES = (
    "For each counted place, sensitive ones first: of 100 people who were there, how many an adversary finds by a test "
    "that wrongly accuses 1 of 100 who were not. The mark is what a test was found to do; the line goes up to what no "
    "test exceeds if the habits are right. Where there is no line, both are the same."
)
WAYS = (
    "Other ways to publish the same counts, for an acquaintance, who knows everybody's habits alone: of 100 people who "
    "were there, how many are found by the most telling single count. All counts of a day together tell more: the "
    "table has this for the places that tell most, tried on few people."
)
WAYS_ADVANTAGE = (
    "Other ways to publish the same counts, for an acquaintance, who knows everybody's habits alone: what the most "
    "telling single count tells, from 0 (nothing) to 100 (for certain). All counts of a day together tell more: the "
    "table has this for the places that tell most, tried on few people."
)
HOURS = (
    "Each cell is one count by itself, for an acquaintance, who knows everybody's habits alone: what it tells at most "
    "of whoever is counted in it, from 0 % (nothing) to 100 % (for certain). Counts of few people tell most. Other "
    "pictures are means over all who were there at any time, of whom few may have been there then."
)


def build(evidence: Evidence) -> Content:
    """Words, and charts by place, by way to publish and by hour."""
    every = spots(evidence.summary.presence, evidence.called)
    table = rows(every)
    by_place = sheet(table, COLUMNS, "presence.csv")
    figures = [Figure("presence", "Place by place", _more(PLACES, every), by_place, picture(table))]
    if (ways := by_way(every)).height:
        says = WAYS if ways["power"].count() else WAYS_ADVANTAGE
        file = sheet(ways, WAY_COLUMNS, "presence-ways.csv")
        figures.append(Figure("presence-ways", "Ways to publish", says, file, ways_picture(ways)))
    if (hours := by_hour(every, evidence.steps)).height:
        file = sheet(hours, HOUR_COLUMNS, "presence-hours.csv")
        figures.append(Figure("presence-hours", "Hour by hour", HOURS, file, hours_picture(hours)))
    return Content(words(evidence, every), figures)


def words(evidence: Evidence, every: Sequence[Spot]) -> list[str]:
    """The answer for the first places, the meaning of a test, and the effect of ways to publish."""
    said = [POWER]
    if evidence.release.size > 1:
        said.append(in_groups(evidence.release.size))
    if evidence.release.plain and all_open(every):
        said.append(ALL_OPEN)
    return [*lead(evidence.summary, evidence.called), *said, *of_ways(every)]


def all_open(every: Sequence[Spot]) -> bool:
    """Whether no upper end for somebody who knows habits is below that for an insider, at any place."""
    found = [spot.found(HABITS) for spot in every]
    return bool(found) and all(power is not None and power.upper >= 1 for power in found)


def of_ways(every: Sequence[Spot]) -> list[str]:
    """What other ways to publish would leave, at the first place: the one that is sensitive, or that tells most.

    A way is praised for what all counts of a day tell; what a single count tells is less, and praises nothing.
    """
    first = next((spot for spot in every if spot.habits and spot.habits.ways), None)
    if first is None or first.habits is None:
        return []
    day = {each.way: each.day for each in first.habits.ways if each.day is not None}
    if not day:
        single = next((each.power for each in first.habits.ways if each.way == RAW and each.power is not None), None)
        if single is None:
            return []
        return [
            f"By the single count of {first.words} that tells most, to {WHO[HABITS]}: {_found(single)} of 100 people "
            "who were there are found if it is exact. What all counts of a day tell if they are published in another "
            "way was not tried."
        ]
    some = min((each.day_people for each in first.habits.ways if each.day_people), default=FEW)
    who = f"By all counts of the day, tried on about {some} people, to {WHO[HABITS]}, of 100 who were at {first.words}"
    enough = [way for way, found in day.items() if found.upper <= HARDLY and way != RAW]
    least = min((way for way in day if way != RAW), key=lambda way: (day[way].upper, day[way].lower), default=RAW)
    raw = f"{of_hundred(day[RAW])} are found if counts are exact" if RAW in day else ""
    best = (
        f"about {_found(HARDLY)} or fewer are with {_either(enough)}"
        if enough
        else f"of the other ways that were tried, {least} leaves least: {of_hundred(day[least])}"
        if least != RAW
        else ""
    )
    return [f"{who}: {'; '.join(filter(None, [raw, best]))}. On so few people this is a hint and no limit."]


def _either(names: list[str]) -> str:
    """One of these.

    >>> _either(["noise 2"]), _either(["rounded to 10", "noise 1", "noise 2"])
    ('noise 2', 'rounded to 10, noise 1 or noise 2')
    """
    return " or ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def _found(share: float) -> str:
    return f"{100 * share:.0f}"


def _more(says: str, every: Sequence[Spot]) -> str:
    out = says
    if len(every) > chart.PLACES:
        out += f" The first {chart.PLACES} places are shown."
    if any(spot.known.power is None for spot in every):
        out += (
            f" Of places about which it is open for fewer than {FEW} people of the sample, the picture tells nothing."
        )
    return out


def _share(value: float | None) -> str:
    return "not told" if value is None else percent(value)


def _tried(value: float | None) -> str:
    return "not tried" if value is None else percent(value)


def _tried_on(value: int | None) -> str:
    return "not tried" if value is None else f"about {value:,}"


def _people(value: int | None) -> str:
    return "not told" if value is None else f"{value:,}"


#: The columns of the table by place.
COLUMNS: Columns = {
    "place": ("place", str),
    "what": ("what it is", str),
    "adversary": ("adversary", str),
    "visitors": ("were there", str),
    "chance": ("chance to be there, before", _share),
    "power_lower": ("found, at least", _share),
    "power_upper": ("at most", _share),
    "certain_lower": ("90 % certain, at least", _share),
    "certain_upper": ("at most", _share),
    "advantage_lower": ("advantage, at least", _share),
    "advantage_upper": ("at most", _share),
    "people": ("mean of (people)", _people),
}


def rows(every: Sequence[Spot]) -> pl.DataFrame:
    """A row for each place and adversary, in order; numbers are null if they rest on fewer than five people."""
    out = []
    for spot in every:
        what = spot.label or ("sensitive" if spot.sensitive else "")
        for found in (spot.habits, spot.insider):
            if found is not None:
                ends = (*_ends(found.power), *_ends(found.certain), *_ends(found.advantage))
                known = found.power is not None
                there = visitors(found) if known else "not told"
                about = (spot.name, what, NAMES[found.adversary], there, found.chance)
                out.append((*about, *ends, found.people if known else None))
    text = dict.fromkeys(("place", "what", "adversary", "visitors"), pl.String)
    numbers = dict.fromkeys([*COLUMNS][4:-1], pl.Float64)
    return pl.DataFrame(out, schema={**text, **numbers, "people": pl.Int64}, orient="row")


def _ends(found: Bracket | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found.lower, found.upper)


def picture(table: pl.DataFrame) -> dict[str, Any]:
    """Places from above, and the share of people there found by each adversary."""
    told = table.filter(pl.col("power_lower").is_not_null())
    order = told["place"].unique(maintain_order=True).to_list()[: chart.PLACES]
    drawn = told.filter(pl.col("place").is_in(order))
    drawn = drawn.with_columns(label=chart.label(pl.col("place")))
    shown = [name for name in (chart.HABITS, chart.INSIDER) if name in set(drawn["adversary"])]
    colours, marks = [chart.COLOURS[name] for name in shown], {chart.HABITS: "circle", chart.INSIDER: "diamond"}
    axis = alt.Axis(format=chart.TICK, tickCount=5)
    legend = chart.names_above(labelFontSize=11)
    base = alt.Chart(chart.values(drawn)).encode(
        y=alt.Y(
            "label:N",
            title=None,
            sort=None,
            scale=alt.Scale(domain=[chart.wrapped(name) for name in order], paddingInner=0.25),
            axis=alt.Axis(labelLimit=0),
        ),
        yOffset=alt.YOffset("adversary:N", sort=shown),
        color=alt.Color("adversary:N", scale=alt.Scale(domain=shown, range=colours), legend=legend),
        tooltip=[
            chart.tip("place:N"),
            chart.tip("what:N", "what it is"),
            chart.tip("adversary:N"),
            chart.tip("power_lower:Q", "found, at least", chart.PERCENT),
            chart.tip("power_upper:Q", "at most", chart.PERCENT),
            chart.tip("certain_lower:Q", "90 % certain, at least", chart.PERCENT),
            chart.tip("chance:Q", "chance to be there", chart.FINE),
            chart.tip("visitors:N", "really there"),
            chart.tip("people:Q", "mean of (people)", ",d"),
        ],
    )
    x = alt.X("power_lower:Q", title="share found", axis=axis, scale=chart.unit())
    shapes = alt.Scale(domain=shown, range=[marks[name] for name in shown])
    lines = base.mark_rule(strokeWidth=3, opacity=0.55).encode(x=x, x2="power_upper:Q")
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x, shape=alt.Shape("adversary:N", scale=shapes, legend=legend)
    )
    return chart.spec(lines + points, chart.tall(order, 16 + 14 * len(shown)) * len(order))


#: The columns of the table by way to publish.
WAY_COLUMNS: Columns = {
    "place": ("place", str),
    "way": ("way to publish", str),
    "power": ("found by one count", _share),
    "advantage": ("advantage of one count", _share),
    "people": ("mean of (people)", "{:,}".format),
    "day_lower": ("found by all counts, from", _tried),
    "day_upper": ("to", _tried),
    "day_people": ("tried on (people)", _tried_on),
}


def by_way(every: Sequence[Spot]) -> pl.DataFrame:
    """A row for each place and way to publish."""
    told = [spot.habits for spot in every if spot.habits and spot.habits.power is not None]
    names = {id(spot.habits): spot.name for spot in every}
    out = [
        (names[id(each)], way.way, way.power, way.advantage, each.people, *_ends(way.day), way.day_people)
        for each in told
        for way in each.ways
    ]
    kinds = {"place": pl.String, "way": pl.String, "power": pl.Float64, "advantage": pl.Float64, "people": pl.Int64}
    days = dict.fromkeys(("day_lower", "day_upper"), pl.Float64)
    return pl.DataFrame(out, schema={**kinds, **days, "day_people": pl.Int64}, orient="row")


def ways_picture(ways: pl.DataFrame) -> dict[str, Any]:
    """Places from above, ways to publish from the left, and of 100 people so many in each cell."""
    places = ways["place"].unique(maintain_order=True).to_list()[: chart.PLACES]
    order = ways["way"].unique(maintain_order=True).to_list()
    measure = "power" if ways["power"].count() else "advantage"
    drawn = ways.filter(pl.col("place").is_in(places) & pl.col(measure).is_not_null()).with_columns(
        label=chart.label(pl.col("place")),
        of_hundred=pl.col(measure).map_elements(_found, return_dtype=pl.String),
        share=pl.col(measure),
    )
    gap, names = alt.Scale(paddingInner=0.03), [chart.wrapped(place) for place in places]
    base = alt.Chart(chart.values(drawn)).encode(
        x=alt.X("way:N", title=None, scale=gap, sort=order, axis=alt.Axis(labelAngle=-90, labelLimit=0)),
        y=alt.Y("label:N", title=None, scale=gap, sort=names, axis=alt.Axis(labelLimit=0)),
        tooltip=[
            chart.tip("place:N"),
            chart.tip("way:N", "way to publish"),
            chart.tip("power:Q", "found by one count", chart.FINE),
            chart.tip("advantage:Q", "advantage of one count", chart.FINE),
            chart.tip("day_lower:Q", "found by all counts, from", chart.FINE),
            chart.tip("day_upper:Q", "to", chart.FINE),
            chart.tip("day_people:Q", "tried on (people)", ",d"),
            chart.tip("people:Q", "mean of (people)", ",d"),
        ],
    )
    # Letters are dark on a light page and light on a dark one: cells of one colour, more or less full, suit both.
    fullness = alt.FillOpacity("share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.03, 0.6]))
    cells = base.mark_rect(color=FILL, stroke=chart.GREY, strokeWidth=0.4).encode(fillOpacity=fullness)
    numbers = base.mark_text(fontSize=11).encode(text="of_hundred:N")
    return chart.spec(cells + numbers, chart.tall(places, 28) * len(places))


#: The columns of the table by hour.
HOUR_COLUMNS: Columns = {
    "place": ("place", str),
    "step": ("step", str),
    "start": ("begins", str),
    "expected": ("expected there (people)", lambda value: f"fewer than {FEW}" if value is None else f"{value:,.0f}"),
    "advantage": ("this count tells, at most", percent),
    "people": ("place has (people who may well be there)", "{:,}".format),
}


def by_hour(every: Sequence[Spot], starts: Sequence[str]) -> pl.DataFrame:
    """A row for each place and step: step (from 1), its start, and the evidence of the count."""
    out = []
    for spot in every:
        found: PlaceAnswers | None = spot.habits
        if found is None or found.power is None:
            continue
        out += [
            (spot.name, each.step + 1, starts[each.step], each.people, each.advantage, found.people)
            for each in found.by_step
        ]
    kinds = {"place": pl.String, "step": pl.Int64, "start": pl.String, "expected": pl.Float64, "advantage": pl.Float64}
    return pl.DataFrame(out, schema={**kinds, "people": pl.Int64}, orient="row")


def hours_picture(hours: pl.DataFrame) -> dict[str, Any]:
    """Places by steps, and the evidence of each count."""
    order = hours["place"].unique(maintain_order=True).to_list()[: chart.PLACES]
    tips = [
        chart.tip("advantage:Q", "this count tells, at most", chart.PERCENT),
        chart.tip("expected:Q", "people expected there", ",d"),
    ]
    colour = alt.Color(
        "advantage:Q",
        title="tells, at most",
        scale=alt.Scale(scheme="viridis", domain=[0, 1]),
        legend=chart.legend(format=chart.TICK),
    )
    base = chart.cells(hours, order, tips, clock=True)
    return chart.spec(base.mark_rect().encode(color=colour), 20 + chart.tall(order, 22) * len(order))


#: The colour of cells of ways: it is seen on white and on dark.
FILL = "#d55e00"

SECTION = Section("presence", "Can it be told that somebody was at a place?", build, needs=(PRESENCE,))
