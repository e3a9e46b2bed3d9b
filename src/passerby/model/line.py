"""The paper's simulated habits: places on a line."""

from __future__ import annotations

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import is_number, is_whole

from .prior import MarkovPrior

#: The largest number of places.
MOST_PLACES = 20_000


def line_prior(places: int = 100, tau: float = 0.1) -> MarkovPrior:
    """The paper's simulated chain: places on a line, near moves likelier than far ones.

    `P(x, y) ∝ exp(-|x - y| / (tau M))`, started at equilibrium; the larger `tau`, the more independent the
    steps. Koga, Meehan and Chaudhuri (2024), section 4.1.

    >>> line_prior(places=3, tau=1.0).transition.round(3)
    array([[0.448, 0.321, 0.23 ],
           [0.294, 0.411, 0.294],
           [0.23 , 0.321, 0.448]])
    """
    if not is_whole(places) or places < 1:
        raise InputError(f"places: expected a whole number of at least 1, got {places!r}")
    if places > MOST_PLACES:
        raise InputError(f"places: expected at most {MOST_PLACES:,}, whose moves take 3 GB; got {places!r}")
    if not is_number(tau) or not 0 < tau < np.inf:
        raise InputError(f"tau: expected a finite number above 0, got {tau!r}")
    where = np.arange(places)
    weight = np.exp(-np.abs(where[:, None] - where) / (tau * places))
    # The weights are symmetric, so the row sums are proportional to the stationary distribution.
    total = weight.sum(axis=1)
    return MarkovPrior(total / total.sum(), weight / total[:, None])
