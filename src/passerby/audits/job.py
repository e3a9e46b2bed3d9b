"""The work of an audit: everybody's habits, the release, the others in the counts, and the method of measurement."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.measurement.setup import check_effort
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.by_habits import ByHabits
from passerby.others.counted import Counted, states_by_place
from passerby.people.habits import People, check_people, places_visited
from passerby.people.totals import Totals, told_by_totals
from passerby.support.checks import MOST_WORKERS, whole

from .remainder import kept_part
from .settings import Measurement

Ints = NDArray[np.int64]

#: People among whom somebody with a small chain is looked for.
FEW_CHAINS = 1000
#: Fewer people than these are measured in this process: workers would take longer to begin.
FEW_PEOPLE = 64


@dataclass(frozen=True)
class Job:
    """All that a worker needs."""

    people: People
    release: Release
    measurement: Measurement
    others: Counted | ByHabits | None = None

    @cached_property
    def seen(self) -> People:
        """The people, and the adversary's knowledge of their day."""
        return seen_by(self.people, self.release)

    @cached_property
    def zones(self) -> Ints | None:
        """A label for each place where counts are of zones: those of one label are in the same ones."""
        return None if self.release.reveals else self.release.alike(len(self.people.places))

    @cached_property
    def sensed(self) -> tuple[int, ...]:
        """The places with a sensor; empty if counts are of zones."""
        return () if self.zones is not None else tuple(sorted({x for step in self.release.sensors for x in step}))

    def release_for(self, person: int) -> Release:
        """The release with the others as they are for this person."""
        if self.others is None:
            return self.release
        return self.release.with_others(self.others.besides(person, self.release))


def check_job(job: Job) -> None:
    """Refuse a release at odds with the people, or a question at odds with the release or without meaning."""
    check_kinds(job.people, job.release)
    how = job.measurement
    check_effort(how.tolerance, how.budget, how.confidence, how.runs)
    whole(how.seed, "seed")
    held, places = job.people.actual.shape[1], len(job.people.places)
    steps = job.release.steps
    # Without any, habits constant in time are as good for all steps, and others for the first one.
    if steps != held and (held or (job.people.phase is not None and steps > 1)):
        raise InputError(
            f"release: it has {steps} steps, but {held or 'no'} steps are held out to be found; fit people with "
            f"holdout={steps}"
        )
    job.release.check_misses(job.measurement.misses)
    if not job.release.reveals:
        _check_counts(job, job.release)
        return
    for t, step in enumerate(job.release.sensors):
        for place in step:
            if place >= places:
                raise InputError(f"sensors[{t}] = {place}: there are {places} places, numbered 0 to {places - 1}")


def check_kinds(people: object, release: object) -> None:
    """Refuse anything but people, an empty list of them, and anything but a release."""
    check_people(people)
    if not len(people):  # type: ignore[arg-type]
        raise InputError("people: there is nobody to be measured; give more visits or fit them with a lower min_active")
    if not isinstance(release, Release):
        raise InputError(f"release is a {type(release).__name__}; expected a Release")
    if not release.fixed:
        raise UnsupportedRelease(
            "release: a policy chooses these counts as one goes, and audits and plans are for counts that are fixed in "
            "advance; measure them for one person with measure"
        )


def _check_counts(job: Job, release: Release) -> None:
    """Refuse counts of places that are not there, and those of which nobody's chain can remember enough."""
    places, people = len(job.people.places), job.people
    for count in release.listed:
        for zone in count.zones:
            if zone[-1] >= places:
                raise InputError(f"{count!r}: there are {places} places, numbered 0 to {places - 1}")
    if len(people) and not all(count.snapshot for count in release.listed):
        # Who visits the fewest places has the smallest chain.
        prior, reduced, *_ = over_states(job, int(np.argmin(places_visited(people.fitted[:FEW_CHAINS]))))
        kept_part(prior, reduced)[0].over(prior)


def enough_workers(people: int, workers: int | None, executor: Executor | None = None) -> int | None:
    """How many workers measure so many people: as many as were asked for; for a few people, this process alone.

    >>> enough_workers(20, None), enough_workers(20, 4), enough_workers(2000, None)
    (1, 4, None)
    """
    if workers is not None:
        whole(workers, "workers", 1, MOST_WORKERS)
    return 1 if workers is None and executor is None and people < FEW_PEOPLE else workers


def seen_by(people: People, release: Release) -> People:
    """The people in an adversary's view: of their day it has the others' steps, or the published totals alone.

    The totals are all that is known where others are known by their habits. Some people may bring those of everybody.
    """
    if people.common is None or release.crowd is None or not release.crowd.open or isinstance(people.common, Totals):
        return people
    return replace(people, common=told_by_totals(people, release))


def over_states(job: Job, person: int, also: Sequence[int] = ()) -> tuple[MarkovPrior, Release, Ints, Ints]:
    """One person's reduced chain, the release over its states, the place of each state, and the state of each place.

    A state may stand for many places (`People.prior`); `also` are places with a state of their own. An adversary with
    the others' habits alone learns of the day only from the totals.
    """
    prior, places = job.seen.prior(person, [*job.sensed, *also], zones=job.zones)
    state_of = states_by_place(places, len(job.people.places), job.zones)
    return prior, job.release_for(person).relabelled(state_of), places, state_of
