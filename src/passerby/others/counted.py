"""How many others each count really counts, from everybody in the visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.counts import Count
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

Floats = NDArray[np.float64]


Ints = NDArray[np.int64]


class Somewhere(Protocol):
    """Everybody's places, at the steps of a release."""

    def numbers(self, counts: Sequence[Count]) -> Ints:
        """How many people each count counts."""


class WithHabits(Protocol):
    """People with habits: the knowledge needed for the number of others."""

    @property
    def actual(self) -> NDArray[np.int32]:
        """The place of each at each held-out step (N, h)."""

    @property
    def counts(self) -> Ints:
        """The number of people at each place at each step (h, places), including people without habits."""

    @property
    def places(self) -> tuple[str, ...]:
        """The labels of the places."""

    @property
    def usual(self) -> WithHabits:
        """The same people, without modes of a day."""

    @property
    def whereabouts(self) -> Somewhere | None:
        """Traces of everybody."""

    def prior(
        self, person: int, sensed: Sequence[int] = (), *, reduced: bool = True, zones: Ints | None = None
    ) -> tuple[MarkovPrior, Ints]:
        """One person's chain, and the place of each of its states."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Counted:
    """Actual traces (N, h), and the number of all people in each count, `total` (counts,), in the order of a release.

    If the others of a count were `given` (counts,), these are they.
    """

    actual: NDArray[np.int32]
    total: NDArray[np.int64]
    given: NDArray[np.bool_]

    def besides(self, person: int, release: Release) -> list[list[int]]:
        """The numbers of other people, in the form of the release's sensors."""
        numbers = iter((self.total - (self._there(person, release) & ~self.given)).tolist())
        return [[next(numbers) for _ in step] for step in release.sensors]

    def _there(self, person: int, release: Release) -> NDArray[np.bool_]:
        """Whether each count counts this person."""
        trace = self.actual[person].tolist()
        if release.reveals:
            return np.array([trace[t] == place for t, step in enumerate(release.sensors) for place in step], dtype=bool)
        inside = {zone: frozenset(zone) for zone in release.zones}
        return np.array([count.met(lambda zone, t: trace[t] in inside[zone]) for count in release.listed], dtype=bool)


def counted(people: WithHabits, release: Release) -> Counted:
    """The number of all people in each count, and the places of these people."""
    total = numbers(people, release)
    return Counted(people.actual, total, np.zeros(len(total), dtype=bool))


def numbers(people: WithHabits, release: Release) -> NDArray[np.int64]:
    """The number of people in each count of a release, in its order, including people seen too seldom.

    It is a sum over people: of several parts of everybody, the numbers add up.
    """
    if release.steps > len(people.counts):
        raise InputError(
            f"people: how many are counted is known for {len(people.counts) or 'no'} steps, and the release has "
            f"{release.steps}; fit them with holdout={release.steps}"
        )
    if release.reveals:
        cells = [(t, place) for t, step in enumerate(release.sensors) for place in step]
        steps, places = np.array(cells, dtype=np.int64).reshape(-1, 2).T
        return np.asarray(people.counts[steps, places])
    if all(count.snapshot for count in release.listed):
        # What is counted at one step needs nobody's trace.
        present = (people.counts[count.read, list(count.zones[0])].sum() for count in release.listed)
        return np.fromiter(present, dtype=np.int64)
    if people.whereabouts is None:
        raise InputError(
            "others: flows and visitors of other people are counted from everybody's traces, which these people do not "
            "hold; fit them with fit_people, or give others=... with each count"
        )
    return people.whereabouts.numbers(release.listed)


def states_by_place(places: Ints, every: int, zones: Ints | None) -> Ints:
    """The state of each of so many places, from the place of each state: `-1 - zone` are all others of a zone.

    >>> states_by_place(np.array([2, 0, -1, -2]), 5, np.array([0, 0, 0, 1, 1])).tolist()
    [1, 2, 0, 3, 3]
    """
    rest = np.flatnonzero(places < 0)
    if zones is None:
        out = np.full(every, rest[0] if len(rest) else 0)
    else:
        state = np.zeros(zones.max() + 1, dtype=np.int64)
        state[-1 - places[rest]] = rest
        out = state[zones]
    known = np.flatnonzero(places >= 0)
    out[places[known]] = known
    return out
