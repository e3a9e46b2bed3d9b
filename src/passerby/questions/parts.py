"""One look at the series of a release for an event: ends of each measure, certain or at a confidence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .laws import ALMOST, Law, log_odds

Floats = NDArray[np.float64]
Ends = tuple[float, float]
#: Nothing is known of a probability.
ANYTHING: Ends = (0.0, 1.0)
#: Log odds differing by this share of their size differ by rounding only.
ALIKE = 1e-11
#: Sums of probabilities are right up to this error, multiplied over many releases.
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Part(ABC):
    """Ends of each measure, found by the look `name`.

    `level` is the confidence of each end by itself, None for certainty. `prior_odds` are the odds of the event without
    any series.
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

    def affinity(self) -> Ends:
        """The Bhattacharyya coefficient of the laws with the event and without."""
        return ANYTHING

    def weeks(self, count: int) -> Ends:
        """The advantage over so many independent releases, if the event holds in all of them or in none (section 27).

        With b the coefficient of one: `1 - b^w <= advantage <= √(1 - b^(2w))` (Le Cam 1986). If ends are certain, it is
        also at least the advantage of one release. It is at most `1 - (1 - a)^w`, as both laws agree in all releases
        with chance `(1 - a)^w`.
        """
        if count == 1:
            return self.advantage()
        low, high = self.affinity()
        ends = 1 - min(1.0, high + SLACK) ** count, math.sqrt(1 - max(0.0, low - SLACK) ** (2 * count))
        if self.level is not None:
            return ends
        less, more = self.advantage()
        unlike = 1.0 if more >= 1 else -math.expm1(count * math.log1p(-more))
        return max(less, ends[0]), min(ends[1], unlike)

    def certain(self, chance: float) -> Ends:
        """The chance, under the event, of a series making the event so likely."""
        return ANYTHING

    def absent(self, chance: float) -> Ends:
        """The chance, without the event, of a series making its absence so likely."""
        return ANYTHING

    @abstractmethod
    def mirrored(self) -> Part:
        """The same of the complement of the event."""


@dataclass(frozen=True, eq=False)
class Between(Part):
    """Between a less telling law and a more telling one, for the convex measures."""

    @property
    @abstractmethod
    def both(self) -> tuple[Law, Law]:
        """The less telling law, and the more telling one."""

    def advantage(self) -> Ends:
        """Between the advantages of the less informed and the better informed observer."""
        less, more = self.both
        return less.advantage, more.advantage

    def power(self, false: float) -> Ends:
        """Between the powers of the less informed and the better informed observer."""
        less, more = self.both
        return less.power(false), more.power(false)

    def affinity(self) -> Ends:
        """Between the affinities of the better informed and the less informed observer."""
        less, more = self.both
        return more.affinity, less.affinity

    def weeks(self, count: int) -> Ends:
        """Tests of one series, repeated over several, give another lower end."""
        lower, upper = super().weeks(count)
        return max(lower, self.both[0].repeated(count) - SLACK * count), upper


@dataclass(frozen=True, eq=False)
class Listed(Between):
    """All series, or nearly all, one by one."""

    law: Law
    tails: ClassVar[bool] = True

    def mirrored(self) -> Listed:
        """The law of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, law=self.law.swapped())

    @property
    def blur(self) -> float:
        """The probability of the unlisted series."""
        return max(self.law.missing)

    @cached_property
    def both(self) -> tuple[Law, Law]:
        """The unlisted series are lumped into one, or split by the event."""
        return self.law.completed(more=False), self.law.completed(more=True)

    def certain(self, chance: float) -> Ends:
        """The listed probability, and the same with a possible part of the rest."""
        found = self.law.likely(chance, self.prior_odds)
        return found, min(1.0, found + self.law.missing[0])

    def absent(self, chance: float) -> Ends:
        """The same of the complement."""
        found = self.law.swapped().likely(chance, 1 / self.prior_odds)
        return found, min(1.0, found + self.law.missing[1])


@dataclass(frozen=True, eq=False)
class StandIns(Between):
    """Less telling series, and more telling series, for the convex measures."""

    less: Law
    more: Law

    def mirrored(self) -> StandIns:
        """The laws of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, less=self.less.swapped(), more=self.more.swapped())

    @cached_property
    def both(self) -> tuple[Law, Law]:
        """Each law, with its unlisted series."""
        return self.less.completed(more=False), self.more.completed(more=True)


@dataclass(frozen=True, eq=False)
class Stretches(StandIns):
    """All series of raw counts, in groups with known outermost log odds (n,)."""

    low: Floats
    high: Floats
    tails: ClassVar[bool] = True

    @property
    def blur(self) -> float:
        """The probability of groups with more than one log odds, and of the series left out."""
        with np.errstate(invalid="ignore"):
            mixed = (self.high != self.low) & ~(self.high - self.low <= ALIKE * (1 + np.abs(self.low)))
        sides = zip((self.less.yes, self.less.no), self.less.missing, strict=True)
        return max(float(mass[mixed].sum()) + missing for mass, missing in sides)

    def mirrored(self) -> Stretches:
        """The laws and log odds of the complement."""
        less, more = self.less.swapped(), self.more.swapped()
        return replace(self, prior_odds=1 / self.prior_odds, less=less, more=more, low=-self.high, high=-self.low)

    def certain(self, chance: float) -> Ends:
        """Groups likely enough as a whole, and groups likely enough in part."""
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
class Below(Part):
    """The evidence of a part of the release: the lower ends of the convex measures."""

    law: Law

    def mirrored(self) -> Below:
        """The law of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, law=self.law.swapped())

    def advantage(self) -> Ends:
        """At least the advantage of the part."""
        return self.law.completed(more=False).advantage, 1.0

    def affinity(self) -> Ends:
        """At most the affinity of the part."""
        return 0.0, self.law.completed(more=False).affinity

    def power(self, false: float) -> Ends:
        """At least the power of the part."""
        return self.law.completed(more=False).power(false), 1.0


@dataclass(frozen=True, eq=False)
class Above(Part):
    """The measures of a better informed observer: upper ends of the convex measures."""

    more: Part

    def mirrored(self) -> Above:
        """The same observer's measures of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, more=self.more.mirrored())

    def advantage(self) -> Ends:
        """At most the advantage of the better informed observer."""
        return 0.0, self.more.advantage()[1]

    def affinity(self) -> Ends:
        """At least the affinity of the better informed observer."""
        return self.more.affinity()[0], 1.0

    def weeks(self, count: int) -> Ends:
        """At most the advantage of the better informed observer."""
        return 0.0, self.more.weeks(count)[1]

    def power(self, false: float) -> Ends:
        """At most the power of the better informed observer."""
        return false, self.more.power(false)[1]


@dataclass(frozen=True, eq=False)
class Shown(Part):
    """Upper ends from an observer knowing the set of raw counts shown, each set with its chance.

    Noise follows from raw counts that are shown at random (`measurement.erasure`). An observer knowing the set chooses
    false positives for each set. So the power has the tangents of all sets together.
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
        """At most the advantage of an observer knowing the set."""
        return 0.0, self._together.advantage

    def affinity(self) -> Ends:
        """At least the affinity of an observer knowing the set."""
        return self._together.affinity, 1.0

    def power(self, false: float) -> Ends:
        """At most the power of an observer knowing the set."""
        return false, self._together.power(false)


@dataclass(frozen=True, eq=False)
class Apart(Part):
    """Both laws are at most so far apart (`most`), and overlap at least so much (`least`): upper ends.

    They are the total variation and the Bhattacharyya coefficient b. A test with true positives p and false ones f has
    laws that overlap no less: `b <= √(p f) + √((1 - p)(1 - f))`.
    """

    most: float
    least: float

    def mirrored(self) -> Apart:
        """The same distances."""
        return replace(self, prior_odds=1 / self.prior_odds)

    def advantage(self) -> Ends:
        """At most the distance."""
        return 0.0, self.most

    def affinity(self) -> Ends:
        """At least the overlap."""
        return self.least, 1.0

    def power(self, false: float) -> Ends:
        """At most what leaves tests their overlap."""
        angle = math.asin(math.sqrt(false)) + math.acos(min(1.0, max(0.0, self.least - SLACK)))
        return false, math.sin(min(angle, math.pi / 2)) ** 2
