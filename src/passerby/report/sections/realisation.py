"""What the series that was really published gave away."""

from __future__ import annotations

import polars as pl

from passerby.audits.summary import Summary
from passerby.report.evidence import MEASURED, PUBLISHED, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import group, tail
from passerby.support.numbers import at_least, percent, span

from .exposure import RANKED, ranks

SAYS = "How likely the best guess is right for a person, given exactly the series that was published."


def build(evidence: Evidence) -> Content:
    """Words and ranks of the realised chance."""
    columns: Columns = {
        **RANKED,
        "realised_lower": ("best guess found", percent),
        "realised_upper": ("bound if the habits are right", percent),
    }
    possible = evidence.known.filter(pl.col("realised_status") == "ok")
    table = sheet(ranks(possible, ("realised_lower", "realised_upper")), columns, "realised.csv")
    return Content(words(evidence.summary), [Figure("realised", "The realised chance", SAYS, table)])


def words(summary: Summary) -> list[str]:
    """What the published series gave away."""
    found = summary.realised
    assert found is not None
    out = [
        "A published count is of everybody. The adversary takes off the people they know to be there, and what is left "
        "tells whether the person in question was counted.",
        f"The published series is possible for {group(found.possible)} of the audited people.",
    ]
    if found.impossible:
        out.append(
            f"For {group(found.impossible)} people no trace agrees with it: the published counts were not made from "
            "these visits, or not in the way that this audit assumes (one place per person and step). They have no "
            "realised chance."
        )
    if found.loss is not None:
        most = tail(found.loss.lower)
        out.append(
            f"Given exactly this series, the best guess is right with a chance of "
            f"{span(found.loss.lower.mean, found.loss.upper.mean)} on average"
            + (f"; for {most[0]}, {at_least(most[1])}." if most else ".")
        )
    return out


SECTION = Section("realisation", "What did the published counts reveal?", build, needs=(MEASURED, PUBLISHED))
