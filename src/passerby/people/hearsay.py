"""Everyone else in zones, flows and windows of visitors, to somebody who knows their habits alone.

As with sensors, an audit does not draw what may be told of the others (`model.witness`): it tells where they really
were. Everybody's chain with its memory would take much room, so people are gone through one by one, twice: for what is
known by habits, from which it follows who is told when, and then for what is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.mechanisms.laws import Sum
from passerby.model.bridges import coins, turns
from passerby.model.count_release import CountRelease
from passerby.model.crowd import Crowd
from passerby.model.headcount import poisson_binomial, without
from passerby.model.passage import Passage
from passerby.model.release import Release
from passerby.model.witness import Direction, Witness, as_table, directions_of, in_order, left_open, pairs_of

from .habits import People, states_by_place

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Heard:
    """What is known of all who have habits, by these and by what is told, and how to leave one of them out.

    By habits, they are in each count with the chances of `presence` (N, counts), which makes numbers of the laws
    `usual` (counts), with the covariance `spread` (counts, counts). Told is that they are in the counts of `known`
    (N, counts), and `chance` (N, directions) remains for each direction of each step, of which numbers have the laws
    `more`. `rest` (counts,) are the people who are counted and have no habits to speak of: they are taken to be known.
    """

    people: People
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
        assert isinstance(release, CountRelease)
        own = passage_of(self.people, person, release)[0]
        alone = [without(law, p) for law, p in zip(self.usual, self.presence[person].tolist(), strict=True)]
        cells = iter((int(n) + least, law) for n, (least, law) in zip(self.rest, alone, strict=True))
        laws = tuple(tuple(next(cells) for _ in step) for step in release.sensors)
        return Crowd.witnessed(laws, self._witness(person, release), self.spread - own.together)

    def _witness(self, person: int, release: Release) -> Witness:
        known = np.zeros((1, *release.grid.shape), dtype=np.int64)
        known[:, release.grid >= 0] = self.rest + self.known.sum(axis=0) - self.known[person]
        left = iter(without(law, p) for law, p in zip(self.more, self.chance[person].tolist(), strict=True))
        laws = [as_table([next(left) for _ in step]) for step in self.directions]
        return Witness(known, known, laws, self.directions)


def heard(people: People, release: CountRelease, total: Ints) -> Heard:
    """Of people who do as usual, in counts of which `total` (counts,) is everybody's number."""
    each = len(people)
    presence = np.zeros((each, len(total)))
    spread = np.zeros((len(total), len(total)))
    open_: list[_Open] = []
    often: list[dict[tuple[int, ...], float]] = []
    for person in range(each):
        own = passage_of(people, person, release)[0]
        presence[person] = np.clip(own.presence, 0.0, 1.0)
        spread += own.together
        open_.append(_Open(own.uncertainty))
        often = often or [{} for _ in own.active]
        for k, step in enumerate(often):
            own.add_often(k, step)
    plan = [directions_of(step) for step in often]
    known, chance = _told(people, release, plan, turns(open_, each))
    there = _counted(people, release)
    active = [t for t, step in enumerate(release.counts) if step]
    return Heard(
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
class _Open:
    """How uncertain one person is, without the chain that tells it."""

    uncertainty: Floats


def passage_of(people: People, person: int, release: CountRelease) -> tuple[Passage, Ints]:
    """One person's chain with its memory, over its own states, and their real trace (T,)."""
    zones = release.alike(len(people.places))
    prior, places = people.prior(person, zones=zones)
    state_of = states_by_place(places, len(people.places), zones)
    own = release.relabelled(state_of)
    assert isinstance(own, CountRelease)
    return Passage.of(prior, own.counts), state_of[people.actual[person]]


def _counted(people: People, release: CountRelease) -> Ints:
    """In which counts each person really was (N, counts): 1 or 0."""
    traces = people.actual.astype(np.int64)
    return np.stack([count.bits(traces) for count in release.listed], axis=1).astype(np.int64)


def _told(
    people: People, release: CountRelease, plan: Sequence[tuple[Direction, ...]], turn: Ints
) -> tuple[Ints, Floats]:
    """In which counts each person is told to be (N, counts), and what remains along each direction (N, directions).

    Somebody whose habits rule out what they really did is told all the way.
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
