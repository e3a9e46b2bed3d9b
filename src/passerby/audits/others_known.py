"""Others of whom a share is known: how presence and membership fall from an insider to somebody who knows habits alone.

On a sample of people, at the counted place that tells most. Each of the others is known with chance q, by a coin that
follows from their name: whoever knows a larger share knows all of a smaller one, and more. Who is known is where they
really were, beside a crowd of the rest. So the curve is for these coins and this day. For raw counts and noise it
grows with q in each case; of rules that treat small and large counts differently, it does on average over where the
known ones are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import PasserbyError
from passerby.questions.in_data import InData
from passerby.support.blocks import Team
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.rule_of_five import FEW, fives_below, rest_enough
from passerby.support.workers import Progress, collect, silent

from .job import some_numbers
from .person import stream_of
from .presence import Work, by_questions, person_of
from .presence_all import MEMBERS, Present
from .presence_crowd import Table, cells_of, coin_of
from .presence_habits import Beside, row_of
from .question_rows import HABITS, INSIDER, Asked, Row, rows_of
from .question_words import Zone
from .record import Bracket, PlaceAnswers, ShareAnswers

Floats = NDArray[np.float64]

#: What is told of each question: both ends of two measures.
MEASURES = ("advantage_lower", "advantage_upper", "power_lower", "power_upper")
#: Whether somebody is counted, in the words of settings.
COUNTED = "counted"


@dataclass(frozen=True, eq=False)
class _Case:
    """What workers share: both adversaries, the shares of the others who are known, and the place."""

    habits: Work
    insider: Work
    shares: tuple[float, ...]
    place: int | None
    tasks: tuple[tuple[int, bool, bool], ...]


def others_known(
    present: Present,
    shares: Sequence[float],
    team: Team,
    progress: Progress = silent,
    folder: Path | None = None,
) -> list[ShareAnswers]:
    """What is told of each question and share; nothing where others cannot be known one by one, or people are few."""
    habits, insider = present.works.get(HABITS), present.works.get(INSIDER)
    if habits is None or insider is None or habits.everybody is None or not shares:
        return []
    first = most_telling(present.places)
    place = None if first is None else habits.watched.names.index(first.place)
    visitors = set() if place is None else _open(present, habits, place)
    members = {*present.members}
    tasks = tuple((number, number in members, number in visitors) for number in sorted(members | visitors))
    case = _Case(habits, insider, tuple(sorted(shares)), place, tasks)
    kept = None if folder is None else Checkpoints(folder / "known-shares.jsonl", fingerprint(case))
    found = collect(_one, case, range(len(tasks)), **vars(team), chunk=4, progress=progress, kept=kept)
    asked = [(COUNTED, None)] if first is None else [(COUNTED, None), (f"visited:{first.place}", first.place)]
    return [each for k, about in enumerate(asked) for each in _told(case.shares, *about, [pair[k] for pair in found])]


def most_telling(places: Sequence[PlaceAnswers]) -> PlaceAnswers | None:
    """The place that a report names first: sensitive ones before others, and those that tell most by habits."""
    told = [(each, each.power) for each in places if each.adversary == HABITS and each.power is not None]
    told.sort(key=lambda pair: (not pair[0].sensitive, -pair[1].lower, -pair[1].upper, pair[0].place))
    return told[0][0] if told else None


def _open(present: Present, work: Work, place: int) -> set[int]:
    """Some people who may well be at the place, by their numbers among those who were chosen."""
    assert present.rows is not None
    name = work.watched.names[place]
    rows = present.rows.filter((pl.col("place") == name) & (pl.col("adversary") == HABITS))
    open_ = set(rows.filter(pl.col("status").is_in(["ok", "wide"]))["person"].to_list())
    able = [n for n, which in enumerate(work.places) if place in which and work.job.people.ids[n] in open_]
    some = some_numbers(len(able), rest_enough(MEMBERS, len(able)), work.job.measurement.seed + 2)
    return {able[k] for k in some.tolist()}


def _one(case: _Case, task: int) -> list[list[list[float]] | None]:
    """For membership and presence, both ends of each measure for each share; None where it is not asked, or refused."""
    number, member, visitor = case.tasks[task]
    zone = case.habits.watched.zones[case.place] if case.place is not None and visitor else None
    asked = [member, zone is not None]
    try:
        rows = [_rows(case, number, asked, zone, share) for share in case.shares]
    except PasserbyError:
        return [None, None]
    out: list[list[list[float]] | None] = []
    for k, wanted in enumerate(asked):
        own = [row[k] for row in rows]
        known = wanted and all(row.get("status") in ("ok", "wide") for row in own)
        out.append(_in_order(case, np.array([[row[name] for name in MEASURES] for row in own])) if known else None)
    return out


def _rows(case: _Case, number: int, asked: Sequence[bool], zone: Zone | None, share: float) -> list[Row]:
    """The rows of both questions for one share."""
    if share >= 1:
        return _insider(case, number, asked, zone)
    work = case.habits
    person, over = person_of(work, number, [] if zone is None else [zone])
    confidence = 1 - (1 - person.confidence) / len(case.shares)
    person = replace(person, beside=_beside(case, number, share), confidence=confidence)
    # The same draws for all shares.
    rng = np.random.default_rng([*stream_of(work.job.measurement.seed, work.job.people.ids[number]), 5])
    drawn = person.drawn(rng)
    return [
        row_of(person, drawn, None, rng) if asked[0] else {},
        row_of(person, drawn, over[0], rng) if asked[1] else {},
    ]


def _insider(case: _Case, number: int, asked: Sequence[bool], zone: Zone | None) -> list[Row]:
    """The same for whoever knows all of the others."""
    work = case.insider
    counted = Asked(work.job, (InData(),), (COUNTED,), work.own)
    return [
        rows_of(counted, number)[0] if asked[0] else {},
        by_questions(work, number, [zone], [""])[0] if zone is not None else {},
    ]


def _beside(case: _Case, number: int, share: float) -> Beside:
    """The others of one person, of whom such a share is known: they are where they really were."""
    work, k = case.habits, case.shares.index(share)
    everybody, people = work.partly[k], work.job.people
    assert work.total is not None
    if coin_of(people.ids[number]) >= share:
        return Beside.of(everybody, work.total, work.alone[number])
    # The person is not among those who are unknown, but was counted.
    actual = people.actual[number].tolist()
    mine = np.array([actual[t] in zone for t, zone in cells_of(work.job.release) or []], dtype=np.int64)
    rest = work.total - everybody.there - mine
    return Beside(Table.of(everybody.habits), Table.of(everybody.told), rest, rest + everybody.known)


def _in_order(case: _Case, ends: Floats) -> list[list[float]]:
    """Ends (shares, 4) of which none contradicts that whoever knows more finds no less, where that is so in each case.

    Whoever knows everybody may know more of the day as well, and is then compared with nobody.
    """
    job = case.habits.job
    out = ends.copy()
    if all(way.raw or way.shift_invariant for way in job.release.ways):
        some = np.ones(len(out), dtype=bool)
        some[-1] = job.people.common is None or case.shares[-1] < 1
        for low in (0, 2):
            lower = np.maximum.accumulate(out[some, low])
            upper = np.minimum.accumulate(out[some, low + 1][::-1])[::-1]
            # A sample may be unlucky.
            if (lower <= upper).all():
                out[some, low], out[some, low + 1] = lower, upper
    return [[float(x) for x in row] for row in out]


def _told(
    shares: Sequence[float], question: str, place: str | None, found: Sequence[list[list[float]] | None]
) -> list[ShareAnswers]:
    """Means over people of each share; none where people are few."""
    values = np.array([rows for rows in found if rows is not None])
    if len(values) < FEW:
        return []
    means = values.mean(axis=0).round(6).tolist()
    people = fives_below(len(values))
    return [
        ShareAnswers(
            question=question,
            place=place,
            share=share,
            people=people,
            advantage=Bracket(lower=row[0], upper=row[1]),
            power=Bracket(lower=row[2], upper=row[3]),
        )
        for share, row in zip(shares, means, strict=True)
    ]
