"""A family of habits: a person's own moves, backed off to other knowledge of them and of everybody.

    P(x, ·) = (n(x, ·) + α [(1-λ) f + λ Q(x, ·)]) / (n(x) + α),    f = (n + β b) / (Σn + β)

Here n(x, ·) are the person's moves and n their visits, both weighted by `2^(-age / h)`. The f are their frequencies,
backed off to the places others know, b (`population`). The Q(x, ·) are the moves of everybody else, by place or by role
(`roles`). This is the back-off of language models (MacKay and Peto 1995), with everybody in the place of the corpus.

With a rhythm, f are the frequencies in the destination's part of the day or week. They back off by β to the mean of two
broader frequencies: in the part of the day, and on the kind of day (weekend or not). These back off to the frequencies
at all times. Moves into another part of the cycle have the weight κ. Moves into the same part of the day on another
kind of day have the weight √κ. Q are the moves into the same part.

Q leads to all places the person never visited as one, spread inside by b, and these have one common row. The unsensed
ones among them thus behave as one state, and a person's cost does not depend on the number of places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_number, is_word

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Trim = Literal["none", "before", "around"]
Start = Literal["equilibrium", "last"]
Cycle = Literal["none", "hour", "weekday", "workday"]
Flows = Literal["places", "roles", "times"]
Grouping = Literal["none", "alike", "seen", "lately"]


#: The course of habits, in words.
RHYTHMS: dict[Cycle, str] = {
    "hour": "part of the day",
    "weekday": "part of the week",
    "workday": "part of the day and weekend",
}

#: Whose moves are taken for everybody's, in words.
FLOWS: dict[Flows, str] = {"places": "", "roles": " by role", "times": " by role and times of coming"}


@dataclass(frozen=True)
class Habits:
    """One member of the family.

    `smoothing` is α, `background` β, both in steps, `share` is λ, and `half_life` is h in steps (None: nothing is
    forgotten). `trim` leaves out steps "before" a person is first known to be at one of the places, or also steps after
    the last one ("around"). Such steps otherwise count as a habit of being elsewhere. The first published step is
    reached from the "last" kept step, or drawn from the "equilibrium". `rhythm` names the parts of the day ("hour") or
    week ("weekday") with habits of their own. With "workday", Saturdays and Sundays have parts of the day of their own.
    `carry` is κ, the weight of moves in other parts.

    `modes` names the groups for the weights of modes (see `modes`). "none" is for a person who always does as usual,
    and "alike" is one set of weights for everybody. Sets may also differ by presence in the last fitted step ("seen"),
    or by the time since then ("lately"). `flow` selects the moves of everybody for Q: moves from place to place
    ("places"), or moves by role. Roles are a person's usual place, other known places, and new ones. Other known places
    are weighted by time spent ("roles"), or by arrivals at such times ("times"), with laws of the weights `coming`
    (`roles`; empty: even ones). `common` is the common variation of the odds of being elsewhere from one time to
    another (see `common`), as a standard deviation of their logarithm; 0 for habits without a common part.

    >>> Habits(smoothing=3.0, half_life=8.0).weights(9)[[0, 8]].tolist()
    [0.5, 1.0]
    """

    smoothing: float = 3.0
    background: float = 3.0
    share: float = 0.3
    half_life: float | None = None
    trim: Trim = "before"
    start: Start = "last"
    rhythm: Cycle = "none"
    carry: float = 0.0
    modes: Grouping = "seen"
    flow: Flows = "places"
    coming: tuple[float, ...] = ()
    common: float = 0.0

    def __post_init__(self) -> None:
        for name, least, most in (
            ("smoothing", 1e-9, 1e9),
            ("background", 1e-9, 1e9),
            ("share", 0.0, 1.0),
            ("carry", 0.0, 1.0),
            ("common", 0.0, 1e3),
        ):
            value = getattr(self, name)
            if not is_number(value) or not least <= value <= most:
                raise InputError(f"Habits({name}={value!r}): expected a number from {least:g} to {most:g}")
        if not isinstance(self.coming, tuple):
            raise InputError(f"Habits(coming={self.coming!r}): expected a tuple of weights, such as (0.5, 0.5), or ()")
        if not all(is_number(each) and each >= 0 for each in self.coming) or (self.coming and not sum(self.coming)):
            raise InputError(f"Habits(coming={self.coming!r}): expected weights of at least 0, of which one is above 0")
        if self.half_life is not None and (not is_number(self.half_life) or not 1e-3 <= self.half_life < np.inf):
            raise InputError(f"Habits(half_life={self.half_life!r}): expected a number of steps from 0.001, or None")
        for name, words in (("trim", Trim), ("start", Start), ("rhythm", Cycle), ("modes", Grouping), ("flow", Flows)):
            if not is_word(getattr(self, name), get_args(words)):
                choice = ", ".join(map(repr, get_args(words)))
                raise InputError(f"Habits({name}={getattr(self, name)!r}): expected one of {choice}")

    def weights(self, steps: int) -> Floats:
        """The weight of each of so many steps: `2^(-age / h)`; the last step has the age 0."""
        ages = np.arange(steps - 1, -1, -1.0)
        return np.ones(steps) if self.half_life is None else np.exp2(-ages / self.half_life)

    @property
    def gist(self) -> str:
        """A description of these habits, for readers without interest in the reckoning.

        >>> Habits(half_life=8.0, rhythm="hour").gist
        "a person's own ways so far, by part of the day, the latest most, and everybody's where these are few"
        """
        rhythm = "" if self.rhythm == "none" else f", by {RHYTHMS[self.rhythm]}"
        latest = "" if self.half_life is None else ", the latest most"
        between = "," if rhythm or latest else ""
        return f"a person's own ways so far{rhythm}{latest}{between} and everybody's where these are few"

    @property
    def words(self) -> str:
        """A description of these habits, for people.

        >>> Habits(half_life=8.0, trim="none").words.split(", ")[1:]
        ["own frequencies with 3 steps' worth of places that others know", 'a weight of one half after 8 steps']
        >>> print(Habits(background=1.0, trim="none").words.split(", ")[1])
        own frequencies with 1 step's worth of places that others know
        """
        parts = [
            f"own moves with {_worth(self.smoothing, 'move')} of own frequencies ({100 - 100 * self.share:.0f} %) and "
            f"of everybody's moves{FLOWS[self.flow]} ({100 * self.share:.0f} %)",
            f"own frequencies with {_worth(self.background, 'step')} of places that others know",
            "" if self.half_life is None else f"a weight of one half after {self.half_life:g} steps",
            {"none": "", "before": "from a person's first visit on", "around": "from first to last visit"}[self.trim],
            f"by {RHYTHMS[self.rhythm]}, other parts counting {self.carry:g}" if self.rhythm != "none" else "",
            "begun at equilibrium" if self.start == "equilibrium" else "",
            "with what everybody did at the published steps" if self.common else "",
        ]
        return ", ".join(part for part in parts if part)


def _worth(count: float, what: str) -> str:
    return f"1 {what}'s worth" if count == 1 else f"{count:g} {what}s' worth"


def mixture(moves: Floats, left: Floats, back: Floats, flow: Floats, smoothing: float, share: float) -> Floats:
    """`(n(x, y) + α [(1-λ) f(y) + λ Q(x, y)]) / (n(x) + α)`, for arrays of any one shape."""
    return np.asarray((moves + smoothing * ((1 - share) * back + share * flow)) / (left + smoothing))


def blend(visits: Floats, total: Floats, base: Floats, weight: float) -> Floats:
    """`(n(y) + β b(y)) / (Σn + β)`, for arrays of any one shape."""
    return np.asarray((visits + weight * base) / (total + weight))


def narrowed(f: Floats, levels: Sequence[Callable[[Floats], Floats]]) -> Floats:
    """Frequencies in the finest part of a cycle, from frequencies at all times: each level backs off the level before.

    Broader parts lie side by side, and the finest, the last, is backed off to their mean.
    """
    if len(levels) > 1:
        f = np.mean([level(f) for level in levels[:-1]], axis=0)
    return levels[-1](f) if levels else f


def alike(levels: Sequence[Ints], parts: Sequence[int] | Sequence[Ints], carry: float) -> Floats:
    """The weights of steps (K,) in the parts `levels` (each (K,), the finest last) towards `parts`: 1, √κ or κ.

    Of each level, a part or several (H, 1); for several, the result is (H, K).

    >>> alike([np.array([0, 1, 0]), np.array([0, 1, 2])], (0, 0), 0.25).tolist()
    [1.0, 0.25, 0.5]
    """
    count = np.where(levels[-1] == parts[-1], 1.0, carry)
    if len(levels) > 1:
        count[(levels[0] == parts[0]) & (levels[-1] != parts[-1])] = np.sqrt(carry)
    return count


def spans(fitted: NDArray[np.int32], elsewhere: int, trim: Trim) -> tuple[Ints, Ints]:
    """The first kept step of each person, and the step after the last; all steps of a person never known anywhere."""
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


def span(fitted: NDArray[np.int32], elsewhere: int, trim: Trim) -> tuple[int, int]:
    """The same of one person with the steps `fitted` (F,), in half the time: chains are made one by one.

    >>> span(np.array([2, 0, 1, 2], dtype=np.int32), 2, "around")
    (1, 3)
    """
    known = np.flatnonzero(fitted != elsewhere)
    if trim == "none" or not known.size:
        return 0, len(fitted)
    return int(known[0]), int(known[-1]) + 1 if trim == "around" else len(fitted)
