"""A stranger: an adversary who knows what everybody does, and nothing of the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.counted import states_by_place
from passerby.people.habits import People

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Places that a stranger tells apart, beside those with a sensor: the most frequent ones.
TOLD_APART = 30
#: Moves' worth of everybody's frequencies that are mixed into the moves from each place.
LITTLE = 10.0


@dataclass(frozen=True)
class Stranger:
    """Everybody's moves as a chain over a few `places`, of which those below 0 stand for many others.

    `number` (M,) is the state of each place.
    """

    prior: MarkovPrior
    places: Ints
    number: Ints

    @classmethod
    def of(cls, people: People, sensed: Sequence[int], zones: Ints | None = None) -> Stranger:
        """From the fitted steps of all people, each from the first one on at which they are known to be anywhere.

        Where counts are of zones, a label for each place (M,), all others of each zone are one place, -1 - label.

        `P(x, y) = (N(x, y) + c b(y)) / (N(x) + c)`, with N everybody's moves (those that end in the same part of the
        day or week, where habits follow one), b their frequencies and c = `LITTLE`. The start is b.
        """
        every = len(people.places)
        common = np.argsort(-people.background, kind="stable")[:TOLD_APART].tolist()
        own = np.array(sorted({*common, *sensed}), dtype=np.int64)
        label = np.zeros(every, dtype=np.int64) if zones is None else zones
        rest = np.unique(np.append(np.delete(label, own), 0))
        places = np.concatenate([own, -1 - rest])
        number = states_by_place(places, every, label)
        fitted = number[people.fitted]
        known = np.maximum.accumulate(people.fitted != people.elsewhere, axis=1)
        steps, held, size = fitted.shape[1], people.actual.shape[1], len(places)
        part = np.zeros(steps + held, dtype=np.int64) if people.phase is None else people.phase

        def moves(towards: int) -> Floats:
            inside = part[1:steps] == part[towards]
            pairs = (fitted[:, :-1] * size + fitted[:, 1:])[:, inside][known[:, :-1][:, inside]]
            counts = np.bincount(pairs, minlength=size**2).reshape(size, size)
            b = frequencies(towards)
            return np.asarray((counts + LITTLE * b) / (counts.sum(axis=1, keepdims=True) + LITTLE))

        def frequencies(at: int) -> Floats:
            inside = part[:steps] == part[at]
            visits = np.bincount(fitted[:, inside][known[:, inside]], minlength=size)
            return np.asarray((visits + 1 / size) / (visits.sum() + 1))

        matrices = (
            moves(steps) if people.phase is None else np.array([moves(t) for t in range(steps + 1, steps + held)])
        )
        named = (places >= 0) & (people.name_elsewhere | (places != people.elsewhere))
        elsewhere = np.flatnonzero(places == people.elsewhere)
        prior = MarkovPrior(
            frequencies(steps),
            matrices if matrices.size else moves(steps),
            guessable=named,
            universe=max(every, size),
            elsewhere=int(elsewhere[0]) if elsewhere.size else None,
        )
        return cls(prior, places, number)

    def release(self, release: Release) -> Release:
        """What is published, over the stranger's places."""
        return release.relabelled(self.number)
