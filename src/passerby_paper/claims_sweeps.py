"""Claims about the simulated sweeps over raw counts: places, steps that must be right, steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from .claims import (
    FAILS,
    HOLDS,
    PART,
    Finding,
    Group,
    Parts,
    Tables,
    between,
    course,
    ends,
    judge,
    loss_at,
    shown,
    times,
    values,
)
from .figures import LOOKS
from .rules import HALF, ROUNDING, TENTH, VISIBLE, Answer, close, falls, rises
from .settings import ATTACKS, BOUNDS, Settings
from .simulated import averaged

PLACES = Group("Number of places, simulated")
RIGHT = Group("Steps that must be right, simulated")
STEPS = Group("Number of steps, simulated")
#: What the paper reads off its figure for MAP at small M.
READ_OFF = 0.30


def _trends(
    means: pl.DataFrame, change: Callable[..., Answer], traces: int, attacks: Sequence[str] = ("map",)
) -> Parts:
    """Whether attacks, the loss and the bounds all change as `change` tells: `falls` or `rises`."""
    return {
        **{f"the {LOOKS[name].label}": change(values(means, name), traces=traces) for name in attacks},
        "the loss": change(values(means, "lower"), values(means, "upper")),
        **{f"the {bound} bound": change(values(means, bound)) for bound in BOUNDS},
    }


def _compared(
    means: pl.DataFrame,
    letter: str,
    column: str,
    words: str,
    check: Callable[[Sequence[float], Sequence[float]], Answer],
) -> Finding:
    """How far both bounds are from the loss at the two ends of a sweep, and whether that is as `check` tells.

    The loss lies in an interval, and so do the distances: `check` gets the least and the most of them.
    """
    parts: Parts = {}
    said = []
    for bound in BOUNDS:
        value, lower, upper = (means[c].to_numpy() for c in (bound, "lower", "upper"))
        spans = {"difference": (value - upper, value - lower), "ratio": (value / upper, value / lower)}
        for name, (least, most) in spans.items():
            parts[words.format(f"the {name} of the {bound} bound to the loss")] = check(least.tolist(), most.tolist())
        gap, ratio = (least for least, _ in spans.values())
        said.append(
            f"{bound} bound minus loss {shown(gap[0])} and {shown(gap[-1])}, over loss {times(ratio[0])} and "
            f"{times(ratio[-1])}"
        )
    first, last = means[column][0], means[column][-1]
    return judge(parts, f"at {letter} = {first} and {letter} = {last}, at the least: {'; '.join(said)}")


@PLACES.claim("Loss and number of places", "4.2.2", "places")
def _loss_falls_with_places(tables: Tables, settings: Settings) -> Finding:
    """We find that the privacy loss decreases as the number of locations M gets larger."""
    means = averaged(tables["places"])
    return judge(
        _trends(means, falls, settings.traces),
        f"M = {means['places'][0]} to {means['places'][-1]}: {course(means, between='; ')}",
    )


@PLACES.claim("MAP with few places", "4.2.2", "places")
def _map_with_few_places(tables: Tables, settings: Settings) -> Finding:
    """We also see that the privacy loss for MAP is high ≈ 30 % for small M."""
    # In part where it passes the paper's number further along the sweep.
    means = averaged(tables["places"])
    attack, m = values(means, "map"), means["places"].to_list()
    near = [abs(value - READ_OFF) <= VISIBLE for value in attack]
    passes = max(attack) >= READ_OFF >= min(attack)
    verdict = HOLDS if near[0] else PART if any(near) or passes else FAILS
    why = "" if verdict != PART else f"not at the smallest M, but between M = {m[0]} and M = {m[-1]}"
    return Finding(
        verdict,
        f"M = {m[0]}: MAP {shown(attack[0])} exactly, {shown(means['map_mc'][0])} by Monte Carlo, the best attack "
        f"found {shown(means['lower'][0])}; at M = {m[1]} MAP {shown(attack[1])}",
        why,
    )


@PLACES.claim("Bounds and number of places", "4.2.2", "places")
def _bounds_tighten(tables: Tables, settings: Settings) -> Finding:
    """We also observe the upper bounds get tight when M is large."""
    return _compared(averaged(tables["places"])[[0, -1]], "M", "places", "{} shrinks", falls)


def _right(tables: Tables) -> pl.DataFrame:
    """The sweep at the longer of the two trace lengths, with the best of the paper's attacks."""
    means = averaged(tables["right"]).with_columns(best=pl.max_horizontal(ATTACKS))
    return means.filter(pl.col("steps") == pl.col("steps").max())


@RIGHT.claim("Loss and steps that must be right", "4.2.2", "right")
def _loss_falls_with_right(tables: Tables, settings: Settings) -> Finding:
    """As the number of time steps for success gets larger (s is smaller), the privacy loss gets smaller as expected.
    [...] The privacy loss for each estimator also decreases with smaller s.
    """
    means = _right(tables)
    return judge(
        _trends(means, falls, settings.traces, ATTACKS),
        f"1 to {means['right'][-1]} steps right: {course(means, between='; ', attack=None)}",
    )


@RIGHT.claim("Tight and loose", "4.2.2", "right")
def _tight_says_more(tables: Tables, settings: Settings) -> Finding:
    """The gap between the two bounds is large, and the tight UB provides a meaningful bound even when the loose one
    does not.
    """
    means = _right(tables)
    large = means.filter(pl.col("tight") < HALF * pl.col("loose")).height
    silent = means.filter((pl.col("loose") > 1 - VISIBLE) & (pl.col("tight") < HALF))
    where = ", ".join(f"{r['right']} ({shown(r['tight'])})" for r in silent.iter_rows(named=True))
    return judge(
        {"the gap is large": large > HALF * means.height, "tight is meaningful where loose is not": silent.height > 0},
        f"tight is less than half of loose at {large} of {means.height} points; loose above {shown(1 - VISIBLE)} and "
        f"tight below one half at steps right: {where or 'none'}",
    )


@RIGHT.claim("The tight bound is tighter", "3.3.2", "places", "right", "steps-half", "steps-two", "sigma")
def _tight_is_tighter(tables: Tables, settings: Settings) -> Finding:
    """[We] provide a tighter bound on our privacy loss when the prior of X is non-uniform."""
    names = ("places", "right", "steps-half", "steps-two", "sigma")
    points = pl.concat([averaged(tables[n]).select("places", "steps", "right", "tight", "loose") for n in names])
    worse = points.filter(pl.col("tight") > pl.col("loose") + ROUNDING)
    measured = f"the tight bound is the smaller one at {points.height - worse.height} of {points.height} points"
    if not worse.height:
        return Finding(HOLDS, measured)
    row = worse.sort(pl.col("tight") - pl.col("loose"), descending=True).row(0, named=True)
    return Finding(
        PART if worse.height < points.height else FAILS,
        f"{measured}; the other way round at M = {row['places']}, T = {row['steps']}, {row['right']} right: tight "
        f"{shown(row['tight'])}, loose {shown(row['loose'])}",
        "its sum over balls can exceed one",
    )


@RIGHT.claim("The tight bound and the attacks", "4.2.2", "right")
def _tight_matches_attacks(tables: Tables, settings: Settings) -> Finding:
    """Furthermore, tight UB is especially tight and almost matches the privacy loss for adversarial estimators when s
    is small.
    """
    means = _right(tables)
    parts: Parts = {}
    words = []
    for row in means.filter(pl.col("misses") <= TENTH * pl.col("steps")).sort("misses").iter_rows(named=True):
        s, tight, best = row["misses"], row["tight"], row["best"]
        parts |= close([tight, best], what=f"at s = {s}")
        words.append(f"s = {s}: tight {shown(tight)}, best attack {shown(best)}, {times(tight / best)}")
    gaps = (means["tight"] - means["best"]).to_list()
    parts["the difference is smallest at s = 0"] = gaps[-1] <= min(gaps) + ROUNDING
    return judge(parts, "; ".join(words))


@RIGHT.claim("The constant attack", "4.2.2", "right")
def _constant_at_one(tables: Tables, settings: Settings) -> Finding:
    """When the number of time steps for success is 1, [...] even the simple rule-based estimator can have a
    non-negligible chance to estimate the locations correctly.
    """
    first = _right(tables).row(0, named=True)
    return Finding(
        HOLDS if first["constant"] >= VISIBLE else FAILS,
        f"one step right: constant {shown(first['constant'])} ({shown(first['constant_mc'])} by Monte Carlo), "
        f"MAP {shown(first['map'])}, loss {between(first['lower'], first['upper'])}",
    )


@RIGHT.claim("MAP is the best attack at s = 0", "3.2.2", "right")
def _map_is_best(tables: Tables, settings: Settings) -> Finding:
    """If the prior is correct, the MAP estimator achieves the best success rate [...] when the success is defined to
    identify the locations at all time steps (s = 0).
    """
    means = _right(tables)
    last = means.row(-1, named=True)
    best = abs(last["map"] - last["upper"]) <= ROUNDING * last["upper"]
    share = min((means["map"] / means["lower"]).to_list())
    return Finding(
        HOLDS if best else FAILS,
        f"s = 0: MAP {shown(last['map'])}, loss {between(last['lower'], last['upper'])}; with s > 0 MAP reaches as "
        f"little as {shown(share)} of the best attack found",
    )


@STEPS.claim("Steps with s = T/2", "4.2.2", "steps-half")
def _constant_with_half(tables: Tables, settings: Settings) -> Finding:
    """For the first case [s = T/2], the privacy loss remains almost constant across T's."""
    means = averaged(tables["steps-half"])
    parts = close(values(means, "map"), what="the MAP attack")
    parts |= close(values(means, "lower"), values(means, "upper"), "the loss")
    for bound in BOUNDS:
        parts |= close(values(means, bound), what=f"the {bound} bound")
    measured = (
        f"T = {means['steps'][0]} to {means['steps'][-1]}: MAP {ends(means, 'map')}, loss {loss_at(means, 0)} down to "
        f"{loss_at(means, -1)} (at least {times(means['lower'][0] / means['upper'][-1])} less), tight "
        f"{ends(means, 'tight')}, loose {ends(means, 'loose')}"
    )
    unseen = means.filter(pl.col("map_mc") == 0)["steps"].to_list()
    if unseen:
        measured += f"; {settings.traces:,} traces show no success of MAP at T = {', '.join(map(str, unseen))}"
    return judge(parts, measured)


@STEPS.claim("Steps with s = T-2", "4.2.2", "steps-two")
def _grows_with_two(tables: Tables, settings: Settings) -> Finding:
    """For the second case [s = T-2], the privacy loss increases as T grows."""
    means = averaged(tables["steps-two"])
    return judge(
        _trends(means, rises, settings.traces),
        f"T = {means['steps'][0]} to {means['steps'][-1]}: {course(means, to='up to')}",
    )


@STEPS.claim("Tightness and number of steps", "4.2.2", "steps-two")
def _tightest_at_few(tables: Tables, settings: Settings) -> Finding:
    """The tightness of the upper bounds is the best when T is the smallest."""
    return _compared(averaged(tables["steps-two"]), "T", "steps", "by {}", _smallest_first)


def _smallest_first(low: Sequence[float], high: Sequence[float]) -> Answer:
    """Whether the first of several values, known to lie between `low` and `high`, is the smallest."""
    if min(high) < low[0] - ROUNDING:
        return False
    return True if high[0] <= min(low[1:]) + ROUNDING else None
