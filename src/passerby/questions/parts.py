"""What one look at the series of a release says of an event: ends of each measure, certain or at a confidence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.support.statistics import lower_limit, upper_limit

from .laws import ALMOST, Law, log_odds

Floats = NDArray[np.float64]
Ends = tuple[float, float]
#: Nothing is known of a probability.
ANYTHING: Ends = (0.0, 1.0)
#: Log odds that differ by so much, as a share of them, differ by rounding.
ALIKE = 1e-11
#: Tangents to a trade-off curve that are tried.
TANGENTS = 64


@dataclass(frozen=True, eq=False)
class Part(ABC):
    """Ends of each measure, by what `name` did. `level` is the confidence of each end by itself, None for certainty.

    `prior_odds` are the odds of the event without any series.
    """

    name: str
    prior_odds: float
    level: float | None = field(default=None, kw_only=True)
    #: Whether it knows ends of `certain` and `absent`, too.
    tails: ClassVar[bool] = False

    @property
    def blur(self) -> float:
        """How far apart both ends of `certain` and `absent` may be."""
        return 1.0

    def advantage(self) -> Ends:
        """True positives minus false positives of the best test."""
        return ANYTHING

    def power(self, false: float) -> Ends:
        """True positives of the best test with this share of false positives."""
        return ANYTHING

    def certain(self, chance: float) -> Ends:
        """How likely a series makes the event so likely, where it holds."""
        return ANYTHING

    def absent(self, chance: float) -> Ends:
        """How likely a series makes it so likely that the event does not hold, where it does not."""
        return ANYTHING

    @abstractmethod
    def mirrored(self) -> Part:
        """The same of the complement of the event."""


@dataclass(frozen=True, eq=False)
class Listed(Part):
    """All series, or nearly all, one by one."""

    law: Law
    tails: ClassVar[bool] = True

    def mirrored(self) -> Listed:
        """The law of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, law=self.law.swapped())

    @property
    def blur(self) -> float:
        """What is not listed."""
        return max(self.law.missing)

    @cached_property
    def _both(self) -> tuple[Law, Law]:
        return self.law.completed(more=False), self.law.completed(more=True)

    def advantage(self) -> Ends:
        """Between those of who is told less and of who is told more."""
        less, more = self._both
        return less.advantage, more.advantage

    def power(self, false: float) -> Ends:
        """Between those of who is told less and of who is told more."""
        less, more = self._both
        return less.power(false), more.power(false)

    def certain(self, chance: float) -> Ends:
        """What is listed, and what may be among the rest."""
        found = self.law.likely(chance, self.prior_odds)
        return found, min(1.0, found + self.law.missing[0])

    def absent(self, chance: float) -> Ends:
        """The same of the complement."""
        found = self.law.swapped().likely(chance, 1 / self.prior_odds)
        return found, min(1.0, found + self.law.missing[1])


@dataclass(frozen=True, eq=False)
class StandIns(Part):
    """Series that tell less, and series that tell more: for measures that are convex."""

    less: Law
    more: Law

    def mirrored(self) -> StandIns:
        """The laws of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, less=self.less.swapped(), more=self.more.swapped())

    @cached_property
    def _both(self) -> tuple[Law, Law]:
        return self.less.completed(more=False), self.more.completed(more=True)

    def advantage(self) -> Ends:
        """Between both."""
        less, more = self._both
        return less.advantage, more.advantage

    def power(self, false: float) -> Ends:
        """Between both."""
        less, more = self._both
        return less.power(false), more.power(false)


@dataclass(frozen=True, eq=False)
class Stretches(StandIns):
    """All series of raw counts, in groups of which the outermost log odds (n,) are known."""

    low: Floats
    high: Floats
    tails: ClassVar[bool] = True

    @property
    def blur(self) -> float:
        """How likely the groups are that hold more than one log odds, and what is left out."""
        with np.errstate(invalid="ignore"):
            mixed = (self.high != self.low) & ~(self.high - self.low <= ALIKE * (1 + np.abs(self.low)))
        sides = zip((self.less.yes, self.less.no), self.less.missing, strict=True)
        return max(float(mass[mixed].sum()) + missing for mass, missing in sides)

    def mirrored(self) -> Stretches:
        """The laws and log odds of the complement."""
        less, more = self.less.swapped(), self.more.swapped()
        return replace(self, prior_odds=1 / self.prior_odds, less=less, more=more, low=-self.high, high=-self.low)

    def certain(self, chance: float) -> Ends:
        """Groups that are likely enough as a whole, and those of which a part may be."""
        least = log_odds(chance)
        return self._ends(self.less.yes, self.low >= least - ALMOST, self.high >= least - ALMOST, self.less.missing[0])

    def absent(self, chance: float) -> Ends:
        """The same of the complement."""
        most = -log_odds(chance)
        return self._ends(self.less.no, self.high <= most + ALMOST, self.low <= most + ALMOST, self.less.missing[1])

    @staticmethod
    def _ends(mass: Floats, surely: NDArray[np.bool_], perhaps: NDArray[np.bool_], missing: float) -> Ends:
        return min(1.0, float(mass[surely].sum())), min(1.0, float(mass[perhaps].sum()) + missing)


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
            return ANYTHING
        least = log_odds(chance) - math.log(self.prior_odds)
        return self._share(self.given >= least - ALMOST)

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

    def power(self, false: float) -> Ends:
        """What the chosen test achieves at least, mixed with one that never says yes where it has too many alarms."""
        true, wrong = self._shares(self._edge(false))
        return max(false, true * min(1.0, false / wrong) if wrong > 0 else true), 1.0


@dataclass(frozen=True, eq=False)
class Below(Part):
    """What a part of all that is published says: the lower ends of measures that are convex."""

    law: Law

    def mirrored(self) -> Below:
        """The law of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, law=self.law.swapped())

    def advantage(self) -> Ends:
        """At least that of the part."""
        return self.law.completed(more=False).advantage, 1.0

    def power(self, false: float) -> Ends:
        """At least that of the part."""
        return self.law.completed(more=False).power(false), 1.0


@dataclass(frozen=True, eq=False)
class Above(Part):
    """What somebody finds who is told more: the upper ends of measures that are convex."""

    more: Part

    def mirrored(self) -> Above:
        """What somebody told more finds of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, more=self.more.mirrored())

    def advantage(self) -> Ends:
        """At most that of whoever is told more."""
        return 0.0, self.more.advantage()[1]

    def power(self, false: float) -> Ends:
        """At most that of whoever is told more."""
        return false, self.more.power(false)[1]


@dataclass(frozen=True, eq=False)
class Shown(Part):
    """What somebody finds who is told which raw counts are shown, each set of them by its chance: upper ends.

    Noise follows from raw counts that are shown at random (`measurement.erasure`). Who knows the set chooses false
    positives for each, so that the power has the tangents that sets have together.
    """

    sets: tuple[tuple[float, Law], ...]

    def mirrored(self) -> Shown:
        """The laws of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, sets=tuple((c, law.swapped()) for c, law in self.sets))

    @cached_property
    def _together(self) -> Law:
        """All series of all sets, each with its set."""
        whole = [(chance, law.completed(more=True)) for chance, law in self.sets]
        return Law(np.concatenate([c * law.yes for c, law in whole]), np.concatenate([c * law.no for c, law in whole]))

    def advantage(self) -> Ends:
        """At most that of whoever knows the set."""
        return 0.0, self._together.advantage

    def power(self, false: float) -> Ends:
        """At most that of whoever knows the set."""
        return false, self._together.power(false)
