"""Random choices about people: random rounding, samples, and sensors missing people or counting them twice."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease

from .checks import Record, at_least, flag, probability
from .fixed import Discrete
from .laws import (
    COUNTS,
    LOG_TAIL,
    MOST_VALUES,
    WHOLE,
    Domain,
    Floats,
    Law,
    Sum,
    added,
    log_binomial,
    log_sum,
    trimmed,
)


@dataclass(frozen=True, repr=False)
class RandomRounding(Record, Discrete):
    """One of the two multiples of `base` around the count, drawn with the count as the mean.

    A count of `q base + r` goes up with probability `r / base`, so one person more always changes the law by `1 / base`
    in total variation. With `persistent`, the draw of a cell is used again whenever the cell is published.

    >>> [round(RandomRounding(3).total_variation(others), 6) for others in range(4)]
    [0.333333, 0.333333, 0.333333, 0.333333]
    """

    base: int
    persistent: bool = False

    takes = WHOLE
    hides = False

    def __post_init__(self) -> None:
        at_least(self, "base", self.base, 2, "a count is a multiple of 1 already; use Raw()")
        flag(self, "persistent", self.persistent)

    def law(self, count: float) -> Law:
        """The multiple below and the multiple above."""
        check_whole(self, count)
        below, rest = divmod(int(count), self.base)
        values = np.array([below, below + 1.0]) * self.base
        return trimmed(values, np.array([self.base - rest, rest]) / self.base)

    def gives(self, taken: Domain) -> Domain:
        """Multiples, of the same sign."""
        return taken

    def preimage(self, low: Floats, high: Floats) -> list[tuple[Floats, Floats]]:
        """Less than a base away."""
        return [(low - self.base, high + self.base)]

    def total_variation(self, count: int = 0) -> float:
        """`1 / base`."""
        return 1 / self.base


def check_whole(owner: object, count: float) -> None:
    """Refuse anything but a whole number."""
    if not (math.isfinite(count) and count == math.floor(count)):
        raise InputError(f"{owner!r}: {count:g} is not a whole number; let noise that comes first be rounded")


#: If people may be counted twice, sums of a larger variance than this are not worked out.
MOST_SPREAD = 250_000.0
#: Fewer sums than this are added up at once.
FEW = 64
#: Lists of sums leave out less than this for all people together, so probabilities from `SAFE` on do not change.
LEFT_OUT = 1e-60
SAFE = 1e-46


class PerPerson(Record, Discrete):
    """Each person adds a number of their own to the published value, drawn independently of all others."""

    @property
    @abstractmethod
    def share(self) -> Floats:
        """Probabilities of a person adding 0, 1, 2, ..."""

    endless = True  # not so, but lists of many people are cut
    hides = False

    def gives(self, taken: Domain) -> Domain:
        """Counts."""
        return COUNTS

    @abstractmethod
    def log_mass(self, values: Floats, people: int) -> Floats:
        """The log probability of each sum over so many people."""

    def check_count(self, count: float) -> int:
        """The number of people, if it is one."""
        check_whole(self, count)
        if count < 0:
            raise InputError(f"{self!r}: {count:g} people cannot be counted; let noise that comes first be clamped")
        return int(count)

    def moments(self, people: int) -> tuple[float, float]:
        """Mean and variance of the sum."""
        sizes = np.arange(len(self.share))
        mean = float(self.share @ sizes)
        return people * mean, people * float(self.share @ (sizes - mean) ** 2)

    def window(self, people: int, log_tail: float, start: float | None = None) -> tuple[int, int]:
        """The least and the largest sum when at most `exp(log_tail)` is left out on either side.

        By Bernstein's inequality, around the mean. With a `start`, around it instead: the law is log-concave, so it
        falls faster the further out it is.
        """
        mean, spread = self.moments(people)
        most = len(self.share) - 1
        step = -log_tail * most / 3
        reach = step + math.sqrt(step**2 - 2 * log_tail * spread) + 1
        middle = mean if start is None else start
        low, high = max(0, math.floor(middle - reach)), min(people * most, math.ceil(middle + reach))
        if high - low > MOST_VALUES:
            raise UnsupportedRelease(
                f"{self!r} of {people:,} people can publish {high - low:,} values that matter, more than the "
                f"{MOST_VALUES:,} that are listed; with so many people, use Raw() for an upper end that holds"
            )
        return low, high

    def law(self, count: float) -> Law:
        """All sums of any weight."""
        values, logs = self.listing(count, LOG_TAIL)
        return values, np.exp(logs)

    def listing(self, count: float, log_tail: float) -> Law:
        """The same in logarithms, of as much as is asked for."""
        people = self.check_count(count)
        low, high = self.window(people, log_tail)
        values = np.arange(low, high + 1.0)
        logs = self.log_mass(values, people)
        return values[logs > -np.inf], logs[logs > -np.inf]

    def complete(self, count: float, log_tail: float) -> bool:
        """Whether all sums are listed."""
        people = self.check_count(count)
        return self.window(people, log_tail) == (0, people * (len(self.share) - 1))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log probability of each sum, however unlikely."""
        outputs, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        out = np.full(outputs.shape, -np.inf)
        for n in np.unique(counts[~np.isnan(counts)]):
            here = (counts == n) & (outputs >= 0)
            out[here] = self.log_mass(outputs[here], self.check_count(float(n)))
        return out

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """Added up from the likeliest value between the two on."""
        lows, highs, counts = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (low, high, count)))
        out = np.full(lows.shape, -np.inf)
        for n in np.unique(counts):
            people = self.check_count(float(n))
            here = counts == n
            first = np.maximum(0.0, np.ceil(lows[here]))
            last = np.minimum(float(people * (len(self.share) - 1)), np.ceil(highs[here]) - 1)
            out[here] = self._log_range(first, last, people)
        return out

    def _log_range(self, first: Floats, last: Floats, people: int) -> Floats:
        """The log probability of sums from `first` to `last`: few at once, many one after another."""
        out = np.full(first.shape, -np.inf)
        few, many = (last >= first) & (last - first < FEW), last - first >= FEW
        if few.any():
            each = first[few, None] + np.arange((last - first)[few].max() + 1)
            logs = self.log_mass(each.ravel(), people).reshape(each.shape)
            out[few] = log_sum(np.where(each <= last[few, None], logs, -np.inf))
        mean = self.moments(people)[0]
        for i in np.flatnonzero(many):
            low, high = self.window(people, LOG_TAIL, float(np.clip(mean, first[i], last[i])))
            out[i] = log_sum(self.log_mass(np.arange(max(first[i], low), min(last[i], high) + 1), people))
        return out


@dataclass(frozen=True, repr=False)
class Sampling(PerPerson):
    """Each person is counted with probability `rate`, independently, and the number counted is published.

    The draw is a fresh one for each count. A panel counts the same people at every step: it is `persistent`. It is only
    accepted if counts are published at one step.

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

    def log_mass(self, values: Floats, people: int) -> Floats:
        """Binomial."""
        return log_binomial(values, people, self.rate)

    def check_sensors(self, sensors: Sequence[Sequence[int]]) -> None:
        """Refuse a panel counted at several steps."""
        active = [t for t, step in enumerate(sensors) if step]
        if self.persistent and len(active) > 1:
            raise UnsupportedRelease(
                f"{self!r}: the same people are counted at steps {active[0]} and {active[1]}, so the target is in all "
                "counts or in none. That must not be treated as a fresh draw at each step, and it is not modelled "
                "otherwise. Use Raw() for a bound that holds, or persistent=False if each step is sampled afresh"
            )

    def check_cells(self, cells: Sequence[tuple[object, object]]) -> None:
        """Refuse a panel in several counts."""
        if self.persistent and len(cells) > 1:
            raise UnsupportedRelease(
                f"{self!r}: the same people are counted in {cells[0][1]!r} and {cells[1][1]!r}, so the target is in "
                "all counts or in none. That must not be treated as a fresh draw for each, and it is not modelled "
                "otherwise. Use Raw() for a bound that holds, or persistent=False if each count is sampled afresh"
            )


@dataclass(frozen=True, repr=False)
class Miscount(PerPerson):
    """A sensor that overlooks a person with probability `miss` and counts them twice with probability `double`.

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

    def log_mass(self, values: Floats, people: int) -> Floats:
        """Binomial if nobody is counted twice; otherwise from a list of all sums, and one by one if it is cut."""
        if not self.double:
            return log_binomial(values, people, 1 - self.miss)
        first, chances = _sums(self, people)
        index = np.clip(values - first, 0, len(chances) - 1).astype(np.int64)
        listed = values == first + index
        found = np.where(listed, chances[index], 0.0)
        # A zero within the list is impossible: every possible sum there is far above the smallest number.
        rare = np.where(listed, (found > 0) & (found < SAFE), (values == np.floor(values)) & (values <= 2 * people))
        with np.errstate(divide="ignore"):
            out = np.log(found)
        out[rare] = [self._log_one(int(value), people) for value in values[rare]]
        return out

    def _log_one(self, value: int, people: int) -> float:
        """`log Σ_d Pr[d counted twice] Pr[value - 2 d counted once]`."""
        twice = np.arange(max(0, value - people), value // 2 + 1.0)
        # Among people not counted twice, this share is counted once.
        once = float(self.share[1] / (1 - self.double)) if self.double < 1 else 0.0
        logs = log_binomial(twice, people, self.double) + log_binomial(value - 2 * twice, people - twice, once)
        return float(log_sum(logs))


@lru_cache(maxsize=64)
def _sums(mechanism: PerPerson, people: int) -> Sum:
    """The law of the sum over so many people, by repeated doubling, with negligible tails."""
    if (spread := mechanism.moments(people)[1]) > MOST_SPREAD:
        raise UnsupportedRelease(
            f"{mechanism!r}: sums over {people:,} people who may be counted twice are not worked out, their variance "
            f"of {spread:,.0f} is above {MOST_SPREAD:,.0f}; use double=0, or Raw() for an upper end that holds"
        )
    tail = LEFT_OUT / (4 * max(1, people))
    total: Sum = (0, np.ones(1))
    power: Sum = (0, mechanism.share)
    while people:
        if people & 1:
            total = added(total, power, tail)
        people >>= 1
        if people:
            power = added(power, power, tail)
    return total
