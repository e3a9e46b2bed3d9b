"""Spearman's rank correlation over people, with a bootstrap interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Numbers held at once by the resamples that are worked on together.
AT_ONCE = 2_000_000


def rank_correlation(x: Floats, y: Floats, seed: int, resamples: int) -> tuple[float, float, float]:
    """Spearman's rank correlation, and the ends of its 95 % bootstrap interval over people (percentiles).

    >>> rank_correlation(np.arange(9.0), np.arange(9.0) ** 2, 0, 100)
    (1.0, 1.0, 1.0)
    """
    rng = np.random.default_rng([seed, 3])
    n = len(x)
    draws = []
    for start in range(0, resamples, step := max(1, AT_ONCE // n)):
        size = min(step, resamples - start)
        chosen = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(chosen.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
        draws.append(spearman(x, y, times))
    found = np.concatenate(draws) if draws else np.empty(0)
    found = found[np.isfinite(found)]
    low, high = np.percentile(found, [2.5, 97.5]) if found.size else (np.nan, np.nan)
    return float(spearman(x, y, np.ones((1, n)))[0]), float(low), float(high)


def spearman(x: Floats, y: Floats, times: Floats) -> Floats:
    """Rank correlations in samples that hold person i `times[k, i]` times, shape (samples,); not a number if constant.

    Ties share their middle rank: that of the values below, plus half of one more than the values that are equal.
    """
    a, b = (_ranks(v, times) for v in (x, y))
    middle = (times.sum(axis=1, keepdims=True) + 1) / 2
    a, b = a - middle, b - middle
    size = np.sqrt((times * a * a).sum(axis=1) * (times * b * b).sum(axis=1))
    together = (times * a * b).sum(axis=1)
    varied = size > 1e-9 * times.sum(axis=1)
    return np.where(varied, together / np.where(varied, size, 1.0), np.nan)


def _ranks(x: Floats, times: Floats) -> Floats:
    _, of = np.unique(x, return_inverse=True)
    order = np.argsort(of, kind="stable")
    first = np.flatnonzero(np.diff(of[order], prepend=-1))
    equal = np.add.reduceat(times[:, order], first, axis=1)
    middle = np.cumsum(equal, axis=1) - equal + (equal + 1) / 2
    return np.asarray(middle[:, of])
