"""The claims pages: a table of verdicts first, then each sentence of the paper beside the measured figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

import passerby as pb

from . import claims_noise, claims_people, claims_sweeps, claims_theory, page_changes, page_readings
from .claims import FAILS, HOLDS, OPEN, PART, Claim, Finding, Tables
from .experiments import EXPERIMENTS
from .rules import MEANINGS
from .settings import NAMES, Settings
from .simulated import averaged
from .wording import rows_of, times

GROUPS = (
    claims_theory.THEORY,
    claims_sweeps.PLACES,
    claims_sweeps.RIGHT,
    claims_sweeps.STEPS,
    claims_noise.SIMULATED,
    claims_people.FILES,
    claims_people.ATTACKED,
    claims_people.PERSONS,
    claims_noise.REAL,
)
Judged = Sequence[tuple[Claim, Finding]]
VERDICTS = (HOLDS, PART, FAILS, OPEN)
EVIDENCE_OPENING = (
    "# The evidence\n\n"
    "Each claim of the paper in its own words, the verdict of [the table](../claims.md), and the measured figures. "
    "Intervals in brackets are 95 % bootstrap intervals over people.\n"
)


#: The pages: the table of verdicts, its evidence, the readings of the paper, and the figures.
VERDICTS_PAGE, EVIDENCE, READINGS, FIGURES = (
    "claims.md",
    "claims/evidence.md",
    "claims/readings.md",
    "claims/figures.md",
)


def written(tables: Tables, settings: Settings) -> dict[str, str]:
    """The pages as Markdown, by the name of their file."""
    judged = {group.title: [(claim, claim.judged(tables, settings)) for claim in group.claims] for group in GROUPS}
    every = [pair for group in judged.values() for pair in group]
    first = [_opening(tables, settings, [found for _, found in every]), _overview(every)]
    first += [page_changes.section(tables, settings), _rules(), _method(tables, settings)]
    details = [_details(title, group) for title, group in judged.items()]
    return {
        VERDICTS_PAGE: _page(first),
        EVIDENCE: _page([EVIDENCE_OPENING, *details]),
        READINGS: _page([page_readings.section(tables, settings) or f"{page_readings.TITLE}\nNo reading was tried.\n"]),
        FIGURES: _page([_figures(tables)]),
    }


def _page(parts: Sequence[str]) -> str:
    return "\n".join(part for part in parts if part).rstrip() + "\n"


def _opening(tables: Tables, settings: Settings, findings: Sequence[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    tally = ", ".join(f"*{verdict}* {counts[verdict]}" for verdict in VERDICTS if counts[verdict])
    warning = ""
    if settings.quick:
        warning = "\n**A quick run: sizes are far below the paper's, and the verdicts are not to be quoted.**\n"
    sample = ""
    if "people" in tables:
        listed = "; ".join(
            f"{NAMES[r['dataset']]}: {r['rows']:,} of {r['paper_rows']:,} rows, {r['people']:,} people"
            for r in tables["people"].iter_rows(named=True)
        )
        sample = f" Real data: {listed}."
    return (
        f"# The paper's claims\n\nOf {len(findings)} claims: {tally}.{sample}\n\n"
        "The paper is Koga, Meehan and Chaudhuri, *Measuring Privacy Loss in Distributed Spatio-Temporal Data* (2024). "
        f"`passerby reproduce` (version {pb.__version__}, seed {settings.seed}) measured its claims and wrote this "
        "page. All figures and verdicts come from the tables of the run, by [stated rules](#when-a-claim-holds). "
        f"[The evidence](claims/evidence.md) quotes each claim beside the measured figures.\n{warning}\n"
        "*Loss* is the success probability of the best attack. It lies between the best attack found and the smallest "
        "bound. *Tight* and *loose* are the paper's bounds.\n"
    )


def _overview(judged: Judged) -> str:
    rows = [
        (f"[{claim.name}]({EVIDENCE}#{_anchor(claim.name)})", claim.section, found.verdict) for claim, found in judged
    ]
    return "## Verdicts\n\n" + rows_of(("claim", "section", "verdict"), rows)


def _anchor(heading: str) -> str:
    """The address of a heading within its page.

    >>> _anchor("Steps with s = T/2")
    'steps-with-s--t2'
    """
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _details(title: str, group: Judged) -> str:
    out = [f"## {title}\n"]
    for claim, found in group:
        out.append(f"### {claim.name}\n\n> {claim.quote} (section {claim.section})\n")
        because = f" ({found.why})" if found.why else ""
        out.append(f"**{found.verdict.capitalize()}**{because}.\n\nMeasured: {found.measured}.\n")
    return "\n".join(out)


def _rules() -> str:
    """What the paper's words are taken to mean."""
    return (
        "## When a claim holds\n\n"
        "Thresholds follow from the paper's words and from the resolution of its experiments, not from the figures "
        "measured here.\n\n"
        + rows_of(("words of the paper", "taken to mean", "because"), MEANINGS)
        + "\nA claim holds if all of its parts do, for all files. It holds in part if some do, and the words in "
        "brackets name them. A part stays open if the measured intervals allow both answers. A claim does not hold if "
        "no part is seen to hold. It is not checkable if all of its parts stay open.\n"
    )


def _figures(tables: Tables) -> str:
    drawn = {name: e.title for name, e in EXPERIMENTS.items() if e.draw and name in tables}
    each = [f"![{caption}](../figures/{name}.svg)\n\n*{caption}*\n" for name, caption in drawn.items()]
    return "# Figures of the paper, made anew\n\n" + ("\n".join(each) or "No figure was drawn.\n")


def _widest(tables: Tables) -> str:
    """How wide intervals are left, at the most, by sweep."""
    words = []
    for name in ("places", "right", "steps-half", "steps-two", "sigma", "noise"):
        if name in tables:
            means = averaged(tables[name]).with_columns(ratio=pl.col("upper") / pl.col("lower"))
            row = means.sort("ratio").row(-1, named=True)
            noise = "" if row["sigma"] is None else f", sigma = {row['sigma']:g}"
            where = f"M = {row['places']}, T = {row['steps']}, {row['right']} right{noise}"
            words.append(f"`{name}` {times(row['ratio'])} ({where})")
    return f" The upper end is at most so many times the lower one: {'; '.join(words)}." if words else ""


def _method(tables: Tables, settings: Settings) -> str:
    s = settings
    real = ""
    if "people" in tables:
        real = (
            f"- Real: windows of {s.window} from the first record, the {s.real_places} most visited places and "
            "elsewhere, "
            f"people seen in at least {s.min_active} windows, the last {s.holdout} steps to find, s = {s.real_misses}; "
            f"habits smoothed by {s.smoothing:g} step toward the population's frequencies; one random placement of "
            f"sensors for everyone. Effort: budget {s.real_budget:.0e}, {s.real_runs} sampled series per person "
            "where series must be sampled; intervals that rest on samples hold with 99 % confidence. Attacks are "
            "scored on the real held-out traces; the frequency of visits is the share of fitted steps. Bounds and "
            "intervals are averaged over people.\n"
        )
        if s.most_people is not None:
            real += f"- Only the first {s.most_people} people of each file.\n"
    return (
        "## How this was measured\n\n"
        f"- Simulated: M = {s.places}, T = {s.steps}, tau = {s.tau:g}, s = {s.misses} unless swept; sensors uniform at "
        f"random, averaged over {s.draws} placement{'s' * (s.draws != 1)} (the same relative positions along a sweep); "
        f"{s.traces:,} Monte Carlo traces per placement. Raw counts but in the sweeps over sigma. The paper does not "
        "print the swept values; these cover its figures.\n"
        f"- Effort: {s.budget:.0e} elementary operations per step and point in sweeps, {s.close_budget:.0e} and "
        f"one placement where noise is looked at closely; up to {s.runs:,} and "
        f"{s.close_runs:,} sampled series where noisy, with 99 % confidence. Attack values from "
        f"samples carry standard errors in the tables.{_widest(tables)}\n"
        f"{real}"
    )
