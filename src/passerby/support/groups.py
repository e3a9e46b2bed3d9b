"""The rule of five: a number that leaves the machine rests on at least `FEW` people, or is not told.

Values of single people become means of `FEW` neighbours in rank, classes are merged until each holds enough people or
nobody, and shares are told only where no difference of two of them is about a smaller group. This is microaggregation
and merging of cells as in Hundepool et al., *Statistical Disclosure Control* (2012).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The smallest group of people of whom anything is told.
FEW = 5

#: What a value may lie below an edge by rounding and still count as at it.
_ROUNDING = 1e-12


def middle(values: ArrayLike) -> float | None:
    """The median, as the mean of the `FEW` people around it; None where there are fewer.

    >>> middle([1, 2, 3, 4, 50, 60, 70]), middle([1, 2, 3, 4])
    (23.8, None)
    """
    array = np.asarray(values, dtype=np.float64)
    return _around(array, 0.5) if len(array) >= FEW else None


def at_rank(values: ArrayLike, share: float) -> float | None:
    """What this share of people lies below, as the mean of the `FEW` people around the rank.

    None where fewer than `FEW` people lie on either side of it.

    >>> at_rank(range(100), 0.95), at_rank(range(99), 0.95)
    (94.0, None)
    """
    array = np.asarray(values, dtype=np.float64)
    beyond = min(share, 1 - share) * len(array)
    return _around(array, share) if beyond >= FEW - 1e-9 else None


def _around(values: NDArray[np.float64], share: float) -> float:
    first = round(share * (len(values) - 1)) - FEW // 2
    first = min(max(first, 0), len(values) - FEW)
    return float(np.sort(values)[first : first + FEW].mean())


def reached(values: ArrayLike) -> float | None:
    """A value that at least `FEW` people reach, rounded down to a hundredth; None where there are fewer people.

    >>> reached([0.1, 0.517, 0.6, 0.7, 0.8, 0.9]), reached([1.0] * 4)
    (0.51, None)
    """
    array = np.sort(np.asarray(values, dtype=np.float64))
    return math.floor(100 * float(array[-FEW]) + 1e-9) / 100 if len(array) >= FEW else None


def dividing(values: ArrayLike, edges: Iterable[float], given: Sequence[float] = ()) -> list[float]:
    """Those of `edges` at which people may be divided, in increasing order, with those that are `given`.

    An edge is taken if each class between neighbouring edges then holds nobody or at least `FEW` people. Edges that
    come first are taken first.

    >>> dividing([0.1] * 6 + [0.4] * 3 + [0.9] * 7, [0.2, 0.5, 0.95])
    [0.2, 0.95]
    """
    array = np.sort(np.asarray(values, dtype=np.float64))
    chosen = sorted(given)
    for edge in edges:
        tried = sorted({*chosen, edge})
        sizes = np.diff([0, *np.searchsorted(array, np.array(tried) - _ROUNDING), len(array)])
        if bool(((sizes == 0) | (sizes >= FEW)).all()):
            chosen = tried
    return chosen


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
    kept = dividing(array, sorted(levels, key=lambda level: abs(level - 0.5)))
    return [share_at(array, level) if level in kept else None for level in levels]


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
