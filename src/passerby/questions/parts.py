"""What one look at the series of a release says of an event: ends of each measure, certain or at a confidence."""

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
#: Log odds that differ by so much, as a share of them, differ by rounding.
ALIKE = 1e-11
#: Sums of probabilities are right but for this, which many releases multiply.
SLACK = 1e-12


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

    def affinity(self) -> Ends:
        """The Bhattacharyya coefficient of the laws with the event and without."""
        return ANYTHING

    def weeks(self, count: int) -> Ends:
        """The advantage over so many independent releases, in all of which the event holds, or in none (section 27).

        With b the coefficient of one: `1 - b^w <= advantage <= √(1 - b^(2w))` (Le Cam 1986). Where ends are certain, it
        is also at least that of one, and at most `1 - (1 - a)^w`: both laws agree in all with chance `(1 - a)^w`.
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
        """How likely a series makes the event so likely, where it holds."""
        return ANYTHING

    def absent(self, chance: float) -> Ends:
        """How likely a series makes it so likely that the event does not hold, where it does not."""
        return ANYTHING

    @abstractmethod
    def mirrored(self) -> Part:
        """The same of the complement of the event."""


@dataclass(frozen=True, eq=False)
class Between(Part):
    """What lies between a law that tells less and one that tells more: the measures that are convex."""

    @property
    @abstractmethod
    def both(self) -> tuple[Law, Law]:
        """The law that tells less, and the one that tells more."""

    def advantage(self) -> Ends:
        """Between those of who is told less and of who is told more."""
        less, more = self.both
        return less.advantage, more.advantage

    def power(self, false: float) -> Ends:
        """Between those of who is told less and of who is told more."""
        less, more = self.both
        return less.power(false), more.power(false)

    def affinity(self) -> Ends:
        """Between those of who is told more and of who is told less."""
        less, more = self.both
        return more.affinity, less.affinity

    def weeks(self, count: int) -> Ends:
        """What the tests of one series gain over several is another lower end."""
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
        """What is not listed."""
        return max(self.law.missing)

    @cached_property
    def both(self) -> tuple[Law, Law]:
        """What is not listed is told as one, or by its event."""
        return self.law.completed(more=False), self.law.completed(more=True)

    def certain(self, chance: float) -> Ends:
        """What is listed, and what may be among the rest."""
        found = self.law.likely(chance, self.prior_odds)
        return found, min(1.0, found + self.law.missing[0])

    def absent(self, chance: float) -> Ends:
        """The same of the complement."""
        found = self.law.swapped().likely(chance, 1 / self.prior_odds)
        return found, min(1.0, found + self.law.missing[1])


@dataclass(frozen=True, eq=False)
class StandIns(Between):
    """Series that tell less, and series that tell more: for measures that are convex."""

    less: Law
    more: Law

    def mirrored(self) -> StandIns:
        """The laws of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, less=self.less.swapped(), more=self.more.swapped())

    @cached_property
    def both(self) -> tuple[Law, Law]:
        """Each with what it does not list."""
        return self.less.completed(more=False), self.more.completed(more=True)


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
class Below(Part):
    """What a part of all that is published says: the lower ends of measures that are convex."""

    law: Law

    def mirrored(self) -> Below:
        """The law of the complement."""
        return replace(self, prior_odds=1 / self.prior_odds, law=self.law.swapped())

    def advantage(self) -> Ends:
        """At least that of the part."""
        return self.law.completed(more=False).advantage, 1.0

    def affinity(self) -> Ends:
        """At most that of the part."""
        return 0.0, self.law.completed(more=False).affinity

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

    def affinity(self) -> Ends:
        """At least that of whoever is told more."""
        return self.more.affinity()[0], 1.0

    def weeks(self, count: int) -> Ends:
        """At most that of whoever is told more."""
        return 0.0, self.more.weeks(count)[1]

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

    def affinity(self) -> Ends:
        """At least that of whoever knows the set."""
        return self._together.affinity, 1.0

    def power(self, false: float) -> Ends:
        """At most that of whoever knows the set."""
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
