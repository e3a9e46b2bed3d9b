"""Noise in whole numbers: the discrete Gaussian and the two-sided geometric law."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .additive import Additive
from .base import TAIL, Discrete, Floats, Law, gathered


@dataclass(frozen=True, repr=False)
class WholeNoise(Additive, Discrete):
    """The count plus noise in whole numbers.

    The law has no end. It is listed where all but `TAIL` of it lies on either side, and its likelihoods are exact
    everywhere.
    """

    @property
    def whole(self) -> bool:
        """Always."""
        return True

    @property
    @abstractmethod
    def reach(self) -> int:
        """The distance beyond which less than `TAIL` of the noise lies on either side."""

    @abstractmethod
    def log_mass(self, noise: Floats) -> Floats:
        """The log probability of each whole number."""

    def law(self, count: float) -> Law:
        """Whole numbers within reach of the count; negative ones as zero where clamped."""
        noise = np.arange(-self.reach, self.reach + 1.0)
        values = count + noise
        return gathered(np.maximum(values, 0.0) if self.clamped else values, np.exp(self.log_mass(noise)))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log probability of the noise "output minus count", of all negative values at once where clamped."""
        if self.clamped:
            return super().log_likelihood(output, count)
        noise = np.asarray(output, dtype=np.float64) - np.asarray(count, dtype=np.float64)
        return np.where(noise == np.floor(noise), self.log_mass(noise), -np.inf)

    def total_variation(self, count: int = 0) -> float:
        """`Pr[noise = 0]`: with falling probabilities on both sides, the laws cross between the two counts.

        Clamping changes nothing: what it merges is on one side of where they cross.
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

    @property
    def reach(self) -> int:
        """As for the normal law, which has the heavier tails."""
        return math.ceil(8.8 * self.sigma) + 1

    @cached_property
    def _log_total(self) -> float:
        z = np.arange(-self.reach, self.reach + 1.0)
        return float(np.log(np.exp(-0.5 * (z / self.sigma) ** 2).sum()))

    def log_mass(self, noise: Floats) -> Floats:
        """`-z² / (2 sigma²)`, less the log of the sum."""
        return np.asarray(-0.5 * (noise / self.sigma) ** 2 - self._log_total)


@dataclass(frozen=True, repr=False)
class Geometric(WholeNoise):
    """The count plus a whole number z drawn with probability proportional to `exp(-|z| / scale)`.

    The two-sided geometric (discrete Laplace) mechanism of Ghosh, Roughgarden and Sundararajan (2009). The likelihood
    ratio has two values only, one up to the count of the others and one from there on, so that the whole line amounts
    to one bit that is told wrongly with probability `1 / (1 + exp(1 / scale))`.

    >>> round(Geometric(scale=1.0).total_variation(), 4)
    0.4621
    """

    scale: float

    @property
    def reach(self) -> int:
        """`exp(-reach / scale) = TAIL`."""
        return math.ceil(-math.log(TAIL) * self.scale) + 1

    def log_mass(self, noise: Floats) -> Floats:
        """`-|z| / scale + log tanh(1 / (2 scale))`."""
        return np.asarray(-np.abs(noise) / self.scale + math.log(math.tanh(0.5 / self.scale)))
