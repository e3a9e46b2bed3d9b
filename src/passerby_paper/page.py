"""The claims page, made from tables: each checkable sentence of the paper beside its measurement, with a verdict.

One part says what a narrow interval changes in the paper's conclusions. A sentence is written only where its numbers
bear it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

import passerby as pb
from passerby_paper import claims_people, claims_sweeps, claims_theory, page, page_readings

from .claims import (
    FAILS,
    HOLDS,
    OPEN,
    PART,
    Claim,
    Finding,
    Tables,
    between,
    by_file,
    fine,
    loss_at,
    rows_of,
    shown,
    times,
)
from .claims_theory import real_sweeps, simulated_sweeps
from .experiments import EXPERIMENTS
from .rules import HALF, MEANINGS, TENTH, close
from .settings import NAMES, Settings
from .simulated import averaged

Row = Mapping[str, Any]

#: Noise levels that the table shows, as far as they were run.
SHOWN = (0.25, 0.5, 1.0, 2.0, 4.0)


def section(tables: Tables, settings: Settings) -> str:
    """The part of the page about it, from the tables there are; empty where none is."""
    found = [_looseness(tables, settings), _real_looseness(tables, settings), _longer_traces(tables)]
    parts = [f"- {text}" for text in found if text]
    noise = _noise(tables, settings)
    if not parts and not noise:
        return ""
    return "## What better bounds change\n\n" + "\n".join(parts) + "\n\n" + noise


def _looseness(tables: Tables, settings: Settings) -> str:
    if "right" not in tables:
        return ""
    means = averaged(tables["right"]).filter(pl.col("steps") == settings.steps)
    here = means.filter(pl.col("misses") == settings.misses).row(0, named=True)
    ratios = (means["tight"] / means["upper"]).to_list()
    return (
        f"**How loose are the paper's bounds?** With {here['right']} of {here['steps']} steps right and "
        f"{here['places']} places they allow {shown(here['tight'])} (tight) and {shown(here['loose'])} (loose). The "
        f"loss lies at {between(here['lower'], here['upper'])}; without any counts it is "
        f"{between(here['baseline_lower'], here['baseline_upper'])}. Over the sweep from 1 to {here['steps']} steps "
        f"right the tight bound is at least {times(min(ratios))} to {times(max(ratios))} the loss."
    )


def _real_looseness(tables: Tables, settings: Settings) -> str:
    if "real-right" not in tables:
        return ""
    here = tables["real-right"].filter(pl.col("misses") == settings.real_misses)
    words = "; ".join(
        f"{NAMES[row['dataset']]}: tight {shown(row['tight'])}, loose {shown(row['loose'])}, loss "
        f"{fine(row['lower'], row['upper'])}, of which the habits alone give "
        f"{fine(row['baseline_lower'], row['baseline_upper'])}"
        for row in here.sort("dataset").iter_rows(named=True)
    )
    return f"**And on real data?** Means over people at s = {settings.real_misses}, sensors at random places. {words}."


def _longer_traces(tables: Tables) -> str:
    if "steps-half" not in tables:
        return ""
    means = averaged(tables["steps-half"])
    if means["upper"][-1] > means["lower"][0] / 2:
        return ""
    tight = means["tight"].to_list()
    constant = ", which reads as almost constant" if close(tight)["to the eye"] else ""
    return (
        "**Longer traces do protect, where a share of the steps must be right.** With s = T/2 the tight bound moves "
        f"between {shown(min(tight))} and {shown(max(tight))}{constant}. The loss itself falls from "
        f"{loss_at(means, 0)} at T = {means['steps'][0]} to {loss_at(means, -1)} at T = {means['steps'][-1]}."
    )


def _noise(tables: Tables, settings: Settings) -> str:
    """Whether noise helps: the loss against sigma in all settings, and what is left of what counts add."""
    sweeps = _sweeps(tables)
    if not sweeps:
        return ""
    sigmas = [s for s in SHOWN if any(s in group["sigma"].to_list() for group in sweeps.values())]
    rows = []
    for name, group in sweeps.items():
        raw = group.row(0, named=True)
        noisy = {row["sigma"]: row for row in group.drop_nulls("sigma").iter_rows(named=True)}
        losses = [fine(noisy[s]["lower"], noisy[s]["upper"]) if s in noisy else "" for s in sigmas]
        base = fine(raw["baseline_lower"], raw["baseline_upper"])
        left = [between(*left_of(raw, noisy[s])) if s in noisy else "" for s in sigmas if s >= 1]
        rows.append((name, base, fine(raw["lower"], raw["upper"]), *losses, *left))
    header = ("setting", "no counts", "raw", *(f"σ = {s:g}" for s in sigmas))
    header += tuple(f"left at σ = {s:g}" for s in sigmas if s >= 1)
    return (
        "### Does noise really not help?\n\n"
        "The paper infers from the MAP attack that noise does not necessarily help. The interval shows what noise does "
        "to the loss itself, whatever the attack. *Left* is what noisy counts add to the loss without any counts, as a "
        "share of what raw counts add.\n\n"
        f"{rows_of(header, rows)}\n{_concluded(sweeps)}"
        + "\n".join([*_said(sweeps), *_charged(tables, settings)])
        + "\n"
    )


def _sweeps(tables: Tables) -> dict[str, pl.DataFrame]:
    """All sweeps over sigma, by setting, raw counts first."""
    out: dict[str, pl.DataFrame] = {}
    if "sigma" in tables or "noise" in tables:
        out |= {f"simulated, {name}": group for name, group in simulated_sweeps(tables).items()}
    for where, table in real_sweeps(tables).items():
        out |= {f"{file}, {where}": group for file, group in by_file(table).items()}
    return out


def _concluded(sweeps: Mapping[str, pl.DataFrame]) -> str:
    """The answer, in a paragraph."""
    helped, habits, left = [], [], []
    for name, group in sweeps.items():
        raw, noisy = group.row(0, named=True), group.drop_nulls("sigma")
        if (noisy["upper"] < raw["lower"]).any():
            helped.append(name)
        if raw["baseline_lower"] >= (1 - TENTH) * raw["upper"]:
            habits.append(name)
        left += [name for row in noisy.iter_rows(named=True) if row["sigma"] == 1.0 and left_of(raw, row)[1] < HALF]
    out = f"**Noise surely lowers the loss in {len(helped)} of {len(sweeps)} settings.** "
    if left:
        out += f"In {len(left)} of them noise of σ = 1 surely leaves less than half of what raw counts add. "
    if habits:
        out += (
            f"What it cannot lower is the loss without counts, and that is nine tenths or more of the loss in "
            f"{len(habits)} of them ({'; '.join(habits)}): there the loss hardly changes, because counts tell "
            "little beyond the habits. "
        )
    return out.rstrip() + "\n\n"


def left_of(raw: Row, noisy: Row) -> tuple[float, float]:
    """What noisy counts add to the baseline, as a share of what raw ones add: at the least and at the most."""
    return (
        _share(noisy["lower"], raw["upper"], raw["baseline_upper"]),
        _share(noisy["upper"], raw["lower"], raw["baseline_lower"]),
    )


def _share(noisy: float, raw: float, baseline: float) -> float:
    return min(1.0, max(0.0, (noisy - baseline) / (raw - baseline))) if raw > baseline else 1.0


def _said(sweeps: Mapping[str, pl.DataFrame]) -> list[str]:
    """What the table shows, in words, setting by setting."""
    out = []
    for name, group in sweeps.items():
        raw, noisy = group.row(0, named=True), group.drop_nulls("sigma")
        below = noisy.filter(pl.col("upper") < raw["lower"])
        if not below.height:
            out.append(f"- *{name}*: noise is not seen to help at any sigma up to {noisy['sigma'][-1]:g}.")
            continue
        adds = max(0.0, raw["lower"] - raw["baseline_upper"])
        out.append(
            f"- *{name}*: noise helps for sure from sigma = {below['sigma'][0]:g} on. Raw counts add at least "
            f"{fine(adds, adds)}; at least {shown(raw['baseline_lower'] / raw['upper'])} of the loss is there without "
            "any counts."
        )
    return out


def _charged(tables: Tables, settings: Settings) -> list[str]:
    """What differential privacy says of the same noise."""
    if "formulas" not in tables:
        return []
    here = (pl.col("quantity") == "epsilon, exact") & (pl.col("steps") == settings.steps)
    epsilon = tables["formulas"].filter(here)["value"][0]
    return [
        f"- Differential privacy charges ε = {epsilon:.1f} for σ = 1 and T = {settings.steps}. It bounds what a count "
        "can do to anybody; the table shows what it does to these people."
    ]


GROUPS = (
    claims_theory.THEORY,
    claims_sweeps.PLACES,
    claims_sweeps.RIGHT,
    claims_sweeps.STEPS,
    claims_theory.SIMULATED,
    claims_people.FILES,
    claims_people.ATTACKED,
    claims_people.PERSONS,
    claims_theory.REAL,
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
    first += [page.section(tables, settings), _rules(), _method(tables, settings)]
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
