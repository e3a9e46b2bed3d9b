"""Numerical integration of densities that are smooth between known points."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Nodes of the Gauss-Legendre rule in each panel.
NODES = 12


def panels(centres: Floats, reach: float, width: float, cuts: Iterable[float] = ()) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre panels no wider than `width`, within `reach` of any of the centres.

    Panels end at the centres and at the cuts, where a density may have a kink or a jump.
    """
    points = np.unique(centres)
    breaks = np.flatnonzero(np.diff(points) > 2 * reach) + 1
    grids = []
    for group in np.split(points, breaks):
        low, high = group[0] - reach, group[-1] + reach
        grids.append(np.linspace(low, high, int(np.ceil((high - low) / width)) + 1))
    edges = np.unique(np.concatenate([*grids, points, np.fromiter(cuts, dtype=np.float64)]))
    low, high = edges[:-1], edges[1:]
    middle = (low + high) / 2
    nearest = points[np.minimum(np.searchsorted(points, middle), len(points) - 1)]
    before = points[np.maximum(np.searchsorted(points, middle) - 1, 0)]
    near = np.minimum(np.abs(middle - nearest), np.abs(middle - before)) < reach
    near &= high - low > 1e-14 * np.maximum(1.0, np.abs(middle))
    low, high = low[near], high[near]
    x, w = _rule()
    half = (high - low) / 2
    return (low[:, None] + half[:, None] * (x + 1)).ravel(), (half[:, None] * w).ravel()


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    """The nodes and weights of one panel, from -1 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights
