"""Traces: one place per person and step; and the people and visits left out on the way to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RarelySeen:
    """The number of `people`, and each sighting: at a `place`, of a `person` (from 0), at a `step`, (n,) each.

    At all other steps they are elsewhere. As they are seen seldom, this is small beside the traces of the others.
    """

    people: int
    person: NDArray[np.uint32]
    step: NDArray[np.uint32]
    place: NDArray[np.int32]

    @classmethod
    def nobody(cls) -> RarelySeen:
        """Nobody is seen too seldom."""
        return cls(0, np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.int32))

    @classmethod
    def among(cls, seen: pl.DataFrame, kept: pl.Series) -> RarelySeen:
        """The sightings `seen` (person, step, place) of people who are not `kept`."""
        rows = seen.filter(~pl.col("person").is_in(kept.implode()))
        ids, person = np.unique(rows["person"].to_numpy(), return_inverse=True)
        step, place = rows["step"].to_numpy().astype(np.uint32), rows["place"].to_numpy().astype(np.int32)
        return cls(len(ids), person.astype(np.uint32), step, place)

    def between(self, first: int, stop: int, elsewhere: int) -> NDArray[np.int32]:
        """The places of people seen in some steps, (n, stop - first); the rest are elsewhere at all of them.

        >>> few = RarelySeen(3, np.array([0, 0, 2]), np.array([1, 4, 5]), np.array([7, 8, 9]))
        >>> few.between(4, 6, elsewhere=20)
        array([[ 8, 20],
               [20,  9]], dtype=int32)
        """
        inside = (self.step >= first) & (self.step < stop)
        who, row = np.unique(self.person[inside], return_inverse=True)
        out = np.full((len(who), stop - first), elsewhere, dtype=np.int32)
        out[row, self.step[inside].astype(np.int64) - first] = self.place[inside]
        return out


ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class LeftOut:
    """Losses on the way from visits to traces: visits, people, and a last step."""

    visits: int = 0
    """Visits in all."""
    outside: int = 0
    """Visits outside of the steps."""
    other_places: int = 0
    """Visits within the steps to unchosen places."""
    people: int = 0
    """People in all."""
    unseen: int = 0
    """People at none of the chosen places in any step."""
    seldom: int = 0
    """People at chosen places in fewer than `min_active` steps."""
    seen: int = 0
    """Steps with somebody at a chosen place, over all people."""
    tied: int = 0
    """Such steps with a tie: nothing told the place left out from the place taken."""
    partial_step: bool = False
    """Whether a last step was left out because the visits cover only a part of it."""
    cut: bool = False
    """Whether times are cut, so equal rows were counted as visits."""

    @property
    def kept(self) -> int:
        """People with a trace."""
        return self.people - self.unseen - self.seldom


@dataclass(frozen=True, eq=False, repr=False)
class Traces:
    """The place of each of N people at each of T steps, among K chosen places and `elsewhere`."""

    array: NDArray[np.int32]
    """Place of each person and step (N, T), from 0 to K; K is `elsewhere`. Read-only."""
    places: tuple[str, ...]
    """Names of the places (K+1,), `elsewhere` last."""
    people: pl.Series
    """The people's ids (N,), sorted."""
    starts: NDArray[np.datetime64]
    """When each step begins (T,), by the clock of the time zone."""
    window: timedelta
    """How long a step lasts."""
    active: NDArray[np.int32]
    """In how many steps each person is seen at a chosen place (N,)."""
    frequency: NDArray[np.float64]
    """Share of all person-steps spent at each place (K+1,)."""
    counts: NDArray[np.int64]
    """The number of people at each place at each step (T, K+1), including people seen too seldom."""
    timezone: str = "UTC"
    """The zone by whose clock steps begin."""
    left_out: LeftOut = field(default_factory=lambda: LeftOut())
    """The people and visits left out, and the reasons."""
    seldom: RarelySeen = field(default_factory=RarelySeen.nobody)
    """The places of people left out for being seen too seldom."""

    def __len__(self) -> int:
        """The number of people."""
        return len(self.array)

    def __repr__(self) -> str:
        people, steps = self.array.shape
        return f"Traces(people={people}, steps={steps}, places={len(self.places)})"
