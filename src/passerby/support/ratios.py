"""Outcomes that tell the same: those whose likelihoods without and with the target are in the same ratio.

Small likelihoods may be taken for others here, and be left out, because a loss hangs on them only so far: if the
likelihood of each outcome o of a step changes by at most `η_o`, wherever the target is, a loss changes by at most
`Σ_o η_o` times the loss of the same release without that step's counts, which is no larger. (For each series of the
other steps, `max_g Σ_x Pr[x, series] η_o [g right for x]` is `η_o` times the success without the step's counts.) So it
is a share of the loss that changes, however small the loss is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Shares of the likelihood with the target that are this close are the same but for rounding. Logarithms of listed
#: likelihoods reach 41, of which the last digit is 7e-15, a quarter of which goes into a share.
SAME = 4e-15
#: What is left out of all outcomes of a step together.
LOST = 1e-16


def without_the_faintest(rows: Floats) -> Floats:
    """Likelihoods (outcomes, columns) but for the faintest outcomes, which are no more than `LOST` in all."""
    total = rows.sum(axis=1)
    if total.min(initial=1.0) > LOST:
        return rows
    order = np.argsort(total, kind="stable")
    kept = np.ones(len(rows), dtype=bool)
    kept[order[np.cumsum(total[order]) <= LOST]] = False
    return rows[kept]


def by_ratio(table: Floats) -> Floats:
    """Outcomes (n, 2) by increasing likelihood ratio, with those of the same ratio added up.

    >>> by_ratio(np.array([[0.2, 0.1], [0.5, 0.0], [0.3, 0.9], [0.0, 1e-30]])).round(3)
    array([[0.5, 0. ],
           [0.2, 0.1],
           [0.3, 0.9]])
    """
    table = without_the_faintest(table)
    share = table[:, 1] / table.sum(axis=1)
    order = np.argsort(share, kind="stable")
    first: list[int] = []
    top = -np.inf
    for i, value in enumerate(share[order].tolist()):
        if value > top:
            first.append(i)
            top = value + SAME
    return np.asarray(np.add.reduceat(table[order], first, axis=0)) if first else table
