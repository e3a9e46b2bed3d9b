"""Claims about who has a high loss: visitors of the sensor, people who move fast, people of whom much is known."""

from __future__ import annotations

import numpy as np
import polars as pl

from .claims import OPEN, Finding, Tables, judge, real_claim
from .ranks import rank_correlation
from .rules import FEWEST, HALF, Answer, negative, positive
from .scatter import visitors
from .settings import Settings
from .wording import correlated, shown

#: Ways to measure a person's loss, by their columns.
WAYS = {"tight": "tight", "upper": "this tool"}


def frequent_visitors(tables: Tables, settings: Settings) -> Finding:
    """Losses of frequent visitors of the fixed sensor beside those of the others."""
    table = tables["sensor-visits"]
    found = visitors(table)
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
    parts: dict[str, Answer] = {}
    for way, word in WAYS.items():
        parts[f"each has a loss above one half ({word})"] = found[f"{way}_lowest"] > HALF
        parts[f"their median is above that of the others ({word})"] = found[f"{way}_median"] > found[f"{way}_others"]
    return parts


def loss_rises_with_visits(tables: Tables, settings: Settings) -> Finding:
    """Rank correlations of loss and visits to the fixed sensor."""
    table = tables["sensor-visits"]
    found = correlations(table, "frequency", settings)
    ever, never = table.filter(pl.col("frequency") > 0), table.filter(pl.col("frequency") == 0)
    words = ", ".join(
        f"{word} {shown(_median(ever, way))} and {shown(_median(never, way))}" for way, word in WAYS.items()
    )
    ranks = ", ".join(f"{correlated(*value)} ({word})" for word, value in found.items())
    return judge(
        {word: positive(*value) for word, value in found.items()},
        f"rank correlation of the loss with the share of steps at the sensor {ranks}; medians of the {ever.height} "
        f"people who were ever there and of the {never.height} who never were: {words}",
    )


def _median(table: pl.DataFrame, way: str) -> float | None:
    return float(np.median(table[way].to_numpy())) if table.height else None


def correlations(table: pl.DataFrame, x: str, settings: Settings) -> dict[str, tuple[float, float, float]]:
    """Rank correlations of a column with the loss, by the way to measure it."""
    return {
        word: rank_correlation(table[x].to_numpy(), table[way].to_numpy(), settings.seed, settings.resamples)
        for way, word in WAYS.items()
    }


def others_are_scattered(tables: Tables, settings: Settings) -> Finding:
    """The spread of losses of people who were never at the sensor."""
    never = tables["sensor-visits"].filter(pl.col("frequency") == 0)
    if never.height < FEWEST:
        return Finding(OPEN, f"{never.height} people were never there", f"fewer than {FEWEST}")
    parts, words = {}, []
    for way, word in WAYS.items():
        lowest, low, high, highest = np.percentile(never[way].to_numpy(), [0, 5, 95, 100])
        parts[word] = bool(high - low > HALF)
        words.append(f"{word} {shown(lowest)} to {shown(highest)} (middle nine tenths {shown(low)} to {shown(high)})")
    return judge(parts, f"{never.height} people were never there: {'; '.join(words)}")


def larger_gap_smaller_loss(tables: Tables, settings: Settings) -> Finding:
    """Rank correlations of loss and spectral gap."""
    table = tables["spectral-gap"]
    found = correlations(table, "spectral_gap", settings)
    words = ", ".join(f"{correlated(*value)} ({word})" for word, value in found.items())
    return judge({word: negative(*value) for word, value in found.items()}, f"rank correlation {words}")


def tighter_with_less(tables: Tables, settings: Settings) -> Finding:
    """How far the tight bound is from the loss, against what the adversary knows without the release."""
    table = tables["spectral-gap"]
    known, tight, upper = (table[c].to_numpy() for c in ("baseline_lower", "tight", "upper"))
    gap = rank_correlation(known, tight - upper, settings.seed, settings.resamples)
    ratio = rank_correlation(known, tight / upper, settings.seed, settings.resamples)
    return judge(
        {
            "the difference to the loss is smaller where less is known": positive(*gap),
            "the ratio to the loss is smaller where less is known": positive(*ratio),
        },
        f"rank correlation of what the habits alone give with the bound minus the loss {correlated(*gap)}, with the "
        f"bound over the loss {correlated(*ratio)}",
    )


CLAIMS = (
    real_claim(
        "Frequent visitors",
        "4.2.1",
        "Individuals who have visited the fixed location frequently have high privacy loss.",
        ("sensor-visits",),
        frequent_visitors,
    ),
    real_claim(
        "Loss and visits to the sensor",
        "1",
        "We show that the privacy loss is higher for individuals who are more likely to be at the place where "
        "occupancy statistics are released.",
        ("sensor-visits",),
        loss_rises_with_visits,
    ),
    real_claim(
        "Everybody else",
        "4.2.1",
        "The privacy loss for those who haven't visited the fixed sensor much is scattered between 0 and 1.",
        ("sensor-visits",),
        others_are_scattered,
    ),
    real_claim(
        "Spectral gap",
        "4.2.1",
        "We expect that the larger spectral gap yields less privacy loss. Indeed, this is what we generally observe.",
        ("spectral-gap",),
        larger_gap_smaller_loss,
    ),
    real_claim(
        "Tightness and what the adversary knows",
        "1",
        "Our privacy loss upper bound gets tighter when the adversary has relatively less information about the target "
        "individual.",
        ("spectral-gap",),
        tighter_with_less,
    ),
)
