"""Counts in which chance decides: random rounding, sampling, sensors that err."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from passerby.errors import InputError, UnsupportedRelease

from .base import TAIL, Discrete, Floats, Law, Record, trimmed
from .checks import at_least, flag, probability

#: The law of a whole number: its least value, and the probabilities from there on.
Sum = tuple[int, Floats]


@dataclass(frozen=True, repr=False)
class RandomRounding(Record, Discrete):
    """One of the two multiples of `base` around the count, drawn so that the mean is the count.

    A count of `q base + r` goes up with probability `r / base`, so one person more always changes the law by `1 / base`
    in total variation. With `persistent`, the draw of a cell is used again whenever the cell is published.

    >>> [round(RandomRounding(3).total_variation(others), 6) for others in range(4)]
    [0.333333, 0.333333, 0.333333, 0.333333]
    """

    base: int
    persistent: bool = False

    def __post_init__(self) -> None:
        at_least(self, "base", self.base, 2, "a count is a multiple of 1 already; use Raw()")
        flag(self, "persistent", self.persistent)

    def law(self, count: float) -> Law:
        """The multiple below and the multiple above."""
        _whole(self, count)
        below, rest = divmod(int(count), self.base)
        values = np.array([below, below + 1.0]) * self.base
        return trimmed(values, np.array([self.base - rest, rest]) / self.base)

    def total_variation(self, count: int = 0) -> float:
        """`1 / base`."""
        return 1 / self.base


class _PerPerson(Record, Discrete):
    """Each person adds a number of their own to the published value, drawn independently of all others."""

    @property
    @abstractmethod
    def share(self) -> Floats:
        """Probabilities that a person adds 0, 1, 2, ..."""

    def law(self, count: float) -> Law:
        """The sum over `count` people, by repeated doubling."""
        _whole(self, count)
        if count < 0:
            raise InputError(f"{self!r}: {count:g} people cannot be counted; let noise that comes first be clamped")
        left = int(count)
        total: Sum = (0, np.ones(1))
        power: Sum = (0, self.share)
        while left:
            if left & 1:
                total = added(total, power)
            left >>= 1
            if left:
                power = added(power, power)
        first, chances = total
        return trimmed(first + np.arange(float(len(chances))), chances)


@dataclass(frozen=True, repr=False)
class Sampling(_PerPerson):
    """Each person is counted with probability `rate`, independently, and the number counted is published.

    The draw is a fresh one for each count. A panel, in which the same people are counted at every step, is
    `persistent`, and is only accepted where counts are published at one step.

    >>> Sampling(0.1).total_variation(0)
    0.1
    """

    rate: float
    persistent: bool = False

    def __post_init__(self) -> None:
        probability(self, "rate", self.rate)
        flag(self, "persistent", self.persistent)

    @property
    def share(self) -> Floats:
        """Not counted, counted."""
        return np.array([1 - self.rate, self.rate])

    def check_sensors(self, sensors: Sequence[Sequence[int]]) -> None:
        """Refuse a panel that is counted at several steps."""
        active = [t for t, step in enumerate(sensors) if step]
        if self.persistent and len(active) > 1:
            raise UnsupportedRelease(
                f"{self!r}: the same people are counted at steps {active[0]} and {active[1]}, so the target is in all "
                "counts or in none. That must not be treated as a fresh draw at each step, and it is not modelled "
                "otherwise. Use Raw() for a bound that holds, or persistent=False if each step is sampled afresh"
            )


@dataclass(frozen=True, repr=False)
class Miscount(_PerPerson):
    """A sensor that misses a person with probability `miss` and counts them twice with probability `double`.

    >>> round(Miscount(miss=0.1, double=0.05).total_variation(0), 6)
    0.9
    """

    miss: float
    double: float = 0.0

    def __post_init__(self) -> None:
        probability(self, "miss", self.miss)
        probability(self, "double", self.double)
        if self.miss + self.double > 1:
            raise InputError(
                f"Miscount(miss={self.miss!r}, double={self.double!r}): the two probabilities add up to more than 1"
            )

    @property
    def share(self) -> Floats:
        """Missed, counted once, counted twice."""
        return np.array([self.miss, max(0.0, 1 - self.miss - self.double), self.double])


def added(left: Sum, right: Sum) -> Sum:
    """The law of a sum of independent whole numbers; the tails are cut."""
    chances = np.convolve(left[1], right[1])
    kept = np.flatnonzero((np.cumsum(chances) > TAIL) & (np.cumsum(chances[::-1])[::-1] > TAIL))
    return left[0] + right[0] + int(kept[0]), chances[kept[0] : kept[-1] + 1]


def _whole(owner: object, count: float) -> None:
    if not (math.isfinite(count) and count == math.floor(count)):
        raise InputError(f"{owner!r}: {count:g} is not a whole number; let noise that comes first be rounded")
