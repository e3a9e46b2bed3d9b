"""Claims about the people of real files: how many, how attacks fare on their traces, and whose loss is high."""

from __future__ import annotations

import numpy as np
import polars as pl

from .claims import FAILS, HOLDS, OPEN, Finding, Group, Parts, Tables, correlated, course, ends, judge, shown, values
from .figures import LOOKS
from .people import HIT_OF, visitors
from .rules import FEWEST, HALF, Answer, beyond, falls, more, negative, positive, rank_correlation
from .settings import BOUNDS, Settings
from .simulated import averaged

FILES = Group("Files of check-ins", by_file=True)
ATTACKED = Group("Attacks on real traces", by_file=True)
PERSONS = Group("Whose loss is high", by_file=True)
#: A file with at least this share of the paper's rows is taken for the whole (some rows are skipped as repeated).
WHOLE = 0.97
#: Ways to measure a person's loss, by their columns.
WAYS = {"tight": "tight", "upper": "this tool"}
#: Who is lucky with the constant attack.
LUCKY = {
    "one place for everyone": "hit_everyone",
    "each person's own best": "hit_constant",
    "the best in hindsight": "hit_hindsight",
}


@FILES.claim("Number of windows", "4.1", "people")
def _windows(tables: Tables, settings: Settings) -> Finding:
    """We treat a time window of 20 days as one time step, which makes the number of time steps to be 27 for Foursquare
    and 32 for Gowalla.
    """
    row = tables["people"].row(0, named=True)
    same = row["windows"] == row["paper_windows"]
    return Finding(HOLDS if same else FAILS, f"{row['windows']} windows (paper: {row['paper_windows']})")


@FILES.claim("Number of people", "4.1", "people")
def _people(tables: Tables, settings: Settings) -> Finding:
    """This yields the number of users to be N = 9760 for Foursquare and N = 318 for Gowalla."""
    # Only the whole file can confirm it.
    row = tables["people"].row(0, named=True)
    measured = f"{row['people']:,} people (paper: {row['paper_people']:,})"
    if row["rows"] < WHOLE * row["paper_rows"]:
        return Finding(OPEN, measured, f"this file is a sample: {row['rows']:,} of {row['paper_rows']:,} rows")
    return Finding(HOLDS if row["people"] == row["paper_people"] else FAILS, measured)


@ATTACKED.claim("Loss and steps that must be right, real", "4.2.2", "real-right")
def _loss_falls(tables: Tables, settings: Settings) -> Finding:
    """We observe almost the same trend as the one from the simulated data that the privacy loss diminishes as the
    number of time steps for success gets larger.
    """
    table = tables["real-right"].sort("right")
    parts = {f"the {LOOKS[name].label}": falls(values(table, column)) for name, column in HIT_OF.items()}
    parts["the mean loss"] = falls(values(table, "lower"), values(table, "upper"))
    return judge(
        parts | {f"the mean {bound} bound": falls(values(table, bound)) for bound in BOUNDS},
        f"1 to {table['right'][-1]} steps right: MAP {ends(table, 'hit_map')}, constant {ends(table, 'hit_everyone')}, "
        f"mean {course(table, attack=None)}",
    )


def _both(tables: Tables, settings: Settings) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """The real sweep, the simulated one at the same length, and the row of both that other experiments look at."""
    simulated = averaged(tables["right"]).filter(pl.col("steps") == settings.holdout).sort("right")
    return tables["real-right"].sort("right"), simulated, settings.holdout - settings.real_misses - 1


@ATTACKED.claim("Attacks on real data", "4.2.2", "real-right", "right")
def _succeed_more(tables: Tables, settings: Settings) -> Finding:
    """However, we see the adversarial attacks succeed more for the real datasets."""
    table, simulated, at = _both(tables, settings)
    parts = {
        f"the {LOOKS[name].label} at every number of steps": more(
            values(table, HIT_OF[name]), values(simulated, name), table["people"][0]
        )
        for name in ("map", "prior")
    }
    return judge(
        parts,
        f"{at + 1} of {settings.holdout} steps right: MAP {shown(table['hit_map'][at])} on real traces, "
        f"{shown(simulated['map'][at])} simulated; the fitted habits promise {shown(table['map'][at])}",
    )


@ATTACKED.claim("Habits and the real traces", "4.2.2", "real-right")
def _habits_are_off(tables: Tables, settings: Settings) -> Finding:
    """We anticipate this is partly because our assumption on the prior of individual locations does not necessarily
    hold.
    """
    rows = list(tables["real-right"].sort("right").iter_rows(named=True))
    words = ", ".join(f"{r['right']}: {shown(r['map'])} promised, {shown(r['hit_map'])} found" for r in rows)
    off = {f"{r['right']} right": beyond(r["hit_map"], r["map"], r["people"]) != 0 for r in rows}
    return judge(off, f"MAP, by steps right: {words}")


@ATTACKED.claim("The constant attack on real data", "4.2.2", "real-right", "right")
def _constant_succeeds(tables: Tables, settings: Settings) -> Finding:
    """The adversary can identify people's locations more easily in the real-world setting, even with a very simple
    attack such as the lucky constant estimator.
    """
    table, simulated, at = _both(tables, settings)
    alone, people = values(simulated, "constant"), table["people"][0]
    words = ", ".join(f"{name} {shown(table[c][at])} ({shown(table[c][0])} for one step)" for name, c in LUCKY.items())
    return judge(
        {name: more(values(table, column), alone, people) for name, column in LUCKY.items()},
        f"{at + 1} of {settings.holdout} right: {words}; simulated {shown(alone[at])} ({shown(alone[0])})",
    )


@PERSONS.claim("Frequent visitors", "4.2.1", "sensor-visits")
def _frequent_visitors(tables: Tables, settings: Settings) -> Finding:
    """Individuals who have visited the fixed location frequently have high privacy loss."""
    found = visitors(tables["sensor-visits"])
    many = "1 person spends" if found["frequent"] == 1 else f"{found['frequent']} people spend"
    measured = f"{many} half of their steps or more at the sensor"
    if found["frequent"]:
        measured += "".join(
            f"; {word}: lowest {shown(found[f'{way}_lowest'])}, median {shown(found[f'{way}_median'])}, the others "
            f"{shown(found[f'{way}_others'])}"
            for way, word in WAYS.items()
        )
    if found["frequent"] < FEWEST:
        return Finding(OPEN, measured, f"fewer than {FEWEST} people spend half of their steps there")
    return judge(frequent_parts(found), measured)


def frequent_parts(found: dict[str, float]) -> dict[str, Answer]:
    """Whether frequent visitors have a high loss, in the two senses and by the two ways to measure it."""
    parts: Parts = {}
    for way, word in WAYS.items():
        parts[f"each has a loss above one half ({word})"] = found[f"{way}_lowest"] > HALF
        parts[f"their median is above that of the others ({word})"] = found[f"{way}_median"] > found[f"{way}_others"]
    return parts


def _correlations(table: pl.DataFrame, x: str, settings: Settings) -> tuple[dict[str, tuple[float, float, float]], str]:
    """Rank correlations of a column with the loss, by the way to measure it, and the same in words."""
    found = {word: _correlation(table[x], table[way], settings) for way, word in WAYS.items()}
    return found, ", ".join(f"{correlated(*value)} ({word})" for word, value in found.items())


def _correlation(x: pl.Series, y: pl.Series, settings: Settings) -> tuple[float, float, float]:
    return rank_correlation(x.to_numpy(), y.to_numpy(), settings.seed, settings.resamples)


@PERSONS.claim("Loss and visits to the sensor", "1", "sensor-visits")
def _loss_rises_with_visits(tables: Tables, settings: Settings) -> Finding:
    """We show that the privacy loss is higher for individuals who are more likely to be at the place where occupancy
    statistics are released.
    """
    table = tables["sensor-visits"]
    found, ranks = _correlations(table, "frequency", settings)
    ever, never = table.filter(pl.col("frequency") > 0), table.filter(pl.col("frequency") == 0)
    words = ", ".join(f"{word} {_median(ever, way)} and {_median(never, way)}" for way, word in WAYS.items())
    return judge(
        {word: positive(*value) for word, value in found.items()},
        f"rank correlation of the loss with the share of steps at the sensor {ranks}; medians of the {ever.height} "
        f"people who were ever there and of the {never.height} who never were: {words}",
    )


def _median(table: pl.DataFrame, way: str) -> str:
    return shown(float(np.median(table[way].to_numpy())) if table.height else None)


@PERSONS.claim("Everybody else", "4.2.1", "sensor-visits")
def _others_are_scattered(tables: Tables, settings: Settings) -> Finding:
    """The privacy loss for those who haven't visited the fixed sensor much is scattered between 0 and 1."""
    never = tables["sensor-visits"].filter(pl.col("frequency") == 0)
    if never.height < FEWEST:
        return Finding(OPEN, f"{never.height} people were never there", f"fewer than {FEWEST}")
    parts, words = {}, []
    for way, word in WAYS.items():
        lowest, low, high, highest = np.percentile(never[way].to_numpy(), [0, 5, 95, 100])
        parts[word] = bool(high - low > HALF)
        words.append(f"{word} {shown(lowest)} to {shown(highest)} (middle nine tenths {shown(low)} to {shown(high)})")
    return judge(parts, f"{never.height} people were never there: {'; '.join(words)}")


@PERSONS.claim("Spectral gap", "4.2.1", "spectral-gap")
def _larger_gap_smaller_loss(tables: Tables, settings: Settings) -> Finding:
    """We expect that the larger spectral gap yields less privacy loss. Indeed, this is what we generally observe."""
    found, ranks = _correlations(tables["spectral-gap"], "spectral_gap", settings)
    return judge({word: negative(*value) for word, value in found.items()}, f"rank correlation {ranks}")


@PERSONS.claim("Tightness and what the adversary knows", "1", "spectral-gap")
def _tighter_with_less(tables: Tables, settings: Settings) -> Finding:
    """Our privacy loss upper bound gets tighter when the adversary has relatively less information about the target
    individual.
    """
    known, tight, upper = tables["spectral-gap"].select("baseline_lower", "tight", "upper")
    gap, ratio = (_correlation(known, distance, settings) for distance in (tight - upper, tight / upper))
    return judge(
        {
            "the difference to the loss is smaller where less is known": positive(*gap),
            "the ratio to the loss is smaller where less is known": positive(*ratio),
        },
        f"rank correlation of what the habits alone give with the bound minus the loss {correlated(*gap)}, with the "
        f"bound over the loss {correlated(*ratio)}",
    )
