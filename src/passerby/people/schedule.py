"""The times for habits, and the weights of fitted steps at them: parts of the day or week, and age."""

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
    """The H different parts of a cycle of the published steps; H = 1 without a rhythm.

    `number` has the part of each step. It covers as many steps of a whole cycle as habits start by, up to the first
    published one, `period` of them, and the steps after it. `parts` (H,) are the finest parts themselves, None without
    a rhythm, and `part_of` (F,) is the part of each fitted step. `within` (1 + levels, H, F) is 1 for fitted steps in a
    part, at all times, in broader parts and in the finest, and 0 for others. `weight` (F,) is the weight of each fitted
    step, and `count` (H, F) the weight of a move to it for habits towards a part.
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
        # Steps of a cycle earlier are in the same parts; the first move leaves the first published step.
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
        """The part of the first published step."""
        return int(self.number[self.period - 1])

    @property
    def later(self) -> Ints:
        """The parts of the steps after the first published one."""
        return self.number[self.period :]
