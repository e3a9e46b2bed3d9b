"""How the answer falls from an insider to an acquaintance: presence and membership by the share of the others known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from passerby.audits.record import ShareAnswers
from passerby.questions.profiles import ACQUAINTANCE, INSIDER, PARTLY
from passerby.report import chart
from passerby.report.evidence import PARTLY_KNOWN, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import of_hundred
from passerby.support.numbers import percent

TITLE = "Found, by the share of the others who are known"
COUNTED, THERE = "being counted at all", "presence at the place"
SAYS = (
    "Of 100 people for whom it is so, how many a test finds that wrongly says so of 1 of 100 others, by the share of "
    "the other people whose places are known: 0 % is an acquaintance, and 100 % an insider. The thick line is what a "
    "test was found to do, and the thin one what no test exceeds if the habits are right."
)
ORDER = (
    "Whoever knows more finds no less: always of raw counts and of noise, and on average over where the known ones are "
    "of rules such as rounding: their line may fall. Who is known was drawn once, and is where they were that day."
)
#: Colours of presence and of membership, and their dashes.
STYLES = {THERE: (chart.COLOURS[chart.BOUND], [1, 0]), COUNTED: (chart.COLOURS[chart.WITHOUT], [6, 3])}


def build(evidence: Evidence) -> Content:
    """Words, and a chart and a table of both questions."""
    found = evidence.summary.known_shares
    table = rows(found, evidence)
    figure = Figure("known-shares", TITLE, SAYS, sheet(table, COLUMNS, "known-shares.csv"), picture(table))
    return Content([*words(found, evidence), ORDER], [figure])


def _about(found: ShareAnswers, evidence: Evidence) -> str:
    """What is asked, in words."""
    return COUNTED if found.place is None else f"presence at {evidence.called.get(found.place, found.place)}"


def words(found: Sequence[ShareAnswers], evidence: Evidence) -> list[str]:
    """Each question in one sentence: from the strongest to the weakest."""
    out = []
    for question in dict.fromkeys(each.question for each in reversed(found)):
        own = [each for each in reversed(found) if each.question == question]
        place = own[0].place
        who = "are in the data" if place is None else f"were at {evidence.called.get(place, place)}"
        said = "; ".join(f"{_finder(each.share)} finds {of_hundred(each.power)}" for each in own)
        out.append(f"Of 100 people who {who}, {said}.")
    return out


def _finder(share: float) -> str:
    """Who finds them."""
    if share in (0, 1):
        return f"an {INSIDER.name if share else ACQUAINTANCE.name}"
    return f"whoever knows {percent(share)} of the others"


#: The columns of the table.
COLUMNS: Columns = {
    "about": ("of", str),
    "profile": ("adversary", str),
    "share": ("knows of the others", percent),
    "power_lower": ("found, at least", percent),
    "power_upper": ("at most", percent),
    "advantage_lower": ("advantage, at least", percent),
    "advantage_upper": ("at most", percent),
    "people": ("mean of (people)", "{:,}".format),
}


def rows(found: Sequence[ShareAnswers], evidence: Evidence) -> pl.DataFrame:
    """A row for each question and share, from the weakest."""
    names = {0.0: ACQUAINTANCE.name, 1.0: INSIDER.name}
    out = [
        (
            _about(each, evidence),
            names.get(each.share, PARTLY.name),
            each.share,
            *(each.power.lower, each.power.upper, each.advantage.lower, each.advantage.upper),
            each.people,
        )
        for each in found
    ]
    kinds = dict.fromkeys([*COLUMNS][2:-1], pl.Float64)
    schema = {"about": pl.String, "profile": pl.String, **kinds, "people": pl.Int64}
    return pl.DataFrame(out, schema=schema, orient="row")


def picture(table: pl.DataFrame) -> dict[str, Any]:
    """A band for each question, from nobody known on the left to everybody on the right."""
    # Names of places may be longer than a small screen has room for.
    shown = table.with_columns(which=pl.when(pl.col("about") == COUNTED).then(pl.lit(COUNTED)).otherwise(pl.lit(THERE)))
    order = [name for name in (THERE, COUNTED) if name in set(shown["which"])]
    colours, dashes = ([STYLES[name][k] for name in order] for k in (0, 1))
    legend = chart.names_above(symbolOpacity=1, **chart.STROKE)
    base = alt.Chart(chart.values(shown)).encode(
        x=alt.X("share:Q", title="share of the others who are known", axis=alt.Axis(format=chart.TICK, tickCount=5)),
        color=alt.Color("which:N", scale=alt.Scale(domain=order, range=colours), legend=legend),
        tooltip=[
            chart.tip("about:N", "of"),
            chart.tip("profile:N", "adversary"),
            chart.tip("share:Q", "knows of the others", chart.PERCENT),
            chart.tip("power_lower:Q", "found, at least", chart.FINE),
            chart.tip("power_upper:Q", "at most", chart.FINE),
            chart.tip("people:Q", "mean of (people)", ",d"),
        ],
    )
    axis = alt.Axis(format=chart.TICK, tickCount=5)
    y = alt.Y("power_lower:Q", title="share found", axis=axis, scale=chart.unit())
    dash = alt.StrokeDash("which:N", scale=alt.Scale(domain=order, range=dashes), legend=legend)
    band = base.mark_area(opacity=0.25).encode(y=y, y2="power_upper:Q")
    edges = base.mark_line(point={"size": 45, "filled": True}, strokeWidth=2).encode(y=y, strokeDash=dash)
    upper = base.mark_line(strokeWidth=1).encode(y=alt.Y("power_upper:Q"), strokeDash=dash)
    return chart.spec(alt.layer(band, upper, edges), 220)


SECTION = Section("known_shares", "How much does it help to know some of the others?", build, needs=(PARTLY_KNOWN,))
