"""Traces: one place per person and step, and what was left out on the way from visits to them."""

from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .seldom import Seldom

ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class LeftOut:
    """What was left out on the way from visits to traces: visits, people, and a last step."""

    visits: int = 0
    """Visits in all."""
    outside: int = 0
    """Visits outside of the steps."""
    other_places: int = 0
    """Visits within the steps to places that were not chosen."""
    people: int = 0
    """People in all."""
    unseen: int = 0
    """People who are at none of the chosen places in any step."""
    seldom: int = 0
    """People who are there in fewer than `min_active` steps."""
    seen: int = 0
    """Steps in which somebody is at a chosen place, over all people."""
    tied: int = 0
    """Those of them in which a place was left out that nothing told from the one that was taken."""
    partial_step: bool = False
    """Whether a last step was left out that the visits cover only in part."""
    cut: bool = False
    """Whether times are cut, so that equal rows were counted as visits."""

    @property
    def kept(self) -> int:
        """People who have a trace."""
        return self.people - self.unseen - self.seldom


@dataclass(frozen=True, eq=False, repr=False)
class Traces:
    """Where each of N people was at each of T steps, among K chosen places and `elsewhere`."""

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
    """How many people are at each place at each step (T, K+1), also of those left out for being seen too seldom."""
    timezone: str = "UTC"
    """The zone by whose clock steps begin."""
    left_out: "LeftOut" = field(default_factory=lambda: LeftOut())
    """Who and what was left out, and why."""
    seldom: Seldom = field(default_factory=Seldom.nobody)
    """Where people are who are left out for being seen too seldom."""

    def __len__(self) -> int:
        """The number of people."""
        return len(self.array)

    def __repr__(self) -> str:
        people, steps = self.array.shape
        return f"Traces(people={people}, steps={steps}, places={len(self.places)})"
