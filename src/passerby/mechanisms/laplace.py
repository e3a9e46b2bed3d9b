"""Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .base import Mechanism
from .laws import TAIL, Floats, log_laplace
from .noise import Noise


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

    accounted = "by its privacy loss distribution"

    def pure_epsilon(self, times: float) -> float:
        """`times / scale`."""
        return times / self.scale

    def losses(self, step: Callable[[float, float], float]) -> Any:
        """Both ends of the range are steps: most of the law is there."""
        from dp_accounting.pld import privacy_loss_distribution as pld

        largest = 1 / self.scale
        width = largest / max(1, math.floor(largest / step(largest, largest)))
        return pld.from_laplace_mechanism(self.scale, value_discretization_interval=width)

    def reader_error(self, off: float) -> float | None:
        """`off + scale exp(-off / scale)`."""
        return None if self.processed is not None else off + float(self.scale) * math.exp(-off / self.scale)

    def tells_less_than(self, fine: Mechanism) -> bool:
        """Of a larger scale, the rest is 0 with probability `b² / b'²` and Laplace of the larger scale otherwise."""
        larger = isinstance(fine, Laplace) and self.plain and fine.plain and self.scale >= fine.scale
        return larger or super().tells_less_than(fine)

    def log_density(self, noise: Floats) -> Floats:
        """`-|z| / scale - log(2 scale)`."""
        return np.asarray(-np.abs(noise) / self.scale - math.log(2 * self.scale))

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Laplace draws."""
        return rng.laplace(0.0, self.scale, size=shape)

    def half(self) -> float:
        """`1 - exp(-1 / (2 scale))`."""
        return -math.expm1(-0.5 / self.scale)
