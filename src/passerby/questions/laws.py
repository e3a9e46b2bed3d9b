"""The evidence of a release's series for an event: its law with the event and without, and the measures of both.

All measures are functions of the law of `r(y) = Pr[not E | y]`. Advantage and power are means of convex functions of
it. A less informed observer bounds them from below, and a better informed one from above. `certain` and `absent` are
not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The missing probability of a law is rounding, up to this share of it.
ROUNDING = 1e-11
#: A series counts as making an event as likely as asked for, up to this difference.
ALMOST = 1e-12


@dataclass(frozen=True, eq=False)
class Law:
    """Series, or groups of them, by how likely each is with the event, and without: `yes` (n,) and `no` (n,).

    Both add up to one, but for series not listed.
    """

    yes: Floats
    no: Floats

    @classmethod
    def of_logs(cls, logs: Floats, mass: Floats, chance: tuple[float, float]) -> Law:
        """From log-probabilities (n, 2) without the event and with it, up to a factor for each series.

        `mass` (n,) is the probability of each series, and `chance` the probabilities of no event and of the event.
        """
        gap = gaps(logs)
        with np.errstate(over="ignore"):
            other = np.exp(-np.abs(gap))
        share = 1 / (1 + other)
        held, not_held = np.where(gap >= 0, share, other * share), np.where(gap >= 0, other * share, share)
        return cls(mass * held / chance[1], mass * not_held / chance[0])

    @property
    def missing(self) -> tuple[float, float]:
        """The probability of all series not listed, with the event and without."""
        left = (1 - float(self.yes.sum()), 1 - float(self.no.sum()))
        return (max(0.0, left[0] - ROUNDING), max(0.0, left[1] - ROUNDING))

    def completed(self, more: bool) -> Law:
        """The law with the unlisted series: lumped into one (telling less), or split by the event (telling more)."""
        yes, no = self.missing
        rows = [(yes, 0.0), (0.0, no)] if more else [(yes, no)]
        table = np.array([row for row in rows if row != (0.0, 0.0)]).reshape(-1, 2)
        return Law(np.append(self.yes, table[:, 0]), np.append(self.no, table[:, 1])) if len(table) else self

    @property
    def advantage(self) -> float:
        """The best test's true positives minus its false positives: the total variation between both laws.

        >>> Law(np.array([0.75, 0.25]), np.array([0.25, 0.75])).advantage
        0.5
        """
        return min(1.0, float(np.maximum(self.yes - self.no, 0.0).sum()))

    @property
    def affinity(self) -> float:
        """The Bhattacharyya coefficient of both laws, over the listed series: 1 if they are the same, 0 if apart.

        >>> round(Law(np.array([0.75, 0.25]), np.array([0.25, 0.75])).affinity, 6)
        0.866025
        """
        return min(1.0, float(np.sqrt(self.yes * self.no).sum()))

    def repeated(self, times: int) -> float:
        """The gain of the best test of so many independent series, among tests for any yes and tests for all.

        >>> Law(np.array([0.5, 0.5]), np.array([0.0, 1.0])).repeated(3)
        0.875
        """
        true, wrong = (np.minimum(side, 1.0) for side in self._ranked)
        some = (1 - wrong) ** times - (1 - true) ** times
        return max(0.0, float(some.max()), float((true**times - wrong**times).max()))

    @cached_property
    def _ranked(self) -> tuple[Floats, Floats]:
        """True and false positives of the tests saying yes to more and more series, the most telling first."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(self.yes > 0, self.no / self.yes, np.inf)
        order = np.argsort(ratio, kind="stable")
        yes, no = (np.concatenate([[0.0], np.cumsum(side[order])]) for side in (self.yes, self.no))
        return yes, no

    def power(self, false: float) -> float:
        """The largest share of true positives of a test with this share of false positives (Neyman and Pearson 1933).

        >>> Law(np.array([0.5, 0.5]), np.array([0.0, 1.0])).power(0.1)
        0.55
        """
        true, wrong = self._ranked
        last = int(np.searchsorted(wrong, false, side="right")) - 1
        if last == len(wrong) - 1:
            return min(1.0, float(true[-1]))
        part = (false - wrong[last]) / (wrong[last + 1] - wrong[last])
        return min(1.0, float(true[last] + part * (true[last + 1] - true[last])))

    def likely(self, chance: float, prior_odds: float) -> float:
        """The chance, under the event, of a listed series making the event so likely.

        `prior_odds` are the odds of the event without any series.
        """
        if chance <= 0:
            return float(self.yes.sum())
        # As odds, so nothing is lost if both are tiny.
        with np.errstate(over="ignore"):
            enough = self.yes * prior_odds * (1 - chance + ALMOST) >= self.no * (chance - ALMOST)
        return min(1.0, float(self.yes[enough & (self.yes > 0)].sum()))

    def surely(self, chance: float, prior_odds: float) -> float:
        """A lower bound of the chance of being so sure, under the event: it holds also for better informed observers.

        A test says yes to series S. A better informed observer is so sure in S with a share of its true positives of
        `true - k false` at least. Here k is the ratio of both laws at this certainty (Markov's inequality).

        >>> Law(np.array([0.5, 0.5]), np.array([0.0, 1.0])).surely(0.9, 1.0)
        0.5
        """
        with np.errstate(over="ignore", invalid="ignore"):
            k = np.exp(log_odds(chance)) / prior_odds
            return min(1.0, float(np.maximum(self.yes - np.where(self.no > 0, k * self.no, 0.0), 0.0).sum()))

    def swapped(self) -> Law:
        """The law of the complement."""
        return Law(self.no, self.yes)


def gaps(logs: Floats) -> Floats:
    """Log odds (n,) from log-probabilities (n, 2) without and with; 0 if both are impossible."""
    with np.errstate(invalid="ignore"):
        gap = logs[:, 1] - logs[:, 0]
    return np.where(np.isnan(gap), 0.0, gap)


def log_odds(chance: float) -> float:
    """`log(c / (1 - c))`, also of 0 and 1.

    >>> log_odds(0.5), log_odds(1.0)
    (0.0, inf)
    """
    if chance <= 0 or chance >= 1:
        return -math.inf if chance <= 0 else math.inf
    return math.log(chance) - math.log1p(-chance)
