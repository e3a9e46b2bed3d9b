"""Presence at counted places under a release: an adversary's mean success at telling who was ever there.

At each place, the mean is over people with a chance well between 0 and 1 to be there, drawn at random. During the
search, only the most telling single count of a few of them is reckoned. It is exact for an adversary with the others'
habits, or slightly below. Recommended plans are measured with both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.everyone import Everybody
from passerby.audits.job import Job
from passerby.audits.person import stream_of
from passerby.audits.presence import (
    Chosen,
    Presence,
    Watched,
    Work,
    answered,
    by_cells,
    choose,
    person_of,
    seen_for_certain,
    work_of,
)
from passerby.audits.presence_crowd import by_rule
from passerby.audits.presence_crowd import cells_of as counted_cells
from passerby.audits.presence_habits import Person
from passerby.audits.presence_tests import shifted, single_law
from passerby.audits.question_rows import HABITS
from passerby.audits.settings import Measurement
from passerby.errors import PasserbyError
from passerby.mechanisms import Mechanism
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.blocks import Team
from passerby.support.rule_of_five import FEW

from .lever import cells_of, ways_of
from .limit import ROUNDING, Against, Verdict
from .survey import Beside

Zone = tuple[int, ...]
#: The most and fewest people of each place to ask about, and the most of all places together.
MOST, LEAST, ALTOGETHER = 30, 10, 120
#: The number of single counts of a place in reckonings during the search.
CLOSELY = 3


@dataclass(frozen=True)
class Kept:
    """The default limit: `at_most` this advantage at each counted place, and the adversary. 1 is no limit at all."""

    at_most: float
    against: Against = "habits"


@dataclass(frozen=True)
class AtPlace:
    """The adversary's mean advantage in telling which `people` were ever at a place: both ends, and the limit.

    Unless it was measured `closely`, the lower end is the end of single counts, of some of these people. With fewer
    than five people there is no upper end: the sure evidence on them decides.
    """

    place: str
    people: int
    lower: float
    upper: float
    limit: float
    closely: bool

    @property
    def verdict(self) -> Verdict:
        """Whether the advantage stays below the limit."""
        if self.lower > self.limit + ROUNDING:
            return "refused"
        enough = self.closely and (self.people < FEW or self.upper <= self.limit + ROUNDING)
        return "sure" if enough else "open"


class Guard:
    """Presence under releases made from the wanted one: each is measured once."""

    def __init__(
        self,
        people: People,
        wanted: Release,
        kept: Kept,
        measurement: Measurement,
        named: Mapping[str, Zone],
        *,
        beside: Beside | None = None,
        blind: bool = False,
        workers: int | None = 1,
        executor: Executor | None = None,
    ) -> None:
        self.kept, self.named, self.beside = kept, named, beside
        self.wanted = self._whole(wanted)
        self.team = Team(workers, executor)
        # The whereabouts of others are imagined here: a decision about counts does not look at the true ones.
        people = imagined(people, self.wanted, measurement.seed) if blind else people
        self.everybody = Everybody.here(people, self.team)
        self.job = Job(self.everybody.common, self.wanted, measurement)
        self._works: dict[Any, Work] = {}
        self._told: dict[Release, tuple[AtPlace, ...]] = {}
        self._laws: dict[Any, float] = {}

    def _whole(self, release: Release) -> Release:
        """Together with the published releases."""
        return release if self.beside is None else self.beside(release)

    @cached_property
    def base(self) -> tuple[Watched, Chosen]:
        """The places of the wanted release, and the pairs of people and places to ask about."""
        return self._chosen(self.wanted)

    def _chosen(self, release: Release) -> tuple[Watched, Chosen]:
        watched = Watched.of(release, self.named)
        sample = max(LEAST, min(MOST, ALTOGETHER // max(1, len(watched.zones))))
        return watched, choose(self.everybody, release, watched, sample, self.job.measurement.seed)

    def _asked(self, release: Release) -> tuple[Watched, Chosen]:
        """The same people if the places of a release are all among the wanted ones."""
        watched, (first, chosen) = Watched.of(release, self.named), self.base
        if not {*watched.zones} <= {*first.zones}:
            return self._chosen(release)
        new = {first.zones.index(zone): k for k, zone in enumerate(watched.zones)}
        left = [tuple(new[k] for k in which if k in new) for which in chosen.places]
        some = [n for n, which in enumerate(left) if which]
        return watched, Chosen(chosen.people[some], tuple(left[n] for n in some))

    def _work(self, release: Release) -> Work:
        """Others' numbers are found once for the same counts, under any mechanism."""
        alike = self.kept.against == HABITS and by_cells(release)
        key = (tuple(counted_cells(release) or ()), release.reveals) if alike else release
        known = self._works.get(key)
        if known is not None:
            return replace(known, job=replace(known.job, release=release.with_others(None) if alike else release))
        watched, chosen = self._asked(release)
        work = work_of(Presence(replace(self.job, release=release), watched, chosen, self.kept.against), self.everybody)
        if alike:
            self._works[key] = work
        return work

    def told(self, release: Release) -> tuple[AtPlace, ...]:
        """Both ends at each counted place."""
        if release not in self._told:
            whole = self._whole(release)
            self._told[release] = tuple(self._found(whole)) if cells_of(whole) else ()
        return self._told[release]

    def _found(self, release: Release) -> Iterator[AtPlace]:
        try:
            work = self._work(release)
        except PasserbyError:
            # Nothing is known of it: it is open.
            for name in Watched.of(release, self.named).names:
                yield self._at(name, FEW, (0.0, 1.0))
            return
        rows = answered(work, self.team)
        for name in work.watched.names:
            own = rows.filter((pl.col("place") == name) & ~pl.col("status").is_in(["certain", "impossible"]))
            if own.height:
                ends = [
                    float(own[f"advantage_{end}"].fill_null(rest).to_numpy().mean())
                    for end, rest in (("lower", 0.0), ("upper", 1.0))
                ]
                yield self._at(name, own.height, (ends[0], ends[1]))

    def _at(self, place: str, people: int, ends: tuple[float, float], *, closely: bool = True) -> AtPlace:
        return AtPlace(place, people, *ends, self.kept.at_most, closely)

    def screened(self, release: Release) -> tuple[AtPlace, ...]:
        """Lower ends by single counts, or earlier results."""
        return self._told[release] if release in self._told else self.singles(release)

    def singles(self, release: Release) -> tuple[AtPlace, ...]:
        """The evidence of the most telling single counts on a few people of each place."""
        whole = self._whole(release)
        if self.kept.against != HABITS:
            return tuple(self._seen(whole))
        if not self._some:
            return ()
        ways, out = _ways(whole), []
        for name, (people, some) in self._some.items():
            found = [self._single(k, one, ways) for k, one in some]
            if any(each is not None for each in found):
                lower = float(np.mean([each or 0.0 for each in found]))
                out.append(self._at(name, people, (lower, 1.0), closely=False))
        return tuple(out)

    def _seen(self, release: Release) -> Iterator[AtPlace]:
        """In exact counts, an adversary with the others' places sees the people there."""
        watched, (first, chosen) = Watched.of(release, self.named), self.base
        for name, zone in zip(watched.names, watched.zones, strict=True):
            asked = sum(first.zones.index(zone) in which for which in chosen.places) if zone in first.zones else FEW
            if asked and seen_for_certain(release, zone):
                yield self._at(name, asked, (1.0, 1.0), closely=False)

    def excess(self, release: Release) -> float:
        """How far single counts are above the limit, at all places together."""
        return sum(max(0.0, each.lower - each.limit) for each in self.screened(release))

    @cached_property
    def _some(self) -> dict[str, tuple[int, list[tuple[int, Single]]]]:
        """Of each place, how many people are asked about, and a few of them with the counts of the place."""
        if not by_cells(self.wanted) or not cells_of(self.wanted):
            return {}
        work, out = self._work(self.wanted), {}
        keys = counted_cells(self.wanted) or []
        for k, (name, zone) in enumerate(zip(work.watched.names, work.watched.zones, strict=True)):
            asked = [n for n, which in enumerate(work.places) if k in which]
            some = []
            for n in asked[:FEW]:
                person, over = person_of(work, n, [zone])
                some.append((n * len(work.watched.zones) + k, Single.of(person, over[0], keys, zone)))
            if asked:
                out[name] = len(asked), some
        return out

    def _single(self, number: int, one: Single, ways: Mapping[tuple[int, Zone], Mechanism]) -> float | None:
        """The advantage of the most telling count on one person; None if no count of the place is published."""
        best: float | None = None
        looked = 0
        for rank in one.order:
            way = ways.get(one.keys[rank])
            if way is None:
                continue
            if looked == CLOSELY or (best is not None and best >= one.raw[rank]):
                break
            key = (number, rank, way)
            if key not in self._laws:
                self._laws[key] = one.told(rank, way)
            best, looked = max(best or 0.0, self._laws[key]), looked + 1
        return best


def imagined(people: People, release: Release, seed: int) -> People:
    """The same people with possible whereabouts under their habits (N, T), in place of the real ones."""
    job = Job(people, release, Measurement())
    actual = np.empty((len(people), release.steps), dtype=people.actual.dtype)
    for person in range(len(people)):
        prior, places = people.usual.prior(person, job.sensed, zones=job.zones)
        trace = prior.sample(1, release.steps, np.random.default_rng([*stream_of(seed, people.ids[person]), 5]))[0]
        where = places[trace]
        if job.zones is not None:
            # Any place serves among the ones in the same counts.
            any_of = [int(np.flatnonzero(job.zones == max(0, -1 - each))[0]) for each in where.tolist()]
            where = np.where(where < 0, any_of, where)
        actual[person] = np.where(where < 0, people.elsewhere, where)
    return replace(people, actual=actual, whereabouts=None)


def _ways(release: Release) -> dict[tuple[int, Zone], Mechanism]:
    """The mechanism of each count of people present; of a count published several times, raw if any is."""
    out: dict[tuple[int, Zone], Mechanism] = {}
    for cell, way in zip(cells_of(release), ways_of(release), strict=True):
        if cell.snapshot:
            key = cell.read, cell.zones[0]
            out[key] = way if key not in out or way.raw else out[key]
    return out


@dataclass(frozen=True, eq=False)
class Single:
    """One person and the counts of one place: each by itself, and its evidence if raw."""

    person: Person
    inside: tuple[int, ...]
    keys: tuple[tuple[int, Zone], ...]
    often: NDArray[np.float64]
    raw: NDArray[np.float64]

    @classmethod
    def of(cls, person: Person, over: Zone, keys: Sequence[tuple[int, Zone]], zone: Zone) -> Single:
        """With the counts within a zone, `over` the states of the person."""
        inside = [c for c, (_, own) in enumerate(keys) if set(own) <= set(zone)]
        prior, steps = person.prior, person.release.steps
        away = ~np.isin(prior.place_of, over)
        row = prior.initial * away
        for t in range(1, steps):
            row = (row @ prior.matrix(t - 1)) * away
        often = np.minimum(person.chance[inside] / max(1e-12, 1 - float(row.sum())), 1.0)
        laws = [shifted(person.beside.habits, c, 1.0, person.size).advantage for c in inside]
        return cls(person, tuple(inside), tuple(keys[c] for c in inside), often, often * np.array(laws))

    @cached_property
    def order(self) -> list[int]:
        """The counts in order of their evidence if raw, the highest first."""
        return [int(rank) for rank in np.argsort(-self.raw, kind="stable")]

    def told(self, rank: int, way: Mechanism) -> float:
        """The advantage of one count under its mechanism: exact, or slightly below."""
        if way.raw:
            return float(self.raw[rank])
        person, cell = self.person, self.inside[rank]
        law = shifted(person.beside.habits, cell, float(self.often[rank]), person.size)
        known = int(person.beside.rest[cell])
        counts = known + int(person.beside.habits.least[cell]) + np.arange(len(law.no))
        ruled = by_rule(way, counts)
        if ruled is not None:
            _, number = np.unique(ruled, return_inverse=True)
            yes, no = (np.bincount(number.reshape(-1), weights=side) for side in (law.yes, law.no))
            return float(np.maximum(yes - no, 0.0).sum())
        told = single_law(way, person.beside.habits, cell, known, float(self.often[rank]), person.size)
        return 0.0 if told is None else told.advantage
