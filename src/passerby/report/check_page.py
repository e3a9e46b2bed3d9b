"""The page of a table under check before publication: its evidence on personas, and the readers' loss.

It holds the table's own numbers and figures about people in words, so it reveals nobody.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from passerby.mechanisms import Mechanism
from passerby.support.numbers import percent, size, span
from passerby.tables.check import COUNTED, EACH, PRESENCE, TRACE, WEEKS, CheckAnswer, TableCheck
from passerby.tables.days import NEVER, PersonaDay, PersonaDays
from passerby.tables.read import CountTable
from passerby.tables.ways import HABITS, INSIDER, LITTLE

from . import chart
from .page import filled
from .section import Built, Cell, Columns, Content, Figure, Sheet, sheet

TITLE = "A table of counts, before it is published"
LEAD = "What the counts would tell of people who are described in words: no trace of anybody was used."
ENDS = ("lower", "upper")
#: Weeks of a year.
YEAR = WEEKS[-1]
INDEPENDENT = (
    "Figures for whoever knows only how many come on average hold if others come independently of each other. Regular "
    "visitors are easier to foretell, and then the counts tell more."
)
CARRIES = (
    "All figures hold for the numbers of this table alone. Rounded or hidden counts of another week may tell an "
    "insider more: check each table before it is published."
)
#: Who asks: a mark that is seen at a glance, and a word.
WHO = {INSIDER: "■ insider", HABITS: "○ habits"}
ALL, ONLY = "whoever knows where everybody else was", "whoever knows only how many come on average"
ASSUMPTIONS = [
    "Personas are people in words: each lives by its week, and by nothing else. Their numbers are assumptions.",
    "The insider is taken to know the number of others in each count: the counts of the table as they are. A persona "
    "may be one of the people who were counted, or come in addition: the worse of both is told. Of expected sizes the "
    "insider is taken to know how many come each time.",
    "Whoever knows the others by their habits is taken to know how many come on average: the counts of the table. That "
    "others come independently of each other, by the Poisson law, is an assumption. In truth many of the people of one "
    "hour are those of the hour before, so that counts of several hours tell more than this adversary makes of them.",
    "For each place one day is looked at: of the days on which the persona is likely there, the one whose counts tell "
    "most. What the table says of other days, what it tells by hidden cells and by totals, and other tables about the "
    "same people are left out.",
    "Where counts cover everybody and their total is known, the number of others follows from the total: nothing below "
    "the insider's figures can be certified then.",
    "Weeks: the same counts are published each week, the persona lives by the same week, and other people come anew.",
    CARRIES,
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
    out = [each for who in found.people for each in _of_persona(found, who)]
    if found.answers:
        out += [_best(found), INDEPENDENT, CARRIES]
    return [*out, *found.remarks]


def told_about(found: TableCheck, who: PersonaDays) -> list[str]:
    """The places of a persona in words: the first one, and the one of which whoever knows the habits is told most."""
    answers = [x for x in found.of(who.persona.name, PRESENCE) if x.way == found.ways[0].name and x.against == HABITS]
    places = [who.first, max(answers, key=lambda x: x.upper).place] if answers else []
    return [*dict.fromkeys(place for place in places if place)]


def _of_persona(found: TableCheck, who: PersonaDays) -> list[str]:
    """What the table as it is tells of a persona at these places, at once and after a year."""
    out = []
    name, first = who.persona.name, found.ways[0]
    about = f"{name} ({who.persona.about})" if who.persona.about else name
    for place in told_about(found, who):
        pair = [x for x in found.of(name, PRESENCE, place) if x.way == first.name]
        insider, habits = (next(x for x in pair if x.against == against) for against in (INSIDER, HABITS))
        if max(insider.upper, habits.upper) <= 0 and not 0 < habits.baseline < 1:
            never = "surely" if insider.baseline >= 0.5 else "never"
            out.append(f"{about}: is {never} at {place} on {habits.day}, whatever the counts say.")
            continue
        low, high = _range(who.most_telling(place, first.mechanism, HABITS), place)
        where = f"{place} on {habits.day}, where {_people(low, high)} counted at a time"
        other = "" if insider.day == habits.day else f" (on {insider.day})"
        out.append(
            f"{about}: was such a person at {where}? Published {first.name}: {_finds(insider, ALL)}{other}, and "
            f"{_finds(habits, ONLY)}, wrongly accusing 1 of 100 who were not. {_year(habits)}"
        )
        about = name
    counted = [x for x in found.of(name, COUNTED) if x.way == first.name and x.against == HABITS]
    return [*out, *(f"{name}: is such a person among the counted people at all? {_year(each)}" for each in counted)]


def _year(answer: CheckAnswer) -> str:
    """The advantage at once, and where the same goes on for a year."""
    year = span(*(answer.weeks or {})[YEAR])
    return f"The advantage of {ONLY} is {span(answer.lower, answer.upper)}, and {year} after a year of such weeks."


def _people(low: float, high: float) -> str:
    if low == high:
        return f"{size(low)} {'person is' if low == 1 else 'people are'}"
    return f"{size(low)} to {size(high)} people are"


def _range(day: PersonaDay, place: str) -> tuple[float, float]:
    """The counts while they are likeliest there."""
    chance, column = day.law[:, day.number(place)], day.counts(place)
    seen = ~np.isnan(column)
    there = column[seen & (chance >= chance[seen].max(initial=0.0) / 2)]
    return float(there.min()), float(there.max())


def _finds(answer: CheckAnswer, who: str) -> str:
    low, high = (round(100 * end) for end in answer.found or (0.0, 0.0))
    many = f"{low}" if low == high else f"{low} to {high}"
    return f"{who} finds {many} of 100 who were there"


def _best(found: TableCheck) -> str:
    """The way that costs readers least of those that show something and leave little to whoever knows the habits."""
    told = {way.name: max((x.upper for x in _at_places(found, way.name, HABITS)), default=0.0) for way in found.ways}
    kept = [name for name, most in told.items() if most <= LITTLE and found.readers[name].shown > 0]
    if any(who.on_part for who in found.people):
        return "No way is recommended: a day has more steps than are looked at."
    if not kept:
        return (
            f"None of the ways that were tried shows any count and leaves {ONLY} an advantage of {percent(LITTLE)} at "
            "most for sure."
        )
    name = min(kept, key=lambda each: (_cost(found, each), -found.readers[each].shown))
    partly = "For the hours that are shown alone: of" if any(who.unknown() for who in found.people) else "Of"
    return (
        f"{partly} the ways that were tried and leave {ONLY} an advantage of {percent(LITTLE)} at most, published "
        f"{name} costs readers least. {_then(found, name)} {found.readers[name].sentence}"
    )


def _then(found: TableCheck, way: str) -> str:
    """What a way leaves where it tells most, at once and after a year, by each adversary."""
    habits, insider = _at_places(found, way, HABITS), _at_places(found, way, INSIDER)
    several = len({(x.persona, x.place) for x in habits}) > 1
    year = "after a year of such weeks"

    def most(answers: Sequence[CheckAnswer], weeks: int) -> str:
        ends = [((x.weeks or {})[weeks] if weeks > 1 else (x.lower, x.upper), x) for x in answers]
        (low, high), worst = max(ends, key=lambda each: each[0][::-1])
        where = f" ({worst.persona} at {worst.place})" if several else ""
        return span(low, high) + where

    later = f", and {most(insider, YEAR)} {year}" if all(x.weeks for x in insider) else ""
    return (
        f"At any counted place that is examined, the advantage is {most(habits, 1)} then, and {most(habits, YEAR)} "
        f"{year}. For {ALL} it is {most(insider, 1)} with this week's numbers{later}."
    )


def _at_places(found: TableCheck, way: str, against: str) -> list[CheckAnswer]:
    return [x for x in found.answers if (x.way, x.against, x.question) == (way, against, PRESENCE)]


def _cost(found: TableCheck, way: str) -> float:
    total = found.readers[way].total
    return math.inf if total is None else float(f"{total:.2g}")


def sections(found: TableCheck) -> list[Built]:
    """The sections of the page, with their content."""
    told = [
        ("presence", "Can it be told that somebody was there?", _presence),
        ("counted", "Is somebody counted at all, and can their day be followed?", _others),
        ("weeks", "What if it goes on for weeks?", _weeks),
    ]
    built = [Built(key, title, build(found)) for key, title, build in told] if found.answers else []
    built.append(Built("readers", "What do readers lose?", _readers(found)))
    return [*built, Built("assumed", "What is assumed?", Content(ASSUMPTIONS))]


def in_words(table: pl.DataFrame, columns: Columns, file: str) -> Sheet:
    """A table about people in words: no row rests on any counted person."""
    return sheet(table.with_columns(people=pl.lit(None, pl.Int64)), columns, file)


def _rows(found: TableCheck, *questions: str) -> pl.DataFrame:
    rows = [
        {
            "persona": x.persona,
            "question": x.question,
            "place": x.place,
            "day": x.day,
            "way": x.way,
            "who": WHO[x.against],
            "baseline": x.baseline,
            "lower": x.lower,
            "upper": x.upper,
            "found_lower": None if x.found is None else x.found[0],
            "found_upper": None if x.found is None else x.found[1],
            "single": x.single,
            **{f"weeks_{w}_{end}": ends[k] for w, ends in (x.weeks or {}).items() for k, end in enumerate(ENDS)},
        }
        for x in sorted(found.answers, key=lambda x: x.against != HABITS)
        if x.question in questions
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _presence(found: TableCheck) -> Content:
    table = _rows(found, PRESENCE)
    lead = [
        "The advantage is how much better than by chance it can be told whether a persona was ever at the place on "
        "this day: 0 % where nothing is told, 100 % where it is certain. For an insider any raw count tells it for "
        "certain; somebody who knows only how many come on average is stopped by large counts, and not by small ones."
    ]
    columns: Columns = {
        "who": ("who asks", str),
        "persona": ("persona", str),
        "place": ("place", str),
        "day": ("day", str),
        "way": ("published", str),
        "baseline": ("was there, without the table", percent),
        "lower": ("advantage, at least", percent),
        "upper": ("advantage, at most", percent),
        "found_lower": ("found at 1 % false alarms, at least", percent),
        "found_upper": ("at most", percent),
        "single": ("by the most telling single count", percent),
    }
    says = f"Bars go from the smallest to the largest advantage of {ONLY} (○). The table has {ALL} (■), too."
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
        "who": ("who asks", str),
        "persona": ("persona", str),
        "question": ("question", str),
        "way": ("published", str),
        "baseline": ("without the table", percent),
        "lower": ("at least", percent),
        "upper": ("at most", percent),
    }
    says = f"Membership, each hour, and the whole day; ■ is {ALL}, and ○ {ONLY}."
    return Content(lead, [Figure("counted", "Other questions", says, in_words(table, columns, "questions.csv"))])


def _weeks(found: TableCheck) -> Content:
    table = _rows(found, PRESENCE, COUNTED).with_columns(
        asked=pl.when(pl.col("place") == "").then(pl.lit(COUNTED)).otherwise(pl.lit("at ") + pl.col("place"))
    )
    lead = [
        "The same counts each week, other people anew, and a persona who lives by the same week: what each week tells "
        "adds up. The question is if they come there every week or never, and if they are counted every week or never. "
        "What rounded and hidden counts tell an insider differs from week to week, and is left out."
    ]
    columns: dict[str, tuple[str, Cell]] = {
        "who": ("who asks", str),
        "persona": ("persona", str),
        "asked": ("question", str),
        "way": ("published", str),
    }
    for weeks in (1, 13, YEAR):
        many = "1 week" if weeks == 1 else f"{weeks} weeks"
        columns[f"weeks_{weeks}_lower"] = (f"{many}, at least", percent)
        columns[f"weeks_{weeks}_upper"] = ("at most", percent)
    says = f"The advantage of {ONLY}, with the table as it is: at least, and (dashed) at most."
    shown = in_words(table, columns, "weeks.csv")
    drawn = table.filter((pl.col("who") == WHO[HABITS]) & (pl.col("way") == found.ways[0].name))
    return Content(lead, [Figure("weeks", "Week after week", says, shown, _curves(drawn) if drawn.height else None)])


def _curves(table: pl.DataFrame) -> dict[str, Any]:
    """Advantages over weeks."""
    rows = [
        {"weeks": w, "label": f"{row['persona']}: {row['asked']}", "end": end, "advantage": row[f"weeks_{w}_{end}"]}
        for row in table.iter_rows(named=True)
        for w in WEEKS
        for end in ENDS
    ]
    line = (
        alt.Chart(chart.values(pl.DataFrame(rows).with_columns(people=pl.lit(None, pl.Int64))))
        .mark_line(point=True)
        .encode(
            x=alt.X("weeks:Q", title="weeks", scale=alt.Scale(type="log"), axis=alt.Axis(values=list(WEEKS))),
            y=alt.Y("advantage:Q", title="advantage", axis=alt.Axis(format=chart.TICK), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("label:N", legend=alt.Legend(title=None, orient="top", labelLimit=0, columns=1)),
            strokeDash=alt.StrokeDash("end:N", scale=alt.Scale(domain=list(ENDS), range=[[1, 0], [6, 4]]), legend=None),
            detail="end:N",
            tooltip=[chart.tip("label:N", ""), chart.tip("weeks:Q", "weeks"), chart.tip("advantage:Q", "", chart.FINE)],
        )
    )
    return chart.spec(line, 260)


def _readers(found: TableCheck) -> Content:
    rows = [{"way": name, **vars(losses)} for name, losses in found.readers.items()]
    columns: Columns = {
        "way": ("published", str),
        "shown": ("counts shown", percent),
        "error": ("error, people per count", size),
        "relative": ("error, share of the count", percent),
        "order": ("order of two places kept", percent),
        "change": ("sign of a change right", percent),
        "total": ("error in all", percent),
    }
    mean = next(iter(found.readers.values())).mean
    lead = [
        f"Worked out from the laws, for all counts that the table shows; they average {size(mean)}. Where two counts "
        "differ, their order is kept if the published ones differ the same way; a tie or a hidden count keeps nothing. "
        "The error in all is that of every count as a share of their sum, where a hidden one is taken for 0."
    ]
    table = pl.DataFrame(rows, infer_schema_length=None)
    return Content(
        lead, [Figure("readers", "What readers lose", "By way to publish.", in_words(table, columns, "readers.csv"))]
    )


def _facts(found: TableCheck) -> list[tuple[str, str]]:
    table = found.table
    days = [f"{each.persona.name}: {looked_at(each, found.ways[0].mechanism)}" for each in found.people]
    return [
        ("Table", size_of(table)),
        ("Time", f"{table.clock[0]:%Y-%m-%d %H:%M} to {table.clock[-1]:%Y-%m-%d %H:%M} ({table.calendar.timezone})"),
        ("Personas", "; ".join(days)),
    ]


def size_of(table: CountTable) -> str:
    """The file of a table, and how large it is."""
    places, steps = len(table.places), table.steps
    return f"{table.source}: {places:,} place{'s' * (places > 1)}, {steps:,} step{'s' * (steps > 1)}"


def looked_at(who: PersonaDays, way: Mechanism) -> str:
    """The day at each place of a persona whose counts tell most of presence there to whoever knows the habits."""
    days = [(x, who.most_telling(x, way, HABITS).day if who.examined(x) else "not examined") for x in who.places]
    return ", ".join(f"{place} ({day})" for place, day in days)


def screen_rows(found: TableCheck, who: PersonaDays, where: str) -> list[list[str]]:
    """The short table of a persona at a place: for each way presence, membership, and the whole day."""
    out = []
    for way in found.ways:
        cells = [way.name]
        for question, against in ((PRESENCE, INSIDER), (PRESENCE, HABITS), (COUNTED, HABITS), (TRACE, INSIDER)):
            place = where if question == PRESENCE else ""
            answer = next(
                x for x in found.of(who.persona.name, question, place) if x.way == way.name and x.against == against
            )
            cells.append(span(answer.lower, answer.upper))
        out.append(cells)
    return out
