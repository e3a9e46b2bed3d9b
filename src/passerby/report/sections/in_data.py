"""Evidence on somebody being counted at all, beside the bound of differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

import altair as alt
import polars as pl

from passerby.audits.record import Answers, Bracket, Ends, PlaceAnswers
from passerby.audits.summary import Group
from passerby.questions.comparisons import differential_privacy
from passerby.questions.profiles import ACQUAINTANCE, INSIDER
from passerby.report import chart
from passerby.report.evidence import COUNTED, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import HABITS, WHO, in_groups, of_hundred, share_of_people, spots
from passerby.support.numbers import at_most, percent, span

NAMES = {"insider": chart.INSIDER, "habits": chart.HABITS}
PROFILES = {"insider": INSIDER.name, "habits": ACQUAINTANCE.name}
#: The false alarms of a test, and how likely something must have become to be told with certainty.
FALSE_ALARMS = 0.01
MEASURES = {
    "power": "found, with 1\u00a0% false alarms",
    "certain": "found out with 90\u00a0% certainty",
    "advantage": "advantage of the best test",
}
SAYS = (
    "Means over people of three numbers. How many of 100 people in the data a test finds that wrongly says so of 1 of "
    "100 who are not. How many of 100 it becomes at least 90 % likely for. And the advantage: what the best test "
    "finds, less what it wrongly accuses. A mark is what was found, a line goes up to what no test exceeds if the "
    "habits are right."
)
WEEKLY = (
    "The advantage of the best test where the same is published for so many weeks, if habits are known and all weeks "
    "are like this one: of who is counted in all weeks or in none, and of who is there, at the place that tells most, "
    "in all weeks or in none. The thick line is what a test was found to do, and the thin one what no test exceeds."
)
#: From this on ends are far apart.
WIDE = 0.2
WIDER = " These ends are far apart: more effort (a larger budget) would tell more."
ALLOWED = " The bar across is what differential privacy allows for anybody."
ASKED = {
    "counted": "who are in the data, against nobody in their place",
    "replaced": "who are in the data, against somebody else in their place",
}


def build(evidence: Evidence) -> Content:
    """Words, and a chart and a table of three measures for each adversary."""
    answers = told(evidence)
    epsilon = allowed_epsilon(evidence)
    table = rows(answers, epsilon, evidence.settings.delta)
    says = SAYS + (ALLOWED if epsilon is not None else "")
    figure = Figure("in-data", "Who is counted", says, sheet(table, COLUMNS, "in-data.csv"), picture(table))
    everyone = max((each.people for each in answers), default=0)
    said = words(answers, epsilon, evidence.settings.delta, everyone)
    if evidence.release.size > 1 and any(each.adversary == HABITS for each in answers):
        said.insert(0, in_groups(evidence.release.size))
    figures = [figure]
    if (weeks := by_week(evidence, answers)).height:
        figures.append(Figure("weeks", "Week after week", WEEKLY, sheet(weeks, WEEK_COLUMNS, "weeks.csv"), band(weeks)))
    diluted = [] if any(each.groups for each in answers) else _diluted(evidence.summary.groups)
    more = [*diluted, *after_a_year(evidence)]
    return Content([*said[:-1], *more, said[-1]], figures)


def after_a_year(evidence: Evidence) -> list[str]:
    """How much is told of presence at the most telling place, of somebody who is there every week or never."""
    first = next((spot for spot in spots(evidence.summary.presence, evidence.called) if spot.habits), None)
    if first is None or first.habits is None or not first.habits.weeks:
        return []
    year = first.habits.weeks[-1]
    return [
        f"At {first.words}, of somebody who is there every week or never, the advantage after a year is "
        f"{span(year.lower, year.upper)} to {WHO[HABITS]}, if all weeks are like this one."
    ]


#: The columns of the table by week.
WEEK_COLUMNS: Columns = {
    "about": ("of", str),
    "weeks": ("weeks", "{:,}".format),
    "lower": ("advantage, at least", percent),
    "upper": ("at most", percent),
    "people": ("mean of (people)", "{:,}".format),
}


def by_week(evidence: Evidence, answers: list[Answers]) -> pl.DataFrame:
    """The advantage after so many weeks: of membership, and of presence at the most telling place."""
    found: list[tuple[str, Answers | PlaceAnswers, int]] = [
        (f"counted: {PROFILES[each.adversary]}", each, each.open) for each in answers if each.question == "counted"
    ]
    for spot in spots(evidence.summary.presence, evidence.called)[:1]:
        both = (spot.habits, spot.insider)
        found += [(f"there: {PROFILES[each.adversary]}", each, each.people) for each in both if each is not None]
    out = [(name, one.weeks, one.lower, one.upper, people) for name, each, people in found for one in each.weeks]
    kinds = {"about": pl.String, "weeks": pl.Int64, "lower": pl.Float64, "upper": pl.Float64, "people": pl.Int64}
    return pl.DataFrame(out, schema=kinds, orient="row")


def band(weeks: pl.DataFrame) -> dict[str, Any]:
    """Weeks from the left, and both ends of the advantage."""
    order = weeks["about"].unique(maintain_order=True).to_list()
    colours = [chart.COLOURS[chart.HABITS if name.endswith(ACQUAINTANCE.name) else chart.INSIDER] for name in order]
    dashes = [[1, 0] if name.startswith("counted") else [6, 3] for name in order]
    legend = chart.names_above(symbolOpacity=1, **chart.STROKE)
    base = alt.Chart(chart.values(weeks)).encode(
        x=alt.X("weeks:O", title="weeks of the same counts", axis=alt.Axis(labelAngle=0)),
        color=alt.Color("about:N", scale=alt.Scale(domain=order, range=colours), legend=legend),
        tooltip=[
            chart.tip("about:N", "of"),
            chart.tip("weeks:O"),
            chart.tip("lower:Q", "advantage, at least", chart.FINE),
            chart.tip("upper:Q", "at most", chart.FINE),
            chart.tip("people:Q", "mean of (people)", ",d"),
        ],
    )
    y = alt.Y("lower:Q", title="advantage", axis=alt.Axis(format=chart.TICK, tickCount=5), scale=chart.unit())
    area = base.mark_area(opacity=0.15, strokeWidth=0).encode(y=y, y2="upper:Q")
    dash = alt.StrokeDash("about:N", scale=alt.Scale(domain=order, range=dashes), legend=legend)
    lines = base.encode(strokeDash=dash)
    ends = [lines.mark_line(strokeWidth=width).encode(y=side) for width, side in ((2, y), (1, alt.Y("upper:Q")))]
    return chart.spec(alt.layer(area, *ends), 220)


def _diluted(groups: Sequence[Group]) -> list[str]:
    """How many of the people are hardly ever counted, whom nobody can notice; where these are not told apart."""
    rarely = next((each.people for each in groups if not each.counted), 0)
    if not rarely or len(groups) < 2:
        return []
    return [
        f"These are means over all people: {rarely:,} of {sum(each.people for each in groups):,} are hardly ever in a "
        "published count, and are hardly noticed. For those who are counted, more is found."
    ]


def told(evidence: Evidence) -> list[Answers]:
    """The answers with numbers."""
    return [each for each in evidence.summary.questions if each.kind == "in_data" and each.advantage is not None]


def allowed_epsilon(evidence: Evidence) -> float | None:
    """Epsilon of the release for a person's presence or absence; None without a guarantee."""
    return differential_privacy(evidence.release, evidence.settings.delta).added


def allowed(measure: str, epsilon: float, delta: float) -> float | None:
    """The bound of (epsilon, delta)-differential privacy on a measure; None without one.

    No test at false alarms f finds more than `e^ε f + δ` of the counted people, nor more than `1 - e^-ε (1 - δ - f)`
    (Kairouz, Oh and Viswanath 2015). With δ = 0 the best advantage is `tanh(ε/2)`.

    >>> round(allowed("advantage", 1.0, 0.0), 3), round(allowed("power", 1.0, 1e-5), 4), allowed("certain", 1.0, 0.0)
    (0.462, 0.0272, None)
    """
    if measure == "advantage":
        small = exp(-epsilon)
        return min(1.0, (1 - small + 2 * delta * small) / (1 + small))
    if measure != "power":
        return None
    most = min(exp(min(epsilon, 700.0)) * FALSE_ALARMS + delta, 1 - exp(-epsilon) * (1 - delta - FALSE_ALARMS))
    return min(1.0, most)


def mean(ends: Ends) -> Bracket:
    """Means over people of both ends."""
    return Bracket(lower=ends.lower.mean, upper=max(ends.lower.mean, ends.upper.mean))


def words(answers: list[Answers], epsilon: float | None, delta: float, everyone: int = 0) -> list[str]:
    """How well a test tells, for each adversary, and what the guarantee says beside it."""
    out = [said for each in answers for said in (*_of_parts(each), _of(each, everyone))]
    if epsilon is None:
        return [*out, "Differential privacy gives no guarantee for this release, so nothing else limits these numbers."]
    limits = (allowed(name, epsilon, delta) for name in ("advantage", "power"))
    most, power = (at_most(1.0 if each is None else each) for each in limits)
    return [
        *out,
        f"Differential privacy (epsilon = {epsilon:.3g} at delta = {delta:g}, for a person who is there or not) allows "
        f"an advantage of {most}, and to find {power} of those in the data, for "
        "anybody and whatever the adversary knows. What was found is never above that.",
    ]


def _of_parts(found: Answers) -> list[str]:
    """One adversary, of people who are counted first."""
    names = {True: "who may well be in a published count", False: "who hardly ever are"}
    who = {True: WHO[found.adversary], False: "the same adversary"}
    parts = [
        f"of 100 people {names[part.counted]} ({part.people:,} people), {who[part.counted]} finds "
        f"{of_hundred(part.power)}"
        for part in sorted(found.groups, key=lambda part: not part.counted)
    ]
    if not parts:
        return []
    said = "; ".join(parts)
    return [f"{said[0].upper()}{said[1:]}. The means over all people, which follow, are diluted by these."]


def _of(found: Answers, everyone: int) -> str:
    """One adversary; of people who were drawn, where not everyone was asked about."""
    assert found.advantage
    gain = mean(found.advantage)
    who = WHO[found.adversary]
    against = ASKED.get(found.question, "who are counted")
    sure = "" if found.certain is None else f"; for {of_hundred(mean(found.certain))} it becomes at least 90 % likely"
    if found.power is None:
        first = f"For {who}, and people {against}"
        return f"{first}: the best test has an advantage of {span(gain.lower, gain.upper)}{sure}."
    many = of_hundred(mean(found.power))
    drawn = "" if found.people >= everyone else f" (of {found.people:,} drawn)"
    first = f"Of 100 people {against}{drawn}, {who} finds {many}, wrongly saying so of 1 of 100 who are not"
    wide = WIDER if gain.upper - gain.lower > WIDE else ""
    return (
        f"{first}{sure}. The best test has an advantage of {span(gain.lower, gain.upper)}.{wide}{_after_a_year(found)}"
    )


def _after_a_year(found: Answers) -> str:
    """The evidence on somebody in every release of a year, or in none."""
    if found.year is None:
        return ""
    year = mean(found.year)
    return f" Where the same is published every week, the advantage after a year is {span(year.lower, year.upper)}."


#: The columns of the table.
COLUMNS: Columns = {
    "question": ("question", str),
    "adversary": ("adversary", str),
    "measure": ("measure", str),
    "lower": ("mean, at least", percent),
    "upper": ("at most", percent),
    "high": ("5 % of people: at least", share_of_people),
    "allowed": ("differential privacy allows", lambda value: "no limit" if value is None else percent(value)),
    "people": ("mean of (people)", "{:,}".format),
}


def rows(answers: list[Answers], epsilon: float | None, delta: float) -> pl.DataFrame:
    """A row for each question, adversary and measure."""
    out = []
    for each in answers:
        for name, title in MEASURES.items():
            ends: Ends | None = getattr(each, name)
            if ends is not None:
                both, most = mean(ends), None if epsilon is None else allowed(name, epsilon, delta)
                about = (each.question, NAMES[each.adversary], title)
                out.append((*about, both.lower, both.upper, ends.lower.percentile_95, most, each.open))
    text = dict.fromkeys(("question", "adversary", "measure"), pl.String)
    numbers = dict.fromkeys(("lower", "upper", "high", "allowed"), pl.Float64)
    return pl.DataFrame(out, schema={**text, **numbers, "people": pl.Int64}, orient="row")


def picture(table: pl.DataFrame) -> dict[str, Any]:
    """Measures from above, and the mean of each for each adversary; a bar across is the bound of the guarantee."""
    first = table["question"][0]
    drawn = table.filter(pl.col("question") == first).with_columns(label=chart.label(pl.col("measure")))
    shown = [name for name in (chart.HABITS, chart.INSIDER) if name in set(drawn["adversary"])]
    order = [chart.wrapped(name) for name in MEASURES.values()]
    colours = [chart.COLOURS[name] for name in shown]
    shapes = alt.Scale(domain=shown, range=[{chart.HABITS: "circle", chart.INSIDER: "diamond"}[name] for name in shown])
    legend = chart.names_above(labelFontSize=11)
    base = alt.Chart(chart.values(drawn)).encode(
        y=alt.Y("label:N", title=None, sort=order, scale=alt.Scale(paddingInner=0.3), axis=alt.Axis(labelLimit=0)),
        yOffset=alt.YOffset("adversary:N", sort=shown),
        color=alt.Color("adversary:N", scale=alt.Scale(domain=shown, range=colours), legend=legend),
        tooltip=[
            chart.tip("adversary:N"),
            chart.tip("measure:N"),
            chart.tip("lower:Q", "mean, at least", chart.FINE),
            chart.tip("upper:Q", "at most", chart.FINE),
            chart.tip("allowed:Q", "differential privacy allows", chart.FINE),
            chart.tip("people:Q", "mean of (people)", ",d"),
        ],
    )
    axis = alt.Axis(format=chart.TICK, tickCount=5)
    x = alt.X("lower:Q", title="share of people", axis=axis, scale=chart.unit())
    lines = base.mark_rule(strokeWidth=3, opacity=0.55).encode(x=x, x2="upper:Q")
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x, shape=alt.Shape("adversary:N", scale=shapes, legend=legend)
    )
    most = base.transform_filter("datum.allowed !== null").mark_tick(thickness=3, size=18, color=chart.GREY)
    bars = most.encode(x=alt.X("allowed:Q", scale=chart.unit()), color=alt.value(chart.GREY))
    return chart.spec(alt.layer(lines, points, bars), (24 + 20 * len(shown)) * drawn["label"].n_unique())


SECTION = Section("in_data", "Is somebody counted at all?", build, needs=(COUNTED,))
