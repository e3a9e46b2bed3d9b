"""Claims about noise, on simulated data."""

from __future__ import annotations

import polars as pl

from .claims import Claim, Finding, Tables, judge
from .rules import SURE, Answer, close, falls
from .settings import Settings
from .simulated import averaged
from .style import PAPER_BOUNDS
from .wording import between, ends, shown, values


def settings_of(tables: Tables) -> dict[str, pl.DataFrame]:
    """The sweeps over sigma, by how many steps must be right: the paper's, and two where the loss is larger."""
    both = pl.concat([averaged(tables[name]) for name in ("sigma", "noise") if name in tables])
    out = {}
    for right in sorted(set(both["right"].to_list())):
        group = both.filter(pl.col("right") == right).sort("sigma", nulls_last=False)
        out[f"{right} of {group['steps'][0]} right"] = group
    return out


def bounds_fall(tables: Tables, settings: Settings) -> Finding:
    """The paper's bounds against sigma."""
    noisy = averaged(tables["sigma"]).drop_nulls("sigma")
    return judge(
        {f"the {bound} bound": falls(values(noisy, bound)) for bound in PAPER_BOUNDS},
        f"sigma = {noisy['sigma'][0]:g} to {noisy['sigma'][-1]:g}: tight {ends(noisy, 'tight')}, loose "
        f"{ends(noisy, 'loose')}",
    )


def map_stays(tables: Tables, settings: Settings) -> Finding:
    """MAP with raw and with noisy counts, at the paper's setting and where the loss is large."""
    parts: dict[str, Answer] = {}
    words = []
    for name, group in settings_of(tables).items():
        low, high = around(group, "map")
        parts |= {f"{name} {sense}": answer for sense, answer in close(low, high).items()}
        raw, most = group.row(0, named=True), group.row(-1, named=True)
        words.append(
            f"{name}: MAP {shown(raw['map'])} raw, {shown(most['map'])} at sigma = {most['sigma']:g}, the prior alone "
            f"{shown(most['prior'])}"
        )
    seen = max(values(averaged(tables["sigma"]), "map_mc"))
    words.append(f"at the paper's setting {settings.traces:,} traces give MAP at most {shown(seen)}")
    return judge(parts, "; ".join(words))


def loss_stays(tables: Tables, settings: Settings) -> Finding:
    """Whether the loss with noise is almost that without."""
    parts: dict[str, Answer] = {}
    words = []
    for name, group in settings_of(tables).items():
        low = values(group, "lower")
        parts |= {f"{name} {sense}": answer for sense, answer in close(low, values(group, "upper")).items()}
        raw, noisy = group.row(0, named=True), group.drop_nulls("sigma")
        below = noisy.filter(pl.col("upper") < low[0])
        least = f"surely lower from sigma = {below['sigma'][0]:g} on" if below.height else "not surely lower"
        last = noisy.row(-1, named=True)
        words.append(
            f"{name}: loss {between(raw['lower'], raw['upper'])} raw, {between(last['lower'], last['upper'])} at "
            f"sigma = {last['sigma']:g}, without any counts {between(raw['baseline_lower'], raw['baseline_upper'])}; "
            f"{least}"
        )
    return judge(parts, "; ".join(words))


def around(table: pl.DataFrame, column: str) -> tuple[list[float], list[float]]:
    """What a value lies between for sure, where it was sampled."""
    value, error = values(table, column), values(table, f"{column}_error")
    low = [max(0.0, v - SURE * e) for v, e in zip(value, error, strict=True)]
    return low, [v + SURE * e for v, e in zip(value, error, strict=True)]


CLAIMS = (
    Claim(
        "Bounds and noise, simulated",
        "4.2.3",
        "We see in general that our privacy loss upper bounds get smaller as we add noise with a larger standard "
        "deviation σ.",
        ("sigma",),
        bounds_fall,
    ),
    Claim(
        "MAP and noise, simulated",
        "4.2.3",
        "Adding noise does not change the privacy loss for the MAP estimator much.",
        ("sigma", "noise"),
        map_stays,
    ),
    Claim(
        "Noise and the loss, simulated",
        "4.2.3",
        "Adding noise does not necessarily help reduce the privacy loss.",
        ("sigma", "noise"),
        loss_stays,
    ),
)
