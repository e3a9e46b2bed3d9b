"""When habits are wanted, and what fitted steps count for them: parts of the day or week, and how long ago it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from . import cycles
from .family import Habits, alike

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Schedule:
    """The H parts of a cycle that published steps are in, which differ; H = 1 without a rhythm.

    `number` tells which of them each step is in: as many steps of a whole cycle as habits start by, up to the first
    published one, `period` of them, and the steps after it. `parts` (H,) are the finest parts themselves, None without
    a rhythm, and `part_of` (F,) that of each fitted step. `within` (1 + levels, H, F) is 1 for fitted steps in a part,
    at all times, in broader parts and in the finest, and 0 for others. `weight` (F,) is that of each fitted step, and
    `count` (H, F) what a move to it counts for habits towards a part.
    """

    period: int
    number: Ints
    parts: Ints | None
    part_of: Ints
    within: Floats
    weight: Floats
    count: Floats

    @classmethod
    def of(cls, habits: Habits, levels: Sequence[Ints], window: timedelta, fitted: int, held: int) -> Schedule:
        """For so many fitted and published steps; `levels` are the parts of all of them, the finest last."""
        period = (cycles.length(habits.rhythm, window) or 1) if habits.start == "equilibrium" else 1
        # Steps of a cycle earlier are in the same parts; the first move is that from the first published step.
        steps = np.arange(fitted + 1 - period, max(fitted + held, fitted + 1))
        weight = habits.weights(fitted)
        if not levels:
            every, number = np.ones((1, 1, fitted)), np.zeros(len(steps), dtype=np.int64)
            return cls(period, number, None, np.zeros(fitted, dtype=np.int64), every, weight, weight[None])
        _, some, number = np.unique(levels[-1][steps], return_index=True, return_inverse=True)
        parts = [level[steps[some]][:, None] for level in levels]
        before = [level[:fitted] for level in levels]
        within = [np.ones((len(some), fitted)), *(level == part for level, part in zip(before, parts, strict=True))]
        count = weight * alike(before, parts, habits.carry)
        return cls(period, number, parts[-1][:, 0], before[-1], np.array(within, dtype=np.float64), weight, count)

    @property
    def now(self) -> int:
        """The part that the first published step is in."""
        return int(self.number[self.period - 1])

    @property
    def later(self) -> Ints:
        """The parts that the steps after the first published one are in."""
        return self.number[self.period :]
