"""Who else is counted: for each person of an audit, everyone else at the same sensors and steps.

The numbers of others come from everybody in the visits, also from those who are seen too seldom to be audited: they are
in the published counts too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.mechanisms.chance import Sum
from passerby.model.crowd import Crowd, poisson_binomial, presence, without
from passerby.model.release import Release

from .habits import People


@dataclass(frozen=True)
class Counted:
    """Actual traces: `there` (N, sensors) tells who was at which sensor, `total` (sensors,) how many of everybody."""

    there: NDArray[np.bool_]
    total: NDArray[np.int64]

    def besides(self, person: int, release: Release) -> list[list[int]]:
        """The numbers of other people, in the form of the release's sensors."""
        numbers = iter((self.total - self.there[person]).tolist())
        return [[next(numbers) for _ in step] for step in release.sensors]


@dataclass(frozen=True)
class Expected:
    """Habits of all who have any: `chance` (N, sensors) of being at each sensor, and the law of how many are there."""

    chance: NDArray[np.float64]
    total: list[Sum]

    def besides(self, person: int, release: Release) -> Crowd:
        """The laws of the numbers of other people."""
        laws = iter(without(law, p) for law, p in zip(self.total, self.chance[person], strict=True))
        return Crowd(laws=[[_from_zero(next(laws)) for _ in step] for step in release.sensors])


def everyone_else(people: People, release: Release) -> Counted | Expected | None:
    """What an audit needs to know of the others; None where the release knows them, or they do not matter.

    >>> from passerby import Rounding, fit_people, simulate_city
    >>> people = fit_people(simulate_city(people=30, places=20, days=3), window="2h", places=9, min_active=1, holdout=2)
    >>> release = Release([0, [1, 2]], Rounding(5))
    >>> counted = everyone_else(people, release)
    >>> [len(step) for step in counted.besides(0, release)]
    [1, 2]
    """
    if release.habits is not None and release.habits.open:
        return _expected(people, release)
    if release.counted or release.rule.shift_invariant:
        return None
    if not people.actual.shape[1]:
        raise InputError(
            f"others: {release.rule!r} treats small and large counts differently, and no steps are held out to count "
            "the other people at; give others=[...], in the form of sensors"
        )
    return counted(people, release)


def counted(people: People, release: Release) -> Counted:
    """Who of these people was at which sensor, and how many of everybody."""
    cells = [(t, place) for t, step in enumerate(release.sensors) for place in step]
    steps, places = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    return Counted(people.actual[:, steps] == places, people.counts[steps, places])


def _expected(people: People, release: Release) -> Expected:
    sensed = sorted({place for step in release.sensors for place in step})
    rows = []
    for person in range(len(people)):
        prior, states = people.prior(person, sensed)
        state_of = {int(place): state for state, place in enumerate(states)}
        where = [[state_of[place] for place in step] for step in release.sensors]
        rows.append(np.concatenate([np.empty(0), *presence(prior, where)]))
    chance = np.clip(np.array(rows), 0.0, 1.0)
    return Expected(chance, [poisson_binomial(column) for column in chance.T])


def _from_zero(law: Sum) -> NDArray[np.float64]:
    first, chances = law
    return np.concatenate([np.zeros(first), chances])
