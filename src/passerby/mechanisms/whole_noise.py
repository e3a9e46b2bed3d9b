"""Noise in whole numbers: the discrete Gaussian and the two-sided geometric law."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .base import Mechanism
from .fixed import Discrete
from .laws import LOG_TAIL, Domain, Floats, Law, log1mexp, log_gathered, log_sum
from .noise import Additive

#: Fewer whole numbers than this are added up one by one.
FEW = 64
#: A scaled count is no whole number. The difference to it is rounded to so many digits after the point.
DIGITS = 9
#: The most numbers held at a time.
CHUNK = 1_000_000


@dataclass(frozen=True, repr=False)
class WholeNoise(Additive, Discrete):
    """The count plus noise in whole numbers.

    The law has no end. It is listed up to `TAIL` on either side, and its likelihoods are exact everywhere.
    """

    @property
    def whole(self) -> bool:
        """Always."""
        return True

    @property
    def endless(self) -> bool:
        """Always."""
        return True

    def gives(self, taken: Domain) -> Domain:
        """Whole numbers for whole numbers, nothing below zero if clamped."""
        return Domain(whole=taken.whole, negative=not self.clamped)

    @abstractmethod
    def reach_of(self, log_tail: float) -> int:
        """The distance with at most `exp(log_tail)` of the noise beyond it on either side."""

    @abstractmethod
    def log_mass(self, noise: Floats) -> Floats:
        """The log probability of each whole number."""

    @abstractmethod
    def log_tail(self, distance: Floats) -> Floats:
        """The log probability of noise of at least this distance above zero, from 1 on."""

    def law(self, count: float) -> Law:
        """Whole numbers within reach of the count; negative ones as zero if clamped."""
        values, logs = self.listing(count, LOG_TAIL)
        return values, np.exp(logs)

    def listing(self, count: float, log_tail: float) -> Law:
        """The same in logarithms, for any reach."""
        reach = self.reach_of(log_tail)
        values = told(count + np.arange(-reach, reach + 1.0), np.asarray(count, np.float64))
        values = np.unique(np.maximum(values, 0.0) if self.clamped else values)
        return log_gathered(values, self.log_likelihood(values, count))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log probability of the noise "output minus count", of all negative values at once if clamped."""
        values, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        nearest = np.rint(values - counts)
        whole = told(counts + nearest, counts) == told(values, counts)
        out = np.where(whole, self.log_mass(nearest), -np.inf)
        if self.clamped:
            zero = values == 0
            out[values < 0] = -np.inf
            out[zero] = self._log_range(np.full(zero.sum(), -np.inf), np.floor(-counts[zero]))
        return out

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """The log probability of the whole numbers between."""
        lows, highs, counts = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (low, high, count)))
        if self.clamped:
            lows, highs = (np.where(end <= 0, -np.inf, end) for end in (lows, highs))
        return self._log_range(_least(lows, counts), _least(highs, counts) - 1)

    def _log_range(self, first: Floats, last: Floats) -> Floats:
        """The log probability of noise from `first` to `last`, whole numbers. The noise is symmetric."""
        right = first > 0
        a, b = np.where(right, -last, first), np.where(right, -first, last)
        out = np.full(a.shape, -np.inf)
        some = (b >= a) & (b > -np.inf)
        with np.errstate(invalid="ignore"):
            few = some & (b - a < FEW)
        around, left = some & ~few & (b >= 0), some & ~few & (b < 0)
        each = a[few, None] + np.arange(float(FEW))
        out[few] = log_sum(np.where(each <= b[few, None], self.log_mass(each), -np.inf))
        out[around] = np.log1p(-np.exp(self.log_tail(1 - a[around])) - np.exp(self.log_tail(b[around] + 1)))
        far = self.log_tail(-b[left])
        out[left] = far + log1mexp(self.log_tail(1 - a[left]) - far)
        return out

    def total_variation(self, count: int = 0) -> float:
        """`Pr[noise = 0]`: with falling probabilities on both sides, the laws cross between the two counts.

        Clamping changes nothing: it merges values on one side of the crossing only.
        """
        return float(np.exp(self.log_mass(np.zeros(()))))


@dataclass(frozen=True, repr=False)
class DiscreteGaussian(WholeNoise):
    """The count plus a whole number z drawn with probability proportional to `exp(-z² / (2 sigma²))`.

    Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy", definition 1.

    >>> round(DiscreteGaussian(sigma=1.0).total_variation(), 4)
    0.3989
    """

    sigma: float

    accounted = "by its privacy loss distribution"

    @property
    def symmetric(self) -> bool:
        """Unless clamped."""
        return not self.clamped

    def losses(self, step: Callable[[float, float], float]) -> Any:
        """On the lattice of its losses, if it is not too fine: nothing is rounded then."""
        from dp_accounting.pld import privacy_loss_distribution as pld

        lattice = 0.5 / self.sigma**2
        if step(8 / self.sigma + lattice, 1 / self.sigma) > lattice:
            return None
        return pld.from_discrete_gaussian_mechanism(self.sigma, value_discretization_interval=lattice)

    def reach_of(self, log_tail: float) -> int:
        """As for the normal law with its heavier tails."""
        return math.ceil(self.sigma * math.sqrt(-2 * log_tail)) + 1

    @cached_property
    def _log_total(self) -> float:
        reach = self.reach_of(LOG_TAIL)
        return float(np.log(np.exp(-0.5 * (np.arange(-reach, reach + 1.0) / self.sigma) ** 2).sum()))

    def log_mass(self, noise: Floats) -> Floats:
        """`-z² / (2 sigma²)`, less the log of the sum."""
        return np.asarray(-0.5 * (noise / self.sigma) ** 2 - self._log_total)

    def log_tail(self, distance: Floats) -> Floats:
        """`log Pr[z = k] + log Σ_j exp(-(2 k j + j²) / (2 sigma²))`, by its first few terms."""
        distances, index = np.unique(distance, return_inverse=True)
        more = np.arange(self.reach_of(LOG_TAIL) + 1.0)
        rest = np.zeros(len(distances))
        size = max(1, CHUNK // len(more))
        for start in range(0, len(distances), size):
            part = slice(start, start + size)
            with np.errstate(invalid="ignore", divide="ignore"):
                grown = np.exp(-(2 * distances[part, None] + more) * more / (2 * self.sigma**2))
                rest[part] = np.log(np.nansum(grown, axis=1))
        out = self.log_mass(distances) + rest
        return np.asarray(out[index.reshape(-1)].reshape(distance.shape))


@dataclass(frozen=True, repr=False)
class Geometric(WholeNoise):
    """The count plus a whole number z drawn with probability proportional to `exp(-|z| / scale)`.

    The two-sided geometric (discrete Laplace) mechanism of Ghosh, Roughgarden and Sundararajan (2009). The likelihood
    ratio has two values only, one up to the count of the others and one from there on. So the whole line amounts to one
    bit, wrong with probability `1 / (1 + exp(1 / scale))`.

    >>> round(Geometric(scale=1.0).total_variation(), 4)
    0.4621
    """

    scale: float

    accounted = "by its privacy loss distribution"

    def pure_epsilon(self, times: float) -> float:
        """`times / scale`."""
        return times / self.scale

    def losses(self, step: Callable[[float, float], float]) -> Any:
        """On the lattice of its losses: nothing is rounded."""
        from dp_accounting.pld import privacy_loss_distribution as pld

        return pld.from_discrete_laplace_mechanism(1 / self.scale, value_discretization_interval=1 / self.scale)

    def tells_less_than(self, fine: Mechanism) -> bool:
        """With `q = exp(-1 / scale)`, the generating functions divide into a constant and the larger scale's one."""
        larger = isinstance(fine, Geometric) and self.plain and fine.plain and self.scale >= fine.scale
        return larger or super().tells_less_than(fine)

    def reach_of(self, log_tail: float) -> int:
        """`exp(-reach / scale)`."""
        return math.ceil(-log_tail * self.scale) + 1

    def log_mass(self, noise: Floats) -> Floats:
        """`-|z| / scale + log tanh(1 / (2 scale))`."""
        return np.asarray(-np.abs(noise) / self.scale + math.log(math.tanh(0.5 / self.scale)))

    def log_tail(self, distance: Floats) -> Floats:
        """`-k / scale - log(1 + exp(-1 / scale))`."""
        return np.asarray(-distance / self.scale - math.log1p(math.exp(-1 / self.scale)))


def told(values: Floats, counts: Floats) -> Floats:
    """Sums of counts and whole numbers as published: equal sums from two ways are the same number."""
    return np.where(counts == np.floor(counts), values, np.round(values, DIGITS))


def _least(end: Floats, counts: Floats) -> Floats:
    """The least whole numbers making `end` or more of counts."""
    # Ends next to a whole number are compared with it before the count is taken off.
    below = np.floor(counts)
    out = np.ceil(end - (counts - below)) - below
    out = np.where(told(counts + out - 1, counts) >= end, out - 1, out)
    return np.where(told(counts + out, counts) < end, out + 1, out)
