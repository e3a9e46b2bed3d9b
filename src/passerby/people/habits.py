"""An adversary's knowledge of each person: habits fitted to the steps before the published ones.

How habits are fitted is told by `family` (chosen by `choice`), or by `smoothing` for the paper's way. Either way, all
places the person never visited share a row. The unsensed ones behave as one state, and only the most frequent place of
it is ever worth guessing. A chain is therefore kept as the person's own steps, and built over few states when it is
needed, whatever the number of places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.kernels import fit as fitting
from passerby.model.prior import MarkovPrior
from passerby.others.counted import states_by_place
from passerby.support.checks import flag, is_whole, shown, whole
from passerby.visits.table import LeftOut

from . import cycles
from .choice import Choice
from .common import Common, tilted
from .cycles import Schedule
from .family import USUAL, cases, joined, span
from .origins import Whereabouts
from .population import Population, equilibrium, plain, rhythmic
from .roles import LEAST, WEIGHT

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_NONE: Floats = np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class People:
    """N people: the steps for fitting their habits, and the steps to find.

    `fitted` (N, F) and `actual` (N, h) hold place numbers; `background` (M,) holds the population's frequencies over
    the fitted steps. `counts` (h, M) is the number of people at each place at each step to find; it includes people
    seen too seldom to be among the N. `phase` (F + h,) is the part of the day or week of each step, for habits with a
    rhythm. Steps begin by the clock of `timezone`; `left_out` counts the people outside the N. A person is found if
    somebody names their place. Naming elsewhere is never right, unless `name_elsewhere`.

    `habits` names the chosen habits and the scores of others, and `population` holds everybody's moves. Both are None
    for habits as in the paper; `smoothing` is then the weight of the population's frequencies. `whereabouts` has all
    people's places at the steps to find, for numbers of others who move or come again. `common` is the others' evidence
    on the common part of that time, if habits have one. A person's own steps are never in it. `weights` (N,) is the
    number of people each stands for, if more than themselves.
    """

    fitted: NDArray[np.int32]
    actual: NDArray[np.int32]
    places: tuple[str, ...]
    background: Floats
    smoothing: float
    ids: pl.Series
    starts: NDArray[np.datetime64]
    window: timedelta
    counts: Ints
    phase: Ints | None = None
    timezone: str = "UTC"
    left_out: LeftOut = field(default_factory=LeftOut)
    name_elsewhere: bool = False
    habits: Choice | None = None
    population: Population | None = None
    whereabouts: Whereabouts | None = None
    common: Common | None = None
    weights: Floats | None = None

    def __len__(self) -> int:
        """The number of people."""
        return len(self.fitted)

    def __repr__(self) -> str:
        smoothing = "" if self.habits else f", smoothing={self.smoothing:.3g}"
        return (
            f"People(people={len(self)}, places={len(self.places)}, fitted_steps={self.fitted.shape[1]}, "
            f"held_out_steps={self.actual.shape[1]}{smoothing})"
        )

    @property
    def elsewhere(self) -> int:
        """The number of the place for everywhere else: the last one."""
        return len(self.places) - 1

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings to read before believing the habits; empty without any."""
        told = [] if self.common is None else [*self.common.remarks]
        if self.counts.size and not self.counts[:, : self.elsewhere].any():
            told.append(
                "Nobody at all is at any of the chosen places at the published steps: all counts of them are 0, and "
                "there is nobody to find. Publish other steps, or choose other places."
            )
        if self.habits is not None and not self.habits.origins:
            told.insert(
                0,
                f"Habits could not be tried on earlier steps: {self.fitted.shape[1]} fitted steps are too few, or "
                "nobody was known before an earlier time. Nobody knows whether they predict well, or how many people "
                "leave, and what everybody did at the published steps is left out of them.",
            )
        return tuple(told)

    @property
    def gist(self) -> str:
        """A description of the habits, in plain words."""
        if self.habits is not None:
            return self.habits.gist
        return "a person's own moves so far, with a little of where everybody goes, as in the paper"

    @property
    def words(self) -> str:
        """The method of the fit, in a few shareable sentences."""
        if self.habits is not None:
            return self.habits.words
        return f"Habits: own moves with {self.smoothing:g} moves' worth of everybody's frequencies, as in the paper."

    @property
    def usual(self) -> People:
        """The same people, each with the one chain of doing as usual."""
        if self.habits is None or self.habits.chosen.modes == "none":
            return self if self.common is None else replace(self, common=None)
        usual = replace(self.habits.chosen, modes="none")
        return replace(self, habits=replace(self.habits, chosen=usual, weights=USUAL), common=None)

    @property
    def plain(self) -> People:
        """The same people as usual, and without a rhythm."""
        usual = self.usual
        if usual.habits is None:
            return replace(usual, phase=None)
        steady = replace(usual.habits.chosen, rhythm="none")
        return replace(usual, phase=None, habits=replace(usual.habits, chosen=steady))

    @property
    def familiarity(self) -> Floats:
        """The shares b (M,) of people's moves to places new to them."""
        return self.background if self.population is None else self.population.familiarity

    @cached_property
    def _in_order(self) -> Ints:
        """Places by b, from the largest."""
        return np.argsort(-self.familiarity, kind="stable")

    @cached_property
    def _surprise(self) -> Floats:
        """`-b log b` for each place (M,)."""
        return np.asarray(-self.familiarity * np.log(np.where(self.familiarity > 0, self.familiarity, 1.0)))

    @cached_property
    def _one_zone(self) -> Ints:
        """The label of each place (M,) for counts of places."""
        return np.zeros(len(self.places), dtype=np.int64)

    def prior(
        self, person: int, sensed: Sequence[int] = (), *, reduced: bool = True, zones: Ints | None = None
    ) -> tuple[MarkovPrior, Ints]:
        """One person's chain, and the place of each of its states (-1 for many places at once).

        States are the visited and the `sensed` places, the most frequent of the rest (and the next one, if this is
        elsewhere), and all others together: nobody would guess these. Nothing is lost by this. With `reduced=False`,
        one state per place.

        If counts are of `zones`, a label for each place (M,), this is done for the rest of each zone by itself. The
        state `-1-label` stands for many places of a zone: the place inside it does not matter to any count.
        """
        weights, named = self._weights(self._number(person)), self._numbers(sensed, "sensed")
        away = [self.elsewhere] if any(weights[2:]) or self.common is not None else []
        own = np.array([*named, *away] if flag(reduced, "reduced") else range(len(self.places)), dtype=np.int64)
        states, b, hidden, index, first = self._states(person, own, self._labels(zones))
        place_of = mode_of = None
        if self.habits is not None:
            chains = self._backed_off(states, b, index, first, weights[1] > 0)
            last, gone = int(index[-1]), int(np.flatnonzero(states == self.elsewhere)[0]) if away else -1
            nodes = ((1.0, 0.0),) if self.common is None else self.common.nodes(self.ids[person])
            if self.common is not None:
                several = [[tilted(chain, gone, theta) for chain in chains] for _, theta in nodes]
                chains = several[0]
            start, moves = chains[0]
            if len(nodes) > 1:
                start, moves, place_of, mode_of = cases([share for share, _ in nodes], weights, several, last, gone)
            elif weights[0] < 1:
                start, moves, place_of, mode_of = joined(weights, chains, last, gone)
        elif self.phase is None:
            start, moves = plain(index, b, self.smoothing)
        else:
            start, moves = rhythmic(index, b, self.smoothing, self.phase, self.actual.shape[1])
        return self._chain(start, moves, states, hidden, place_of, mode_of), states

    def _number(self, person: int) -> int:
        """The number of a person among these."""
        return whole(person, "person", 0, len(self) - 1)

    def _numbers(self, places: Sequence[int], name: str) -> list[int]:
        """Numbers of places."""
        if isinstance(places, str | bytes) or not isinstance(places, Sequence | np.ndarray):
            raise InputError(f"{name}: expected a list of places by their numbers, got {shown(places)}")
        if not all(is_whole(place) and 0 <= place <= self.elsewhere for place in places):
            raise InputError(f"{name}: {shown(places)}: there are {len(self.places)} places, numbered from 0")
        return [int(place) for place in places]

    def _labels(self, zones: Any) -> Ints:
        """The zone of each place (M,)."""
        if zones is None:
            return self._one_zone
        if not isinstance(zones, np.ndarray) or zones.shape != (len(self.places),) or zones.dtype.kind != "i":
            raise InputError(f"zones: expected a label for each of the {len(self.places)} places, got {shown(zones)}")
        return zones.astype(np.int64, copy=False)

    def in_modes(
        self, person: int, places: Sequence[int]
    ) -> tuple[list[float], list[tuple[Floats, Floats]], Ints, int]:
        """A person's weights of modes, the chains of the moving modes, the state of each place (M,), and the last.

        States are the states of `prior` with such sensors and elsewhere; without a common part of habits.
        """
        weights, own = self._weights(person), np.array([*places, self.elsewhere], dtype=np.int64)
        states, b, _, index, first = self._states(person, own, self._one_zone)
        number = states_by_place(states, len(self.places), None)
        return weights, self._backed_off(states, b, index, first, weights[1] > 0), number, int(index[-1])

    def _weights(self, person: int) -> list[float]:
        """A person's weights of modes."""
        habits = self.habits
        return [1.0, 0.0, 0.0, 0.0] if habits is None else habits.of(self.fitted[person], self.elsewhere).tolist()

    def _states(self, person: int, own: Ints, label: Ints) -> tuple[Ints, Floats, Floats, Ints, int]:
        """States including the places `own`, their b and entropies, the states of the kept steps, and the first one."""
        first, stop = self._span(person)
        kept = self.fitted[person][first:stop].astype(np.int64)
        found = fitting.states(kept, own, label, self._in_order, self.familiarity, self._surprise, self.elsewhere)
        return *found, first

    def _span(self, person: int) -> tuple[int, int]:
        """The fitted steps of a person: from the first number to before the second."""
        if self.habits is None:
            return 0, self.fitted.shape[1]
        return span(self.fitted[person], self.elsewhere, self.habits.chosen.trim)

    @cached_property
    def _levels(self) -> tuple[Ints, ...]:
        """Parts of the cycle at the start of all steps, the finest last."""
        if self.habits is None or self.phase is None:
            return ()
        return cycles.levels(self.habits.chosen.rhythm, self.starts, self.window, len(self.phase))

    @cached_property
    def _schedule(self) -> Schedule:
        """When habits are wanted."""
        assert self.habits is not None
        fitted, held = self.fitted.shape[1], self.actual.shape[1]
        return Schedule.of(self.habits.chosen, self._levels, self.window, fitted, held)

    @cached_property
    def _roles(self) -> Floats:
        """Everybody's moves by role (H, 3, 4), if habits use them."""
        assert self.population is not None
        parts = self._schedule.parts
        return self.population.roles[[0] if parts is None else 1 + parts]

    def _backed_off(
        self, states: Ints, b: Floats, index: Ints, first: int, like_everybody: bool
    ) -> list[tuple[Floats, Floats]]:
        """Start and matrices of a member of the family, from the states of the kept steps and the given first one.

        If asked for, the same for somebody who does as everybody does.
        """
        assert self.habits is not None
        assert self.population is not None
        how, population, when = self.habits.chosen, self.population, self._schedule
        flow = by_place = None
        if like_everybody or how.flow == "places":
            part_of = when.part_of[first : first + len(index)]
            flow = by_place = population.laws(index, states, b, part_of, when.parts)
        if how.flow != "places":
            coming = self.habits.laws_of_coming(len(self._levels)) if how.flow == "times" else _NONE
            flow = fitting.by_role(index, first, when.within, WEIGHT, self._roles, b, coming, LEAST)
        steps = index, first, when.within, when.weight, when.count
        own = fitting.backed_off(*steps, b, flow, how.background, how.smoothing, how.share)
        found = [
            (law[when.now, index[-1]].copy(), law[0] if when.parts is None else law[when.later])
            for law in (own, by_place)
            if law is not None
        ]
        if how.start == "equilibrium":
            whole = np.eye(len(b))
            for part in when.number[: when.period]:
                whole = whole @ own[part]
            found[0] = equilibrium(whole, b), found[0][1]
        return found

    def _chain(
        self,
        start: Floats,
        moves: Floats,
        states: Ints,
        hidden: Floats,
        place_of: Ints | None = None,
        mode_of: Ints | None = None,
    ) -> MarkovPrior:
        """A chain over such states, with the places of the states."""
        elsewhere = np.flatnonzero(states == self.elsewhere)
        return MarkovPrior.known(
            start,
            moves,
            guessable=(states >= 0) & (self.name_elsewhere | (states != self.elsewhere)),
            universe=len(self.places),
            merged_entropy=hidden,
            elsewhere=int(elsewhere[0]) if elsewhere.size else None,
            place_of=place_of,
            mode_of=mode_of,
        )


def places_visited(fitted: NDArray[np.int32]) -> Ints:
    """How many different places each person (N,) is at, in fitted steps (N, F).

    >>> places_visited(np.array([[3, 1, 3], [2, 2, 2]])).tolist()
    [2, 1]
    """
    return 1 + np.asarray((np.diff(np.sort(fitted, axis=1), axis=1) > 0).sum(axis=1))


def check_people(people: object, name: str = "people") -> None:
    """Refuse anything but `People`."""
    if not isinstance(people, People):
        raise InputError(f"{name} is a {type(people).__name__}; expected what fit_people returns")
