"""When a sentence of the paper counts as true: every threshold in one place, with its reason, and what uses it.

The thresholds follow from the words of the paper and from what its experiments can resolve, not from what is measured
here. An answer is yes, no, or None where the measured intervals leave it open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Answer = bool | None
Floats = NDArray[np.float64]

#: Standard errors between two rates that differ for sure.
SURE = 3.0
#: Traces of the paper's Monte Carlo.
TRACES = 1000
#: A difference that those traces can tell whatever the level: SURE * sqrt(1/4 / TRACES) = 4.7 points, rounded up.
VISIBLE = 0.05
#: "Almost" the same, in proportion.
TENTH = 0.1
#: "Frequent", "high", "meaningful", "large", "scattered", "most": the half that decides between yes and no.
HALF = 0.5
#: Rank correlations below this are negligible.
WEAK = 0.1
#: So many people at least must bear out a sentence about each of them.
FEWEST = 5
#: The tolerance that `measure` aims for by default: a value is known where its interval is within it.
KNOWN = 0.01
#: What arithmetic may be off.
ROUNDING = 1e-9
#: Numbers held at once by the resamples that are worked on together.
AT_ONCE = 2_000_000

#: Words of the paper, what they are taken to mean, and why: for the page.
MEANINGS = (
    (
        "decreases, gets smaller, falls (or grows)",
        "the last value of the sweep is below the first, and no value is above an earlier one. Attacks may be above by "
        f"what {TRACES:,} traces cannot tell apart (three standard errors). Where the loss is an interval, this must "
        "be sure: a rise of overlapping intervals is no rise, and overlapping ends leave the sentence open",
        "the sentence speaks of the whole sweep; attacks were seen through that many traces",
    ),
    (
        "remains constant, does not change much, almost matches, does not help",
        f"*to the eye*: all values within {100 * VISIBLE:.0f} percentage points; *in proportion*: all values within a "
        "tenth of the largest. Both are asked",
        f"three standard errors of {TRACES:,} traces are at most 4.7 points, so the paper's figures show no less; "
        "where all values are tiny only proportions say anything",
    ),
    (
        "≈ 30 %, non-negligible",
        f"within, and at least, {100 * VISIBLE:.0f} percentage points",
        "the same resolution",
    ),
    (
        "a meaningful bound; one that is not",
        f"below one half; above {100 * (1 - VISIBLE):.0f} %",
        "an attack more likely fails than succeeds; the bound cannot be told from 1",
    ),
    (
        "a large gap between the bounds",
        "the tight bound is less than half of the loose one at most points of the sweep",
        "a factor of two is large in any reading",
    ),
    ("s is small", "at most a tenth of the steps", "the same tenth"),
    (
        "visited frequently; high loss",
        "at least half of the fitted steps there; loss above one half for each of them, and a median above that of the "
        f"others. At least {FEWEST} such people are needed",
        "more often there than not, more likely found than not; of fewer people, all are above the median by chance "
        "more often than once in 20 times",
    ),
    (
        "scattered between 0 and 1",
        "the middle nine tenths of people cover more than half of the axis",
        "a few outliers are no scatter",
    ),
    (
        "larger, less (of a correlation)",
        f"rank correlation with a 95 % interval on that side of 0. It is not so where the interval excludes more than "
        f"{WEAK} on that side; in between it is open",
        f"correlations below {WEAK} are negligible by the usual convention (Cohen 1988)",
    ),
    (
        "attacks succeed more; the assumption does not hold",
        "rates over people that differ for sure: by an exact binomial test at the level of three standard errors",
        "they come by chance once in 370 comparisons, and there are a handful",
    ),
    (
        "intractable to obtain the exact value",
        f"no longer so where it is found within {100 * KNOWN:.0f} %",
        "the tolerance that the measurement aims for",
    ),
)


def doubt(one: float, other: float, count: int) -> float:
    """What two rates may differ by without differing for sure: three standard errors of a rate over `count`."""
    return SURE * math.sqrt(max(one * (1 - one), other * (1 - other), 0.0) / count)


def falls(low: Sequence[float], high: Sequence[float] | None = None, traces: int | None = None) -> Answer:
    """Whether values between `low` and `high` fall along a sweep; rises that `traces` cannot tell are none.

    >>> falls([0.5, 0.3, 0.301]), falls([0.5, 0.3, 0.301], traces=1000), falls([1.0, 1.0])
    (False, True, False)
    >>> falls([0.5, 0.2], [0.6, 0.4]), falls([0.5, 0.2], [0.6, 0.7])
    (True, None)
    """
    high = low if high is None else high
    for before, after in combinations(range(len(low)), 2):
        unseen = doubt(high[before], low[after], traces) if traces else 0.0
        if low[after] > high[before] * (1 + ROUNDING) + unseen:
            return False
    if high[-1] < low[0]:
        return True
    return False if low[-1] >= high[0] else None


def rises(low: Sequence[float], high: Sequence[float] | None = None, traces: int | None = None) -> Answer:
    """Whether values rise along a sweep.

    >>> rises([0.1, 0.2]), rises([0.2, 0.1])
    (True, False)
    """
    return falls(low[::-1], None if high is None else high[::-1], traces)


def close(low: Sequence[float], high: Sequence[float] | None = None, what: str = "") -> dict[str, Answer]:
    """Whether values between `low` and `high` are almost the same, in the two senses; `what` they are begins each.

    >>> close([0.30, 0.31])
    {'to the eye': True, 'in proportion': True}
    >>> close([1e-10, 1e-12], what="MAP")
    {'MAP to the eye': True, 'MAP in proportion': False}
    >>> close([0.3, 0.2], [0.4, 0.4])
    {'to the eye': None, 'in proportion': None}
    """
    high = low if high is None else high
    surely, perhaps = max(low) - min(high), max(high) - min(low)
    senses = {
        "to the eye": _within(surely, perhaps, VISIBLE, VISIBLE),
        "in proportion": _within(surely, perhaps, TENTH * max(low), TENTH * max(high)),
    }
    return {f"{what} {sense}".lstrip(): answer for sense, answer in senses.items()}


def _within(surely: float, perhaps: float, least: float, most: float) -> Answer:
    """Whether a difference between two values is small, where so is what counts as small."""
    if surely > least * (1 + ROUNDING):
        return False
    return True if perhaps <= most * (1 + ROUNDING) else None


def positive(value: float, low: float, high: float) -> Answer:
    """Whether a correlation is above 0, by its interval: no where that excludes all but negligible ones.

    >>> positive(0.3, 0.2, 0.4), positive(0.02, -0.05, 0.09), positive(0.1, -0.1, 0.3)
    (True, False, None)
    """
    if math.isnan(value):
        return None
    if low > 0:
        return True
    return False if high < WEAK else None


def negative(value: float, low: float, high: float) -> Answer:
    """Whether a correlation is below 0, by its interval.

    >>> negative(-0.3, -0.4, -0.2), negative(0.3, 0.2, 0.4)
    (True, False)
    """
    return positive(-value, -high, -low)


def beyond(rate: float, probability: float, people: int) -> int:
    """1 where a rate over people is surely above a probability, -1 where it is surely below, 0 otherwise.

    By the exact binomial tail, at the level of three standard errors: with small probabilities a few hits are many.

    >>> beyond(0.05, 1e-6, 100), beyond(0.05, 0.06, 100), beyond(0.05, 0.5, 100)
    (1, 0, -1)
    """
    from scipy.stats import binom

    level, hits = math.erfc(SURE / math.sqrt(2)) / 2, round(rate * people)
    above = float(binom.sf(hits - 1, people, probability)) < level
    below = float(binom.cdf(hits, people, probability)) < level
    return int(above) - int(below)


def more(rates: Sequence[float], others: Sequence[float], people: int) -> Answer:
    """Whether rates over people are above other probabilities, one by one: no where one is surely below.

    >>> more([0.5, 0.4], [0.1, 0.1], 100), more([0.5, 0.1], [0.1, 0.4], 100), more([0.5], [0.45], 100)
    (True, False, None)
    """
    sides = [beyond(rate, other, people) for rate, other in zip(rates, others, strict=True)]
    if -1 in sides:
        return False
    return None if 0 in sides else True


def rank_correlation(x: Floats, y: Floats, seed: int, resamples: int) -> tuple[float, float, float]:
    """Spearman's rank correlation, and the ends of its 95 % bootstrap interval over people (percentiles).

    Not a number where one of the two does not vary; such resamples do not count.

    >>> rank_correlation(np.arange(9.0), np.arange(9.0) ** 2, 0, 100)
    (1.0, 1.0, 1.0)
    """
    from scipy.stats import rankdata, spearmanr

    if min(np.ptp(x), np.ptp(y)) == 0:
        return math.nan, math.nan, math.nan
    rng, n = np.random.default_rng([seed, 3]), len(x)
    # Small whole numbers in place of the values are ranked alike, and several times faster.
    codes = [np.unique(v, return_inverse=True)[1].astype(np.min_scalar_type(n)) for v in (x, y)]
    found: list[float] = []
    for start in range(0, resamples, step := max(1, AT_ONCE // n)):
        chosen = rng.integers(n, size=(min(step, resamples - start), n))
        a, b = (rankdata(v[chosen], axis=1) - (n + 1) / 2 for v in codes)
        size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
        varied = size > 0
        found += ((a * b).sum(axis=1)[varied] / size[varied]).tolist()
    low, high = np.percentile(found, [2.5, 97.5]) if found else (math.nan, math.nan)
    return float(spearmanr(x, y).statistic), float(low), float(high)
