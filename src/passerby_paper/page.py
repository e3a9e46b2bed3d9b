"""The claims page: each checkable sentence of the paper beside what was measured, with a verdict. Made from tables."""

from __future__ import annotations

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


def written(tables: Tables, settings: Settings) -> str:
    """The page as Markdown."""
    judged = {group.title: [(claim, claim.judged(tables, settings)) for claim in group.claims] for group in GROUPS}
    every = [pair for group in judged.values() for pair in group]
    parts = [_opening(tables, settings, [found for _, found in every]), _overview(every), _rules()]
    parts += [_details(title, group) for title, group in judged.items()]
    parts += [page_changes.section(tables, settings), page_readings.section(tables, settings)]
    parts += [_figures(tables), _method(tables, settings)]
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
        "# The paper's claims\n\n"
        "Koga, Meehan and Chaudhuri, *Measuring Privacy Loss in Distributed Spatio-Temporal Data* (2024), sentence by "
        f"sentence beside what `passerby reproduce` (version {pb.__version__}, seed {settings.seed}) finds. This page "
        "is written by that command: its sentences are templates, and all figures and verdicts in them come from the "
        f"tables of the run, by [stated rules](#when-a-claim-holds).\n{warning}\n"
        f"Of {len(findings)} claims: {tally}.{sample}\n\n"
        "*Loss* is the success probability of the best attack; this tool brackets it between the best attack that it "
        "finds and its smallest bound. *Tight* and *loose* are the paper's bounds. Intervals in brackets are 95 % "
        "bootstrap intervals over people.\n"
    )


def _overview(judged: Judged) -> str:
    rows = [(claim.name, claim.section, found.verdict) for claim, found in judged]
    return "## Verdicts\n\n" + rows_of(("claim", "section", "verdict"), rows)


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
        "The paper's words are taken to mean the following: thresholds follow from the words and from what the paper's "
        "experiments can resolve, not from what was measured here.\n\n"
        + rows_of(("words of the paper", "taken to mean", "because"), MEANINGS)
        + "\nA claim holds where all of its parts do, for all files; it holds in part where some do, and the words in "
        "brackets say which. A part cannot be told where the measured intervals allow both answers. A claim none of "
        "whose parts is seen to hold does not hold, or is not checkable where none of them can be told.\n"
    )


def _figures(tables: Tables) -> str:
    drawn = {name: e.title for name, e in EXPERIMENTS.items() if e.draw and name in tables}
    each = [f"![{caption}](figures/{name}.svg)\n\n*{caption}*\n" for name, caption in drawn.items()]
    return "## Figures\n\n" + "\n".join(each) if each else ""


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
