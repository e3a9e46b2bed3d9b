"""Noise from a continuum: Gaussian and Laplace, each optionally rounded to whole numbers and clamped at zero."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .additive import Additive
from .base import TAIL, Floats, Mechanism
from .quadrature import panels
from .rules import AtLeast, Nearest, Rule
from .shaped import ALONE, Shaped, cut


@dataclass(frozen=True, repr=False)
class Noise(Additive):
    """The count plus noise from a continuum, symmetric and of a log-concave density.

    With `rounded`, the sum is rounded to a whole number before it is clamped.
    """

    rounded: bool = field(default=False, kw_only=True)

    @property
    def whole(self) -> bool:
        """Where rounded."""
        return self.rounded

    @property
    @abstractmethod
    def width(self) -> float:
        """The scale of the noise."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """The distance beyond which less than `TAIL` of the noise lies on either side."""

    @abstractmethod
    def below(self, noise: Floats) -> Floats:
        """The probability of noise below each value."""

    @abstractmethod
    def log_density(self, noise: Floats) -> Floats:
        """The log density of the noise."""

    @abstractmethod
    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Fresh noise."""

    def between(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """The probability of noise between two values, from the smaller tail. The noise is symmetric."""
        low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        right = low > 0
        return np.asarray(self.below(np.where(right, -low, high)) - self.below(np.where(right, -high, low)))

    @cached_property
    def _shaped(self) -> Shaped | None:
        """The rounding and clamping, where there is any."""
        rules = (*([Nearest()] if self.rounded else []), *([AtLeast(0)] if self.clamped else []))
        return Shaped(replace(self, clamped=False, rounded=False), rules) if rules else None

    @property
    def parts(self) -> tuple[Noise, tuple[Rule, ...]]:
        """Plain noise, and the rules that follow it."""
        return self._shaped.parts if self._shaped else (self, ())

    def noise(self) -> Mechanism:
        """The noise before rounding and clamping."""
        return self.parts[0]

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The count plus a fresh draw, rounded and clamped where asked."""
        if self._shaped:
            return self._shaped.sample(count, rng)
        count = np.asarray(count, dtype=np.float64)
        return np.asarray(count + self.draw(count.shape, rng))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log density of the noise at "output minus count"; log probabilities where rounded or clamped."""
        if self._shaped:
            return self._shaped.log_likelihood(output, count)
        return self.log_density(np.asarray(output, dtype=np.float64) - np.asarray(count, dtype=np.float64))

    def outputs(self, count: int) -> Floats | None:
        """None, unless rounded."""
        return self._shaped.outputs(count) if self._shaped else None

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """Panels of the width of the noise around both counts."""
        return self.around(np.array([count, count + 0.5, count + 1]))

    def around(self, centres: Floats) -> tuple[Floats, Floats]:
        """Panels for densities with kinks at the centres, as a mixture of counts has."""
        return self._shaped.around(centres) if self._shaped else panels(centres, self.reach, self.width)

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """Bins of the line."""
        return (
            self._shaped.stand_ins(count) if self._shaped else cut(*self.parts, np.array([count, count + 1.0]), ALONE)
        )

    def total_variation(self, count: int = 0) -> float:
        """`Pr[-1/2 < noise < 1/2]`: the densities cross half way between the counts."""
        return self._shaped.total_variation(count) if self._shaped else self.half()

    @abstractmethod
    def half(self) -> float:
        """The probability of noise from -1/2 to 1/2."""


@dataclass(frozen=True, repr=False)
class Gaussian(Noise):
    """The count plus independent normal noise of standard deviation `sigma` (the Gaussian mechanism).

    Total variation `2 Φ(1 / (2 sigma)) - 1`, attained by the threshold half way between the two means.

    >>> round(Gaussian(sigma=1.0).total_variation(), 4)
    0.3829
    """

    sigma: float

    @property
    def width(self) -> float:
        """The standard deviation."""
        return float(self.sigma)

    @property
    def reach(self) -> float:
        """`Φ(-8.8) < 1e-18`."""
        return 8.8 * self.sigma

    def below(self, noise: Floats) -> Floats:
        """`Φ(noise / sigma)`."""
        from scipy.special import ndtr

        return np.asarray(ndtr(noise / self.sigma))

    def log_density(self, noise: Floats) -> Floats:
        """Of a normal law."""
        z = noise / self.sigma
        return np.asarray(-0.5 * z * z - math.log(self.sigma * math.sqrt(2 * math.pi)))

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Normal draws."""
        return rng.normal(0.0, self.sigma, size=shape)

    def half(self) -> float:
        """By the error function."""
        return math.erf(0.5 / (math.sqrt(2) * self.sigma))

    def information(self, presence: float, count: int = 0) -> float:
        """`(1-p) E[-log(1-p + p L)] + p E[-log(p + (1-p)/L)]` under each law, L the likelihood ratio.

        By the trapezoid rule over the noise.
        """
        if self._shaped:
            return self._shaped.information(presence, count)
        if not 0 < presence < 1:
            return 0.0
        z, weight = _points(self.sigma)
        half = 1 / (2 * self.sigma**2)
        log_absent, log_present = math.log1p(-presence), math.log(presence)
        absent = -np.logaddexp(log_absent, log_present + z / self.sigma - half)
        present = -np.logaddexp(log_present, log_absent - z / self.sigma - half)
        return max(0.0, float(weight @ ((1 - presence) * absent + presence * present)))


@lru_cache(maxsize=64)
def _points(sigma: float) -> tuple[Floats, Floats]:
    """Standard normal noise and its weights for the trapezoid rule.

    What is integrated is analytic up to a distance of πσ from the real line, so with steps of h the error is of the
    order `exp(-2π² σ / h)`, beyond double precision for h = σ / 2.
    """
    step = min(0.25, max(sigma / 2, 1 / 64))
    z = np.arange(-12, 12, step)
    return z, np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) * step


@dataclass(frozen=True, repr=False)
class Laplace(Noise):
    """The count plus independent Laplace noise, of density `exp(-|z| / scale) / (2 scale)`.

    Total variation `1 - exp(-1 / (2 scale))`. Below both counts and above both, the likelihood ratio is constant.

    >>> round(Laplace(scale=1.0).total_variation(), 4)
    0.3935
    """

    scale: float

    @property
    def width(self) -> float:
        """The scale."""
        return float(self.scale)

    @property
    def reach(self) -> float:
        """`exp(-reach / scale) / 2 = TAIL`."""
        return -math.log(2 * TAIL) * self.scale

    def below(self, noise: Floats) -> Floats:
        """`exp(z / scale) / 2` below zero, `1 - exp(-z / scale) / 2` above."""
        tail = 0.5 * np.exp(-np.abs(noise) / self.scale)
        return np.where(noise < 0, tail, 1 - tail)

    def log_density(self, noise: Floats) -> Floats:
        """`-|z| / scale - log(2 scale)`."""
        return np.asarray(-np.abs(noise) / self.scale - math.log(2 * self.scale))

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Laplace draws."""
        return rng.laplace(0.0, self.scale, size=shape)

    def half(self) -> float:
        """`1 - exp(-1 / (2 scale))`."""
        return -math.expm1(-0.5 / self.scale)
