"""People from a public table: the number of residents by home and work zone, and a typical day by the hour.

No trace is needed. The people of a pair of zones share their habits: a persona at home, at work and elsewhere. A table
names millions, so some people stand for many (`People.weights`). The numbers of others are the numbers of everybody, on
one drawn day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.prior import MarkovPrior
from passerby.personas.persona import ELSEWHERE, HOME, LONGEST, Persona, transitions
from passerby.personas.week import Calendar
from passerby.support import checks
from passerby.support.checks import shown, whole
from passerby.visits.steps import on_the_clock, parse_instant, parse_length
from passerby.visits.times import check_timezone

from .flow_tables import RESIDENT, WORK, pairs_of, profiles_of
from .habits import People

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: People of one persona with the same coincidences of places: the place of each of the persona's names.
Alike = tuple[int, tuple[int, ...]]

#: The most zones, and the most numbers in the moves of a drawn day at a time.
MOST_ZONES, MOST_AT_ONCE = 100_000, 10**7


@dataclass(frozen=True, eq=False, repr=False)
class Residents(People):
    """People of pairs of zones: `fitted` (N, 3) are the home, the work and one of the `personas` of each.

    `actual` (N, h) is a drawn day. `laws` (each (h, R)) are the chances of the places of each persona at each step, in
    its order. `gaps` (h - 1,) are the hours from each step to the next.
    """

    personas: tuple[Persona, ...] = ()
    laws: tuple[Floats, ...] = ()
    gaps: Floats = field(default_factory=lambda: np.empty(0))

    def __repr__(self) -> str:
        steps = self.actual.shape[1]
        return f"People(people={len(self)}, places={len(self.places)}, steps={steps}, of={self.everybody:,.0f})"

    @property
    def everybody(self) -> float:
        """How many people they stand for."""
        assert self.weights is not None
        return float(self.weights.sum())

    @property
    def gist(self) -> str:
        """A description of the habits, in plain words."""
        return "a day at home, at work and elsewhere, the same for all who live and work in the same zones"

    @property
    def words(self) -> str:
        """The making of the habits, in a few sentences for sharing."""
        return f"Habits: {self.gist}. They are assumed, and not fitted to anybody's visits."

    def prior(
        self, person: int, sensed: Sequence[int] = (), *, reduced: bool = True, zones: Ints | None = None
    ) -> tuple[MarkovPrior, Ints]:
        """One person's chain, and the place of each of its states, as of people with traces."""
        del reduced  # there are few states anyway
        visited, alike = self._slots(*self.fitted[self._number(person)].tolist())
        law, moves = self._course(alike)
        label = self._labels(zones)
        own = np.array(list(dict.fromkeys([*visited, *self._numbers(sensed, "sensed")])), dtype=np.int64)
        rest = -1 - np.unique(np.delete(label, own))
        size = len(own) + len(rest)
        start, steps = np.zeros(size), np.zeros((len(moves), size, size))
        start[: len(visited)] = law[0]
        steps[:, : len(visited), : len(visited)] = moves
        idle = np.arange(len(visited), size)
        steps[:, idle, idle] = 1.0
        states = np.concatenate([own, rest])
        away = int(np.flatnonzero(states == self.elsewhere)[0]) if self.elsewhere in own else None
        prior = MarkovPrior.known(
            start,
            steps if len(steps) else np.eye(size),
            guessable=(states >= 0) & (self.name_elsewhere | (states != self.elsewhere)),
            universe=len(self.places),
            merged_entropy=np.zeros(size),
            elsewhere=away,
        )
        return prior, states

    def drawn(self, numbers: Ints, cells: Ints, rng: np.random.Generator) -> Ints:
        """How many of the people of some cells (P, 3), so many of each (P,), are at each place at each step (h, M)."""
        out = np.zeros((self.actual.shape[1], len(self.places)), dtype=np.int64)
        kinds: dict[Alike, list[tuple[list[int], int]]] = {}
        for cell, number in zip(cells.tolist(), numbers.tolist(), strict=True):
            if number:
                visited, alike = self._slots(*cell)
                kinds.setdefault(alike, []).append((visited, number))
        for alike, found in kinds.items():
            law, moves = self._course(alike)
            size = max(1, MOST_AT_ONCE // law.shape[1] ** 2)
            for first in range(0, len(found), size):
                some = found[first : first + size]
                own, people = np.array([own for own, _ in some]), np.array([number for _, number in some])
                there = rng.multinomial(people, law[0] / law[0].sum())
                for t, matrix in enumerate([None, *moves]):
                    if matrix is not None:
                        there = rng.multinomial(there, matrix / matrix.sum(axis=1, keepdims=True)).sum(axis=1)
                    np.add.at(out[t], own, there)
        return out

    def _slots(self, home: int, work: int, kind: int) -> tuple[list[int], Alike]:
        """The places of somebody by a row of `fitted` (S,), and the part shared with everybody alike."""
        number = {HOME: home, WORK: work, ELSEWHERE: self.elsewhere}
        names = self.personas[kind].places
        where = [number[name] if name in number else self.places.index(name) for name in names]
        own = list(dict.fromkeys(where))
        return own, (kind, tuple(own.index(place) for place in where))

    def _course(self, alike: Alike) -> tuple[Floats, Floats]:
        """How likely each place is (h, S), and the moves between them (h - 1, S, S)."""
        kind, slots = alike
        law = np.zeros((len(self.laws[kind]), 1 + max(slots)))
        for column, slot in enumerate(slots):
            law[:, slot] += self.laws[kind][:, column]
        return law, transitions(law, self.personas[kind].stays ** self.gaps)


def people_from_flows(
    flows: Any,
    *,
    start: str | datetime,
    step: str | timedelta = "1h",
    steps: int = 24,
    profile: Any = RESIDENT,
    people: int = 2000,
    timezone: str = "UTC",
    seed: int = 0,
) -> Residents:
    """People for an audit from a table of how many live in one zone and work in another.

    `flows` has the columns home, work and people (a path, or a pandas or polars table), or rows of these three. A
    person without work has none, or the home again. Tables of LODES are taken as they are. `profile` describes a day.
    It is a persona with the places "home" and "work", several with weights, or their file. It may also be a table with
    the columns hour, home, work and elsewhere, and perhaps day ("workday" or "weekend"), group and weight. Other places
    of personas are zones by their names. Without a profile, it is the persona "resident".

    About so many `people` are made, at least one for each pair if possible; each stands for `weights` people, the
    column `weight` of an audit. Their places at the `steps` from `start` on are drawn by the `seed`, and so are the
    numbers of others.

    >>> people = people_from_flows([("north", "mill", 300), ("south", "mill", 120)], start="2024-01-15")
    >>> people, round(people.everybody)
    (People(people=420, places=4, steps=24, of=420), 420)
    """
    rows = pairs_of(flows)
    personas = profiles_of(profile)
    check_timezone(timezone)
    begin, length = parse_instant(start, "start", timezone), parse_length(step, "step")
    if length > LONGEST:
        raise InputError(f"step is {shown(step)}; it is a week at most")
    calendar = Calendar.regular(begin, length, checks.steps(steps), timezone)
    named = {name for persona in personas for name in persona.places} - {HOME, WORK, ELSEWHERE}
    zones = sorted({zone for home, work, _ in rows for zone in (home, work)} | named)
    if len(zones) > MOST_ZONES:
        raise InputError(f"flows: {len(zones):,} zones are too many; the most are {MOST_ZONES:,}; join some of them")
    cells, number = divided(rows, {zone: at for at, zone in enumerate(zones)}, personas)
    own, weights = chosen(number, whole(people, "people", 1, 10**6))
    index = np.array([cell for cell, _ in own])
    first = on_the_clock(begin, timezone)
    nobody = Residents(
        fitted=cells[index].astype(np.int32),
        actual=np.zeros((len(own), len(calendar.begins)), dtype=np.int32),
        places=(*zones, ELSEWHERE),
        background=np.empty(0),
        smoothing=0.0,
        ids=pl.Series([_called(zones, personas, cells[cell].tolist(), n) for cell, n in own], dtype=pl.String),
        starts=np.datetime64(first, "us") + np.arange(-cells.shape[1], len(calendar.begins)) * np.timedelta64(length),
        window=length,
        counts=np.empty((0, 0), dtype=np.int64),
        timezone=timezone,
        weights=weights,
        personas=personas,
        laws=tuple(persona.law(calendar) for persona in personas),
        gaps=calendar.hours,
    )
    return lived(nobody, cells, number - np.bincount(index, minlength=len(cells)), checks.seed(seed))


def _called(zones: Sequence[str], personas: Sequence[Persona], cell: Sequence[int], n: int) -> str:
    """A name for one of the people of a cell."""
    home, work, kind = cell
    who = f"{zones[home]} > {zones[work]}, {n}"
    return who if len(personas) == 1 else f"{who} ({personas[kind].name})"


def lived(people: Residents, cells: Ints, rest: Ints, seed: int | tuple[int, ...]) -> Residents:
    """The same people with a drawn day, and the numbers of everybody, so many more of each cell among them."""
    rng = np.random.default_rng(seed)
    actual = np.zeros_like(people.actual)
    for person in range(len(people)):
        prior, states = people.prior(person)
        actual[person] = states[prior.sample(1, actual.shape[1], rng)[0]]
    counts = people.drawn(rest, cells, rng)
    np.add.at(counts, (np.arange(actual.shape[1]), actual), 1)
    seen = counts.sum(axis=0).astype(np.float64)
    return replace(people, actual=actual, counts=counts, background=seen / seen.sum())


def divided(
    rows: Sequence[tuple[str, str, float]], number: dict[str, int], personas: Sequence[Persona]
) -> tuple[Ints, Ints]:
    """Home, work and persona of each cell (P, 3), and how many people are in it (P,).

    The people of a pair divide among personas by weight. If both kinds exist, personas without work are for people
    without work, and the others for people with work.
    """
    working = [WORK in persona.places for persona in personas]
    cells, people = [], []
    for home, work, total in rows:
        fitting = [kind for kind, works in enumerate(working) if works == (home != work)] or range(len(personas))
        every = sum(personas[kind].weight for kind in fitting)
        for kind in fitting:
            cells.append((number[home], number[work], kind))
            people.append(total * personas[kind].weight / every)
    return np.array(cells, dtype=np.int64), whole_numbers(np.array(people))


def whole_numbers(numbers: Floats) -> Ints:
    """Whole numbers with the same sums from the first on, but for one half: tables of models have parts of people.

    >>> whole_numbers(np.array([0.4, 0.4, 3.0, 0.4])).tolist()
    [0, 1, 3, 0]
    """
    return np.diff(np.floor(np.cumsum(numbers) + 0.5), prepend=0.0).astype(np.int64)


def chosen(numbers: Ints, people: int) -> tuple[list[tuple[int, int]], Floats]:
    """People of pairs, as the pair of each with their number in it, and how many people each stands for.

    All rows are taken if there are no more than `people`. Otherwise each pair has its share, and one at least; of more
    pairs than `people`, evenly spread people of the table are taken.

    >>> chosen(np.array([6, 2, 0]), 4)
    ([(0, 1), (0, 2), (0, 3), (1, 1)], array([2., 2., 2., 2.]))
    """
    total, there = int(numbers.sum()), int((numbers > 0).sum())
    if total <= people:
        own = numbers
    elif there <= people:
        own = np.minimum(numbers, np.maximum(numbers > 0, people * numbers // total))
    else:
        own = np.diff((np.cumsum(numbers) * people) // total, prepend=0)
    weight = numbers / np.maximum(own, 1) if there <= people else np.full(len(numbers), total / people)
    found = [(i, 1 + n) for i, count in enumerate(own.tolist()) for n in range(count)]
    return found, weight[[i for i, _ in found]]
