"""Presence of one person at places, for an adversary with the others' habits only: both ends.

From above, what somebody finds who is told where the others were at every second step: numbers at different counts are
then independent. From below, two tests that need not be told anything: the most telling single count, whose law is
known exactly (`max_k Pr[K = k]` for a raw one), and the likelihood ratio as if numbers at different counts were
independent, scored where they are not. From which ratio on that test says yes is chosen by draws of independent
numbers, as whoever knows habits alone could: draws of what is told would choose as if it were known. Draws of the
others are shared by all places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.audits.presence_crowd import log_ratios, published
from passerby.audits.presence_tests import Scored, measures, shifted, single_law, tested
from passerby.measurement.setup import Setup
from passerby.mechanisms import Mechanism
from passerby.model.count import mechanism_of
from passerby.model.counts import Visitors
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.questions.crowd_told import alike_but_for_one
from passerby.questions.draws import Drawn
from passerby.questions.event import Event
from passerby.questions.event_looks import means_over_traces
from passerby.questions.hypotheses import Hypotheses
from passerby.questions.in_data import InData
from passerby.questions.laws import Law, gaps
from passerby.questions.parts import SLACK, Apart
from passerby.support.statistics import lower_limit, upper_limit

from .presence_crowd import Habitual, Numbers, Table
from .question_rows import FALSE, HABITS, SURE, WEEKS, Row, most_sure, of_weeks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Draws that choose where a test says yes, and draws that score it, where the event does not hold; and the share of
#: them that is enough where it does. Few false alarms take many draws to be sure of.
CHOOSING, SCORING, ENOUGH = 1000, 3000, 0.4
#: Tests leave out counts that the person is in with less than this chance.
SELDOM = 1e-4
#: Values of noisy counts at which scores are worked out, at most: between them they are straight lines.
GRID = 128
#: Single counts of a place that are looked at closely: those that tell most if they are raw.
CLOSELY = 3
#: Log ratios beyond this are as good as certain.
FARTHEST = 300.0
#: Scores are cut off here, so that no count that habits cannot explain decides alone.
TELLING = 40.0


@dataclass(frozen=True, eq=False)
class Beside:
    """The others of one person in each count (C,): two views of their number, and the people there in any case."""

    habits: Table
    told: Table
    rest: Ints
    known: Ints

    @classmethod
    def of(cls, everybody: Numbers, total: Ints, mine: Habitual) -> Beside:
        """Everybody but one person; `total` is everybody counted, and some of them have no habits to speak of."""
        rest = total - everybody.there
        known = rest + everybody.known - mine.known
        habits, told = Table.of(everybody.habits).without(mine.chance), Table.of(everybody.told).without(mine.left)
        return cls(habits, told, rest, known)


@dataclass(frozen=True, eq=False)
class Person:
    """One person before a release: habits, counts over their states, and the others beside them."""

    prior: MarkovPrior
    release: Release
    beside: Beside
    runs: int
    confidence: float

    @cached_property
    def ways(self) -> list[Mechanism]:
        """The mechanism of each count (C,)."""
        return [way for _, _, way in cells(self.release)]

    @cached_property
    def setup(self) -> Setup:
        """The subject of hypotheses."""
        chain, over = self.release.over(self.prior)
        return Setup(chain, over, given=(self.prior, self.release))

    @cached_property
    def chance(self) -> Floats:
        """How likely the person is in each count (C,)."""
        law = self.prior.marginals(self.release.steps)
        return np.array([law[t, list(zone)].sum() for t, zone, _ in cells(self.release)])

    @cached_property
    def columns(self) -> tuple[Ints, Ints]:
        """The step and the column of each count (C,), in the form of the release's grid."""
        found = np.nonzero(self.release.grid >= 0)
        return found[0], found[1]

    def drawn(self, rng: np.random.Generator) -> Draws:
        """Draws of the others, and what each count says where the person is in it and where not.

        What is told is of all counts; tests look at those that the person may well be in, and at more draws of them.
        """
        some = np.flatnonzero(self.chance >= min(SELDOM, self.chance.max(initial=0.0)))
        beside, habits = self.beside, self.beside.habits.some(some)
        known, told = beside.known[some], beside.told.some(some)
        ways, rest = [self.ways[c] for c in some], beside.rest[some]

        def scores(numbers: Ints) -> list[Floats]:
            found = self._published(ways, numbers, rng)
            ratios = (log_ratios(habits, rest, each, ways, self.size, GRID) for each in found)
            return [self.in_grid(np.clip(each, -TELLING, TELLING), some) for each in ratios]

        all_told = self._published(self.ways, beside.known + beside.told.draw(self.runs, rng), rng)
        return Draws(
            [self.in_grid(log_ratios(beside.told, beside.known, each, self.ways, self.size)) for each in all_told],
            scores(rest + habits.draw(CHOOSING, rng)),
            scores(known + told.draw(SCORING, rng)),
        )

    def _published(self, ways: Sequence[Mechanism], numbers: Ints, rng: np.random.Generator) -> list[Floats]:
        """What is published (n, C) where the person is in none of the counts, and where they are in all."""
        return [published(ways, numbers + more, rng) for more in (0, self.size)]

    @property
    def size(self) -> int:
        """How many people move as one."""
        return self.release.size

    def in_grid(self, values: Floats, columns: Ints | None = None) -> Floats:
        """Numbers of counts (n, C), all or some, in the form of the grid (n, T, S); 0 for the others."""
        columns = np.arange(values.shape[1]) if columns is None else columns
        out = np.zeros((len(values), *self.release.grid.shape))
        out[:, self.columns[0][columns], self.columns[1][columns]] = values
        return out


@dataclass(frozen=True, eq=False)
class Draws:
    """Log ratios (n, T, S) of values with the person in the count to values without, with told steps and by habits.

    Each where the person is not in the count, and where they are. Ratios by habits are for a test to be chosen, and for
    it to be scored.
    """

    told: list[Floats]
    choosing: list[Floats]
    scoring: list[Floats]


def cells(release: Release) -> list[tuple[int, tuple[int, ...], Mechanism]]:
    """The step, the places and the mechanism of each count, in the order of the grid."""
    return [(count.read, count.zones[0], mechanism_of(count)) for count in release.listed]


#: The advantage and the power at most, to somebody who knows all others; None where they find everything out.
Ceiling = tuple[float, float] | None


def rows_of_places(
    person: Person,
    zones: Sequence[tuple[int, ...]],
    rng: np.random.Generator,
    known: Sequence[Ceiling] | None = None,
) -> list[Row]:
    """A row for each zone, over the person's states: whether it can be told that they were ever there.

    `known` has what somebody finds who knows all others, with a half of the doubt.
    """
    drawn = person.drawn(rng)
    ceilings = known or [None] * len(zones)
    return [row_of(person, drawn, zone, rng, most) for zone, most in zip(zones, ceilings, strict=True)]


def row_of_membership(person: Person, rng: np.random.Generator) -> Row:
    """Whether it can be told that they are counted at all: a visit anywhere, against nobody in their place."""
    return row_of(person, person.drawn(rng), None, rng)


def row_of(
    person: Person, drawn: Draws, zone: tuple[int, ...] | None, rng: np.random.Generator, known: Ceiling = None
) -> Row:
    """Whether it can be told that somebody was ever in a zone; without a zone, that they are counted at all."""
    if zone is None:
        everywhere = tuple(range(person.prior.places))
        return _row(person, drawn, InData().hypotheses(person.setup), everywhere, rng, known, 1.0)
    event = Event(Visitors(zone, range(person.release.steps)))
    asked = Hypotheses(person.setup, lambda chain: event.count.progress(chain.place_of, person.release.steps))
    return _row(person, drawn, asked, zone, rng, known)


def _row(
    person: Person,
    drawn: Draws,
    asked: Hypotheses,
    zone: tuple[int, ...],
    rng: np.random.Generator,
    known: Ceiling = None,
    visits: float | None = None,
) -> Row:
    """The row of an event that is about visits to a zone; `visits` is their chance, if that is not the event's."""
    release = person.release
    no, yes = asked.chance
    head: Row = {"adversary": HABITS, "chance": yes}
    if min(no, yes) <= 0:
        return {**head, "status": "certain" if yes > 0.5 else "impossible", "sampled": False, **closed(yes)}
    level = 1 - (1 - person.confidence) / (2 if known is None else 4)

    def drawn_ratios(ratios: Sequence[Floats], holds: bool, count: int) -> Floats:
        there = release.there(asked.draw(holds, count, rng))
        return gaps(asked.logs_of(_evidence(asked, person, ratios, there))) - asked.log_odds

    ratio = drawn_ratios(drawn.told, True, person.runs)
    choosing, scoring = (
        [drawn_ratios(ratios, True, int(ENOUGH * len(ratios[0]))), drawn_ratios(ratios, False, len(ratios[0]))]
        for ratios in (drawn.choosing, drawn.scoring)
    )
    ratio = np.clip(ratio, -FARTHEST, FARTHEST)
    laws = single_counts_of(person, zone, visits or yes)
    lowest = tested(choosing, scoring, level, asked.log_odds)
    ceilings = [most for most in (known, _hidden(person, asked, zone)) if most is not None]
    pairs = _ends(asked, ratio, laws, lowest, ceilings, level)
    advantage, power = pairs["advantage"], pairs["power"]
    return {
        **head,
        "status": "ok" if advantage[1] - advantage[0] < FALSE and power[1] - power[0] < FALSE else "wide",
        "sampled": True,
        **_pairs(**pairs),
        "absent_lower": 0.0,
        "absent_upper": most_sure(no, advantage[1]),
        **of_weeks(*_weeks(ratio, laws, lowest, advantage, level)),
    }


def _hidden(person: Person, asked: Hypotheses, zone: tuple[int, ...]) -> Ceiling:
    """What is told at most where no place but those of the zone is counted, by what unknown others hide."""
    if not all(set(own) <= set(zone) for _, own, _ in cells(person.release)):
        return None
    chance, overlap = alike_but_for_one(person.beside.told.chances, person.size)
    with np.errstate(divide="ignore"):
        each = [person.in_grid(np.log(one)[None]) for one in (chance, overlap**2, overlap)]
    there = np.ones((1, *person.release.grid.shape), dtype=bool)
    shown, apart, least = (
        float(means_over_traces(asked, np.exp(_evidence(asked, person, (grid, grid), there)))[0, 1]) for grid in each
    )
    part = Apart("hiding", asked.odds, min(1 - shown, math.sqrt(1 - apart)), least)
    return part.advantage()[1], part.power(FALSE)[1]


def _ends(
    asked: Hypotheses,
    ratio: Floats,
    laws: Sequence[Law],
    lowest: Scored,
    ceilings: Sequence[tuple[float, float]],
    level: float,
) -> dict[str, tuple[float, float]]:
    """Both ends of the advantage, the power, and how often somebody is sure; `ceilings` are those of who knows more."""
    above = Drawn("crowd", asked.odds, ratio, ratio, told_more=True, level=level)
    with np.errstate(over="ignore"):
        most = min(upper_limit(np.maximum(1 - np.exp(-ratio), 0.0), level), *(each[0] for each in ceilings), 1.0)
    most_power = min(above.power(FALSE)[1], *(each[1] for each in ceilings), 1.0)
    highest = (most, most_power, min(above.certain(SURE)[1], most_sure(asked.chance[1], most)))
    single, tests = measures(laws, asked.odds), (lowest.advantage, lowest.power, lowest.sure)
    advantage, power, certain = (
        _within(low, test, high) for low, test, high in zip(single, tests, highest, strict=True)
    )
    return {"advantage": advantage, "power": (max(power[0], FALSE), max(power[1], FALSE)), "certain": certain}


def _weeks(
    ratio: Floats, laws: Sequence[Law], lowest: Scored, once: tuple[float, float], level: float
) -> tuple[list[float], list[float]]:
    """Ends of the advantage after several weeks, in all of which it holds or in none (`Part.weeks`).

    From below, what tests of a single count or of one week gain over several. From above, somebody who is told more:
    `b = E[(Pr[y | not E] / Pr[y | E])^½ | E]` of one week, of which a lower limit is known.
    """
    half = 1 - (1 - level) / 2
    whole = [law.completed(more=False) for law in laws]
    likeness = min(1.0, lower_limit(np.exp(-ratio / 2), half))
    unlike = upper_limit(np.maximum(1 - np.exp(-ratio), 0.0), half)
    lower, upper = [once[0]], [once[1]]
    for times in WEEKS[1:]:
        single = max((max(1 - law.affinity**times, law.repeated(times)) for law in whole), default=0.0)
        lower.append(max(lower[-1], single - SLACK * times, lowest.repeated(times)))
        most = min(math.sqrt(1 - likeness ** (2 * times)), 1 - (1 - min(1.0, unlike)) ** times)
        upper.append(max(lower[-1], upper[-1], most))
    return lower, upper


def _evidence(asked: Hypotheses, person: Person, ratios: Sequence[Floats], there: NDArray[np.bool_]) -> Floats:
    """Log-likelihoods (n, T, classes) of drawn series, up to a factor for each step, where the person is `there`."""
    telling = np.where(there, ratios[1][: len(there)], ratios[0][: len(there)])
    release = asked.setup.release
    if release.reveals:
        return np.concatenate([np.zeros((*telling.shape[:2], 1)), telling], axis=2)
    sees = release.sees
    column = np.where(sees.any(axis=2), sees.argmax(axis=2), 0)
    found = np.take_along_axis(telling, np.broadcast_to(column, (len(telling), *column.shape)), axis=2)
    return np.asarray(np.where(sees.any(axis=2), found, 0.0))


def _within(certain: float, test: float, upper: float) -> tuple[float, float]:
    """Ends with a sampled upper end and test: a sample may be unlucky, and then the test is left out."""
    lower = max(certain, test)
    return (lower, upper) if lower <= upper else (certain, max(certain, upper, test))


def _pairs(**ends: tuple[float, float]) -> Row:
    return {
        f"{name}_{end}": value
        for name, pair in ends.items()
        for end, value in zip(("lower", "upper"), pair, strict=True)
    }


def closed(yes: float) -> Row:
    """The values for a certain or impossible event, whatever is published."""
    sure = float(yes > 0.5)
    pairs = {"advantage": 0.0, "power": FALSE, "certain": sure, "absent": 1 - sure}
    nothing = [0.0] * len(WEEKS)
    return {**_pairs(**{name: (value, value) for name, value in pairs.items()}), **of_weeks(nothing, nothing)}


def single_counts_of(person: Person, zone: tuple[int, ...] | None, yes: float) -> list[Law]:
    """The laws of single counts with the event and without, of those that tell most: exact, or telling less.

    Without a zone, the event is that the person is counted at all.
    """
    every = enumerate(cells(person.release))
    inside = [c for c, (_, own, _) in every if zone is None or set(own) <= set(zone)]
    if not inside:
        return []
    table, size = person.beside.habits, person.size
    often = person.chance[inside] if zone is None else np.minimum(person.chance[inside] / yes, 1.0)
    if all(person.ways[c].raw for c in inside):
        return [shifted(table, c, share, size) for c, share in zip(inside, often.tolist(), strict=True)]
    raw = often * [shifted(table, c, 1.0, size).advantage for c in inside]
    found = []
    for k in np.argsort(-raw)[:CLOSELY].tolist():
        law = single_law(
            person.ways[inside[k]], table, inside[k], int(person.beside.rest[inside[k]]), float(often[k]), size
        )
        if law is not None:
            found.append(law)
    return found
