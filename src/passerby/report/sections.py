"""The sections of a report: each answers a question in words, with figures and the tables behind them."""

from __future__ import annotations

import polars as pl

from passerby.audits.settings import AuditSettings
from passerby.audits.summary import Summary
from passerby.audits.what_if import Findings
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.numerals import percent

from . import captions, data, figures, words
from .parts import Columns, Figure, Section, sheet
from .terms import few, level

WITH_IT: Columns = {
    "baseline": ("without the release", percent),
    "lower": ("with it: best attack found", percent),
    "upper": ("with it: no attack above", percent),
}


def published(people: People, release: Release, summary: Summary) -> Section:
    """What would be published: the counts."""
    counts = data.published_counts(people, release)
    columns: Columns = {
        "step": ("step", str),
        "start": ("begins", str),
        "place": ("place", str),
        "count": ("people", lambda n: few() if n is None else f"{n:,}"),
    }
    spec = figures.published(counts).to_dict() if counts.height else None
    figure = Figure("published", "The counts", words.counts(counts), sheet(counts, columns, "counts.csv"), spec)
    return Section("published", "What would be published?", words.published(summary, release), [figure])


def exposed(known: pl.DataFrame, settings: AuditSettings, summary: Summary) -> Section:
    """How exposed people are, with and without the release."""
    ranks = data.quantiles(known, ("baseline_lower", "lower", "upper", "advantage_lower", "advantage_upper"))
    ranks = ranks.rename({"baseline_lower": "baseline"})
    below: Columns = {"share_below": ("share of people below", level)}
    added: Columns = {
        "advantage_lower": ("advantage, at least", percent),
        "advantage_upper": ("advantage, at most", percent),
    }

    def share(value: float | None) -> str:
        return few() if value is None else percent(value)

    levels: Columns = {
        "level": ("chance of at least", level),
        "without": ("without the release", share),
        "found": ("with it: attack found", share),
        "bound": ("with it: not excluded", share),
    }
    above = sheet(data.thresholds(known, settings.thresholds), levels, "thresholds.csv")
    curves = figures.exposure(data.exposure(known)).to_dict()
    bars = figures.advantage(data.advantages(known)).to_dict()
    return Section(
        "exposed",
        "How exposed are people?",
        words.exposed(summary),
        [
            Figure("thresholds", "People above a threshold", captions.THRESHOLDS, above, open=True),
            Figure(
                "exposure",
                "The chance to be found",
                captions.EXPOSURE,
                sheet(ranks, {**below, **WITH_IT}, "exposure.csv"),
                curves,
            ),
            Figure(
                "advantage",
                "What the release adds",
                captions.ADVANTAGE,
                sheet(ranks, {**below, **added}, "advantage.csv"),
                bars,
            ),
        ],
    )


def why(dots: pl.DataFrame) -> Section:
    """Who is most exposed: the loss against two traits, and what the most exposed have in common."""
    out = []
    for key, column, title, axis, says in (
        ("sighted", "sighted", "Seen by sensors", "chance to pass a sensor", captions.SIGHTED),
        ("gap", "spectral_gap", "Slow and quick movers", "spectral gap", captions.GAP),
    ):
        grouped = data.classes(dots, column)
        columns: Columns = {
            "class": (axis, str),
            "people": ("people", str),
            "baseline": ("median without the release", percent),
            "lower": ("median with it: best attack", percent),
            "upper": ("median with it: no attack above", percent),
        }
        chart = figures.scatter(dots, column, axis).to_dict()
        out.append(Figure(key, title, says, sheet(grouped, columns, f"{key}.csv"), chart))
    groups = data.profile(dots)
    if groups is not None:
        cells: Columns = {
            "trait": ("median of", str),
            "most_exposed": ("most exposed tenth", str),
            "most_added": ("tenth with most added", str),
            "everyone": ("everyone", str),
        }
        profile = sheet(words.profile(groups), cells, "profile.csv")
        out.append(Figure("profile", "The most exposed tenth", captions.PROFILE, profile, open=True))
    return Section("why", "Who is most exposed, and why?", words.why(groups), out)


def realised(known: pl.DataFrame, summary: Summary) -> Section:
    """What the series that was really published gave away."""
    columns: Columns = {
        "share_below": ("share of people below", level),
        "realised_lower": ("best guess found", percent),
        "realised_upper": ("no guess above", percent),
    }
    possible = known.filter(pl.col("realised_status") == "ok")
    ranks = data.quantiles(possible, ("realised_lower", "realised_upper"))
    figure = Figure(
        "realised", "The realised chance", captions.REALISED, sheet(ranks, columns, "realised.csv"), open=True
    )
    return Section("realised", "What did the published counts reveal?", words.realised(summary), [figure])


def which(findings: Findings, people: People) -> Section:
    """Which count, sensor and step reveal most."""
    tables = {what: data.left_out(findings, people, what) for what in ("count", "sensor", "step")}
    heads: dict[str, Columns] = {
        "count": {"place": ("place", str), "step": ("step", str), "start": ("begins", str)},
        "sensor": {"name": ("place", str)},
        "step": {"step": ("step", str), "start": ("begins", str)},
    }
    columns: Columns = {
        "with_all": ("chance with all", percent),
        "without": ("without this one", percent),
        "fall": ("fall (points)", "{:.2f}".format),
        "error": ("standard error", "{:.2f}".format),
    }
    out = []
    for what, rows in tables.items():
        if what == "count":
            spec = figures.picture(rows, tables["sensor"]["place"].to_list()).to_dict()
        else:
            spec = figures.left_out(rows, what).to_dict()
        says, numbers = words.left_out(what, rows), sheet(rows, {**heads[what], **columns}, f"left-out-{what}.csv")
        out.append(Figure(f"left-{what}", f"Without each {what}", says, numbers, spec))
    return Section("which", "Which sensor and which step reveal most?", words.which(findings), out)


def noise(rows: pl.DataFrame) -> Section:
    """What noise or rounding would do to the loss, and to the counts."""
    columns: Columns = {
        "mechanism": ("counts", str),
        "error": ("typical error (people)", lambda e: f"{e:.2g}"),
        **WITH_IT,
    }
    title = "The chance to be found and the error of the counts"
    spec = figures.noise(rows).to_dict()
    figure = Figure("noise", title, captions.NOISE, sheet(rows, columns, "noise.csv"), spec)
    return Section("noise", "What would noise or rounding do?", words.noise(rows), [figure])


def privacy(known: pl.DataFrame, rows: pl.DataFrame | None, summary: Summary) -> Section:
    """What differential privacy says of the release, and of the other ways to publish."""
    out = []
    if rows is not None:
        columns: Columns = {
            "mechanism": ("counts", str),
            "epsilon": ("epsilon", lambda e: "no guarantee" if e is None else f"{e:.3g}"),
            **WITH_IT,
        }
        table = sheet(rows, columns, "epsilon.csv")
        out = [Figure("epsilon", "Epsilon beside the chance to be found", captions.EPSILON, table, open=True)]
    bound = known["bound_dp"].drop_nulls()
    mean = float(bound.mean()) if len(bound) else None  # type: ignore[arg-type]
    return Section("privacy", "What does differential privacy say?", words.privacy(summary, mean), out)


def limits() -> Section:
    """What is assumed."""
    title = "What is assumed, and what is not covered"
    return Section("limits", title, captions.LIMITS[:1], lists=captions.LIMITS[1:])
