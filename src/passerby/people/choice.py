"""Which member of the family of habits predicts best, by the likelihood of later fitted steps of everybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import ceil
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .family import Cycle, Habits, Person, Trim, blend, mixture, spans
from .population import Population
from .smoothing import equilibrium

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SMOOTHINGS = (0.3, 1.0, 3.0, 10.0, 30.0)
BACKGROUNDS = (0.3, 1.0, 3.0, 10.0, 30.0)
SHARES = (0.0, 0.3, 0.6, 0.9)
TRIMS: tuple[Trim, ...] = ("none", "before", "around")
#: Half-lives, as parts of the fitted steps, in addition to one that forgets nothing.
HALF_LIVES = (1 / 2, 1 / 4, 1 / 8, 1 / 16)
#: The most origins from which later steps are predicted, and the most steps of all people that are, at each.
ORIGINS, MOST_STEPS = 3, 6_000
#: Fewer people than these at an origin tell too little.
FEW = 100


@dataclass(frozen=True, eq=False)
class Choice:
    """The habits that are in use, and how well each member of the family predicted.

    `scores` has a row for each member: its values and `score`, the mean logarithm of the probability that it gave to a
    step, over stretches of `steps` later steps of `people` people (those of all `origins` together). Where there is
    nothing to choose by, or habits were given, it is empty.
    """

    chosen: Habits
    scores: pl.DataFrame
    steps: int = 0
    people: int = 0
    origins: int = 0

    @property
    def words(self) -> str:
        """What was chosen, in a sentence."""
        if not self.scores.height:
            return f"Habits are {self.chosen!r}, as given or for want of steps to choose by."
        return (
            f"Habits are {self.chosen!r}: of {self.scores.height:,} kinds they predicted stretches of {self.steps} "
            f"later fitted steps of {self.people:,} people best ({self.origins} origins)."
        )


@dataclass(frozen=True)
class Evidence:
    """What the family needs of each predicted step (K,), for one half-life.

    The person's weighted moves to it and all that leave where it is reached from, their visits there and everywhere
    (at all times, and in the part of the cycle), the population's frequency and flow, and 1 for the first of a stretch.
    """

    moves: Floats
    left: Floats
    visits: Floats
    total: Floats
    part_visits: Floats
    part_total: Floats
    b: Floats
    flow: Floats
    opening: Floats

    def logs(self, habits: Habits) -> Floats:
        """The logarithm of the probability of each step."""
        f = blend(self.visits, self.total, self.b, habits.background)
        if habits.rhythm != "none":
            f = blend(self.part_visits, self.part_total, f, habits.background)
        return np.log(mixture(self.moves, self.left, f, self.flow, habits.smoothing, habits.share))


def origins(steps: int, horizon: int) -> tuple[int, list[int]]:
    """The length of a stretch, and the fitted steps before each one, from the latest; none where there are too few.

    Stretches are as long as what will be published, or a third of the fitted steps where that is less.

    >>> origins(27, 5), origins(9, 5), origins(2, 5)
    ((5, [22, 17]), (3, [6]), (0, []))
    """
    stretch = min(max(horizon, 1), steps // 3)
    cuts = [steps - k * stretch for k in range(1, ORIGINS + 1)] if stretch else []
    return stretch, [cut for cut in cuts if cut >= max(2, steps / 2)]


@dataclass(frozen=True)
class Origin:
    """A number of fitted steps, the people (n,) who were known well enough by then, and some of them to predict."""

    cut: int
    everybody: Ints
    who: Ints

    @classmethod
    def at(cls, fitted: NDArray[np.int32], cut: int, elsewhere: int, least: int, stretch: int) -> Origin:
        """People evenly spread where they are many.

        Who is known less than asked for is looked at only where the others are few: they are among the people because
        of what they did afterwards.
        """
        known = (fitted[:, :cut] != elsewhere).sum(axis=1)
        everybody = np.flatnonzero(known >= max(least, 1))
        if len(everybody) < FEW:
            everybody = np.flatnonzero(known >= max(1, ceil(least * cut / fitted.shape[1])))
        most = min(len(everybody), max(1, MOST_STEPS // stretch))
        spread = np.linspace(0, max(0, len(everybody) - 1), most).astype(int)
        return cls(cut, everybody, everybody[np.unique(spread)])


def choose(
    fitted: NDArray[np.int32],
    places: int,
    horizon: int,
    phases: dict[Cycle, Ints | None],
    least: int = 1,
    week: int = 1,
) -> Choice:
    """The member of the family that gave the highest probability to stretches of later fitted steps.

    `fitted` (N, F), `phases` the cycles to try, with the part of each step; `least` is the number of steps in which a
    person was known before an origin to be looked at there. No half-life is shorter than `week` steps: who forgets
    sooner takes a weekend for a new habit. Nothing is drawn at random.
    """
    stretch, cuts = origins(fitted.shape[1], horizon)
    looked = [Origin.at(fitted, cut, places - 1, least, stretch) for cut in cuts]
    looked = [origin for origin in looked if len(origin.who)]
    if not looked:
        return Choice(Habits(rhythm=next(iter(phases))), pl.DataFrame())
    lives = [None, *(each for part in HALF_LIVES if (each := part * fitted.shape[1]) >= week)]
    rows: list[dict[str, Any]] = []
    for cycle, phase in phases.items():
        for trim in TRIMS:
            for half_life, evidence in _evidence(fitted, places, looked, stretch, trim, phase, lives):
                for habits in members(trim, half_life, cycle):
                    logs = evidence.logs(habits)
                    rows.append({**vars(habits), "score": logs.mean(), "later": logs[evidence.opening == 0].sum()})
    if "none" in phases:
        # The start matters to the first step alone: it is tried with the habits that predict all others best.
        best = max((row for row in rows if row["rhythm"] == "none"), key=lambda row: float(row["later"]))
        still = {**best, "start": "equilibrium"}
        first = _from_equilibrium(fitted, places, looked, _member(still))
        rows.append({**still, "score": (best["later"] + first) / (stretch * sum(len(each.who) for each in looked))})
    scores = pl.DataFrame(rows, infer_schema_length=None).drop("later")
    scores = scores.sort("score", descending=True, maintain_order=True)
    people = len(np.unique(np.concatenate([origin.who for origin in looked])))
    return Choice(_member(scores.row(0, named=True)), scores, stretch, people, len(looked))


def _member(row: dict[str, Any]) -> Habits:
    return Habits(**{each.name: row[each.name] for each in fields(Habits)})


def members(trim: Trim, half_life: float | None, cycle: Cycle) -> Iterator[Habits]:
    """The members of the family that differ in the weights of what they back off to."""
    for smoothing, background, share in product(SMOOTHINGS, BACKGROUNDS, SHARES):
        yield Habits(smoothing, background, share, half_life, trim, "last", cycle)


def _persons(
    fitted: NDArray[np.int32], places: int, origin: Origin, stretch: int, trim: Trim, phase: Ints | None
) -> Iterator[tuple[Person, Ints, Ints, Population]]:
    """At an origin: each person, the places of their states, and the states of their last step and of the stretch."""
    cut, who = origin.cut, origin.who
    population = Population.of(fitted[origin.everybody, :cut], places, trim, phase)
    b = population.background
    first, stop = spans(fitted[who, :cut], places - 1, trim)
    part = np.zeros(cut, dtype=np.int64) if phase is None else phase
    for person, start, end in zip(who.tolist(), first.tolist(), stop.tolist(), strict=True):
        kept = fitted[person, start:end]
        path = np.append(kept[-1:], fitted[person, cut : cut + stretch])
        states = np.unique(np.concatenate([kept, path])).astype(np.int64)
        index = np.searchsorted(states, kept)
        mass = np.append(b[states], max(0.0, 1.0 - b[states].sum()))
        visited = np.zeros(len(mass), dtype=bool)
        visited[index] = True
        yield (
            Person(index, np.arange(start, end, dtype=np.float64), part[start:end], mass, visited),
            np.append(states, -1),
            np.searchsorted(states, path),
            population,
        )


def _evidence(
    fitted: NDArray[np.int32],
    places: int,
    looked: Sequence[Origin],
    stretch: int,
    trim: Trim,
    phase: Ints | None,
    lives: Sequence[float | None],
) -> Iterator[tuple[float | None, Evidence]]:
    """For each half-life, what the family needs of all predicted steps."""
    found: list[list[Floats]] = [[] for _ in lives]
    for origin in looked:
        cut = origin.cut
        weights = [Habits(half_life=life).weights(cut) for life in lives]
        for person, states, path, population in _persons(fitted, places, origin, stretch, trim, phase):
            steps = person.weight.astype(np.int64)
            parts = [None if phase is None else int(phase[cut + j]) for j in range(stretch)]
            kinds = sorted(set(parts), key=lambda part: part or 0)
            flow = np.array([population.towards(part).law(person, states, part) for part in kinds])
            which = np.array([kinds.index(part) for part in parts])
            x, y = path[:-1], path[1:]
            for rows, weight in zip(found, weights, strict=True):
                overall = person.tally(None, weight[steps])
                tallies = [overall if part is None else person.tally(part, weight[steps]) for part in kinds]
                moves, visits = np.array([pair[0] for pair in tallies]), np.array([pair[1] for pair in tallies])
                each = np.empty((stretch, 9))
                each[:, 0] = moves[which, x, y]
                each[:, 1] = moves.sum(axis=2)[which, x]
                each[:, 2], each[:, 3] = overall[1][y], overall[1].sum()
                each[:, 4], each[:, 5] = visits[which, y], visits.sum(axis=1)[which]
                each[:, 6], each[:, 7] = person.b[y], flow[which, x, y]
                each[:, 8] = np.arange(stretch) == 0
                rows.append(each)
    for life, rows in zip(lives, found, strict=True):
        yield life, Evidence(*np.concatenate(rows).T)


def _from_equilibrium(fitted: NDArray[np.int32], places: int, looked: Sequence[Origin], habits: Habits) -> float:
    """The log probability of all first steps of stretches, drawn from the equilibrium."""
    total = 0.0
    for origin in looked:
        weight = habits.weights(origin.cut)
        for person, states, path, population in _persons(fitted, places, origin, 1, habits.trim, None):
            weighted = replace(person, weight=weight[person.weight.astype(np.int64)])
            rows = weighted.rows(habits, population.moves.law(person, states, None), None)
            total += float(np.log(equilibrium(rows, person.b)[path[1]]))
    return total
