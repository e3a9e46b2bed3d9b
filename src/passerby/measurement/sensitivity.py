"""The largest number of counts changed by one person: by presence, and by another trace.

A trace makes a bit of each count. The largest number of bits of one trace is a longest path over the states of a chain
with the memory of counts. The largest number of differing bits of two traces is a longest path over pairs of states.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.mechanisms.base import Mechanism
from passerby.model.count import mechanism_of
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: How much each count weighs, by its mechanism.
Weights = Mapping[Mechanism, float]

#: Elementary operations of a path over pairs of states, at most.
MOST_WORK = 2e10


def sensitivity(release: Release, weights: Weights | None = None) -> tuple[float, float]:
    """The largest weight of differing counts: if a trace is another, and if a person is there or not.

    >>> from passerby import Moved, Present
    >>> nested = Release(counts=[Present(range(n), step=0) for n in (1, 2, 3)] + [Moved([0], [1], step=0)], steps=2)
    >>> sensitivity(nested)
    (4.0, 4.0)
    """
    if release.reveals:
        # One may be at any of the places of a step and leave any of another, however many there are.
        weight = (weights or {}).get(release.mechanism, 1.0)
        changed, added = (weight * sum(min(len(step), most) for step in release.sensors) for most in (2, 1))
        return changed, added
    chain, told = release.over(anybody(release))
    return most_changed(chain, told, weights), most_counted(chain, told, weights)


def most_counted(prior: MarkovPrior, release: Release, weights: Weights | None = None) -> float:
    """The largest weight of the counts that count one person, over all traces possible with the prior.

    `release` is over the states of the prior (`Release.over`). `R_t(y) = w_t(y) + max R_{t-1}(x)` over moves x to y.
    """
    reach = np.where(prior.initial > 0, 0.0, -np.inf)
    for t, bits in enumerate(_bits(prior, release, weights)):
        if t:
            reach = np.where(_moves(prior, t), reach[:, None], -np.inf).max(axis=0)
        reach = reach + bits.sum(axis=1)
    return float(reach.max())


def most_changed(prior: MarkovPrior, release: Release, weights: Weights | None = None) -> float:
    """The largest weight of the counts in which two possible traces differ: a longest path over pairs of states."""
    if release.steps * prior.states**3 > MOST_WORK:
        raise UnsupportedRelease(
            f"in how many counts two traces over {prior.states:,} states and {release.steps} steps may differ takes "
            f"too long to find out: {release.steps * prior.states**3:.0e} operations, and at most {MOST_WORK:.0e} are "
            "spent; leave out flows, or shorten windows of visitors"
        )
    start = np.where(prior.initial > 0, 0.0, -np.inf)
    reach = start[:, None] + start
    for t, bits in enumerate(_bits(prior, release, weights)):
        if t:
            reach = _best_before(_moves(prior, t), _best_before(_moves(prior, t), reach).T).T
        reach = reach + _apart(bits)
    return float(reach.max())


def _best_before(moves: NDArray[np.bool_], reach: Floats) -> Floats:
    """The largest of the rows of possible earlier states, for each state (M, M)."""
    # Many states are reached from the same ones.
    ways, which = np.unique(moves.T, axis=0, return_inverse=True)
    best = [reach[way].max(axis=0) if way.any() else np.full(len(reach), -np.inf) for way in ways]
    return np.asarray(np.array(best)[which.reshape(-1)])


def _bits(prior: MarkovPrior, release: Release, weights: Weights | None) -> list[Floats]:
    """For each step, the weight of each count in each state it counts (M, counts)."""
    classes, sees = release.classes(prior), release.sees
    each = np.ones(release.grid.shape)
    if weights is not None and len(release.ways) == 1:
        each *= weights[release.ways[0]]
    elif weights is not None:
        step, count = np.nonzero(release.grid >= 0)
        each[step, count] = [weights[mechanism_of(one)] for one in release.listed]
    return [sees[t][classes[t]] * each[t] for t in range(release.steps)]


def _apart(bits: Floats) -> Floats:
    """The weight of the counts telling two states apart (M, M); states treated alike by all of them are one class."""
    rows, which = np.unique(bits, axis=0, return_inverse=True)
    apart = np.abs(rows[:, None] - rows).sum(axis=2)
    return np.asarray(apart[np.ix_(which.reshape(-1), which.reshape(-1))])


def _moves(prior: MarkovPrior, t: int) -> NDArray[np.bool_]:
    """Marks of the possible moves to step t (M, M)."""
    return np.asarray(prior.matrix(t - 1) > 0)


def anybody(release: Release) -> MarkovPrior:
    """Somebody at any place at any step: a state for each kind of place, and one for elsewhere.

    Places not told apart by any zone are one.
    """
    zones = dict.fromkeys(zone for count in release.listed for zone in count.zones)
    last = max((zone[-1] for zone in zones), default=-1)
    inside = np.array([np.isin(np.arange(last + 2), zone) for zone in zones]).reshape(len(zones), last + 2)
    _, places = np.unique(inside, axis=1, return_index=True)
    size = len(places)
    return MarkovPrior.known(
        np.full(size, 1 / size),
        np.full((size, size), 1 / size),
        place_of=places.astype(np.int64),
        guessable=np.ones(last + 2, dtype=bool),
        universe=last + 2,
        merged_entropy=np.zeros(last + 2),
        elsewhere=None,
    )
