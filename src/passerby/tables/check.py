"""Check a table of counts before publication, without anybody's trace, for its evidence on people described in words.

For each persona a day of the table is looked at, by two adversaries. The insider knows the number of others in each
count: the numbers of the table. The other one knows the others by their habits, as a mean number of comers. Each comes
independently, so their number has the Poisson law.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from passerby.errors import InputError
from passerby.mechanisms import Mechanism
from passerby.model.counts import Count, Present, Visitors
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.personas.persona import ELSEWHERE, Persona
from passerby.questions.each_step import EachStep
from passerby.questions.event import Event
from passerby.questions.event_answer import EventAnswer
from passerby.questions.in_data import InData
from passerby.questions.measure import measure
from passerby.questions.trace.question import Trace
from passerby.support import checks

from .cast import cast_of
from .read import CountTable, read_counts
from .readers import ReaderLosses, reader_losses
from .ways import ADVERSARIES, INSIDER, WAYS, Comers, WayToPublish

#: The questions, by the words for them.
PRESENCE, COUNTED, EACH, TRACE = "was there", "is counted", "where each hour", "whole day"
#: Steps of one look at most, and of how many steps of a look one may be wrong.
MOST_LOOKED, PER_MISS = 48, 8
#: Somebody may well be at a place at a step with this chance.
WELL = 0.05
#: Search for the best guess of a trace, and false alarms of a test.
BUDGET, FALSE = 1e7, 0.01
#: A prediction may exceed counts by so many standard deviations by chance.
DEVIATIONS = 3.0


@dataclass(frozen=True, eq=False)
class PersonaDay:
    """One persona on one day of the table: the steps, the habits then, and the counted places."""

    persona: Persona
    table: CountTable
    prior: MarkovPrior
    #: Counted places in reach of the persona, the place of the question first.
    places: tuple[str, ...]

    @property
    def day(self) -> str:
        """The day in words."""
        first, last = self.table.clock[0], self.table.clock[-1]
        return f"{first:%A %Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"

    def column(self, place: str) -> int:
        """The number of a place in the table."""
        return self.table.places.index(place)

    def release(self, way: Mechanism, against: str, counted: int = 0) -> Release:
        """The view of one adversary on the counts; so many of all are the persona's own."""
        counts: list[Count] = []
        for place in self.places:
            number = self.persona.places.index(place)
            for t, count in enumerate(self.table.counts[:, self.column(place)].tolist()):
                if np.isnan(count):
                    continue
                if against == INSIDER:
                    counts.append(Present([number], t, mechanism=way, others=max(0, round(count) - counted)))
                else:
                    counts.append(Present([number], t, mechanism=Comers(count, way), others=0))
        return Release(counts=counts, steps=self.table.steps)

    def releases(self, way: Mechanism, against: str) -> list[Release]:
        """The same, for a persona who comes in addition and, if it matters, for one already in the counts."""
        often = 1 if against != INSIDER or way.shift_invariant else 2
        return [self.release(way, against, counted) for counted in range(often)]

    def alone(self, place: str, way: Mechanism, against: str) -> float:
        """The advantage by the most telling single count of a place, if they may well be there."""
        chance = self.prior.marginals(self.table.steps)[:, self.persona.places.index(place)]
        found = [0.0]
        for t, count in enumerate(self.table.counts[:, self.column(place)].tolist()):
            if not np.isnan(count) and chance[t] >= WELL:
                law = way if against == INSIDER else Comers(count, way)
                others = (round(count), max(0, round(count) - 1)) if against == INSIDER else (0,)
                found += [law.total_variation(number) for number in others]
        return max(found)

    def impossible(self) -> list[str]:
        """Contradictions: counts smaller than the persona's own part."""
        out = []
        law, weight = self.prior.marginals(self.table.steps), self.persona.weight
        for place in self.places:
            chance = law[:, self.persona.places.index(place)]
            expected = weight * chance
            least = expected - DEVIATIONS * np.sqrt(expected * (1 - chance))
            short = np.flatnonzero((self.table.counts[:, self.column(place)] < least) & (expected >= 0.5))
            if len(short):
                t = int(short[0])
                count = self.table.counts[t, self.column(place)]
                who = "Somebody" if weight == 1 else f"{weight:,.0f} people"
                out.append(
                    f"{who} like {self.persona.name} cannot have been counted at {place} on this day: at "
                    f"{self.table.clock[t]:%H:%M} they would add {expected[t]:.2g} on average, and the table counts "
                    f"{count:g} there."
                )
        return out


@dataclass(frozen=True)
class CheckAnswer:
    """One answer: the persona, the question, the way to publish, and the adversary.

    For questions of yes or no, `lower` and `upper` are an advantage (0: no evidence, 1: certainty). Otherwise they are
    the chance of the best guess; without the table it is `baseline`. `found` is the share of people recognised at 1 %
    false alarms if the answer is yes, at least and at most. `single` is the advantage by the most telling single count.
    """

    persona: str
    question: str
    place: str
    way: str
    against: str
    baseline: float
    lower: float
    upper: float
    found: tuple[float, float] | None = None
    single: float | None = None


@dataclass(frozen=True, eq=False)
class TableCheck:
    """A table's evidence on personas, with each way to publish, and its loss for readers."""

    table: CountTable
    days: tuple[PersonaDay, ...]
    ways: tuple[WayToPublish, ...]
    answers: tuple[CheckAnswer, ...]
    readers: Mapping[str, ReaderLosses]
    remarks: tuple[str, ...]

    def of(self, persona: str, question: str, place: str = "") -> list[CheckAnswer]:
        """The answers about a persona, in the order of the ways."""
        return [
            each
            for each in self.answers
            if (each.persona, each.question) == (persona, question) and (not place or each.place == place)
        ]


def check_table(
    source: Any,
    personas: str | Path | Persona | Sequence[Any] | None = None,
    *,
    roles: Mapping[str, str] | None = None,
    ways: Sequence[WayToPublish | Mechanism] = WAYS,
    timezone: str | None = None,
    time_format: str | None = None,
    step: str | timedelta | None = None,
    runs: int = 100,
    seed: int = 0,
) -> TableCheck:
    """The evidence of a table of counts on people described in words; no trace of anybody is needed.

    `source` is a table (`read_counts`) or its path. `personas` are such people (`read_personas`), by default ready ones
    whose roles are like places of the table. `roles` binds them to places, `{"clinic": "hospital 001"}`; others are
    guessed by their names, and said. The insider knows the counts of the table as the numbers of others. A persona may
    be one of them or come in addition: the result is the worse of both. `runs` series are drawn if there are too many
    to list.

    >>> import polars as pl
    >>> table = pl.DataFrame({"time": [f"2024-01-15 {h:02}:00" for h in range(7, 12)], "clinic": [2, 3, 3, 2, 1]})
    >>> found = check_table(table, "dialysis")
    >>> raw = found.of("dialysis", "was there")[0]
    >>> raw.way, raw.against, round(raw.lower, 3)
    ('as it is', 'insider', 1.0)
    """
    if not isinstance(source, CountTable):
        source = read_counts(source, timezone=timezone, time_format=time_format, step=step)
    checks.whole(runs, "runs", 2)
    checks.seed(seed)
    chosen = _ways(ways)
    cast, remarks = cast_of(source, personas, roles)
    days = [day_of(persona, source) for persona in cast]
    answers = [answer for day in days for answer in ask(day, chosen, runs, seed)]
    readers = {way.name: reader_losses(source.counts, way.mechanism) for way in chosen}
    said = (*source.remarks, *remarks, *(each for day in days for each in day.impossible()))
    return TableCheck(source, tuple(days), chosen, tuple(answers), readers, said)


def _ways(ways: Any) -> tuple[WayToPublish, ...]:
    if isinstance(ways, (Mechanism, WayToPublish)) or not isinstance(ways, Sequence) or isinstance(ways, str):
        raise InputError(f"ways: expected a list of mechanisms such as [Rounding(5)], got {checks.shown(ways)}")
    out = []
    for way in ways:
        if not isinstance(way, (Mechanism, WayToPublish)):
            raise InputError(f"ways: expected mechanisms such as Rounding(5), got {checks.shown(way)}")
        out.append(way if isinstance(way, WayToPublish) else WayToPublish(repr(way), way))
    if not out:
        raise InputError("ways: the list is empty; give one mechanism at least, such as Raw()")
    return tuple(out)


def day_of(persona: Persona, table: CountTable) -> PersonaDay:
    """The day of a persona's longest stay at the counted place of the question; of several the quietest."""
    counted = tuple(place for place in persona.places if place in table.places and place != ELSEWHERE)
    first = counted[0]
    law = persona.over(table.calendar).marginals(table.steps)
    chance = law[:, persona.places.index(first)]
    column = table.counts[:, table.places.index(first)]
    long = int(np.median(table.calendar.ends - table.calendar.begins)) >= 24 * 60
    days = np.array([each.toordinal() // (7 if long else 1) for each in table.clock])

    def worth(day: int) -> tuple[float, float]:
        there = (days == day) & ~np.isnan(column)
        return float(chance[there].sum().round(6)), -float(column[there].sum())

    best = max(np.unique(days).tolist(), key=worth)
    steps = np.flatnonzero(days == best)
    while len(steps) > MOST_LOOKED:  # the part of the day with most of their time there
        steps = steps[1:] if chance[steps[0]] < chance[steps[-1]] else steps[:-1]
    part = table.between(int(steps[0]), int(steps[-1]) + 1)
    return PersonaDay(persona, part, persona.over(part.calendar), counted)


def presence(
    day: PersonaDay, places: Sequence[str], way: WayToPublish, against: str, runs: int, seed: int
) -> list[CheckAnswer]:
    """Whether a persona was at each of some places, by the counts of the covered ones on that day."""
    effort: dict[str, Any] = {"runs": runs, "seed": seed}
    about = {"persona": day.persona.name, "question": PRESENCE, "way": way.name, "against": against}
    found = []
    for release in day.releases(way.mechanism, against):
        answers = measure(day.prior, release, _events(day, places), **effort)
        pairs = zip(places, answers, strict=True)
        found.append([_yes_or_no(answer, None, place=place, **about) for place, answer in pairs])
    return _worse(found)


def _worse(several: Sequence[list[CheckAnswer]]) -> list[CheckAnswer]:
    """Of answers to the same questions the worse ones, end by end."""
    out = []
    for same in zip(*several, strict=True):
        found = [each.found for each in same if each.found is not None]
        both = (max(x for x, _ in found), max(x for _, x in found)) if found else None
        ends = {"lower": max(each.lower for each in same), "upper": max(each.upper for each in same)}
        out.append(replace(same[0], **ends, found=both))
    return out


def _events(day: PersonaDay, places: Sequence[str]) -> list[Event]:
    steps = range(day.table.steps)
    return [Event(Visitors([day.persona.places.index(place)], steps=steps)) for place in places]


def ask(day: PersonaDay, ways: Sequence[WayToPublish], runs: int, seed: int) -> Iterator[CheckAnswer]:
    """All answers about a persona's day."""
    questions = [*_events(day, day.places), InData(), EachStep(), Trace(day.table.steps // PER_MISS)]
    effort: dict[str, Any] = {"runs": runs, "seed": seed, "budget": BUDGET}
    for way in ways:
        for against in ADVERSARIES:
            releases = day.releases(way.mechanism, against)
            found = [measure(day.prior, release, questions, **effort) for release in releases]
            yield from _worse([_asked(day, way, against, each) for each in found])


def _asked(day: PersonaDay, way: WayToPublish, against: str, found: Sequence[Any]) -> list[CheckAnswer]:
    """The answers for one release."""
    *there, counted, curve, trace = found
    about = {"persona": day.persona.name, "way": way.name, "against": against}
    out = []
    for place, answer in zip(day.places, there, strict=True):
        single = day.alone(place, way.mechanism, against)
        out.append(_yes_or_no(answer, single, question=PRESENCE, place=place, **about))
    out.append(_yes_or_no(counted, None, question=COUNTED, place="", **about))
    chances = [float(each.mean()) for each in (curve.baseline, curve.lower, curve.upper)]
    out.append(CheckAnswer(day.persona.name, EACH, "", way.name, against, chances[0], chances[1], chances[2]))
    ends = (trace.baseline.lower, trace.lower, trace.upper)
    return [*out, CheckAnswer(day.persona.name, TRACE, "", way.name, against, *ends)]


def _yes_or_no(answer: EventAnswer, single: float | None, **about: str) -> CheckAnswer:
    """The answer to a question of yes or no."""
    event = float(answer.event.lower)
    if answer.status != "open":
        return CheckAnswer(**about, baseline=event, lower=0.0, upper=0.0, found=(0.0, 0.0), single=single)
    advantage, power = answer.advantage, answer.power(FALSE)
    found = (power.lower, power.upper)
    return CheckAnswer(
        **about, baseline=event, lower=advantage.lower, upper=advantage.upper, found=found, single=single
    )
