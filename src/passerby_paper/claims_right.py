"""Claims about the number of steps that must be right, on simulated data."""

from __future__ import annotations

import polars as pl

from .claims import FAILS, HOLDS, PART, Claim, Finding, Tables, judge
from .curves import trends
from .rules import HALF, ROUNDING, TENTH, VISIBLE, Answer, close, falls
from .settings import Settings
from .simulated import averaged
from .style import ATTACKS
from .wording import between, ends, loss_at, shown, times, values


def _sweep(tables: Tables) -> pl.DataFrame:
    """The sweep at the longer of the two trace lengths, with the best of the paper's attacks."""
    means = averaged(tables["right"]).with_columns(best=pl.max_horizontal(ATTACKS))
    return means.filter(pl.col("steps") == pl.col("steps").max())


def loss_falls(tables: Tables, settings: Settings) -> Finding:
    """Loss against the number of steps that must be right."""
    means = _sweep(tables)
    return judge(
        trends(means, falls, settings.traces, ATTACKS),
        f"1 to {means['right'][-1]} steps right: loss {loss_at(means, 0)} down to {loss_at(means, -1)}; "
        f"tight {ends(means, 'tight')}; loose {ends(means, 'loose')}",
    )


def tight_says_more(tables: Tables, settings: Settings) -> Finding:
    """How often the tight bound is far below the loose one, and where it speaks while the loose one is silent."""
    means = _sweep(tables)
    large = means.filter(pl.col("tight") < HALF * pl.col("loose")).height
    silent = means.filter((pl.col("loose") > 1 - VISIBLE) & (pl.col("tight") < HALF))
    where = ", ".join(f"{r['right']} ({shown(r['tight'])})" for r in silent.iter_rows(named=True))
    return judge(
        {"the gap is large": large > HALF * means.height, "tight is meaningful where loose is not": silent.height > 0},
        f"tight is less than half of loose at {large} of {means.height} points; loose above {shown(1 - VISIBLE)} and "
        f"tight below one half at steps right: {where or 'none'}",
    )


def tight_is_tighter(tables: Tables, settings: Settings) -> Finding:
    """Points at which the tight bound is not the smaller one."""
    names = [n for n in ("places", "right", "steps-half", "steps-two", "sigma") if n in tables]
    points = pl.concat([averaged(tables[n]).select("places", "steps", "right", "tight", "loose") for n in names])
    worse = points.filter(pl.col("tight") > pl.col("loose") + ROUNDING)
    verdict = HOLDS if not worse.height else PART if worse.height < points.height else FAILS
    measured = f"the tight bound is the smaller one at {points.height - worse.height} of {points.height} points"
    if worse.height:
        row = worse.sort(pl.col("tight") - pl.col("loose"), descending=True).row(0, named=True)
        measured += (
            f"; the other way round at M = {row['places']}, T = {row['steps']}, {row['right']} right: tight "
            f"{shown(row['tight'])}, loose {shown(row['loose'])}"
        )
    return Finding(verdict, measured, "its sum over balls can exceed one" if worse.height else "")


def tight_matches_attacks(tables: Tables, settings: Settings) -> Finding:
    """Tight bound against the best of the paper's attacks where few steps may be wrong."""
    means = _sweep(tables)
    parts: dict[str, Answer] = {}
    words = []
    for row in means.filter(pl.col("misses") <= TENTH * pl.col("steps")).sort("misses").iter_rows(named=True):
        for sense, answer in close([row["tight"], row["best"]]).items():
            parts[f"at s = {row['misses']} {sense}"] = answer
        ratio = times(row["tight"] / row["best"])
        words.append(f"s = {row['misses']}: tight {shown(row['tight'])}, best attack {shown(row['best'])}, {ratio}")
    gaps = [t - a for t, a in zip(values(means, "tight"), values(means, "best"), strict=True)]
    parts["the difference is smallest at s = 0"] = gaps[-1] <= min(gaps) + ROUNDING
    return judge(parts, "; ".join(words))


def constant_at_one(tables: Tables, settings: Settings) -> Finding:
    """The constant attack where one step suffices."""
    first = _sweep(tables).row(0, named=True)
    measured = (
        f"one step right: constant {shown(first['constant'])} ({shown(first['constant_mc'])} by Monte Carlo), "
        f"MAP {shown(first['map'])}, loss {between(first['lower'], first['upper'])}"
    )
    return Finding(HOLDS if first["constant"] >= VISIBLE else FAILS, measured)


def map_is_best(tables: Tables, settings: Settings) -> Finding:
    """At s = 0 MAP is the best attack; at larger s it is not."""
    means = _sweep(tables)
    last = means.row(-1, named=True)
    best = abs(last["map"] - last["upper"]) <= ROUNDING * last["upper"]
    share = min(m / low for m, low in zip(values(means, "map"), values(means, "lower"), strict=True))
    measured = (
        f"s = 0: MAP {shown(last['map'])}, loss {between(last['lower'], last['upper'])}; with s > 0 MAP reaches as "
        f"little as {shown(share)} of the best attack found"
    )
    return Finding(HOLDS if best else FAILS, measured)


CLAIMS = (
    Claim(
        "Loss and steps that must be right",
        "4.2.2",
        "As the number of time steps for success gets larger (s is smaller), the privacy loss gets smaller as "
        "expected. [...] The privacy loss for each estimator also decreases with smaller s.",
        ("right",),
        loss_falls,
    ),
    Claim(
        "Tight and loose",
        "4.2.2",
        "The gap between the two bounds is large, and the tight UB provides a meaningful bound even when the loose one "
        "does not.",
        ("right",),
        tight_says_more,
    ),
    Claim(
        "The tight bound is tighter",
        "3.3.2",
        "[We] provide a tighter bound on our privacy loss when the prior of X is non-uniform.",
        ("places", "right", "steps-half", "steps-two", "sigma"),
        tight_is_tighter,
    ),
    Claim(
        "The tight bound and the attacks",
        "4.2.2",
        "Furthermore, tight UB is especially tight and almost matches the privacy loss for adversarial estimators when "
        "s is small.",
        ("right",),
        tight_matches_attacks,
    ),
    Claim(
        "The constant attack",
        "4.2.2",
        "When the number of time steps for success is 1, [...] even the simple rule-based estimator can have a "
        "non-negligible chance to estimate the locations correctly.",
        ("right",),
        constant_at_one,
    ),
    Claim(
        "MAP is the best attack at s = 0",
        "3.2.2",
        "If the prior is correct, the MAP estimator achieves the best success rate [...] when the success is defined "
        "to identify the locations at all time steps (s = 0).",
        ("right",),
        map_is_best,
    ),
)
