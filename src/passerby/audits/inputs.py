"""The inputs before anybody is measured: the people, the release, and the published values.

The worth of knowing everybody's day: guesses made with it and without it, without any counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from passerby.audits.everyone import Everybody
from passerby.errors import InputError
from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.others.counted import states_by_place
from passerby.people.fit import Fitting, fit_traces, traces_of, tracing_for
from passerby.people.habits import People
from passerby.people.origins import Whereabouts, spread
from passerby.people.sensors import Levels, Zones, places_of, read_zones
from passerby.people.totals import IMPOSSIBLE, Totals
from passerby.questions.question import Question
from passerby.questions.trace.guess import unaided_success
from passerby.questions.trace.measure import Trace
from passerby.questions.trace.methods.baseline import prior_trace
from passerby.support.blocks import Team
from passerby.support.numbers import percent
from passerby.visits.all_visits import AllVisits
from passerby.visits.clean_rows import DATES
from passerby.visits.readers import read_visits
from passerby.visits.steps import written
from passerby.visits.store import StoredVisits
from passerby.visits.table import Traces, Visits

from .alerts import alerts
from .asking import parse_questions
from .backtest import MOST_PEOPLE, BacktestJob, Origins, earlier_traces
from .coverage import MOST, Coverage, coverage_of
from .engine import FITTING, READING, Tell, begin
from .everyone import Everyone
from .job import Job, check_group, only, seen_by, some_numbers, some_people
from .question_rows import Asked
from .question_words import Zone, places_by_name, sensitive_places
from .release import Counts, Published, Sensing, build_mechanism, build_release, read_published, row_reader
from .settings import AuditSettings, DataSettings, Measurement
from .stored import SHOWN, StoredPeople, read_everyone, store_of

#: A note for habits with a common part the adversary cannot learn.
UNTOLD = (
    "What everybody did at the published steps is left out of habits: the adversary knows the others by their habits "
    "alone, and the published totals do not tell it."
)


def worth_of_the_day(people: People, misses: int, sample: int, seed: int = 0) -> tuple[float, float] | None:
    """The mean chance to be found without any counts, without and with knowledge of everybody's day.

    Both guess the likeliest trace, of `sample` people, and are scored by habits with everybody's day. None if habits
    have no such part.
    """
    if people.common is None or not len(people):
        return None
    steps, apart = people.actual.shape[1], replace(people, common=None)
    found = []
    for person in some_people(people, sample, seed).tolist():
        blind, places = apart.prior(person)
        guess = places[prior_trace(blind, steps)]
        known, states = people.prior(person, sorted({int(place) for place in guess if place >= 0}))
        number = states_by_place(states, len(people.places), None)
        found.append([unaided_success(known, each, misses) for each in (number[guess], prior_trace(known, steps))])
    without, with_it = np.mean(found, axis=0).tolist()
    return without, max(without, with_it)


def said_of_the_day(
    people: People, misses: int, sample: int, seed: int = 0, release: Release | None = None
) -> tuple[str, ...]:
    """The same in a sentence, with everybody's day; empty if habits have no such part.

    If others are known by their habits alone, the totals of the `release` are the evidence on the day, if possible.
    """
    wanted, people = people.common, people if release is None else seen_by(people, release)
    if wanted is not None and people.common is None:
        return (UNTOLD,)
    if isinstance(people.common, Totals) and people.common.impossible:
        return (IMPOSSIBLE,)
    worth = worth_of_the_day(people, misses, sample, seed) if sample else None
    if worth is None or people.common is None:
        return ()
    without, with_it = map(percent, worth)
    steps = people.actual.shape[1]
    asked = f"all but {misses} of {steps} steps" if misses else f"all {steps} steps"
    return (
        f"{people.common.words} The adversary knows of it. Without any counts they name {asked} with a chance of "
        f"{with_it} on average, and with {without} if they did not know of it.",
    )


SOME_SHOWN = (
    "The figures of the page, what was tried out and other adversaries rest on {shown:,} of the {eligible:,} people, "
    "drawn at random; all other numbers are of everybody."
)


@dataclass(frozen=True)
class Inputs:
    """The measured people, the number they were drawn from (`eligible`), and the release about them."""

    people: People
    eligible: int
    release: Release
    coverage: Coverage
    traces: Traces
    published: Published | None = None
    remarks: tuple[str, ...] = ()
    """Warnings beside the coverage."""
    zones: Zones | None = None
    stored: StoredPeople | None = None
    """Everybody, if they are on disk; `people` are then the people in figures, by the numbers of `drawn`."""
    drawn: NDArray[np.int64] | None = None
    alike: People | StoredPeople | None = None
    """Everybody with habits, if `people` are a sample of them in memory."""
    whereabouts: Whereabouts | None = None
    """Everybody's places, if they are on disk; `traces` are some of them."""
    earlier: Origins = field(default_factory=dict)
    """Traces at origins before the published steps."""

    @property
    def count(self) -> int:
        """How many people are measured."""
        return len(self.people) if self.stored is None else len(self.stored)

    @property
    def shown(self) -> NDArray[np.int64]:
        """The numbers of the people in figures, among the measured ones."""
        return np.arange(len(self.people)) if self.drawn is None else self.drawn

    def job(self, measurement: Measurement) -> Job:
        """The work of an audit of the people in memory."""
        return Job(self.people, self.release, measurement, everyone_else(self.people, self.release))

    def everyone(self, measurement: Measurement, folder: Path, team: Team = Team()) -> Everyone:  # noqa: B008
        """The work of an audit with results in a folder: all measured people, in blocks."""
        if self.stored is None:
            return Everyone.here(self.job(measurement), team)
        common = self.stored.common
        # Everybody is counted here, and not again by each worker.
        others = everyone_else(common, self.release)
        job = Job(replace(common, whereabouts=None), self.release, measurement, others)
        return self.stored.work(job, store_of(folder))

    def known(self, team: Team) -> Everybody:
        """Everybody with habits, in blocks."""
        all_of_them = self.alike or self.stored or self.people
        if isinstance(all_of_them, People):
            return Everybody.here(all_of_them, team)
        return Everybody(all_of_them.partitions, tuple(all_of_them.sizes), all_of_them.common)

    @property
    def named(self) -> dict[str, Zone]:
        """Places and zones by name."""
        return places_by_name(self.people.places, self.zones.named() if self.zones else None)

    def asked(self, settings: AuditSettings, job: Job) -> Asked:
        """The questions about everybody beside the trace."""
        return Asked.of(job, asked_besides(settings, self.named, self.release), self.named)

    @property
    def values(self) -> Counts | None:
        """The real published counts."""
        return None if self.published is None else self.published.values

    def backtest(self, settings: AuditSettings) -> BacktestJob:
        """The trials at earlier origins: the same release, about everybody measurable."""
        latest = self.traces.array.shape[1] - settings.holdout
        return BacktestJob(
            self.traces,
            fitting(settings),
            self.release,
            settings.misses,
            settings.backtest,
            settings.seed,
            self.earlier,
            Sensing(settings) if settings.ranked else None,
            {} if self.whereabouts is None else {latest: self.whereabouts},
        )

    def told(self, *, exact: bool = False) -> tuple[str, ...]:
        """Warnings to read before believing anything; `exact` as in `alerts`."""
        drawn = self.stored is not None and len(self.shown) < self.eligible
        some = SOME_SHOWN.format(shown=len(self.shown), eligible=self.eligible)
        found = alerts(self.coverage, self.remarks, name_elsewhere=self.people.name_elsewhere, exact=exact)
        return (*found, some) if drawn else found

    @property
    def window(self) -> str:
        """The length of a step, even if it was chosen to fit the visits."""
        return written(self.people.window)


def gather(
    settings: AuditSettings, visits: Visits | None = None, tell: Tell | None = None, stored: Stored | None = None
) -> Inputs:
    """Read the visits, unless they are handed in, fit habits, and choose the sensors.

    If everybody is kept on disk, `stored` names the folder and its readers.
    """
    if stored is not None:
        return _gather_stored(settings, stored, tell)
    if visits is None:
        visits = visits_of(settings, tell)
    begin(tell, FITTING)
    levels = read_zones(settings.zones) if settings.zones else None
    zoned = places_of(levels) if levels else ()
    try:
        traces = traced(settings, visits, zoned)
        people = fit_traces(traces, fitting(settings))
    except InputError as error:
        raise InputError(f"{error}. {DATES}" if DATES in visits.remarks else str(error)) from None
    zones, release, published = _counted(settings, people, levels)
    eligible, covered = len(people), coverage_of(people, visits.skipped, visits, settings.min_active)
    alike = None
    if settings.sample is not None:
        alike, people = people, only(people, some_people(people, settings.sample, settings.seed))
    day = said_of_the_day(people, settings.misses, settings.adversaries, settings.seed, release)
    remarks, earlier = (*_remarks(visits, people, zones), *day), _earlier(settings, visits, traces, zoned)
    both = {"alike": alike, "earlier": earlier}
    return Inputs(people, eligible, release, covered, traces, published, remarks, zones, **both)  # type: ignore[arg-type]


def _earlier(settings: AuditSettings, visits: Visits, traces: Traces, zoned: Sequence[str]) -> Origins:
    """Traces at earlier origins; empty if habits are not tried, or steps are too few to try them."""
    if not settings.backtest:
        return {}
    how = tracing_for(AllVisits.of(visits), fitting(settings), *settings.tracing, zoned)
    named = zoned if settings.ranked else traces.places[:-1]
    try:
        return earlier_traces(visits, how, fitting(settings), settings.origins, settings.seed, settings.kept, named)
    except InputError:
        return {}  # the backtest says why


def _counted(
    settings: AuditSettings, people: People, levels: Levels | None
) -> tuple[Zones | None, Release, Published | None]:
    """The zones, the counts of them or of sensors, and the published values."""
    zones = Zones.among(people, levels, str(settings.zones)) if levels else None
    release, published = released(settings, people, zones)
    release.check_misses(settings.misses)
    # Unknown places are reported before anybody is measured.
    named = places_by_name(people.places, zones.named() if zones else None)
    asked_besides(settings, named, release)
    sensitive_places(settings.sensitive, named)
    return zones, release, published


def asked_besides(settings: AuditSettings, named: Mapping[str, Zone], release: Release) -> list[Question]:
    """The questions about everybody beside the trace with the misses of the audit."""
    asked = parse_questions(["counted", "each-step", *settings.question], named, release, settings.misses)
    return [each for each in asked if each != Trace(settings.misses)]


def _remarks(visits: Visits | StoredVisits, people: People, zones: Zones | None) -> tuple[str, ...]:
    """Warnings on the visits, on habits and on zones."""
    remarks = [*visits.remarks, *people.remarks, *(zones.remarks if zones else ())]
    if DATES in remarks and people.window >= timedelta(days=1):
        remarks.remove(DATES)
    return tuple(remarks)


def visits_of(settings: AuditSettings, tell: Tell | None) -> Visits:
    """The visits, read into memory."""
    progress = begin(tell, READING)
    return read_visits(settings.files, **settings.only(DataSettings, "visits"), progress=progress)


@dataclass(frozen=True)
class Stored:
    """The folder with everybody, and the workers on them."""

    folder: Path
    team: Team


def _gather_stored(settings: AuditSettings, stored: Stored, tell: Tell | None) -> Inputs:
    """The same with everybody on disk, except for the people in figures, or the measured sample."""
    how, seed = fitting(settings), settings.seed
    levels = read_zones(settings.zones) if settings.zones else None
    zoned = places_of(levels) if levels else ()
    named = () if settings.ranked else None
    everyone, visits, times = read_everyone(settings, how, zoned, stored.folder, stored.team, tell, named)
    common, eligible = everyone.common, len(everyone)
    zones, release, published = _counted(settings, common, levels)
    covered = coverage_of(common, visits.skipped, times, settings.min_active, everyone.all_absence)
    covered = covered.expecting(everyone.some(spread(eligible, MOST)))
    remarks = _remarks(visits, common, zones)
    known = Inputs(
        everyone.common,
        eligible,
        release,
        covered,
        everyone.some_traces(MOST_PEOPLE, seed),
        published,
        remarks,
        zones,
        whereabouts=common.whereabouts,
        earlier=everyone.earlier,
    )
    if settings.sample is not None:
        people = everyone.some(some_numbers(eligible, settings.sample, seed))
        return replace(known, people=people, alike=everyone)
    shown = some_numbers(eligible, SHOWN, seed)
    some = everyone.some(shown)
    day = said_of_the_day(some, settings.misses, settings.adversaries, seed, release)
    return replace(known, people=some, stored=everyone, drawn=shown, remarks=(*remarks, *day))


def released(settings: AuditSettings, people: People, zones: Zones | None) -> tuple[Release, Published | None]:
    """The release about these people: the planned one, or the published one."""
    check_group(people, settings.together, "together")
    if settings.published is None:
        return build_release(settings, people, settings.seed, zones).of_groups(settings.together), None
    mechanism, steps = build_mechanism(settings), people.actual.shape[1]
    published = read_published(people, settings.published, row_reader(settings, people, zones), mechanism)
    return Release(counts=published.counts, steps=steps, mechanism=mechanism, size=settings.together), published


def traced(settings: AuditSettings, visits: Visits, zoned: Sequence[str] = ()) -> Traces:
    """Everybody's traces, as `fit_people` makes them; `zoned` places are kept too."""
    return traces_of(visits, fitting(settings), *settings.tracing, zoned)


def fitting(settings: AuditSettings) -> Fitting:
    """How habits are fitted."""
    return Fitting(
        settings.holdout,
        settings.min_active,
        settings.habits,
        settings.smoothing,
        settings.rhythm,
        settings.name_elsewhere,
        settings.common == "auto",
    )
