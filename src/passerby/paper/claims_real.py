"""Claims about real data, checked against the tables of real experiments, file by file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from .claims import FAILS, HOLDS, OPEN, PART, Claim, Finding, Tables, between, correlated, falls, grade, shown, together
from .scatter import rank_correlation
from .settings import Settings
from .simulated import averaged
from .style import NAMES

#: A file with at least this share of the paper's rows is taken for the whole (some rows are skipped as repeated).
WHOLE = 0.97


def by_file(
    needs: tuple[str, ...], check: Callable[[Tables, Settings], Finding]
) -> Callable[[Tables, Settings], Finding]:
    """Check each file by itself, on its rows of the first table needed, and put the findings together."""

    def checked(tables: Tables, settings: Settings) -> Finding:
        table = tables[needs[0]]
        findings = {}
        for name in sorted(set(table["dataset"].to_list())):
            own = {n: t.filter(pl.col("dataset") == name) if "dataset" in t.columns else t for n, t in tables.items()}
            findings[NAMES[name]] = check(own, settings)
        return together(findings)

    return checked


def _values(table: pl.DataFrame, column: str) -> list[float]:
    return [float(v) for v in table[column].to_list()]


def _ends(table: pl.DataFrame, column: str) -> str:
    return f"{shown(table[column][0])} to {shown(table[column][-1])}"


def windows(tables: Tables, settings: Settings) -> Finding:
    """The number of windows."""
    row = tables["people"].row(0, named=True)
    same = row["windows"] == row["paper_windows"]
    return Finding(HOLDS if same else FAILS, f"{row['windows']} windows (paper: {row['paper_windows']})")


def people(tables: Tables, settings: Settings) -> Finding:
    """The number of people, which only the whole file can confirm."""
    row = tables["people"].row(0, named=True)
    measured = f"{row['people']:,} people (paper: {row['paper_people']:,})"
    if row["rows"] < WHOLE * row["paper_rows"]:
        return Finding(OPEN, measured, f"this file is a sample: {row['rows']:,} of {row['paper_rows']:,} rows")
    return Finding(HOLDS if row["people"] == row["paper_people"] else FAILS, measured)


def falls_with_right(tables: Tables, settings: Settings) -> Finding:
    """Attacks on real traces and bounds against the number of steps that must be right."""
    table = tables["real-right"].sort("right")
    verdict, why = grade(
        {
            "attacks on real traces fall": all(
                falls(_values(table, c)) for c in ("hit_map", "hit_prior", "hit_everyone")
            ),
            "the mean loss falls": falls(_values(table, "lower")) and falls(_values(table, "upper")),
            "both mean bounds fall": falls(_values(table, "tight")) and falls(_values(table, "loose")),
        }
    )
    measured = (
        f"1 to {table['right'][-1]} steps right: MAP {_ends(table, 'hit_map')}, constant "
        f"{_ends(table, 'hit_everyone')}, "
        f"mean loss {between(table['lower'][0], table['upper'][0])} down to "
        f"{between(table['lower'][-1], table['upper'][-1])}, tight {_ends(table, 'tight')}"
    )
    return Finding(verdict, measured, why)


def succeed_more(tables: Tables, settings: Settings) -> Finding:
    """MAP on real traces beside MAP on simulated ones of the same length."""
    table = tables["real-right"].sort("right")
    simulated = averaged(tables["right"]).filter(pl.col("steps") == settings.holdout).sort("right")
    pairs = {
        name: (_values(table, column), _values(simulated, name))
        for name, column in (("map", "hit_map"), ("prior", "hit_prior"))
    }
    verdict, why = grade(
        {
            f"{name} at every number of steps": all(r > s for r, s in zip(real, made, strict=True))
            for name, (real, made) in pairs.items()
        }
    )
    at = settings.holdout - settings.real_misses - 1
    promised = float(table["map"][at])
    measured = (
        f"{at + 1} of {settings.holdout} steps right: MAP {shown(pairs['map'][0][at])} on real traces, "
        f"{shown(pairs['map'][1][at])} simulated; the fitted habits promise {shown(promised)}"
    )
    return Finding(verdict, measured, why)


def habits_do_not_hold(tables: Tables, settings: Settings) -> Finding:
    """Success of MAP on real traces beside what the fitted habits promise, with the error of a rate over people."""
    table = tables["real-right"].sort("right")
    count = float(table["people"][0])
    off, parts = [], []
    for row in table.iter_rows(named=True):
        error = np.sqrt(max(row["map"] * (1 - row["map"]), 1e-9) / count)
        off.append(abs(row["hit_map"] - row["map"]) > 3 * error)
        parts.append(f"{row['right']}: {shown(row['map'])} promised, {shown(row['hit_map'])} found")
    verdict = HOLDS if all(off) else PART if any(off) else FAILS
    why = f"off by more than three standard errors at {sum(off)} of {len(off)} numbers of steps"
    return Finding(verdict, f"MAP, by steps right: {', '.join(parts)}", why)


def constant_on_real(tables: Tables, settings: Settings) -> Finding:
    """The constant attack on real traces under three readings of who is lucky."""
    table = tables["real-right"].sort("right")
    simulated = averaged(tables["right"]).filter(pl.col("steps") == settings.holdout).sort("right")
    readings = {
        "one place for everyone": "hit_everyone",
        "each person's own best": "hit_constant",
        "the best in hindsight": "hit_hindsight",
    }
    at = settings.holdout - settings.real_misses - 1
    made = float(simulated["constant"][at])
    conditions, parts = {}, []
    for name, column in readings.items():
        conditions[name] = float(table[column][at]) > made
        parts.append(f"{name} {shown(table[column][at])} ({shown(table[column][0])} for one step)")
    verdict, why = grade(conditions)
    measured = f"{at + 1} of {settings.holdout} right: {', '.join(parts)}; simulated {shown(made)}"
    return Finding(verdict, measured, why)


def bounds_fall_with_sigma(tables: Tables, settings: Settings) -> Finding:
    """The paper's mean bounds against sigma."""
    noisy = tables["real-sigma"].drop_nulls("sigma").sort("sigma")
    verdict, why = grade({f"the {b} bound falls": falls(_values(noisy, b)) for b in ("tight", "loose")})
    measured = f"tight {_ends(noisy, 'tight')}, loose {_ends(noisy, 'loose')}"
    return Finding(verdict, measured, why)


def map_and_sigma(tables: Tables, settings: Settings) -> Finding:
    """MAP on real traces against sigma, with random sensors and with the most visited one."""
    conditions, parts = {}, []
    for name, where in (("real-sigma", "random sensors"), ("real-noise", "the most visited sensor")):
        table = tables[name]
        raw = table.filter(pl.col("sigma").is_null()).row(0, named=True)
        noisy = table.drop_nulls("sigma").sort("sigma").row(-1, named=True)
        conditions[f"with {where}"] = abs(raw["hit_map"] - noisy["hit_map"]) <= 0.02
        parts.append(
            f"{where}: {shown(raw['hit_map'])} raw, {shown(noisy['hit_map'])} at sigma = {noisy['sigma']:g} "
            f"(sighted with probability {shown(raw['sighted'])})"
        )
    verdict, why = grade(conditions)
    return Finding(verdict, "; ".join(parts), why)


def noisy_above_raw(tables: Tables, settings: Settings) -> Finding:
    """Sigmas at which a bound for noisy counts is above that for raw ones."""
    parts, found = [], []
    for name, where in (("real-sigma", "random sensors"), ("real-noise", "the most visited sensor")):
        if name not in tables:
            continue
        table = tables[name]
        raw = table.filter(pl.col("sigma").is_null()).row(0, named=True)
        for bound in ("tight", "loose"):
            above = table.drop_nulls("sigma").filter(pl.col(bound) > raw[bound] + 1e-12).sort("sigma")
            found.append(above.height > 0)
            if above.height:
                most = max(_values(above, bound)) - raw[bound]
                sigmas = ", ".join(f"{s:g}" for s in above["sigma"])
                parts.append(f"{where}: {bound} at sigma = {sigmas}, by at most {shown(most)}")
    return Finding(HOLDS if any(found) else FAILS, "; ".join(parts) or "at no sigma")


def noisy_below_raw(tables: Tables, settings: Settings) -> Finding:
    """Upper ends of the interval with and without noise."""
    table = tables["real-noise"]
    raw = table.filter(pl.col("sigma").is_null()).row(0, named=True)
    noisy = table.drop_nulls("sigma").sort("sigma")
    fine = all(value <= raw["upper"] + 1e-6 for value in _values(noisy, "upper"))
    measured = f"mean upper end {shown(raw['upper'])} raw; {_ends(noisy, 'upper')} with noise"
    why = "noisy counts are a function of raw ones, so they cannot tell more"
    return Finding(HOLDS if fine else FAILS, measured, why if fine else "")


def noise_helps(tables: Tables, settings: Settings) -> Finding:
    """Whether much noise surely takes a percentage point or more off the mean loss (intervals that do not touch)."""
    parts, helped = [], []
    for name, where in (("real-sigma", "random sensors"), ("real-noise", "the most visited sensor")):
        table = tables[name]
        raw = table.filter(pl.col("sigma").is_null()).row(0, named=True)
        noisy = table.drop_nulls("sigma").sort("sigma")
        below = noisy.filter(pl.col("upper") < raw["lower"])
        helped.append(below.height > 0 and raw["lower"] - noisy["upper"][-1] >= 0.01)
        added = raw["lower"] - raw["baseline_lower"]
        least = f"surely lower from sigma = {below['sigma'][0]:g} on" if below.height else "not surely lower"
        parts.append(
            f"{where}: mean loss {100 * raw['lower']:.1f} % raw, at most {100 * noisy['upper'][-1]:.1f} % at "
            f"sigma = {noisy['sigma'][-1]:g}, {100 * raw['baseline_lower']:.1f} % without counts; {least} (the "
            "counts add "
            f"{100 * added:.1f} points at most)"
        )
    verdict = FAILS if all(helped) else PART if any(helped) else HOLDS
    why = (
        "noise takes away what the counts add, where they add anything; a sensor at a random place adds next to nothing"
        if any(helped)
        else ""
    )
    return Finding(verdict, "; ".join(parts), why)


def frequent_visitors(tables: Tables, settings: Settings) -> Finding:
    """Losses of frequent visitors of the fixed sensor beside those of the others."""
    table = tables["sensor-visits"]
    often = table.filter(pl.col("frequency") >= settings.frequent)
    never = table.filter(pl.col("frequency") == 0)
    if not often.height:
        return Finding(OPEN, "no frequent visitors", f"nobody spends {shown(settings.frequent)} of their steps there")
    x, found = table["frequency"].to_numpy(), {}
    for loss in ("tight", "upper"):
        found[loss] = rank_correlation(x, table[loss].to_numpy(), settings.seed, settings.resamples)
    mean = {
        loss: (float(np.mean(_values(often, loss))), float(np.mean(_values(never, loss))))
        for loss in ("tight", "upper")
    }
    verdict, why = grade(
        {
            "every frequent visitor has a tight bound above 90 %": min(_values(often, "tight")) > 0.9,
            "their mean loss is above that of people who were never there": mean["upper"][0] > mean["upper"][1],
        }
    )
    measured = (
        f"{often.height} people spend {shown(settings.frequent)} or more of their steps there: tight bound "
        f"{shown(mean['tight'][0])} on average (lowest {shown(min(_values(often, 'tight')))}), loss "
        f"{shown(mean['upper'][0])}; {never.height} were never there: {shown(mean['tight'][1])} and "
        f"{shown(mean['upper'][1])}; rank correlation with the frequency {correlated(*found['tight'])} (tight), "
        f"{correlated(*found['upper'])} (this tool)"
    )
    return Finding(verdict, measured, why)


def others_are_scattered(tables: Tables, settings: Settings) -> Finding:
    """The spread of losses of people who were never at the sensor."""
    never = tables["sensor-visits"].filter(pl.col("frequency") == 0)
    spread = {loss: np.percentile(never[loss].to_numpy(), [0, 5, 95, 100]) for loss in ("tight", "upper")}
    wide = {
        "the tight bound is scattered between 0 and 1": spread["tight"][0] < 0.2 and spread["tight"][3] > 0.8,
        "the loss is scattered": spread["upper"][2] - spread["upper"][1] > 0.5,
    }
    verdict, why = grade(wide)
    measured = "; ".join(
        f"{name} {shown(s[0])} to {shown(s[3])} (middle nine tenths {shown(s[1])} to {shown(s[2])})"
        for name, s in (("tight", spread["tight"]), ("loss", spread["upper"]))
    )
    return Finding(verdict, measured, why)


def larger_gap_smaller_loss(tables: Tables, settings: Settings) -> Finding:
    """Rank correlations of loss and spectral gap."""
    table = tables["spectral-gap"]
    x = table["spectral_gap"].to_numpy()
    found = {
        loss: rank_correlation(x, table[loss].to_numpy(), settings.seed, settings.resamples)
        for loss in ("tight", "upper")
    }
    verdict, why = grade(
        {f"{word}: surely negative": found[loss][2] < 0 for loss, word in (("tight", "tight"), ("upper", "this tool"))}
    )
    measured = f"rank correlation {correlated(*found['tight'])} (tight), {correlated(*found['upper'])} (this tool)"
    return Finding(verdict, measured, why)


def tighter_with_less_information(tables: Tables, settings: Settings) -> Finding:
    """How far the tight bound is from the loss, against what the adversary knows without the release."""
    table = tables["spectral-gap"]
    known, tight, upper = (table[c].to_numpy() for c in ("baseline_lower", "tight", "upper"))
    gap = rank_correlation(known, tight - upper, settings.seed, settings.resamples)
    ratio = rank_correlation(known, tight / upper, settings.seed, settings.resamples)
    verdict, why = grade(
        {
            "the difference to the loss is smaller where less is known": gap[1] > 0,
            "the ratio to the loss is smaller where less is known": ratio[1] > 0,
        }
    )
    measured = (
        f"rank correlation of what the habits alone give with the bound minus the loss {correlated(*gap)}, with "
        "the bound "
        f"over the loss {correlated(*ratio)}"
    )
    return Finding(verdict, measured, why)


def _claim(
    name: str, section: str, quote: str, needs: tuple[str, ...], check: Callable[[Tables, Settings], Finding]
) -> Claim:
    return Claim(name, section, quote, needs, by_file(needs, check))


CLAIMS = (
    _claim(
        "Number of windows",
        "4.1",
        "We treat a time window of 20 days as one time step, which makes the number of time steps to be 27 for "
        "Foursquare and 32 for Gowalla.",
        ("people",),
        windows,
    ),
    _claim(
        "Number of people",
        "4.1",
        "This yields the number of users to be N = 9760 for Foursquare and N = 318 for Gowalla.",
        ("people",),
        people,
    ),
    _claim(
        "Loss and steps that must be right, real",
        "4.2.2",
        "We observe almost the same trend as the one from the simulated data that the privacy loss diminishes as the "
        "number of time steps for success gets larger.",
        ("real-right",),
        falls_with_right,
    ),
    _claim(
        "Attacks on real data",
        "4.2.2",
        "However, we see the adversarial attacks succeed more for the real datasets.",
        ("real-right", "right"),
        succeed_more,
    ),
    _claim(
        "Habits and the real traces",
        "4.2.2",
        "We anticipate this is partly because our assumption on the prior of individual locations does not necessarily "
        "hold.",
        ("real-right",),
        habits_do_not_hold,
    ),
    _claim(
        "The constant attack on real data",
        "4.2.2",
        "The adversary can identify people's locations more easily in the real-world setting, even with a very simple "
        "attack such as the lucky constant estimator.",
        ("real-right", "right"),
        constant_on_real,
    ),
    _claim(
        "Frequent visitors",
        "4.2.1",
        "Individuals who have visited the fixed location frequently have high privacy loss.",
        ("sensor-visits",),
        frequent_visitors,
    ),
    _claim(
        "Everybody else",
        "4.2.1",
        "The privacy loss for those who haven't visited the fixed sensor much is scattered between 0 and 1.",
        ("sensor-visits",),
        others_are_scattered,
    ),
    _claim(
        "Spectral gap",
        "4.2.1",
        "We expect that the larger spectral gap yields less privacy loss. Indeed, this is what we generally observe.",
        ("spectral-gap",),
        larger_gap_smaller_loss,
    ),
    _claim(
        "Tightness and what the adversary knows",
        "1",
        "Our privacy loss upper bound gets tighter when the adversary has relatively less information about the target "
        "individual.",
        ("spectral-gap",),
        tighter_with_less_information,
    ),
    _claim(
        "Bounds and noise, real",
        "4.2.3",
        "The mean privacy loss upper bounds decrease as the noise standard deviation becomes larger.",
        ("real-sigma",),
        bounds_fall_with_sigma,
    ),
    _claim(
        "MAP and noise, real",
        "4.2.3",
        "The mean privacy loss for the adversarial estimators remains constant.",
        ("real-sigma", "real-noise"),
        map_and_sigma,
    ),
    _claim(
        "Noisy bounds above raw ones",
        "4.2.3",
        "The bounds are higher than the ones without any additive noise for some σ's on real datasets.",
        ("real-sigma",),
        noisy_above_raw,
    ),
    _claim(
        "Actual bounds with noise",
        "4.2.3",
        "However, we expect the actual privacy loss bounds to be lower than the ones without any additive "
        "noise even for "
        "such σ's.",
        ("real-noise",),
        noisy_below_raw,
    ),
    _claim(
        "Noise and the loss, real",
        "4.2.3",
        "Adding noise does not necessarily help reduce the privacy loss.",
        ("real-sigma", "real-noise"),
        noise_helps,
    ),
)
