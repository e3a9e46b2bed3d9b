"""Check a table of counts before publication, without anybody's trace, for its evidence on people described in words.

For each persona and each of their places a day of the table is looked at, by two adversaries. The insider knows how
many others were counted, which are the numbers of the table. The other one knows the others by their habits: how many
come on average, each independently, so that their number has the Poisson law.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

from passerby.errors import InputError
from passerby.measurement.finding import Interval
from passerby.mechanisms import Mechanism
from passerby.model.counts import Visitors
from passerby.personas.persona import Persona
from passerby.questions.each_step import EachStep
from passerby.questions.event import Event
from passerby.questions.event_answer import EventAnswer
from passerby.questions.in_data import InData
from passerby.questions.measure import measure
from passerby.questions.trace.measure import Trace
from passerby.support import checks

from .cast import cast_of
from .days import MOST_LOOKED, PersonaDay, PersonaDays
from .read import CountTable, read_counts
from .ways import ADVERSARIES, WAYS, ReaderLosses, WayToPublish, reader_losses

#: The questions, by the words for them.
PRESENCE, COUNTED, EACH, TRACE = "was there", "is counted", "where each hour", "whole day"
#: Of so many steps of a look one may be wrong.
PER_MISS = 8
#: Search for the best guess of a trace, and false alarms of a test.
BUDGET, FALSE = 1e7, 0.01
#: For so many weeks it is told what the same table tells, published each week.
WEEKS = (1, 4, 13, 26, 52)
Ends = tuple[float, float]


@dataclass(frozen=True)
class CheckAnswer:
    """One answer: the persona, the question, the way to publish, and the adversary.

    `lower` and `upper` are an advantage for questions of yes or no (0: nothing is told, 1: all), and else the chance of
    the best guess, which is `baseline` without the table. `found` is the share of people for whom it holds who are
    recognised at 1 % false alarms, at least and at most. `single` is the advantage by the most telling single count.
    `weeks` has advantages, at least and at most, where the same is published for so many weeks; None where the numbers
    of other weeks would change what is told.
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
    #: The day that is looked at.
    day: str = ""
    weeks: Mapping[int, tuple[float, float]] | None = None


@dataclass(frozen=True, eq=False)
class TableCheck:
    """A table's evidence on personas, with each way to publish, and its loss for readers."""

    table: CountTable
    people: tuple[PersonaDays, ...]
    ways: tuple[WayToPublish, ...]
    answers: tuple[CheckAnswer, ...]
    readers: Mapping[str, ReaderLosses]
    remarks: tuple[str, ...]

    @property
    def days(self) -> tuple[PersonaDay, ...]:
        """For each persona the likeliest day at the place that is told about first."""
        return tuple(each.likeliest(each.first or each.places[0]) for each in self.people)

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
    people = tuple(PersonaDays(persona, source) for persona in cast)
    answers = [answer for each in people for answer in ask(each, chosen, runs, seed)]
    readers = {way.name: reader_losses(source.counts, way.mechanism) for way in chosen}
    return TableCheck(source, people, chosen, tuple(answers), readers, remarks_of(source, remarks, people))


def remarks_of(table: CountTable, cast: Sequence[str], people: Sequence[PersonaDays]) -> tuple[str, ...]:
    """What is to be said beside the answers: how things were read, what is not examined, and what cannot be."""
    said = [*(each for who in people for each in who.left_out()), *table.remarks, *cast]
    said += [each for who in people for each in who.impossible()]
    if any(who.on_part for who in people):
        said.append(f"A day has more steps than are looked at: the {MOST_LOOKED} at which they are likeliest there.")
    if table.totals:
        said.append(
            "Totals are known of this table. If its counts cover everybody, the number of others follows from a total: "
            "nothing below the figures for whoever knows where everybody else was can be certified then."
        )
    return tuple(said)


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


def presence(
    who: PersonaDays,
    way: WayToPublish,
    against: str,
    runs: int,
    seed: int,
    left: Collection[str] = frozenset(),
) -> list[CheckAnswer]:
    """Whether a persona was at each of their places that are examined, by the counts of places that are not left out.

    Each place is looked at on the day of which its counts tell most; a place that is left out on the likeliest one.
    """
    shown = tuple(place for place in who.places if place not in left)
    asked = [place for place in who.places if shown and (place in left or who.examined(place))]
    by_day: dict[PersonaDay, list[str]] = {}
    for place in asked:
        day = who.likeliest(place) if place in left else who.most_telling(place, way.mechanism, against)
        seen = replace(day, places=shown)
        if seen.shown:
            by_day.setdefault(day, []).append(place)
    found = {}
    for day, places in by_day.items():
        for answer in _of_day(replace(day, places=shown), places, way, against, {"runs": runs, "seed": seed}):
            found[answer.place] = _in_part(answer) if day.cut else answer
    return [found[place] for place in asked if place in found]


def _of_day(
    day: PersonaDay, places: Sequence[str], way: WayToPublish, against: str, effort: dict[str, Any]
) -> list[CheckAnswer]:
    """Presence at some places on a day: of being counted and coming in addition the worse, below certain ends."""
    apart, repeats = day.apart(way.mechanism, against), day.repeats(way.mechanism, against)
    about = {"persona": day.persona.name, "question": PRESENCE, "way": way.name, "against": against, "day": day.day}
    ends = [day.at_most(apart, place) for place in places]
    alone = [day.alone(place, way.mechanism, against) if place in day.places else None for place in places]
    several = []
    for release in day.releases(way.mechanism, against):
        answers = measure(day.prior, release, _events(day, places), **effort)
        rows = zip(places, answers, ends, alone, strict=True)
        several.append(
            [_yes_or_no(found, end, single, repeats, place=place, **about) for place, found, end, single in rows]
        )
    return _worse(several)


def _worse(several: Sequence[Sequence[CheckAnswer]]) -> list[CheckAnswer]:
    """Of answers to the same questions the worse ones, end by end."""
    out = []
    for same in zip(*several, strict=True):
        worst = max(same, key=lambda each: each.upper)
        found = [each.found for each in same if each.found is not None]
        both = (max(x for x, _ in found), max(x for _, x in found)) if found else None
        ends = {"lower": max(each.lower for each in same), "upper": max(each.upper for each in same)}
        curves = [each.weeks for each in same if each.weeks is not None]
        weeks = {w: (max(x[w][0] for x in curves), max(x[w][1] for x in curves)) for w in WEEKS} if curves else None
        out.append(replace(worst, **ends, found=both, weeks=weeks))
    return out


def _events(day: PersonaDay, places: Sequence[str]) -> list[Event]:
    steps = range(day.table.steps)
    return [Event(Visitors([day.number(place)], steps=steps)) for place in places]


def ask(who: PersonaDays, ways: Sequence[WayToPublish], runs: int, seed: int) -> Iterator[CheckAnswer]:
    """All answers about a persona; none where no place is examined.

    Membership is asked on the day of each place, and the worst is told; each hour and the whole day on the first one.
    """
    effort: dict[str, Any] = {"runs": runs, "seed": seed, "budget": BUDGET}
    examined = sorted((place for place in who.places if who.examined(place)), key=lambda place: place != who.first)
    for way, against in product(ways if examined else (), ADVERSARIES):
        yield from presence(who, way, against, runs, seed)
        days = [*dict.fromkeys(who.most_telling(place, way.mechanism, against) for place in examined)]
        members = _worse([each for day in days for each in _members(day, way, against, effort)])
        yield from map(_in_part, members) if any(day.cut for day in days) else members
        yield from _worse(list(_traces(days[0], way, against, effort)))


def _in_part(answer: CheckAnswer) -> CheckAnswer:
    """An answer of a day with further steps: those may tell anything, so that there is no end above."""
    found = None if answer.found is None else (answer.found[0], 1.0)
    weeks = None if answer.weeks is None else {count: (low, 1.0) for count, (low, _) in answer.weeks.items()}
    return replace(answer, upper=1.0, found=found, weeks=weeks)


def _members(day: PersonaDay, way: WayToPublish, against: str, effort: dict[str, Any]) -> Iterator[list[CheckAnswer]]:
    """Whether the persona is counted at all, by each release of a day."""
    about = {"persona": day.persona.name, "question": COUNTED, "place": "", "way": way.name, "against": against}
    end, repeats = day.at_most(day.apart(way.mechanism, against)), day.repeats(way.mechanism, against)
    for release in day.releases(way.mechanism, against):
        yield [_yes_or_no(measure(day.prior, release, InData(), **effort), end, None, repeats, day=day.day, **about)]


def _traces(day: PersonaDay, way: WayToPublish, against: str, effort: dict[str, Any]) -> Iterator[list[CheckAnswer]]:
    """Where the persona is each hour, and the whole day, by each release of a day."""
    name, questions = day.persona.name, [EachStep(), Trace(day.table.steps // PER_MISS)]
    for release in day.releases(way.mechanism, against):
        curve, trace = measure(day.prior, release, questions, **effort)
        chances = [float(each.mean()) for each in (curve.baseline, curve.lower, curve.upper)]
        each = CheckAnswer(name, EACH, "", way.name, against, chances[0], chances[1], chances[2], day=day.day)
        ends = (trace.baseline.lower, trace.lower, trace.upper)
        yield [each, CheckAnswer(name, TRACE, "", way.name, against, *ends, day=day.day)]


def _yes_or_no(answer: EventAnswer, end: float, single: float | None, repeats: bool, **about: str) -> CheckAnswer:
    """The answer to a question of yes or no, with an end that is certain beside those that were found."""
    event = float(answer.event.lower)
    if answer.status != "open":
        return _answer(
            about, event, (0.0, 0.0), (0.0, 0.0), single, dict.fromkeys(WEEKS, (0.0, 0.0)) if repeats else None
        )
    advantage, power = answer.advantage, answer.power(FALSE)
    weeks = _growing({count: answer.weeks(count) for count in WEEKS}, end) if repeats else None
    ends = _below(advantage.lower, advantage.upper, end)
    return _answer(about, event, ends, _below(power.lower, power.upper, FALSE + end), single, weeks)


def _answer(
    about: dict[str, str],
    event: float,
    ends: Ends,
    found: Ends,
    single: float | None,
    weeks: dict[int, Ends] | None,
) -> CheckAnswer:
    return CheckAnswer(**about, baseline=event, lower=ends[0], upper=ends[1], found=found, single=single, weeks=weeks)


def _growing(found: Mapping[int, Interval], end: float) -> dict[int, Ends]:
    """Advantages over weeks: never below those of fewer weeks, and never above those of more."""
    low: dict[int, float] = {}
    high: dict[int, float] = {}
    for count in found:
        low[count] = max([found[count].lower, *low.values()])
    for count in [*found][::-1]:
        high[count] = min([1 - (1 - end) ** count, found[count].upper, *high.values()])
    return {count: _below(low[count], high[count], 1.0) for count in found}


def _below(lower: float, upper: float, end: float) -> Ends:
    """Two ends, of which a certain one is above both."""
    most = min(upper, end)
    return min(lower, most), most
