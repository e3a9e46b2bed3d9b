"""What an adversary can know of each person: habits fitted to the steps before those that are published.

A person's chain is `P(x, ·) = (counts(x, ·) + α b) / (n_x + α)`: how often they went from x to each place, smoothed
with the population's frequencies b. All places that a person never left share the row b, so those that were neither
visited nor sensed behave as one state, of which only the most frequent place is ever worth guessing. A chain is
therefore kept as the person's own steps, and built over few states when it is needed, whatever the number of places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.kernels import chain
from passerby.model.prior import MarkovPrior
from passerby.support.checks import flag
from passerby.visits.table import Visits
from passerby.visits.traces import LeftOut, Rule, Traces, chosen_window, window_visits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rhythm = Literal["none", "hour", "weekday"]

#: Smoothing is chosen among these when it is "auto".
CANDIDATES = tuple(float(a) for a in np.geomspace(0.01, 100, 17))


@dataclass(frozen=True, eq=False, repr=False)
class People:
    """N people: the steps that their habits are fitted to, and the steps to find.

    `fitted` (N, F) and `actual` (N, h) hold place numbers; `background` (M,) the population's frequencies over the
    fitted steps; `counts` (h, M) how many people were at each place at each step to find, also of those who are seen
    too seldom to be among the N; `phase` (F + h,) the part of the day or week of each step, where habits follow a
    rhythm. Steps begin by the clock of `timezone`; `left_out` tells who is not among the N. To be found means that
    somebody names where you were: naming elsewhere is never right, unless `name_elsewhere`.
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

    def __len__(self) -> int:
        """The number of people."""
        return len(self.fitted)

    def __repr__(self) -> str:
        return (
            f"People(people={len(self)}, places={len(self.places)}, fitted_steps={self.fitted.shape[1]}, "
            f"held_out_steps={self.actual.shape[1]}, smoothing={self.smoothing:.3g})"
        )

    @property
    def elsewhere(self) -> int:
        """The number of the place that stands for everywhere else: the last one."""
        return len(self.places) - 1

    @cached_property
    def _by_frequency(self) -> list[int]:
        return list(map(int, np.argsort(-self.background, kind="stable")))

    @cached_property
    def _surprise(self) -> tuple[Floats, float]:
        """`-b log b` for each place, and its sum."""
        b = self.background
        parts = -b * np.log(np.where(b > 0, b, 1.0))
        return parts, float(parts.sum())

    def prior(self, person: int, sensed: Sequence[int] = (), *, reduced: bool = True) -> tuple[MarkovPrior, Ints]:
        """One person's chain, and the place that each of its states stands for (-1 for many places at once).

        States are the places that the person visited or that are `sensed`, the most frequent of the rest (and the next
        one where that is elsewhere), and all others together, which nobody would guess. Nothing is lost by this. With
        `reduced=False`, one state per place.
        """
        steps = self.fitted[person]
        every = range(len(self.places))
        own = np.array(sorted({*steps.tolist(), *sensed}) if reduced else every, dtype=np.int64)
        states, b, hidden = self._states(own)
        index = np.searchsorted(own, steps)
        if self.phase is None:
            moves = self._moves(index[:-1], index[1:], b, b[None])
            start = _equilibrium(moves, b)
        else:
            start, moves = self._rhythmic(index, b)
        return self._chain(start, moves, states, hidden), states

    def _chain(self, start: Floats, moves: Floats, states: Ints, hidden: Floats) -> MarkovPrior:
        """A chain over such states, which knows what they stand for."""
        elsewhere = np.flatnonzero(states == self.elsewhere)
        return MarkovPrior.known(
            start,
            moves,
            guessable=(states >= 0) & (self.name_elsewhere | (states != self.elsewhere)),
            universe=len(self.places),
            merged_entropy=hidden,
            elsewhere=int(elsewhere[0]) if elsewhere.size else None,
        )

    def _states(self, own: Ints) -> tuple[Ints, Floats, Floats]:
        """States (R,), their background frequencies, and the entropy of the place within each."""
        b = self.background[own]
        count = len(self.places) - len(own)
        if count == 0:
            return own, b, np.zeros(len(own))
        taken = set(own.tolist())
        free = (x for x in self._by_frequency if x not in taken)
        best = [next(free)]
        if best[0] == self.elsewhere and count > 1:
            best.append(next(free))  # a constant guess does not name elsewhere, and others seldom do
        states, b = np.append(own, best), np.append(b, self.background[best])
        if count == len(best):
            return states, b, np.zeros(len(states))
        left = max(0.0, 1.0 - float(b.sum()))
        left = left if left > 1e-14 else 0.0
        parts, total = self._surprise
        # Entropy of the place among the others: H(b / left) = (Σ -b log b) / left + log left.
        inside = max(0.0, (total - float(parts[states].sum())) / left + np.log(left)) if left else 0.0
        return np.append(states, -1), np.append(b, left), np.append(np.zeros(len(states)), inside)

    def _moves(self, source: Ints, target: Ints, b: Floats, background: Floats) -> Floats:
        return np.asarray(chain.smoothed_moves(source, target, background, self.smoothing, len(b)))

    def _rhythmic(self, index: Ints, b: Floats) -> tuple[Floats, Floats]:
        """Start and one matrix per held-out step: each part of the cycle smoothed with the person's overall habits."""
        assert self.phase is not None
        fitted, held = self.fitted.shape[1], self.actual.shape[1]
        overall = self._moves(index[:-1], index[1:], b, b[None])
        of_step = self.phase[: fitted - 1]
        parts = {
            part: self._moves(index[:-1][of_step == part], index[1:][of_step == part], b, overall)
            for part in np.unique(self.phase)
        }
        ahead = self.phase[fitted:]
        cycle = np.eye(len(b))
        length = len(parts)
        # The start is the equilibrium of one whole cycle that begins at the first held-out step.
        first = fitted % length if held else 0
        for step in range(length):
            cycle = cycle @ parts[self.phase[(first + step) % length]]
        moves = np.array([parts[part] for part in ahead[:-1]]).reshape(-1, len(b), len(b))
        return _equilibrium(cycle, b), moves


def _equilibrium(moves: Floats, b: Floats) -> Floats:
    """Stationary distribution; smoothing joins all states with a background frequency into one class."""
    there = b > 0
    if there.all():
        return np.asarray(chain.stationary(moves))
    out = np.zeros(len(b))
    out[there] = chain.stationary(np.ascontiguousarray(moves[np.ix_(there, there)]))
    return out


def fit_people(
    visits: Visits | Traces,
    *,
    window: str | timedelta = "auto",
    places: int | Sequence[str] = 100,
    min_active: int = 10,
    holdout: int = 5,
    smoothing: float | Literal["auto"] = 1.0,
    rhythm: Rhythm = "none",
    origin: str | datetime | None = None,
    end: str | datetime | None = None,
    rule: Rule = "most-visited",
    name_elsewhere: bool = False,
) -> People:
    """People with their habits: traces as in `window_visits`, the last `holdout` steps kept as the trace to find.

    With the window "auto", steps are as long as they can be for habits to get enough of them (`People.window`).

    `smoothing` is the weight of the population's frequencies, in steps; with "auto" it is the one that predicts the
    last fifth of the fitted steps best over all people. `rhythm` lets habits differ by hour of the day or day of the
    week, for steps short enough to tell. With `name_elsewhere`, a guess that says "elsewhere" is right where the person
    is at none of the chosen places, as in the paper; otherwise only places that are named count.

    >>> from passerby.visits import simulate_city
    >>> city = simulate_city(people=60, places=40, days=4)
    >>> fit_people(city, window="1h", places=20, min_active=1, holdout=12)
    People(people=60, places=21, fitted_steps=84, held_out_steps=12, smoothing=1)
    """
    traces, named = visits, flag(name_elsewhere, "name_elsewhere")
    if not isinstance(traces, Traces):
        between = {"min_active": min_active, "origin": origin, "end": end}
        length = chosen_window(visits, window, holdout=holdout, rhythm=rhythm, **between)  # type: ignore[arg-type]
        traces = window_visits(visits, window=length, places=places, rule=rule, **between)  # type: ignore[arg-type]
    steps = traces.array.shape[1]
    if isinstance(holdout, bool) or not isinstance(holdout, (int, np.integer)) or not 0 <= holdout <= steps - 2:
        raise InputError(
            f"holdout: {holdout!r} of {steps} steps; expected a whole number that leaves at least 2 to fit habits to"
        )
    fitted = np.ascontiguousarray(traces.array[:, : steps - holdout])
    actual = np.ascontiguousarray(traces.array[:, steps - holdout :])
    background = np.bincount(fitted.ravel(), minlength=len(traces.places)) / fitted.size
    chosen = _smoothing(smoothing, fitted, background)
    phase = _phase(rhythm, traces)
    counts = traces.counts[steps - holdout :]
    return People(
        fitted,
        actual,
        traces.places,
        background,
        chosen,
        traces.people,
        traces.starts,
        traces.window,
        counts,
        phase,
        traces.timezone,
        traces.left_out,
        named,
    )


def _smoothing(smoothing: float | str, fitted: NDArray[np.int32], background: Floats) -> float:
    if isinstance(smoothing, str) and smoothing == "auto":
        scores = [held_out_likelihood(fitted, background, a) for a in CANDIDATES]
        return CANDIDATES[int(np.argmax(scores))]
    if (
        isinstance(smoothing, bool)
        or not isinstance(smoothing, (int, float, np.number))
        or not 1e-9 <= smoothing <= 1e9
    ):
        raise InputError(f"smoothing: expected a number from 1e-9 to 1e9, or 'auto', got {smoothing!r}")
    return float(smoothing)


def held_out_likelihood(fitted: NDArray[np.int32], background: Floats, smoothing: float) -> float:
    """Mean log probability of the last fifth of the fitted moves, under habits fitted to the moves before.

    Looks at no more than 5,000 people, evenly spread.
    """
    chosen = fitted[np.unique(np.linspace(0, len(fitted) - 1, min(len(fitted), 5000)).astype(int))]
    moves = chosen.shape[1] - 1
    cut = max(1, moves - max(1, moves // 5))
    if cut >= moves:
        return 0.0
    places = len(background)
    pairs = chosen[:, :-1].astype(np.int64) * places + chosen[:, 1:]
    total = 0.0
    for t in range(cut, moves):
        same = (pairs[:, :cut] == pairs[:, t : t + 1]).sum(axis=1)
        left = (chosen[:, :cut] == chosen[:, t : t + 1]).sum(axis=1)
        law = (same + smoothing * background[chosen[:, t + 1]]) / (left + smoothing)
        total += float(np.log(law).sum())
    return float(total / (len(chosen) * (moves - cut)))


def _phase(rhythm: Rhythm, traces: Traces) -> Ints | None:
    """The part of the cycle that each step begins in, numbered in the order of appearance."""
    if rhythm == "none":
        return None
    if rhythm not in ("hour", "weekday"):
        raise InputError(f"rhythm: expected 'none', 'hour' or 'weekday', got {rhythm!r}")
    cycle = timedelta(days=1) if rhythm == "hour" else timedelta(days=7)
    if cycle % traces.window:
        raise InputError(
            f"rhythm: steps of {traces.window} do not fill {cycle} evenly; choose a window that does, or rhythm='none'"
        )
    parts = cycle // traces.window
    if parts < 2 or len(traces.starts) < 2 * parts:
        raise InputError(
            f"rhythm: {len(traces.starts)} steps of {traces.window} are too few to tell {parts} parts apart"
        )
    return np.arange(len(traces.starts), dtype=np.int64) % parts
