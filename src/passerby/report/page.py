"""The pages: sections of words, figures and tables, filled into one self-contained HTML file.

`render` makes the shareable page: it holds the values of the release and figures about five or more people.
`render_internal` makes the page to keep with the visits: it holds true counts too, and states this.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import polars as pl
from altair.utils.schemapi import debug_mode

from passerby.audits.alerts import KEEP
from passerby.audits.findings import Findings
from passerby.audits.settings import AuditSettings
from passerby.audits.settings_file import as_shown
from passerby.audits.summary import Summary
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.workers import Progress

from . import chart, facts, picture
from .evidence import Evidence, seen
from .section import Built
from .sections import SECTIONS
from .words import HOURLY, SINGLE, SURELY, WHOEVER

#: The warning on each page with true counts.
INTERNAL = "holds true counts. Not to be shared."
#: The warning on a page without true counts whose means tell of few people.
TELLS_OF_FEW = (
    "means tell of few people here (see the alert below). Not to be shared: keep it where the visits are kept."
)


def render(
    table: pl.DataFrame,
    people: People,
    release: Release,
    settings: AuditSettings,
    summary: Summary,
    findings: Findings | None = None,
    progress: Progress | None = None,
    call: str | None = None,
) -> str:
    """The report of an audit as one shareable HTML page that needs no other file and no network.

    `call` is the code behind it; without one it lies beside an `audit.toml`.
    """
    evidence = Evidence(table, people, release, settings, summary, findings)
    return fill(evidence, built(evidence, progress), call)


def render_internal(
    table: pl.DataFrame,
    people: People,
    release: Release,
    settings: AuditSettings,
    summary: Summary,
    findings: Findings | None = None,
    progress: Progress | None = None,
    call: str | None = None,
) -> str:
    """The same page with the true counts and numbers of few people, marked as internal throughout."""
    evidence = Evidence(table, people, release, settings, summary, findings, internal=True)
    return fill(evidence, built(evidence, progress), call)


def built(evidence: Evidence, progress: Progress | None = None) -> list[Built]:
    """The included sections, with their content."""
    chosen = [section for section in SECTIONS if section.missing(evidence) is None]
    out = []
    for section in chosen:
        with debug_mode(False):  # else Altair checks each part of a chart against its schema, as the tests do
            content = section.build(evidence)
        out.append(Built(section.key, section.heading(evidence), content))
        if progress:
            progress(len(out), len(chosen) + 1)  # and the script, below
    return out


def fill(evidence: Evidence, sections: Sequence[Built], call: str | None = None) -> str:
    """The page of these sections."""
    reasons = [(section.heading(evidence), section.missing(evidence)) for section in SECTIONS]
    settings, summary = evidence.settings, evidence.summary
    said = facts.in_short(summary, evidence.called)
    # The content of an alert is stated once.
    if any(alert.startswith(WHOEVER) for alert in summary.alerts):
        said = [line for line in said if not (line.startswith(WHOEVER) and SURELY in line)]
    if any(alert.startswith(SINGLE) for alert in summary.alerts):
        said = [line for line in said if not line.startswith(HOURLY)]
    return filled(
        sections,
        title=settings.title,
        lead="How much counts that are published about places reveal about the people who were counted.",
        internal=INTERNAL if evidence.internal else TELLS_OF_FEW if KEEP in summary.alerts else "",
        short=[*(f"Alert: {alert}" for alert in summary.alerts), *said],
        facts=facts.facts(evidence, [(title, reason) for title, reason in reasons if reason]),
        settings=None if call else as_shown(settings, internal=evidence.internal),
        beside="audit.toml",
        again=call or "passerby audit --settings audit.toml --overwrite",
    )


def filled(sections: Sequence[Built], **around: Any) -> str:
    """A page of sections, with its frame; `internal` gives the reason against sharing it, if there is one."""
    figures = [figure for section in sections for figure in section.content.figures]
    specs = {figure.key: figure.spec for figure in figures if figure.spec}
    scripts = (picture.bundle(), picture.script())
    page: str = _template().render(
        **around,
        sections=sections,
        versions=facts.versions(),
        specs=json.dumps(specs, allow_nan=False).replace("<", "\\u003c"),
        scripts=scripts,
        hashes=" ".join(map(_hash, scripts)),
        twins=[(colour, chart.ON_DARK[name]) for name, colour in chart.COLOURS.items()],
    )
    return page


def _hash(script: str) -> str:
    """The hash for the page's policy: it allows this script to run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("passerby.report", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    # A number stays on a line with its sign, and names of places turn no text around.
    environment.filters["tidy"] = lambda text: seen(text.replace(" %", "\u00a0%"))
    return environment.get_template("template.html")
