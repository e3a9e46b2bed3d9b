"""The effect of noise or rounding on the loss, and on the counts."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import polars as pl

from passerby.audits.findings import MORE, candidates
from passerby.mechanisms import Mechanism
from passerby.plans.limit import CONFIDENCE
from passerby.questions.comparisons import differential_privacy
from passerby.report import chart
from passerby.report.chart import WITHOUT
from passerby.report.evidence import MECHANISMS, Evidence
from passerby.report.section import Columns, Content, Figure, Section, sheet
from passerby.report.words import WITH_IT, few, level, share_of_people
from passerby.support.numbers import percent, span
from passerby.support.rule_of_five import FEW, fives_above, fives_below

TITLE = "The chance to be found and the error of the counts"
SAYS = (
    "Each point is a way to publish the same counts: on the lines with noise, the squares rounded. To the right the "
    "counts are less exact; the further down, the less likely people are found. Below the chance without the release "
    f"nothing can be gained. {chart.ZOOM}"
)
SHARES = (
    "The share of everyone who is found with at least this chance. With the release it lies between the best attacks "
    f"and the bounds; with another way, within confidence limits ({level(CONFIDENCE)}) from the people it was tried "
    "on. In fives of people; not told where the table of people above a threshold withholds a share."
)
#: Room for small and for large errors, and for points at zero.
_SQRT = alt.Scale(type="sqrt", padding=8, nice=False)
#: The counts for the mean error of a rule.
_COUNTS = 1000


def build(evidence: Evidence) -> Content:
    """Words, chart and table of the tried mechanisms, and the people above each threshold with each."""
    columns: Columns = {
        "mechanism": ("counts", str),
        "error": ("typical error (people)", lambda e: f"{e:.2g}"),
        **WITH_IT,
        "lowest": ("everyone's mean, at least", percent),
        "highest": ("everyone's mean, at most", percent),
        "people": ("tried on (people)", "{:,}".format),
    }
    tried = rows(evidence)
    figures = [Figure("noise", TITLE, SAYS, sheet(tried, columns, "noise.csv"), picture(tried))]
    table = shares(evidence)
    if table.height:
        head = {"mechanism": ("counts", str), **{name: (name, str) for name in table.columns[1:-1]}}
        shown = sheet(table, {**head, "people": ("tried on (people)", "{:,}".format)}, "shares.csv")
        figures.append(Figure("ways", "People above each threshold, by way to publish", SHARES, shown))
    return Content([*words(tried), *enough(evidence), *sureness(evidence)], figures)


def shares(evidence: Evidence) -> pl.DataFrame:
    """A row for each way to publish, with the share of everyone at or above each threshold, in fives of people.

    Where the summary withholds a share at a threshold, so does each way: another table would else tell it.
    """
    assert evidence.findings is not None
    found = evidence.findings.shares.filter(pl.col("people") >= FEW)
    everyone = max(1, evidence.known.height)
    withheld = {
        each.threshold for each in evidence.summary.above if None in (each.baseline, each.loss_lower, each.loss_upper)
    }
    table = []
    for name in found["mechanism"].unique(maintain_order=True):
        some = found.filter(pl.col("mechanism") == name)
        row = {"mechanism": name}
        for each in some.iter_rows(named=True):
            low, high = fives_below(each["lowest"] * everyone), fives_above(each["highest"] * everyone)
            ends = span(low / everyone, min(1.0, high / everyone))
            row[f"at least {level(each['threshold'])}"] = (
                share_of_people(None) if each["threshold"] in withheld else ends
            )
        table.append({**row, "people": some["people"][0]})
    return pl.DataFrame(table)


def enough(evidence: Evidence) -> list[str]:
    """The least noise with hardly more people above each threshold than without the release."""
    assert evidence.findings is not None
    found = evidence.findings.noise
    if not found.height:
        return []
    needed: dict[str, list[str]] = {}
    for row in found.iter_rows(named=True):
        need = "no noise that was tried" if row["sigma"] is None else f"a standard deviation of {row['sigma']:g}"
        need = "this release as it is" if row["sigma"] == 0 else need
        needed.setdefault(need, []).append(level(row["threshold"]))
    said = [f"{need} for {', '.join(levels)}" for need, levels in needed.items()]
    some = f"at most {level(MORE)} more of the people"
    if MORE * len(evidence.people) < FEW - 1:
        some = f"{few()} more people"
    return [
        f"For whole traces, the least normal noise with which {some} reach a chance than without any release, as found "
        f"on {found['people'][0]} people: {'; '.join(said)}. A plan (passerby plan) looks further: for limits of one's "
        "own, what else could be left out or changed, and what that costs readers."
    ]


def sureness(evidence: Evidence) -> list[str]:
    """The certainty of each person's results, if they rest on drawn series."""
    assert evidence.findings is not None
    if evidence.findings.confidence is None:
        return []
    return [
        "Confidence limits above are about who was drawn. Where a person's series were too many to list, and were "
        "drawn too, all that is known of them from the release and from a trial of another way holds together with a "
        f"confidence of {level(evidence.findings.confidence)}."
    ]


def error_of(mechanism: Mechanism, seed: int = 0) -> float:
    """Root mean square error of published counts, over all counts below a thousand alike.

    It is not over the true counts of the release: this number would reveal them.

    >>> from passerby import Gaussian, Raw, Rounding
    >>> error_of(Gaussian(2.0)), error_of(Raw()), round(error_of(Rounding(5)), 3)
    (2.0, 0.0, 1.414)
    """
    if mechanism.deviation is not None:
        return mechanism.deviation
    counts = np.arange(_COUNTS)
    return float(np.sqrt(np.mean((mechanism.sample(counts, np.random.default_rng(seed)) - counts) ** 2)))


def rows(evidence: Evidence) -> pl.DataFrame:
    """Loss, error of the counts and differential privacy under each mechanism."""
    tried, settings = candidates(evidence.settings.sigmas, evidence.settings.bases), evidence.settings
    found = []
    for row in evidence.ways.iter_rows(named=True):
        mechanism = tried[row["mechanism"]]
        epsilon = differential_privacy(evidence.release.through(mechanism), settings.delta).exact
        found.append({**row, "error": error_of(mechanism, settings.seed), "epsilon": epsilon})
    kinds = dict.fromkeys(("lower", "upper", "lowest", "highest", "baseline", "error", "epsilon"), pl.Float64)
    return pl.DataFrame(found, schema={"mechanism": pl.String, "people": pl.Int64, **kinds}).sort(
        "error", maintain_order=True
    )


def words(tried: pl.DataFrame) -> list[str]:
    """The cost of the counts and the gain from noise."""
    noisy = tried.filter(~_rounded())
    first, last = noisy.row(0, named=True), noisy.row(-1, named=True)
    from_noise = (
        f"{span(last['lower'], last['upper'])} from counts with a typical error of {last['error']:g} people"
        f"{_between(last)}, "
    )
    return [
        "The same counts, published in other ways. The release itself was measured for everyone; every other way was "
        f"tried on {min(tried['people'].to_list()):,} people drawn at random, and what it changes for them is added to "
        "everyone's mean. On average people are found with a chance of "
        f"{span(first['lower'], first['upper'])} from exact counts{_between(first)}, "
        f"{from_noise if noisy.height > 1 else ''}and {percent(first['baseline'])} without any release."
    ]


def _between(row: dict[str, Any]) -> str:
    """Confidence limits of everyone's mean, if they are not its ends."""
    if row["lowest"] == row["lower"] and row["highest"] == row["upper"]:
        return ""
    ends = span(row["lowest"], row["highest"])
    return f" (everyone's mean lies within {ends}, with a confidence of {level(CONFIDENCE)})"


def _rounded() -> pl.Expr:
    return pl.col("mechanism").str.starts_with("rounded")


def picture(tried: pl.DataFrame) -> dict[str, Any]:
    """The mean loss against the error of the counts."""
    names = [WITHOUT, chart.FOUND, chart.BOUND]
    renamed = dict(zip(("baseline", "lower", "upper"), names, strict=True))
    long = tried.unpivot(
        on=list(renamed), index=["mechanism", "error", "people"], variable_name="which", value_name="chance"
    ).with_columns(pl.col("which").replace(renamed), pl.col("chance", "error").round(3), rounded=_rounded())
    # Noise is a line. Rounding is no degree of it, so it stands beside it as squares.
    base = alt.Chart(chart.values(long)).encode(
        x=alt.X("error:Q", title="typical error of a count (people)", scale=_SQRT, axis=alt.Axis(tickCount=6)),
        y=alt.Y("chance:Q", title="mean chance to be found", axis=alt.Axis(format=chart.TICK), scale=chart.unit()),
        color=chart.which(names, **chart.STROKE),
        tooltip=[
            chart.tip("mechanism:N", "counts"),
            chart.tip("which:N", " "),
            chart.tip("error:Q", "error", ".2f"),
            chart.tip("chance:Q", "chance", chart.FINE),
            chart.tip("people:Q", "tried on (people)", ",d"),
        ],
    )
    drawn = base.transform_filter("!datum.rounded")
    lines = drawn.mark_line(strokeWidth=2).encode(strokeDash=chart.dashes(names)).add_params(chart.zoom())
    # The smaller marks are drawn last, so each is visible if two overlap. Shapes without data are left out: Vega
    # complains of them.
    kinds = [("circle", "!datum.rounded", [(chart.BOUND, 120), (WITHOUT, 50), (chart.FOUND, 35)])]
    if long["rounded"].any():
        kinds.append(("square", "datum.rounded", [(chart.BOUND, 120), (chart.FOUND, 35)]))
    marks = [
        base.transform_filter(f"datum.which === '{name}' && {some}").mark_point(
            shape=shape, size=size, filled=True, opacity=1
        )
        for shape, some, sizes in kinds
        for name, size in sizes
    ]
    return chart.spec(alt.layer(lines, *marks), 260)


SECTION = Section("noise", "What would noise or rounding do?", build, needs=(MECHANISMS,))
