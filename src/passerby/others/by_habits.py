"""Others in an audit: their true numbers, and the law of the numbers under their habits.

The numbers come from everybody in the visits, also from people with too few visits for an audit: the published counts
hold them too. Against habits, side information is not drawn: it is the actual places of the others
(`side_information`). Chains with memory take much room, so people are gone through one by one, twice. The first time is
for their habits: these decide the turns of telling. The second time is for the side information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.mechanisms.base import Mechanism
from passerby.mechanisms.laws import Sum
from passerby.model.count import mechanism_of
from passerby.model.release import Release

from .bridges import Passage, Walk, coins, turns
from .counted import Counted, Floats, Ints, WithHabits, counted, numbers, states_by_place
from .crowd import Crowd, presence, together
from .numbers import poisson_binomial, without
from .sensors import told_between
from .side_information import Direction, SideInformation, as_table, directions_of, in_order, left_open, pairs_of


@dataclass(frozen=True)
class CountsByHabits:
    """The knowledge of all people with habits, by these and by side information, and a way to leave one of them out.

    By habits, they are in each count with the chances of `presence` (N, counts). So numbers have the laws `usual`
    (counts) and the covariance `spread` (counts, counts). By side information, they are in the counts of `known` (N,
    counts). A `chance` (N, directions) remains for each direction of each step. Numbers along it have the laws `more`.
    `rest` (counts,) are the counted people without useful habits: they are taken to be known.
    """

    people: WithHabits
    rest: Ints
    presence: Floats
    usual: list[Sum]
    spread: Floats
    known: Ints
    chance: Floats
    more: list[Sum]
    directions: tuple[tuple[Direction, ...], ...]

    def besides(self, person: int, release: Release) -> Crowd:
        """The others of one person."""
        own = passage_of(self.people, person, release)[0]
        alone = [without(law, p) for law, p in zip(self.usual, self.presence[person].tolist(), strict=True)]
        cells = iter((int(n) + least, law) for n, (least, law) in zip(self.rest, alone, strict=True))
        laws = tuple(tuple(next(cells) for _ in step) for step in release.sensors)
        return Crowd.of_side_information(laws, self._witness(person, release), self.spread - own.together)

    def _witness(self, person: int, release: Release) -> SideInformation:
        known = np.zeros((1, *release.grid.shape), dtype=np.int64)
        known[:, release.grid >= 0] = self.rest + self.known.sum(axis=0) - self.known[person]
        left = iter(without(law, p) for law, p in zip(self.more, self.chance[person].tolist(), strict=True))
        laws = [as_table([next(left) for _ in step]) for step in self.directions]
        return SideInformation(known, known, laws, self.directions)


def habits_of_counts(people: WithHabits, release: Release, total: Ints) -> CountsByHabits:
    """Of people who do as usual, in counts of which `total` (counts,) is everybody's number."""
    each = len(people)
    presence = np.zeros((each, len(total)))
    spread = np.zeros((len(total), len(total)))
    open_: list[_Uncertain] = []
    often: list[dict[tuple[int, ...], float]] = []
    for person in range(each):
        own = passage_of(people, person, release)[0]
        presence[person] = np.clip(own.presence, 0.0, 1.0)
        spread += own.together
        open_.append(_Uncertain(own.uncertainty))
        often = often or [{} for _ in own.active]
        for k, step in enumerate(often):
            own.add_often(k, step)
    plan = [directions_of(step) for step in often]
    known, chance = _told_of_counts(people, release, plan, turns(open_, each))
    there = _counted(people, release)
    active = [t for t, step in enumerate(release.counts) if step]
    return CountsByHabits(
        people,
        total - there.sum(axis=0),
        presence,
        [poisson_binomial(column) for column in presence.T],
        spread,
        known,
        chance,
        [poisson_binomial(column) for column in chance.T],
        in_order(plan, active, release.steps),
    )


@dataclass(frozen=True)
class _Uncertain:
    """The uncertainty of one person, without the chain behind it."""

    uncertainty: Floats


def passage_of(people: WithHabits, person: int, release: Release) -> tuple[Passage, Ints]:
    """One person's chain with its memory, over its own states, and their real trace (T,)."""
    zones = release.alike(len(people.places))
    prior, places = people.prior(person, zones=zones)
    state_of = states_by_place(places, len(people.places), zones)
    own = release.relabelled(state_of)
    return Passage.of(prior, own.counts), state_of[people.actual[person]]


def _counted(people: WithHabits, release: Release) -> Ints:
    """In which counts each person really was (N, counts): 1 or 0."""
    traces = people.actual.astype(np.int64)
    return np.stack([count.bits(traces) for count in release.listed], axis=1).astype(np.int64)


def _told_of_counts(
    people: WithHabits, release: Release, plan: Sequence[tuple[Direction, ...]], turn: Ints
) -> tuple[Ints, Floats]:
    """Each person's told counts (N, counts), and the rest along each direction (N, directions).

    If habits rule out a person's actual trace, all of it is told.
    """
    known = _counted(people, release)
    chance = np.zeros((len(people), sum(map(len, plan))))
    coin = coins(len(people), len(plan))
    for person in range(len(people)):
        own, trace = passage_of(people, person, release)
        states = own.states_of(trace)
        if states is None or turn[person] < 0:
            continue
        here = there = 0
        for k, directions in enumerate(plan):
            counts, ways = np.s_[here : here + own.sizes[own.active[k]]], np.s_[there : there + len(directions)]
            here, there = counts.stop, ways.stop
            if k % 2 != turn[person]:
                around = [states[j : j + 1] if 0 <= j < len(states) else states[:1] for j in (k - 1, k + 1)]
                bits, actual = own.bits[k], own.class_of[k][states[k : k + 1]]
                pairs = pairs_of(bits, directions)
                left = left_open(bits, pairs, len(directions), own.bridge(k, *around), actual, float(coin[person, k]))
                known[person, counts], chance[person, ways] = left.known[0], left.chance[0]
    return known, chance


@dataclass(frozen=True)
class View:
    """One view of the numbers of people with habits at each sensor, and a way to leave one of them out.

    `known` (N, sensors) marks people known to be there, and `chance` (N, sensors) is the chance of the others of them.
    `total` is the law of the number of these others there.
    """

    known: NDArray[np.bool_]
    chance: NDArray[np.float64]
    total: list[Sum]

    @classmethod
    def of(cls, known: NDArray[np.bool_], chance: NDArray[np.float64]) -> View:
        """With the laws of the sums."""
        return cls(known, chance, [poisson_binomial(column) for column in chance.T])

    def besides(self, person: int, rest: NDArray[np.int64]) -> list[Sum]:
        """The laws of the numbers of all others, with the known number of people without habits."""
        known = rest + self.known.sum(axis=0) - self.known[person]
        left = (without(law, p) for law, p in zip(self.total, self.chance[person], strict=True))
        return [(int(n) + least, chances) for n, (least, chances) in zip(known, left, strict=True)]


@dataclass(frozen=True)
class SensorsByHabits:
    """Habits of everybody with any: the adversary's knowledge by `habits`, and with side information (`told`).

    This view is the place of each of them at every second step (`others.bridges`). `rest` (sensors,) are the people
    there without useful habits: they are taken to be known. `spread` (sensors, sensors) is the covariance of the
    numbers of all people known by habits; `people` do as usual.
    """

    rest: NDArray[np.int64]
    habits: View
    told: View
    spread: NDArray[np.float64]
    people: WithHabits

    def besides(self, person: int, release: Release) -> Crowd:
        """The laws of the numbers of other people."""
        spread = self.spread
        if (self.habits.chance[person] > 0).any():
            walk, _ = walked(self.people, person, release)
            spread = spread - together(walk.prior, walk.sensors)
        views = (iter(view.besides(person, self.rest)) for view in (self.habits, self.told))
        laws, told = (tuple(tuple(next(view) for _ in step) for step in release.sensors) for view in views)
        return Crowd.told_of(laws, told, spread)


#: Others known by their habits: everybody's are needed for each one.
ByHabits = SensorsByHabits | CountsByHabits


def everyone_else(people: WithHabits, release: Release) -> Counted | ByHabits | None:
    """An audit's knowledge of the others; None if the release knows them, or they do not matter.

    >>> from passerby import Rounding, fit_people, simulate_city
    >>> people = fit_people(simulate_city(people=30, places=20, days=3), window="2h", places=9, min_active=1, holdout=2)
    >>> release = Release([0, [1, 2]], Rounding(5))
    >>> counted = everyone_else(people, release)
    >>> [len(step) for step in counted.besides(0, release)]
    [1, 2]
    """
    if release.crowd is not None and release.crowd.open:
        return _by_habits(people, release)
    missing = [mechanism for mechanism in _uncounted(release) if not mechanism.shift_invariant]
    if not missing:
        return None
    if not people.actual.shape[1]:
        form = "others=... with each count" if not release.reveals else "others=[...], in the form of sensors"
        raise InputError(
            f"others: {missing[0]!r} treats small and large counts differently, and no steps are held out to "
            f"count the other people at; give {form}"
        )
    found = counted(people, release)
    if release.reveals:
        return found
    known = [count.others for count in release.listed]
    given = np.array([number is not None for number in known])
    return replace(found, total=np.where(given, [number or 0 for number in known], found.total), given=given)


def _uncounted(release: Release) -> list[Mechanism]:
    """The mechanisms of the counts whose others are not given."""
    if not release.reveals:
        return [mechanism_of(count) for count in release.listed if count.others is None]
    return [release.mechanism] if release.others is None else []


def _by_habits(people: WithHabits, release: Release) -> ByHabits:
    if not people.actual.shape[1]:
        raise InputError(
            "others: with Crowd(), an audit goes by where everyone else really was at every second step, and no steps "
            "are held out; hold some out"
        )
    # The place of others at one step tells of their mode at all others: bridges are taken from people who do as usual.
    usual = people.usual
    if not release.reveals:
        return habits_of_counts(usual, release, numbers(people, release))
    found = [walked(usual, person, release) for person in range(len(people))]
    walks, traces = [walk for walk, _ in found], [trace for _, trace in found]
    real = counted(people, release)
    marginals = [np.concatenate([np.empty(0), *presence(walk.prior, walk.sensors)]) for walk in walks]
    there = _who(people, release)
    nobody = np.zeros_like(there)
    return SensorsByHabits(
        real.total - there.sum(axis=0),
        View.of(nobody, np.clip(np.array(marginals), 0.0, 1.0)),
        View.of(*_told(walks, traces, there)),
        np.sum([together(walk.prior, walk.sensors) for walk in walks], axis=0),
        usual,
    )


def _who(people: WithHabits, release: Release) -> NDArray[np.bool_]:
    """Marks of these people at each sensor (N, sensors)."""
    step, sensor = np.nonzero(release.grid >= 0)
    return np.asarray(people.actual[:, step] == release.grid[step, sensor])


def walked(people: WithHabits, person: int, release: Release) -> tuple[Walk, NDArray[np.int64]]:
    """One person's chain at the sensors, over its own states, and their real trace (T,)."""
    prior, states = people.prior(person, sorted({place for step in release.sensors for place in step}))
    state_of = {int(place): state for state, place in enumerate(states)}
    rest = state_of.get(-1, 0)
    walk = Walk(prior, tuple(tuple(state_of[place] for place in step) for step in release.sensors))
    return walk, np.array([state_of.get(int(place), rest) for place in people.actual[person]])


def _told(
    walks: list[Walk], traces: list[NDArray[np.int64]], there: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Marks of people told to be at each sensor, and the remaining chances: both (N, sensors)."""
    known, chance = there.copy(), np.zeros(there.shape)
    active = walks[0].active
    turn, coin = turns(walks, len(walks)), coins(len(walks), len(active))
    ends = np.cumsum([len(walks[0].sensors[t]) for t in active])
    for i, (walk, trace) in enumerate(zip(walks, traces, strict=True)):
        for k in range(len(active)):
            around = [trace[active[j : j + 1]] if 0 <= j < len(active) else trace[:1] for j in (k - 1, k + 1)]
            # A person at a place outside their habits is told at once.
            if k % 2 != turn[i] and walk.possible(k, *around)[0]:
                cells = np.s_[ends[k] - len(walk.watched[k]) : ends[k]]
                told, left = told_between(walk.bridge(k, *around), there[i : i + 1, cells], float(coin[i, k]))
                known[i, cells], chance[i, cells] = told[0], left[0]
    return known, chance
