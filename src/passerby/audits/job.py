"""The work of an audit: everybody's habits, the release, the others in the counts, and the method of measurement.

Windows of visitors beyond the memory of a chain: the most certain ones are left out, with a bound on the error.

For most zones a person's place among the visitors is almost certain. Let D be the person's part in the left-out counts,
and d its likeliest value. An adversary with D besides the other counts Y does at least as well as with all counts, and
`Σ_y Σ_D max_g Pr[y, D, g right] <= Σ_y max_g Pr[y, g right] + Pr[D ≠ d]`. So the loss of all counts is at least the
loss of the others, and above it by no more than `Pr[D ≠ d]`. A second bound is the loss of a release with the person's
presence in a zone at each step of a window. Visitors follow from it, and it needs no memory.

Doubt shared by several measurements, so all of them hold together at the requested confidence.

Some of the people, drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.measurement.finding import exact, limit, refute
from passerby.measurement.setup import MOST_CONFIDENT, check_effort
from passerby.mechanisms import Raw
from passerby.model.counts import Count, Present
from passerby.model.prior import MarkovPrior, state_laws
from passerby.model.release import Release
from passerby.others.by_habits import ByHabits
from passerby.others.counted import Counted, states_by_place
from passerby.people.habits import People, check_people, places_visited
from passerby.people.totals import Totals, told_by_totals
from passerby.questions.trace.loss import Loss
from passerby.questions.trace.measure import Enough, measure_until, trace_loss
from passerby.support.checks import MOST_WORKERS, whole

from .settings import Measurement

#: All windows are kept up to so many states of a chain with its memory.
MOST_STATES = 500


def kept_part(prior: MarkovPrior, release: Release) -> tuple[Release, float]:
    """The release with the rememberable windows, and a bound on `Pr[D ≠ d]` of the left-out ones.

    A left-out window becomes a count of everywhere, without any evidence.
    """
    if release.reveals or release.crowd is not None:
        return release, 0.0  # numbers of others who are not known go together: no window is left out by itself
    windows = [count for count in dict.fromkeys(release.listed) if count.lasts]
    if _size(prior, release, windows) <= MOST_STATES:
        return release, 0.0
    open_ = {window: doubt(prior, window, release.steps) for window in windows}
    kept: list[Count] = []
    for window in sorted(windows, key=lambda each: -open_[each]):
        if _size(prior, release, [*kept, window]) <= MOST_STATES:
            kept.append(window)
    left = set(windows) - set(kept)
    everywhere = range(prior.places)
    counts = [
        Present(everywhere, count.read, mechanism=count.mechanism, others=count.others) if count in left else count
        for count in release.listed
    ]
    return Release(counts=counts, steps=release.steps, size=release.size), min(
        1.0, sum(open_[window] for window in left)
    )


def _size(prior: MarkovPrior, release: Release, windows: Sequence[Count]) -> int:
    """How many states a chain has at most that remembers these windows, and the flows."""
    sizes = []
    for t, step in enumerate(release.counts):
        origins = {count.zones[0] for count in step if count.flow}
        memories = 1 + len(origins)
        for window in windows:
            memories *= window.levels if window.first <= t <= window.read else 1
        sizes.append(memories)
    return prior.states * max(sizes)


def doubt(prior: MarkovPrior, count: Count, steps: int) -> float:
    """How likely it is that a count sees the less likely of the two: the person, or not.

    >>> from passerby import Visitors
    >>> halves = MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    >>> doubt(halves, Visitors([0], steps=range(3)), 3)
    0.125
    """
    levels, states = count.progress(prior.place_of, steps), np.arange(prior.states)
    law = np.zeros((levels.shape[2], prior.states))
    law[0] = state_laws(prior, steps)[count.first]
    for t in range(count.first, count.read + 1):
        if t > count.first:
            law = law @ prior.matrix(t - 1)
        before, law = law, np.zeros_like(law)
        for level, chance in enumerate(before):
            np.add.at(law, (levels[t, :, level], states), chance)
    return float(min(law[-1].sum(), law[:-1].sum()))


def by_steps(release: Release) -> Release:
    """A release that tells more: the raw numbers of the zones of visitors, at each step of their windows.

    So it is for every count that neither is of one step nor a flow.
    """
    if release.reveals:
        return release
    windows = [count for count in release.listed if not (count.snapshot or count.flow)]
    # A raw number tells no more the second time; with noise that is drawn afresh, another count does.
    each = dict.fromkeys(Present(zone, t, mechanism=Raw()) for window in windows for zone, t in window.split)
    counts = [*each, *(count for count in release.listed if count.snapshot or count.flow)]
    return Release(counts=counts, steps=release.steps, size=release.size)


class Measured(NamedTuple):
    """The loss of a release's rememberable part, this part, and an upper end of the loss of all of it.

    The ends are `certain` if neither rests on drawn series. `pooled_upper` is the upper end for a mean over people,
    within the reach of the loss's own draws (see `Pooled`).
    """

    loss: Loss
    part: Release
    upper: float
    certain: bool
    pooled_upper: float


def measured(prior: MarkovPrior, release: Release, enough: Enough | None = None, **how: Any) -> Measured:
    """Measure a release, or as much of it as can be remembered; `how` are arguments of `measure`.

    Once the ends of all of it are `enough`, nothing more is tried.
    """
    part, rest = kept_part(prior, release)
    if not rest:
        loss = trace_loss(prior, part, **how) if enough is None else measure_until(enough, prior, part, **how)
        return Measured(loss, part, loss.upper, _certain(loss), loss.pooled.upper)
    # Both upper ends hold together at the requested level.
    how["confidence"] = 1 - (1 - how["confidence"]) / 2
    if enough is not None:
        return _until(enough, prior, release, part, rest, how)
    loss, more = (trace_loss(prior, each, **how) for each in (part, by_steps(release)))
    if _certain(loss) and _certain(more):
        refute(exact("a part of the windows", loss.lower), limit("what tells of each step", more.upper))
    return _of_both(loss, part, rest, more)


def _of_both(loss: Loss, part: Release, rest: float, more: Loss) -> Measured:
    """From the loss of a part and the loss of a more informative release.

    For a mean over people, no draw chooses an end: this would favour the lucky one.
    """
    ends = [end for end, source in ((loss.upper + rest, loss), (more.upper, more)) if _certain(source)]
    pooled = min(ends) if ends else loss.pooled.upper + rest
    upper = max(loss.lower, min(1.0, loss.upper + rest, more.upper))
    return Measured(loss, part, upper, _certain(loss) and _certain(more), max(loss.pooled.lower, min(1.0, pooled)))


def _certain(loss: Loss) -> bool:
    """Whether neither end rests on drawn series."""
    return loss.effort.confidence is None


def _until(
    enough: Enough, prior: MarkovPrior, release: Release, part: Release, rest: float, how: dict[str, Any]
) -> Measured:
    """The same as far as needed. The release of each step comes first: it is quicker and bounds from above alone."""
    more = measure_until(lambda _, upper, *known: enough(known[0], upper, *known), prior, by_steps(release), **how)
    if enough(more.baseline.lower, more.upper, more.baseline.lower, more.baseline.upper):
        least = replace(more, lower=more.baseline.lower)
        return Measured(least, part, more.upper, _certain(more), more.pooled.upper)
    loss = measure_until(
        lambda lower, upper, *known: enough(lower, min(upper + rest, more.upper), *known), prior, part, **how
    )
    return _of_both(loss, part, rest, more)


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


def check_group(people: People, size: int, called: str = "size") -> None:
    """Refuse a group of more people than there are; `called` is its setting."""
    everyone = int(people.counts[0].sum()) if len(people.counts) else len(people)
    if size > max(1, everyone):
        raise InputError(
            f"{called}: a group of {size:,} people moves as one, and the visits are of {everyone:,}; give the number "
            "of people of a family or another small group"
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


def doubted(measurement: Measurement, share: float) -> Measurement:
    """The measurement with a share of its doubt.

    >>> round(doubted(Measurement(confidence=0.98), 0.5).confidence, 12)
    0.99
    """
    return replace(measurement, confidence=min(MOST_CONFIDENT, 1 - share * (1 - measurement.confidence)))


def some_people(people: People, count: int, seed: int = 0) -> NDArray[np.int64]:
    """The numbers of `count` people drawn at random without replacement, in order; all if there are fewer."""
    return some_numbers(len(people), count, seed)


def some_numbers(people: int, count: int, seed: int = 0) -> NDArray[np.int64]:
    """The same of so many people."""
    if count >= people:
        return np.arange(people)
    return np.sort(np.random.default_rng(seed).choice(people, count, replace=False))


def only(people: People, chosen: NDArray[np.int64]) -> People:
    """The chosen people alone, with the background of everybody.

    >>> from passerby.visits import simulate_city
    >>> from passerby.people.fit import fit_people
    >>> people = fit_people(simulate_city(people=30, places=20, days=3), window="2h", places=10, min_active=1)
    >>> len(only(people, some_people(people, 5)))
    5
    """
    return replace(
        people,
        fitted=people.fitted[chosen],
        actual=people.actual[chosen],
        ids=people.ids.gather(chosen.tolist()),
        weights=None if people.weights is None else people.weights[chosen],
    )
