"""Whether such predictions came true: promised against really found, at earlier origins."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from passerby.audits.alerts import wrong_chances
from passerby.audits.record import Backtest, Window
from passerby.audits.summary import Summary
from passerby.audits.windows import CLOSE, EXPECTED, LEVEL
from passerby.report import chart
from passerby.report.evidence import BACKTEST, MEASURED, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import level, of_a_crowd
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW

WITH, WITHOUT = "with the release", chart.WITHOUT
#: The page's names of attacks.
ATTACKS = {
    "map": "likeliest trace, with the release",
    "marginal": "likeliest place of each step, with the release",
    "prior": "likeliest trace, without it",
    "constant": "one place throughout, without it",
}
RELIABILITY = (
    "Each point is a group of people for whom habits promised about the same chance to be found. Points on the line "
    "came true; above it more people were found than promised, below it fewer. Bars say how sure that is "
    f"({level(LEVEL)}). Shares of people who were found are told in steps of {FEW} people."
)
#: What else is promised.
BESIDES = {
    "added": "what the counts add",
    "visited": "to be at a counted place, on average",
    "visited test": "to be found at a counted place, by a test",
    "counted test": "to be found among the counted, by a test",
}
EVENTS = {"visited": "to be at a counted place", "counted": "to be counted at all"}
BY_MISSES = (
    "The mean chance that habits promised (dashed), and the share of people who were really found, by the number of "
    "steps that may be wrong. Both are over all times, each weighed by what it can tell; the table has every attack, "
    "and the published steps first: the verdict is about these."
)
BY_WINDOW = (
    "What was promised for the published steps, and for as many steps at earlier times, and what was right. Chance "
    f"alone makes both differ by so much ({level(LEVEL)}), if habits are right. Came true: for the published "
    f"steps they are close (within {100 * CLOSE:g} points near one half, and less near 0 and 100 %), as was to be "
    f"expected ({level(EXPECTED)}) from earlier times, and little else was. Did not come true: they are not close, and "
    "differ by more than chance leaves. Cannot be told: neither."
)
BY_EVENT = (
    "The mean chance to be at a counted place at any of the steps, over people and places, and the share of these who "
    "really were. Of those for whom it is so, some were looked for by a test that says yes for 1 % of the others: what "
    f"it should find of them, and what it found. Shares are told in steps of at least {FEW} people."
)
ROBUST = (
    "The mean chance that no attack exceeds if people live by their habits, and if they depart from them: by the least "
    "that explains the published steps, and by what covers such steps in 90 of 100 cases. Nobody can know that people "
    "will not depart further. Departures are in nats: at 0.1, what habits call 50 % may be 72 %."
)


def build(evidence: Evidence) -> Content:
    """Words, the reliability figure, promises by misses, and the upper end for people who depart from their habits."""
    summary = evidence.summary
    found = summary.backtest
    assert found is not None
    points = reliability(found)
    drawn = Figure("reliability", "Promised and really found", RELIABILITY, _points_sheet(points), picture(points))
    columns: Columns = {
        "attack": ("attack", str),
        "misses": ("misses", str),
        "published_promised": ("promised, published steps", _share),
        "published_right": ("really found there", _share),
        "lower": ("to be expected, at least", _points),
        "upper": ("to be expected, at most", _points),
        "verdict": ("verdict", str),
        "promised": ("promised, all times", percent),
        "right": ("really found, all times", percent),
        "people": ("rests on (people)", "{:,}".format),
    }
    table = sheet(by_misses(found), columns, "promises.csv")
    ends: Columns = {
        "people_who": ("if people", str),
        "nats": ("departure (nats)", "{:.3g}".format),
        "upper": ("no attack above, on average", percent),
        "people": ("mean of (people)", "{:,}".format),
    }
    departed = sheet(robust(summary), ends, "robust.csv")
    taken = "What habits promised, and the guesses that were tried, take the numbers of others"
    return Content(
        [*words(summary), *of_a_crowd(evidence.release, taken)],
        [
            *_by_window(found),
            drawn,
            *_by_event(found),
            Figure("promises", "By misses", BY_MISSES, table, by_misses_picture(found)),
            Figure("robust", "If people depart from their habits", ROBUST, departed),
        ],
    )


def _by_window(found: Backtest) -> list[Figure]:
    """A row for each promise and time, the published steps first; empty if people are few."""
    if not found.windows:
        return []
    names = ATTACKS | BESIDES
    rows = [
        (
            names[each.what],
            _when(each.steps_before),
            each.promised,
            each.right,
            each.chance,
            *_judged(each),
            each.people,
        )
        for each in found.windows
    ]
    kinds = {
        "what": pl.String,
        "when": pl.String,
        **dict.fromkeys(("promised", "right", "chance"), pl.Float64),
        **dict.fromkeys(("expected", "verdict"), pl.String),
        "people": pl.Int64,
    }
    columns: Columns = {
        "what": ("promise", str),
        "when": ("steps", str),
        "promised": ("promised", _signed),
        "right": ("right", _signed),
        "chance": ("chance leaves", lambda value: f"± {100 * value:.1f} points"),
        "expected": ("expected from earlier times", str),
        "verdict": ("verdict", str),
        "people": ("people", "{:,}".format),
    }
    table = sheet(pl.DataFrame(rows, schema=kinds, orient="row"), columns, "windows.csv")
    return [Figure("windows", "The published steps, and earlier ones", BY_WINDOW, table)]


def _when(steps: int) -> str:
    return "published" if not steps else f"{steps:,} earlier"


def _signed(value: float) -> str:
    return percent(value) if value >= 0 else f"-{percent(-value)}"


def _judged(each: Window) -> tuple[str, str]:
    """The expectation for the published steps, and the verdict."""
    if each.verdict is None:
        return "", ""
    known = each.lower is not None and each.upper is not None
    return f"{_points(each.lower)} to {_points(each.upper)}" if known else "not known", each.verdict


def _by_event(found: Backtest) -> list[Figure]:
    """A row for each event and time; empty without publishable events."""
    rows = [
        (EVENTS[each.event], _when(each.steps_before), each.promised, each.right, each.power, each.found, each.people)
        for each in found.events
    ]
    if not rows:
        return []
    names = ("promised", "right", "power", "found")
    kinds = {"event": pl.String, "when": pl.String, **dict.fromkeys(names, pl.Float64), "people": pl.Int64}
    columns: Columns = {
        "event": ("event", str),
        "when": ("steps", str),
        "promised": ("promised", _share),
        "right": ("right", _share),
        "power": ("a test should find", _share),
        "found": ("a test found", _share),
        "people": ("people", "{:,}".format),
    }
    table = sheet(pl.DataFrame(rows, schema=kinds, orient="row"), columns, "events.csv")
    return [Figure("events", "Presence, and being counted", BY_EVENT, table)]


def _points(value: float | None) -> str:
    if value is None:
        return "not known"
    whole = round(100 * value)
    return f"{whole:+d} points" if whole else "0 points"


def words(summary: Summary) -> list[str]:
    """The verdict for decision makers, its derivation, and its meaning for the upper end."""
    found = summary.backtest
    assert found is not None
    meaning = {
        "came true": "The chances in this report can be taken for what happens in such steps; nobody knows of drift "
        "that has not happened yet.",
        "did not come true": wrong_chances(found),
        "cannot be told": "Take the chances in this report for what would hold if people lived by their habits.",
    }
    times = (
        "one time, the published steps"
        if found.origins == 1
        else f"{found.origins} times, the published steps among them"
    )
    counted = "" if found.independent == found.origins else f" (which overlap, and count for {found.independent})"
    how = (
        f"For this, habits were fitted for {times}{counted}, to what was before each, and the same counts were "
        f"attacked after it, for about {found.people:,} people in all: {percent(found.share)} of those who were known "
        "well enough by then. People share what changes for all, so intervals are about times and not about people "
        "alone."
    )
    added = [found.added.sentence] if found.added is not None and found.about != "added" else []
    tests = [" ".join(each.sentence for each in found.tested)] if found.tested else []
    return [f"{found.sentence} {meaning[found.verdict]}", *added, *tests, how, *_departure(summary, found)]


def _departure(summary: Summary, found: Backtest) -> list[str]:
    if not summary.mean_loss:
        return []
    certain = percent(summary.mean_loss.upper)
    if found.robust is None:
        return ["People were found of whom habits said that it cannot happen: no departure from them explains it."]
    first = f"No attack has a mean chance above {certain} if people live by their habits"
    if found.robust.nats == 0:
        first += ", and no departure from them is needed to explain the published steps"
    elif percent(found.robust.upper) == percent(1.0):
        return [f"{first}. If they depart from them by as much as the published steps ask for, nothing is excluded."]
    else:
        first += (
            f", and above {percent(found.robust.upper)} if they depart from them as much as the published steps ask"
        )
    more = ""
    if found.robust_upper is not None:
        most = found.robust_upper.upper
        more = "; to be careful, " + (
            "nothing is excluded" if percent(most) == percent(1.0) else f"take {percent(most)}"
        )
        more += ", which covers such steps in 90 of 100 cases"
    return [f"{first}{more}."]


def reliability(found: Backtest) -> pl.DataFrame:
    """The points of the figure, with the release and without it."""
    names = {"map": WITH, "prior": WITHOUT}
    rows = [
        (names[each.attack], each.promised, each.right, each.lower, each.upper, each.people)
        for each in found.by_promise
        if each.attack in names
    ]
    kinds = {"which": pl.String, **dict.fromkeys(("promised", "right", "lower", "upper"), pl.Float64)}
    return pl.DataFrame(rows, schema={**kinds, "people": pl.Int64}, orient="row")


def _points_sheet(points: pl.DataFrame) -> Any:
    columns: Columns = {
        "which": ("attack", str),
        "promised": ("promised", percent),
        "right": ("really found", percent),
        "lower": ("at least", _share),
        "upper": ("at most", _share),
        "people": ("people", "{:,}".format),
    }
    return sheet(points, columns, "reliability.csv")


def _share(value: float | None) -> str:
    return "not known" if value is None else percent(value)


def by_misses(found: Backtest) -> pl.DataFrame:
    """A row for each attack and number of misses."""
    names = ("published_promised", "published_right", "lower", "upper", "verdict", "promised", "right")
    rows = [(ATTACKS[each.attack], each.misses, *(getattr(each, name) for name in names)) for each in found.by_misses]
    numbers = {name: pl.String if name == "verdict" else pl.Float64 for name in names}
    kinds = {"attack": pl.String, "misses": pl.Int64, **numbers}
    return pl.DataFrame(rows, schema=kinds, orient="row").with_columns(people=pl.lit(found.people, pl.Int64))


def robust(summary: Summary) -> pl.DataFrame:
    """The mean upper end, by how far people depart from their habits."""
    found, loss = summary.backtest, summary.mean_loss
    assert found is not None
    assert loss is not None
    rows = [("live by their habits", 0.0, loss.upper)]
    for who, end in (
        ("depart as the published steps ask", found.robust),
        ("depart as in 90 of 100 cases", found.robust_upper),
    ):
        rows += [(who, end.nats, end.upper)] if end else []
    kinds = {"people_who": pl.String, "nats": pl.Float64, "upper": pl.Float64}
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    return table.with_columns(people=pl.lit(summary.people_measured, pl.Int64))


def picture(points: pl.DataFrame) -> dict[str, Any]:
    """Really found against promised, with the line of their agreement."""
    names, values = [WITH, WITHOUT], chart.values(points)
    colours = alt.Scale(domain=names, range=[chart.COLOURS[chart.FOUND], chart.COLOURS[WITHOUT]])
    legend = chart.names_above()
    form = alt.Axis(format=chart.TICK, tickCount=10)
    x = alt.X("promised:Q", title="promised chance to be found", axis=form, scale=chart.unit())
    y = alt.Y("right:Q", title="share really found", axis=form, scale=chart.unit())
    colour = alt.Color("which:N", scale=colours, legend=legend)
    base = alt.Chart(values).encode(x=x, color=colour)
    # The line is no datum about people, and is drawn from none.
    agree = alt.Chart(alt.Data(values=[{}])).mark_rule(strokeDash=[4, 4], color="#888888")  # type: ignore[no-untyped-call]
    line = agree.encode(x=alt.datum(0), x2=alt.datum(1), y=alt.datum(0), y2=alt.datum(1))
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(
        y=y,
        shape=alt.Shape("which:N", scale=alt.Scale(domain=names, range=["circle", "square"]), legend=legend),
        tooltip=[
            chart.tip("which:N", " "),
            chart.tip("promised:Q", "promised", chart.FINE),
            chart.tip("right:Q", "really found", chart.FINE),
            chart.tip("lower:Q", "at least", chart.PERCENT),
            chart.tip("upper:Q", "at most", chart.PERCENT),
            chart.tip("people:Q", "people", ",d"),
        ],
    )
    layers = [line, marks]
    if points["lower"].null_count() < points.height:
        bars = base.transform_filter("datum.lower !== null").mark_rule(strokeWidth=1.5)
        layers.insert(1, bars.encode(y=alt.Y("lower:Q", scale=chart.unit()), y2="upper:Q"))
    return chart.spec(alt.layer(*layers), 320)


def by_misses_picture(found: Backtest) -> dict[str, Any]:
    """Promised and really found against misses, with the release and without it."""
    names, kinds = {"map": WITH, "prior": WITHOUT}, ["really found", "promised"]
    rows = [
        {"which": names[each.attack], "what": what, "misses": each.misses, "share": share, "people": found.people}
        for each in found.by_misses
        if each.attack in names
        for what, share in zip(kinds, (each.right, each.promised), strict=True)
    ]
    colours = alt.Scale(domain=[WITH, WITHOUT], range=[chart.COLOURS[chart.FOUND], chart.COLOURS[WITHOUT]])
    legend = chart.names_above()
    drawn = (
        alt.Chart(chart.values(pl.DataFrame(rows)))
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=40))
        .encode(
            x=alt.X("misses:O", title="misses", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title="share of people", axis=alt.Axis(format=chart.TICK), scale=chart.unit()),
            color=alt.Color("which:N", scale=colours, legend=legend),
            shape=alt.Shape("which:N", scale=alt.Scale(domain=[WITH, WITHOUT], range=["circle", "square"])),
            # The words above name the dashed line: a legend of dashes alone has no colour to show them in.
            strokeDash=alt.StrokeDash("what:N", scale=alt.Scale(domain=kinds, range=[[1, 0], [5, 4]]), legend=None),
            tooltip=[
                chart.tip("what:N", " "),
                chart.tip("which:N", "attack"),
                chart.tip("misses:O"),
                chart.tip("share:Q", "people", chart.FINE),
                chart.tip("people:Q", "rests on (people)", ",d"),
            ],
        )
    )
    return chart.spec(drawn, 240)


SECTION = Section("backtest", "Did such predictions come true?", build, needs=(MEASURED, BACKTEST))
