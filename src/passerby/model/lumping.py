"""Lumping of alike places: told apart by the counts alone, and merged without changing any loss.

Two places are alike under two conditions. The same habits lead away from both. The habits leading to one lead to the
other in a fixed proportion. If habits are smoothed with common frequencies, all places never visited by a person are
alike. The person's choice among them says nothing about any other step. So a guess should name the likeliest of them,
and all the others can be one state, never named. In an audit most states are such places with a sensor.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.chain import lumping

from .prior import MarkovPrior
from .release import Release

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Fewer places than this are not worth merging: two states are left of them.
FEWEST = 4
#: Habits leading to two places are in proportion up to so large a share.
ROUNDING = 32 * np.finfo(np.float64).eps
#: The parts of alike places at the steps: sighted, the likeliest unsighted one, and all other unsighted ones.
PARTS = 3
#: Below this number of elementary operations of one pass over all series, merging takes longer than it saves.
SMALL = 5e3
_NOTHING = np.empty((1, 0), dtype=np.int64)


@lru_cache(maxsize=8)
def alike(prior: MarkovPrior) -> Ints:
    """The largest set of alike places, in order; empty if there are none, or if they share states.

    Places of a mixture are alike if they are so in every mode, in the same proportion in all of them.

    >>> from passerby import MarkovPrior
    >>> alike(MarkovPrior([0.2, 0.2, 0.6], [[0.2, 0.2, 0.6], [0.2, 0.2, 0.6], [0.1, 0.1, 0.8]])).tolist()
    [0, 1]
    """
    if prior.single:
        states = np.arange(prior.states)[:, None]
    else:
        states = np.full((prior.places, prior.modes), -1)
        states[prior.place_of, prior.mode_of] = np.arange(prior.states)
        if (states >= 0).sum() < prior.states:
            return np.empty(0, dtype=np.int64)
    return np.asarray(lumping.alike(prior.initial, prior.matrices, states, ROUNDING))


def with_one_sensor(prior: MarkovPrior, release: Release) -> tuple[MarkovPrior, Release]:
    """For raw counts: alike places with a sensor become one place with a sensor.

    Sighted there, the person is known to be at one of them. The choice among them does not matter to the other steps.
    At some steps, some of them may have no sensor. Two further places stand for these: the likeliest, to be named by a
    guess, and all others, never to be named.
    """
    group = alike(prior)
    seen = (release.grid[:, :, None] == group).any(axis=1) & prior.guessable[group]
    always = seen.all(axis=0)
    if (seen.any(axis=0) & ~always).any() and seen.any(axis=0).sum() > PARTS and release.steps > 1:
        some = seen.any(axis=0)
        return _by_sight(prior, release, group[some], seen[:, some])
    if always.sum() < 2:
        return prior, release
    return _together(prior, release, group[always])


def _together(prior: MarkovPrior, release: Release, group: Ints) -> tuple[MarkovPrior, Release]:
    """Places with a sensor at every step as one."""
    label = np.arange(prior.places)
    label[group] = group[0]
    kept = np.flatnonzero(label == np.arange(prior.places))
    place_of = np.searchsorted(kept, label)
    state_of = np.arange(prior.states)
    for mine in _in_each_mode(prior, label[prior.place_of] == group[0]):
        state_of[mine] = mine[0]
    states = np.flatnonzero(state_of == np.arange(prior.states))
    into = (state_of[:, None] == states).astype(np.float64)
    fewer = _chain(
        prior.initial @ into,
        prior.transition[..., states, :] @ into,
        place_of[prior.place_of[states]],
        prior.mode_of[states],
        prior.guessable[kept],
    )
    told = tuple(tuple(int(place_of[x]) for x in step if label[x] == x) for step in release.sensors)
    return fewer, Release.raw(told)


def _by_sight(
    prior: MarkovPrior, release: Release, group: Ints, seen: NDArray[np.bool_]
) -> tuple[MarkovPrior, Release]:
    """Places with a sensor at some steps, `seen` (T, places), as three: sighted, the likeliest unseen, and the others.

    The person's choice among them is drawn afresh at each step, whatever happens at the others. So a guess for a step
    without a sighting does best with the likeliest unsighted place, and a sighting leaves no doubt.
    """
    share = np.bincount(prior.place_of, weights=prior.initial + prior.matrices.sum(axis=(0, 1)))[group]
    likeliest = np.where(seen, -1.0, share).argmax(axis=1)
    part = np.where(seen, 0, np.where(np.arange(len(group)) == likeliest[:, None], 1, 2))
    kept = np.setdiff1d(np.arange(prior.places), group)
    place_of = np.full(prior.places, -1)
    place_of[kept] = np.arange(len(kept))
    inside = np.isin(prior.place_of, group)
    own = np.flatnonzero(~inside)
    leads = [mine[0] for mine in _in_each_mode(prior, inside)]
    states = np.concatenate([own, np.repeat(leads, PARTS)])
    which = np.concatenate([np.full(len(own), -1), np.tile(np.arange(PARTS), len(leads))])
    member = np.searchsorted(group, prior.place_of.clip(max=group[-1]))
    # A state of the group becomes its part of the group at each step, in the same mode.
    same = (part[:, member, None] == which) & (prior.mode_of[:, None] == prior.mode_of[states])
    into = np.where(inside[:, None], same, np.arange(prior.states)[:, None] == states).astype(np.float64)
    fewer = _chain(
        prior.initial @ into[0],
        np.ascontiguousarray(prior.matrices[:, states] @ into[1:]),
        np.where(which < 0, place_of[prior.place_of[states]], len(kept) + which),
        prior.mode_of[states],
        np.concatenate([prior.guessable[kept], [True, True, False]]),
    )
    sighted = [(len(kept),) if any(row) else () for row in seen.tolist()]
    told = tuple(
        tuple(int(place_of[x]) for x in step if place_of[x] >= 0) + more
        for step, more in zip(release.sensors, sighted, strict=True)
    )
    return fewer, Release.raw(told)


def _chain(initial: Floats, moves: Floats, place_of: Ints, mode_of: Ints, guessable: NDArray[np.bool_]) -> MarkovPrior:
    """Parts relevant only to other numbers than success (entropies, the number of places) are not carried over."""
    return MarkovPrior.known(
        initial,
        moves,
        place_of=place_of,
        mode_of=mode_of,
        guessable=guessable,
        universe=len(guessable),
        merged_entropy=np.zeros(len(guessable)),
        elsewhere=None,
    )


def _in_each_mode(prior: MarkovPrior, inside: NDArray[np.bool_]) -> list[Ints]:
    """The states (M,) that are `inside`, mode by mode, for modes with any."""
    each = [np.flatnonzero(inside & (prior.mode_of == mode)) for mode in range(prior.modes)]
    return [states for states in each if len(states)]


class Merged(NamedTuple):
    """A chain and evidence with two states for alike places: the likeliest given each count, and the rest.

    Arrays are in the form of kernels. `kept` (M',) is the original of each state. `best` (n, T) is the place of the
    state after the last kept one, at each step of each series. Both are empty if nothing is merged.
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
    """The chain with likelihoods `weights` (n, T, S + 1), with alike places merged if there are enough.

    Both states of the merged places have the habits of all of them together; how likely each is comes with the weights.
    Each mode of a mixture has two such states. If a guess names something else than places, nothing is merged.
    """
    n, steps = weights.shape[:2]
    named, watched = prior.nameable, release.classes(prior)
    worth = prior.naming is None and n * steps * prior.states**2 >= SMALL
    group = alike(prior) if worth else _NOTHING[0]
    if len(group) < FEWEST:
        return Merged(prior.initial, prior.matrices, named, prior.name_of, watched, weights, _NOTHING[0], _NOTHING)
    two = halved(prior)
    # Two places and two classes more, for the two states of the merged places.
    parts = two.states, two.half, two.first, two.share
    classes, weights, best = lumping.merged(weights, watched, *parts, named, group)
    return Merged(two.initial, two.matrices, two.named, two.place_of, classes, weights, two.kept, best)


class Halved(NamedTuple):
    """A chain with two states in each mode for the places of the group `alike`.

    `states` (M',) have the habits of each of its states. `half` (M',) is 0 and 1 for the two states of the group and -1
    for others. `kept` are the other places, and `first` is the first state of each place of the group. `share` is the
    probability of each.
    """

    initial: Floats
    matrices: Floats
    named: Floats
    place_of: Ints
    states: Ints
    half: Ints
    kept: Ints
    first: Ints
    share: Floats


@lru_cache(maxsize=4)
def halved(prior: MarkovPrior) -> Halved:
    """See `Halved`. Remembered: without a release and with it, the chain of a person is the same."""
    parts = lumping.halved(prior.initial, prior.matrices, prior.place_of, prior.mode_of, prior.named, alike(prior))
    return Halved(*parts)
