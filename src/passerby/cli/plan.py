"""All that is known before anybody is measured: the people, the release, and who else is counted."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console

from passerby.audits.audit import Job
from passerby.audits.audit import Settings as Measurement
from passerby.audits.realised import Published, read_published
from passerby.audits.settings import AuditSettings
from passerby.audits.what_if import only, some_people
from passerby.model.release import Release
from passerby.people.habits import People, fit_people
from passerby.people.others import everyone_else
from passerby.support.workers import Progress
from passerby.visits.readers import read_visits
from passerby.visits.table import Skipped, Visits

from .screen import stage

#: Settings that are handed on as they are, to read the visits and to fit habits.
READ = (
    "layout", "person", "time", "place", "latitude", "longitude", "grid_metres", "h3_resolution", "timezone",
    "max_unparsable",
)  # fmt: skip
FIT = ("window", "min_active", "holdout", "smoothing", "rhythm", "origin", "end", "rule")


@dataclass(frozen=True)
class Plan:
    """All that is known before anybody is measured."""

    settings: AuditSettings
    people: People
    eligible: int
    release: Release
    skipped: Skipped
    published: Published | None

    @property
    def measurement(self) -> Measurement:
        """How each person is measured."""
        s = self.settings
        return Measurement(s.misses, s.tolerance, s.runs, s.confidence, s.budget, s.seed)

    @property
    def job(self) -> Job:
        """The work of one audit."""
        return Job(self.people, self.release, self.measurement, everyone_else(self.people, self.release))


def prepare(settings: AuditSettings, aside: Console, visits: Visits | None = None) -> Plan:
    """Read the visits, fit habits, and choose the sensors."""
    if visits is None:
        with stage(aside, "Reading the visits", "MB") as progress:
            visits = _read(settings, progress)
    with stage(aside, "Fitting everyone's habits"):
        people = _fit(settings, visits)
        published = read_published(people, settings.published) if settings.published else None
        release = settings.build_release(people)
        if published:
            release = Release(published.sensors, release.mechanism)
        release.check_misses(settings.misses)
        eligible = len(people)
        if settings.sample is not None:
            people = only(people, some_people(people, settings.sample, settings.seed))
    return Plan(settings, people, eligible, release, visits.skipped, published)


def _read(settings: AuditSettings, progress: Progress) -> Visits:
    return read_visits(settings.visits, progress=progress, **{name: getattr(settings, name) for name in READ})


def _fit(settings: AuditSettings, visits: Visits) -> People:
    places = settings.place_names or settings.places
    return fit_people(visits, places=places, **{name: getattr(settings, name) for name in FIT})
