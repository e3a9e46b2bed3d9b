"""A family of habits: a person's own moves, backed off to what else is known of them and of everybody.

    P(x, ·) = (n(x, ·) + α [(1-λ) f + λ Q(x, ·)]) / (n(x) + α),    f = (n + β b) / (Σn + β)

n(x, ·) are the person's moves and n their visits, both weighted by `2^(-age / h)`; f are their frequencies, backed off
to the population's b; Q(x, ·) are the moves of everybody else. With a rhythm, n and Q are those that end in the part of
the day or week that is moved to, and f are the frequencies in that part, backed off by β to those at all times. This is
the back-off of language models (MacKay and Peto 1995), with everybody in the place of the corpus.

Q leads to all places that the person never visited as one, spread inside by b, and these have one common row. So those
of them that are not sensed behave as one state, and a person's cost does not depend on the number of places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Trim = Literal["none", "before", "around"]
Start = Literal["equilibrium", "last"]
Cycle = Literal["none", "hour", "weekday", "workday"]


@dataclass(frozen=True)
class Habits:
    """One member of the family.

    `smoothing` is α, `background` β, both in steps, `share` is λ, and `half_life` is h in steps (None: nothing is
    forgotten). `trim` leaves out steps "before" a person is first known to be at one of the places, or also those after
    the last one ("around"), which are otherwise taken for the habit of being elsewhere. The first published step is
    reached from the "last" step that is not left out, or drawn from the "equilibrium". `rhythm` tells which parts of
    the day ("hour") or week ("weekday") have habits of their own; with "workday", parts of the day on Saturdays and
    Sundays are others than those of the other days.

    >>> Habits(smoothing=3.0, half_life=8.0)
    Habits(smoothing=3.0, background=3.0, share=0.3, half_life=8.0, trim='before', start='last', rhythm='none')
    """

    smoothing: float = 3.0
    background: float = 3.0
    share: float = 0.3
    half_life: float | None = None
    trim: Trim = "before"
    start: Start = "last"
    rhythm: Cycle = "none"

    def __post_init__(self) -> None:
        for name, least, most in (("smoothing", 1e-9, 1e9), ("background", 1e-9, 1e9), ("share", 0.0, 1.0)):
            value = getattr(self, name)
            if not _is_number(value) or not least <= value <= most:
                raise InputError(f"Habits({name}={value!r}): expected a number from {least:g} to {most:g}")
        if self.half_life is not None and (not _is_number(self.half_life) or not 1e-3 <= self.half_life < np.inf):
            raise InputError(f"Habits(half_life={self.half_life!r}): expected a number of steps from 0.001, or None")
        for name, words in (("trim", Trim), ("start", Start), ("rhythm", Cycle)):
            if getattr(self, name) not in get_args(words):
                choice = ", ".join(map(repr, get_args(words)))
                raise InputError(f"Habits({name}={getattr(self, name)!r}): expected one of {choice}")

    def weights(self, steps: int) -> Floats:
        """The weight of each of so many steps, of which the last has the age 0: `2^(-age / h)`."""
        ages = np.arange(steps - 1, -1, -1.0)
        return np.ones(steps) if self.half_life is None else np.exp2(-ages / self.half_life)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def mixture(moves: Floats, left: Floats, back: Floats, flow: Floats, smoothing: float, share: float) -> Floats:
    """`(n(x, y) + α [(1-λ) f(y) + λ Q(x, y)]) / (n(x) + α)`, for arrays of any one shape."""
    return np.asarray((moves + smoothing * ((1 - share) * back + share * flow)) / (left + smoothing))


def blend(visits: Floats, total: Floats, base: Floats, weight: float) -> Floats:
    """`(n(y) + β b(y)) / (Σn + β)`, for arrays of any one shape."""
    return np.asarray((visits + weight * base) / (total + weight))


def spans(fitted: NDArray[np.int32], elsewhere: int, trim: Trim) -> tuple[Ints, Ints]:
    """The first step of each person that is kept, and the one after the last; all of those who are never known."""
    n, steps = fitted.shape
    first, stop = np.zeros(n, dtype=np.int64), np.full(n, steps, dtype=np.int64)
    if trim == "none" or not steps:
        return first, stop
    known = fitted != elsewhere
    ever = known.any(axis=1)
    first[ever] = known[ever].argmax(axis=1)
    if trim == "around":
        stop[ever] = steps - known[ever, ::-1].argmax(axis=1)
    return first, stop


@dataclass(frozen=True)
class Person:
    """What the family needs of one person, over R states: indices, and which of them stand for unvisited places.

    `index` (K,) are the states of the steps kept, `weight` (K,) their weights, `part` (K,) their parts of the cycle,
    `b` (R,) the population's frequencies and `visited` (R,) whether the person was there.
    """

    index: Ints
    weight: Floats
    part: Ints
    b: Floats
    visited: NDArray[np.bool_]

    def tally(self, part: int | None, weight: Floats | None = None) -> tuple[Floats, Floats]:
        """Moves (R, R) and visits (R,) that end in a part of the cycle, or at any time."""
        size = len(self.b)
        weight = self.weight if weight is None else weight
        inside = slice(None) if part is None else self.part == part
        visits = np.asarray(np.bincount(self.index[inside], weight[inside], size), dtype=np.float64)
        inside = slice(None) if part is None else self.part[1:] == part
        pairs = self.index[:-1] * size + self.index[1:]
        moves = np.asarray(np.bincount(pairs[inside], weight[1:][inside], size * size), dtype=np.float64)
        return moves.reshape(size, size), visits

    def frequencies(self, visits: Floats, part_visits: Floats | None, background: float) -> Floats:
        """F (R,): own frequencies in a part, backed off to those at all times, and these to the population's."""
        f = blend(visits, visits.sum(), self.b, background)
        return f if part_visits is None else blend(part_visits, part_visits.sum(), f, background)

    def rows(self, habits: Habits, flow: Floats, part: int | None) -> Floats:
        """P (R, R) towards a part of the cycle (None without a rhythm), from everybody's moves `flow` (R, R)."""
        moves, visits = self.tally(part)
        if part is None:
            back = self.frequencies(visits, None, habits.background)
        else:
            back = self.frequencies(self.tally(None)[1], visits, habits.background)
        return mixture(moves, moves.sum(axis=1)[:, None], back, flow, habits.smoothing, habits.share)
