"""Ends of people's losses under many releases: measured once, kept, and reused for comparable releases.

If series are drawn, all ends of a person with a bearing on one release hold together at the confidence. Certain bounds
may be reused. Sampled bounds may be reused from one audit only; it has half of the doubt. Further measurements of a
person, one or two, have the other half. Audits of further releases have all of it, and are not reused. An earlier audit
has all of the doubt and is reused (`adopt`): the result then carries more doubt.

The number of people above each limit under a release, from the people measured under it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.audit import audit_everyone
from passerby.audits.everyone import Everyone
from passerby.audits.job import Job, check_job, doubted, enough_workers
from passerby.audits.person import person_ends
from passerby.audits.settings import Measurement
from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.people.habits import People
from passerby.plans.limit import CONFIDENCE
from passerby.questions.trace.ways import FAR
from passerby.support.blocks import Team
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.files import make_folder
from passerby.support.processes import all_cores, pool_of
from passerby.support.statistics import least_people, most_people
from passerby.support.workers import Progress, collect, silent

from .lever import tells_less
from .limit import Decided, Limit, Tally, counted, least_added

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A release together with the published ones.
Beside = Callable[[Release], Release]
#: The most people in a worker's task.
CHUNK = 8
COLUMNS = ("lower", "upper", "baseline_lower", "baseline_upper")
#: The ends of a person with a refused loss.
ANYTHING = (0.0, 1.0, 0.0, 1.0)
#: The doubt's share of the reusable audit, and the share of a further measurement of a person: one for their side of a
#: limit, and perhaps one more for the distance.
AUDITED, LOOK = 0.5, 0.25
#: No limit asks for more draws than this.
MOST_RUNS = 1000


def resolving(measurement: Measurement, limits: Sequence[Limit]) -> Measurement:
    """The measurement with as many draws as it takes to tell whether anybody has more added than a limit allows.

    Their resolution, `log(1/α) / n` at most, is half of this limit: otherwise no noise seems to be enough.

    >>> [resolving(Measurement(), [Limit(0.0, added=added)]).runs for added in (0.5, 0.02)]
    [200, 669]
    """
    doubt = 0.5 * (1 - doubted(measurement, LOOK).confidence)
    asked = min(MOST_RUNS, math.ceil(FAR * math.log(1 / doubt) / (least_added(limits) or 1.0)))
    return replace(measurement, runs=max(measurement.runs, asked))


@dataclass(frozen=True)
class Ends:
    """Ends of the loss and of the baseline of everybody, (N,) each; NaN for unmeasured people."""

    lower: Floats
    upper: Floats
    known: tuple[Floats, Floats]

    @classmethod
    def of(cls, values: Floats) -> Ends:
        """From an array whose first rows they are, (4, N)."""
        return cls(values[0], values[1], (values[2], values[3]))

    def of_some(self, people: Ints) -> Ends:
        """The ends of some people."""
        return Ends(self.lower[people], self.upper[people], (self.known[0][people], self.known[1][people]))


class Survey:
    """The measurements so far, by release and people. `measured` counts people, once for each release.

    A release is measured together with the published ones; `beside` joins the two. A release less informative than
    another must remain so together with the published ones.
    """

    #: Whether ends follow from the wanted release's: nobody's answer grows under a less informative one.
    follows = True
    #: For how many people the answer to a question of yes or no is uncertain without any release; None elsewhere.
    uncertain: int | None = None

    def __init__(
        self,
        people: People,
        measurement: Measurement,
        *,
        executor: Executor | None = None,
        workers: int | None = None,
        folder: Path | None = None,
        beside: Beside | None = None,
    ) -> None:
        self.people, self.measurement, self.beside = people, measurement, beside
        self.executor, self.workers, self.folder = executor, workers, folder
        self.progress: Progress = silent
        self.measured = 0
        self.tables: dict[Release, pl.DataFrame] = {}
        self._values: dict[Release, Floats] = {}
        self._closely: dict[Release, NDArray[np.bool_]] = {}
        self._mark = fingerprint(people, measurement)

    def job(self, release: Release) -> Job:
        """The work of an audit of this release, with the published ones."""
        release = self.beside(release) if self.beside is not None else release
        others = everyone_else(self.people, release)
        return Job(replace(self.people, whereabouts=None), release, self.measurement, others)

    def ends(self, release: Release, who: Ints, decided: Decided | None = None) -> Ends:
        """The bounds for these people under a release, after measuring the unmeasured ones.

        If it is enough to have something `decided`, nobody is measured more closely.
        """
        job = self.job(release)
        check_job(job)
        values = self._values.setdefault(release, np.full((5, len(self.people)), np.nan))
        closely = self._closely.setdefault(release, np.zeros(len(self.people), dtype=bool))
        enough = [decided is not None and decided(*row) for row in values[:4, who].T]
        left = who[np.isnan(values[0, who]) | (~closely[who] & ~np.array(enough, dtype=bool))]
        if left.size:
            job = replace(job, measurement=doubted(self.measurement, LOOK))
            shared = self._shared(job, left, decided)
            rows = collect(_one, (job, decided), left.tolist(), progress=self.progress, **shared)
            values[:, left] = np.array(rows).T
            # Everything was tried for the undecided people.
            closely[left] = [decided is None or not decided(*row[:4]) for row in rows]
            self.measured += left.size
        return Ends.of(values).of_some(who)

    def everyone(self, release: Release) -> Ends:
        """The ends of everybody, by an audit, whose table is kept; they are not passed on."""
        if release not in self.tables:
            self.tables[release] = self._audited(self.job(release))
        return Ends.of(_values(self.tables[release]))

    def everyone_first(self, release: Release) -> Ends:
        """The same under the most informative release, with a share of the doubt: its bounds are reused."""
        job = self.job(release)
        self.adopt(release, self._audited(replace(job, measurement=doubted(self.measurement, AUDITED))))
        return self.everyone(release)

    def _audited(self, job: Job) -> pl.DataFrame:
        folder = None if self.folder is None else make_folder(self.folder / self._name(job), "folder")
        self.measured += len(self.people)
        everyone = Everyone.here(job, Team(self.workers, self.executor))
        return audit_everyone(everyone, folder, progress=self.progress).table

    def adopt(self, release: Release, table: pl.DataFrame) -> None:
        """Take over an audit of everybody; its ends are reused with their doubt."""
        self.tables[release] = table
        self._values[release] = _values(table)
        self._closely[release] = np.ones(len(self.people), dtype=bool)

    def inherited(self, release: Release, *, complete: bool = False) -> tuple[Floats, Floats]:
        """Ends (N,) from other releases: less informative ones have lower losses, more informative ones higher losses.

        Sampled ends come only from an audit; with `complete`, from all others, too.
        """
        lower, upper = np.zeros(len(self.people)), np.ones(len(self.people))
        for other, values in self._values.items():
            if complete and other not in self.tables:
                continue
            known = values[4] == 1
            if tells_less(other, release):
                lower = np.fmax(lower, np.where(known, values[0], 0.0))
            if tells_less(release, other):
                upper = np.fmin(upper, np.where(known, values[1], 1.0))
            # Without any release, the baseline is achieved, for certain.
            lower = np.fmax(lower, values[2])
        return lower, np.fmax(lower, upper)

    @property
    def sampled(self) -> bool:
        """Whether anybody's ends from further measurements, besides audits, rest on drawn series."""
        return any((values[4] == 0).any() for values in self._values.values())

    def _name(self, job: Job) -> str:
        return fingerprint(self._mark, job.release, job.measurement)[:16]

    def _shared(self, job: Job, left: Ints, decided: Decided | None) -> dict[str, Any]:
        return self._sharing(fingerprint(self._mark, job.release, job.measurement, left, decided))

    def _sharing(self, name: str) -> dict[str, Any]:
        """The workers on a named part, with a folder for its finished parts."""
        kept = None
        if self.folder is not None:
            kept = Checkpoints(make_folder(self.folder, "folder") / f"{name[:16]}.jsonl", name)
        # A handful of people is not worth handing out.
        alone = self.executor is None
        return {"workers": 1 if alone else self.workers, "executor": self.executor, "chunk": CHUNK, "kept": kept}


def _values(table: pl.DataFrame) -> Floats:
    """The ends of a table of everybody (5, N): all may be passed on."""
    columns = zip(COLUMNS, ANYTHING, strict=True)
    return np.array([*(table[name].fill_null(rest).to_numpy() for name, rest in columns), np.ones(table.height)])


def _one(task: tuple[Job, Decided | None], person: int) -> list[float]:
    """Both ends of the loss and of the baseline, and whether they may be passed on."""
    job, decided = task
    ends, certain = person_ends(job, person, decided)
    return [*ends, float(certain)]


@contextmanager
def surveying(
    people: People,
    measurement: Measurement,
    workers: int | None = None,
    executor: Executor | None = None,
    folder: Path | None = None,
    beside: Beside | None = None,
) -> Iterator[Survey]:
    """A survey whose workers stay from one release to the next; few people are measured in this process alone."""
    width = enough_workers(len(people), workers, executor) or all_cores()
    if executor is None and width == 1:
        yield Survey(people, measurement, workers=1, folder=folder, beside=beside)
        return
    with pool_of(executor, width) as pool:
        yield Survey(people, measurement, executor=pool, workers=width, folder=folder, beside=beside)


Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Stratum:
    """For one limit: the number of people above it under any plan, and the people possibly above.

    Everybody was measured under the wanted release. People above without any release stay above. People below with the
    wanted release stay below under any less informative one. The others are `open`. If nothing follows from the wanted
    release, everybody is open.
    """

    limit: Limit
    above: int
    open: Ints


class Panel:
    """The people for trying plans: a sample of the people affected by them.

    `order` holds all of these people, at random, and the first so many are `drawn`. `wanted` is more informative than
    any plan, and everybody was measured under it. Other panels may ask about other limits. People are then measured
    closely enough for all limits in `asked`, and not again for each.
    """

    def __init__(
        self,
        survey: Survey,
        wanted: Release,
        limits: Sequence[Limit],
        count: int,
        seed: int,
        asked: Sequence[Limit] | None = None,
    ) -> None:
        self.survey, self.limits, self.people = survey, tuple(limits), len(survey.people)
        self.asked = self.limits if asked is None else tuple(asked)
        ends = survey.everyone(wanted)
        self._baseline = ends.known
        silent = Ends(ends.known[0], ends.known[1], ends.known)
        found = [(_above(limit, silent, 0), _above(limit, ends, 1)) for limit in limits]
        if not survey.follows:
            found = [(np.zeros(self.people, dtype=bool), np.ones(self.people, dtype=bool)) for _ in limits]
        matter = np.flatnonzero(np.any([~known & wide for known, wide in found], axis=0))
        rng = np.random.default_rng([seed, 1])
        self.order: Ints = rng.permutation(matter)
        self.drawn = self.order[:count]
        self.strata = [
            Stratum(limit, int(known.sum()), np.flatnonzero(~known & wide))
            for limit, (known, wide) in zip(limits, found, strict=True)
        ]

    def ends(self, release: Release, who: Ints, *, how_far: bool = False) -> Ends:
        """The ends of some people, measured only while their side of some limit is unknown.

        No closer than is asked for either, unless it matters `how_far` above they are.
        """
        some = Ends(*self.survey.inherited(release), self._baseline).of_some(who)
        unclear = np.zeros(len(who), dtype=bool)
        for stratum in self.strata:
            unclear |= _above(stratum.limit, some, 1) & ~_above(stratum.limit, some, 0)
        if not unclear.any():
            return some
        decided = Decided(self.asked, self.survey.measurement.tolerance, how_far)
        fresh = self.survey.ends(release, who[unclear], decided)
        out = [some.lower.copy(), some.upper.copy(), some.known[0].copy(), some.known[1].copy()]
        values = (np.fmax(fresh.lower, out[0][unclear]), np.fmin(fresh.upper, out[1][unclear]), *fresh.known)
        for column, value in zip(out, values, strict=True):
            column[unclear] = value
        return Ends(out[0], np.fmax(out[0], out[1]), (out[2], out[3]))

    def tallies(self, release: Release, confidence: float = CONFIDENCE, count: int | None = None) -> list[Tally]:
        """How many of everybody are above each limit, with confidence limits from the first `count` people.

        They are the drawn people by default; `order` has everybody affected.
        """
        some = self.order[: len(self.drawn) if count is None else count]
        ends = self.ends(release, some)
        out = []
        for stratum in self.strata:
            here = np.isin(some, stratum.open)
            n, everybody = int(here.sum()), len(stratum.open)
            surely, possibly = (int((_above(stratum.limit, ends, end) & here).sum()) for end in (0, 1))
            scale = everybody / n if n else 0.0
            level = 1 - (1 - confidence) / 2
            out.append(
                Tally(
                    stratum.limit,
                    self.people,
                    stratum.above + surely * scale,
                    stratum.above + possibly * scale,
                    stratum.above + least_people(surely, n, everybody, level),
                    stratum.above + most_people(possibly, n, everybody, level),
                    n == everybody,
                )
            )
        return out

    @property
    def monotone(self) -> bool:
        """Whether less information helps nobody: the limited chance then falls with the information of a release."""
        return all(limit.measure != "certain" for limit in self.limits)

    def whole(self, release: Release) -> list[Tally]:
        """The tallies of everybody, by an audit."""
        return whole(self.survey, release, self.limits)

    @property
    def uncertain(self) -> list[int | None]:
        """For how many people the answer is uncertain without any release, by limit."""
        return [self.survey.uncertain] * len(self.limits)

    def unaided(self) -> list[Tally]:
        """The tallies of everybody without any release."""
        return [counted(limit, *self._baseline, self._baseline) for limit in self.limits]

    def excess(self, release: Release, among: Ints) -> float:
        """The distance of some drawn people above the limits, without the allowed number: zero within the limits."""
        ends, total = self.ends(release, among, how_far=True), 0.0
        for stratum in self.strata:
            here = np.isin(among, stratum.open)
            low, high = stratum.limit.ends(ends.lower, ends.upper, ends.known)
            over = np.sort(np.maximum(0.0, (low + high)[here] / 2 - stratum.limit.level))
            allowed = stratum.limit.edges(self.people)[0] - stratum.above
            spare = int(max(0.0, allowed * len(over) / max(1, len(stratum.open))))
            total += float(over[: max(0, len(over) - spare)].sum())
        return total


def whole(survey: Survey, release: Release, limits: Sequence[Limit]) -> list[Tally]:
    """The tallies of everybody, by an audit."""
    ends = survey.everyone(release)
    return [counted(limit, ends.lower, ends.upper, ends.known) for limit in limits]


def _above(limit: Limit, ends: Ends, end: int) -> Flags:
    """People above a limit by the lower (0) or upper (1) end."""
    return limit.exceeded(limit.ends(ends.lower, ends.upper, ends.known)[end])
