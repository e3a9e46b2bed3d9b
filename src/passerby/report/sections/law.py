"""Singling out, linkability and inference: the section that answers each, in the words of data protection law.

The three risks come from the Article 29 Working Party, *Opinion 05/2014 on Anonymisation Techniques* (WP216).
"""

from __future__ import annotations

import polars as pl

from passerby.report.evidence import ADVERSARIES, COUNTED, MEASURED, PRESENCE, STEP_BY_STEP, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import HABITS, of_hundred, of_insider, spots
from passerby.support.numbers import span

from . import adversaries, counts, each_step, exposure, in_data, presence

LEAD = (
    "Opinion 05/2014 of the Article 29 Working Party (WP216) asks three questions of data that are called anonymous. "
    "Where one of them cannot be answered with no, it asks for a thorough evaluation of the risk that people are "
    "identified. This page measures that risk; whether it is acceptable, it does not decide. What counts are the means "
    "that somebody is reasonably likely to use: a motivated intruder is seldom an insider, and may be a stranger, an "
    "acquaintance, or somebody who knows some of the others. Each sentence names the one it holds for."
)
SAYS = (
    "Each of the three risks: what it means for counts of people at places, which section measures it, and the result."
)
MISSING = "not measured here"


def build(evidence: Evidence) -> Content:
    """A table of the three risks."""
    columns: Columns = {
        "risk": ("risk (WP216)", str),
        "means": ("for published counts", str),
        "where": ("answered in", str),
        "found": ("in short", str),
    }
    table = rows(evidence)
    return Content([LEAD], [Figure("law", "Three risks", SAYS, sheet(table, columns, "law.csv"))])


def rows(evidence: Evidence) -> pl.DataFrame:
    """Risk, its meaning here, the section with the answer, and the finding."""
    out = [
        (
            "singling out",
            "Can one person be isolated: is it noticed whether somebody is counted at all?",
            _where(evidence, in_data.SECTION, counts.SECTION),
            _singled_out(evidence),
        ),
        (
            "linkability",
            "Can counts of several steps, or counts and what somebody knows already, be put together to one person's "
            "trace?",
            _where(evidence, exposure.SECTION, adversaries.SECTION),
            _linked(evidence),
        ),
        (
            "inference",
            "Can something be concluded about a person, such as that they were at a clinic, or where they were at an "
            "hour?",
            _where(evidence, presence.SECTION, each_step.SECTION),
            _inferred(evidence),
        ),
    ]
    table = pl.DataFrame(out, schema=["risk", "means", "where", "found"], orient="row")
    return table.with_columns(people=pl.lit(None, pl.Int64))


def _where(evidence: Evidence, *sections: Section) -> str:
    """The titles of the included ones among these sections."""
    shown = [section.heading(evidence) for section in sections if section.missing(evidence) is None]
    return " / ".join(shown) or MISSING


def _singled_out(evidence: Evidence) -> str:
    if not COUNTED.met(evidence):
        return MISSING
    said = []
    for each in in_data.told(evidence):
        if each.power is not None and each.question == "counted":
            who = "an acquaintance" if each.adversary == HABITS else "an insider"
            counted = next((group for group in each.groups if group.counted), None)
            if counted is None:
                said.append(f"{who} finds {of_hundred(in_data.mean(each.power))} of 100 people")
            else:
                whole = of_hundred(in_data.mean(each.power))
                most = of_hundred(counted.power)
                said.append(f"{who} finds {most} of 100 who may well be in a count ({whole} of 100 people in all)")
    return "; ".join(said) or MISSING


def _linked(evidence: Evidence) -> str:
    loss, known = evidence.summary.mean_loss, evidence.summary.baseline
    if not (MEASURED.met(evidence) and loss and known):
        return MISSING
    without = span(known.lower.mean, known.upper.mean)
    said = f"traces found by an insider: {without} without the release, {span(loss.lower, loss.upper)} with it"
    if ADVERSARIES.met(evidence):
        said += f"; by a stranger, {span(evidence.summary.adversaries[0].lower, evidence.summary.adversaries[0].upper)}"
    return said


def _inferred(evidence: Evidence) -> str:
    if not PRESENCE.met(evidence):
        return MISSING if not STEP_BY_STEP.met(evidence) else "see there"
    every = spots(evidence.summary.presence, evidence.called)
    first = next((spot for spot in every if spot.found(HABITS)), None)
    power = first.found(HABITS) if first else None
    said = f"at {first.words}, {of_hundred(power)} of 100 are found by an acquaintance" if first and power else ""
    return "; ".join(filter(None, [said, *(f"{line[0].lower()}{line[1:].rstrip('.')}" for line in of_insider(every))]))


SECTION = Section("law", "Singling out, linkability, inference", build)
