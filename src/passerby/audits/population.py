"""From people to the population: limits of a mean over people, and whose interval decides something."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.measurement.finding import Interval


def mean_limits(lower: ArrayLike, upper: ArrayLike, reach: ArrayLike, confidence: float) -> Interval:
    """Limits of the mean over N people of values between `lower` and `upper` but for chance, all (N,).

    A person's ends may be averages over n independent draws of weight w. `reach` is then `w / sqrt(n)`, and 0 for
    certain ends. By Hoeffding's inequality (1963, theorem 2), the mean of everybody's averages is off by at most
    `sqrt(Σ reach² · log(2/δ) / 2) / N` to either side, with a chance of δ in all. The draws need not have the same law.
    Single limits would be averaged to something far wider: each of them covers the chance of one person.

    >>> people, draws = 2000, 60
    >>> mean_limits(np.full(people, 0.46), np.full(people, 0.46), np.full(people, draws**-0.5), 0.99)
    Interval(lower=0.455..., upper=0.464...)
    """
    low, high, far = (np.asarray(each, dtype=np.float64) for each in (lower, upper, reach))
    if not len(low):
        raise InputError("the mean over nobody has no limits; give at least one person")
    if not 0 <= confidence < 1:
        raise InputError(f"confidence is {confidence!r}; expected a number of at least 0 and below 1")
    return limits_around(float(low.mean()), float(high.mean()), float(far @ far), len(low), confidence)


def limits_around(lower: float, upper: float, squares: float, people: int, confidence: float) -> Interval:
    """The same from both means over so many people, and the sum of `reach²`."""
    off = math.sqrt(squares * math.log(2 / (1 - confidence)) / 2) / people
    return Interval(max(0.0, lower - off), min(1.0, upper + off))


def open_people(lower: ArrayLike, upper: ArrayLike, thresholds: Sequence[float], most: int) -> NDArray[np.int64]:
    """The numbers of at most so many people whose interval decides something, in order.

    Intervals around a threshold come first, then all others. In both groups the widest come first, as they carry most
    of the width of the mean. Nobody with a point as interval.

    >>> open_people([0.1, 0.2, 0.5, 0.3], [0.9, 0.3, 0.5, 0.6], [0.25], 2)
    array([0, 1])
    """
    low, high = (np.asarray(each, dtype=np.float64) for each in (lower, upper))
    width = high - low
    levels = np.asarray(thresholds, dtype=np.float64)[:, None]
    decides = ((low < levels) & (levels <= high)).any(axis=0)
    order = np.lexsort((np.arange(len(low)), -width, ~decides))
    return np.sort(order[width[order] > 0][:most])
