"""The further questions about everybody: events, such as visits of a place or moves, and whole traces."""

from __future__ import annotations

import polars as pl

from passerby.audits.record import Answers, Ends
from passerby.audits.summary import Summary
from passerby.report.evidence import ASKED, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import WHO, group, of_hundred
from passerby.support.numbers import percent, span

from .in_data import NAMES, mean

SAYS = (
    "Each question that was asked, for each adversary: the mean chance that it is so, without the release; how many of "
    "those for whom it is so are found by a test that wrongly accuses 1 of 100 for whom it is not; and for how many of "
    "them it becomes at least 90 % likely."
)
TRACES_SAY = (
    "Each question that was asked about whole traces: the mean chance that its adversary names so much of a person's "
    "trace, without the release and with it."
)
#: Questions answered in words.
MOST = 6


def build(evidence: Evidence) -> Content:
    """Words, and a table of each kind."""
    asked = [each for each in evidence.summary.questions if each.kind in ("event", "trace")]
    events, traces = ([each for each in asked if each.kind == kind] for kind in ("event", "trace"))
    figures = []
    if events:
        figures.append(Figure("asked", "What was asked", SAYS, sheet(rows(events), COLUMNS, "asked.csv")))
    if traces:
        table = sheet(traces_of(traces), TRACE_COLUMNS, "asked-traces.csv")
        figures.append(Figure("asked-traces", "Whole traces", TRACES_SAY, table))
    return Content([said(each) for each in asked][:MOST], figures)


def on_screen(summary: Summary) -> list[str]:
    """A line for each further question and adversary."""
    return [said(each) for each in summary.questions if each.kind in ("event", "trace")]


def said(found: Answers) -> str:
    """One question and adversary."""
    if found.kind == "trace":
        return _of_trace(found)
    sentence = f"{found.sentence[0].upper()}{found.sentence[1:]}"
    if found.power is None:
        open_ = "nobody" if not found.open else f"{group(found.open)} people"
        return f"{sentence}: open for {open_}, so no number is told."
    sure = (
        "" if found.certain is None else f", and for {of_hundred(mean(found.certain))} it becomes at least 90 % likely"
    )
    return (
        f"{sentence}: of 100 people for whom it is so, {WHO[found.adversary]} finds {of_hundred(mean(found.power))}, "
        f"wrongly accusing 1 of 100 for whom it is not{sure}."
    )


def _of_trace(found: Answers) -> str:
    """A question about whole traces."""
    if found.loss is None or found.baseline is None:
        open_ = "nobody" if not found.open else f"{group(found.open)} people"
        return f"{found.sentence[0].upper()}{found.sentence[1:]}: measured for {open_}, so no number is told."
    without, with_it = mean(found.baseline), mean(found.loss)
    return (
        f"{WHO[found.adversary][0].upper()}{WHO[found.adversary][1:]} names {found.sentence} with a chance of "
        f"{span(with_it.lower, with_it.upper)} on average with the release, and of "
        f"{span(without.lower, without.upper)} without it."
    )


def _share(value: float | None) -> str:
    return "not told" if value is None else percent(value)


COLUMNS: Columns = {
    "question": ("question", str),
    "adversary": ("adversary", str),
    "chance": ("chance, without the release", _share),
    "power_lower": ("found, at least", _share),
    "power_upper": ("at most", _share),
    "certain_lower": ("90 % certain, at least", _share),
    "certain_upper": ("at most", _share),
    "advantage_lower": ("advantage, at least", _share),
    "advantage_upper": ("at most", _share),
    "people": ("open for (people)", lambda value: "not told" if value is None else f"{value:,}"),
}


TRACE_COLUMNS: Columns = {
    "question": ("question", str),
    "adversary": ("adversary", str),
    "baseline": ("without the release", _share),
    "lower": ("with it, at least", _share),
    "upper": ("at most", _share),
    "people": ("mean of (people)", lambda value: "not told" if value is None else f"{value:,}"),
}


def traces_of(asked: list[Answers]) -> pl.DataFrame:
    """A row for each question about whole traces; numbers are null if they rest on fewer than five people."""
    out = []
    for each in asked:
        known = each.loss is not None and each.baseline is not None
        out.append(
            (
                each.question,
                NAMES[each.adversary],
                _ends(each.baseline)[0],
                *_ends(each.loss),
                each.open if known else None,
            )
        )
    text = {"question": pl.String, "adversary": pl.String}
    numbers = dict.fromkeys(("baseline", "lower", "upper"), pl.Float64)
    return pl.DataFrame(out, schema={**text, **numbers, "people": pl.Int64}, orient="row")


def rows(asked: list[Answers]) -> pl.DataFrame:
    """A row for each question and adversary; numbers are null if they rest on fewer than five people."""
    out = []
    for each in asked:
        ends = [value for name in ("power", "certain", "advantage") for value in _ends(getattr(each, name))]
        known = each.power is not None or each.advantage is not None
        chance = None if each.chance is None else each.chance.mean
        out.append((each.question, NAMES[each.adversary], chance, *ends, each.open if known else None))
    text = {"question": pl.String, "adversary": pl.String}
    return pl.DataFrame(
        out, schema={**text, **dict.fromkeys([*COLUMNS][2:-1], pl.Float64), "people": pl.Int64}, orient="row"
    )


def _ends(found: Ends | None) -> tuple[float | None, float | None]:
    if found is None:
        return None, None
    both = mean(found)
    return both.lower, both.upper


SECTION = Section("asked", "What else was asked", build, needs=(ASKED,))
