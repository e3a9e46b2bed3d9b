"""One call of `measure`: what was asked, and what has been found so far."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import MAX_SERIES, Anchor, Series

from .best_guess import Brackets, bracket_series, cost_of_series
from .loss import Attack, Interval


@dataclass(frozen=True)
class Look:
    """What was looked at: so many published series (or stretches of all of them), and the effort of the search."""

    series: int
    sampled: bool = False
    covered: float = 1.0
    nodes: int = 0
    operations: float = 0.0

    @classmethod
    def at(cls, series: Series, *searches: Brackets) -> Look:
        """At these series, by these searches."""
        nodes, operations = sum(found.nodes for found in searches), sum(found.operations for found in searches)
        return cls(len(series), series.sampled, 1.0 - series.left_over, nodes, operations)


@dataclass
class Case:
    """What was asked (the fields without a default), and what has been found so far.

    `chancy` names bounds that rest on samples, beside `posterior`, of which a `Look` tells it.
    """

    prior: MarkovPrior
    release: Release
    misses: int
    tolerance: float
    budget: float
    confidence: float
    seed: int | Sequence[int]
    attacks: dict[str, Attack] = field(default_factory=dict)
    bounds: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    baseline: Interval = field(default_factory=lambda: Interval(0.0, 1.0))
    chancy: set[str] = field(default_factory=set)
    anchor: Anchor | None = None
    started: float = field(default_factory=time.perf_counter)

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random numbers: most measurements need none, and making them ready takes as long as half a search."""
        return np.random.default_rng(self.seed)

    @property
    def level(self) -> float:
        """The confidence of each end that may rest on a sample, so that all hold together at the level asked for.

        These are the two ends of the interval and, against a crowd, the bound `known`.
        """
        return 1 - (1 - self.confidence) / (2 if self.release.crowd is None else 3)

    def resolution(self, runs: int) -> float:
        """How wide an interval from so many sampled series is, at least."""
        return math.log(1 / (1 - self.level)) * (1 - self.baseline.lower) / runs

    def affordable(self, budget: float) -> int:
        """How many series can be looked at, at the lowest effort, within a budget."""
        each = cost_of_series(self.prior, self.release.steps, self.misses)
        return max(1, min(MAX_SERIES, int(max(budget, 2e9) / each)))

    def brackets(self, release: Release, series: Series, tolerance: float, budget: float) -> Brackets:
        """The best guess for each series."""
        return bracket_series(self.prior, release, series, self.misses, tolerance, budget)
