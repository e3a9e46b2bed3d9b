"""Everybody else at counted places, to an adversary with their habits alone: laws of numbers, added up over blocks.

By habits, each person is in each count with a chance of their own. The number at one count is a sum of independent
draws, but numbers at different counts are about the same people. A stronger adversary is *told* the real places of each
of the others at every second step. For this one, numbers at different counts are independent of each other
(`others.bridges`). This adversary finds no less, so the result bounds the evidence for habits alone. The name of a
person alone decides the steps to be told, so they are the same in all divisions into blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.mechanisms import Mechanism
from passerby.mechanisms.base import table
from passerby.mechanisms.laws import Sum, added, same
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.bridges import assigned, remaining
from passerby.others.counted import states_by_place
from passerby.others.numbers import add_person
from passerby.people.habits import People

from .person import stream_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Zone = tuple[int, ...]

#: People whose laws are worked out together, before they are added to the others.
GROUP = 64


def cells_of(release: Release) -> list[tuple[int, Zone]] | None:
    """The step and the places of each count, if counts are of people present, at each step in one at most.

    None for other counts: flows, visitors of windows, and overlapping zones.
    """
    if release.reveals:
        return [(t, (place,)) for t, step in enumerate(release.sensors) for place in step]
    if not all(count.snapshot for count in release.listed):
        return None
    cells = [(count.read, count.zones[0]) for count in release.listed]
    seen = [(t, place) for t, zone in cells for place in zone]
    return cells if len(set(seen)) == len(seen) else None


@dataclass(frozen=True, eq=False)
class Habitual:
    """One person in each count: the chance by habits, whether they are told to be there, and the chance if not."""

    chance: Floats
    known: NDArray[np.bool_]
    left: Floats


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of people in each count (C,): laws by habits and with told steps, known people, and real numbers.

    Both laws are about people with habits; `known` of them are told to be there, and `there` really were.
    """

    habits: tuple[Sum, ...]
    told: tuple[Sum, ...]
    known: Ints
    there: Ints

    def __add__(self, other: Numbers) -> Numbers:
        """Of both together."""
        habits, told = (
            tuple(added(a, b) for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in ((self.habits, other.habits), (self.told, other.told))
        )
        return Numbers(habits, told, self.known + other.known, self.there + other.there)


class Seats(NamedTuple):
    """Of each person (N,) in each count (N, C): chances by habits, with told steps, told to be there, and really there.

    `coin` (N,) decides whether somebody with a share of all people knows this one (`coin_of`).
    """

    chance: Floats
    left: Floats
    known: Ints
    there: Ints
    coin: Floats

    @classmethod
    def of(cls, release: Release, people: People) -> Seats:
        """The seats of the people of a block."""
        rows = list(habitual(people, release, range(len(people))))
        cells = cells_of(release) or []
        there = np.array([[row[t] in zone for t, zone in cells] for row in people.actual.tolist()], dtype=np.int64)
        chance, known, left = (
            np.array([getattr(row, name) for row in rows]).reshape(len(rows), len(cells))
            for name in ("chance", "known", "left")
        )
        coin = np.array([coin_of(name) for name in people.ids.to_list()])
        return cls(chance, left, known.astype(np.int64), there.reshape(len(rows), len(cells)), coin)


def block_numbers(release: Release, people: People) -> Numbers:
    """The numbers of the people of a block."""
    return numbers_by_share([Seats.of(release, people)], (0.0,))[0]


def numbers_by_share(blocks: Iterable[Seats], shares: Sequence[float]) -> list[Numbers]:
    """The numbers of people unknown to somebody who knows such shares of all people.

    People are added in groups of one size, counted over all blocks, so the last digit does not depend on the blocks.
    """
    groups = ([_numbers(group, share) for share in shares] for group in _groups(blocks))
    return reduce(lambda one, other: [a + b for a, b in zip(one, other, strict=True)], groups)


def _groups(blocks: Iterable[Seats]) -> Iterator[Seats]:
    """The same people in groups of one size; the last one may be smaller."""
    rest: Seats | None = None
    for block in blocks:
        both = block if rest is None else Seats._make(map(np.concatenate, zip(rest, block, strict=True)))
        full = len(both.coin) // GROUP * GROUP
        for first in range(0, full, GROUP):
            yield Seats._make(each[first : first + GROUP] for each in both)
        rest = Seats._make(each[full:] for each in both)
    if rest is not None:
        yield rest


def _numbers(seats: Seats, share: float) -> Numbers:
    some = seats.coin >= share
    total = (each[some].sum(axis=0) for each in (seats.known, seats.there))
    return Numbers(_laws(seats.chance[some]), _laws(seats.left[some]), *total)


def coin_of(name: object) -> float:
    """A number in [0, 1) that follows from a name alone: who knows a share above it of all people knows this one."""
    return float(np.random.default_rng([*stream_of(0, name), 27]).random())


def _laws(chances: Floats) -> tuple[Sum, ...]:
    """The law of the number of people in each count, of so many with chances (N, C) of their own."""
    law = np.zeros((chances.shape[1], len(chances) + 1))
    law[:, 0] = 1.0
    for row in chances:
        add_person(law, row)
    # Adding nobody cuts the tails off.
    return tuple(added((0, row), (0, np.ones(1))) for row in law)


def habitual(people: People, release: Release, numbers: Sequence[int]) -> Iterator[Habitual]:
    """Some people in each count of a release; habits are the habits of doing as usual."""
    usual, cells = people.usual, cells_of(release) or []
    zones = None if release.reveals else release.alike(len(people.places))
    sensed = [] if zones is not None else sorted({place for _, zone in cells for place in zone})
    grid = _Grid.of(cells)
    for person in numbers:
        prior, places = usual.prior(person, sensed, zones=zones)
        state_of = states_by_place(places, len(people.places), zones)
        inside = np.zeros((len(cells), prior.states))
        inside[grid.cell, state_of[grid.place]] = 1.0
        trace = state_of[people.actual[person]]
        yield _Steps(prior, grid, inside, release.steps).habitual(trace, people.ids[person])


@dataclass(frozen=True, eq=False)
class _Grid:
    """Counts by step: the step of each (C,), steps with counts (m,), and the counts of each of these (m, S), -1: none.

    `cell` and `place` list every place of every count.
    """

    step: Ints
    active: list[int]
    columns: Ints
    cell: Ints
    place: Ints

    @classmethod
    def of(cls, cells: list[tuple[int, Zone]]) -> _Grid:
        """The counts of a release."""
        step = np.array([t for t, _ in cells], dtype=np.int64)
        active = sorted(set(step.tolist()))
        found = [np.flatnonzero(step == t) for t in active]
        columns = np.full((len(active), max(map(len, found), default=0)), -1, dtype=np.int64)
        for row, own in zip(columns, found, strict=True):
            row[: len(own)] = own
        flat = [(c, place) for c, (_, zone) in enumerate(cells) for place in zone]
        cell, place = np.array(flat, dtype=np.int64).reshape(-1, 2).T
        return cls(step, active, columns, cell, place)


@dataclass(frozen=True, eq=False)
class _Steps:
    """One chain at the steps with a count: the states in each count (C, M)."""

    prior: MarkovPrior
    grid: _Grid
    inside: Floats
    steps: int

    def habitual(self, trace: Ints, name: object) -> Habitual:
        """The person with the real trace of states (T,)."""
        law, of_step, active = self.prior.marginals(self.steps), self.grid.step, self.grid.active
        chance = np.clip((law[of_step] * self.inside).sum(axis=1), 0.0, 1.0)
        there = self.inside[np.arange(len(of_step)), trace[of_step]] > 0
        known, left = there.copy(), np.zeros(len(of_step))
        # Only a name decides the told steps of a person, and their open counts.
        rng = np.random.default_rng(stream_of(0, name))
        turn, coin = int(rng.integers(2)), rng.random(len(active))
        unknown = [k for k in range(len(active)) if k % 2 != turn]
        if not unknown:
            return Habitual(chance, known, left)
        both = np.array([self._between(k, law, trace) for k in unknown])
        # A person at a place their habits never lead to is told at once.
        total = both.sum(axis=1)
        open_ = total > 0
        columns = self.grid.columns[unknown][open_]
        here = columns >= 0
        at = np.where(here, columns, 0)
        bridge = ((both / np.where(open_, total, 1.0)[:, None])[open_][:, None, :] * self.inside[at]).sum(axis=2)
        bridge = np.clip(bridge, 0.0, 1.0) * here
        chosen = np.minimum(assigned(bridge, coin[unknown][open_][:, None]), here.sum(axis=1) - 1)
        mine = np.arange(columns.shape[1]) == chosen[:, None]
        told = there[at] & ~mine & here
        open_left = np.where(told.any(axis=1), 0.0, remaining(bridge, chosen))[:, None] * mine
        known[columns[here]], left[columns[here]] = told[here], open_left[here]
        return Habitual(chance, known, left)

    def _between(self, k: int, law: Floats, trace: Ints) -> Floats:
        """The joint probability of each state of a step with the states at the neighbouring steps with counts (M,)."""
        active = self.grid.active
        towards = law[active[0]] if k == 0 else self._move(active[k - 1], active[k])[trace[active[k - 1]]]
        last = k == len(active) - 1
        return np.asarray(towards if last else towards * self._move(active[k], active[k + 1])[:, trace[active[k + 1]]])

    def _move(self, first: int, last: int) -> Floats:
        out = self.prior.matrix(first)
        for t in range(first + 1, last):
            out = out @ self.prior.matrix(t)
        return np.asarray(out)


@dataclass(frozen=True, eq=False)
class Table:
    """Laws of the numbers at all counts: `chances` (C, K) of `least` (C,), one more, two more and so on."""

    least: Ints
    chances: Floats

    @classmethod
    def of(cls, laws: Sequence[Sum]) -> Table:
        """Laws side by side."""
        width = max((len(chances) for _, chances in laws), default=1)
        table = np.zeros((len(laws), width))
        for row, (_, chances) in zip(table, laws, strict=True):
            row[: len(chances)] = chances
        return cls(np.array([least for least, _ in laws], dtype=np.int64), table)

    def without(self, chance: Floats) -> Table:
        """The laws without one person, there with these chances (C,): the inverse of adding them.

        They are solved from below for chances up to one half and from above otherwise, so errors do not grow.

        >>> table = Table.of([(0, np.array([0.08, 0.74, 0.18]))])
        >>> table.without(np.array([0.9])).chances.round(6)[0, :2]
        array([0.8, 0.2])
        """
        up = chance <= 0.5
        stay, move = np.where(up, 1 - chance, chance), np.where(up, chance, 1 - chance)
        size = (self.chances > 0).cumsum(axis=1).argmax(axis=1) + 1
        width, columns = self.chances.shape[1], np.arange(self.chances.shape[1])
        turned = np.where(up[:, None], columns, size[:, None] - 1 - columns)
        source = np.where(turned >= 0, np.take_along_axis(self.chances, np.maximum(turned, 0), axis=1), 0.0)
        out, before = np.zeros_like(source), np.zeros(len(source))
        for k in range(width):
            before = np.maximum(0.0, (source[:, k] - move * before) / stay)
            out[:, k] = before = np.where(before > 1e-15, before, 0.0)  # what is below comes from rounding
        back = np.where(turned >= 0, np.take_along_axis(out, np.maximum(turned, 0), axis=1), 0.0)
        # Counted from above, the least number is one less.
        least = np.where(up, self.least, self.least - 1)
        sure = chance == 0
        back = np.where(sure[:, None], self.chances, back)
        return Table(np.where(sure, self.least, least), back / back.sum(axis=1, keepdims=True))._aligned()

    def _aligned(self) -> Table:
        """With a chance above 0 in the first column."""
        first = (self.chances > 0).argmax(axis=1)
        columns = np.arange(self.chances.shape[1]) + first[:, None]
        inside = columns < self.chances.shape[1]
        moved = np.take_along_axis(self.chances, np.minimum(columns, self.chances.shape[1] - 1), axis=1)
        return Table(self.least + first, np.where(inside, moved, 0.0))

    def at(self, cell: int) -> Sum:
        """The law of one count."""
        row = self.chances[cell]
        return int(self.least[cell]), row[: int(np.flatnonzero(row)[-1]) + 1]

    def some(self, columns: Ints) -> Table:
        """The laws of some counts."""
        return Table(self.least[columns], self.chances[columns])

    def gaps(self, numbers: Ints, size: int) -> Floats:
        """`log Pr[K + size = k] - log Pr[K = k]` of numbers k (n, C), NaN if both are impossible."""
        ends, more = np.zeros((len(self.chances), size)), np.zeros((len(self.chances), 1))
        # Column 0 and the last one cover all numbers below and above.
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.log(np.hstack([more, ends, self.chances, more])) - np.log(
                np.hstack([more, self.chances, ends, more])
            )
        k = np.clip(numbers - (self.least - 1), 0, gap.shape[1] - 1)
        return np.asarray(np.take(gap.reshape(-1), k + np.arange(len(gap)) * gap.shape[1]))

    def draw(self, size: int, rng: np.random.Generator) -> Ints:
        """Draw numbers (n, C), each by itself."""
        edges = np.cumsum(self.chances, axis=1)
        coin = rng.random((size, len(edges))) * edges[:, -1]
        found = [np.searchsorted(row, mine, side="right") for row, mine in zip(edges, coin.T, strict=True)]
        last = (self.chances > 0).cumsum(axis=1).argmax(axis=1)
        numbers: Ints = self.least + np.minimum(np.array(found, dtype=np.int64).reshape(len(edges), size).T, last)
        return numbers


def likely(way: Mechanism, values: Floats, counts: Ints, chances: Floats) -> Floats:
    """How likely each of some values (n,), in increasing order, is published of a count with such chances.

    >>> from passerby import Rounding
    >>> likely(Rounding(5), np.array([0.0, 5.0]), np.arange(2, 4), np.array([0.25, 0.75]))
    array([0.25, 0.75])
    """
    ruled = by_rule(way, counts)
    if ruled is None:
        return np.asarray(np.exp(way.log_likelihood(values[:, None], counts)) @ chances)
    at = np.minimum(np.searchsorted(values, ruled), len(values) - 1)
    chance = np.where(same(values[at], ruled), chances, 0.0)
    return np.bincount(at, weights=chance, minlength=len(values)).astype(np.float64)


def by_rule(way: Mechanism, counts: Ints) -> Floats | None:
    """What is published of each count where that follows from it; None where chance has a part in it."""
    if not way.discrete:
        return None
    laws = [table(way, float(count)) for count in counts.tolist()]
    return np.array([values[0] for values, _ in laws]) if all(len(values) == 1 for values, _ in laws) else None


#: Log ratios beyond this are as good as certain.
CERTAIN = 700.0


def published(ways: Sequence[Mechanism], numbers: Ints, rng: np.random.Generator) -> Floats:
    """What is published of true numbers (n, C), each count in its way; counts of one way are drawn at once."""
    if all(way.raw for way in ways):
        return numbers.astype(np.float64)
    if all(way == ways[0] for way in ways):
        return np.asarray(ways[0].sample(numbers, rng), dtype=np.float64)
    return np.array([way.sample(numbers[:, c], rng) for c, way in enumerate(ways)], dtype=np.float64).T


def log_ratios(
    table: Table, offset: Ints, values: Floats, ways: Sequence[Mechanism], size: int, grid: int | None = None
) -> Floats:
    """`log Pr[value | with the person] - log Pr[value | without]` (n, C) of values (n, C) of all counts.

    A `grid` is for scores alone, which may be anything: of more values than that, some are worked out.
    """
    plain = np.array([way.raw for way in ways], dtype=bool)
    if plain.all():
        gap = table.gaps(values.astype(np.int64) - offset, size)
        return np.minimum(np.where(np.isnan(gap), 0.0, gap), CERTAIN)
    gap = np.empty(values.shape)
    for c, way in enumerate(ways):
        least, chances = table.at(c)
        found, number = np.unique(values[:, c], return_inverse=True)
        some = found if grid is None or len(found) <= grid else np.linspace(found[0], found[-1], grid)
        counts = offset[c] + least + np.arange(len(chances))
        without, with_them = (likely(way, some, counts + more, chances) for more in (0, size))
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.log(with_them) - np.log(without)
        if some is not found:
            each = np.interp(found, some, np.nan_to_num(each, nan=0.0, posinf=CERTAIN, neginf=-CERTAIN))
        gap[:, c] = each[number.reshape(-1)]
    return np.minimum(np.where(np.isnan(gap), 0.0, gap), CERTAIN)
