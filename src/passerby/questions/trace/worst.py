"""The worst series: the chance of counts after which somebody is found with more than a given chance.

Given a series, the best guess is right with the chance `V(y) = max_g Pr[g right | y]`. Its mean is the loss. The loss
alone bounds the spread of V. V is known better if all series, or drawn ones, are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.measurement.information import check_stretches
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.histories import drawn_histories, listed_histories
from passerby.outcomes.series import Series, enumerate_series, sample_series
from passerby.outcomes.stand_ins import log_outcomes
from passerby.support.numbers import exceeds
from passerby.support.statistics import lower_limit, share_limits, upper_limit

from .goal import Goal
from .guess import alone, bracket_series
from .ways import affordable, draws

Floats = NDArray[np.float64]
Ends = tuple[float, float]

#: Elementary operations for a closer look at single series.
EFFORT = 2e9
#: Chances differing by less differ by rounding.
ALMOST = 1e-12
#: Series are listed if at most so many times as many are possible.
WORTH_LISTING = 16
#: Cells of the law of long raw series, at the least and at the most, and the most numbers kept for all sightings.
CELLS, MOST_KEPT = (256, 8192), 4e6
#: Chances smaller than the loss by this factor, in logarithms, are lumped. So are chances below the least.
FARTHEST, LEAST = 12.0, 700.0


@dataclass(frozen=True, eq=False)
class Spread:
    """Series, or groups of them, with both ends of the best guess's chance in each (n,).

    The mean chance over the worst series of this total probability (Rockafellar and Uryasev 2000). Drawn series all
    have the same chance. Each end then holds at `level`, and `guide` (n,) depends on each draw alone.
    """

    mass: Floats
    lower: Floats
    upper: Floats
    level: float | None = None
    guide: Floats | None = None

    def above(self, chance: float) -> Ends:
        """The probability of all series with a larger chance than this."""
        surely, perhaps = self.lower > chance + ALMOST, self.upper > chance + ALMOST
        if self.level is not None:
            return share_limits(surely, self.level)[0], share_limits(perhaps, self.level)[1]
        left = max(0.0, 1 - float(self.mass.sum()))
        return min(1.0, float(self.mass[surely].sum())), min(1.0, float(self.mass[perhaps].sum()) + left)

    def mean_of_worst(self, share: float) -> Ends:
        """The mean chance over the worst series, together of this probability (Rockafellar and Uryasev 2000)."""
        if self.level is not None:
            return self._drawn(share, self.level)
        left = max(0.0, 1 - float(self.mass.sum()))
        mass = np.append(self.mass, left)
        return _worst(mass, np.append(self.lower, 0.0), share), _worst(mass, np.append(self.upper, 1.0), share)

    def _drawn(self, share: float, level: float) -> Ends:
        """Limits from the second half of the draws, at a threshold z chosen by the first half.

        For any z, the mean is at most `z + E[(V - z)⁺] / share`. With `p = Pr[V > z]` it is at least `(z p + E[(V -
        z)⁺]) / max(share, p)`. This rises in p up to the share, and falls beyond it.
        """
        guide = self.lower if self.guide is None else self.guide
        half = len(guide) // 2
        edge = float(np.quantile(guide[:half], 1 - share)) if half else 0.0
        low, high, alone = (np.maximum(end[half:] - edge, 0.0) for end in (self.lower, self.upper, guide))
        upper = edge + upper_limit(high, level, alone) / share
        # Three limits make the lower end together.
        doubt = (1 - level) / 3
        beyond = lower_limit(low, 1 - doubt, alone)
        least, most = share_limits(low > 0, 1 - doubt)[0], share_limits(high > 0, 1 - doubt)[1]
        ends = [(edge * least + beyond) / share] if least < share else []
        ends += [edge + beyond / most] if most > share else []
        return max(0.0, min(ends)), min(1.0, upper)


def _worst(mass: Floats, values: Floats, share: float) -> float:
    """The mean of the largest values, up to a share of all."""
    order = np.argsort(-values, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(mass[order])[:-1]])
    taken = np.clip(share - before, 0.0, mass[order])
    return min(1.0, float(taken @ values[order]) / share)


def spread_of(goal: Goal) -> Spread | None:
    """The knowledge of the best guess's chance in single series; None if there is none.

    Few series are listed. If every step must be right, the law of long raw series is followed from sighting to
    sighting. Other series are drawn. An adversary knowing the others by their habits alone has unknown chances.
    """
    release = goal.release
    if goal.published is not None:
        return _looked(goal, goal.prior, release, goal.published)
    if not release.fixed:
        return _of_histories(goal, release)
    if not release.independent:
        return None
    ways: tuple[Callable[[Goal], Spread | None], ...] = (_listed, _by_sightings, _drawn)
    return next((found for way in ways if (found := way(goal)) is not None), None)


def _looked(goal: Goal, prior: MarkovPrior, release: Release, series: Series) -> Spread | None:
    """Both ends of the best guess's chance in each series."""
    try:
        found = bracket_series(prior, release, series, goal.misses, 0.0, min(goal.budget, EFFORT))
    except UnsupportedRelease:
        return None
    level = 1 - (1 - goal.confidence) / 2 if series.sampled else None
    upper = np.minimum(np.maximum(found.lower, found.upper), 1.0)
    return Spread(series.mass, found.lower, upper, level, alone(found) if series.sampled else None)


def _listed(goal: Goal) -> Spread | None:
    if goal.series == "sample":
        return None
    most, told = affordable(goal, min(goal.budget, EFFORT)), goal.told
    if exceeds(log_outcomes(told), WORTH_LISTING * most):
        return None
    series = enumerate_series(goal.prior, told, most, 1.0 if goal.series == "enumerate" else 1e-3)
    return None if series is None else _looked(goal, goal.prior, told, series)


def _by_sightings(goal: Goal) -> Spread | None:
    """For raw counts and no misses: the likeliest trace is the best guess, and stretches between sightings decide."""
    from passerby.kernels.renewal import sightings

    prior, told = goal.prior, goal.told
    plain = told.plain and told.reveals and prior.single and prior.naming is None
    if goal.misses or not plain or goal.series == "sample":
        return None
    try:
        check_stretches(prior, told)
    except UnsupportedRelease:
        return None
    points = 1.0 + told.grid.size
    cells = int(min(CELLS[1], MOST_KEPT / points, EFFORT / points**2))
    if cells < CELLS[0]:
        return None
    farthest = FARTHEST - sightings.log_all_right(*prior.named_logs, told.grid)
    case = prior.initial, prior.matrices, *prior.named_logs, told.grid
    mass, low, high = sightings.likeliest_law(*case, cells, min(farthest, LEAST)).T
    return Spread(mass, np.exp(low), np.minimum(np.exp(high), 1.0))


def _drawn(goal: Goal) -> Spread | None:
    if goal.series == "enumerate":
        return None
    rng, runs = goal.other_rngs(3)[2], draws(goal, affordable(goal, min(goal.budget, EFFORT)))
    return _looked(goal, goal.prior, goal.told, sample_series(goal.prior, goal.told, rng, runs))


def _of_histories(goal: Goal, release: Release) -> Spread | None:
    """Counts that are chosen as one goes: histories are listed, or drawn."""
    most, listed = affordable(goal, min(goal.budget, EFFORT)), None
    if goal.series != "sample":
        left = 1.0 if goal.series == "enumerate" else 1e-3
        listed = listed_histories(goal.prior, release, most, left, strict=goal.series == "enumerate")
    if listed is None:
        rng = goal.other_rngs(3)[2]
        listed = drawn_histories(goal.prior, release, rng, draws(goal, most))
    chain, union, series = listed
    return _looked(replace(goal, prior=chain, release=union), chain, union, series)


@dataclass(frozen=True, eq=False)
class Worst:
    """The worst series for a question, looked at on the first call only."""

    goal: Goal

    @cached_property
    def spread(self) -> Spread | None:
        """The knowledge of single series."""
        return spread_of(self.goal)
