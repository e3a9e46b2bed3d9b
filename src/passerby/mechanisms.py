"""What is done to a count before it is published.

A mechanism is the law of the published value given the true count. Everything downstream (attacks, posterior
chains, bounds, enumeration) uses only the methods of `Mechanism`, so a new rule needs nothing but those.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, UnsupportedRelease

Floats = NDArray[np.float64]


class Mechanism(ABC):
    """The law of the published value given the true count.

    Counts and outputs are arrays of any (broadcastable) shape; outputs are floats.
    """

    #: Whether the law of "published minus count" is the same at every count, so that the number of other people
    #: does not matter to an adversary who knows them.
    shift_invariant: bool = False

    @abstractmethod
    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw the published value for each count."""

    @abstractmethod
    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Log probability (or log density) of publishing `output` when the true count is `count`."""

    @abstractmethod
    def total_variation(self, count: int = 0) -> float:
        """Total variation between the laws at `count` (others alone) and `count + 1` (others and the target)."""

    def outputs(self, count: int) -> Floats | None:
        """All values that can be published at `count` or `count + 1`; None where there is a continuum."""
        return None

    def information(self, presence: float, count: int = 0) -> float:
        """Mutual information, in nats, between the target's presence (of this probability) and the published value."""
        outputs = self.outputs(count)
        if outputs is None:
            raise UnsupportedRelease(f"{self!r}: a mechanism with a continuum of outputs must say its own information")
        absent, present = np.exp(self.log_likelihood(outputs, count)), np.exp(self.log_likelihood(outputs, count + 1))
        return mixture_information(presence, absent, present)


@dataclass(frozen=True)
class Raw(Mechanism):
    """The count itself.

    >>> Raw().total_variation()
    1.0
    """

    shift_invariant = True

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The count, unchanged."""
        return np.array(count, dtype=np.float64)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """0 where the output is the count, minus infinity elsewhere."""
        return np.where(np.asarray(output) == np.asarray(count), 0.0, -np.inf)

    def total_variation(self, count: int = 0) -> float:
        """One: a raw count always tells whether the target was there."""
        return 1.0

    def outputs(self, count: int) -> Floats:
        """The two counts."""
        return np.array([count, count + 1.0])


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """The count plus independent normal noise of standard deviation `sigma` (the Gaussian mechanism).

    Total variation `2 Φ(1 / (2 sigma)) - 1`, attained by the threshold half way between the two means.

    >>> round(Gaussian(sigma=1.0).total_variation(), 4)
    0.3829
    """

    sigma: float

    shift_invariant = True

    def __post_init__(self) -> None:
        if not (isinstance(self.sigma, (int, float, np.number)) and 0 < self.sigma < math.inf):
            raise InputError(
                f"Gaussian(sigma={self.sigma!r}): sigma must be a finite number above 0; use Raw() for no noise"
            )

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The count plus a fresh normal draw."""
        count = np.asarray(count, dtype=np.float64)
        return count + rng.normal(0.0, self.sigma, size=count.shape)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Log density of a normal law centred at the count."""
        z = (np.asarray(output, dtype=np.float64) - np.asarray(count, dtype=np.float64)) / self.sigma
        return np.asarray(-0.5 * z * z - math.log(self.sigma * math.sqrt(2 * math.pi)))

    def total_variation(self, count: int = 0) -> float:
        """`2 Φ(1 / (2 sigma)) - 1 = erf(1 / (2 sqrt(2) sigma))`, whatever the count."""
        return math.erf(1 / (2 * math.sqrt(2) * self.sigma))

    def information(self, presence: float, count: int = 0) -> float:
        """`(1-p) E[-log(1-p + p L)] + p E[-log(p + (1-p)/L)]` under each law, L the likelihood ratio.

        By the trapezoid rule over the noise, whose error on such smooth and fast decaying functions is negligible.
        """
        if not 0 < presence < 1:
            return 0.0
        z = np.arange(-12, 12, 1 / 64)
        weight = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / 64
        half = 1 / (2 * self.sigma**2)
        log_absent, log_present = math.log1p(-presence), math.log(presence)
        absent = -np.logaddexp(log_absent, log_present + z / self.sigma - half)
        present = -np.logaddexp(log_present, log_absent - z / self.sigma - half)
        return max(0.0, float(weight @ ((1 - presence) * absent + presence * present)))


def mixture_information(presence: float, absent: Floats, present: Floats) -> float:
    """`I(B; Y)` in nats for a bit B that is 1 with probability `presence`, and laws of Y given B = 0 and B = 1."""
    mixed = (1 - presence) * absent + presence * present
    total = 0.0
    for share, law in ((1 - presence, absent), (presence, present)):
        there = share * law > 0
        total += share * float(law[there] @ np.log(law[there] / mixed[there]))
    return max(0.0, total)
