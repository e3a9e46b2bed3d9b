"""Claims about simulated data, checked against the tables of the simulated sweeps."""

from __future__ import annotations

import polars as pl

from .claims import FAILS, HOLDS, PART, Claim, Finding, Tables, between, falls, grade, rises, shown, times
from .settings import Settings
from .simulated import averaged


def _ends(table: pl.DataFrame, column: str) -> str:
    return f"{shown(table[column][0])} to {shown(table[column][-1])}"


def _values(table: pl.DataFrame, column: str) -> list[float]:
    return [float(v) for v in table[column].to_list()]


def _loss_at(table: pl.DataFrame, row: int) -> str:
    return between(table["lower"][row], table["upper"][row])


def _right(tables: Tables) -> pl.DataFrame:
    means = averaged(tables["right"])
    return means.filter(pl.col("steps") == pl.col("steps").max())


def falls_with_places(tables: Tables, settings: Settings) -> Finding:
    """Loss against M."""
    means = averaged(tables["places"])
    lower, upper = _values(means, "lower"), _values(means, "upper")
    verdict, why = grade(
        {
            "the MAP attack falls": falls(_values(means, "map")),
            "the loss falls": falls(lower) and falls(upper) and lower[0] > upper[-1],
            "both bounds fall": falls(_values(means, "tight")) and falls(_values(means, "loose")),
        }
    )
    m = means["places"].to_list()
    measured = (
        f"M = {m[0]} to {m[-1]}: MAP {_ends(means, 'map')}; loss {_loss_at(means, 0)} down to {_loss_at(means, -1)}; "
        f"tight {_ends(means, 'tight')}; loose {_ends(means, 'loose')}"
    )
    return Finding(verdict, measured, why)


def map_at_few_places(tables: Tables, settings: Settings) -> Finding:
    """MAP at the smallest M."""
    means = averaged(tables["places"])
    value, next_value = means["map"][0], means["map"][1]
    verdict = HOLDS if 0.25 <= value <= 0.4 else FAILS
    m = means["places"].to_list()
    measured = (
        f"M = {m[0]}: MAP {shown(value)} exactly, {shown(means['map_mc'][0])} by Monte Carlo, the best attack found "
        f"{shown(means['lower'][0])}; already {shown(next_value)} at M = {m[1]}"
    )
    return Finding(verdict, measured)


def tighter_with_places(tables: Tables, settings: Settings) -> Finding:
    """Gap and ratio of the tight bound to the loss."""
    means = averaged(tables["places"]).with_columns(gap=pl.col("tight") - pl.col("upper"))
    ratio = [t / u for t, u in zip(_values(means, "tight"), _values(means, "upper"), strict=True)]
    gaps = _values(means, "gap")
    verdict, why = grade(
        {
            "the difference between the tight bound and the loss shrinks": gaps[-1] < gaps[0],
            "their ratio shrinks": ratio[-1] < ratio[0],
        }
    )
    measured = (
        f"tight bound minus loss: {shown(gaps[0])} at M = {means['places'][0]}, {shown(gaps[-1])} at "
        f"M = {means['places'][-1]}; tight bound over loss: {times(ratio[0])} and {times(ratio[-1])}"
    )
    return Finding(verdict, measured, why)


def falls_with_right(tables: Tables, settings: Settings) -> Finding:
    """Loss against the number of steps that must be right."""
    means = _right(tables)
    verdict, why = grade(
        {
            "each attack falls": all(falls(_values(means, a)) for a in ("map", "prior", "constant")),
            "the loss falls": falls(_values(means, "lower")) and falls(_values(means, "upper")),
            "both bounds fall": falls(_values(means, "tight")) and falls(_values(means, "loose")),
        }
    )
    measured = (
        f"1 to {means['right'][-1]} steps right: loss {_loss_at(means, 0)} down to {_loss_at(means, -1)}; "
        f"tight {_ends(means, 'tight')}; loose {_ends(means, 'loose')}"
    )
    return Finding(verdict, measured, why)


def tight_says_more(tables: Tables, settings: Settings) -> Finding:
    """Where the loose bound says nothing and the tight one does, and where it is the other way round."""
    means = _right(tables)
    silent = means.filter((pl.col("loose") > 0.99) & (pl.col("tight") < 0.9))
    gap = max(a - b for a, b in zip(_values(means, "loose"), _values(means, "tight"), strict=True))
    verdict, why = grade(
        {"the gap is large": gap > 0.2, "tight says something where loose does not": silent.height > 0}
    )
    where = ", ".join(f"{r['right']} ({shown(r['tight'])})" for r in silent.iter_rows(named=True))
    measured = f"largest gap {shown(gap)}; loose above 99 % and tight below 90 % at steps right: {where or 'none'}"
    return Finding(verdict, measured, why)


def tight_is_tighter(tables: Tables, settings: Settings) -> Finding:
    """Points at which the tight bound is not the smaller one."""
    names = [n for n in ("places", "right", "steps-half", "steps-two", "sigma") if n in tables]
    points = pl.concat([averaged(tables[n]).select("places", "steps", "right", "tight", "loose") for n in names])
    worse = points.filter(pl.col("tight") > pl.col("loose") + 1e-9)
    verdict = HOLDS if not worse.height else PART if worse.height < points.height else FAILS
    measured = f"the tight bound is the smaller one at {points.height - worse.height} of {points.height} points"
    if worse.height:
        row = worse.sort(pl.col("tight") - pl.col("loose"), descending=True).row(0, named=True)
        measured += (
            f"; the other way round at M = {row['places']}, T = {row['steps']}, {row['right']} right: tight "
            f"{shown(row['tight'])}, loose {shown(row['loose'])}"
        )
    return Finding(verdict, measured, "its sum over balls can exceed one" if worse.height else "")


def tight_near_attacks(tables: Tables, settings: Settings) -> Finding:
    """Tight bound against MAP where all steps must be right."""
    last = _right(tables).row(-1, named=True)
    ratio = last["tight"] / last["map"]
    verdict, why = grade(
        {
            "in absolute terms (within 5 percentage points)": last["tight"] - last["map"] <= 0.05,
            "in relative terms (within a factor of two)": ratio <= 2,
        }
    )
    measured = (
        f"all {last['right']} steps right: tight {shown(last['tight'])}, MAP {shown(last['map'])}: {times(ratio)}"
    )
    return Finding(verdict, measured, why)


def constant_at_one(tables: Tables, settings: Settings) -> Finding:
    """The constant attack where one step suffices."""
    first = _right(tables).row(0, named=True)
    measured = (
        f"one step right: constant {shown(first['constant'])} ({shown(first['constant_mc'])} by Monte Carlo), "
        f"MAP {shown(first['map'])}, loss {between(first['lower'], first['upper'])}"
    )
    return Finding(HOLDS if first["constant"] >= 0.05 else FAILS, measured)


def map_is_best(tables: Tables, settings: Settings) -> Finding:
    """At s = 0 MAP is the best attack; at larger s it is not."""
    means = _right(tables)
    last = means.row(-1, named=True)
    best = abs(last["map"] - last["upper"]) <= 1e-9 * last["upper"]
    share = min(m / low for m, low in zip(_values(means, "map"), _values(means, "lower"), strict=True))
    measured = (
        f"s = 0: MAP {shown(last['map'])}, loss {between(last['lower'], last['upper'])}; with s > 0 MAP reaches as "
        f"little as {shown(share)} of the best attack found"
    )
    return Finding(HOLDS if best else FAILS, measured)


def steady_in_steps(tables: Tables, settings: Settings) -> Finding:
    """S = T/2: bounds and loss against T."""
    means = averaged(tables["steps-half"])
    tight, lower, upper = _values(means, "tight"), _values(means, "lower"), _values(means, "upper")
    drop = lower[0] / upper[-1]
    verdict, why = grade(
        {
            "the tight bound stays within a factor of two": max(tight) <= 2 * min(tight),
            "the loss stays within a factor of two": max(lower) <= 2 * min(upper),
        }
    )
    monte = means.filter(pl.col("map_mc") == 0)["steps"].to_list()
    measured = (
        f"T = {means['steps'][0]} to {means['steps'][-1]}: tight {_ends(means, 'tight')}, loss "
        f"{_loss_at(means, 0)} down "
        f"to {_loss_at(means, -1)} (at least {times(drop)} less)"
    )
    if monte:
        measured += (
            f"; {settings.traces:,} traces show no success at all from T = {min(monte)} on, which looks constant"
        )
    return Finding(verdict, measured, why)


def grows_in_steps(tables: Tables, settings: Settings) -> Finding:
    """S = T - 2: bounds and loss against T."""
    means = averaged(tables["steps-two"])
    verdict, why = grade(
        {
            "the MAP attack grows": rises(_values(means, "map"), 0.05),
            "the loss grows": rises(_values(means, "lower"), 0.05) and means["lower"][-1] > means["upper"][0],
            "the tight bound grows": rises(_values(means, "tight"), 0.05),
        }
    )
    measured = (
        f"T = {means['steps'][0]} to {means['steps'][-1]}: MAP {_ends(means, 'map')}, loss {_loss_at(means, 0)} up to "
        f"{_loss_at(means, -1)}, tight {_ends(means, 'tight')}"
    )
    return Finding(verdict, measured, why)


def tightest_at_few_steps(tables: Tables, settings: Settings) -> Finding:
    """Difference and ratio of the tight bound to the loss, against T with s = T - 2."""
    means = averaged(tables["steps-two"])
    gap = [t - low for t, low in zip(_values(means, "tight"), _values(means, "lower"), strict=True)]
    ratio = [t / low for t, low in zip(_values(means, "tight"), _values(means, "lower"), strict=True)]
    verdict, why = grade(
        {
            "the difference to the loss is smallest at the smallest T": min(gap) == gap[0],
            "the ratio to the loss is smallest at the smallest T": min(ratio) == ratio[0],
        }
    )
    measured = (
        f"tight bound minus best attack: {shown(gap[0])} at T = {means['steps'][0]}, {shown(gap[-1])} at "
        f"T = {means['steps'][-1]}; ratio {times(ratio[0])} and {times(ratio[-1])}"
    )
    return Finding(verdict, measured, why)


def bounds_fall_with_sigma(tables: Tables, settings: Settings) -> Finding:
    """The paper's bounds against sigma."""
    noisy = averaged(tables["sigma"]).drop_nulls("sigma")
    verdict, why = grade({f"the {b} bound falls": falls(_values(noisy, b)) for b in ("tight", "loose")})
    measured = (
        f"sigma = {noisy['sigma'][0]:g} to {noisy['sigma'][-1]:g}: tight {_ends(noisy, 'tight')}, loose "
        f"{_ends(noisy, 'loose')}"
    )
    return Finding(verdict, measured, why)


def map_and_sigma(tables: Tables, settings: Settings) -> Finding:
    """MAP with raw and with very noisy counts, at the paper's setting and where the loss is large."""
    parts, conditions = [], {}
    for name, right in (("sigma", None), ("noise", 1)):
        means = averaged(tables[name])
        means = means.filter(pl.col("right") == right) if right else means
        raw, most = means.row(0, named=True), means.row(-1, named=True)
        needed = f"{raw['right']} of {raw['steps']} steps right"
        parts.append(
            f"{needed}: MAP {shown(raw['map'])} raw, {shown(most['map'])} at sigma = {most['sigma']:g}, the "
            "prior alone "
            f"{shown(most['prior'])}"
        )
        conditions[f"{needed}, within one percentage point"] = abs(raw["map"] - most["map"]) <= 0.01
        conditions[f"{needed}, within a tenth of its value"] = abs(raw["map"] - most["map"]) <= 0.1 * raw["map"]
    verdict, why = grade(conditions)
    zero = max(_values(averaged(tables["sigma"]), "map_mc"))
    parts.append(
        f"at the paper's setting {settings.traces:,} traces give at most {shown(zero)}, too few to see a change"
    )
    return Finding(verdict, "; ".join(parts), why)


def noise_helps(tables: Tables, settings: Settings) -> Finding:
    """Whether the loss with noise is below the loss without, by intervals that do not touch."""
    parts, helped = [], []
    for right in (1, 2):
        means = averaged(tables["noise"]).filter(pl.col("right") == right)
        raw, noisy = means.row(0, named=True), means.drop_nulls("sigma")
        below = noisy.filter(pl.col("upper") < raw["lower"])
        helped.append(below.height > 0)
        least = f"surely lower from sigma = {below['sigma'][0]:g} on" if below.height else "not surely lower"
        last = noisy.row(-1, named=True)
        parts.append(
            f"{right} of {raw['steps']} right: loss {between(raw['lower'], raw['upper'])} raw, "
            f"{between(last['lower'], last['upper'])} at sigma = {last['sigma']:g}, without any counts "
            f"{between(raw['baseline_lower'], raw['baseline_upper'])}; {least}"
        )
    verdict = FAILS if all(helped) else PART if any(helped) else HOLDS
    why = (
        "noise takes away most of what the counts add; it cannot take away what the prior tells" if any(helped) else ""
    )
    return Finding(verdict, "; ".join(parts), why)


SECTION = "4.2.2"
CLAIMS = (
    Claim(
        "Loss and number of places",
        SECTION,
        "We find that the privacy loss decreases as the number of locations M gets larger.",
        ("places",),
        falls_with_places,
    ),
    Claim(
        "MAP with few places",
        SECTION,
        "We also see that the privacy loss for MAP is high ≈ 30 % for small M.",
        ("places",),
        map_at_few_places,
    ),
    Claim(
        "Bounds and number of places",
        SECTION,
        "We also observe the upper bounds get tight when M is large.",
        ("places",),
        tighter_with_places,
    ),
    Claim(
        "Loss and steps that must be right",
        SECTION,
        "As the number of time steps for success gets larger (s is smaller), the privacy loss gets smaller as "
        "expected.",
        ("right",),
        falls_with_right,
    ),
    Claim(
        "Tight and loose",
        SECTION,
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
        SECTION,
        "Furthermore, tight UB is especially tight and almost matches the privacy loss for adversarial "
        "estimators when s "
        "is small.",
        ("right",),
        tight_near_attacks,
    ),
    Claim(
        "The constant attack",
        SECTION,
        "When the number of time steps for success is 1, [...] even the simple rule-based estimator can have a "
        "non-negligible chance to estimate the locations correctly.",
        ("right",),
        constant_at_one,
    ),
    Claim(
        "MAP is the best attack at s = 0",
        "3.2.2",
        "If the prior is correct, the MAP estimator achieves the best success rate [...] when the success is "
        "defined to "
        "identify the locations at all time steps (s = 0).",
        ("right",),
        map_is_best,
    ),
    Claim(
        "Steps with s = T/2",
        SECTION,
        "For the first case [s = T/2], the privacy loss remains almost constant across T's.",
        ("steps-half",),
        steady_in_steps,
    ),
    Claim(
        "Steps with s = T-2",
        SECTION,
        "For the second case [s = T-2], the privacy loss increases as T grows.",
        ("steps-two",),
        grows_in_steps,
    ),
    Claim(
        "Tightness and number of steps",
        SECTION,
        "The tightness of the upper bounds is the best when T is the smallest.",
        ("steps-two",),
        tightest_at_few_steps,
    ),
    Claim(
        "Bounds and noise, simulated",
        "4.2.3",
        "We see in general that our privacy loss upper bounds get smaller as we add noise with a larger standard "
        "deviation σ.",
        ("sigma",),
        bounds_fall_with_sigma,
    ),
    Claim(
        "MAP and noise, simulated",
        "4.2.3",
        "Adding noise does not change the privacy loss for the MAP estimator much.",
        ("sigma", "noise"),
        map_and_sigma,
    ),
    Claim(
        "Noise and the loss, simulated",
        "4.2.3",
        "Adding noise does not necessarily help reduce the privacy loss.",
        ("noise",),
        noise_helps,
    ),
)
