"""Drawn series that are looked at by lot: as often as a quick look leaves room for something to be found.

A quick look says that no guess exceeds `U(y)` given a series y, and a known guess achieves `h(y)`. With any chance
`q(y) >= (U - h) / (1 - h)`, a coin that depends on nothing else decides whether y is looked at. Then `h + (B - h) / q`
for those that are, and h for the others, lies between h and 1 and has the mean `B(y)`, the success of the best guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.glance import glances
from passerby.model.lumping import merged
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series

from .best_guess import Brackets, missing
from .question import Question

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: No series is looked at with a smaller chance: what is rarely looked at counts the more, and the average varies.
LEAST_CHANCE = 0.05


def cost_of_glance(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Elementary operations of a quick look at a series, roughly."""
    return 2.0 * steps * (misses + 2) * prior.states**2


def glance(prior: MarkovPrior, release: Release, series: Series, misses: int) -> Floats:
    """What no guess exceeds for each series (n,), by a quick look; 1 where states share places, or for other names."""
    if prior.naming is not None:
        return np.ones(len(series))
    case = merged(prior, release, series.weights)
    if not np.array_equal(case.place_of, np.arange(len(case.initial))):
        return np.ones(len(series))
    quick = glances(case.initial, case.matrices, case.classes, case.weights, case.named, misses)
    return np.asarray(np.minimum(1.0, quick + missing(prior, release.steps)))


def chances(floor: Floats, ceiling: Floats) -> Floats:
    """With which chance each series (n,) is looked at, if the success of the best guess is between these (n,)."""
    room = np.divide(ceiling - floor, 1.0 - floor, out=np.ones(len(floor)), where=floor < 1.0)
    return np.clip(room, LEAST_CHANCE, 1.0)


@dataclass(frozen=True)
class Thinned:
    """Series, the success `floor` (n,) of a known guess, the `chance` (n,) of a look, and which are `kept` (m,)."""

    series: Series
    floor: Floats
    chance: Floats
    kept: Ints

    @property
    def few(self) -> Series:
        """Those that are looked at, each for all that had the same chance."""
        return self.series.some(self.kept, self.series.mass[self.kept] / self.chance[self.kept])

    def whole(self, found: Brackets) -> Brackets:
        """What was found for the few, as values for all series: with the same mean, and not above 1.

        Plain guesses are only made for the few, and only guide stakes.
        """
        rows = np.zeros((len(self.series), *found.guesses.shape[1:]), dtype=np.int64)
        rows[self.kept] = found.guesses
        plain, stepwise = self._lifted(found.map), self._lifted(found.marginal)
        lower, upper = self._lifted(found.lower), self._lifted(found.upper)
        return Brackets(plain, stepwise, lower, upper, rows, found.nodes, found.operations)

    def _lifted(self, values: Floats) -> Floats:
        """`floor + (v - floor) / chance` for those that are looked at, the floor for others."""
        own, out = self.floor[self.kept], self.floor.copy()
        out[self.kept] = np.minimum(1.0, own + np.maximum(0.0, values - own) / self.chance[self.kept])
        return out


def thin(question: Question, series: Series, rng: np.random.Generator) -> Thinned:
    """Toss a coin for each series, by what a quick look leaves above the anchor."""
    anchored = np.full(len(series), series.anchored)
    chance = chances(anchored, glance(question.prior, question.told, series, question.misses))
    return Thinned(series, anchored, chance, np.flatnonzero(rng.random(len(series)) < chance))
