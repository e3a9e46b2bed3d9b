"""Side information on the others that leaves the unknown rest independent from count to count.

One person's places at different steps are dependent, so numbers of others at different counts are. The side information
is the place of each of the others at every second step with a sensor: for some people at the odd ones, for some at the
even ones. A step between two told steps depends on these two alone (the chain is Markov), with the *bridge*
probabilities

    Pr[X_t = x | X_u = a, X_v = b] = P(a, x) P(x, b) / Σ_x' P(a, x') P(x', b),    u < t < v,

so the unknown rest is independent. At a step with several sensors, each person between told steps is assigned one of
them. It is told whether they are at another one. The number of others at each sensor is then a known number plus a sum
of independent yes-or-no draws. It is independent of all other numbers. A better informed adversary succeeds at least as
often: an average over the side information is an upper bound.

The turns of telling and the assigned sensors follow from habits and from told places, never from unknown ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.model.counts import Count
from passerby.model.memory import Watch, remember
from passerby.model.prior import MarkovPrior, state_laws

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sensors = Sequence[Sequence[int]]

#: A person adds to the uncertainty of a count. From this uncertainty on, one more person matters less.
_SETTLED = 0.25
#: Chains of more places than this are not asked for the uncertainty of their bridges.
_MOST_PLACES = 200


@dataclass(frozen=True, eq=False)
class Walk:
    """A chain at the steps with a sensor, `active` (m,): its law there, and its moves from one to the next."""

    prior: MarkovPrior
    sensors: tuple[tuple[int, ...], ...]

    @cached_property
    def active(self) -> list[int]:
        """The steps with a sensor."""
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
        """Probabilities (n, S) of the sensors of the k-th of these steps, given the places before and after it (n,).

        At an end of the chain, nothing beyond it plays a part. Zero if the two places do not go together.
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
                law = law @ self.moves[k - 2]  # their places at the step before the k-th
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
    """One of the others, and their uncertainty given the steps around."""

    @property
    def uncertainty(self) -> Floats:
        """At each step with a sensor or a count (m,)."""


def turns(people: Sequence[Uncertain], most: int) -> Ints:
    """For each of the others, whether they are told at the odd (1) or even (0) active steps, or at all of them (-1).

    By habits alone: the person with the most uncertain bridges comes first. Of odd and even steps, they are told at the
    ones that leave the counts more uncertain. At most so many are not told everything.
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
    """The sensor of a step assigned to a person of these bridge probabilities (n, S): an index for each (n,).

    In proportion to the uncertainty of each, by a `coin` in [0, 1), or one for each (n, 1), independent of their
    places.
    """
    if bridge.shape[1] == 1:
        return np.zeros(len(bridge), dtype=np.int64)
    edges = np.cumsum(bridge * (1 - bridge), axis=1)
    return np.asarray(np.minimum((edges <= coin * edges[:, -1:]).sum(axis=1), bridge.shape[1] - 1))


def remaining(bridge: Floats, chosen: Ints) -> Floats:
    """The probability (n,) of being at the assigned sensor, for somebody told to be at none of the rest."""
    mine = np.take_along_axis(bridge, chosen[:, None], axis=1)[:, 0]
    left = 1.0 - (bridge.sum(axis=1) - mine)
    return np.asarray(np.clip(np.divide(mine, left, out=np.zeros_like(mine), where=left > 0), 0.0, 1.0))


def coins(people: int, steps: int) -> Floats:
    """The coins of everybody at each active step (people, m): always the same ones."""
    return np.random.default_rng(0).random((people, steps))


Counts = tuple[tuple[Count, ...], ...]

#: The most numbers held by the matrices of all chains together.
MOST_NUMBERS = 2e8
#: Chains of more states than this are not asked for their uncertainty.
_MOST_STATES = 200


@dataclass(frozen=True, eq=False)
class Passage:
    """A chain with memory (states,), the view of its counts (`watch`), and the number of counts of each step (T,)."""

    chain: MarkovPrior
    watch: Watch
    sizes: tuple[int, ...]
    #: How many states the chain has without memory.
    base: int

    @classmethod
    def of(cls, prior: MarkovPrior, counts: Counts) -> Passage:
        """The passage of one person's habits, and counts by the step of their reading."""
        chain, watch = remember(prior, counts)
        return cls(chain, watch, tuple(map(len, counts)), prior.states)

    @cached_property
    def active(self) -> list[int]:
        """The steps with a count (m,)."""
        return [t for t, size in enumerate(self.sizes) if size]

    @cached_property
    def class_of(self) -> list[Ints]:
        """The class of each state at each of these steps: (m) of (M,)."""
        return [self.watch.classes[t] for t in self.active]

    @cached_property
    def bits(self) -> list[Ints]:
        """Whether each count of these steps counts the people of each class: (m) of (C, S)."""
        return [self.watch.sees[t, : self.watch.kinds[t], : self.sizes[t]] for t in self.active]

    @cached_property
    def laws(self) -> Floats:
        """The law of the state at each of these steps (m, M)."""
        return np.asarray(state_laws(self.chain, len(self.sizes))[self.active])

    @cached_property
    def moves(self) -> list[Floats]:
        """From each of these steps to the next (M, M)."""
        out = []
        for first, last in zip(self.active, self.active[1:], strict=False):
            move = self.chain.matrix(first)
            for t in range(first + 1, last):
                move = move @ self.chain.matrix(t)
            out.append(move)
        return out

    def by_class(self, k: int, values: Floats) -> Floats:
        """Values of states (..., M) at the k-th of these steps, added up over the states of each class (..., C)."""
        one = self.class_of[k][:, None] == np.arange(len(self.bits[k]))
        return np.asarray(values @ one)

    def class_law(self, k: int) -> Floats:
        """The law of the class at the k-th of these steps (C,)."""
        return self.by_class(k, self.laws[k])

    def add_often(self, k: int, often: dict[tuple[int, ...], float]) -> None:
        """Add the law of the class at the k-th of these steps to the expected numbers, by the counts of each class."""
        for row, p in zip(map(tuple, self.bits[k].tolist()), self.class_law(k).tolist(), strict=True):
            often[row] = often.get(row, 0.0) + p

    @cached_property
    def presence(self) -> Floats:
        """How likely the person is to be in each count, in order (counts,)."""
        return np.concatenate([np.empty(0), *(self.class_law(k) @ bits for k, bits in enumerate(self.bits))])

    @cached_property
    def together(self) -> Floats:
        """The covariance of being in each count and in each other (counts, counts)."""
        seen = [bits[of] for bits, of in zip(self.bits, self.class_of, strict=True)]
        cell = np.cumsum([0, *(each.shape[1] for each in seen)])
        out = np.zeros((cell[-1], cell[-1]))
        for k, here in enumerate(seen):
            ahead = here.T * self.laws[k]
            for later in range(k, len(seen)):
                ahead = ahead @ self.moves[later - 1] if later > k else ahead
                block = ahead @ seen[later]
                out[cell[k] : cell[k + 1], cell[later] : cell[later + 1]] = block
                out[cell[later] : cell[later + 1], cell[k] : cell[k + 1]] = block.T
        return np.asarray(out - self.presence[:, None] * self.presence)

    def sample(self, size: int, rng: np.random.Generator) -> Ints:
        """Draw the state at each of these steps (size, m)."""
        from passerby.kernels.chain import recursions

        drawn = recursions.draw(self.chain.initial, self.chain.matrices, rng.random((size, len(self.sizes))))
        return np.asarray(drawn[:, self.active])

    def states_of(self, trace: Ints) -> Ints | None:
        """The state at each of these steps (m,) of a trace of the chain without memory; None if habits rule it out.

        The memory follows from earlier places, so one state at most can come after another.
        """
        out, now = [], np.flatnonzero(self.chain.initial > 0)
        for t, place in enumerate(trace.tolist()):
            if t:
                now = np.flatnonzero(self.chain.matrix(t - 1)[now[0]] > 0)
            now = now[now % self.base == place]
            if not len(now):
                return None
            out.append(int(now[0]))
        return np.array(out, dtype=np.int64)[self.active]

    def bridge(self, k: int, before: Ints, after: Ints) -> Floats:
        """Probabilities (n, C) of the classes of the k-th of these steps, given the states before and after it (n,).

        At an end of the chain, nothing beyond it plays a part. Zero if the two states do not go together.
        """
        towards = self.laws[:1] if k == 0 else self.moves[k - 1][before]
        both = self.by_class(k, towards if k == len(self.active) - 1 else towards * self.moves[k][:, after].T)
        both = np.broadcast_to(both, (len(before), both.shape[1]))
        total = both.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(both, total, out=np.zeros(both.shape), where=total > 0))

    @cached_property
    def uncertainty(self) -> Floats:
        """The uncertainty of the class at each step given the states around it (m,): `E[b (1 - b)]`."""
        if self.chain.states > _MOST_STATES:
            return np.ones(len(self.active))
        return np.array([self._uncertain(k) for k in range(len(self.active))])

    def _uncertain(self, k: int) -> float:
        last = len(self.active) - 1
        towards = self.laws[:1] if k == 0 else self.laws[k - 1][:, None] * self.moves[k - 1]
        total, squares = 0.0, 0.0
        whole = towards.sum(axis=1, keepdims=True) if k == last else towards @ self.moves[k]
        for c in range(len(self.bits[k])):
            states = np.flatnonzero(self.class_of[k] == c)
            some = towards[:, states]
            joint = some.sum(axis=1, keepdims=True) if k == last else some @ self.moves[k][states]
            total += float(joint.sum())
            squares += float(np.divide(joint**2, whole, out=np.zeros(whole.shape), where=whole > 0).sum())
        return max(0.0, total - squares)


@lru_cache(maxsize=4)
def passages(priors: tuple[MarkovPrior, ...], counts: Counts) -> tuple[Passage, ...]:
    """The passage of each of the others; people of the same habits share one. Remembered for now."""
    known: dict[int, Passage] = {}
    size = 0
    for prior in priors:
        if id(prior) not in known:
            known[id(prior)] = Passage.of(prior, counts)
            size += known[id(prior)].chain.matrices.size
        if size > MOST_NUMBERS:
            raise UnsupportedRelease(
                f"too much to remember of {len(priors):,} others: after {len(known):,} of them, their chains hold "
                f"{size:,} numbers; at most {int(MOST_NUMBERS):,} are possible: publish fewer zones, flows or kinds "
                "together, or give several others the same habits"
            )
    return tuple(known[id(prior)] for prior in priors)


def presences(priors: tuple[MarkovPrior, ...], counts: Counts) -> list[list[Floats]]:
    """For each of the others, the chance of being in each count of each step.

    If a chain cannot remember all counts, each is looked at by itself.
    """
    sizes = list(map(len, counts))
    try:
        every = [person.presence for person in passages(priors, counts)]
    except UnsupportedRelease:
        known = {id(prior): _one_by_one(prior, counts) for prior in priors}
        every = [known[id(prior)] for prior in priors]
    ends = np.cumsum(sizes)[:-1]
    return [[np.clip(step, 0.0, 1.0) for step in np.split(person, ends)] for person in every]


def _one_by_one(prior: MarkovPrior, counts: Counts) -> Floats:
    """How likely somebody is to be in each count (counts,), with no more remembered than one count needs."""
    steps = len(counts)
    single = (
        tuple((count,) if u == t else () for u in range(steps)) for t, step in enumerate(counts) for count in step
    )
    return np.concatenate([np.empty(0), *(Passage.of(prior, each).presence for each in single)])


def covariance_of(priors: tuple[MarkovPrior, ...], counts: Counts) -> Floats:
    """How the numbers of others of all counts go together (counts, counts)."""
    cells = sum(map(len, counts))
    people = passages(priors, counts)
    times = Counter(map(id, people))
    distinct = {id(person): person for person in people}
    return sum((times[name] * person.together for name, person in distinct.items()), np.zeros((cells, cells)))


def drawn_numbers(priors: tuple[MarkovPrior, ...], counts: Counts, size: int, rng: np.random.Generator) -> Ints:
    """Draw traces of all others, and count them (n, T, S)."""
    out = np.zeros((size, len(counts), max(map(len, counts), default=0)), dtype=np.int64)
    for prior in priors:
        traces = prior.sample(size, len(counts), rng)
        for t, step in enumerate(counts):
            for j, count in enumerate(step):
                out[:, t, j] += count.bits(traces)
    return out
