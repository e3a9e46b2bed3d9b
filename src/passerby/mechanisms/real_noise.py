"""Noise from a continuum: Gaussian and Laplace, each optionally rounded to whole numbers and clamped at zero."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .additive import Additive
from .base import Mechanism
from .bins import ALONE, crossing, cut
from .domain import Domain
from .fixed import AtLeast, Fixed, Nearest
from .law import TAIL, Floats, Law
from .log_chance import log_laplace, log_normal
from .post_processing import PostProcessing
from .quadrature import panels


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
    def reach_of(self, log_tail: float) -> float:
        """The distance beyond which at most `exp(log_tail)` of the noise lies on either side."""

    @abstractmethod
    def log_within(self, low: Floats, high: Floats) -> Floats:
        """The log probability of noise between two values."""

    @abstractmethod
    def log_density(self, noise: Floats) -> Floats:
        """The log density of the noise."""

    @abstractmethod
    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Fresh noise."""

    def gives(self, taken: Domain) -> Domain:
        """Whole numbers where rounded, nothing below zero where clamped."""
        return Domain(whole=self.rounded, negative=not self.clamped)

    @cached_property
    def _plain(self) -> Noise:
        return replace(self, clamped=False, rounded=False)

    @cached_property
    def processed(self) -> PostProcessing | None:
        """Plain noise with rounding and clamping, where there is any."""
        steps = (*([Nearest()] if self.rounded else []), *([AtLeast(0)] if self.clamped else []))
        return PostProcessing(self._plain, steps) if steps else None

    @property
    def endless(self) -> bool:
        """Always."""
        return True

    def unfolded(self) -> Mechanism:
        """Plain noise and what follows it."""
        return self.processed or self

    def noise(self) -> Mechanism:
        """The noise before rounding and clamping."""
        return self._plain if self.processed else self

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The count plus a fresh draw, rounded and clamped where asked."""
        if self.processed:
            return self.processed.sample(count, rng)
        count = np.asarray(count, dtype=np.float64)
        return np.asarray(count + self.draw(count.shape, rng))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log density of the noise at "output minus count"; log probabilities where rounded or clamped."""
        if self.processed:
            return self.processed.log_likelihood(output, count)
        return self.log_density(np.asarray(output, dtype=np.float64) - np.asarray(count, dtype=np.float64))

    def outputs(self, count: int) -> Floats | None:
        """None, unless rounded."""
        return self.processed.outputs(count) if self.processed else None

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """By the law of plain noise."""
        low, high, count = (np.asarray(part, dtype=np.float64) for part in (low, high, count))
        return self.log_within(low - count, high - count)

    def listing(self, count: float, log_tail: float) -> Law:
        """Where rounded."""
        return self.processed.listing(count, log_tail) if self.processed else super().listing(count, log_tail)

    def complete(self, count: float, log_tail: float) -> bool:
        """Never: noise has no end."""
        return False

    def extent(self, count: float, log_tail: float) -> tuple[float, float]:
        """The reach of the noise around the count."""
        reach = max(self.reach, self.reach_of(log_tail)) + 1
        return count - reach, count + reach

    def around(self, centres: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Panels for densities with kinks at the centres, as a mixture of counts has."""
        if self.processed:
            return self.processed.around(centres, cuts)
        return panels(centres, self.reach, self.width, cuts)

    def crossing(self, centres: Floats, weights: Floats) -> Floats:
        """Where the densities are equal."""
        return np.array([crossing(self._plain, centres, weights)])

    def bins(self, centres: Floats, weights: Floats, steps: Sequence[Fixed] = ()) -> tuple[Floats, Floats] | None:
        """Bins of the line."""
        return self.processed.bins(centres, weights) if self.processed else cut(self, steps, centres, weights)

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """The values where rounded, and bins of the line otherwise."""
        return (
            self.processed.stand_ins(count) if self.processed else cut(self, (), np.array([count, count + 1.0]), ALONE)
        )

    def total_variation(self, count: int = 0) -> float:
        """`Pr[-1/2 < noise < 1/2]`: the densities cross half way between the counts."""
        return self.processed.total_variation(count) if self.processed else self.half()

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

    def reach_of(self, log_tail: float) -> float:
        """`Φ(-z) <= exp(-z² / 2)`."""
        return math.sqrt(-2 * log_tail) * self.sigma

    def log_within(self, low: Floats, high: Floats) -> Floats:
        """`log(Φ(high / sigma) - Φ(low / sigma))`."""
        return log_normal(low / self.sigma, high / self.sigma)

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
        if self.processed:
            return self.processed.information(presence, count)
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

    def reach_of(self, log_tail: float) -> float:
        """`exp(-z / scale) / 2` is the tail."""
        return -log_tail * self.scale

    def log_within(self, low: Floats, high: Floats) -> Floats:
        """From exponentials of the ends."""
        return log_laplace(low / self.scale, high / self.scale)

    def log_density(self, noise: Floats) -> Floats:
        """`-|z| / scale - log(2 scale)`."""
        return np.asarray(-np.abs(noise) / self.scale - math.log(2 * self.scale))

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Laplace draws."""
        return rng.laplace(0.0, self.scale, size=shape)

    def half(self) -> float:
        """`1 - exp(-1 / (2 scale))`."""
        return -math.expm1(-0.5 / self.scale)
