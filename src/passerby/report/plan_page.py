"""The page of a plan: its result, the frontier of error against risk, and the tried releases.

It is made from the record of the plan alone, so it reveals no more than `plan.json` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from passerby.plans.limit import CONFIDENCE
from passerby.plans.record import PlanRecord, Record, TallyRecord
from passerby.plans.settings import PlanSettings, plan_shown
from passerby.support.numbers import percent, span
from passerby.support.rule_of_five import FEW

from . import chart
from .page import filled
from .plan_presence import asked_for, at_places, kept
from .section import Built, Columns, Content, Figure, sheet
from .words import length, level

LEAD = "Which releases keep the limits on how exposed people may be, and what each of them costs its readers."
#: The strength of each recommended plan.
BEST = {
    "complete": "Complete: all numbers that are wanted, with the least error",
    "exact": "Exact: numbers as exact as wanted, as many as can be",
    "least": "Least: the least error in all of the others",
}
VERDICTS = ("sure", "open", "refused")
#: For what would tell of few numbers, or follows from nothing.
NOT_TOLD = "not told"
#: The most names of left-out things; the schedule of a plan holds all.
NAMED = 8
#: Releases with a higher cost for readers are in the table, and not in the figure.
DEAR = 1.2
#: Marks this near in error, and in the root of the share of people, would have overlapping names.
NEAR = 0.25, 0.03
#: Colours distinct in grey and for people with colour blindness; shapes carry the same distinction.
COLOURS = {"sure": "#2f6fb0", "open": "#e8820e", "refused": "#7f2704"}
#: The colour for neither of them, on white and on black.
GREY = "#828b97"
SHAPES = {"sure": "circle", "open": "triangle-up", "refused": "cross"}
FRONTIER = (
    "Each mark is a release that was tried; the line joins those that no other beats in both. To the right readers "
    "lose more: the sum of all errors as a share of the sum of all counts, where a number that is not published is "
    "taken for 0, or for an even share of a published one that it is part of. Further up more people are above the "
    "limit, at most; the bar goes down to those who surely are. The dashed line is what the limit allows. Rings and "
    f"names are the plans that are recommended. {chart.ZOOM}"
)
INTERNAL = f"a limit allows fewer than {FEW} people, so that what keeps it tells of them. Not to be shared."
OUT_OF_TIME = "The search ended because the time was up: with more minutes, better releases may be found."
TRIED = (
    "All releases that were tried, those that cost readers least first. Where people were drawn, the shares of people "
    f"above are confidence limits ({level(CONFIDENCE)}) for everyone."
)
#: The columns of a table of plans, after the published parts of each.
COLUMNS: Columns = {
    "verdict": ("verdict", str),
    "at_least": ("people above, at least", percent),
    "at_most": ("people above, at most", percent),
    "mean": ("mean error, people per count", str),
    "worst": ("largest error, people", str),
    "published": ("numbers published", str),
    "total": ("error in all, share of all counts", percent),
    "measured": ("measured on", str),
    "unsure": ("not sure of", str),
}


def render_plan(record: Record, settings: PlanSettings) -> str:
    """The plan as one shareable HTML page that needs no other file and no network."""
    return filled(
        sections(record),
        title=settings.audit.title,
        lead=LEAD,
        internal=INTERNAL if record.internal else "",
        short=[*(f"Alert: {alert}" for alert in record.alerts), *in_short(record)],
        facts=facts(record),
        settings=plan_shown(settings),
        beside="plan.toml",
        again="passerby plan --settings plan.toml --overwrite",
    )


def sections(record: Record) -> list[Built]:
    """The sections of the page, with their content."""
    if record.people < FEW:
        return [
            Built("plan", "What may be published?", Content([f"Fewer than {FEW} people: nothing is told of them."]))
        ]
    return [
        Built("plan", "What may be published?", _recommended(record)),
        Built("frontier", "What does it cost to expose fewer people?", _frontier(record)),
        *_asked(record),
        Built("tried", "What was tried?", Content(_moved(record), [_all(record)])),
        Built("sure", "How sure is this?", Content(_sureness(record))),
    ]


def _asked(record: Record) -> list[Built]:
    """The ways most wanted by readers, if they were tried."""
    if not record.always:
        return []
    costs = {name: COLUMNS[name] for name in ("mean", "worst", "published", "total", "measured")}
    content = asked_for(record, costs, _table(record, [("", plan) for plan in record.always]))
    return [Built("asked", "What of that which readers ask for most?", content)]


def in_short(record: Record) -> list[str]:
    """The answers before the details."""
    limits = "; ".join(limit.words for limit in record.limits)
    out = [f"The limit: {limits}.", kept(record)]
    out.append(f"All that is wanted: {told(record.wanted, record)}. {_says(record.wanted.verdict)}")
    late = [OUT_OF_TIME] if record.out_of_time else []
    if not record.recommended:
        return [*out, "No release that keeps the limit was found among those that could be tried.", *late]
    said = [f"{BEST[name]}. Publish {sentence(plan, record)}" for name, plan in record.recommended.items()]
    missing = [text.split(":")[0] for name, text in BEST.items() if name not in record.recommended]
    if missing:
        said.append(f"{' and '.join(missing)}: no other release that keeps the limit was found.")
    return [*out, *said, *late]


def sentence(plan: PlanRecord, record: Record) -> str:
    """A plan in words, with its figures."""
    number = "" if plan.mean_error is None else f"{plan.mean_error:.2g}"
    one = "person" if number == "1" else "people"
    error = f", mean error {number} {one} per count, error in all {percent(plan.total_error)} of all counts"
    error = error if number else ""
    some = "" if plan.published > 0.9999 else f", {_published(plan)} of the wanted numbers"
    some = ", how many of the wanted numbers is not told" if _published(plan) == NOT_TOLD else some
    gone = _left_out(plan)
    more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
    names = f" Left out altogether: {', '.join(gone[:NAMED])}{more}." if gone else ""
    warning = " Its errors add up to more than what was counted." if plan.total_error > 1 else ""
    return f"{plan.words}: {told(plan, record)}{error}{some} ({plan.verdict}).{names}{warning}"


def told(plan: PlanRecord, record: Record) -> str:
    """The shares of people above each limit."""
    there = at_places(plan, record)
    return "; ".join([*(_share(tally, record) for tally in plan.tallies), *([there] if there else [])])


def _share(tally: TallyRecord, record: Record) -> str:
    limit = record.limits[tally.limit]
    share = f"{span(tally.at_least, tally.at_most)} of people {limit.beyond}"
    if limit.uncertain is None:
        return share
    ends = dict.fromkeys(f"{round(end * record.people):,}" for end in (tally.at_least, tally.at_most))
    able = "for nobody" if not limit.uncertain else f"for about {limit.uncertain:,}"
    return (
        f"{share}, which is {' to '.join(ends)} of {record.people:,}, and {able} of these {record.people:,} people the "
        "answer is uncertain without any release"
    )


def _says(verdict: str) -> str:
    return {
        "sure": "It keeps the limit as it is.",
        "refused": "It breaks the limit.",
        "open": "Whether it keeps the limit is open.",
    }[verdict]


def _recommended(record: Record) -> Content:
    lead = [
        "A release is sure to keep a limit where the bounds put few enough people above it, refused where attacks that "
        "were found put too many above it, and open otherwise. What is recommended was measured on everyone; the "
        "folder holds the settings of an audit of each, which gives the same figures."
    ]
    if not record.recommended:
        lead.append(
            "No release that keeps the limit was found. Allow more levers or a weaker limit, or publish nothing."
        )
    rows = [(BEST[name], plan) for name, plan in record.recommended.items()]
    table = _table(record, [("wanted", record.wanted), *rows, ("nothing published", record.nothing)])
    columns: Columns = {"name": ("", str), "words": ("publish", str), **COLUMNS}
    says = "What is wanted, what is recommended, and nothing at all."
    return Content(lead, [Figure("recommended", "The plans side by side", says, sheet(table, columns, "plans.csv"))])


def _frontier(record: Record) -> Content:
    names = {_key(plan): name for name, plan in record.recommended.items()}
    tried = [(names.get(_key(plan), ""), plan) for plan in record.tried]
    plans = [("wanted", record.wanted), *tried, ("nothing", record.nothing)]
    figures = []
    for number, limit in enumerate(record.limits):
        table = _table(record, plans, number).sort("total", "at_most", maintain_order=True)
        # No cheaper one has as few people above.
        before = pl.col("at_most").cum_min().shift(1, fill_value=2.0)
        table = table.with_columns(edge=pl.col("at_most") < before)
        shown = sheet(table, {"words": ("publish", str), **COLUMNS}, f"frontier-{number + 1}.csv")
        title = f"Error against risk: {limit.words}"
        figures.append(Figure(f"frontier-{number + 1}", title, FRONTIER, shown, picture(table, limit.share)))
    return Content(
        ["Every release trades error against exposure. The ends are all that is wanted, and nothing."], figures
    )


def _key(plan: PlanRecord) -> tuple[object, ...]:
    """The key that tells a plan from others, whether everyone was measured with it or not."""
    left_out = (*plan.places_left_out, None, *plan.steps_left_out)
    return plan.words, plan.counts, plan.total_error, plan.everyone, left_out


def picture(table: pl.DataFrame, allowed: float) -> dict[str, Any]:
    """The frontier of one limit."""
    rows = labelled(table.filter(pl.col("total") <= DEAR).with_columns(pl.col("total", "at_least", "at_most").round(4)))
    base = alt.Chart(chart.values(rows)).encode(
        x=alt.X(
            "total:Q",
            title="error in all (share of all counts)",
            axis=alt.Axis(format=chart.TICK),
            scale=alt.Scale(domain=[-0.02, max(1.02, float(max(rows["total"])) + 0.02)], nice=False),
        ),
        tooltip=[
            chart.tip("words:N", "publish"),
            chart.tip("verdict:N"),
            chart.tip("at_least:Q", "people above, at least", chart.FINE),
            chart.tip("at_most:Q", "people above, at most", chart.FINE),
            chart.tip("mean:N", "mean error (people per count)"),
            chart.tip("published:N", "numbers published"),
            chart.tip("people:Q", "measured on (people)", ",d"),
        ],
    )
    names = [name for name in VERDICTS if name in set(rows["verdict"])]
    # Small shares matter most, and zero must have a place.
    wide = alt.Scale(type="sqrt", zero=True, nice=True)
    y = alt.Y("at_most:Q", title="share of people above the limit", axis=alt.Axis(format=chart.TICK), scale=wide)
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=names, range=[COLOURS[name] for name in names]),
        legend=alt.Legend(orient="top", title=None),
    )
    shape = alt.Shape("verdict:N", scale=alt.Scale(domain=names, range=[SHAPES[name] for name in names]))
    line = base.transform_filter("datum.edge").mark_line(strokeWidth=1, color=GREY).encode(y=y)
    bars = base.mark_rule(strokeWidth=2, opacity=0.5).encode(y=y, y2="at_least:Q", color=colour)
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(y=y, color=colour, shape=shape)
    level = alt.Data(values=[{"allowed": allowed}])  # type: ignore[no-untyped-call]
    rule = alt.Chart(level).mark_rule(strokeDash=[6, 4], color=GREY).encode(y="allowed:Q")
    return chart.spec(alt.layer(rule, line, bars, *_names(base, rows, y), marks.add_params(chart.zoom())), 320)


def labelled(rows: pl.DataFrame) -> pl.DataFrame:
    """With a column `label`: the names of recommended plans; marks close to each other share one."""
    kept: list[tuple[float, float, int]] = []
    labels = [""] * rows.height
    for i, row in enumerate(rows.iter_rows(named=True)):
        if row["name"] not in BEST:
            continue
        x, y = row["total"], math.sqrt(row["at_most"])
        near = next((j for total, share, j in kept if abs(x - total) < NEAR[0] and abs(y - share) < NEAR[1]), None)
        if near is None:
            kept.append((x, y, i))
        labels[i if near is None else near] += ", " * (near is not None) + row["name"]
    return rows.with_columns(label=pl.Series(labels, dtype=pl.String))


def _names(base: alt.Chart, rows: pl.DataFrame, y: alt.Y) -> list[alt.Chart]:
    """Rings around the marks of recommended plans, with names beside them, on the side with room."""
    out = []
    for side, shift, where, there in (
        ("left", 12, "datum.total <= 0.8", pl.col("total") <= 0.8),
        ("right", -12, "datum.total > 0.8", pl.col("total") > 0.8),
    ):
        if rows.filter(pl.col("name").is_in([*BEST]) & there).height:
            some = base.transform_filter(f"indexof({[*BEST]!r}, datum.name) >= 0 && {where}")
            out.append(some.mark_point(size=260, color=GREY, opacity=1, strokeWidth=1.5).encode(y=y))
            out.append(some.mark_text(dx=shift, dy=-10, align=side, color=GREY).encode(y=y, text="label:N"))  # type: ignore[arg-type]
    return out


def _all(record: Record) -> Figure:
    columns: Columns = {"words": ("publish", str), **COLUMNS}
    table = _table(record, [("", plan) for plan in record.tried] or [("wanted", record.wanted)])
    # Plans with different left-out counts and the same effect look alike.
    table = table.unique(subset=[*columns], maintain_order=True)
    return Figure("tried", "Releases that were tried", TRIED, sheet(table, columns, "tried.csv"))


def _table(record: Record, plans: Sequence[tuple[str, PlanRecord]], number: int = 0) -> pl.DataFrame:
    rows = [
        {
            "name": name,
            "words": _words(plan) if name != "wanted" else f"all that is wanted ({plan.counts:,} counts)",
            "verdict": plan.verdict,
            "unsure": _unsure(plan, record),
            # If some people were drawn, the limits of the share of everyone: they decide between sure and refused.
            "at_least": plan.tallies[number].lowest,
            "at_most": plan.tallies[number].highest,
            "mean": _error(plan, plan.mean_error),
            "worst": _error(plan, plan.worst_error),
            "published": _published(plan),
            "total": plan.total_error,
            "measured": "everyone" if plan.everyone else f"{plan.people:,} drawn",
            "people": record.people if plan.everyone else max(FEW, plan.people),
        }
        for name, plan in plans
    ]
    return pl.DataFrame(rows)


def _unsure(plan: PlanRecord, record: Record) -> str:
    """The limits that a plan does not surely keep: those on people by number, and places where somebody was."""
    several = len(record.limits) > 1
    out = [f"limit {each.limit + 1}" if several else "the limit" for each in plan.tallies if each.verdict != "sure"]
    places = [each.place for each in plan.presence if each.verdict != "sure"]
    more = f" and {len(places) - 1} more place{'s' * (len(places) > 2)}" if len(places) > 1 else ""
    return ", ".join([*out, *([f"who was at {places[0]}{more}"] if places else [])])


def _words(plan: PlanRecord) -> str:
    """The published parts of a plan, and its left-out part if this is one place or step: others would look alike."""
    gone = _left_out(plan)
    return f"{plan.words} (without {gone[0]})" if len(gone) == 1 else plan.words


def _left_out(plan: PlanRecord) -> list[str]:
    return [*plan.places_left_out, *(f"step {step}" for step in plan.steps_left_out)]


def _error(plan: PlanRecord, value: float | None) -> str:
    if value is None:
        return NOT_TOLD if plan.counts else "none"
    return f"{value:.2g}"


def _published(plan: PlanRecord) -> str:
    """The published share of the wanted numbers; numbers left empty by a rule are in fives."""
    if plan.some_empty and plan.published <= 0:
        return NOT_TOLD
    return f"{'at least ' if plan.some_empty else ''}{percent(plan.published)}"


def _moved(record: Record) -> list[str]:
    out = []
    if record.not_moved:
        out.append(
            f"Levers that could not be moved: {'; '.join(f'{k}: {why}' for k, why in record.not_moved.items())}."
        )
    if record.out_of_time:
        out.append(OUT_OF_TIME)
    return out


def _sureness(record: Record) -> list[str]:
    out = [
        f"For about {record.matter:,} of {record.people:,} people it may depend on the release on which side of a "
        "limit they are, as far as is known before any other release is measured. All others are above it without any "
        f"release, or below it with all that is wanted. Releases were tried on about {record.drawn:,} of those people, "
        "drawn at random. Shares of everyone then have confidence "
        f"limits ({level(CONFIDENCE)}, for a draw without replacement), which decide whether such a release is called "
        "sure or refused. "
        "What is wanted and what is recommended was measured on everyone.",
        "Verdicts rest on the ends of each person's interval, never on averages. Where series had to be drawn for a "
        f"person, all ends of theirs that a verdict may rest on hold together with a confidence of "
        f"{level(record.confidence)}; everything holds given the habits.",
        f"Numbers of people are told in fives. Errors that depend on the counts are told for {FEW} numbers or more, "
        "and what is missing in fives of people.",
    ]
    if record.private_noise and record.found_noise:
        out.append(
            f"Differential privacy alone would ask for normal noise of standard deviation {record.private_noise:.3g} "
            "to add no more than the limit to anybody's chance, whoever they are. The noise found here is "
            f"{record.found_noise:.3g}, {record.found_noise / record.private_noise:.2g} times as much: it keeps the "
            "limit for these people and their habits."
        )
    return out


def facts(record: Record) -> list[tuple[str, str]]:
    """What was planned."""
    return [
        ("People", f"{record.people:,}"),
        ("Steps", f"{record.steps:,} of {length(record.window)}"),
        ("Places", f"{record.places:,}, with elsewhere"),
        ("Misses", f"{record.misses:,}"),
        ("Releases tried", f"{len(record.tried):,}, in at most {record.measured:,} measurements of a person"),
        ("Seed", str(record.seed)),
    ]
