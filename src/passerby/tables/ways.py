"""Candidate ways to publish a table, and the view of a count for somebody with the others' habits alone.

The loss of a table's readers by a mechanism on its counts, in their words: reckoned from the laws alone.

Beside the mean error, the losses are the share of shown counts and the error relative to the count. Two chances follow.
One is that the order of two places at the same time is kept. The other is that the sign of a change from one step to
the next is right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.mechanisms import Discrete, DiscreteGaussian, Mechanism, Raw, Rounding, Suppression
from passerby.support.numbers import percent, size

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


#: The most different pairs of counts in the reckoning; of more, an even share is taken.
MOST_PAIRS = 20_000
#: Pieces of a continuum: the cut is so fine that hardly ever two values are in one.
PIECES = 4001


@dataclass(frozen=True)
class ReaderLosses:
    """The losses of readers. `error` is in people per shown count; the others are shares from 0 to 1.

    `relative` is the error as a share of the true count, on average over shown counts above zero. `order` and `change`
    are None if all counts are equal. `total` is the error of all counts as a share of their sum, with hidden counts
    taken for 0.
    """

    mean: float
    error: float
    relative: float | None
    shown: float
    order: float | None
    change: float | None
    total: float | None

    @property
    def sentence(self) -> str:
        """The same in words.

        >>> ReaderLosses(2.71, 1.2, 0.4, 0.8, 0.9, None, 0.5).sentence
        'Readers see 80 % of the counts that the table shows, with an error of 1.2 people per count, of counts that \
average 2.7. Of two places at one time, they see which has more people in 90 % of cases.'
        """
        one = "person" if size(self.error) == "1" else "people"
        said = (
            f"Readers see {percent(self.shown)} of the counts that the table shows, with an error of "
            f"{size(self.error)} {one} per count, of counts that average {size(self.mean)}."
        )
        if self.order is not None:
            said += f" Of two places at one time, they see which has more people in {percent(self.order)} of cases."
        if self.change is not None:
            said += f" Of a change, they see whether it is up or down in {percent(self.change)} of cases."
        return said


def reader_losses(counts: Floats, mechanism: Mechanism) -> ReaderLosses:
    """The readers' loss on true counts (T, P), NaN for unpublished ones, by one mechanism.

    >>> from passerby.mechanisms import Rounding
    >>> found = reader_losses(np.array([[3.0, 12.0], [4.0, 20.0]]), Rounding(10))
    >>> found.error, found.order, found.change     # 3 and 4 both become 0
    (2.25, 1.0, 0.5)
    """
    counts = np.asarray(np.round(np.asarray(counts, dtype=np.float64)), dtype=np.float64)
    true: Floats = counts[~np.isnan(counts)]
    numbers, often = np.unique(true, return_counts=True)
    figures = np.array([_one(mechanism, float(n)) for n in numbers]).reshape(-1, 3)
    shown = float(often @ figures[:, 0]) / max(1, len(true))
    seen = often * figures[:, 0]
    error = float(often @ figures[:, 1]) / max(float(seen.sum()), 1e-300) if seen.sum() > 0 else 0.0
    some = numbers > 0
    rated = float((often * figures[:, 1])[some] @ (1 / numbers[some])) if some.any() else 0.0
    relative = rated / float(seen[some].sum()) if some.any() and seen[some].sum() > 0 else None
    total = float(often @ figures[:, 2]) / float(true.sum()) if true.sum() > 0 else None
    places = (pair for row in counts for pair in _pairs_of_cells(row[~np.isnan(row)]))
    changes = _changes(counts)
    mean = float(true.mean()) if len(true) else 0.0
    return ReaderLosses(mean, error, relative, shown, _kept(places, mechanism), _kept(changes, mechanism), total)


def _one(mechanism: Mechanism, count: float) -> tuple[float, float, float]:
    """The chance of a count being shown, its error if shown (times this chance), and its error with hidden as 0."""
    values, chances = _law_of_changes(mechanism, count)
    there = ~np.isnan(values)
    error = float(np.abs(values[there] - count) @ chances[there])
    return float(chances[there].sum()), error, error + count * float(chances[~there].sum())


def _pairs_of_cells(row: Floats) -> Iterable[tuple[float, float]]:
    """All pairs of a step's different counts, the larger first."""
    numbers, often = np.unique(row, return_counts=True)
    for k, large in enumerate(numbers.tolist()):
        for small, many in zip(numbers[:k].tolist(), often[:k].tolist(), strict=True):
            for _ in range(min(int(many) * int(often[k]), 100)):
                yield large, small


def _changes(counts: Floats) -> Iterable[tuple[float, float]]:
    """All changes from one step to the next, the larger count first."""
    before, after = counts[:-1].ravel(), counts[1:].ravel()
    there = (before != after) & ~np.isnan(before) & ~np.isnan(after)
    high, low = np.maximum(before, after)[there], np.minimum(before, after)[there]
    yield from zip(high.tolist(), low.tolist(), strict=True)


def _kept(pairs: Iterable[tuple[float, float]], mechanism: Mechanism) -> float | None:
    """How likely the larger of two counts is shown as larger, on average; a tie and a hidden one keep nothing."""
    often = Counter(pairs)
    if not often:
        return None
    chosen = list(often.items())
    chosen = chosen[:: max(1, -(-len(chosen) // MOST_PAIRS))]
    weight = sum(many for _, many in chosen)
    return sum(many * _larger(mechanism, *pair) for pair, many in chosen) / weight


@lru_cache(maxsize=200_000)
def _larger(mechanism: Mechanism, high: float, low: float) -> float:
    """The chance of one count's published value exceeding another's, both drawn independently."""
    (some, likely), (others, chances) = _law_of_changes(mechanism, high), _law_of_changes(mechanism, low)
    some, likely = some[~np.isnan(some)], likely[~np.isnan(some)]
    others, chances = others[~np.isnan(others)], chances[~np.isnan(others)]
    below = np.concatenate([[0.0], np.cumsum(chances)])[np.searchsorted(others, some, side="left")]
    return min(1.0, float(likely @ below))


@lru_cache(maxsize=50_000)
def _law_of_changes(mechanism: Mechanism, count: float) -> tuple[Floats, Floats]:
    """The published values of a count in increasing order, with their probabilities; a continuum is cut."""
    try:
        return mechanism.law(count)
    except UnsupportedRelease:
        low, high = mechanism.extent(count, -30.0)
        edges = np.linspace(low, high, PIECES)
        chances = np.exp(mechanism.log_between(edges[:-1], edges[1:], count))
        hidden = 1 - float(chances.sum())
        values, all_ = (edges[:-1] + edges[1:]) / 2, chances
        if mechanism.hides and hidden > 1e-9:
            values, all_ = np.append(values, np.nan), np.append(chances, hidden)
        return values, all_ / all_.sum()
