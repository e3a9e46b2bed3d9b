"""What an adversary may be told about the others, so that what remains unknown is independent from count to count.

Where one person is at different steps depends, so numbers of others at different counts do. Tell where each of the
others was at every second step that has a sensor: some people at the odd ones, some at the even ones. What lies between
two told steps depends on these two alone (the chain is Markov), with the *bridge* probabilities

    Pr[X_t = x | X_u = a, X_v = b] = P(a, x) P(x, b) / Σ_x' P(a, x') P(x', b),    u < t < v,

so all that is not told is independent. At a step with several sensors, one of them is assigned to each person who is
not told, and it is told whether they are at one of the rest. The number of others at each sensor is then a known number
and a sum of independent yes-or-no draws, independent of all other numbers. Whoever is told more succeeds at least as
often: an average over what is told is an upper bound.

Who is told when, and which sensor is assigned, follows from habits and from what is told, never from what is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .prior import MarkovPrior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sensors = Sequence[Sequence[int]]

#: A person adds to the uncertainty of a count; the more there is, the less one more matters. Where it begins to.
_SETTLED = 0.25
#: Chains of more places than this are not asked where their bridges are uncertain.
_MOST_PLACES = 200


@dataclass(frozen=True, eq=False)
class Walk:
    """A chain at the steps that have a sensor, `active` (m,): its law there, and how it moves from one to the next."""

    prior: MarkovPrior
    sensors: tuple[tuple[int, ...], ...]

    @cached_property
    def active(self) -> list[int]:
        """The steps that have a sensor."""
        return [t for t, step in enumerate(self.sensors) if step]

    @cached_property
    def watched(self) -> list[Ints]:
        """The places of the sensors at each of these steps."""
        return [np.array(self.sensors[t], dtype=np.int64) for t in self.active]

    @cached_property
    def start(self) -> Floats:
        """The law at the first of these steps (M,)."""
        return np.asarray(self.prior.marginals(len(self.sensors))[self.active[0]])

    @cached_property
    def moves(self) -> list[Floats]:
        """From each of these steps to the next (M, M)."""
        out = []
        for first, last in zip(self.active, self.active[1:], strict=False):
            move = np.eye(self.prior.places)
            for t in range(first, last):
                move = move @ self.prior.matrix(t)
            out.append(move)
        return out

    @cached_property
    def two(self) -> list[Floats]:
        """From each of these steps to the one after the next."""
        return [a @ b for a, b in zip(self.moves, self.moves[1:], strict=False)]

    def possible(self, k: int, before: Ints, after: Ints) -> NDArray[np.bool_]:
        """Whether one can be at these places (n,) before and after the k-th of these steps."""
        return self._together(k, before, after) > 0

    def _together(self, k: int, before: Ints, after: Ints) -> Floats:
        """The probability (n,) of being at the place after it, given the place before it."""
        if k == len(self.active) - 1:
            return np.ones(len(before))
        return np.asarray((self.start @ self.moves[0])[after] if k == 0 else self.two[k - 1][before, after])

    def bridge(self, k: int, before: Ints, after: Ints) -> Floats:
        """Probabilities (n, S) of the sensors of the k-th of these steps, given where one was before and after it (n,).

        At an end of the chain, what is beyond it plays no part. Zero where the two places do not go together.
        """
        places, last = self.watched[k], len(self.active) - 1
        towards = self.start[places][None] if k == 0 else self.moves[k - 1][before[:, None], places]
        if k == last:
            return np.broadcast_to(towards, (len(before), len(places)))
        both = towards * self.moves[k][places[:, None], after].T
        total = self._together(k, before, after)
        return np.clip(np.divide(both, total[:, None], out=np.zeros_like(both), where=total[:, None] > 0), 0.0, 1.0)

    @cached_property
    def uncertainty(self) -> Floats:
        """How uncertain the person's presence is at each of these steps to somebody told the two around it (m,).

        The expected variance `E[b (1 - b)]` of a bridge to each sensor, added up over the step's sensors.
        """
        if self.prior.places > _MOST_PLACES or not self.active:
            return np.ones(len(self.active))
        everywhere = np.arange(self.prior.places)
        out, law = np.empty(len(self.active)), self.start
        for k in range(len(self.active)):
            if k > 1:
                law = law @ self.moves[k - 2]  # where they are at the step before the k-th
            first = everywhere[:1] if k == 0 else everywhere
            last = everywhere[:1] if k == len(self.active) - 1 else everywhere
            before, after = np.repeat(first, len(last)), np.tile(last, len(first))
            chance = np.ones(1) if k == 0 else law[before]
            if k < len(self.active) - 1:
                chance = (self.start @ self.moves[0])[after] if k == 0 else chance * self.two[k - 1][before, after]
            b = self.bridge(k, before, after)
            out[k] = float(chance @ (b * (1 - b)).sum(axis=1))
        return out


def walks(priors: Sequence[MarkovPrior], sensors: Sensors) -> list[Walk]:
    """The walk of each of the others; people of the same habits share one."""
    where = tuple(tuple(step) for step in sensors)
    known = {id(prior): Walk(prior, where) for prior in priors}
    return [known[id(prior)] for prior in priors]


class Uncertain(Protocol):
    """One of the others, and how uncertain they are to somebody who is told the steps around."""

    @property
    def uncertainty(self) -> Floats:
        """At each step that has a sensor or a count (m,)."""


def turns(people: Sequence[Uncertain], most: int) -> Ints:
    """For each of the others, whether they are told at the odd (1) or even (0) active steps, or at all of them (-1).

    By habits alone: who is the most uncertain between comes first, and is told where that leaves the counts the more
    uncertain. At most so many are not told everything.
    """
    gains = np.array([person.uncertainty for person in people])
    out = np.full(len(people), -1)
    if not gains.size:
        return out
    total = np.full(gains.shape[1], _SETTLED)
    told_odd = np.arange(gains.shape[1]) % 2 == 1
    for i in np.argsort(-gains.sum(axis=1), kind="stable")[:most]:
        worth = np.log1p(gains[i] / total)
        out[i] = odd = int(worth[~told_odd].sum() >= worth[told_odd].sum())
        total += np.where(told_odd == bool(odd), 0.0, gains[i])
    return out


def assigned(bridge: Floats, coin: float | Floats) -> Ints:
    """Which of a step's sensors is assigned to a person of these bridge probabilities (n, S): an index for each (n,).

    In proportion to how uncertain each is, by a `coin` in [0, 1), or one for each (n, 1), that has nothing to do with
    where they are.
    """
    if bridge.shape[1] == 1:
        return np.zeros(len(bridge), dtype=np.int64)
    edges = np.cumsum(bridge * (1 - bridge), axis=1)
    return np.asarray(np.minimum((edges <= coin * edges[:, -1:]).sum(axis=1), bridge.shape[1] - 1))


def remaining(bridge: Floats, chosen: Ints) -> Floats:
    """The probability (n,) of being at the assigned sensor, for somebody who is told to be at none of the rest."""
    mine = np.take_along_axis(bridge, chosen[:, None], axis=1)[:, 0]
    left = 1.0 - (bridge.sum(axis=1) - mine)
    return np.asarray(np.clip(np.divide(mine, left, out=np.zeros_like(mine), where=left > 0), 0.0, 1.0))


def coins(people: int, steps: int) -> Floats:
    """The coins of everybody at each active step (people, m): always the same ones."""
    return np.random.default_rng(0).random((people, steps))
