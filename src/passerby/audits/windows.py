"""One promise at the published window and at earlier ones: what drifts between them, and whether it came true.

The published window is judged, since that is what a reader takes the chances of a page for. Earlier windows say what a
promise for such a window is worth: an interval in which right minus promised was to be expected there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Verdict = Literal["came true", "did not come true", "cannot be told"]
Ends = tuple[float, float]

#: A promise of one half is close to what was right if both differ by no more; others relative to that (`close`).
CLOSE = 0.05
#: The least difference that counts as one, whatever was promised.
LEAST = 0.005
#: The interval of what was to be expected must lie within so many times as much.
WIDE = 4.0
#: The level of that interval, and of what chance alone leaves.
EXPECTED, LEVEL = 0.90, 0.95
#: How often a window may lie beyond the departure that is to be careful.
EXCEEDED = 0.1
#: Drift between windows before any is seen, as a share of `sqrt(p (1 - p))`, and for how many windows that counts.
#: Both were chosen on the sets of `benchmarks/promises.py`.
DRIFT, SEEN = 0.06, 1.0


def scale(promised: float) -> float:
    """How much a share of people with this chance varies: `sqrt(p (1 - p))`, of the size of an added part, too."""
    p = min(1.0, abs(promised))
    return sqrt(p * (1 - p))


def close(promised: float) -> float:
    """The largest difference at which a promise came true: 5 points from one half on, and below it relative to that.

    >>> [round(close(promised), 4) for promised in (0.9, 0.5, 0.1, 0.03, 0.0)]
    [0.05, 0.05, 0.03, 0.0171, 0.005]
    """
    return max(LEAST, 2 * CLOSE * scale(min(0.5, abs(promised))))


@dataclass(frozen=True, eq=False)
class Windows:
    """Promised and right (k,) at windows, the published one first, and the variance (k,) of their difference by chance.

    `independent` is how many windows they count for where they overlap.
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
        """How much differences vary between windows beyond what chance explains, τ².

        By the method of moments (DerSimonian and Laird 1986), as the mean with what other populations show: few windows
        that agree are no proof that others would.
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
        """What each window counts (k,): less where it can tell less, `1 / (v + τ²)`, and together one."""
        found = 1 / (self.chance + self.drift())
        return np.asarray(found / found.sum())

    @property
    def pooled(self) -> Ends:
        """Promised and right over all windows."""
        return float(self.weights @ self.promised), float(self.weights @ self.right)

    def expected(self, level: float = EXPECTED) -> Ends | None:
        """Where right minus promised was to be expected at the published window, by the earlier ones alone.

        Their weighted mean, with its own variance, drift, and chance at the published window; Student's law with the
        degrees of freedom of these together (Satterthwaite 1946). None without a second window that does not overlap.
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
        """The right minus promised that the published window exceeds in one of ten cases, by the earlier ones."""
        ends = self.expected(1 - 2 * EXCEEDED)
        return None if ends is None else ends[1]

    def by_chance(self, window: int = 0) -> float:
        """What chance alone leaves of a difference, if habits are right (95 %)."""
        from scipy.special import ndtri

        return float(ndtri((1 + LEVEL) / 2)) * sqrt(float(self.chance[window]))

    @property
    def verdict(self) -> Verdict:
        """Whether the promise for the published window came true.

        It did not where the difference is not close, and more than chance leaves. It did where it is close, lies where
        it was to be expected, and little else was to be expected. Else that cannot be told.
        """
        difference, near = float(self.differences[0]), close(float(self.promised[0]))
        if abs(difference) > near:
            return "did not come true" if abs(difference) > self.by_chance() else "cannot be told"
        ends = self.expected()
        if ends is None or max(-ends[0], ends[1]) > WIDE * near or not ends[0] <= difference <= ends[1]:
            return "cannot be told"
        return "came true"


def variance(promised: Floats, right: Floats, *, single: bool = True) -> float:
    """The variance of a mean difference over people (n,) by chance: what habits say, or what is seen, if that is more.

    What is not a `single` chance, such as what counts add or a mean over places, varies as is seen.
    """
    n = len(promised)
    seen = float((right - promised).var()) * n / max(1, n - 1)
    by_habits = float((promised * (1 - promised)).mean()) if single else 0.0
    return max(seen, by_habits, 0.25 / n) / n
