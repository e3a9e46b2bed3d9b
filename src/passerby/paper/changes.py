"""What a narrow interval changes in the paper's conclusions. A sentence is written only where its numbers bear it."""

from __future__ import annotations

import polars as pl

from .claims import Tables
from .settings import Settings
from .simulated import averaged
from .style import NAMES
from .wording import between, points, shown


def changes(tables: Tables, settings: Settings) -> list[str]:
    """Paragraphs, from the tables there are."""
    found = [_bounds(tables, settings), _longer_traces(tables), _noise(tables), *_real_noise(tables)]
    return [paragraph for paragraph in found if paragraph]


def _bounds(tables: Tables, settings: Settings) -> str:
    if "right" not in tables:
        return ""
    here = (pl.col("steps") == settings.steps) & (pl.col("misses") == settings.misses)
    row = averaged(tables["right"]).filter(here).row(0, named=True)
    far = row["tight"] > 2 * row["upper"]
    return (
        f"**The paper's bounds are {'far above' if far else 'near'} the loss.** With {row['right']} of {row['steps']} "
        f"steps right and {row['places']} places they allow {shown(row['tight'])} (tight) and {shown(row['loose'])} "
        f"(loose). The loss lies at {between(row['lower'], row['upper'])}; without any counts it is "
        f"{between(row['baseline_lower'], row['baseline_upper'])}."
    )


def _longer_traces(tables: Tables) -> str:
    if "steps-half" not in tables:
        return ""
    means = averaged(tables["steps-half"])
    if means["upper"][-1] > means["lower"][0] / 2:
        return ""
    tight = means["tight"].to_list()
    return (
        "**Longer traces do protect, where a share of the steps must be right.** With s = T/2 the tight bound moves "
        f"between {shown(min(tight))} and {shown(max(tight))}. The loss itself falls from "
        f"{between(means['lower'][0], means['upper'][0])} at T = {means['steps'][0]} to at most "
        f"{shown(means['upper'][-1])} at T = {means['steps'][-1]}."
    )


def _noise(tables: Tables) -> str:
    if "noise" not in tables:
        return ""
    means = averaged(tables["noise"]).filter(pl.col("right") == 1)
    raw, one = means.row(0, named=True), means.filter(pl.col("sigma") == 1.0)
    if not one.height:
        return ""
    row = one.row(0, named=True)
    base = between(raw["baseline_lower"], raw["baseline_upper"])
    numbers = (
        f"Where one step must be right, the loss is {base} without any counts, "
        f"{between(raw['lower'], raw['upper'])} with raw ones and {between(row['lower'], row['upper'])} with noise of "
        "sigma = 1"
    )
    if row["upper"] >= raw["lower"]:
        return f"**Noise is not seen to help.** {numbers}."
    lift = raw["lower"] - raw["baseline_upper"]
    share = (row["upper"] - raw["baseline_lower"]) / lift if lift > 0 else 1.0
    left = f", so at most {shown(share)} of what raw counts add is left" if share < 1 else ""
    return (
        f"**Noise does help.** {numbers}{left}. At the paper's own setting (half of the steps right) attacks "
        "succeed too "
        "rarely for its Monte Carlo to show this, and its bounds are too far above the loss."
    )


def _real_noise(tables: Tables) -> list[str]:
    out = []
    table = tables.get("real-noise", pl.DataFrame({"dataset": []}))
    for name in sorted(set(table["dataset"].to_list())):
        group = table.filter(pl.col("dataset") == name)
        raw = group.filter(pl.col("sigma").is_null()).row(0, named=True)
        most = group.drop_nulls("sigma").sort("sigma").row(-1, named=True)
        helps = most["upper"] < raw["lower"]
        text = (
            f"**{NAMES[name]}, one sensor at the most visited place: noise "
            f"{'helps' if helps else 'is not seen to help'}.** "
            f"The mean loss is {points(raw['baseline_lower'])} without counts, {points(raw['lower'])} with "
            "raw ones and "
            f"at most {points(most['upper'])} with sigma = {most['sigma']:g}. MAP finds "
            f"{shown(raw['hit_map'])} of the "
            f"real traces from raw counts and {shown(most['hit_map'])} from noisy ones. The tight bound says "
            f"{shown(raw['tight'])} and {shown(most['tight'])}."
        )
        if raw["baseline_lower"] > raw["lower"] / 2:
            text += " Most of the loss is what the habits tell without any counts: that part no noise takes away."
        out.append(text)
    return out
