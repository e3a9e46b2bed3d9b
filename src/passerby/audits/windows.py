"""One promise at the published window and at earlier ones: the drift between them, and the verdict.

The verdict is on the published window, since a reader takes the chances of a page for this window. Earlier windows show
the worth of a promise for such a window: an interval in which right minus promised is to be expected.

People's departure from their habits: the least to explain the real outcomes, and its effect on an upper end.

A person's law D departs from their habits P by `KL(D ‖ P)` nats. A right attack is an event, so its chance q under D
and p under P have `kl(q ‖ p) <= KL(D ‖ P)` (data-processing inequality). People depart by different amounts; only the
average over them is spoken of here. Among all chances q with a given average of `kl(q ‖ p)`, the highest mean has one
common tilt: `q = p e^θ / (1 - p + p e^θ)`. A single number decides it (Csiszár 1975, I-projections).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Verdict = Literal["came true", "did not come true", "cannot be told"]
Ends = tuple[float, float]

#: A promise of one half is close to the real share if they differ by no more; others relative to this (`close`).
CLOSE = 0.05
#: The least difference of any weight, whatever was promised.
LEAST = 0.005
#: The expected interval must lie within so many times as much.
WIDE = 4.0
#: The level of this interval, and of the interval of chance alone.
EXPECTED, LEVEL = 0.90, 0.95
#: The share of windows allowed beyond the careful departure.
EXCEEDED = 0.1
#: Drift between windows before any is seen, as a share of `sqrt(p (1 - p))`, and its weight in windows. Both were
#: chosen on the sets of `benchmarks/promises.py`.
DRIFT, SEEN = 0.06, 1.0


def scale(promised: float) -> float:
    """How much a share of people with this chance varies: `sqrt(p (1 - p))`, of the size of an added part, too."""
    p = min(1.0, abs(promised))
    return sqrt(p * (1 - p))


def close(promised: float) -> float:
    """The largest difference for a kept promise: 5 points from one half on, and below it relative to this.

    >>> [round(close(promised), 4) for promised in (0.9, 0.5, 0.1, 0.03, 0.0)]
    [0.05, 0.05, 0.03, 0.0171, 0.005]
    """
    return max(LEAST, 2 * CLOSE * scale(min(0.5, abs(promised))))


@dataclass(frozen=True, eq=False)
class Windows:
    """Promised and right (k,) at windows, the published one first, and the variance (k,) of their difference by chance.

    `independent` is the number of windows they count for if they overlap.
    """

    promised: Floats
    right: Floats
    chance: Floats
    independent: int

    @property
    def differences(self) -> Floats:
        """Right minus promised (k,)."""
        return np.asarray(self.right - self.promised)

    def drift(self, which: slice = slice(None)) -> float:
        """The variance of differences between windows beyond chance, τ².

        By the method of moments (DerSimonian and Laird 1986), as the mean with the variance of other populations. Few
        windows in agreement are no proof for others.
        """
        d, v = self.differences[which], self.chance[which]
        expected = (DRIFT * scale(float(self.promised[0]))) ** 2
        k = len(d)
        if k < 2:
            return expected
        weights = 1 / v
        total = float(weights.sum())
        excess = float(weights @ (d - float(weights @ d) / total) ** 2) - (k - 1)
        found = max(0.0, excess / (total - float((weights**2).sum()) / total))
        seen = max(0.0, min(k, self.independent) - 1)
        return (seen * found + SEEN * expected) / (seen + SEEN)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each window (k,): lower with less information, `1 / (v + τ²)`, with the sum one."""
        found = 1 / (self.chance + self.drift())
        return np.asarray(found / found.sum())

    @property
    def pooled(self) -> Ends:
        """Promised and right over all windows."""
        return float(self.weights @ self.promised), float(self.weights @ self.right)

    def expected(self, level: float = EXPECTED) -> Ends | None:
        """The expected right minus promised at the published window, by the earlier ones alone.

        Their weighted mean, with its own variance, drift, and chance at the published window; Student's law with the
        degrees of freedom of these together (Satterthwaite 1946). None without a second window free of overlap.
        """
        from scipy.special import stdtrit

        if len(self.promised) < 2 or self.independent < 2:
            return None
        drift = self.drift(slice(1, None))
        found = 1 / (self.chance[1:] + drift)
        middle = float(found @ self.differences[1:] / found.sum())
        repeated = (len(found)) / max(1, min(len(found), self.independent - 1))
        own = repeated / float(found.sum())
        from_drift = drift * (1 + repeated * float((found**2).sum()) / float(found.sum()) ** 2)
        whole = own + drift + float(self.chance[0])
        freedom = whole**2 / from_drift**2 * (max(0, self.independent - 2) + SEEN) if from_drift > 0 else np.inf
        half = float(stdtrit(min(freedom, 1e9), (1 + level) / 2)) * sqrt(whole)
        return max(-1.0, middle - half), min(1.0, middle + half)

    def covered(self) -> float | None:
        """The right minus promised exceeded by the published window in one of ten cases, by the earlier ones."""
        ends = self.expected(1 - 2 * EXCEEDED)
        return None if ends is None else ends[1]

    def by_chance(self, window: int = 0) -> float:
        """The part of a difference left to chance alone, if habits are right (95 %)."""
        from scipy.special import ndtri

        return float(ndtri((1 + LEVEL) / 2)) * sqrt(float(self.chance[window]))

    @property
    def verdict(self) -> Verdict:
        """Whether the promise for the published window came true.

        The promise failed if the difference is not close, and beyond chance. It came true if the difference is close
        and in the expected interval, and this interval is narrow. Otherwise the verdict is open.
        """
        difference, near = float(self.differences[0]), close(float(self.promised[0]))
        if abs(difference) > near:
            return "did not come true" if abs(difference) > self.by_chance() else "cannot be told"
        ends = self.expected()
        if ends is None or max(-ends[0], ends[1]) > WIDE * near or not ends[0] <= difference <= ends[1]:
            return "cannot be told"
        return "came true"


def variance(promised: Floats, right: Floats, *, single: bool = True) -> float:
    """The variance of a mean difference over people (n,) by chance: under the habits, or as observed, if higher.

    A value without a `single` chance, such as the gain from counts or a mean over places, varies as observed.
    """
    n = len(promised)
    seen = float((right - promised).var()) * n / max(1, n - 1)
    by_habits = float((promised * (1 - promised)).mean()) if single else 0.0
    return max(seen, by_habits, 0.25 / n) / n


#: The largest tilt: it makes everything possible certain; and the halvings in the search for one.
_MOST, _HALVINGS = 750.0, 80


def least_departure(promised: Floats, right: float) -> float:
    """The least mean of `kl(q ‖ p)` over people with promises p (N,), if a share `right` is expected to be right.

    It is 0 if at least as many were promised, and infinite if more were right than had any chance.

    >>> round(least_departure(np.array([0.25, 0.25]), 0.5), 4), least_departure(np.array([0.6]), 0.2)
    (0.1438, 0.0)
    >>> least_departure(np.array([0.0, 0.5]), 0.75)
    inf
    """
    p = np.clip(promised, 0.0, 1.0)
    if right <= p.mean():
        return 0.0
    if right > (p > 0).mean():
        return float("inf")
    return _tilted_until(p, lambda mean, _: mean >= right)[1]


def highest_mean(upper: Floats, nats: float) -> float:
    """The highest mean chance of people with upper ends (N,) and a mean departure of `nats` from their habits.

    >>> round(highest_mean(np.array([0.25, 0.25]), 0.1438), 3), highest_mean(np.array([0.25]), 0.0)
    (0.5, 0.25)
    """
    p = np.clip(upper, 0.0, 1.0)
    if nats <= 0:
        return float(p.mean())
    return _tilted_until(p, lambda _, departure: departure >= nats)[0]


def _tilted_until(p: Floats, enough: Callable[[float, float], bool]) -> tuple[float, float]:
    """Both means at the least tilt with `enough` of them: both grow with the tilt."""
    low, high = 0.0, _MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(*_tilted(p, middle)) else (middle, high)
    return _tilted(p, high)


def _tilted(p: Floats, tilt: float) -> tuple[float, float]:
    """The means of the tilted chances and of their divergence: `log q = log p + θ - A`, `kl = q θ - A`."""
    with np.errstate(divide="ignore"):
        log_p, log_rest = np.log(p), np.log1p(-p)
    total = np.logaddexp(log_p + tilt, log_rest)
    q = np.exp(log_p + tilt - total)
    return float(q.mean()), max(0.0, float((q * tilt - total).mean()))
