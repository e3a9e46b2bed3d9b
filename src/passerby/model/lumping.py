"""Places that are alike: told apart by the counts alone, and merged without changing any loss.

Two places are alike if the same habits lead away from both, and those that lead to one lead to the other in a fixed
proportion. All places that a person never visited are alike when habits are smoothed with common frequencies. Which of
them the person is at says nothing about any other step, so a guess should name the likeliest of them, and all the
others can be one state that is never named. In an audit most states are such places with a sensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .prior import MarkovPrior
from .release import Release

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Fewer places than this are not worth merging: two states are left of them.
FEWEST = 4
#: Habits that lead to two places are in proportion if they are up to so large a share.
ROUNDING = 32 * np.finfo(np.float64).eps
#: The smallest weight of what is possible.
FAINTEST = 1e-300
#: Elementary operations of one pass over all series below which merging takes longer than it saves.
SMALL = 1e5


@lru_cache(maxsize=8)
def alike(prior: MarkovPrior) -> Ints:
    """The largest set of places that are alike, in order; empty where there are none, or where they share states.

    >>> from passerby import MarkovPrior
    >>> alike(MarkovPrior([0.2, 0.2, 0.6], [[0.2, 0.2, 0.6], [0.2, 0.2, 0.6], [0.1, 0.1, 0.8]])).tolist()
    [0, 1]
    """
    if not prior.single:
        return np.empty(0, dtype=np.int64)
    away = prior.matrices.transpose(1, 0, 2)
    towards = np.concatenate([prior.initial[:, None], prior.matrices.reshape(-1, prior.places).T], axis=1)
    total = towards.sum(axis=1)
    rows: dict[bytes, list[int]] = {}
    for x in np.flatnonzero(total > 0).tolist():
        rows.setdefault(away[x].tobytes(), []).append(x)
    found = np.empty(0, dtype=np.int64)
    for members in sorted(rows.values(), key=len, reverse=True):
        left = np.array(members, dtype=np.int64)
        while len(left) > max(1, len(found)):
            group = _in_proportion(towards[left] / total[left, None])
            found = left[group] if group.sum() > max(1, len(found)) else found
            left = left[~group]
    return found


def _in_proportion(shape: Floats) -> NDArray[np.bool_]:
    """Which rows equal the first one, entry by entry and but for rounding: a small entry equals no other, nor zero."""
    return np.asarray((np.abs(shape - shape[0]) <= ROUNDING * shape[0]).all(axis=1))


def with_one_sensor(prior: MarkovPrior, release: Release) -> tuple[MarkovPrior, Release]:
    """For raw counts: places that are alike and have a sensor at every step become one place with a sensor.

    Sighted there, the person is known to be at one of them, and which one does not matter to the other steps.
    """
    group = alike(prior)
    everywhere = (release.grid[:, :, None] == group).any(axis=1).all(axis=0)
    group = group[everywhere & prior.guessable[group]]
    if len(group) < 2:
        return prior, release
    kept = np.setdiff1d(np.arange(prior.places), group[1:])
    start, moves = prior.initial.copy(), prior.transition.copy()
    start[group[0]] = start[group].sum()
    moves[..., group[0]] = moves[..., group].sum(axis=-1)
    state = np.full(prior.places, -1)
    state[kept] = np.arange(len(kept))
    # What only matters to other numbers than success (entropies, the number of places) is not carried over.
    merged = MarkovPrior(start[kept], moves[..., kept[:, None], kept], guessable=prior.guessable[kept])
    told = tuple(tuple(int(state[x]) for x in step if state[x] >= 0) for step in release.sensors)
    return merged, Release.raw(told)


@dataclass(frozen=True)
class Merged:
    """A chain and evidence in which places that are alike are two states: the likeliest given each count, and the rest.

    Arrays are those that kernels take; `kept` (M',) says what each state stood for, and `best` (n, T) which place the
    state after the last kept one stands for at each step of each series.
    """

    initial: Floats
    matrices: Floats
    named: Floats
    place_of: Ints
    classes: Ints
    weights: Floats
    kept: Ints
    best: Ints

    def original(self, guesses: Ints) -> Ints:
        """Guesses (n, ..., T) over these states, as places."""
        if not self.best.size:
            return guesses
        best = self.best.reshape(len(self.best), *[1] * (guesses.ndim - 2), -1)
        known = np.append(self.kept, -1)[np.minimum(guesses, len(self.kept))]
        return np.where(known >= 0, known, best)


def merged(prior: MarkovPrior, release: Release, weights: Floats) -> Merged:
    """The chain with likelihoods `weights` (n, T, S + 1), with places that are alike merged where there are enough.

    Both states of the merged places have the habits of all of them together; how likely each is comes with the weights.
    """
    n, steps = weights.shape[:2]
    named, watched = prior.named, release.classes(prior)
    group = alike(prior) if n * steps * prior.places**2 >= SMALL else np.empty(0, dtype=np.int64)
    if len(group) < FEWEST:
        nothing = np.empty((0, 0), dtype=np.int64)
        chain = prior.initial, prior.matrices, named, prior.place_of
        return Merged(*chain, watched, weights, np.arange(prior.places), nothing)
    kept = np.setdiff1d(np.arange(prior.places), group)
    rest = len(kept)
    towards = prior.initial + prior.matrices.sum(axis=(0, 1))
    share = towards[group] / towards[group].sum()
    # The likelihood at each place of the group, times its share.
    parts = np.take_along_axis(weights, np.broadcast_to(watched[None, :, group], (n, steps, len(group))), axis=2)
    # Two classes more, for the two states of the merged places.
    last = weights.shape[2]
    told = np.concatenate([watched[:, kept], np.tile([last, last + 1], (steps, 1))], axis=1)
    # What is possible keeps a weight, if a faint one.
    parts = np.where(parts > 0, np.maximum(parts * share, FAINTEST), 0.0)
    top = np.argmax(parts * named[group] + (named[group] - 1.0), axis=2)
    mine = np.arange(len(group)) == top[:, :, None]
    two = np.stack([(parts * mine).sum(axis=2), (parts * ~mine).sum(axis=2)], axis=2)
    away = np.concatenate([kept, group[[0, 0]]])
    return Merged(
        _joined(prior.initial, kept, group),
        np.ascontiguousarray(_joined(prior.matrices, kept, group)[:, away]),
        np.concatenate([named[kept], [named[group].max(), 0.0]]),
        np.arange(rest + 2),
        told,
        np.concatenate([weights, two], axis=2),
        kept,
        group[top],
    )


def _joined(towards: Floats, kept: Ints, group: Ints) -> Floats:
    """The last axis with one entry for each kept place, and that of the group twice."""
    total = towards[..., group].sum(axis=-1, keepdims=True)
    return np.concatenate([towards[..., kept], total, total], axis=-1)
