"""Series of stand-ins, for mechanisms whose own series are too many to list: as finely told apart as it matters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from passerby.kernels import quantisation
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import counts_of
from passerby.support.numbers import log_product

from .channels import stand_ins
from .series import Series

Floats = NDArray[np.float64]

#: Outcomes are not told apart for less than this.
FINEST = 1e-13


def log_outcomes(release: Release) -> float:
    """The logarithm of how many series a release can publish that tell different things; infinite for a continuum."""
    channels = [channel for step in release.channels for channel in step]
    if any(channel.continuous for channel, _ in counts_of(release.channels)):
        return math.inf
    pairs = [stand_ins(*channel) for channel in channels]
    return log_product(len(pair[1]) for pair in pairs if pair is not None)


def bracketing_series(prior: MarkovPrior, release: Release, most: int, faint: float) -> tuple[Series, Series] | None:
    """For a mechanism with many outputs or a continuum: the series of stand-ins that tell less and that tell more.

    None where the mechanism has no stand-ins, or where even the coarsest one that tells more has over `most` series.
    """
    laws = [stand_ins(*channel) for step in release.channels for channel in step]
    pairs = [pair for pair in laws if pair is not None]
    if len(pairs) < len(laws):
        return None
    more = grown_series(prior, release, [pair[1] for pair in pairs], most, faint, more=True)
    if more is None:
        return None
    # What telling less costs is found out with fewer series than what telling more gains.
    less = grown_series(prior, release, [pair[0] for pair in pairs], max(1, most // 4), 0.0, more=False)
    return None if less is None else (less, more)


def grown_series(
    prior: MarkovPrior, release: Release, laws: Sequence[Floats], most: int, faint: float, *, more: bool
) -> Series | None:
    """Series of stand-ins for the sensors' `laws`, told apart as finely as `most` series allow.

    See `kernels.quantisation`. Beginnings less likely than `faint` are left over. None where `most` do not suffice.
    """
    active = release.grid.reshape(-1) >= 0
    cells = np.zeros((active.size, max(map(len, laws), default=1), 2))
    sizes = np.zeros(active.size, dtype=np.int64)
    for cell, law in zip(np.flatnonzero(active), laws, strict=True):
        cells[cell, : len(law)] = law
        sizes[cell] = len(law)
    # Telling apart early costs as many series as follow.
    later = (len(laws) - np.cumsum(active)) / max(1, len(laws))
    dear = float(most) ** later
    watched, counted = release.classes(prior), release.sees

    def grown(limit: float) -> tuple[Floats, Floats, float]:
        found: tuple[Floats, Floats, float] = quantisation.grow(
            prior.initial, prior.matrices, watched, counted, cells, sizes, limit * dear, more, faint, most
        )
        return found

    best = grown(0.0)
    if not len(best[1]):
        best = grown(1.0)
        low, high = math.log(FINEST), 0.0
        while 0 < len(best[1]) < 0.8 * most and high - low > 0.1:
            middle = (low + high) / 2
            found = grown(math.exp(middle))
            if len(found[1]):
                best, high = found, middle
            else:
                low = middle
    likelihood, mass, dropped = best
    if not len(mass):
        return None
    with np.errstate(divide="ignore"):
        return Series(np.log(likelihood), mass, sampled=False, left_over=dropped)
