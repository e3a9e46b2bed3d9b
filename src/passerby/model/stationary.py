"""The distribution over states that a chain leaves unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError

Floats = NDArray[np.float64]


def stationary_distribution(transition: Floats) -> Floats:
    """The one distribution that `transition` leaves unchanged, shape (M,)."""
    from scipy.sparse.csgraph import connected_components

    from passerby.kernels import chain

    count, label = connected_components(transition > 0, directed=True, connection="strong")
    leaks = np.zeros(count, dtype=bool)
    source, target = np.nonzero(transition > 0)
    leaks[label[source[label[source] != label[target]]]] = True
    closed = sorted((np.flatnonzero(label == c) for c in np.flatnonzero(~leaks)), key=lambda group: int(group[0]))
    if len(closed) > 1:
        raise InputError(
            f"transition: the stationary distribution is not unique, because {len(closed)} groups of places are never "
            f"left once entered: {', '.join(_listed(group) for group in closed[:4])}"
            f"{' and more' if len(closed) > 4 else ''}; give the initial distribution yourself"
        )
    out = np.zeros(transition.shape[0])
    out[closed[0]] = chain.stationary(np.ascontiguousarray(transition[np.ix_(closed[0], closed[0])]))
    return out


def _listed(places: Sequence[int] | NDArray[np.int64]) -> str:
    shown = ", ".join(str(int(p)) for p in places[:6])
    return "{" + shown + (", ..." if len(places) > 6 else "") + "}"
