"""What a summary tells of the habits: whether such predictions came true, and what other adversaries would find.

Every number rests on at least five people, and shares of people who were really found are told in steps of five.
"""

from __future__ import annotations

from math import ceil, isfinite
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from passerby.support.groups import FEW, fives_below, in_fives
from passerby.support.numerals import percent

from .calibration import CLOSE, MARGIN, PLAIN, Calibration, verdict_sentence
from .departure import highest_mean


class Record(BaseModel):
    """A part of `summary.json`, or of another file of results."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Statistics(Record):
    """Four numbers over all measured people, none of them the value of one person."""

    mean: float
    median: float = Field(description="Mean of the five people around the middle.")
    percentile_95: float | None = Field(
        description="The value that 5 % of the people exceed: mean of the five people around this rank; null where "
        "fewer than five are above them."
    )
    reached_by_five: float | None = Field(
        description="At least five people have this value or more: mean of the five people up to the fifth from above, "
        "rounded down to 0.01; null where fewer than five are below them."
    )


class Ends(Record):
    """Both ends of everybody's interval: the best attack found, and a bound on all if the habits are right."""

    lower: Statistics
    upper: Statistics


class Promise(Record):
    """What one attack promised with so many misses, and how many people it really found."""

    attack: str
    misses: int
    promised: float = Field(description="Mean chance to be found that the habits promised.")
    right: float = Field(description="Share of the people who were really found, in steps of five people.")
    lower: float | None = Field(description="Right minus promised, at least (95 %); null for one origin alone.")
    upper: float | None = Field(description="Right minus promised, at most (95 %).")
    verdict: str = Field(
        description=f"came true: the difference is at most {CLOSE:g} and its interval within {MARGIN:g}; did not come "
        "true: the difference is larger and its interval leaves out 0; cannot be told: neither."
    )
    nats: float | None = Field(
        description="The least departure of people from their habits, on average and in nats, that explains so many "
        "being found; null where none does."
    )
    nats_upper: float | None = Field(description="The same at the upper end of the interval.")


class Promises(Record):
    """People by what one attack promised for them, at the misses of the audit."""

    attack: str
    promised: float
    right: float = Field(description="Share of them who were really found, in steps of five people.")
    lower: float | None = Field(description="That share, at least (95 %); null for one origin alone.")
    upper: float | None = Field(description="That share, at most (95 %).")
    people: int


class Mean(Record):
    """Limits of the mean loss over all measured people together: chance cancels out over people.

    Much narrower than the means of everybody's own limits, wherever series were drawn.
    """

    lower: float
    upper: float
    confidence: float | None = Field(description="How sure both are together; null where nothing was drawn.")


class Robust(Record):
    """The mean upper end where people depart from their habits, on average over people."""

    nats: float = Field(description="The departure, in nats.")
    upper: float = Field(description="No attack has a mean chance above this.")


class Backtest(Record):
    """What habits promised at earlier origins, and what came true."""

    verdict: str = Field(description="Of all attacks at the misses of the audit: the worst of theirs.")
    sentence: str
    too_low: bool = Field(description="Whether more people were found than promised.")
    origins: int = Field(description="Earlier steps from which on habits were tried.")
    independent: int = Field(description="Origins that the intervals count for: fewer where the steps after overlap.")
    people: int = Field(description="Different people on whom habits were tried, in fives, rounded down.")
    share: float = Field(description="Share of the people who were known well enough at an origin, to a hundredth.")
    gap: float = Field(description="Mean of |promised - right| over the attacks map and prior and all misses tried.")
    by_misses: list[Promise]
    by_promise: list[Promises]
    robust: Robust | None = Field(
        description="Under the least departure that explains what came true; null where no departure does."
    )
    robust_upper: Robust | None = Field(description="The same at the upper ends of the intervals.")


class Adversary(Record):
    """One kind of adversary, on some people."""

    adversary: str
    people: int
    baseline: float = Field(description="Mean chance to be found without the release.")
    lower: float = Field(description="Mean chance with the release, of the best attack found.")
    upper: float = Field(description="Mean chance with the release that no attack of this adversary exceeds.")
    least: float = Field(description="What the mean over all people is, at least (95 %).")
    most: float = Field(description="What the mean over all people is, at most (95 %).")
    right: float = Field(description="Share of the people who were really found, in steps of five people.")


def told_backtest(found: Calibration, upper: pl.Series, mean: Mean | None) -> Backtest:
    """What is told of a backtest.

    `upper` are the upper ends of the people of an audit, and `mean` the limits of their mean loss.
    """
    tries = fives_below(float(found.by_origin["people"].sum()))
    row = found.telling
    right = in_fives(row["right"], tries)
    promises = [_promise(each, tries) for each in found.by_misses.iter_rows(named=True)]
    nats, nats_upper = found.told_nats
    said = verdict_sentence(found.verdict, found.origins, row["attack"], percent(row["promised"]), percent(right))
    return Backtest(
        verdict=found.verdict,
        sentence=said,
        too_low=row["difference"] > 0,
        origins=found.origins,
        independent=found.independent,
        people=fives_below(found.people),
        share=round(found.share, 2),
        gap=round(fmean(abs(each.right - each.promised) for each in promises if each.attack in PLAIN), 3),
        by_misses=promises,
        by_promise=[_promises(each) for each in found.by_promise.iter_rows(named=True) if each["people"] >= FEW],
        robust=_robust(nats, upper, mean),
        robust_upper=_robust(nats_upper, upper, mean),
    )


def _promise(row: dict[str, float], tries: int) -> Promise:
    return Promise(
        attack=str(row["attack"]),
        misses=int(row["misses"]),
        promised=round(row["promised"], 4),
        **_found(row, tries),
        verdict=str(row["verdict"]),
        nats=_rounded(row["told_nats"], 2),
        nats_upper=_rounded(row["told_nats_upper"], 2),
    )


def _promises(row: dict[str, float]) -> Promises:
    return Promises(
        attack=str(row["attack"]),
        promised=round(row["promised"], 4),
        **_found(row, fives_below(row["tries"])),
        people=fives_below(row["people"]),
    )


def _found(row: dict[str, float], tries: int) -> dict[str, Any]:
    """The share who were really found, in fives of people, and the interval around it, moved with it.

    An end stays on its side of 0: that is what the verdict says.
    """
    right = in_fives(row["right"], tries)

    def moved(end: float | None) -> float | None:
        if end is None:
            return None
        there = end + right - row["right"]
        return _rounded(0.0 if there * end < 0 else there, 2)

    return {"right": round(right, 4), "lower": moved(row["lower"]), "upper": moved(row["upper"])}


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None or not isfinite(value) else round(value, digits)


def _robust(nats: float | None, upper: pl.Series, mean: Mean | None) -> Robust | None:
    """From everybody's upper ends, or from the limit of their mean, where that gives less.

    A divergence of means is at most the mean divergence (it is convex in both laws together), so people whose mean is
    at most the limit are no better off than one person with that loss who departs as far. The departure is rounded up,
    so that one that is told as 0 is none.
    """
    if nats is None or not isfinite(nats) or len(upper) < FEW:
        return None
    nats = ceil(1000 * nats - 1e-9) / 1000
    highest = highest_mean(upper.to_numpy(), nats)
    if mean is not None:
        highest = min(highest, highest_mean(np.array([mean.upper]), nats))
    return Robust(nats=nats, upper=round(highest, 4))


def told_adversaries(table: pl.DataFrame) -> list[Adversary]:
    """What is told of other adversaries, of those that were tried on enough people."""
    out = []
    for row in table.filter(pl.col("people") >= FEW).iter_rows(named=True):
        numbers = {name: round(row[name], 4) for name in ("baseline", "lower", "upper", "least", "most")}
        right = round(in_fives(row["right"], row["people"]), 4)
        out.append(Adversary(adversary=row["adversary"], people=row["people"], right=right, **numbers))
    return out
