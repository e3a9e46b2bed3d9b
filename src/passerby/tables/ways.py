"""Candidate ways to publish a table, and the view of a count for somebody with the others' habits alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.mechanisms import Discrete, DiscreteGaussian, Mechanism, Raw, Rounding, Suppression

Floats = NDArray[np.float64]

#: Chances of others below this are left out.
LEAST = 1e-18
#: Values that a rule can make of one count are fewer than this.
MOST_OF_RULE = 2.0**20
#: An advantage of this much, and less, is called little.
LITTLE = 0.25
#: The two adversaries: one knows where everybody else was, and the other one how many come on average.
INSIDER, HABITS = "insider", "habits"
ADVERSARIES = (INSIDER, HABITS)


@dataclass(frozen=True)
class WayToPublish:
    """A mechanism on each count, and its name."""

    name: str
    mechanism: Mechanism


#: The default ways, the table as it is first.
WAYS = (
    WayToPublish("as it is", Raw()),
    WayToPublish("hidden below 5", Suppression(5)),
    WayToPublish("hidden below 10", Suppression(10)),
    WayToPublish("rounded to 5", Rounding(5)),
    WayToPublish("rounded to 10", Rounding(10)),
    WayToPublish("with noise 2", DiscreteGaussian(2.0)),
)


@dataclass(frozen=True)
class Comers(Discrete):
    """A count of independent comers, `mean` of them on average, and then the result of the `rule` on it.

    The number of others has the Poisson law: the sum of many independent comers (Le Cam 1960). To an adversary with the
    mean alone, this number is noise added before the rule.

    >>> round(Comers(4.0, Raw()).total_variation(0), 4)     # the largest probability of a number of others
    0.1954
    """

    mean: float
    rule: Mechanism

    @property
    def hides(self) -> bool:
        """Whether the rule hides a value."""
        return self.rule.hides

    def law(self, count: float) -> tuple[Floats, Floats]:
        """The publishable values with so many people beside the others, and their probabilities."""
        return _law(self.mean, self.rule, float(count))


@dataclass(frozen=True)
class KnownComers(Discrete):
    """What an insider sees who knows how many others came, where only their `mean` is known so far.

    The others are drawn (Poisson), and then seen together with what the `rule` makes of the count: a pair, written as
    one number. So its total variation is the mean of that of the rule over the numbers of others.

    >>> round(KnownComers(3.5, Rounding(5)).total_variation(0), 3)      # 2 or 7 or 12 ... others, and one more
    0.224
    """

    mean: float
    rule: Mechanism

    @property
    def hides(self) -> bool:
        """Never: that a count is hidden is one of the pairs."""
        return False

    def law(self, count: float) -> tuple[Floats, Floats]:
        """The pairs of others and published values, numbered so that they are the same with one person more."""
        return _pairs(self.mean, self.rule, float(count))


@lru_cache(maxsize=20_000)
def _pairs(mean: float, rule: Mechanism, count: float) -> tuple[Floats, Floats]:
    pairs, weights = [], []
    for other, chance in zip(*(x.tolist() for x in poisson(mean)), strict=True):
        each = [rule.law(other + more)[0] for more in sorted({0.0, 1.0, count})]
        values, chances = rule.law(other + count)
        every = np.unique(np.concatenate(each))  # empty cells are last, as one
        ranks = [len(every) - 1 if np.isnan(x) else int(np.searchsorted(every, x)) for x in values.tolist()]
        pairs += [other * MOST_OF_RULE + rank for rank in ranks]
        weights.append(chance * chances)
    total = np.concatenate(weights)
    return np.array(pairs), total / total.sum()


@lru_cache(maxsize=20_000)
def _law(mean: float, rule: Mechanism, count: float) -> tuple[Floats, Floats]:
    others, chances = poisson(mean)
    if rule.shift_invariant:
        noise, likely = rule.law(0.0)
        first = count + others[0] + noise[0]
        mixed = np.convolve(chances, likely)
        return first + np.arange(len(mixed)), mixed / mixed.sum()
    parts = [rule.law(count + other) for other in others.tolist()]
    values = np.concatenate([part[0] for part in parts])
    weights = np.concatenate([chance * part[1] for chance, part in zip(chances.tolist(), parts, strict=True)])
    distinct, where = np.unique(values, return_inverse=True)  # empty cells are last, as one
    total = np.bincount(where.reshape(-1), weights, len(distinct))
    return distinct, total / total.sum()


def poisson(mean: float) -> tuple[Floats, Floats]:
    """Numbers of sufficient probability, in increasing order without a gap, and the probability of each.

    >>> numbers, chances = poisson(2.0)
    >>> round(float(chances[0]), 4), round(float(chances.sum()), 12)
    (0.1353, 1.0)
    """
    if mean <= 0:
        return np.zeros(1), np.ones(1)
    reach = 10 * math.sqrt(mean)
    numbers = np.arange(max(0, math.floor(mean - reach - 5)), math.ceil(mean + reach + 45) + 1, dtype=np.float64)
    logs = np.array([n * math.log(mean) - mean - math.lgamma(n + 1) for n in numbers.tolist()])
    enough = np.flatnonzero(logs >= math.log(LEAST))
    kept = slice(int(enough[0]), int(enough[-1]) + 1)
    chances = np.exp(logs[kept])
    return numbers[kept], chances / chances.sum()
