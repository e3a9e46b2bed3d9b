"""What a release costs its readers: how far its numbers are from the counts, and how many of them there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.mechanisms import Gaussian, Laplace, Mechanism
from passerby.mechanisms.fixed import Fixed
from passerby.model.release import Release

Floats = NDArray[np.float64]

#: The largest error of a table stays below `Cost.worst` with this chance.
OFTEN = 0.95
#: Errors that are looked at to find the mean and the worst of a law, for each doubling.
FINE = 64


@dataclass(frozen=True)
class Cost:
    """What readers lose against the true counts.

    `mean` is the expected absolute error of a published number and `worst` what the largest error of the whole table
    does not exceed, with a chance of 95 % where there is chance in it; both are None where nothing is published.
    `published` is the share of the wanted numbers that are published. `total` is the expected sum of all errors as a
    share of the sum of all counts, where a number that is not published counts as zero: 0 is the table itself, and 1 is
    nothing. With weights, mean, share and total are weighted; `numbers` is how many are published, on average.
    """

    mean: float | None
    worst: float | None
    published: float
    total: float
    numbers: float


NOTHING = Cost(None, None, 0.0, 1.0, 0.0)


def cost_of(release: Release, wanted: Release, counts: NDArray[np.int64], weights: Floats | None = None) -> Cost:
    """The cost of a release whose sensors are some of those that were wanted.

    `counts` (T, M) are the true counts, and `weights` (T, M) how much each matters. Laws are those of the mechanism: a
    number that it leaves empty is not published.

    >>> wanted = Release([[0, 1], [0, 1]])
    >>> cost_of(Release([[0], [0]], Gaussian(2.0)), wanted, np.full((2, 2), 10))
    Cost(mean=1.59..., worst=4.47..., published=0.5, total=0.57..., numbers=2.0)
    """
    matter = np.ones(counts.shape) if weights is None else weights
    cells = [(t, x) for t, step in enumerate(wanted.sensors) for x in step]
    kept = {(t, x) for t, step in enumerate(release.sensors) for x in step}
    whole = sum(matter[cell] for cell in cells)
    if not kept or whole == 0:
        return NOTHING
    of = {count: error_of(release.mechanism, count) for count in {int(counts[cell]) for cell in kept}}
    there = lost = off = numbers = 0.0
    for cell in cells:
        count = int(counts[cell])
        chance, error = of[count][:2] if cell in kept else (0.0, 0.0)
        there += matter[cell] * chance
        off += matter[cell] * error
        lost += matter[cell] * (error + (1 - chance) * count)
        numbers += chance
    if there == 0:
        return NOTHING
    sum_of = sum(matter[cell] * int(counts[cell]) for cell in cells)
    worst = _worst(release.mechanism, [int(counts[cell]) for cell in sorted(kept)])
    return Cost(
        float(off / there), worst, float(there / whole), float(lost / sum_of) if sum_of else math.inf, float(numbers)
    )


@lru_cache(maxsize=4096)
def error_of(mechanism: Mechanism, count: int) -> tuple[float, float]:
    """The chance that a number is published at this count, and its expected absolute error where it is.

    The second is the mean over all that can be published, with an empty cell as no error: `E[|Y - count|; published]`.
    Closed forms for normal and Laplace noise, sums over the law where it can be listed, and integrals of
    `Pr[|Y - count| > e]` over e elsewhere.

    >>> from passerby.mechanisms import Rounding, Suppression
    >>> error_of(Rounding(5), 7), error_of(Suppression(10), 7), error_of(Laplace(3.0), 7)
    ((1.0, 2.0), (0.0, 0.0), (1.0, 3.0))
    """
    if isinstance(mechanism, Fixed):
        value = float(mechanism.apply(np.array([float(count)]))[0])
        return (0.0, 0.0) if math.isnan(value) else (1.0, abs(value - count))
    if isinstance(mechanism, Gaussian) and mechanism.processed is None:
        return 1.0, mechanism.sigma * math.sqrt(2 / math.pi)
    if isinstance(mechanism, Laplace) and mechanism.processed is None:
        return 1.0, float(mechanism.scale)
    if mechanism.outputs(count) is not None:
        values, chances = mechanism.law(count)
        shown = ~np.isnan(values)
        return float(chances[shown].sum()), float(chances[shown] @ np.abs(values[shown] - count))
    errors, beyond = _tail(mechanism, count)
    return 1.0, float(np.diff(errors) @ (beyond[1:] + beyond[:-1]) / 2)


@lru_cache(maxsize=4096)
def _tail(mechanism: Mechanism, count: int) -> tuple[Floats, Floats]:
    """Errors in increasing order, and the chance that the error of a continuum exceeds each."""
    low, high = mechanism.extent(count, math.log(1e-9))
    top = max(count - low, high - count)
    errors = np.concatenate([[0.0], np.geomspace(top * 1e-5, top, 17 * FINE)])
    inside = np.exp(mechanism.log_between(count - errors, count + errors, count))
    return errors, np.maximum(0.0, 1 - inside)


def _worst(mechanism: Mechanism, counts: list[int]) -> float:
    """The smallest e with `Π Pr[|Y_i - c_i| <= e] >= 0.95` over all counts; an empty cell has no error."""
    if isinstance(mechanism, Fixed):
        return max(error_of(mechanism, count)[1] for count in counts)
    distinct, times = np.unique(counts, return_counts=True)
    if mechanism.shift_invariant:
        distinct, times = distinct[:1], np.array([len(counts)])
    if mechanism.outputs(int(distinct[0])) is None:
        return _worst_of_continuum(mechanism, distinct, times)
    within = [_within(mechanism, int(count)) for count in distinct]
    errors = np.unique(np.concatenate([some for some, _ in within]))
    logs = np.zeros(len(errors))
    for (some, chance), n in zip(within, times, strict=True):
        at = np.searchsorted(some, errors, side="right") - 1
        with np.errstate(divide="ignore"):
            logs += n * np.log(np.where(at < 0, 0.0, chance[np.maximum(at, 0)]))
    enough = np.flatnonzero(logs >= math.log(OFTEN))
    # The lists leave out next to nothing: their last error is always enough.
    return float(errors[enough[0] if enough.size else -1])


def _worst_of_continuum(mechanism: Mechanism, counts: NDArray[np.int64], times: NDArray[np.int64]) -> float:
    """The same by bisection."""
    at = counts.astype(np.float64)
    ends = [mechanism.extent(count, math.log(1e-12)) for count in at]
    low, high = 0.0, max(max(count - a, b - count) for count, (a, b) in zip(at, ends, strict=True))
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        inside = float(times @ mechanism.log_between(at - middle, at + middle, at))
        low, high = (low, middle) if inside >= math.log(OFTEN) else (middle, high)
    return float(high)


def _within(mechanism: Mechanism, count: int) -> tuple[Floats, Floats]:
    """Errors that are listed, in increasing order, and the chance that the error is at most each."""
    values, chances = mechanism.law(count)
    errors = np.where(np.isnan(values), 0.0, np.abs(values - count))
    order = np.argsort(errors, kind="stable")
    return errors[order], np.minimum(1.0, np.cumsum(chances[order]))
