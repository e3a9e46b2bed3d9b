"""Presence of one person at places, to somebody who knows the others by their habits only: both ends.

From above, what somebody finds who is told where the others were at every second step: numbers at different counts are
then independent. From below, two tests that need not be told anything: the most telling single count, whose law is
known exactly (`max_k Pr[K = k]` for a raw one), and the likelihood ratio as if numbers at different counts were
independent, scored where they are not. Draws of the others are shared by all places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.measurement.setup import Setup
from passerby.mechanisms import Mechanism
from passerby.mechanisms.base import table
from passerby.mechanisms.group import grouped
from passerby.mechanisms.laws import same
from passerby.model.count_release import CountRelease, mechanism_of
from passerby.model.counts import Visitors
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.crowd import channel_of
from passerby.outcomes.stand_ins import stand_ins
from passerby.questions.draws import Drawn
from passerby.questions.event import Event
from passerby.questions.hypotheses import Hypotheses
from passerby.questions.in_data import InData
from passerby.questions.laws import Law, gaps
from passerby.questions.laws import log_odds as log_odds_of
from passerby.questions.parts import SLACK
from passerby.support.statistics import lower_limit, upper_limit

from .presence_crowd import Habitual, Numbers, Table
from .question_rows import FALSE, HABITS, SURE, WEEKS, Row, most_sure, of_weeks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Likelihood ratios from which on a test says yes, for the advantage and for the power: the better of two is taken.
EDGES = ((1.0, 20.0), (20.0, 200.0))
#: Single counts of a place that are looked at closely: those that tell most if they are raw.
CLOSELY = 3
#: Log ratios beyond this are as good as certain.
CERTAIN, FARTHEST = 700.0, 300.0
#: Scores are cut off here, so that no count that habits cannot explain decides alone.
TELLING = 40.0


@dataclass(frozen=True, eq=False)
class Beside:
    """The others of one person in each count (C,): two views of their number, and who is there in any case."""

    habits: Table
    told: Table
    rest: Ints
    known: Ints

    @classmethod
    def of(cls, everybody: Numbers, total: Ints, mine: Habitual) -> Beside:
        """Everybody but one person; `total` are all who were counted, of whom some have no habits to speak of."""
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
        """What hypotheses are about."""
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
        """Draws of the others, and what each count says where the person is in it and where not."""
        numbers = self.beside.known + self.beside.told.draw(self.runs, rng)
        told, habits = [], []
        for more in (0, self.release.size):
            values = np.array(
                [way.sample(numbers[:, c] + more, rng) for c, way in enumerate(self.ways)], dtype=np.float64
            ).T
            told.append(self._grid(log_ratios(self.beside.told, self.beside.known, values, self.ways, self.size)))
            score = log_ratios(self.beside.habits, self.beside.rest, values, self.ways, self.size)
            habits.append(self._grid(np.clip(score, -TELLING, TELLING)))
        return Draws((told[0], told[1]), (habits[0], habits[1]))

    @property
    def size(self) -> int:
        """How many people move as one."""
        return self.release.size

    def _grid(self, values: Floats) -> Floats:
        """Numbers of counts (n, C) in the form of the grid (n, T, S)."""
        out = np.zeros((len(values), *self.release.grid.shape))
        out[:, self.columns[0], self.columns[1]] = values
        return out


@dataclass(frozen=True, eq=False)
class Draws:
    """Log ratios (n, T, S) of values with the person in the count to those without, to who is told and by habits.

    Each where the person is not in the count, and where they are.
    """

    told: tuple[Floats, Floats]
    habits: tuple[Floats, Floats]


def cells(release: Release) -> list[tuple[int, tuple[int, ...], Mechanism]]:
    """The step, the places and the mechanism of each count, in the order of the grid."""
    if isinstance(release, CountRelease):
        return [(count.read, count.zones[0], mechanism_of(count)) for count in release.listed]
    return [(t, (place,), release.mechanism) for t, step in enumerate(release.sensors) for place in step]


def log_ratios(table: Table, offset: Ints, values: Floats, ways: Sequence[Mechanism], size: int) -> Floats:
    """`log Pr[value | with the person] - log Pr[value | without]` (n, C) of values (n, C) of all counts."""
    plain = np.array([way.raw for way in ways], dtype=bool)
    if plain.all():
        gap = table.gaps(values.astype(np.int64) - offset, size)
        return np.minimum(np.where(np.isnan(gap), 0.0, gap), CERTAIN)
    gap = np.empty(values.shape)
    for c, way in enumerate(ways):
        least, chances = table.at(c)
        found, number = np.unique(values[:, c], return_inverse=True)
        counts = offset[c] + least + np.arange(len(chances))
        without, with_them = (likely(way, found, counts + more, chances) for more in (0, size))
        with np.errstate(divide="ignore", invalid="ignore"):
            gap[:, c] = (np.log(with_them) - np.log(without))[number.reshape(-1)]
    return np.minimum(np.where(np.isnan(gap), 0.0, gap), CERTAIN)


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


def rows_of_places(person: Person, zones: Sequence[tuple[int, ...]], rng: np.random.Generator) -> list[Row]:
    """A row for each zone, over the person's states: whether it can be told that they were ever there."""
    drawn = person.drawn(rng)
    return [row_of(person, drawn, zone, rng) for zone in zones]


def row_of(person: Person, drawn: Draws, zone: tuple[int, ...] | None, rng: np.random.Generator) -> Row:
    """Whether it can be told that somebody was ever in a zone; without a zone, that they are counted at all."""
    if zone is None:
        asked = InData().hypotheses(person.setup)
    else:
        event = Event(Visitors(zone, range(person.release.steps)))
        asked = Hypotheses(person.setup, lambda chain: event.count.progress(chain.place_of, person.release.steps))
    no, yes = asked.chance
    head: Row = {"adversary": HABITS, "chance": yes}
    if min(no, yes) <= 0:
        return {**head, "status": "certain" if yes > 0.5 else "impossible", "sampled": False, **closed(yes)}
    level = 1 - (1 - person.confidence) / 2
    there, away = (person.release.there(asked.draw(holds, person.runs, rng)) for holds in (True, False))
    ratio = gaps(asked.logs_of(_evidence(asked, person, drawn.told, there))) - asked.log_odds
    sides = (_evidence(asked, person, drawn.habits, side) for side in (there, away))
    scores = [gaps(asked.logs_of(side)) - asked.log_odds for side in sides]
    ratio = np.clip(ratio, -FARTHEST, FARTHEST)
    laws = single_counts_of(person, zone, yes)
    lowest = tested(scores[0], scores[1], level, asked.log_odds)
    pairs = _ends(asked, ratio, laws, lowest, level)
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


def _ends(
    asked: Hypotheses, ratio: Floats, laws: Sequence[Law], lowest: Tested, level: float
) -> dict[str, tuple[float, float]]:
    """Both ends of the advantage, the power, and how often somebody is sure."""
    above = Drawn("crowd", asked.odds, ratio, ratio, told_more=True, level=level)
    with np.errstate(over="ignore"):
        most = upper_limit(np.maximum(1 - np.exp(-ratio), 0.0), level)
    yes = asked.chance[1]
    highest = (most, above.power(FALSE)[1], min(above.certain(SURE)[1], most_sure(yes, most)))
    single, tests = measures(laws, asked.odds), (lowest.advantage, lowest.power, lowest.sure)
    advantage, power, certain = (
        _within(low, test, high) for low, test, high in zip(single, tests, highest, strict=True)
    )
    return {"advantage": advantage, "power": (max(power[0], FALSE), max(power[1], FALSE)), "certain": certain}


def _weeks(
    ratio: Floats, laws: Sequence[Law], lowest: Tested, once: tuple[float, float], level: float
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


def _evidence(asked: Hypotheses, person: Person, ratios: tuple[Floats, Floats], there: NDArray[np.bool_]) -> Floats:
    """Log-likelihoods (n, T, classes) of drawn series, up to a factor for each step, where the person is `there`."""
    telling = np.where(there, ratios[1], ratios[0])
    release = asked.setup.release
    if release.reveals:
        return np.concatenate([np.zeros((*telling.shape[:2], 1)), telling], axis=2)
    sees = release.sees
    column = np.where(sees.any(axis=2), sees.argmax(axis=2), 0)
    found = np.take_along_axis(telling, np.broadcast_to(column, (len(telling), *column.shape)), axis=2)
    return np.asarray(np.where(sees.any(axis=2), found, 0.0))


def _within(certain: float, test: float, upper: float) -> tuple[float, float]:
    """Ends of which the upper one and the test are sampled: a sample may be unlucky, and then the test is left out."""
    lower = max(certain, test)
    return (lower, upper) if lower <= upper else (certain, max(certain, upper, test))


def _pairs(**ends: tuple[float, float]) -> Row:
    return {
        f"{name}_{end}": value
        for name, pair in ends.items()
        for end, value in zip(("lower", "upper"), pair, strict=True)
    }


def closed(yes: float) -> Row:
    """What is known of an event that is certain or impossible whatever is published."""
    sure = float(yes > 0.5)
    pairs = {"advantage": 0.0, "power": FALSE, "certain": sure, "absent": 1 - sure}
    nothing = [0.0] * len(WEEKS)
    return {**_pairs(**{name: (value, value) for name, value in pairs.items()}), **of_weeks(nothing, nothing)}


@dataclass(frozen=True)
class Tested:
    """What tests by a score achieve at least; `edges` are true and false positives of each."""

    advantage: float
    power: float
    sure: float
    edges: tuple[tuple[float, float], ...]

    def repeated(self, times: int) -> float:
        """The advantage of a test that says yes where any of so many weeks, or all of them, are as telling."""
        gains = ((1 - wrong) ** times - (1 - true) ** times for true, wrong in self.edges)
        every = (true**times - wrong**times for true, wrong in self.edges)
        return max(0.0, *gains, *every)


def tested(given: Floats, given_not: Floats, level: float, log_odds: float) -> Tested:
    """What tests by a score achieve at least: the advantage, the power at the share of false alarms, and who is sure.

    A test with too many false alarms is mixed with one that never says yes. How often somebody is sure follows from the
    true positives less so many times the false ones (`Law.surely`).
    """
    level = 1 - (1 - level) / 4
    ends = {}
    for edge in {edge for both in EDGES for edge in both}:
        true = lower_limit((given >= math.log(edge)).astype(np.float64), level)
        ends[edge] = true, upper_limit((given_not >= math.log(edge)).astype(np.float64), level)
    advantage = max(true - wrong for true, wrong in map(ends.__getitem__, EDGES[0]))
    power = max(true * min(1.0, FALSE / wrong) for true, wrong in map(ends.__getitem__, EDGES[1]))
    dear = math.exp(min(700.0, log_odds_of(SURE) - log_odds))
    sure = max(true - dear * wrong for true, wrong in ends.values())
    return Tested(max(0.0, advantage), power, max(0.0, sure), tuple(ends.values()))


def measures(laws: Sequence[Law], odds: float) -> tuple[float, float, float]:
    """The most that single counts tell: the advantage, the power, and how often somebody is sure at least."""
    return (
        max((law.advantage for law in laws), default=0.0),
        max((law.power(FALSE) for law in laws), default=FALSE),
        max((law.surely(SURE, odds) for law in laws), default=0.0),
    )


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


def shifted(table: Table, cell: int, share: float, size: int) -> Law:
    """The law of a raw count: by a share of the cases, the person and who moves with them are counted as well."""
    chances = table.chances[cell]
    absent, present = np.append(chances, np.zeros(size)), np.append(np.zeros(size), chances)
    return Law(share * present + (1 - share) * absent, absent)


def single_law(way: Mechanism, table: Table, cell: int, known: int, share: float, size: int) -> Law | None:
    """The same of a count that is published in some way, or what tells a little less; None where nobody can say."""
    least, chances = table.at(cell)
    channel = channel_of(way, (known + least, chances))
    pair = stand_ins(grouped(channel.mechanism, channel.others, size), channel.others)
    if pair is None:
        return None
    absent, present = pair[0].T
    return Law(share * present + (1 - share) * absent, absent)
