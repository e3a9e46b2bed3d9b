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

Modes: a person's way through all of the published steps.

A mean chain hides differences between people. Most do as usual, some do as everybody does, some stay at their last
place, and some are gone. The prior of a person is a mixture of these four. The weights come from
expectation-maximisation (Dempster, Laird and Rubin 1977) over whole stretches of later fitted steps of everybody.
Weights may differ by knowledge of a person: presence in the last fitted step, or the time since then.
"""

from __future__ import annotations

from bisect import bisect_left
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


#: The modes, in the order of weights and of blocks of states.
NAMES = ("as usual", "like everybody", "staying", "gone")
#: The weights of a person who always does as usual.
USUAL: Floats = np.array([[1.0, 0.0, 0.0, 0.0]])
#: Weights without any evidence; the weights of everybody are drawn to them.
FIRST: Floats = np.array([0.85, 0.05, 0.05, 0.05])
#: A group's weights are drawn to everybody's with the weight of so many people, and everybody's to the first ones.
SHRINKAGE = 10.0
#: A mode of fewer people than this share is left out: it changes no promise by more, and may double the states.
LEAST = 5e-3
#: The most steps since a person was seen, in each group but the last.
AGO: dict[Grouping, tuple[int, ...]] = {"none": (), "alike": (), "seen": (0,), "lately": (0, 2)}
_ROUNDS = 100


def groups(fitted: NDArray[np.int32], elsewhere: int, grouping: Grouping) -> Ints:
    """The group of each person (N,), by how many steps ago they were seen.

    >>> groups(np.array([[0, 2, 2, 2], [0, 1, 2, 2], [2, 2, 2, 1]], dtype=np.int32), 2, "lately").tolist()
    [2, 1, 0]
    """
    known = fitted != elsewhere
    ago = np.where(known.any(axis=1), known[:, ::-1].argmax(axis=1), fitted.shape[1])
    return np.asarray(np.searchsorted(np.array(AGO[grouping], dtype=np.int64), ago), dtype=np.int64)


def group_of(fitted: NDArray[np.int32], elsewhere: int, grouping: Grouping) -> int:
    """The group of one person with the steps `fitted` (F,), in half the time: chains are made one by one.

    >>> group_of(np.array([0, 1, 2, 2], dtype=np.int32), 2, "lately")
    1
    """
    known = np.flatnonzero(fitted != elsewhere)
    return bisect_left(AGO[grouping], len(fitted) - 1 - int(known[-1]) if known.size else len(fitted))


def log_chances(logs: Floats, weights: Floats) -> Floats:
    """The log probability of each stretch (n,), from its log probability in each mode (n, 4) and the weights (n, 4)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp.reduce(logs + np.log(weights), axis=1))


def fitted_weights(logs: Floats, group: Ints, count: Floats, grouping: Grouping) -> Floats:
    """The weights of modes of each group (G, 4), from the log probability of each stretch in each mode (n, 4).

    `count` (n,) says how much each stretch counts. Groups are drawn to everybody by `SHRINKAGE`, so one without anybody
    has the weights of all, and these to `FIRST`.
    """
    if grouping == "none":
        return USUAL
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    everybody = _maximised(likely, count, FIRST, SHRINKAGE)
    found = [everybody]
    if AGO[grouping]:
        each = [group == number for number in range(len(AGO[grouping]) + 1)]
        found = [_maximised(likely[inside], count[inside], everybody, SHRINKAGE) for inside in each]
    weights = np.array(found)
    weights[weights < LEAST] = 0.0
    # Each place needs a state, and the usual mode has one of each.
    weights[:, 0] = np.maximum(weights[:, 0], LEAST)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _maximised(likely: Floats, count: Floats, toward: Floats, strength: float) -> Floats:
    """Weights (4,) of high likelihood of the stretches, with `strength` people's worth of the weights `toward`."""
    weights = toward
    if not len(likely):
        return weights
    for _ in range(_ROUNDS):
        share = likely * weights
        share *= (count / share.sum(axis=1))[:, None]
        weights = (share.sum(axis=0) + strength * toward) / (count.sum() + strength)
    return weights


def joined(
    weights: Sequence[float] | Floats, chains: Sequence[tuple[Floats, Floats]], last: int, elsewhere: int
) -> tuple[Floats, Floats, Ints, Ints]:
    """One chain over states (mode, place) from a chain of each mode: start (S,), moves, place and mode of each (S,).

    `chains` are start (R,) and moves (R, R) or (T-1, R, R) of the usual mode and, unless its weight is 0, of
    everybody's mode. The staying mode is in one state, at the place `last`; the gone mode in another, `elsewhere`.
    Modes follow one another in blocks, and modes of weight 0 are left out. A person who was elsewhere and stays there
    is gone.
    """
    usual, alike, staying, gone = weights
    if last == elsewhere:
        staying, gone = 0.0, staying + gone
    one, every = (np.ones(1), np.ones((1, 1))), np.arange(len(chains[0][0]))
    modes = ((usual, chains[0], every), (alike, chains[-1], every), (staying, one, last), (gone, one, elsewhere))
    blocks = [block for block in modes if block[0] > 0]
    size = sum(len(first) for _, (first, _), _ in blocks)
    start, place_of, mode_of = np.empty(size), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    moves = np.zeros((*chains[0][1].shape[:-2], size, size))
    at = 0
    for mode, (weight, (first, inside), places) in enumerate(blocks):
        block = slice(at, at + len(first))
        start[block], moves[..., block, block] = weight * first, inside
        place_of[block], mode_of[block] = places, mode
        at = block.stop
    return start, moves, place_of, mode_of


def cases(
    shares: Sequence[float],
    weights: Sequence[float] | Floats,
    chains: Sequence[Sequence[tuple[Floats, Floats]]],
    last: int,
    elsewhere: int,
) -> tuple[Floats, Floats, Ints, Ints]:
    """The same for several cases with these `shares`, each with its own chains of the moving modes.

    The staying and the gone modes are the same in any case.
    """
    usual, alike, *others = weights
    found = [
        joined([share * usual, share * alike, *(others if not k else (0.0, 0.0))], each, last, elsewhere)
        for k, (share, each) in enumerate(zip(shares, chains, strict=True))
    ]
    sizes = [len(start) for start, *_ in found]
    moves = np.zeros((*found[0][1].shape[:-2], sum(sizes), sum(sizes)))
    modes, at = [], 0
    for number, (size, (_, inside, _, mode)) in enumerate(zip(sizes, found, strict=True)):
        moves[..., at : at + size, at : at + size] = inside
        modes.append(number * len(NAMES) + mode)
        at += size
    start, place_of = (np.concatenate([each[part] for each in found]) for part in (0, 2))
    mode_of = np.unique(np.concatenate(modes), return_inverse=True)[1].astype(np.int64)
    return start, moves, place_of, mode_of
