"""Looks at drawn series: confidence limits for each measure of telling an event from its absence."""

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

#: Numbers of tangents to try on a trade-off curve, and on the curve of high certainty.
TANGENTS, SURENESSES = 64, 24


@dataclass(frozen=True, eq=False)
class Drawn(Part):
    """Series drawn under the event, and series drawn without it.

    `given` and `given_not` hold `log Pr[y | E] - log Pr[y | not E]` of each. With the true law of both hypotheses, the
    ends are confidence limits of both sides. If a better informed observer (`told_more`) has these ratios, the ends are
    upper limits only.
    """

    given: Floats
    given_not: Floats
    told_more: bool = False

    def mirrored(self) -> Drawn:
        """The ratios of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, given=-self.given_not, given_not=-self.given)

    @cached_property
    def ratio(self) -> Floats:
        """`Pr[y | not E] / Pr[y | E]` of the series drawn under the event."""
        with np.errstate(over="ignore"):
            return np.exp(-self.given)

    def _limit(self, values: Floats, upper: bool) -> float:
        assert self.level is not None
        return upper_limit(values, self.level) if upper else lower_limit(values, self.level)

    def advantage(self) -> Ends:
        """Limits for the mean of `(1 - Pr[y | not E] / Pr[y | E])⁺` under the event, and of its mirror image."""
        with np.errstate(over="ignore"):
            mirror = np.exp(self.given_not)
        sides = [np.maximum(1 - values, 0.0) for values in (self.ratio, mirror)]
        shortest = min(map(len, sides))
        values = (sides[0][:shortest] + sides[1][:shortest]) / 2
        return 0.0 if self.told_more else self._limit(values, False), self._limit(values, True)

    def affinity(self) -> Ends:
        """Limits for the mean of `2 √(p q) / (p + q)` over the draws of both sides, a number from 0 to 1."""
        shortest = min(len(self.given), len(self.given_not))
        with np.errstate(over="ignore"):
            values = [1 / np.cosh(side[:shortest] / 2) for side in (self.given, self.given_not)]
        mean = (values[0] + values[1]) / 2
        return self._limit(mean, False), 1.0 if self.told_more else self._limit(mean, True)

    def power(self, false: float) -> Ends:
        """A test chosen by a half of the draws, with limits from the other half; and a tangent likewise."""
        half = len(self.ratio) // 2
        first, rest = np.sort(self.ratio[:half]), self.ratio[half:]
        upper = self._tangent(first, rest, false)
        return false if self.told_more else max(false, self._tested(first, rest, false)), upper

    def _tested(self, first: Floats, rest: Floats, false: float) -> float:
        """True positives of the test "as likely as without the event", mixed with none if alarms are too many."""
        # False alarms of the tests saying yes up to each ratio: the ratio itself averages to them.
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
        """The confidence of each of two limits making an end together."""
        assert self.level is not None
        return 1 - (1 - self.level) / 2

    def certain(self, chance: float) -> Ends:
        """Limits for the chance of drawing a series after which the event is so likely."""
        if self.told_more:
            return 0.0, self._surest(chance)
        least = log_odds(chance) - math.log(self.prior_odds)
        return self._share(self.given >= least - ALMOST)

    def _surest(self, chance: float) -> float:
        """An upper limit for the chance of a less informed observer being so sure, under the event.

        For series making the event so likely, `false <= true / k`, with k the ratio at this likelihood. No test of
        these series exceeds `true - g false <= E[(1 - g Pr[y | not E] / Pr[y | E])⁺ | E]`. So `true` is at most this
        bound divided by `1 - g / k`, for any g below k. The first half of the draws chooses the best g.
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
    """Tests by a score other than the ratio of both laws: their chances of yes with the event and without.

    Whoever tests by a score achieves a lower end, whatever the score is. A half of the draws chooses, the other counts.
    """

    given: Floats
    given_not: Floats

    def mirrored(self) -> Tests:
        """The scores of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, given=-self.given_not, given_not=-self.given)

    def _shares(self, edge: float) -> tuple[float, float]:
        """A lower limit of true positives and an upper limit of false ones, for the test saying yes from a score on."""
        assert self.level is not None
        level = 1 - (1 - self.level) / 2
        true, wrong = (
            (values[len(values) // 2 :] >= edge).astype(np.float64) for values in (self.given, self.given_not)
        )
        return lower_limit(true, level), upper_limit(wrong, level)

    def _edge(self, false: float | None) -> float:
        """The score from which on the first half gains most, or has no more false positives than allowed."""
        yes, no = (np.sort(values[: len(values) // 2])[::-1] for values in (self.given, self.given_not))
        edges = np.unique(yes)
        true, wrong = (np.searchsorted(-side, -edges, side="right") / max(1, len(side)) for side in (yes, no))
        if false is None:
            return float(edges[np.argmax(true - wrong)])
        # A limit for false positives is little below the share found with a tenth more of them.
        allowed = wrong <= max(false, 1 / max(1, len(no)))
        return float(edges[np.argmax(np.where(allowed, true, -1.0))]) if allowed.any() else math.inf

    def advantage(self) -> Ends:
        """A lower end: the measure of the chosen test."""
        true, wrong = self._shares(self._edge(None))
        return max(0.0, true - wrong), 1.0

    def weeks(self, count: int) -> Ends:
        """A lower end: the gain of the chosen test if it needs yes from any of several series, or from all."""
        true, wrong = self._shares(self._edge(None))
        return max(0.0, (1 - wrong) ** count - (1 - true) ** count, true**count - wrong**count), 1.0

    def power(self, false: float) -> Ends:
        """A lower end: the power of the chosen test, mixed with a test never saying yes if it has too many alarms."""
        true, wrong = self._shares(self._edge(false))
        return max(false, true * min(1.0, false / wrong) if wrong > 0 else true), 1.0
