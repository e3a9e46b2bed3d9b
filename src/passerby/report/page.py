"""The page: sections of words, figures and tables, filled into one self-contained HTML file."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

import polars as pl

from passerby import __version__
from passerby.audits.settings import AuditSettings
from passerby.audits.settings_file import as_toml
from passerby.audits.summary import Summary
from passerby.audits.what_if import Findings
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.workers import Progress

from . import captions, data, sections, terms, trials, words
from .parts import Section


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
    """The report of an audit as one HTML page that needs no other file and no network.

    `call` is the code that made it; without one it lies beside an `audit.toml`.
    """
    known = data.measured(table)
    todo: list[Callable[[], Section]] = [lambda: sections.published(people, release, summary)]
    if known.height:
        todo.append(lambda: sections.exposed(known, settings, summary))
        todo.append(lambda: sections.why(data.points(table, people, settings.seed)))
        if "realised_status" in table.columns:
            todo.append(lambda: sections.realised(known, summary))
    ways = None
    if findings is not None:
        todo.append(lambda: sections.which(findings, people))
        if findings.mechanisms.height:
            ways = trials.noise(findings, people, release, settings)
            todo.append(lambda: sections.noise(ways))
    todo += [lambda: sections.privacy(known, ways, summary), sections.limits]
    parts = []
    for build in todo:
        parts.append(build())
        if progress:
            progress(len(parts), len(todo) + 1)  # and the script, below
    specs = {figure.key: figure.spec for section in parts for figure in section.figures if figure.spec}
    page: str = _template().render(
        title=settings.title,
        short=words.in_short(summary),
        sections=parts,
        facts=_facts(summary, int(known["sampled"].sum()), settings.confidence),
        settings=None if call else as_toml(settings, settings.out),
        again=call or "passerby audit --settings audit.toml --overwrite",
        versions=_versions(),
        specs=json.dumps(specs, allow_nan=False).replace("<", "\\u003c"),
        bundle=_bundle(),
    )
    return page


def _facts(summary: Summary, sampled: int, confidence: float) -> list[tuple[str, str]]:
    drawn = "" if summary.people == summary.people_eligible else f", drawn at random from {summary.people_eligible:,}"
    states = "; ".join(f"{count:,} {captions.STATUSES[name]}" for name, count in summary.statuses.items())
    return [
        ("People", f"{summary.people:,}{drawn}: {states}"),
        (
            "Steps",
            f"{summary.steps:,} of {terms.length(summary.window)} to be found, after {summary.steps_fitted:,} that "
            "habits were fitted to",
        ),
        ("Places", f"{summary.places:,}, with elsewhere"),
        ("Counts", f"{summary.sensors:,}, published as {terms.mechanism(summary.mechanism)}"),
        ("Misses", f"{summary.misses:,}"),
        ("Sureness", words.sureness(sampled, confidence)),
        ("Rows of the visits", f"{summary.visits.read:,} read, {summary.visits.kept:,} kept"),
        ("Seed", str(summary.seed)),
    ]


def _versions() -> list[tuple[str, str]]:
    packages = ("numpy", "polars", "numba", "altair")
    return [
        ("passerby", __version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in packages),
    ]


_GLOBALS = "window.vegaEmbed = vegaEmbed;"


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import altair
    import vl_convert

    script: str = vl_convert.javascript_bundle(
        _GLOBALS, vl_version=".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    )
    return script.replace("</script", "<\\/script")


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("passerby.report", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    # A number stays on a line with its sign.
    environment.filters["tidy"] = lambda text: text.replace(" %", "\u00a0%")
    return environment.get_template("template.html")
