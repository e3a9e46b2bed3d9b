"""Gaussian noise, and its evidence about a person, by the trapezoid rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .base import Mechanism
from .laws import Floats, log_normal
from .noise import Noise


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

    accounted = "in closed form"

    @property
    def deviation(self) -> float:
        """σ."""
        return float(self.sigma)

    def reader_error(self, off: float) -> float | None:
        """The mean of a folded normal law (Leone, Nelson and Nottingham 1961)."""
        if self.processed is not None:
            return None
        sigma = float(self.sigma)
        density = math.exp(-(off**2) / (2 * sigma**2))
        return sigma * math.sqrt(2 / math.pi) * density + off * math.erf(off / (sigma * math.sqrt(2)))

    def tells_less_than(self, fine: Mechanism) -> bool:
        """Noise of a larger scale is noise of the smaller one and independent noise."""
        larger = isinstance(fine, Gaussian) and self.plain and fine.plain and self.sigma >= fine.sigma
        return larger or super().tells_less_than(fine)

    def log_density(self, noise: Floats) -> Floats:
        """Of a normal law."""
        z = noise / self.sigma
        return np.asarray(-0.5 * z * z - math.log(self.sigma * math.sqrt(2 * math.pi)))

    def log_ratio(self, output: ArrayLike, count: int) -> Floats:
        """Of plain noise, linear in the output."""
        if self.processed:
            return super().log_ratio(output, count)
        found = np.asarray(output, dtype=np.float64) - (count + 0.5)
        found /= self.sigma**2
        return np.asarray(found)

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Normal draws."""
        return rng.normal(0.0, self.sigma, size=shape)

    def half(self) -> float:
        """By the error function."""
        return math.erf(0.5 / (math.sqrt(2) * self.sigma))

    def information(self, presence: float, count: int = 0) -> float:
        """`-(1-p) E[log(1-p + p L)] - p E[log(p + (1-p)/L)]` under each law, L the likelihood ratio.

        By the trapezoid rule over the noise. Counting up or down is the same to Gaussian noise. So the rarer of "there"
        and "away" can be taken for p. The small p is then not lost beside one.
        """
        return float(self.informations(np.array([presence]), count)[0])

    def informations(self, presence: Floats, count: int = 0) -> Floats:
        """The same for several probabilities (n,)."""
        if self.processed:
            return self.processed.informations(presence, count)
        ratio_less_one, log_inverse, weight = _points(self.sigma)
        rare = np.minimum(presence, 1 - presence)[:, None]
        p = np.where(rare > 0, rare, 0.5)
        absent = np.log1p(p * ratio_less_one)
        present = np.logaddexp(np.log(p), np.log1p(-p) + log_inverse)
        told = -(((1 - p) * absent + p * present) @ weight)
        return np.where(rare[:, 0] > 0, np.maximum(told, 0.0), 0.0)


@lru_cache(maxsize=64)
def _points(sigma: float) -> tuple[Floats, Floats, Floats]:
    """At standard normal noise z: `L - 1` if nobody is there, `-log L` if somebody is, and the weights of z.

    The integrand is analytic up to a distance of πσ from the real line. So with steps of h the error is of the order
    `exp(-2π² σ / h)`, beyond double precision for h = σ / 2. L is at most e^72 for noise up to 12.
    """
    step = min(0.25, max(sigma / 2, 1 / 64))
    z, half = np.arange(-12, 12, step), 1 / (2 * sigma**2)
    weight = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) * step
    return np.expm1(z / sigma - half), -z / sigma - half, weight
