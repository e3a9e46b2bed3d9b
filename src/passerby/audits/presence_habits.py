"""Presence of one person at places, to somebody who knows the others by their habits only: both ends.

From above, what somebody finds who is told where the others were at every second step: numbers at different counts are
then independent. From below, two tests that need not be told anything: the most telling single count, whose law is
known exactly (`max_k Pr[K = k]` for a raw one), and the likelihood ratio as if numbers at different counts were
independent, scored where they are not. From which ratio on that test says yes is chosen by draws of independent
numbers, as whoever knows habits alone could: draws of what is told would choose as if it were known. Draws of the
others are shared by all places.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.measurement.setup import Setup
from passerby.mechanisms import Mechanism
from passerby.mechanisms.group import grouped
from passerby.model.count import mechanism_of
from passerby.model.counts import Visitors
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.crowd import channel_of
from passerby.outcomes.stand_ins import stand_ins
from passerby.questions.crowd_told import alike_but_for_one
from passerby.questions.draws import Drawn
from passerby.questions.event import Event
from passerby.questions.event_looks import means_over_traces
from passerby.questions.hypotheses import Hypotheses
from passerby.questions.in_data import InData
from passerby.questions.laws import Law, gaps
from passerby.questions.laws import log_odds as log_odds_of
from passerby.questions.parts import Apart
from passerby.support.statistics import share_limits, upper_limit

from .presence_crowd import Habitual, Numbers, Table, likely
from .question_rows import FALSE, HABITS, SURE, Row, most_sure

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
CERTAIN, FARTHEST = 700.0, 300.0
#: False alarms that are as good as none.
LEAST = 1e-12
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
            [
                self.in_grid(log_ratios(beside.told, beside.known, each, self.ways, self.size))
                for each in all_told
            ],
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
    """Log ratios (n, T, S) of values with the person in the count to those without, to who is told and by habits.

    Each where the person is not in the count, and where they are. Ratios by habits are for a test to be chosen, and for
    it to be scored.
    """

    told: list[Floats]
    choosing: list[Floats]
    scoring: list[Floats]


def cells(release: Release) -> list[tuple[int, tuple[int, ...], Mechanism]]:
    """The step, the places and the mechanism of each count, in the order of the grid."""
    return [(count.read, count.zones[0], mechanism_of(count)) for count in release.listed]


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
    above = Drawn("crowd", asked.odds, ratio, ratio, told_more=True, level=level)
    with np.errstate(over="ignore"):
        advantage_upper = upper_limit(np.maximum(1 - np.exp(-ratio), 0.0), level)
    power_upper = above.power(FALSE)[1]
    for most in (known, _hidden(person, asked, zone)):
        if most is not None:
            advantage_upper, power_upper = min(advantage_upper, most[0]), min(power_upper, most[1])
    highest = (advantage_upper, power_upper, min(above.certain(SURE)[1], most_sure(yes, advantage_upper)))
    laws = single_counts_of(person, zone, visits or yes)
    single = measures(laws, asked.odds)
    lowest = tested(choosing, scoring, level, asked.log_odds)
    advantage, power, certain = (
        _within(low, test, high) for low, test, high in zip(single, lowest, highest, strict=True)
    )
    power = max(power[0], FALSE), max(power[1], FALSE)
    return {
        **head,
        "status": "ok" if advantage[1] - advantage[0] < FALSE and power[1] - power[0] < FALSE else "wide",
        "sampled": True,
        **_pairs(advantage=advantage, power=power, certain=certain),
        "absent_lower": 0.0,
        "absent_upper": most_sure(no, advantage[1]),
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
    return _pairs(**{name: (value, value) for name, value in pairs.items()})


def tested(
    choosing: Sequence[Floats], scoring: Sequence[Floats], level: float, log_odds: float
) -> tuple[float, float, float]:
    """What tests by a score achieve at least: the advantage, the power at the share of false alarms, and who is sure.

    Scores are of draws where the event holds, and where it does not. Of the tests that say yes from a score on, the
    advantage has the one from likelier than not on. For the others, some draws choose, and other draws score the one
    that is chosen: the best of several scores would be that of somebody who knows more. A test with too many false
    alarms is mixed with one that never says yes. How often somebody is sure follows from the true positives less so
    many times the false ones (`Law.surely`).
    """
    doubt, dear = 1 - (1 - level) / 2, math.exp(min(700.0, log_odds_of(SURE) - log_odds))
    gains: list[Callable[[Floats, Floats], Floats]] = [
        lambda true, wrong: true - wrong,
        lambda true, wrong: true * np.minimum(1.0, FALSE / wrong),
        lambda true, wrong: true - dear * wrong,
    ]
    edges = np.unique(choosing[0])
    yes, no = (len(side) - np.searchsorted(np.sort(side), edges, side="left") for side in choosing)
    # As many false alarms as the others may turn out to have at most.
    true, wrong = yes / len(choosing[0]), _at_most(no / len(choosing[1]), len(scoring[1]), doubt)
    ends = []
    for gain, usual in zip(gains, (0.0, None, None), strict=True):
        edge = edges[int(np.argmax(gain(true, wrong)))] if usual is None else usual
        least, most = share_limits(scoring[0] >= edge, doubt)[0], share_limits(scoring[1] >= edge, doubt)[1]
        ends.append(float(gain(np.array(least), np.array(max(most, LEAST)))))
    return max(0.0, ends[0]), ends[1], max(0.0, ends[2])


def _at_most(share: Floats, draws: int, confidence: float) -> Floats:
    """About what the limit of a share is for so many draws: only a choice depends on it."""
    doubt = -math.log(1 - confidence) / max(1, draws)
    return share + doubt + np.sqrt(doubt * (doubt + 2 * share))


def measures(laws: Sequence[Law], odds: float) -> tuple[float, float, float]:
    """The most that single counts tell: the advantage, the power, and how often somebody is sure at least."""
    return (
        max((law.advantage for law in laws), default=0.0),
        max((law.power(FALSE) for law in laws), default=FALSE),
        max((law.surely(SURE, odds) for law in laws), default=0.0),
    )


def single_counts_of(person: Person, zone: tuple[int, ...], yes: float) -> list[Law]:
    """The laws of single counts with the event and without, of those that tell most: exact, or telling less."""
    inside = [c for c, (_, own, _) in enumerate(cells(person.release)) if set(own) <= set(zone)]
    if not inside:
        return []
    table, size = person.beside.habits, person.size
    often = np.minimum(person.chance[inside] / yes, 1.0)
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
