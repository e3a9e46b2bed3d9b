"""Side information on the others of any counts: it leaves the unknown rest independent from step to step.

For each of the others, the state of their chain with memory (`passage`) is told at every second step with a count. At a
step in between, a person is in one of several classes: its counts see no more of them. Two classes are assigned to the
person. If they are in neither, their class is told. So one bit is unknown. It moves the counts in which the two classes
differ: a *direction*, for each count +1, 0 or -1. Directions of a step are chosen so that no count is in two of them.
Only classes differing by one of them are assigned together. Then the numbers of others are

    known + Σ_g K_g σ_g,    K_g a sum of independent yes-or-no draws for direction σ_g,

with all K_g of all steps independent. For counts of single places each direction is one count, and this is the side
information of `sensors`.

Directions follow from habits, and assigned classes from habits and side information. Neither follows from the unknown
rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.mechanisms.laws import Sum
from passerby.model.count import mechanism_of
from passerby.model.counts import Count
from passerby.model.release import Release

from .bridges import Passage, coins, turns
from .numbers import add_person, poisson_binomial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: For each count of a step, whether a person moving along it is added, taken away, or neither.
Direction = tuple[int, ...]

#: The most table entries for the laws of all numbers together: with more people, everything is told of the rest.
_WORK = 2e9
#: Fewer unknown people than this are never asked for.
_FEWEST = 16
#: Of more classes at a step than this, the likeliest are compared with each other.
_MOST_CLASSES = 40


@dataclass(frozen=True, eq=False)
class SideInformation:
    """For each of n draws: the number of `others` in each count (n, T, S), and the side information on it.

    `known` (n, T, S) are told to be counted; `laws[t]` (n, directions at t, numbers) holds the probabilities of 0, 1,
    2, ... people more along each of the step's `directions`.
    """

    others: Ints
    known: Ints
    laws: list[Floats]
    directions: tuple[tuple[Direction, ...], ...]

    def __len__(self) -> int:
        return len(self.others)

    def draw(self, size: int, rng: np.random.Generator) -> SideInformation:
        """For one piece of side information: draws of the unknown numbers."""
        known = np.repeat(self.known[:1], size, axis=0)
        others, laws = known.copy(), [np.repeat(law[:1], size, axis=0) for law in self.laws]
        for t, step in enumerate(self.directions):
            for g, direction in enumerate(step):
                law = self.laws[t][0, g]
                more = rng.choice(len(law), size, p=law / law.sum())
                others[:, t, : len(direction)] += more[:, None] * np.array(direction)
        return SideInformation(others, known, laws, self.directions)

    def publish(self, release: Release, traces: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw the published values for a trace of the target (n, T) and each draw of the others: (n, T, S)."""
        return release.published(self.others + release.there(traces), rng)

    def values(self, release: Release) -> list[Floats | None]:
        """Of one that was told: the values that each count may have, in order; None for a continuum."""
        out: list[Floats | None] = []
        for t, step in enumerate(release.counts):
            moves = {
                int(j): sign * more
                for group in self.groups(t, len(step))
                for more in [np.flatnonzero(group.law[0])]
                for j, sign in zip(group.counts, group.signs, strict=True)
            }
            for j, count in enumerate(step):
                each = [mechanism_of(count).outputs(int(n)) for n in self.known[0, t, j] + moves[j]]
                finite = [values for values in each if values is not None]
                out.append(np.unique(np.concatenate(finite)) if len(finite) == len(each) else None)
        return out

    def evidence(self, release: Release, published: Floats) -> Floats:
        """Log-likelihoods (n, T, C) of series (n, T, S), by the class of the target, to somebody who is told."""
        sees = release.sees
        out = np.zeros((*published.shape[:2], sees.shape[1]))
        for t, step in enumerate(release.counts):
            for group in self.groups(t, len(step)):
                rows, which = np.unique(sees[t][:, group.counts], axis=0, return_inverse=True)
                found = np.stack([self._likelihood(step, published[:, t], t, group, row) for row in rows], axis=1)
                out[:, t] += found[:, which.reshape(-1)]
        return out

    def groups(self, t: int, counts: int) -> Iterator[Group]:
        """The counts of a step that move together, and each of the others by itself, of which the number is known."""
        moving = np.array(self.directions[t], dtype=np.int64).reshape(len(self.directions[t]), counts)
        for g, direction in enumerate(moving):
            law = self.laws[t][:, g]
            there = np.flatnonzero(law.any(axis=0))
            yield Group(np.flatnonzero(direction), direction[direction != 0], law[:, : there[-1] + 1])
        for j in np.flatnonzero(~moving.any(axis=0)):
            yield Group(np.array([j]), np.zeros(1, dtype=np.int64), np.ones((len(self), 1)))

    def _likelihood(self, counts: Sequence[Count], published: Floats, t: int, group: Group, bits: Ints) -> Floats:
        """Of the values (n, S) of a step's counts, those of a group (n,), for a target who is in those of `bits`."""
        with np.errstate(divide="ignore"):
            total = np.log(group.law)
        more = np.arange(group.law.shape[1])
        for j, sign, bit in zip(group.counts.tolist(), group.signs.tolist(), bits.tolist(), strict=True):
            # If so many more are impossible, the law says so.
            numbers = np.maximum(self.known[:, t, j, None] + sign * more, 0) + bit
            total = total + mechanism_of(counts[j]).log_likelihood(published[:, j, None], numbers)
        return np.asarray(np.logaddexp.reduce(total, axis=1))


class Group(NamedTuple):
    """Counts that move together, by these `signs`; `law` (n, numbers) tells how many are more."""

    counts: Ints
    signs: Ints
    law: Floats


def as_table(sums: Sequence[Sum]) -> Floats:
    """Laws of numbers along each direction of a step, in one table (1, directions, numbers)."""
    out = np.zeros((1, len(sums), max((first + len(law) for first, law in sums), default=1)))
    for g, (first, law) in enumerate(sums):
        out[0, g, first : first + len(law)] = law
    return out


def often_of(people: Sequence[Passage], k: int) -> dict[tuple[int, ...], float]:
    """The expected number of people in each class at the k-th step with a count, by the counts of the class."""
    out: dict[tuple[int, ...], float] = {}
    for person in people:
        person.add_often(k, out)
    return out


def directions_of(often: Mapping[tuple[int, ...], float]) -> tuple[Direction, ...]:
    """The directions of a step, by how many people are expected in each class: no count is in two of them.

    The directions with the largest uncertainty for each count they take up come first.

    >>> directions_of({(1, 0): 5.0, (0, 1): 4.0, (0, 0): 6.0}), directions_of({(1, 0): 5.0, (0, 1): 4.0})
    (((1, 0), (0, 1)), ((1, -1),))
    """
    likely = sorted((row for row in often if often[row] > 0), key=lambda row: (-often[row], row))[:_MOST_CLASSES]
    worth: dict[Direction, float] = {}
    for i, one in enumerate(likely):
        for two in likely[i + 1 :]:
            way = signed(one, two)[0]
            open_ = often[one] * often[two] / (often[one] + often[two])
            worth[way] = worth.get(way, 0.0) + open_ / sum(map(abs, way))
    out: list[Direction] = []
    for way in sorted(worth, key=lambda way: (-worth[way], way)):
        if not any(a and b for other in out for a, b in zip(way, other, strict=True)):
            out.append(way)
    return tuple(out)


def signed(one: Sequence[int], two: Sequence[int]) -> tuple[Direction, bool]:
    """The difference of two classes, with the first difference upwards, and whether the first class is up.

    >>> signed((0, 1, 1), (1, 1, 0))
    ((1, 0, -1), False)
    """
    way = tuple(a - b for a, b in zip(one, two, strict=True))
    up = next((x for x in way if x), 1) > 0
    return (way if up else tuple(-x for x in way)), up


class Pairs(NamedTuple):
    """Possible pairs of assigned classes (P,): the upper one, the lower one, and their direction."""

    upper: Ints
    lower: Ints
    direction: Ints


def pairs_of(bits: Ints, directions: Sequence[Direction]) -> Pairs:
    """The pairs of one person at a step, by the counts of each class (C, S)."""
    number = {way: g for g, way in enumerate(directions)}
    rows, found = list(map(tuple, bits.tolist())), []
    for i in range(len(rows)):
        for j in range(i):
            way, up = signed(rows[i], rows[j])
            if way in number:
                found.append((i, j, number[way]) if up else (j, i, number[way]))
    return Pairs(*np.array(found, dtype=np.int64).reshape(-1, 3).T)


class Left(NamedTuple):
    """For a person at a step with an untold state: the part told all the same, and the part left open.

    `known` (n, S) are the person's told counts. `chance` (n, directions) is the chance of one more person along each
    direction.
    """

    known: Ints
    chance: Floats


def left_open(bits: Ints, pairs: Pairs, directions: int, bridge: Floats, actual: Ints, coin: float) -> Left:
    """Assign two classes to a person by the probabilities of each (n, C), and tell of the `actual` class (n,) the rest.

    In proportion to the open part of each two, by a `coin` in [0, 1) independent of their places.
    """
    n = len(actual)
    chance = np.zeros((n, directions))
    if not len(pairs.upper):
        return Left(bits[actual], chance)
    chosen, open_ = assigned(bridge, pairs, coin)
    upper, lower = pairs.upper[chosen], pairs.lower[chosen]
    inside = open_ & ((actual == upper) | (actual == lower))
    rows = np.arange(n)
    top, low = bridge[rows, upper], bridge[rows, lower]
    chance[rows, pairs.direction[chosen]] = np.where(inside, top / np.where(open_, top + low, 1.0), 0.0)
    return Left(np.where(inside[:, None], bits[lower], bits[actual]), chance)


def assigned(bridge: Floats, pairs: Pairs, coin: float) -> tuple[Ints, NDArray[np.bool_]]:
    """The two assigned classes (n,), and whether anything is open between them (n,)."""
    one, two = bridge[:, pairs.upper], bridge[:, pairs.lower]
    total = one + two
    edges = np.cumsum(np.divide(one * two, total, out=np.zeros(total.shape), where=total > 0), axis=1)
    chosen = np.minimum((edges <= coin * edges[:, -1:]).sum(axis=1), len(pairs.upper) - 1)
    rows = np.arange(len(bridge))
    return chosen, np.asarray((one[rows, chosen] > 0) & (two[rows, chosen] > 0))


def draw_side_information(people: Sequence[Passage], size: int, rng: np.random.Generator) -> SideInformation:
    """Draw everybody's traces, and their side information."""
    sizes = people[0].sizes
    active = people[0].active
    others, known = (np.zeros((size, len(sizes), max(sizes)), dtype=np.int64) for _ in range(2))
    plan = [directions_of(often_of(people, k)) for k in range(len(active))]
    turn = turns(people, max(_FEWEST, int(math.sqrt(_WORK / (size * max(1, sum(sizes)))))))
    coin = coins(len(people), len(active))
    laws = [np.ones((size, 0, 1)) for _ in sizes]
    for k, t in enumerate(active):
        unknown = sum(int(told >= 0 and k % 2 != told) for told in turn)
        laws[t] = np.zeros((size, len(plan[k]), unknown + 1))
        laws[t][..., 0] = 1.0
    pairs: dict[tuple[int, int], Pairs] = {}
    nowhere = np.zeros(size, dtype=np.int64)
    for i, person in enumerate(people):
        states = person.sample(size, rng)
        for k, t in enumerate(active):
            actual, here = person.class_of[k][states[:, k]], np.s_[:, t, : sizes[t]]
            others[here] += person.bits[k][actual]
            if turn[i] < 0 or k % 2 == turn[i]:
                known[here] += person.bits[k][actual]
                continue
            before = states[:, k - 1] if k else nowhere
            after = states[:, k + 1] if k + 1 < len(active) else nowhere
            # People of the same habits share a passage.
            if (id(person), k) not in pairs:
                pairs[id(person), k] = pairs_of(person.bits[k], plan[k])
            mine, bridge = pairs[id(person), k], person.bridge(k, before, after)
            left = left_open(person.bits[k], mine, len(plan[k]), bridge, actual, float(coin[i, k]))
            known[here] += left.known
            add_person(laws[t], left.chance)
    return SideInformation(others, known, laws, in_order(plan, active, len(sizes)))


def in_order(
    plan: Sequence[tuple[Direction, ...]], active: Sequence[int], steps: int
) -> tuple[tuple[Direction, ...], ...]:
    """The directions of all steps, from the directions of the steps with a count."""
    at = dict(zip(active, plan, strict=True))
    return tuple(at.get(t, ()) for t in range(steps))


#: More ways of one person to be told are not listed.
_MOST_WAYS = 2000


class Told(NamedTuple):
    """Side information on some people at a step: their counts, and chances of one more along each direction."""

    known: tuple[int, ...]
    chances: tuple[tuple[float, ...], ...]

    def and_of(self, other: Told) -> Told:
        """The side information on both groups of people."""
        known = tuple(a + b for a, b in zip(self.known, other.known, strict=True))
        chances = tuple(tuple(sorted((*a, *b))) for a, b in zip(self.chances, other.chances, strict=True))
        return Told(known, chances)


#: Side information on some people at all steps with a count.
Way = tuple[Told, ...]


def list_side_information(people: Sequence[Passage], most: int) -> list[tuple[float, SideInformation]] | None:
    """All possible side information, each with its probability; None if it is more than `most`.

    Side information leaving the same laws is lumped.
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


def _in_form(
    way: Way, active: Sequence[int], sizes: Sequence[int], plan: Sequence[tuple[Direction, ...]]
) -> SideInformation:
    known = np.zeros((1, len(sizes), max(sizes)), dtype=np.int64)
    laws = [np.ones((1, 0, 1)) for _ in sizes]
    for t, told in zip(active, way, strict=True):
        known[0, t, : sizes[t]] = told.known
        laws[t] = as_table([poisson_binomial(each) for each in told.chances])
    return SideInformation(known, known, laws, in_order(plan, active, len(sizes)))


def _ways(person: Passage, plan: Sequence[tuple[Direction, ...]], turn: int, coin: Floats) -> dict[Way, float] | None:
    """Possible side information on one person, and its probability."""
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
    """The probability of these states at these of the steps with a count."""
    law = person.laws[0].copy()
    for k in range(len(person.active)):
        law = law @ person.moves[k - 1] if k else law
        if k in at:
            law = np.where(np.arange(len(law)) == at[k], law, 0.0)
    return float(law.sum())


def _at_step(
    person: Passage, k: int, directions: tuple[Direction, ...], at: dict[int, int], coin: float
) -> list[tuple[float, Told]]:
    """Possible side information at the k-th step, with its probability."""
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
            # Chances differing by rounding alone are lumped, so side information leaving the same laws is lumped.
            chance = float(f"{law[upper] / both:.14g}")
            out.append((both, Told(rows[lower], tuple((chance,) if i == g else () for i in range(len(directions))))))
    out += [(float(p), Told(rows[c], nothing)) for c, p in enumerate(law) if p > 0 and c not in inside]
    return out
