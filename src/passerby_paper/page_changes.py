"""What a narrow interval changes in the paper's conclusions. A sentence is written only where its numbers bear it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from .claims import Tables
from .claims_noise import real_sweeps, simulated_sweeps
from .rules import HALF, TENTH, close
from .settings import NAMES, Settings
from .simulated import averaged
from .wording import between, by_file, fine, loss_at, rows_of, shown, times

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
