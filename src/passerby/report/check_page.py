"""The page of a table under check before publication: its evidence on personas, and the readers' loss.

It holds the table's own numbers and figures about people in words, so it reveals nobody.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from passerby.support.numbers import percent, span
from passerby.tables.check import COUNTED, EACH, PRESENCE, TRACE, CheckAnswer, PersonaDay, TableCheck
from passerby.tables.ways import HABITS, INSIDER

from . import chart
from .page import filled
from .section import Built, Columns, Content, Figure, Sheet, sheet

TITLE = "A table of counts, before it is published"
LEAD = "What the counts would tell of people who are described in words: no trace of anybody was used."
#: The adversary, in words.
WHO = {INSIDER: "knows where everybody else was", HABITS: "knows how many others come on average"}
ONLY = "whoever knows only how many others come"
#: A chance to be at a place below this is next to none.
NEVER = 0.001
ASSUMPTIONS = [
    "Personas are people in words: each lives by its week, and by nothing else. Their numbers are assumptions.",
    "The insider is taken to know the number of others in each count: the counts of the table as they are. A persona "
    "may be one of the people who were counted, or come in addition: the worse of both is told.",
    "Whoever knows the others by their habits is taken to know how many come on average: the counts of the table. That "
    "others come independently of each other, by the Poisson law, is an assumption. In truth many of the people of one "
    "hour are those of the hour before, so that counts of several hours tell more than this adversary makes of them.",
    "What the table says of other days, what it tells by hidden cells and by totals, and other tables about the same "
    "people are left out.",
]


def render_check(found: TableCheck, words: Sequence[str] = ()) -> str:
    """The page as one HTML file that needs no other file and no network; `words` are the words of its command."""
    return filled(
        sections(found),
        title=TITLE,
        lead=LEAD,
        internal="",
        short=sentences(found),
        facts=_facts(found),
        settings=None,
        beside="",
        again=shlex.join(["passerby", "check", *words]) if words else "pb.check_table(...)",
    )


def sentences(found: TableCheck) -> list[str]:
    """The answers before the details."""
    out = []
    for day in found.days:
        out += _of_persona(found, day)
    best = _best(found)
    if best:
        out.append(best)
    return [*out, *found.remarks]


def _of_persona(found: TableCheck, day: PersonaDay) -> list[str]:
    """The table's evidence on a persona at the place of the question, and the way with the least evidence."""
    place, name = day.places[0], day.persona.name
    answers = found.of(name, PRESENCE, place)
    first = found.ways[0].name
    insider, habits = (next(x for x in answers if x.way == first and x.against == who) for who in (INSIDER, HABITS))
    low, high = _range(day, place)
    about = f"{name} ({day.persona.about})" if day.persona.about else name
    where = f"{place} on {day.day}, where {_people(low, high)} are counted at a time"
    if max(insider.upper, habits.upper) <= 0:
        never = "surely" if insider.baseline >= 0.5 else "never"
        return [f"{about}: is {never} at {place} on {day.day}, whatever the counts say."]
    one, other = _finds(insider, "whoever knows where everybody else was"), _finds(habits, ONLY)
    return [
        f"{about}: was such a person at {where}? Published {first}: {one}, and {other}, wrongly accusing 1 of 100 "
        "who were not."
    ]


def _people(low: float, high: float) -> str:
    return f"{low:g} people" if low == high else f"{low:g} to {high:g} people"


def _range(day: PersonaDay, place: str) -> tuple[float, float]:
    chance = day.prior.marginals(day.table.steps)[:, day.persona.places.index(place)]
    column = day.table.counts[:, day.column(place)]
    there = column[(chance >= chance.max() / 2) & (column == column)]
    there = there if len(there) else column[column == column]
    return (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)


def _finds(answer: CheckAnswer, who: str) -> str:
    low, high = (round(100 * end) for end in answer.found or (0.0, 0.0))
    many = f"{low}" if low == high else f"{low} to {high}"
    return f"{who} finds {many} of 100 who were there"


def _best(found: TableCheck) -> str:
    """The ways with little evidence for an adversary with the others' habits, with the readers' loss by each."""
    kept = []
    for way in found.ways[1:]:
        told = [x.upper for x in found.answers if x.way == way.name and x.against == HABITS and x.question == PRESENCE]
        if told:
            kept.append((max(told), way.name))
    if not kept:
        return ""
    least, name = min(kept)
    insider = max(x.upper for x in found.answers if x.way == name and x.against == INSIDER and x.question == PRESENCE)
    return (
        f"Of the ways that were tried, {name} tells least to {ONLY}: an advantage of {percent(least)} at most, at any "
        f"counted place, and of {percent(insider)} at most to whoever knows where everybody else was. "
        f"{found.readers[name].sentence}"
    )


def sections(found: TableCheck) -> list[Built]:
    """The sections of the page, with their content."""
    return [
        Built("presence", "Can it be told that somebody was there?", _presence(found)),
        Built("counted", "Is somebody counted at all, and can their day be followed?", _others(found)),
        Built("readers", "What do readers lose?", _readers(found)),
        Built("assumed", "What is assumed?", Content(ASSUMPTIONS)),
    ]


def in_words(table: pl.DataFrame, columns: Columns, file: str) -> Sheet:
    """A table about people in words: no row rests on any counted person."""
    return sheet(table.with_columns(people=pl.lit(None, pl.Int64)), columns, file)


def _rows(found: TableCheck, *questions: str) -> pl.DataFrame:
    rows = [
        {
            "persona": x.persona,
            "question": x.question,
            "place": x.place,
            "way": x.way,
            "who": WHO[x.against],
            "baseline": x.baseline,
            "lower": x.lower,
            "upper": x.upper,
            "found_lower": None if x.found is None else x.found[0],
            "found_upper": None if x.found is None else x.found[1],
            "single": x.single,
        }
        for x in found.answers
        if x.question in questions
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _presence(found: TableCheck) -> Content:
    table = _rows(found, PRESENCE)
    lead = [
        "The advantage is how much better than by chance it can be told whether a persona was ever at the place on "
        "this day: 0 % where nothing is told, 100 % where it is certain. For an insider any raw count tells it for "
        "certain; somebody who knows only how many others come is stopped by large counts, and not by small ones."
    ]
    columns: Columns = {
        "persona": ("persona", str),
        "place": ("place", str),
        "way": ("published", str),
        "who": ("whoever", str),
        "baseline": ("was there, without the table", percent),
        "lower": ("advantage, at least", percent),
        "upper": ("advantage, at most", percent),
        "found_lower": ("found at 1 % false alarms, at least", percent),
        "found_upper": ("at most", percent),
        "single": ("by the most telling single count", percent),
    }
    says = (
        "Each bar goes from the smallest to the largest advantage, for somebody who knows how many others come. The "
        "table has both adversaries."
    )
    shown = in_words(table, columns, "presence.csv")
    return Content(lead, [Figure("presence", "Presence at counted places", says, shown, _bars(table))])


def _bars(table: pl.DataFrame) -> dict[str, Any]:
    """Advantages of whoever knows the others by their habits, by persona and place, and by way."""
    drawn = table.filter((pl.col("who") == WHO[HABITS]) & (pl.col("baseline") > NEVER)).with_columns(
        label=pl.col("persona") + " at " + pl.col("place") + ", " + pl.col("way")
    )
    base = alt.Chart(
        chart.values(drawn.select("label", "way", "lower", "upper", people=pl.lit(None, pl.Int64)))
    ).encode(
        y=alt.Y("label:N", title=None, sort=drawn["label"].to_list(), axis=alt.Axis(labelLimit=0)),
        tooltip=[
            chart.tip("label:N", ""),
            chart.tip("lower:Q", "advantage, at least", chart.FINE),
            chart.tip("upper:Q", "advantage, at most", chart.FINE),
        ],
    )
    whole = alt.Scale(domain=[0, 1])
    x = alt.X("lower:Q", title="advantage", axis=alt.Axis(format=chart.TICK), scale=whole)
    bars = base.mark_rule(strokeWidth=6, opacity=0.4, color=chart.COLOURS[chart.BOUND]).encode(x=x, x2="upper:Q")
    ends = base.mark_point(filled=True, size=80, opacity=1, color=chart.COLOURS[chart.FOUND]).encode(x=x)
    return chart.spec(alt.layer(bars, ends), 60 + 22 * drawn.height)


def _others(found: TableCheck) -> Content:
    table = _rows(found, COUNTED, EACH, TRACE)
    lead = [
        "Whether a persona is counted at all is an advantage, as above. Where they are each hour, and on the whole day "
        "but for one step in eight, are chances of the best guess, beside the chance without the table."
    ]
    columns: Columns = {
        "persona": ("persona", str),
        "question": ("question", str),
        "way": ("published", str),
        "who": ("whoever", str),
        "baseline": ("without the table", percent),
        "lower": ("at least", percent),
        "upper": ("at most", percent),
    }
    says = "Membership, each hour, and the whole day."
    return Content(lead, [Figure("counted", "Other questions", says, in_words(table, columns, "questions.csv"))])


def _readers(found: TableCheck) -> Content:
    rows = [{"way": name, **vars(losses)} for name, losses in found.readers.items()]
    columns: Columns = {
        "way": ("published", str),
        "shown": ("counts shown", percent),
        "error": ("error, people per count", lambda x: f"{x:.2g}"),
        "relative": ("error, share of the count", percent),
        "order": ("order of two places kept", percent),
        "change": ("sign of a change right", percent),
        "total": ("error in all", percent),
    }
    mean = next(iter(found.readers.values())).mean
    lead = [
        f"Worked out from the laws, for all counts of the table; they average {mean:.2g}. Where two counts differ, "
        "their order is kept if the published ones differ the same way; a tie or a hidden count keeps nothing. The "
        "error in all is that of every count as a share of their sum, where a hidden one is taken for 0."
    ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    return Content(
        lead, [Figure("readers", "What readers lose", "By way to publish.", in_words(table, columns, "readers.csv"))]
    )


def _facts(found: TableCheck) -> list[tuple[str, str]]:
    table = found.table
    days = [f"{day.persona.name}: {', '.join(day.places)}, on {day.day}" for day in found.days]
    return [
        ("Table", f"{table.source}: {len(table.places):,} places, {table.steps:,} steps"),
        ("Time", f"{table.clock[0]:%Y-%m-%d %H:%M} to {table.clock[-1]:%Y-%m-%d %H:%M} ({table.calendar.timezone})"),
        ("Personas", "; ".join(days)),
    ]


def screen_rows(found: TableCheck, day: PersonaDay) -> list[list[str]]:
    """The short table of a persona: for each way presence by both adversaries, membership, and the whole day."""
    out = []
    for way in found.ways:
        cells = [way.name]
        for question, who in ((PRESENCE, INSIDER), (PRESENCE, HABITS), (COUNTED, HABITS), (TRACE, INSIDER)):
            place = day.places[0] if question == PRESENCE else ""
            answer = next(
                x for x in found.of(day.persona.name, question, place) if x.way == way.name and x.against == who
            )
            cells.append(span(answer.lower, answer.upper))
        out.append(cells)
    return out
