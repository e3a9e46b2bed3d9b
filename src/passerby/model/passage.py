"""Others known by their habits, where counts are of any kind: their chains with memory, at the steps that have counts.

A flow or a window of visitors is about several steps. With what it needs to remember (`memory.remember`) a chain is
Markov again, and every count is about its state at the one step at which it is read. So all that holds of sensors holds
of these states: told the state at every second step that has a count, what lies between is independent, with the bridge
probabilities of `bridges`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease

from .counts import Count
from .memory import Watch, remember
from .prior import MarkovPrior, state_laws

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = tuple[tuple[Count, ...], ...]

#: Numbers that the matrices of all chains may hold together.
MOST_NUMBERS = 2e8
#: Chains of more states than this are not asked where they are uncertain.
_MOST_STATES = 200


@dataclass(frozen=True, eq=False)
class Passage:
    """A chain with memory (states,), what its counts see (`watch`), and how many counts each step has (T,)."""

    chain: MarkovPrior
    watch: Watch
    sizes: tuple[int, ...]
    #: How many states the chain has without memory.
    base: int

    @classmethod
    def of(cls, prior: MarkovPrior, counts: Counts) -> Passage:
        """Of one person's habits, and counts by the step at which each is read."""
        chain, watch = remember(prior, counts)
        return cls(chain, watch, tuple(map(len, counts)), prior.states)

    @cached_property
    def active(self) -> list[int]:
        """The steps that have a count (m,)."""
        return [t for t, size in enumerate(self.sizes) if size]

    @cached_property
    def class_of(self) -> list[Ints]:
        """The class of each state at each of these steps: (m) of (M,)."""
        return [self.watch.classes[t] for t in self.active]

    @cached_property
    def bits(self) -> list[Ints]:
        """Whether each count of these steps counts those of each class: (m) of (C, S)."""
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
        """Values of states (..., M) at the k-th of these steps, added up over those of each class (..., C)."""
        one = self.class_of[k][:, None] == np.arange(len(self.bits[k]))
        return np.asarray(values @ one)

    def class_law(self, k: int) -> Floats:
        """The law of the class at the k-th of these steps (C,)."""
        return self.by_class(k, self.laws[k])

    def add_often(self, k: int, often: dict[tuple[int, ...], float]) -> None:
        """Add the law of the class at the k-th of these steps to what is expected, by what each class is counted in."""
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
        from passerby.kernels import chain

        drawn = chain.draw(self.chain.initial, self.chain.matrices, rng.random((size, len(self.sizes))))
        return np.asarray(drawn[:, self.active])

    def states_of(self, trace: Ints) -> Ints | None:
        """The state at each of these steps (m,) of a trace of the chain without memory; None where habits rule it out.

        What is remembered follows from where somebody was, so that one state at most can come after another.
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

        At an end of the chain, what is beyond it plays no part. Zero where the two states do not go together.
        """
        towards = self.laws[:1] if k == 0 else self.moves[k - 1][before]
        both = self.by_class(k, towards if k == len(self.active) - 1 else towards * self.moves[k][:, after].T)
        both = np.broadcast_to(both, (len(before), both.shape[1]))
        total = both.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(both, total, out=np.zeros(both.shape), where=total > 0))

    @cached_property
    def uncertainty(self) -> Floats:
        """How uncertain the class is at each step to one who is told the states around it (m,): `E[b (1 - b)]`."""
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
    """The passage of each of the others; people of the same habits share one. Remembered for those of the moment."""
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
    """For each of the others, how likely they are to be in each count of each step.

    Where a chain cannot remember all counts, each is looked at by itself.
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
