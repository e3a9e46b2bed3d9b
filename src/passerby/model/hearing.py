"""All that can be told about the others of any counts (`witness`), where it is little enough to be listed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .bridges import coins, turns
from .headcount import poisson_binomial
from .passage import Passage
from .witness import Direction, Witness, as_table, assigned, directions_of, in_order, often_of, pairs_of

Floats = NDArray[np.float64]

#: More ways of one person to be told are not listed.
_MOST_WAYS = 2000


class Told(NamedTuple):
    """What is told of some people at a step: the counts they are in, and chances of one more along each direction."""

    known: tuple[int, ...]
    chances: tuple[tuple[float, ...], ...]

    def and_of(self, other: Told) -> Told:
        """Of these people and those."""
        known = tuple(a + b for a, b in zip(self.known, other.known, strict=True))
        chances = tuple(tuple(sorted((*a, *b))) for a, b in zip(self.chances, other.chances, strict=True))
        return Told(known, chances)


#: What is told of some people at all steps that have a count.
Way = tuple[Told, ...]


def list_witness(people: Sequence[Passage], most: int) -> list[tuple[float, Witness]] | None:
    """All that can be told, each with its probability; None where it is more than `most`.

    What leaves the same laws is one.
    """
    active, sizes = people[0].active, people[0].sizes
    plan = [directions_of(often_of(people, k)) for k in range(len(active))]
    turn, coin = turns(people, len(people)), coins(len(people), len(active))
    nobody = tuple(Told((0,) * sizes[t], ((),) * len(plan[k])) for k, t in enumerate(active))
    ways: dict[Way, float] = {nobody: 1.0}
    for i, person in enumerate(people):
        mine = _ways(person, plan, int(turn[i]), coin[i])
        if mine is None:
            return None
        after: dict[Way, float] = {}
        for (told, p), (own, q) in product(ways.items(), mine.items()):
            key = tuple(a.and_of(b) for a, b in zip(told, own, strict=True))
            after[key] = after.get(key, 0.0) + p * q
            if len(after) > most:
                return None
        ways = after
    return [(p, _in_form(way, active, sizes, plan)) for way, p in ways.items()]


def _in_form(way: Way, active: Sequence[int], sizes: Sequence[int], plan: Sequence[tuple[Direction, ...]]) -> Witness:
    known = np.zeros((1, len(sizes), max(sizes)), dtype=np.int64)
    laws = [np.ones((1, 0, 1)) for _ in sizes]
    for t, told in zip(active, way, strict=True):
        known[0, t, : sizes[t]] = told.known
        laws[t] = as_table([poisson_binomial(each) for each in told.chances])
    return Witness(known, known, laws, in_order(plan, active, len(sizes)))


def _ways(person: Passage, plan: Sequence[tuple[Direction, ...]], turn: int, coin: Floats) -> dict[Way, float] | None:
    """What can be told of one person, and how likely it is."""
    m = len(person.active)
    told = [k for k in range(m) if k % 2 == turn]
    possible = [np.flatnonzero(person.laws[k] > 0).tolist() for k in told]
    if math.prod(map(len, possible)) > _MOST_WAYS:
        return None
    out: dict[Way, float] = {}
    for where in product(*possible):
        at = dict(zip(told, where, strict=True))
        p = _chance(person, at)
        if p > 0:
            steps = [_at_step(person, k, plan[k], at, float(coin[k])) for k in range(m)]
            if math.prod(map(len, steps)) > _MOST_WAYS:
                return None
            for parts in product(*steps):
                key = tuple(part for _, part in parts)
                out[key] = out.get(key, 0.0) + p * math.prod(q for q, _ in parts)
    return out


def _chance(person: Passage, at: dict[int, int]) -> float:
    """The probability of these states at these of the steps that have a count."""
    law = person.laws[0].copy()
    for k in range(len(person.active)):
        law = law @ person.moves[k - 1] if k else law
        if k in at:
            law = np.where(np.arange(len(law)) == at[k], law, 0.0)
    return float(law.sum())


def _at_step(
    person: Passage, k: int, directions: tuple[Direction, ...], at: dict[int, int], coin: float
) -> list[tuple[float, Told]]:
    """What can be told of the k-th step, with its probability."""
    bits, nothing = person.bits[k], ((),) * len(directions)
    rows = [tuple(row) for row in bits.tolist()]
    if k in at:
        return [(1.0, Told(rows[person.class_of[k][at[k]]], nothing))]
    bridge = person.bridge(k, *(np.array([at.get(j, 0)]) for j in (k - 1, k + 1)))
    pairs, law = pairs_of(bits, directions), bridge[0]
    inside: set[int] = set()
    out = []
    if len(pairs.upper):
        chosen, open_ = (each[0] for each in assigned(bridge, pairs, coin))
        if open_:
            upper, lower, g = (int(each[chosen]) for each in pairs)
            inside, both = {upper, lower}, float(law[upper] + law[lower])
            # Chances that differ by rounding alone are one, so that ways to be told which leave the same are one.
            chance = float(f"{law[upper] / both:.14g}")
            out.append((both, Told(rows[lower], tuple((chance,) if i == g else () for i in range(len(directions))))))
    out += [(float(p), Told(rows[c], nothing)) for c, p in enumerate(law) if p > 0 and c not in inside]
    return out
