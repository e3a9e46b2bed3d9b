"""Parts of the day or week, by the start of a step.

The times for habits, and the weights of fitted steps at them: parts of the day or week, and age.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_word

from .family import Cycle, Habits, alike

Ints = NDArray[np.int64]

DAY, WEEK = timedelta(days=1), timedelta(days=7)
#: The fewest days to tell Saturdays and Sundays from other days, with steps of a day.
FEWEST_DAYS = 14
#: Cycles of more steps than a week has minutes are not looked at: parts would take memory, and be seen hardly ever.
MOST_PARTS = 7 * 24 * 60


def length(cycle: Cycle, window: timedelta) -> int:
    """The length of a cycle in steps; 0 without a cycle, or if steps do not fill it evenly."""
    whole = {"none": None, "hour": DAY, "weekday": WEEK, "workday": WEEK}[cycle]
    return 0 if whole is None or whole % window else whole // window


def phase(cycle: Cycle, starts: NDArray[np.datetime64], window: timedelta, steps: int) -> Ints | None:
    """The part of the cycle of each of the first `steps` steps, also beyond the last start.

    Parts are numbered from the first step on; with "workday", parts of Saturdays and Sundays follow all others.

    >>> days = np.datetime64("2024-01-04T00:00") + np.arange(2) * np.timedelta64(12, "h")
    >>> phase("workday", days, timedelta(hours=12), 6).tolist()
    [0, 1, 0, 1, 2, 3]
    """
    if cycle == "none":
        return None
    numbers = np.arange(steps, dtype=np.int64)
    period = length(cycle, window)
    if cycle != "workday":
        return numbers % period
    day = max(1, DAY // window)
    return np.asarray(numbers % day + day * weekends(starts, window, steps))


def weekends(starts: NDArray[np.datetime64], window: timedelta, steps: int) -> NDArray[np.bool_]:
    """Whether each of the first `steps` steps begins on a Saturday or Sunday."""
    times = starts[0].astype("datetime64[us]") + np.arange(steps) * np.timedelta64(window)
    # The first day of the epoch was a Thursday.
    return np.asarray((times.astype("datetime64[D]").astype(np.int64) + 3) % 7 >= 5)


def levels(cycle: Cycle, starts: NDArray[np.datetime64], window: timedelta, steps: int) -> tuple[Ints, ...]:
    """The parts of the cycle at the start of steps: broader parts side by side, and the finest, the phase, last.

    The part of the day on any day is broader than the part of the day and week. So is the kind of day (a Saturday or
    Sunday, or not), if steps are parts of a day.

    >>> days = np.datetime64("2024-01-04T00:00") + np.arange(2) * np.timedelta64(12, "h")
    >>> [part.tolist() for part in levels("workday", days, timedelta(hours=12), 6)]
    [[0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 1], [0, 1, 0, 1, 2, 3]]
    """
    finest = phase(cycle, starts, window, steps)
    if finest is None:
        return ()
    if cycle == "hour" or length("hour", window) <= 1:
        return (finest,)
    broad = phase("hour", starts, window, steps)
    assert broad is not None
    return broad, weekends(starts, window, steps).astype(np.int64), finest


def usable(cycle: Cycle, window: timedelta, fitted: int) -> bool:
    """Whether so many fitted steps may tell the parts of a cycle apart: enough to try it.

    Parts of the day and days of the week come twice at least. For Saturdays and Sundays one week is enough: if it is
    too little, habits of all days do better.
    """
    period = length(cycle, window)
    if cycle == "none":
        return True
    if period > MOST_PARTS:
        return False
    if cycle == "workday":
        return window <= DAY and DAY % window == timedelta(0) and fitted >= max(period, FEWEST_DAYS)
    return period > 1 and fitted >= 2 * period


def check_word(cycle: object) -> None:
    """Refuse a word without a cycle."""
    if not is_word(cycle, get_args(Cycle)):
        raise InputError(f"rhythm: expected {', '.join(map(repr, get_args(Cycle)))}, got {cycle!r}")


def check(cycle: Cycle, window: timedelta, steps: int) -> None:
    """Refuse a cycle if steps do not fill it evenly, or if so many steps do not cover it."""
    check_word(cycle)
    if cycle == "none":
        return
    whole = DAY if cycle == "hour" else WEEK
    if whole % window:
        raise InputError(
            f"rhythm: steps of {window} do not fill {whole} evenly; choose a window that does, or rhythm='none'"
        )
    parts = whole // window
    if parts > MOST_PARTS:
        raise InputError(
            f"rhythm: steps of {window} make {parts:,} parts, of which at most {MOST_PARTS:,} are told apart; choose a "
            "longer window, or rhythm='none'"
        )
    few = not usable(cycle, window, steps) if cycle == "workday" else steps < 2 * parts
    if parts < 2 or few:
        raise InputError(f"rhythm: {steps} steps of {window} are too few to tell {parts} parts apart")


Floats = NDArray[np.float64]


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
        period = (length(habits.rhythm, window) or 1) if habits.start == "equilibrium" else 1
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
