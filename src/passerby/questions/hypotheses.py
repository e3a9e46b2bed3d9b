"""An event about one person as two hypotheses: it holds, or it does not, with the likelihoods of series under both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.chain import events
from passerby.measurement.setup import Setup
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import relative

from .laws import gaps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: A number of series worth following side by side.
MANY = 32
#: The level (T, M, L) after each step of a chain, by the state of the step and the level before: see `Count.progress`.
Follow = Callable[[MarkovPrior], Ints]


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """An event, followed along the chain of a setup: it holds for traces ending at the last level."""

    setup: Setup
    follow: Follow

    @cached_property
    def levels(self) -> Ints:
        """The level after each step, over the states of the setup's chain (T, M, L)."""
        return self.follow(self.setup.prior)

    @cached_property
    def logs(self) -> tuple[float, float]:
        """Log-probabilities of the event's absence and of the event, without any series."""
        steps, states = self.levels.shape[:2]
        nothing = np.zeros((steps, states), dtype=np.int64), np.ones((1, steps, 1))
        prior = self.setup.prior
        found = events.with_and_without(prior.initial, prior.matrices, *nothing, self.levels)[0]
        return min(0.0, float(found[0])), min(0.0, float(found[1]))

    @property
    def chance(self) -> tuple[float, float]:
        """Probabilities of the event's absence and of the event, without any series."""
        return math.exp(self.logs[0]), math.exp(self.logs[1])

    @property
    def log_odds(self) -> float:
        """The log odds of the event without any series."""
        return self.logs[1] - self.logs[0]

    @property
    def odds(self) -> float:
        """The odds of the event without any series."""
        return math.exp(min(self.log_odds, 700.0))

    @cached_property
    def avoided(self) -> Floats | None:
        """1 for the places avoided by a trace until the event comes true (T, M). None if more must be known.

        Such an event comes true at the first step at one of the other places.
        """
        levels = self.levels
        if levels.shape[2] != 2 or not (levels[:, :, 1] == 1).all():
            return None
        return np.ascontiguousarray(1.0 - levels[:, :, 0])

    def logs_of(self, evidence: Floats, chain: MarkovPrior | None = None, release: Release | None = None) -> Floats:
        """`log Pr[series, not E]` and `log Pr[series, E]` (n, 2) of series of evidence, up to a factor for each."""
        chain, release = chain or self.setup.prior, release or self.setup.release
        return self._logs_of(relative(evidence), chain, release.classes(chain))

    def _logs_of(self, weights: Floats, chain: MarkovPrior, classes: Ints) -> Floats:
        """The same, from likelihoods (n, T, C)."""
        levels = self.levels if chain is self.setup.prior else self.follow(chain)
        case = chain.initial, chain.matrices, classes
        if len(weights) < MANY:
            return np.asarray(events.with_and_without(*case, weights, levels))
        found = np.asarray(events.side_by_side(*case, weights, levels))
        lost = found[:, 2] == 1
        out = np.ascontiguousarray(found[:, :2])
        if lost.any():
            out[lost] = events.with_and_without(*case, weights[lost], levels)
        return out

    def gaps_of(self, holds: bool, runs: int, rng: np.random.Generator) -> Floats:
        """`log Pr[series | E] - log Pr[series | not E]` of series drawn with the event, or without it."""
        setup = self.setup
        weights = setup.weights_of(self.draw(holds, runs, rng), rng)
        return gaps(self._logs_of(weights, setup.prior, setup.release.classes(setup.prior))) - self.log_odds

    def draw(self, holds: bool, count: int, rng: np.random.Generator) -> Ints:
        """Draw traces (n, T), as places, of whom the event holds, or of whom it does not."""
        prior, steps = (self.setup.given or (self.setup.prior, None))[0], self.setup.steps
        states = events.draw_given(prior.initial, prior.matrices, self.follow(prior), holds, rng.random((count, steps)))
        return np.asarray(prior.place_of[states])
