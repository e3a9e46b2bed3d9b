"""Laws: the values that can be published, and their probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
#: Values that can be published, in increasing order, and their probabilities.
Law = tuple[Floats, Floats]

#: A cell that is left empty. Whatever is done to it afterwards, it stays empty.
HIDDEN = math.nan

#: Lists of what can be published end where less than this is left on either side, with the target and without. An
#: outcome counts by its likelihood times what is guessed right, so that a loss changes by this share of itself at most,
#: however small it is. Likelihoods are exact everywhere: nothing is told as impossible for being far out.
TAIL = 1e-18
LOG_TAIL = math.log(TAIL)
#: Probabilities of a law that sum to one within this do so but for rounding.
SUMS = 1e-9
#: More values than this are not listed.
MOST_VALUES = 1_000_000


def same(left: ArrayLike, right: ArrayLike) -> NDArray[np.bool_]:
    """Equality in which an empty cell equals an empty cell."""
    left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
    return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))


def gathered(values: Floats, chances: Floats) -> Law:
    """A law in increasing order, with the probabilities of equal values added up."""
    distinct, index = np.unique(values, return_inverse=True)
    total = np.zeros(len(distinct))
    np.add.at(total, index.reshape(-1), chances)
    return trimmed(distinct, total)


def log_gathered(values: Floats, logs: Floats) -> Law:
    """The same for a law in logarithms."""
    distinct, index = np.unique(values, return_inverse=True)
    total = np.full(len(distinct), -np.inf)
    np.logaddexp.at(total, index.reshape(-1), logs)
    return distinct[total > -np.inf], total[total > -np.inf]


def trimmed(values: Floats, chances: Floats) -> Law:
    """A law without the values that have no probability."""
    there = chances > 0
    return values[there], chances[there]


def mixture_information(presence: float, absent: Floats, present: Floats) -> float:
    """`I(B; Y)` in nats for a bit B that is 1 with probability `presence`, and laws of Y given B = 0 and B = 1."""
    presence = min(1.0, max(0.0, presence))  # a sum of probabilities may be above one by rounding
    mixed = (1 - presence) * absent + presence * present
    total = 0.0
    for share, law in ((1 - presence, absent), (presence, present)):
        there = share * law > 0
        with np.errstate(over="ignore"):
            ratio = law[there] / mixed[there]
        # The ratio is exact where both are nearly equal, and too large for a number where one is next to nothing.
        logs = np.where(np.isfinite(ratio), np.log(ratio), np.log(law[there]) - np.log(mixed[there]))
        total += share * float(law[there] @ logs)
    return max(0.0, total)
