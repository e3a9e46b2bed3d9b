"""Drawn series looked at by lot, and a forecast of the gap left by these looks.

A quick look bounds every guess by `U(y)` given a series y, and a known guess achieves `h(y)`. The look at y is decided
by a coin depending on nothing else, with any chance `q(y) >= (U - h) / (1 - h)`. The estimate is `h + (B - h) / q` for
series with a look, and h for the others. It lies between h and 1 and has the mean `B(y)`, the success of the best
guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.search.ceiling import quick_ceilings
from passerby.measurement.finding import Known
from passerby.model.lumping import merged
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series, sample_series
from passerby.questions.trace.stretches import dense

from .goal import Goal
from .guess import MEMORY_LIMIT, Brackets, cost_of_look, missing
from .stretches import least_cost
from .ways import FAR, anchor, dear, draws, resolution

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: No series is looked at with a smaller chance: rare looks weigh more, and the average varies.
LEAST_CHANCE = 0.05
#: So many series serve to forecast the looks' gap, and the share to look at. If it is more than so much, all are looked
#: at.
PILOT, MOST_LOOKED_AT = 16, 0.5
#: The share of a budget for a first look at the series of a sample, if it is by lot.
FIRST_LOOK = 0.8
#: Closer looks leave this share of the gap of a quick one.
CLOSER = 0.5
#: The share of the ceiling of stretches at once left by the bound `raw`: with a budget of so many times the cost of
#: guesses for all of them, and with less.
RAW_LEAVES, WITH_LITTLE, PLENTY = 0.4, 0.75, 5.0
#: Below this part of the cost of guesses for all stretches, for each pair of numbers of wrong steps, nothing is gained.
PART = 1 / 42


def cost_of_quick_ceiling(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Elementary operations of a quick look at a series, roughly."""
    return 2.0 * steps * (misses + 2) * prior.states**2


def quick_ceiling(prior: MarkovPrior, release: Release, series: Series, misses: int) -> Floats:
    """A ceiling on all guesses for each series (n,), by a quick look; 1 if states share places, or for other names."""
    if prior.naming is not None:
        return np.ones(len(series))
    case = merged(prior, release, series.weights)
    if not np.array_equal(case.place_of, np.arange(len(case.initial))):
        return np.ones(len(series))
    quick = quick_ceilings(case.initial, case.matrices, case.classes, case.weights, case.named, misses)
    return np.asarray(np.minimum(1.0, quick + missing(prior, release.steps)))


def chances(floor: Floats, ceiling: Floats) -> Floats:
    """The chance of a look at each series (n,), if the success of the best guess is between these (n,)."""
    room = np.divide(ceiling - floor, 1.0 - floor, out=np.ones(len(floor)), where=floor < 1.0)
    return np.clip(room, LEAST_CHANCE, 1.0)


@dataclass(frozen=True)
class Thinned:
    """Series, the success `floor` (n,) of a known guess, the `chance` (n,) of a look, and the `kept` series (m,)."""

    series: Series
    floor: Floats
    chance: Floats
    kept: Ints

    @property
    def few(self) -> Series:
        """The kept series, each for all series with the same chance."""
        return self.series.some(self.kept, self.series.mass[self.kept] / self.chance[self.kept])

    def whole(self, found: Brackets) -> Brackets:
        """The findings for the few, as values for all series: with the same mean, and not above 1.

        Plain guesses are only made for the few, and only guide stakes.
        """
        rows = np.zeros((len(self.series), *found.guesses.shape[1:]), dtype=np.int64)
        rows[self.kept] = found.guesses
        plain, stepwise = self._lifted(found.map), self._lifted(found.marginal)
        lower, upper = self._lifted(found.lower), self._lifted(found.upper)
        return Brackets(plain, stepwise, lower, upper, rows, found.nodes, found.operations)

    def _lifted(self, values: Floats) -> Floats:
        """`floor + (v - floor) / chance` for kept series, the floor for others."""
        own, out = self.floor[self.kept], self.floor.copy()
        out[self.kept] = np.minimum(1.0, own + np.maximum(0.0, values - own) / self.chance[self.kept])
        return out


def thin(goal: Goal, series: Series, rng: np.random.Generator) -> Thinned:
    """Toss a coin for each series, by the gap of a quick look above the anchor."""
    anchored = np.full(len(series), series.anchored)
    chance = chances(anchored, quick_ceiling(goal.prior, goal.told, series, goal.misses))
    return Thinned(series, anchored, chance, np.flatnonzero(rng.random(len(series)) < chance))


@dataclass(frozen=True)
class Pilot:
    """So many series are to be drawn if they are looked at by lot. `told` is the gap of a quick look, on average.

    Of these, no more are looked at than would be drawn otherwise.
    """

    runs: int
    told: float


def pilot(goal: Goal, known: Known) -> Pilot | None:
    """From a few series never used again; None if looks are not dear, or all series are to be looked at."""
    prior, told, steps, misses = goal.prior, goal.told, goal.steps, goal.misses
    if not dear(goal) or not prior.single or prior.naming is not None or steps * prior.states**2 > MEMORY_LIMIT:
        return None
    few = sample_series(prior, told, goal.other_rngs(2)[0], PILOT, anchor(goal, known))
    ceiling = quick_ceiling(prior, told, few, misses)
    share = float(chances(np.full(len(few), few.anchored), ceiling).mean())
    if share > MOST_LOOKED_AT:
        return None
    each = cost_of_quick_ceiling(prior, steps, misses) + share * cost_of_look(prior, steps, misses)
    runs = min(int(goal.runs / share), int(FIRST_LOOK * max(goal.budget, 2e9) / each))
    return Pilot(max(runs, draws(goal, 0)), float(few.beyond(ceiling).mean()))


def sample_leaves(goal: Goal, known: Known) -> float:
    """The gap of a sample above the baseline."""
    floor, first = known.baseline.floor, pilot(goal, known)
    if first is None:
        return FAR * resolution(goal, floor, draws(goal))
    return resolution(goal, floor, first.runs) + CLOSER * first.told * (1 - floor)


def raw_leaves(goal: Goal, known: Known, ceiling: float) -> float:
    """The gap of the bound `raw`, if an adversary knowing all places never exceeds `ceiling`."""
    least = least_cost(goal.prior, goal.release.as_raw(), goal.misses)
    share = RAW_LEAVES if goal.budget > PLENTY * least else WITH_LITTLE
    return share * max(0.0, ceiling - known.baseline.floor)


def stretches_leave(goal: Goal) -> float:
    """The share of the gap to raw counts left by stretches: it was seen to fall as a root of the effort."""
    least = PART * (goal.misses + 1) ** 2 * least_cost(goal.prior, goal.told, goal.misses)
    return min(WITH_LITTLE, math.sqrt(least / max(goal.budget, 1.0)))


#: The share left for guesses for noisy counts, if raw ones are dear and will decide.
GUESSING = 0.25

#: The doubt of `erasure`, as a share of all doubt allowed: the other ends take all of that.
SPARE = 0.01


def looked_closely(goal: Goal, known: Known) -> bool:
    """Whether raw counts are dear, and all effort went to them since they were to decide."""
    first = known.bound("raw")
    if first is None or first.error >= first.ceiling:
        return False
    return dense(goal.prior, goal.release.as_raw(), goal.misses)
