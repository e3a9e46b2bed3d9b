"""Looks at series that were drawn: confidence limits for each measure of how well an event is told."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.support.statistics import lower_limit, upper_limit

from .laws import ALMOST, log_odds
from .parts import ANYTHING, Ends, Part

Floats = NDArray[np.float64]

#: Tangents to a trade-off curve that are tried; and of these for how often somebody is sure.
TANGENTS, SURENESSES = 64, 24


@dataclass(frozen=True, eq=False)
class Drawn(Part):
    """Series that were drawn where the event holds, and where it does not.

    `given` and `given_not` hold `log Pr[y | E] - log Pr[y | not E]` of each. With the true law of both hypotheses, the
    ends are confidence limits of both sides; where somebody who is `told_more` has these ratios, of the upper ones.
    """

    given: Floats
    given_not: Floats
    told_more: bool = False

    def mirrored(self) -> Drawn:
        """The ratios of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, given=-self.given_not, given_not=-self.given)

    @cached_property
    def ratio(self) -> Floats:
        """`Pr[y | not E] / Pr[y | E]` of those that were drawn where the event holds."""
        with np.errstate(over="ignore"):
            return np.exp(-self.given)

    def _limit(self, values: Floats, upper: bool) -> float:
        assert self.level is not None
        return upper_limit(values, self.level) if upper else lower_limit(values, self.level)

    def advantage(self) -> Ends:
        """Limits for the mean of `(1 - Pr[y | not E] / Pr[y | E])⁺` where the event holds, and of its mirror image."""
        with np.errstate(over="ignore"):
            mirror = np.exp(self.given_not)
        sides = [np.maximum(1 - values, 0.0) for values in (self.ratio, mirror)]
        shortest = min(map(len, sides))
        values = (sides[0][:shortest] + sides[1][:shortest]) / 2
        return 0.0 if self.told_more else self._limit(values, False), self._limit(values, True)

    def affinity(self) -> Ends:
        """Limits for the mean of `2 √(p q) / (p + q)` over the draws of both sides, which is from 0 to 1."""
        shortest = min(len(self.given), len(self.given_not))
        with np.errstate(over="ignore"):
            values = [1 / np.cosh(side[:shortest] / 2) for side in (self.given, self.given_not)]
        mean = (values[0] + values[1]) / 2
        return self._limit(mean, False), 1.0 if self.told_more else self._limit(mean, True)

    def power(self, false: float) -> Ends:
        """A test that a half of the draws chose, with limits from the other half; and a tangent likewise."""
        half = len(self.ratio) // 2
        first, rest = np.sort(self.ratio[:half]), self.ratio[half:]
        upper = self._tangent(first, rest, false)
        return false if self.told_more else max(false, self._tested(first, rest, false)), upper

    def _tested(self, first: Floats, rest: Floats, false: float) -> float:
        """True positives of the test "as likely as that without the event", mixed with none if alarms are too many."""
        # False alarms of the tests that say yes up to each ratio, which is what the ratio itself averages to.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            part = np.minimum(1.0, np.nan_to_num(false / (np.cumsum(first) / len(first)), nan=1.0))
        edge = float(first[int(np.argmax(np.arange(1, len(first) + 1) * part))])
        inside = (rest <= edge).astype(np.float64)
        true = lower_limit(inside, self._half)
        wrong = edge * upper_limit(np.where(inside > 0, rest / edge, 0.0), self._half) if edge > 0 else 0.0
        return true * min(1.0, false / wrong) if wrong > 0 else true

    def _tangent(self, first: Floats, rest: Floats, false: float) -> float:
        """`E[(1 - γ Pr[y | not E] / Pr[y | E])⁺ | E] + γ f` bounds the power for any γ: the best for the first half."""
        some = first[(first > 0) & np.isfinite(first)]
        gammas = np.concatenate([[0.0], 1 / some[:: max(1, len(some) // TANGENTS)]])

        def held(gamma: float, values: Floats) -> Floats:
            return np.maximum(1 - gamma * values, 0.0) if gamma > 0 else np.ones(len(values))

        best = min(gammas, key=lambda gamma: float(held(gamma, first).mean()) + gamma * false)
        return min(1.0, self._limit(held(best, rest), True) + float(best) * false)

    @property
    def _half(self) -> float:
        """The confidence of each of two limits that make an end together."""
        assert self.level is not None
        return 1 - (1 - self.level) / 2

    def certain(self, chance: float) -> Ends:
        """Limits for how often a series was drawn that makes the event so likely."""
        if self.told_more:
            return 0.0, self._surest(chance)
        least = log_odds(chance) - math.log(self.prior_odds)
        return self._share(self.given >= least - ALMOST)

    def _surest(self, chance: float) -> float:
        """How often whoever is told less is so sure where the event holds, at most.

        Series that make the event so likely have `false <= true / k`, with k the ratio that does so. No test of theirs
        exceeds `true - g false <= E[(1 - g Pr[y | not E] / Pr[y | E])⁺ | E]`. So `true` is at most that, divided by
        `1 - g / k`, for any g below k: the best for the first half of the draws.
        """
        enough = log_odds(chance) - math.log(self.prior_odds)
        if enough <= 0:
            return 1.0
        k = math.exp(min(enough, 700.0))
        half = len(self.ratio) // 2
        first, rest = self.ratio[:half], self.ratio[half:]
        gammas = np.geomspace(min(1.0, k / 2), k / 2, SURENESSES)

        def most(gamma: float) -> float:
            return float(np.maximum(1 - gamma * first, 0.0).mean()) / (1 - gamma / k)

        best = float(min(gammas, key=most))
        return min(1.0, self._limit(np.maximum(1 - best * rest, 0.0), True) / (1 - best / k))

    def absent(self, chance: float) -> Ends:
        """The same of the complement."""
        if self.told_more:
            return ANYTHING
        most = -log_odds(chance) - math.log(self.prior_odds)
        return self._share(self.given_not <= most + ALMOST)

    def _share(self, found: NDArray[np.bool_]) -> Ends:
        values = found.astype(np.float64)
        return self._limit(values, False), self._limit(values, True)


@dataclass(frozen=True, eq=False)
class Tests(Part):
    """Tests by a score that is not the ratio of both laws: how often they say yes where the event holds, and where not.

    Whoever tests by a score achieves a lower end, whatever the score is. A half of the draws chooses, the other counts.
    """

    given: Floats
    given_not: Floats

    def mirrored(self) -> Tests:
        """The scores of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, given=-self.given_not, given_not=-self.given)

    def _shares(self, edge: float) -> tuple[float, float]:
        """At least the true positives, at most the false ones, of the test that says yes from a score on."""
        assert self.level is not None
        level = 1 - (1 - self.level) / 2
        true, wrong = (
            (values[len(values) // 2 :] >= edge).astype(np.float64) for values in (self.given, self.given_not)
        )
        return lower_limit(true, level), upper_limit(wrong, level)

    def _edge(self, false: float | None) -> float:
        """The score from which on the first half gains most, or has no more false positives than this."""
        yes, no = (np.sort(values[: len(values) // 2])[::-1] for values in (self.given, self.given_not))
        edges = np.unique(yes)
        true, wrong = (np.searchsorted(-side, -edges, side="right") / max(1, len(side)) for side in (yes, no))
        if false is None:
            return float(edges[np.argmax(true - wrong)])
        # A limit for false positives is not much below what a tenth more would be.
        allowed = wrong <= max(false, 1 / max(1, len(no)))
        return float(edges[np.argmax(np.where(allowed, true, -1.0))]) if allowed.any() else math.inf

    def advantage(self) -> Ends:
        """What the chosen test achieves at least."""
        true, wrong = self._shares(self._edge(None))
        return max(0.0, true - wrong), 1.0

    def weeks(self, count: int) -> Ends:
        """What the chosen test gains at least that says yes where any of several series, or all, are as telling."""
        true, wrong = self._shares(self._edge(None))
        return max(0.0, (1 - wrong) ** count - (1 - true) ** count, true**count - wrong**count), 1.0

    def power(self, false: float) -> Ends:
        """What the chosen test achieves at least, mixed with one that never says yes where it has too many alarms."""
        true, wrong = self._shares(self._edge(false))
        return max(false, true * min(1.0, false / wrong) if wrong > 0 else true), 1.0
