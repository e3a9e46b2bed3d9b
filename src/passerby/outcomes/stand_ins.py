"""Stand-ins for a mechanism with many outputs or a continuum: a less telling one, and a more telling one.

The evidence of a published value about the target's presence is its likelihood ratio. Values of the same ratio may be
told as one, and nothing is lost. Telling a few neighbouring ratios as one is a function of the value, so it tells
*less*. A ratio may be moved to one of two around it, at random and with both laws kept. This can be undone by a random
function of the result. So it tells *more*. The loss lies between the losses of the two, and both have few outputs:
their series can be listed, and nothing need be sampled.

The same device brackets channels in the construction of polar codes: Tal and Vardy (2013), "How to construct polar
codes", IEEE Transactions on Information Theory 59.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.chain import series as kernels
from passerby.mechanisms.base import Mechanism, stood_in
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import counts_of
from passerby.support.numbers import log_product
from passerby.support.statistics import by_ratio

from .series import Series

Floats = NDArray[np.float64]

#: Outcomes of a stand-in, at most: `kernels.chain.series` tells them apart as finely as it matters.
OUTCOMES = 256
#: Log ratios beyond this are as good as certain, and not told apart for the sake of it.
CERTAIN = 12.0


@lru_cache(maxsize=4_000)
def stand_ins(mechanism: Mechanism, count: int) -> tuple[Floats, Floats] | None:
    """Likelihoods (outcomes, 2) without and with the target, of a less telling stand-in and of a more telling one.

    In increasing order of the likelihood ratio; None if the mechanism has none. If there are few outputs, both are the
    mechanism itself.

    >>> from passerby import Geometric
    >>> less, more = stand_ins(Geometric(1.0), 0)
    >>> less.round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    pair = stood_in(mechanism, count)
    if pair is None:
        return None
    less, more = (by_ratio(table) for table in pair)
    less = np.add.reduceat(less, _groups(less, OUTCOMES), axis=0) if len(less) > OUTCOMES else less
    more = spread(more, _groups(more, OUTCOMES)) if len(more) > OUTCOMES else more
    less.flags.writeable = more.flags.writeable = False
    return less, more


def coarser(table: Floats, most: int) -> Floats:
    """At most so many outcomes, by increasing ratio, telling a little more than a table (outcomes, 2) does."""
    table = by_ratio(table)
    return spread(table, _groups(table, most)) if len(table) > most else table


def _groups(table: Floats, most: int) -> NDArray[np.int64]:
    """The beginnings of at most so many groups of outcomes, even both in log ratio and in mass."""
    with np.errstate(divide="ignore"):
        ratio = np.clip(np.log(table[:, 1]) - np.log(table[:, 0]), -CERTAIN, CERTAIN)
    mass = np.cumsum(table.sum(axis=1))
    parts = [(x - x[0]) / (x[-1] - x[0]) * (most // 2 - 1) for x in (ratio, mass)]
    return np.unique(np.floor(parts[0]) + np.floor(parts[1]), return_index=True)[1]


def spread(table: Floats, kept: NDArray[np.int64]) -> Floats:
    """Split every outcome between the two around it among the `kept` ones (the first one is, and so is the last).

    An outcome (a, b) goes to the two in proportions keeping the sums of a and of b.

    >>> spread(np.array([[0.5, 0.0], [0.3, 0.3], [0.2, 0.7]]), np.array([0])).round(4)
    array([[0.7143, 0.    ],
           [0.2857, 1.    ]])
    """
    kept = np.unique(np.append(kept, len(table) - 1))
    total = table.sum(axis=1)
    share = table[:, 1] / total
    left = np.minimum(np.searchsorted(kept, np.arange(len(table)), side="right") - 1, len(kept) - 2)
    low, high = share[kept[left]], share[kept[left + 1]]
    # Ratios may differ by more than shares near one can tell.
    up = np.divide(share - low, high - low, out=np.zeros(len(table)), where=high > low).clip(0.0, 1.0)
    mass = np.zeros(len(kept))
    np.add.at(mass, left, total * (1 - up))
    np.add.at(mass, left + 1, total * up)
    return np.stack([mass * (1 - share[kept]), mass * share[kept]], axis=1)


@lru_cache(maxsize=4_000)
def at_any(mechanism: Mechanism, least: int, most: int) -> Floats | None:
    """Likelihoods (outcomes, 2) of a stand-in that tells more than the mechanism at any count from `least` to `most`.

    None if the mechanism has no stand-ins.

    >>> from passerby import Suppression
    >>> at_any(Suppression(10), 0, 8), at_any(Suppression(10), 0, 9)
    (array([[1., 1.]]), array([[1., 0.],
           [0., 1.]]))
    """
    pairs = [stand_ins(mechanism, count) for count in range(least, most + 1)]
    tables = [pair[1] for pair in pairs if pair is not None]
    return joined(tables) if len(tables) == len(pairs) else None


def joined(tables: Sequence[Floats]) -> Floats:
    """The least telling law that tells at least as much as each of several.

    A law tells the more of a yes or no, the higher its curve of true over false alarms rises (Blackwell 1953,
    "Equivalent comparisons of experiments"). So it is the law with the concave hull of all their curves.
    """
    curves = [np.zeros((1, 2)), *(np.cumsum(table[::-1], axis=0) for table in tables)]
    points = np.unique(np.concatenate(curves).clip(0.0, 1.0), axis=0)
    hull: list[Floats] = []
    for point in points:
        while len(hull) > 1 and _left(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    hull[0], hull[-1] = np.zeros(2), np.ones(2)
    return by_ratio(np.diff(hull, axis=0))


def _left(a: Floats, b: Floats, c: Floats) -> float:
    """Above 0 if the way from a over b to c turns left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


#: Outcomes are not told apart for less than this.
FINEST = 1e-13


def log_outcomes(release: Release) -> float:
    """The logarithm of the number of possible series of different evidence; infinite for a continuum."""
    channels = [channel for step in release.channels for channel in step]
    if any(channel.continuous for channel, _ in counts_of(release.channels)):
        return math.inf
    pairs = [stand_ins(*channel) for channel in channels]
    return log_product(len(pair[1]) for pair in pairs if pair is not None)


def bracketing_series(prior: MarkovPrior, release: Release, most: int, faint: float) -> tuple[Series, Series] | None:
    """For a mechanism with many outputs or a continuum: the series of less telling and of more telling stand-ins.

    None if the mechanism has no stand-ins, or if even the coarsest more telling one has over `most` series.
    """
    laws = [stand_ins(*channel) for step in release.channels for channel in step]
    pairs = [pair for pair in laws if pair is not None]
    if len(pairs) < len(laws):
        return None
    more = grown_series(prior, release, [pair[1] for pair in pairs], most, faint, more=True)
    if more is None:
        return None
    # The cost of telling less is found with fewer series than the gain of telling more.
    less = grown_series(prior, release, [pair[0] for pair in pairs], max(1, most // 4), 0.0, more=False)
    return None if less is None else (less, more)


def grown_series(
    prior: MarkovPrior, release: Release, laws: Sequence[Floats], most: int, faint: float, *, more: bool
) -> Series | None:
    """Series of stand-ins for the sensors' `laws`, told apart as finely as `most` series allow.

    See `kernels.chain.series`. Beginnings less likely than `faint` are left over. None if `most` do not suffice.
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
        found: tuple[Floats, Floats, float] = kernels.grow(
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
