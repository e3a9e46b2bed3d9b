"""Can a person's presence at a counted place be inferred? For each place, on people uncertain to be there.

There are two adversaries: an *insider* knows everybody else's places, and *habits* knows the others by their habits
only. There are three passes over everybody in blocks, in memory or on disk. The first finds each person's chance of
ever being at each place. The second counts the others in each count (`presence_crowd`). The third measures the people
drawn for each place (`presence_habits`, `question_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.everyone import Everybody
from passerby.errors import InputError, PasserbyError, UnsupportedRelease
from passerby.model.counts import Visitors
from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.others.counted import numbers as everybody_counted
from passerby.others.crowd import Crowd
from passerby.people.common import MOST
from passerby.people.habits import People
from passerby.people.origins import spread
from passerby.people.totals import Totals, told_by_totals
from passerby.questions.event import Event
from passerby.questions.measure import measure
from passerby.support.blocks import Team
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.checks import whole
from passerby.support.workers import Progress, collect

from .asking import words_of
from .job import Job, check_job, over_states, some_numbers
from .person import stream_of
from .presence_crowd import Habitual, Numbers, Seats, cells_of, habitual, numbers_by_share
from .presence_habits import Beside, Ceiling, Person, cells, closed, rows_of_places
from .question_rows import ENDS, FALSE, HABITS, INSIDER, SCHEMA, WEEKS, Asked, Row, of_weeks, rows_of
from .question_words import Named, Zone, places_by_name
from .settings import Measurement, QuestionSettings
from .subjects import subjects_of

Floats = NDArray[np.float64]
Adversary = Literal["insider", "habits"]

#: Who may well be at a place, and may well not: with a chance within these.
MAY_WELL, AS_GOOD_AS_SURE = 0.01, 0.99
#: Draws for each person, of others whom the adversary knows by habits, at least: for raw counts and rules, and noise.
DRAWS, NOISY_DRAWS = 700, 300
#: The most measured pairs of a person and a place; and the most people in memory for counts of flows.
MOST_PAIRS, MOST_PEOPLE = 6000, 5000
#: Digits kept: sums over blocks depend on their order by rounding.
DIGITS = 9


@dataclass(frozen=True)
class Watched:
    """The counted places and zones of a release by name, each once."""

    names: tuple[str, ...]
    zones: tuple[Zone, ...]

    @classmethod
    def of(cls, release: Release, named: Named, places: Sequence[str] | None = None) -> Watched:
        """All counted ones, or the named `places`; of a flow, its start and its end."""
        known = named if not isinstance(named, Sequence) else places_by_name(named)
        if places is None:
            zones = dict.fromkeys(zone for subject in subjects_of(release) for zone in subject.zones)
            called = {zone: name for name, zone in reversed([*known.items()])}
            names = [called.get(zone) or " or ".join(called.get((x,), "elsewhere") for x in zone) for zone in zones]
            return cls(tuple(names), tuple(zones))
        wrong = next((name for name in places if name not in known), None)
        if wrong is not None:
            raise InputError(f"places: {wrong!r} is not one of the {len(known):,} chosen places and zones")
        return cls(tuple(places), tuple(known[name] for name in places))


def presence(
    people: People,
    release: Release,
    places: Sequence[str] | None = None,
    adversary: Adversary = "habits",
    *,
    sample: int = QuestionSettings.presence,
    confidence: float = Measurement.confidence,
    tolerance: float = Measurement.tolerance,
    runs: int = Measurement.runs,
    budget: float = Measurement.budget,
    seed: int = Measurement.seed,
    workers: int | None = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The evidence on people's presence at counted `places` (all, unless named): a row per person and place.

    For each place, the rows are of a `sample` of people with a chance of 1 % to 99 % to be ever there. For others the
    answer is known anyway. The adversary knows the other people by their "habits" only, or is an "insider" with the
    others' places. Columns are the columns of a table of questions (`question_rows`), with the `place`.

    >>> import passerby as pb
    >>> people = pb.fit_people(pb.simulate_city(40, 20, 4), window="3h", places=9, min_active=1, holdout=4)
    >>> table = presence(people, pb.Release([[*range(8)]] * 4), adversary="insider", sample=5)
    >>> table["place"].unique().len() > 1, table["advantage_lower"].min()
    (True, 1.0)
    """
    job = Job(people, release, Measurement(0, tolerance, runs, confidence, budget, seed))
    check_job(job)
    if adversary not in (INSIDER, HABITS):
        raise InputError(f"adversary: expected 'habits' or 'insider', got {adversary!r}")
    watched, team = Watched.of(release, people.places, places), Team(workers, executor)
    everybody = Everybody.here(people, team)
    chosen = choose(everybody, release, watched, whole(sample, "sample", 1), seed)
    asked = Presence(replace(job, people=everybody.common), watched, chosen, adversary)
    return answered(work_of(asked, everybody), team, progress)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The pairs to ask about: people by their numbers, and for each the numbers of the places."""

    people: NDArray[np.int64]
    places: tuple[tuple[int, ...], ...]

    def and_also(self, more: NDArray[np.int64]) -> Chosen:
        """With people who are asked about no place, unless they are among those who are."""
        asked = dict(zip(self.people.tolist(), self.places, strict=True))
        people = sorted({*asked, *more.tolist()})
        return Chosen(np.array(people, dtype=np.int64), tuple(asked.get(person, ()) for person in people))


@dataclass(frozen=True, eq=False)
class Presence:
    """What is asked: `job` is about everybody, and its release as it is published, of others who are known.

    Numbers are made ready for whoever knows such `shares` of the others besides.
    """

    job: Job
    watched: Watched
    chosen: Chosen
    adversary: str
    #: What was published, by step, where that is known.
    published: Sequence[Sequence[float]] | None = None
    shares: tuple[float, ...] = ()


def choose(
    everybody: Everybody, release: Release, watched: Watched, sample: int, seed: int, progress: Progress | None = None
) -> Chosen:
    """For each place, so many of the uncertain people, drawn at random; fewer for many places."""
    case = (release, watched.zones)
    blocks = everybody.blocks.map(_chances, case, progress=progress, sizes=everybody.sizes)
    chance = np.concatenate(blocks) if blocks else np.zeros((0, len(watched.zones)))
    each = min(sample, max(20, MOST_PAIRS // max(1, len(watched.zones))))
    pairs: dict[int, list[int]] = {}
    for k in range(len(watched.zones)):
        likely = chance[:, k].round(DIGITS)
        able = np.flatnonzero((likely >= MAY_WELL) & (likely <= AS_GOOD_AS_SURE))
        for person in able[some_numbers(len(able), each, seed + 3 + k)].tolist():
            pairs.setdefault(person, []).append(k)
    people = np.array(sorted(pairs), dtype=np.int64)
    return Chosen(people, tuple(tuple(pairs[person]) for person in people.tolist()))


def _chances(case: tuple[Release, tuple[Zone, ...]], people: People) -> Floats:
    """How likely each person is ever in each zone (N, K), without the release."""
    release, zones = case
    job = Job(people, release, Measurement())
    own = _places(job, zones)
    within = _within(zones, job)
    out = np.zeros((len(people), len(zones)))
    for person in range(len(people)):
        prior, states = people.prior(person, [*job.sensed, *own], zones=job.zones)
        inside = within[:, states][:, prior.place_of]
        row = prior.initial * ~inside
        for t in range(1, release.steps):
            row = (row @ prior.matrix(t - 1)) * ~inside
        out[person] = 1 - row.sum(axis=1)
    return np.clip(out, 0.0, 1.0)


def _places(job: Job, zones: tuple[Zone, ...]) -> tuple[int, ...]:
    """Places with a need for a state of their own."""
    events = tuple(Event(Visitors(zone, range(job.release.steps))) for zone in zones)
    return Asked.places_of(events, job)


def _within(zones: tuple[Zone, ...], job: Job) -> NDArray[np.bool_]:
    """The places in each zone (K, ...): `-1 - label` is the column of many places of a label at once."""
    every = len(job.people.places)
    label = np.zeros(every, dtype=np.int64) if job.zones is None else job.zones
    out = np.zeros((len(zones), every + int(label.max()) + 1), dtype=bool)
    for k, zone in enumerate(zones):
        out[k, list(zone)] = True
        inside = out[k, :every]
        for one in np.unique(label[inside]).tolist():
            out[k, -1 - one] = bool(one) and inside[label == one].all()
    return out


def answered(work: Work, team: Team, progress: Progress | None = None, file: Path | None = None) -> pl.DataFrame:
    """The rows of all chosen people, in the order of people and places; a `file` keeps finished rows."""
    kept = None if file is None else Checkpoints(file, fingerprint(work, MAY_WELL, DRAWS, NOISY_DRAWS))
    everyone = range(len(work.places))
    found = collect(_one, work, everyone, **vars(team), chunk=8, progress=progress, kept=kept)
    ids = work.job.people.ids
    who = [ids[work.at(number)] for number, rows in enumerate(found) for _ in rows]
    return _table(who, [row for rows in found for row in rows], ids.dtype)


def _table(who: list[Any], rows: list[Row], kind: Any) -> pl.DataFrame:
    schema = {"place": pl.String(), **SCHEMA}
    table = pl.DataFrame(rows, schema=schema).insert_column(0, pl.Series("person", who, dtype=kind))
    rounded = [pl.col(name).list.eval(pl.element().round(DIGITS)) for name in ("weeks_lower", "weeks_upper")]
    return table.with_columns(pl.col(pl.Float64).round(DIGITS), *rounded)


@dataclass(frozen=True, eq=False)
class Work:
    """What workers share: the people who were chosen, what is asked of each, and of others their numbers.

    `partly` are the numbers of those who are unknown, for each share of the others who are known.
    """

    job: Job
    watched: Watched
    words: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]
    adversary: str
    own: tuple[int, ...]
    everybody: Numbers | None = None
    partly: tuple[Numbers, ...] = ()
    total: NDArray[np.int64] | None = None
    alone: tuple[Habitual, ...] = ()
    #: The numbers of the chosen people among the people of the job, if these are more.
    index: tuple[int, ...] | None = None

    def at(self, number: int) -> int:
        """The number of somebody who was chosen among the people of the job."""
        return number if self.index is None else self.index[number]


def work_of(asked: Presence, everybody: Everybody) -> Work:
    """The work, with its needs about others."""
    people = everybody.some(asked.chosen.people)
    release, watched = asked.job.release, asked.watched
    if asked.adversary == HABITS and release.crowd is not None:
        release = release.with_others(None)
    plain = replace(asked.job, people=replace(people, whereabouts=everybody.common.whereabouts), others=None)
    steps = range(release.steps)
    events = [Event(Visitors(zone, steps)) for zone in watched.zones]
    named = dict(zip(watched.names, watched.zones, strict=True))
    words = tuple(words_of(event, named, None, release.steps) for event in events)
    own = _places(plain, watched.zones)
    shared = (watched, words, asked.chosen.places, asked.adversary, own)
    bare = replace(plain.people, whereabouts=None)
    if asked.adversary == INSIDER:
        return Work(replace(plain, people=bare, others=everyone_else(plain.people, release)), *shared)
    if by_cells(release):
        silent = release.with_others(None)
        if bare.common is not None:
            bare = replace(bare, common=_totals(asked, everybody, silent))
        numbers, *partly = numbers_by_share(everybody.blocks.map(Seats.of, silent), (0.0, *asked.shares))
        total = everybody_counted(everybody.common, silent)
        alone = tuple(habitual(people, silent, range(len(people))))
        return Work(replace(plain, people=bare, release=silent), *shared, numbers, tuple(partly), total, alone)
    crowd = release.with_others(Crowd())
    if sum(everybody.sizes) > MOST_PEOPLE:
        raise UnsupportedRelease(
            f"{release.words}: what others' habits make of flows, visitors and zones that overlap is worked out for "
            f"{MOST_PEOPLE:,} people at most"
        )
    everyone = everybody.some(np.arange(sum(everybody.sizes)))
    job = replace(plain, people=everyone, release=crowd, others=everyone_else(everyone, crowd))
    return Work(job, *shared, index=tuple(asked.chosen.people.tolist()))


def _totals(asked: Presence, everybody: Everybody, release: Release) -> Totals | None:
    """What the total of everybody tells of their day, also without any of those who were chosen."""
    spread_out = spread(sum(everybody.sizes), MOST)
    some = np.union1d(asked.chosen.people, spread_out)
    rows = np.searchsorted(some, spread_out)
    return told_by_totals(everybody.some(some), release, asked.published, everybody.blocks, rows)


def by_cells(release: Release) -> bool:
    """Whether counts are of people present, at each step in one at most, and drawn independently."""
    return cells_of(release) is not None and not any(way.persistent for _, _, way in cells(release))


def _one(work: Work, number: int) -> list[Row]:
    """The rows of one person."""
    which, person = work.places[number], work.at(number)
    zones, words = [work.watched.zones[k] for k in which], [work.words[k] for k in which]
    names = [work.watched.names[k] for k in which]
    rows = by_habits(work, number, zones) if work.everybody is not None else by_questions(work, person, zones, words)
    actual = work.job.people.actual[person]
    return [
        {**row, "place": name, "question": text, "actual": bool(np.isin(actual, zone).any())}
        for row, name, text, zone in zip(rows, names, words, zones, strict=True)
    ]


def by_questions(work: Work, number: int, zones: Sequence[Zone], words: Sequence[str]) -> list[Row]:
    """The rows of one person by questions about them, where nothing is drawn of the others."""
    shown = [seen_for_certain(work.job.release, zone) for zone in zones]
    if all(shown):
        return [_seen(row) for row in _chances_of(work, number, zones)]
    events = tuple(Event(Visitors(zone, range(work.job.release.steps))) for zone in zones)
    return rows_of(Asked(work.job, events, tuple(words), work.own), number)


def seen_for_certain(release: Release, zone: Zone) -> bool:
    """Whether raw counts cover a zone at every step: somebody with the others' places then sees who is there."""
    cells_there = cells_of(release)
    if not release.plain or cells_there is None:
        return False
    covered = [
        {place for at, own in cells_there if at == t and set(own) <= set(zone) for place in own}
        for t in range(release.steps)
    ]
    return all(seen == set(zone) for seen in covered)


def _chances_of(work: Work, number: int, zones: Sequence[Zone]) -> list[float]:
    """How likely one person is ever in each zone."""
    one = replace(work.job.people, **_cut(work.job.people, number))
    return [float(chance) for chance in _chances((work.job.release, tuple(zones)), one)[0]]


def _cut(people: People, number: int) -> dict[str, Any]:
    cut = np.s_[number : number + 1]
    return {"fitted": people.fitted[cut], "actual": people.actual[cut], "ids": people.ids[cut]}


def _seen(chance: float) -> Row:
    """The row of somebody whose presence is seen for certain."""
    status = "certain" if chance >= 1 else "impossible" if chance <= 0 else "ok"
    if status != "ok":
        return {"adversary": INSIDER, "status": status, "sampled": False, "chance": chance, **closed(chance)}
    sure = dict.fromkeys((f"{name}_{end}" for name in ENDS for end in ("lower", "upper")), 1.0)
    always = [1.0] * len(WEEKS)
    head = {"adversary": INSIDER, "status": status, "sampled": False, "chance": chance}
    return {**head, **sure, **of_weeks(always, always)}


def person_of(work: Work, number: int, zones: Sequence[Zone]) -> tuple[Person, list[Zone]]:
    """One person before the release, beside everybody else, and zones over their states."""
    assert work.everybody is not None
    assert work.total is not None
    noisy = any(way.outputs(0) is None for _, _, way in cells(work.job.release))
    prior, release, _, state_of = over_states(work.job, number, work.own)
    beside = Beside.of(work.everybody, work.total, work.alone[number])
    over = [tuple(sorted({int(state_of[place]) for place in zone})) for zone in zones]
    runs = max(NOISY_DRAWS if noisy else DRAWS, work.job.measurement.runs)
    return Person(prior, release, beside, runs, work.job.measurement.confidence), over


def by_habits(work: Work, number: int, zones: Sequence[Zone]) -> list[Row]:
    """The rows of one person, to somebody who knows the others by their habits only."""
    try:
        person, over = person_of(work, number, zones)
        seed = stream_of(work.job.measurement.seed, work.job.people.ids[number])
        known = _by_insider(work, person, over, seed, [seen_for_certain(work.job.release, zone) for zone in zones])
        return rows_of_places(person, over, np.random.default_rng([*seed, 4]), known)
    except PasserbyError as reason:
        return [{"adversary": HABITS, "status": str(reason)} for _ in zones]


def _by_insider(
    work: Work, person: Person, zones: Sequence[Zone], seed: list[int], shown: Sequence[bool]
) -> list[Ceiling]:
    """What somebody finds at most who knows all others, and of the person as much: nobody who knows less finds more."""
    release = person.release
    if all(shown) or not all(way.shift_invariant for way in release.ways):
        return [None] * len(zones)
    events = [Event(Visitors(zone, range(release.steps))) for zone in zones]
    how = {**vars(work.job.measurement), "seed": seed}
    del how["misses"]
    found = measure(person.prior, release, events, **how)
    return [(answer.advantage.upper, answer.power(FALSE).upper) for answer in found]
