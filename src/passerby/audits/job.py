"""The work of an audit: everybody's habits, what is published, who else is counted, and how to measure."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

from passerby.errors import InputError, UnsupportedRelease
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.people.others import Counted, Expected

from .settings import Measurement

#: Fewer people than these are measured in this process: workers would take longer to begin.
FEW_PEOPLE = 64


@dataclass(frozen=True)
class Job:
    """All that a worker needs."""

    people: People
    release: Release
    measurement: Measurement
    others: Counted | Expected | None = None

    def release_for(self, person: int) -> Release:
        """The release with the others as they are for this person."""
        if self.others is None:
            return self.release
        return self.release.with_others(self.others.besides(person, self.release))


def check_job(job: Job) -> None:
    """Refuse a release that does not fit the people, or a question that does not fit the release."""
    if not isinstance(job.people, People):
        raise InputError(f"people is a {type(job.people).__name__}; expected what fit_people returns")
    if not isinstance(job.release, Release):
        raise InputError(f"release is a {type(job.release).__name__}; expected a Release")
    if not job.release.reveals:
        raise UnsupportedRelease("zones, flows and visitors cannot be audited yet: measure them person by person")
    held, places = job.people.actual.shape[1], len(job.people.places)
    if held and job.release.steps != held:
        raise InputError(f"release: it has {job.release.steps} steps, but {held} steps are held out to be found")
    job.release.check_misses(job.measurement.misses)
    for t, step in enumerate(job.release.sensors):
        for place in step:
            if place >= places:
                raise InputError(f"sensors[{t}] = {place}: there are {places} places, numbered 0 to {places - 1}")


def enough_workers(people: int, workers: int | None, executor: Executor | None = None) -> int | None:
    """How many workers measure so many people: as many as were asked for; for a few people, this process alone.

    >>> enough_workers(20, None), enough_workers(20, 4), enough_workers(2000, None)
    (1, 4, None)
    """
    return 1 if workers is None and executor is None and people < FEW_PEOPLE else workers


def over_states(people: People, person: int, release: Release) -> tuple[MarkovPrior, Release, dict[int, int]]:
    """One person's reduced chain, the release over its states, and the state of each place (-1: all others)."""
    prior, states = people.prior(person, sorted({place for step in release.sensors for place in step}))
    state_of = {int(place): state for state, place in enumerate(states)}
    return prior, release.relabelled(state_of), state_of
