"""The loss of a table's readers by a mechanism on its counts, in their words: reckoned from the laws alone.

Beside the mean error, the losses are the share of shown counts and the error relative to the count. Two chances follow.
One is that the order of two places at the same time is kept. The other is that the sign of a change from one step to
the next is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.mechanisms import Mechanism
from passerby.support.numbers import percent, size

Floats = NDArray[np.float64]

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
        'Readers see 80 % of the counts, with an error of 1.2 people per count, of counts that average 2.7. The order \
of two places is kept with 90 %.'
        """
        one = "person" if size(self.error) == "1" else "people"
        said = (
            f"Readers see {percent(self.shown)} of the counts, with an error of {size(self.error)} {one} per count, of "
            f"counts that average {size(self.mean)}."
        )
        if self.order is not None:
            said += f" The order of two places is kept with {percent(self.order)}."
        if self.change is not None:
            said += f" The sign of a change is right with {percent(self.change)}."
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
    places = (pair for row in counts for pair in _pairs(row[~np.isnan(row)]))
    changes = _changes(counts)
    mean = float(true.mean()) if len(true) else 0.0
    return ReaderLosses(mean, error, relative, shown, _kept(places, mechanism), _kept(changes, mechanism), total)


def _one(mechanism: Mechanism, count: float) -> tuple[float, float, float]:
    """The chance of a count being shown, its error if shown (times this chance), and its error with hidden as 0."""
    values, chances = _law(mechanism, count)
    there = ~np.isnan(values)
    error = float(np.abs(values[there] - count) @ chances[there])
    return float(chances[there].sum()), error, error + count * float(chances[~there].sum())


def _pairs(row: Floats) -> Iterable[tuple[float, float]]:
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
    (some, likely), (others, chances) = _law(mechanism, high), _law(mechanism, low)
    some, likely = some[~np.isnan(some)], likely[~np.isnan(some)]
    others, chances = others[~np.isnan(others)], chances[~np.isnan(others)]
    below = np.concatenate([[0.0], np.cumsum(chances)])[np.searchsorted(others, some, side="left")]
    return min(1.0, float(likely @ below))


@lru_cache(maxsize=50_000)
def _law(mechanism: Mechanism, count: float) -> tuple[Floats, Floats]:
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
