"""People's departure from their habits: the least to explain the real outcomes, and its effect on an upper end.

A person's law D departs from their habits P by `KL(D ‖ P)` nats. A right attack is an event, so its chance q under D
and p under P have `kl(q ‖ p) <= KL(D ‖ P)` (data-processing inequality). People depart by different amounts; only the
average over them is spoken of here. Among all chances q with a given average of `kl(q ‖ p)`, the highest mean has one
common tilt: `q = p e^θ / (1 - p + p e^θ)`. A single number decides it (Csiszár 1975, I-projections).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The largest tilt: it makes everything possible certain; and the halvings in the search for one.
_MOST, _HALVINGS = 750.0, 80


def least_departure(promised: Floats, right: float) -> float:
    """The least mean of `kl(q ‖ p)` over people with promises p (N,), if a share `right` is expected to be right.

    It is 0 if at least as many were promised, and infinite if more were right than had any chance.

    >>> round(least_departure(np.array([0.25, 0.25]), 0.5), 4), least_departure(np.array([0.6]), 0.2)
    (0.1438, 0.0)
    >>> least_departure(np.array([0.0, 0.5]), 0.75)
    inf
    """
    p = np.clip(promised, 0.0, 1.0)
    if right <= p.mean():
        return 0.0
    if right > (p > 0).mean():
        return float("inf")
    return _tilted_until(p, lambda mean, _: mean >= right)[1]


def highest_mean(upper: Floats, nats: float) -> float:
    """The highest mean chance of people with upper ends (N,) and a mean departure of `nats` from their habits.

    >>> round(highest_mean(np.array([0.25, 0.25]), 0.1438), 3), highest_mean(np.array([0.25]), 0.0)
    (0.5, 0.25)
    """
    p = np.clip(upper, 0.0, 1.0)
    if nats <= 0:
        return float(p.mean())
    return _tilted_until(p, lambda _, departure: departure >= nats)[0]


def _tilted_until(p: Floats, enough: Callable[[float, float], bool]) -> tuple[float, float]:
    """Both means at the least tilt with `enough` of them: both grow with the tilt."""
    low, high = 0.0, _MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(*_tilted(p, middle)) else (middle, high)
    return _tilted(p, high)


def _tilted(p: Floats, tilt: float) -> tuple[float, float]:
    """The means of the tilted chances and of their divergence: `log q = log p + θ - A`, `kl = q θ - A`."""
    with np.errstate(divide="ignore"):
        log_p, log_rest = np.log(p), np.log1p(-p)
    total = np.logaddexp(log_p + tilt, log_rest)
    q = np.exp(log_p + tilt - total)
    return float(q.mean()), max(0.0, float((q * tilt - total).mean()))
