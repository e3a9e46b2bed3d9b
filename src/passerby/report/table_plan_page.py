"""The page of a plan for a table of counts: its result, and the cost of each way for readers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from passerby.plans.limit import KNOWS
from passerby.plans.table_plan import RAW, TablePlan, TableWay
from passerby.support.numbers import percent, size, span
from passerby.tables.ways import HABITS

from . import chart
from .check_page import ASSUMPTIONS, CARRIES, INDEPENDENT, in_words, looked_at, size_of
from .page import filled
from .plan_page import BEST, COLOURS, GREY, SHAPES, VERDICTS
from .section import Built, Columns, Content, Figure

TITLE = "What may be published of a table"
LEAD = "Which ways to publish keep the limit for people who are described in words, and what each costs readers."
#: The colour and the shape of each verdict.
MARKS = {verdict: (COLOURS[verdict], SHAPES[verdict]) for verdict in VERDICTS} | {"unexamined": (GREY, "square")}
_COLUMNS: Columns = {
    "words": ("publish", str),
    "verdict": ("verdict", str),
    "at_least": ("personas above, at least", percent),
    "at_most": ("at most", percent),
    "shown": ("counts shown", percent),
    "error": ("error, people per count", size),
    "relative": ("error, share of the count", percent),
    "order": ("order of two places kept", percent),
    "change": ("sign of a change right", percent),
    "total": ("error in all", percent),
}


def render_table_plan(plan: TablePlan, words: Sequence[str]) -> str:
    """The plan as one HTML page that needs no other file and no network."""
    return filled(
        [
            Built("plan", "What may be published?", _recommended(plan)),
            Built("tried", "What was tried?", _tried(plan)),
            Built("assumed", "What is assumed?", Content(ASSUMPTIONS)),
        ],
        title=TITLE,
        lead=LEAD,
        internal="",
        short=plan_sentences(plan),
        facts=[
            ("Table", size_of(plan.table)),
            *(("Persona", f"{each.persona.name}: {looked_at(each, RAW.mechanism)}") for each in plan.people),
        ],
        settings=None,
        beside="",
        again=shlex.join(["passerby", "plan", *words]),
    )


def plan_sentences(plan: TablePlan) -> list[str]:
    """The result, in words."""
    raw = next(way for way in plan.tried if way.name == "as it is" and not way.left_out)
    share = plan.limit.share
    who = f"at most {percent(share)} of the personas, by weight," if share else "none of the personas"
    limit = (
        f"The limit: {who} above an advantage of {percent(plan.limit.above)}, for somebody who "
        f"knows {KNOWS[plan.against]} and asks whether they were ever at a counted place."
    )
    keeps = {
        "sure": "keeps the limit",
        "refused": "breaks the limit",
        "open": "may or may not keep the limit",
        "unexamined": "keeps the limit for the personas that are examined, and not enough is known of the others",
    }
    out = [limit]
    nobody = all(who.unknown() for who in plan.people)
    if raw.verdict != "unexamined" or not nobody:
        out.append(f"The table as it is {keeps[raw.verdict]}: {_above(raw)}.")
    if nobody:
        return [*out, "No persona is examined in full, so that nothing can be recommended.", *plan.remarks]
    if not plan.recommended:
        out.append("No way that surely keeps the limit was found among those that were tried.")
    elif any(way.verdict == "unexamined" for way in plan.recommended.values()):
        out.append("What follows is for the personas that are examined alone.")
    for way in dict.fromkeys(plan.recommended.values()):
        best = ". ".join(BEST[name] for name, each in plan.recommended.items() if each == way)
        out.append(f"{best}. Publish it {way.words}. {_leaves(way)}{way.readers.sentence} {_total(way)}")
    missing = [text.split(":")[0] for name, text in BEST.items() if name not in plan.recommended]
    if plan.recommended and missing:
        out.append(f"{' and '.join(missing)}: no way that surely keeps the limit was found.")
    return [*out, *([INDEPENDENT] if plan.against == HABITS else []), CARRIES, *plan.remarks]


def _above(way: TableWay) -> str:
    return f"{span(way.at_least, way.at_most)} of the personas, by weight, are above it"


def _leaves(way: TableWay) -> str:
    """The advantage that a way leaves, at once and after a year."""
    if way.leaves is None:
        return "No place of the personas that is examined is published then. "
    later = "what other weeks tell depends on their numbers" if way.year is None else f"{span(*way.year)} after a year"
    return f"At the place that tells most, the advantage is {span(*way.leaves)} then, and {later}. "


def _total(way: TableWay) -> str:
    return "" if way.readers.total is None else f"The error in all is {percent(way.readers.total)} of all counts."


def _frame(plan: TablePlan, ways: Sequence[TableWay]) -> pl.DataFrame:
    rows = [
        {
            "words": way.words,
            "verdict": way.verdict,
            "at_least": way.at_least,
            "at_most": way.at_most,
            **{name: getattr(way.readers, name) for name in ("shown", "error", "relative", "order", "change", "total")},
        }
        for way in ways
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _recommended(plan: TablePlan) -> Content:
    lead = [
        "A way is sure to keep the limit where the bounds put few enough personas above it, refused where attacks that "
        "exist put too many above it, unexamined where it is sure but for personas whose hours are hidden or not in "
        "the table, and open otherwise."
    ]
    if not plan.recommended:
        return Content([*lead, "No way that surely keeps the limit was found. Allow more levers, or a weaker limit."])
    table = _frame(plan, list(plan.recommended.values())).with_columns(
        name=pl.Series([BEST[n] for n in plan.recommended])
    )
    columns: Columns = {"name": ("", str), **_COLUMNS}
    return Content(
        lead, [Figure("recommended", "Recommended", "What is best at each.", in_words(table, columns, "plans.csv"))]
    )


def _tried(plan: TablePlan) -> Content:
    table = _frame(plan, plan.tried)
    says = (
        "Each mark is a way that was tried: to the right readers lose more, and further up more personas are above the "
        "limit, at most."
    )
    drawn = table.drop_nulls("total")
    spec = _picture(drawn, plan.limit.share) if drawn.height else None
    return Content(
        ["Those that cost readers least are first."],
        [Figure("tried", "All ways", says, in_words(table, _COLUMNS, "tried.csv"), spec)],
    )


def _picture(table: pl.DataFrame, allowed: float) -> dict[str, Any]:
    base = alt.Chart(
        chart.values(table.select("words", "verdict", "at_least", "at_most", "total", people=pl.lit(None, pl.Int64)))
    ).encode(
        x=alt.X("total:Q", title="error in all (share of all counts)", axis=alt.Axis(format=chart.TICK)),
        tooltip=[
            chart.tip("words:N", "publish"),
            chart.tip("verdict:N", "verdict"),
            chart.tip("at_most:Q", "above, at most", chart.FINE),
        ],
    )
    marks = base.mark_point(filled=True, size=90, opacity=0.9).encode(
        y=alt.Y(
            "at_most:Q",
            title="personas above the limit, at most",
            axis=alt.Axis(format=chart.TICK),
            scale=alt.Scale(domain=[0, 1]),
        ),
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=list(MARKS), range=[colour for colour, _ in MARKS.values()]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        shape=alt.Shape("verdict:N", scale=alt.Scale(domain=list(MARKS), range=[shape for _, shape in MARKS.values()])),
    )
    limit = alt.Data(values=[{"allowed": allowed}])  # type: ignore[no-untyped-call]
    line = alt.Chart(limit).mark_rule(strokeDash=[6, 4], color=chart.COLOURS[chart.WITHOUT]).encode(y="allowed:Q")
    return chart.spec(alt.layer(line, marks), 300)
