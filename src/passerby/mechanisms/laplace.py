"""Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .law import TAIL, Floats
from .log_chance import log_laplace
from .real_noise import Noise


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
