"""The page: sections of words, figures and tables, filled into one self-contained HTML file."""

from __future__ import annotations

import base64
import csv
import io
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby import __version__
from passerby.explore import Findings
from passerby.release import Release
from passerby.settings import AuditSettings, as_toml
from passerby.summary import Summary
from passerby.visits.people import People

from . import data, figures, words
from .words import few, percent

Cell = Callable[[Any], str]


@dataclass(frozen=True)
class Sheet:
    """A table as it is shown, and as it is saved."""

    heads: list[str]
    rows: list[list[str]]
    file: str
    numbers: str

    @property
    def download(self) -> str:
        """The numbers as a link."""
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(self.numbers.encode()).decode()


@dataclass(frozen=True)
class Figure:
    """A chart with the sentence that says what it shows, and the table behind it."""

    key: str
    title: str
    says: str
    sheet: Sheet
    spec: dict[str, Any] | None = None
    open: bool = False


@dataclass(frozen=True)
class Section:
    """A question, its answer in words, and its figures."""

    key: str
    question: str
    answer: list[str]
    figures: list[Figure] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)


def render(
    table: pl.DataFrame,
    people: People,
    release: Release,
    settings: AuditSettings,
    summary: Summary,
    totals: NDArray[np.int64],
    findings: Findings | None = None,
) -> str:
    """The report of an audit as one HTML page that needs no other file and no network."""
    known = data.measured(table)
    counts = data.published_counts(people, release, totals)
    sections = [_published(counts, release, summary)]
    if known.height:
        dots = data.points(table, people, settings.seed)
        sections += [_exposed(known, settings, summary), _why(known, dots)]
        if "realised_status" in table.columns:
            sections.append(_realised(known, summary))
    if findings is not None and findings.mechanisms.height:
        sections += [_which(findings, people, summary), _noise(findings, release, settings, totals, summary)]
    sections.append(_privacy(summary))
    sections.append(
        Section("limits", "What is assumed, and what is not covered", words.LIMITS[:1], lists=words.LIMITS[1:])
    )
    specs = {figure.key: figure.spec for section in sections for figure in section.figures if figure.spec}
    page: str = _template().render(
        title=settings.title,
        short=words.in_short(summary),
        sections=sections,
        facts=_facts(summary),
        settings=as_toml(settings, settings.out),
        versions=_versions(),
        specs=json.dumps(specs, allow_nan=False).replace("<", "\\u003c"),
        bundle=_bundle(),
    )
    return page


def _published(counts: pl.DataFrame, release: Release, summary: Summary) -> Section:
    sheet = _sheet(
        counts,
        {
            "step": ("step", str),
            "start": ("begins", str),
            "place": ("place", str),
            "count": ("people", lambda n: few() if n is None else f"{n:,}"),
        },
        "counts.csv",
    )
    spec = figures.published(counts).to_dict() if counts.height else None
    says = (
        "Each cell is a count that would be published: a place with a sensor at a step. The colour shows how many "
        f"people were there; cells with {few()} are grey."
    )
    figure = Figure("published", "The counts", says, sheet, spec)
    return Section("published", "What would be published?", words.published(summary, release), [figure])


def _exposed(known: pl.DataFrame, settings: AuditSettings, summary: Summary) -> Section:
    curves, ranks = data.exposure(known), data.quantiles(known)
    rank_columns: dict[str, tuple[str, Cell]] = {
        "share_below": ("share of people below", percent),
        "baseline_lower": ("without the release", percent),
        "lower": ("with it: best attack found", percent),
        "upper": ("with it: no attack above", percent),
    }
    extra: dict[str, tuple[str, Cell]] = {
        "share_below": ("share of people below", percent),
        "advantage_lower": ("advantage, at least", percent),
        "advantage_upper": ("advantage, at most", percent),
    }

    def share(value: float | None) -> str:
        return few() if value is None else percent(value)

    steps: dict[str, tuple[str, Cell]] = {
        "level": ("chance of at least", percent),
        "without": ("without the release", share),
        "found": ("with it: attack found", share),
        "bound": ("with it: not excluded", share),
    }
    above = data.thresholds(known, settings.thresholds)
    return Section(
        "exposed",
        "How exposed are people?",
        words.exposed(summary),
        [
            Figure(
                "thresholds",
                "People above a threshold",
                words.THRESHOLDS,
                _sheet(above, steps, "thresholds.csv"),
                open=True,
            ),
            Figure(
                "exposure",
                "The chance to be found",
                words.EXPOSURE,
                _sheet(ranks.select(list(rank_columns)), rank_columns, "exposure.csv"),
                figures.exposure(curves).to_dict(),
            ),
            Figure(
                "advantage",
                "What the release adds",
                words.ADVANTAGE,
                _sheet(ranks.select(list(extra)), extra, "advantage.csv"),
                figures.advantage(data.advantages(known)).to_dict(),
            ),
        ],
    )


def _why(known: pl.DataFrame, dots: pl.DataFrame) -> Section:
    out = []
    for key, column, title, axis, says in (
        ("sighted", "sighted", "Seen by sensors", "chance to pass a sensor", words.SIGHTED),
        ("gap", "spectral_gap", "Slow and quick movers", "spectral gap", words.GAP),
    ):
        grouped = data.classes(dots, column)
        columns: dict[str, tuple[str, Cell]] = {
            "class": (axis, str),
            "people": ("people", str),
            "baseline": ("median without the release", percent),
            "lower": ("median with it: best attack", percent),
            "upper": ("median with it: no attack above", percent),
        }
        shown = {name: value for name, value in columns.items() if name in grouped.columns}
        out.append(
            Figure(
                key,
                title,
                says,
                _sheet(grouped.select(list(shown)), shown, f"{key}.csv"),
                figures.scatter(dots, column, axis).to_dict(),
            )
        )
    group = data.profile(known, dots)
    if group is not None:
        cells: dict[str, tuple[str, Cell]] = {
            "trait": ("median of", str),
            "most_exposed": ("most exposed tenth", str),
            "everyone": ("everyone", str),
        }
        out.append(
            Figure(
                "profile",
                "The most exposed tenth",
                words.PROFILE,
                _sheet(words.profile(group), cells, "profile.csv"),
                open=True,
            )
        )
    return Section("why", "Who is most exposed, and why?", words.why(known, group), out)


def _realised(known: pl.DataFrame, summary: Summary) -> Section:
    columns: dict[str, tuple[str, Cell]] = {
        "share_below": ("share of people below", percent),
        "realised_lower": ("best guess found", percent),
        "realised_upper": ("no guess above", percent),
    }
    possible = known.filter(pl.col("realised_status") == "ok")
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    rows: dict[str, list[float]] = {"share_below": list(levels)}
    for name in ("realised_lower", "realised_upper"):
        values = possible[name].to_numpy()
        rows[name] = [float(np.quantile(values, q)) for q in levels] if len(values) >= data.FEW else []
    if not rows["realised_lower"]:
        rows["share_below"] = []
    kinds = dict.fromkeys(columns, pl.Float64)
    sheet = _sheet(pl.DataFrame(rows, schema=kinds), columns, "realised.csv")
    figure = Figure("realised", "The realised chance", words.REALISED, sheet, open=True)
    return Section("realised", "What did the published counts reveal?", words.realised(summary), [figure])


def _which(findings: Findings, people: People, summary: Summary) -> Section:
    out = []
    for what in ("sensor", "step"):
        rows = data.left_out(findings, people, what)
        columns: dict[str, tuple[str, Cell]] = {
            "name": ("place" if what == "sensor" else "step: begins", str),
            "with_all": ("chance with all", percent),
            "without": ("without this one", percent),
            "fall": ("fall", words.points),
            "error": ("standard error", words.points),
        }
        says = words.left_out(what, rows)
        sheet = _sheet(rows, columns, f"left-out-{what}.csv")
        out.append(Figure(f"left-{what}", f"Without each {what}", says, sheet, figures.left_out(rows, what).to_dict()))
    return Section("which", "Which sensor and which step reveal most?", words.which(findings, summary), out)


def _noise(
    findings: Findings,
    release: Release,
    settings: AuditSettings,
    totals: NDArray[np.int64],
    summary: Summary,
) -> Section:
    rows = data.noise(findings, release, settings, totals)
    columns: dict[str, tuple[str, Cell]] = {
        "mechanism": ("counts", str),
        "error": ("typical error (people)", lambda e: f"{e:.2g}"),
        "baseline": ("without the release", percent),
        "lower": ("with it: best attack found", percent),
        "upper": ("with it: no attack above", percent),
        "epsilon": ("epsilon", lambda e: "none" if e is None else f"{e:.3g}"),
    }
    sheet = _sheet(rows.select(list(columns)), columns, "noise.csv")
    figure = Figure(
        "noise", "The chance to be found and the error of the counts", words.NOISE, sheet, figures.noise(rows).to_dict()
    )
    return Section("noise", "What would noise or rounding do?", words.noise(rows), [figure])


def _privacy(summary: Summary) -> Section:
    return Section("privacy", "What does differential privacy say?", words.privacy(summary))


def _facts(summary: Summary) -> list[tuple[str, str]]:
    drawn = "" if summary.people == summary.people_eligible else f", drawn at random from {summary.people_eligible:,}"
    states = ", ".join(f"{count:,} {words.STATUSES.get(name, name)}" for name, count in summary.statuses.items())
    return [
        ("People", f"{summary.people:,}{drawn}"),
        ("Measured", states),
        (
            "Steps",
            f"{summary.steps:,} of {summary.window} to be found, after {summary.steps_fitted:,} that habits were "
            "fitted to",
        ),
        ("Places", f"{summary.places:,}, with elsewhere"),
        ("Counts", f"{summary.sensors:,}, published as {words.mechanism(summary.mechanism)}"),
        ("Misses", f"{summary.misses:,}"),
        ("Rows of the visits", f"{summary.visits.read:,} read, {summary.visits.kept:,} kept"),
        ("Seed", str(summary.seed)),
    ]


def _sheet(table: pl.DataFrame, columns: dict[str, tuple[str, Cell]], file: str) -> Sheet:
    rows = [[cell(row[name]) for name, (_, cell) in columns.items()] for row in table.iter_rows(named=True)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_saved(row[name]) for name in columns] for row in table.iter_rows(named=True))
    return Sheet([head for head, _ in columns.values()], rows, file, text.getvalue())


def _saved(value: object) -> object:
    """A value of a CSV file; names that a spreadsheet would take for a formula are quoted."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return "'" + value
    return "" if value is None else value


def _versions() -> list[tuple[str, str]]:
    packages: Sequence[str] = ("numpy", "polars", "numba", "altair")
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
    return environment.get_template("template.html")
