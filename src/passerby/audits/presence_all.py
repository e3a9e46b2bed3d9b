"""Presence at all counted places, for both adversaries: rows, their summary, and the alerts on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from passerby.audits.everyone import Everybody
from passerby.errors import UnsupportedRelease
from passerby.model.release import Release
from passerby.people.totals import IMPOSSIBLE, Totals
from passerby.support.blocks import Team
from passerby.support.rule_of_five import FEW, fives_below, rest_enough
from passerby.support.workers import Progress, collect, silent
from passerby.visits.steps import names_of_steps

from .job import Job, some_numbers
from .presence import Presence, Watched, Work, answered, by_habits, choose, person_of, work_of
from .presence_summary import LOOKED_AT, NOISE, RULES, About, about_presence, few_and_found, single_counts, told_places
from .question_rows import FALSE, HABITS, INSIDER
from .question_words import Named, Zone
from .record import Bracket, HourAnswer, PlaceAnswers, WayAnswer
from .results import Rows
from .settings import Measurement

#: Places at which ways to publish are tried on all counts of a day together, and people who are tried there.
TRIED_AT, TRIED_ON = 2, 6
#: People of whom it is asked whether they are counted, to whoever knows some of the others.
MEMBERS = 20


@dataclass(frozen=True, eq=False)
class Present:
    """The rows of both adversaries, a record for each place and adversary, and sentences for the top of a page."""

    rows: pl.DataFrame | None
    places: tuple[PlaceAnswers, ...]
    alerts: tuple[str, ...]
    #: What workers share for each adversary, by name, and people to be asked whether they are counted.
    works: Mapping[str, Work] = field(default_factory=dict)
    members: tuple[int, ...] = ()

    @property
    def asked(self) -> Rows | None:
        """The rows in the form of other questions, without the place; None without any question."""
        return None if self.rows is None else Rows.here(self.rows.drop("place"))


def presence_of_all(
    everybody: Everybody,
    release: Release,
    how: Measurement,
    named: Named,
    sensitive: Mapping[Zone, str | None],
    sample: int,
    *,
    team: Team,
    progress: Progress = silent,
    folder: Path | None = None,
    published: Sequence[Sequence[float]] | None = None,
    shares: Sequence[float] = (),
) -> Present:
    """Ask who can be told to have been where; a folder keeps what is finished when it is interrupted.

    Totals are those of what was `published`, where that is known. With `shares` of the others who may be known, the
    numbers of the rest are made ready for `others_known`.
    """
    watched = Watched.of(release, named)
    job = Job(everybody.common, release, how)
    chosen = choose(everybody, release, watched, sample, how.seed)
    size = sum(everybody.sizes)
    members = some_numbers(size, rest_enough(MEMBERS, size) if shares else 0, how.seed + 2)
    chosen = chosen.and_also(members)
    about = About.of(watched, release, everybody.common, sensitive)
    tables, places, alerts, few = list[pl.DataFrame](), list[PlaceAnswers](), list[str](), list[str]()
    works: dict[str, Work] = {}
    for part, adversary in enumerate((HABITS, INSIDER)):
        asked = Presence(job, watched, chosen, adversary, published, tuple(shares))
        file = None if folder is None else folder / f"{adversary}.jsonl"
        try:
            work = work_of(asked, everybody)
        except UnsupportedRelease as reason:
            alerts.append(
                "Whether an acquaintance, who knows everybody's habits alone, can tell somebody to have been at "
                f"counted places was not tried: {reason}."
            )
            continue
        works[adversary] = work
        table = answered(work, team, partial(_of_both, progress, part), file)
        alerts += _impossible(work) if adversary == HABITS else []
        hours, ways = single(work) if work.everybody is not None else ({}, {})
        places += told_places(table, watched, about, adversary, hours, ways)
        if adversary == HABITS:
            few = few_and_found(table, watched, sensitive)
            if work.everybody is not None:
                places = over_the_day(work, places, team)
        tables.append(table)
    if all(way.shift_invariant for way in release.ways):
        places = no_less(places)
    found = about_presence(places, few)
    asked_too = tuple(np.searchsorted(chosen.people, members).tolist())
    return Present(pl.concat(tables) if tables else None, tuple(places), (*found, *alerts), works, asked_too)


def _of_both(progress: Progress, part: int, done: int, everyone: int) -> None:
    """Tell how much is done of both adversaries together."""
    progress(part * everyone + done, 2 * everyone)


def _impossible(work: Work) -> list[str]:
    """What is said of totals that the people at hand cannot make."""
    told = work.job.seen.common
    return [IMPOSSIBLE] if isinstance(told, Totals) and told.impossible else []


def no_less(places: Sequence[PlaceAnswers]) -> list[PlaceAnswers]:
    """The same with insiders finding no less than an acquaintance of the same people, or than their advantage asks for.

    This holds for mechanisms that hide as much whatever the number of others is, such as normal noise.
    """
    known = {each.place: each for each in places if each.adversary == HABITS}
    return [_no_less(each, known.get(each.place)) if each.adversary == INSIDER else each for each in places]


def _no_less(insider: PlaceAnswers, other: PlaceAnswers | None) -> PlaceAnswers:
    if insider.power is None or insider.advantage is None:
        return insider
    same = other is not None and (other.people, other.chance) == (insider.people, insider.chance)
    less = other.power.lower if same and other is not None and other.power is not None else 0.0
    least = max(insider.power.lower, less, implied_power(insider.advantage.lower))
    return insider.model_copy(
        update={"power": insider.power.model_copy(update={"lower": min(least, insider.power.upper)})}
    )


def implied_power(advantage: float) -> float:
    """The share found at 1 % false alarms, at least, by the best test with such a mean advantage.

    A test with more false alarms f finds `f + advantage`; of its alarms, so many are kept at random that 1 % are false.
    So it finds `0.01 / (1 - advantage)` at least, or more where it has fewer false alarms. The tangent at 0.9 goes on
    from there: of a convex function, a mean is no less than the function of the mean (Jensen).

    >>> round(implied_power(0.19), 4), implied_power(0.0), round(implied_power(1.0), 3)
    (0.0123, 0.01, 0.2)
    """
    bent = min(advantage, 0.9)
    return FALSE / (1 - bent) + (advantage - bent) * FALSE / (1 - bent) ** 2


def over_the_day(work: Work, places: list[PlaceAnswers], team: Team) -> list[PlaceAnswers]:
    """The same with each way to publish tried on all counts together, at the places that tell most, on few people."""
    known = [each for each in places if each.power is not None and each.ways]
    known.sort(key=lambda each: (not each.sensitive, *((-each.power.lower, -each.power.upper) if each.power else ())))
    ways, cases = {**RULES, **NOISE}, []
    for each in known[:TRIED_AT]:
        k = work.watched.names.index(each.place)
        some = [n for n, which in enumerate(work.places) if k in which][:TRIED_ON]
        cases += [(k, way, n) for way in ways for n in some]
    released = {way: replace(work, job=replace(work.job, release=work.job.release.through(ways[way]))) for way in ways}
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for (k, way, _), ends in zip(cases, collect(_of_day, released, cases, **vars(team), chunk=8), strict=True):
        if ends is not None:
            found.setdefault((work.watched.names[k], way), []).append(ends)

    def with_day(place: str, way: WayAnswer) -> WayAnswer:
        ends = found.get((place, way.way), [])
        if len(ends) < FEW:
            return way
        lower, upper = (round(float(np.mean(side)), 4) for side in zip(*ends, strict=True))
        return way.model_copy(update={"day": Bracket(lower=lower, upper=upper), "day_people": fives_below(len(ends))})

    return [
        each.model_copy(update={"ways": [with_day(each.place, way) for way in each.ways]}) if each.ways else each
        for each in places
    ]


def _of_day(released: Mapping[str, Work], case: tuple[int, str, int]) -> tuple[float, float] | None:
    """The power of all counts of a day about one person at one place, both ends; None where that is refused."""
    k, way, number = case
    (row,) = by_habits(released[way], number, [released[way].watched.zones[k]])
    return (float(row["power_lower"]), float(row["power_upper"])) if row["status"] in ("ok", "wide") else None


def single(work: Work) -> tuple[dict[str, list[HourAnswer]], dict[str, list[WayAnswer]]]:
    """The evidence of single counts on some of the chosen people, by place."""
    assert work.everybody is not None
    assert work.total is not None
    hours, ways = {}, {}
    starts = names_of_steps(work.job.people.starts[work.job.people.fitted.shape[1] :])
    for k, name in enumerate(work.watched.names):
        some = [n for n, which in enumerate(work.places) if k in which][:LOOKED_AT]
        pairs = [person_of(work, n, [work.watched.zones[k]]) for n in some]
        people, zones = [person for person, _ in pairs], [over[0] for _, over in pairs]
        rest = work.total - work.everybody.there
        found, ways[name] = single_counts(people, zones, work.everybody, rest, work.job.release)
        hours[name] = [each.model_copy(update={"begins": starts[each.step]}) for each in found] if starts else found
    return hours, ways
