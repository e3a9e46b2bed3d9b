"""Counts that are scaled up: those of a sample, each person of which stands for several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease
from passerby.support.checks import is_number

from .checks import MOST_COUNTED, MOST_NOISE
from .domain import Domain
from .fixed import Fixed
from .law import Floats, Law
from .line import Pieces, Spans


@dataclass(frozen=True, repr=False)
class Scaled(Fixed):
    """Each person counts for `weight`: the count times the weight.

    A threshold that comes afterwards is one for fewer people. With a weight of 5 and everything below 5 left empty, a
    single person is shown:

    >>> from passerby.mechanisms import Suppression, Then
    >>> shown = Then(Scaled(5), Suppression(5))
    >>> shown.sample([0, 1, 2], np.random.default_rng()).tolist(), shown.total_variation(0)
    ([nan, 5.0, 10.0], 1.0)
    """

    weight: float

    def __post_init__(self) -> None:
        weight = self.weight
        if not is_number(weight) or not 0 < weight < math.inf:
            raise InputError(f"Scaled(weight={weight!r}): weight must be a finite number above 0")
        if not 1 / MOST_NOISE <= weight <= MOST_NOISE:
            raise InputError(
                f"Scaled(weight={weight!r}): weight must lie between {1 / MOST_NOISE:g} and {MOST_NOISE:,}"
            )

    @cached_property
    def _ratio(self) -> tuple[float, float]:
        """The weight as it is written, 4.7 as 47 to 10: three times 4.7 is then the number that 14.1 is read as."""
        exact = Fraction(str(self.weight))
        return float(exact.numerator), float(exact.denominator)

    def law(self, count: float) -> Law:
        """One value, unless the count is too large to be scaled."""
        self._check(count)
        return super().law(count)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The same."""
        self._check(float(np.max(count, initial=0.0)))
        return super().sample(count, rng)

    def _check(self, count: float) -> None:
        if count * self.weight > MOST_COUNTED:
            raise InputError(
                f"{self!r}: a count of {count:,.0f} is scaled to {count * self.weight:,.0f}, of which not all digits "
                f"can be told; at most {MOST_COUNTED:,} is possible"
            )

    def apply(self, values: Floats) -> Floats:
        """The values times the weight."""
        up, down = self._ratio
        return np.asarray(values * up / down)

    def pieces(self, low: float, high: float) -> Pieces:
        """There are none: every number of a continuum is published as another."""
        raise UnsupportedRelease(
            f"{self!r}: to scale what was done to noise from a continuum is not modelled; scale first, and do the rest "
            "afterwards, with noise and thresholds that are larger by the weight"
        )

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """The values divided by the weight, from the first number on that is scaled to `low` or more."""
        return [(self._first(low), self._first(high))]

    def _first(self, end: Floats) -> Floats:
        up, down = self._ratio
        out = np.asarray(end, np.float64) * down / up
        for _ in range(2):
            below = np.nextafter(out, -np.inf)
            out = np.where(np.isfinite(out) & (self.apply(below) >= end), below, out)
            out = np.where(np.isfinite(out) & (self.apply(out) < end), np.nextafter(out, np.inf), out)
        return out

    def gives(self, taken: Domain) -> Domain:
        """Whole numbers only if the weight is one."""
        return Domain(whole=taken.whole and self._ratio[1] == 1, negative=taken.negative)
