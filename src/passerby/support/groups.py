"""The rule of five: a number that leaves the machine rests on at least `FEW` people, or is not told.

Values of single people become means of `FEW` neighbours in rank, classes are merged until each holds enough people or
nobody, and shares are told only where no difference of two of them is about a smaller group. This is microaggregation
and merging of cells as in Hundepool et al., *Statistical Disclosure Control* (2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The smallest group of people of whom anything is told.
FEW = 5

#: What a value may lie below an edge by rounding and still count as at it.
_ROUNDING = 1e-12


def middle_ranks(count: int) -> range | None:
    """The ranks of the `FEW` people around the median, of so many; None where there are fewer."""
    return _around(count, 0.5) if count >= FEW else None


def rank_ranks(count: int, share: float) -> range | None:
    """The ranks of the `FEW` people around the rank that this share lies below.

    None where fewer than `FEW` people lie on either side of it.
    """
    return _around(count, share) if min(share, 1 - share) * count >= FEW - 1e-9 else None


def _around(count: int, share: float) -> range:
    first = round(share * (count - 1)) - FEW // 2
    first = min(max(first, 0), count - FEW)
    return range(first, first + FEW)


def middle(values: ArrayLike) -> float | None:
    """The median, as the mean of the `FEW` people around it; None where there are fewer.

    >>> middle([1, 2, 3, 4, 50, 60, 70]), middle([1, 2, 3, 4])
    (23.8, None)
    """
    return _mean_of(values, middle_ranks(np.size(values)))


def at_rank(values: ArrayLike, share: float) -> float | None:
    """What this share of people lies below, as the mean of the `FEW` people around the rank.

    None where fewer than `FEW` people lie on either side of it.

    >>> at_rank(range(100), 0.95), at_rank(range(99), 0.95)
    (94.0, None)
    """
    return _mean_of(values, rank_ranks(np.size(values), share))


def _mean_of(values: ArrayLike, ranks: range | None) -> float | None:
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return None if ranks is None else float(ordered[ranks.start : ranks.stop].mean())


def reached(values: ArrayLike) -> float | None:
    """A value that at least `FEW` people reach, rounded down to a hundredth; None where there are fewer people.

    >>> reached([0.1, 0.517, 0.6, 0.7, 0.8, 0.9]), reached([1.0] * 4)
    (0.51, None)
    """
    array = np.sort(np.asarray(values, dtype=np.float64))
    return rounded_down(float(array[-FEW])) if len(array) >= FEW else None


def rounded_down(value: float) -> float:
    """A value to a hundredth below it, so that it is nobody's own."""
    return math.floor(100 * value + 1e-9) / 100


def dividing(values: ArrayLike, edges: Iterable[float], given: Sequence[float] = ()) -> list[float]:
    """Those of `edges` at which people may be divided, in increasing order, with those that are `given`.

    An edge is taken if each class between neighbouring edges then holds nobody or at least `FEW` people. Edges that
    come first are taken first.

    >>> dividing([0.1] * 6 + [0.4] * 3 + [0.9] * 7, [0.2, 0.5, 0.95])
    [0.2, 0.95]
    """
    array = np.sort(np.asarray(values, dtype=np.float64))
    return dividing_counts(lambda edge: int(np.searchsorted(array, edge - _ROUNDING)), len(array), edges, given)


def dividing_counts(
    below: Callable[[float], int], count: int, edges: Iterable[float], given: Sequence[float] = ()
) -> list[float]:
    """The same where it is known how many of `count` people are below each edge (`is_below`)."""
    chosen = sorted(given)
    for edge in edges:
        tried = sorted({*chosen, edge})
        sizes = np.diff([0, *map(below, tried), count])
        if bool(((sizes == 0) | (sizes >= FEW)).all()):
            chosen = tried
    return chosen


def is_below(values: NDArray[np.float64], edge: float) -> NDArray[np.bool_]:
    """Whether each value is below an edge, by more than rounding."""
    return np.asarray(values < edge - _ROUNDING)


def share_at(values: ArrayLike, level: float) -> float:
    """The share of people at or above a level.

    >>> share_at([0.1, 0.5, 0.7, 0.9], 0.5)
    0.75
    """
    array = np.asarray(values, dtype=np.float64)
    return float((array >= level - _ROUNDING).mean()) if len(array) else 0.0


def shares(values: ArrayLike, levels: Sequence[float]) -> list[float | None]:
    """The share of people at or above each level; None where it would tell of a small group.

    Of two levels between which there are few people, the one nearer to one half is told.

    >>> shares([0.1] * 8 + [0.3] * 2 + [0.6] * 10, [0.2, 0.5, 0.9])
    [None, 0.5, 0.0]
    """
    array = np.asarray(values, dtype=np.float64)
    return shares_of({level: int(is_below(array, level).sum()) for level in levels}, len(array), levels)


def shares_of(below: Mapping[float, int], count: int, levels: Sequence[float]) -> list[float | None]:
    """The same where it is known how many of `count` people are below each level (`is_below`)."""
    kept = dividing_counts(below.__getitem__, count, sorted(levels, key=lambda level: abs(level - 0.5)))
    return [(count - below[level]) / count if level in kept and count else None for level in levels]


def in_fives(share: float, people: int) -> float:
    """A share of so many people in steps of `FEW` of them, so that no two shares differ by fewer.

    >>> in_fives(7 / 60, 60) * 60, in_fives(1.0, 12)
    (5.0, 1.0)
    """
    if not people or share in (0.0, 1.0):
        return share
    return min(1.0, FEW * round(share * people / FEW) / people)


def merged(sizes: ArrayLike, least: int = FEW) -> list[tuple[int, int]]:
    """Neighbouring classes put together until each holds nobody or at least `least` people: the ends of each.

    `sizes` has the shape (classes,), or (series, classes) where several series share the classes.

    >>> merged([9, 2, 0, 3, 0, 7])
    [(0, 1), (1, 4), (4, 5), (5, 6)]
    """
    counts = np.atleast_2d(np.asarray(sizes, dtype=np.int64))
    out, start = [], 0
    for end in range(1, counts.shape[1] + 1):
        parts = np.concatenate([counts[:, start:end].sum(axis=1), counts[:, end:].sum(axis=1)])
        if bool(((parts == 0) | (parts >= least)).all()):
            out.append((start, end))
            start = end
    return out


def told(counts: Mapping[str, int]) -> dict[str, int]:
    """Sizes of groups, of which those of less than `FEW` people are told as `FEW`, and the largest as so many less.

    >>> told({"ok": 58, "refused": 2}), told({"ok": 60, "refused": 0})
    ({'ok': 55, 'refused': 5}, {'ok': 60, 'refused': 0})
    """
    out, largest = dict(counts), max(counts, key=lambda name: counts[name], default="")
    for name, count in counts.items():
        if name != largest and 0 < count < FEW:
            raised = min(FEW - count, out[largest])
            out[name] += raised
            out[largest] -= raised
    return out
