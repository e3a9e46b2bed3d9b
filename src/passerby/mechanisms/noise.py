"""Noise from a continuum: Gaussian and Laplace, each optionally rounded to whole numbers and clamped at zero."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .base import TAIL, Floats, Law, Mechanism, Record, above_zero, flag, gathered
from .quadrature import panels
from .rules import AtLeast, Nearest, Piece, Rule, pieces_of


@dataclass(frozen=True, repr=False)
class Noise(Record, Mechanism):
    """The count plus noise from a continuum.

    With `rounded`, the sum is rounded to a whole number; with `clamped`, negative values are then published as zero.
    With `persistent`, the noise of a place is drawn once and used again whenever the place is published, which is
    accepted only where that does not happen (`Mechanism.check_sensors`).
    """

    clamped: bool = field(default=False, kw_only=True)
    rounded: bool = field(default=False, kw_only=True)
    persistent: bool = field(default=False, kw_only=True)

    def _check_flags(self) -> None:
        for name in ("clamped", "rounded", "persistent"):
            flag(self, name, getattr(self, name))

    @property
    def shift_invariant(self) -> bool:
        """Unless clamped."""
        return not self.clamped

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

    def between(self, low: float, high: float) -> float:
        """The probability of noise between two values, from the smaller tail. The noise is symmetric."""
        if low > 0:
            low, high = -high, -low
        return float(self.below(np.array(high)) - self.below(np.array(low)))

    @cached_property
    def _shaped(self) -> Shaped | None:
        """The rounding and clamping, where there is any."""
        rules = (*([Nearest()] if self.rounded else []), *([AtLeast(0)] if self.clamped else []))
        return Shaped(replace(self, clamped=False, rounded=False), rules) if rules else None

    def noise(self) -> Mechanism:
        """The noise before rounding and clamping."""
        return self._shaped.first if self._shaped else self

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

    def total_variation(self, count: int = 0) -> float:
        """`Pr[noise < 1/2] - Pr[noise < -1/2]`: the densities cross half way between the counts."""
        if self._shaped:
            return self._shaped.total_variation(count)
        return self.between(-0.5, 0.5)


@dataclass(frozen=True, repr=False)
class Gaussian(Noise):
    """The count plus independent normal noise of standard deviation `sigma` (the Gaussian mechanism).

    Total variation `2 Φ(1 / (2 sigma)) - 1`, attained by the threshold half way between the two means.

    >>> round(Gaussian(sigma=1.0).total_variation(), 4)
    0.3829
    """

    sigma: float

    def __post_init__(self) -> None:
        above_zero(self, "sigma", self.sigma)
        self._check_flags()

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

    def between(self, low: float, high: float) -> float:
        """By the error function where the interval is symmetric."""
        return math.erf(high / (math.sqrt(2) * self.sigma)) if low == -high else super().between(low, high)

    def ratio_spread(self, count: int) -> tuple[float, float, float] | None:
        """The log ratio at the value y is `(y - count - 1/2) / sigma²`."""
        return None if self._shaped else (-math.inf, 1 / self.sigma, math.inf)

    def ratio_tails(self, log_ratio: Floats, count: int) -> tuple[Floats, Floats]:
        """The ratio grows with the value, so its tails are tails of the noise."""
        above = 0.5 + self.sigma**2 * log_ratio
        return self.below(-above), self.below(1 - above)

    def information(self, presence: float, count: int = 0) -> float:
        """`(1-p) E[-log(1-p + p L)] + p E[-log(p + (1-p)/L)]` under each law, L the likelihood ratio.

        By the trapezoid rule over the noise, whose error on such smooth and fast decaying functions is negligible.
        """
        if self._shaped:
            return self._shaped.information(presence, count)
        if not 0 < presence < 1:
            return 0.0
        z = np.arange(-12, 12, 1 / 64)
        weight = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / 64
        half = 1 / (2 * self.sigma**2)
        log_absent, log_present = math.log1p(-presence), math.log(presence)
        absent = -np.logaddexp(log_absent, log_present + z / self.sigma - half)
        present = -np.logaddexp(log_present, log_absent - z / self.sigma - half)
        return max(0.0, float(weight @ ((1 - presence) * absent + presence * present)))


@dataclass(frozen=True, repr=False)
class Laplace(Noise):
    """The count plus independent Laplace noise, of density `exp(-|z| / scale) / (2 scale)`.

    Total variation `1 - exp(-1 / (2 scale))`. Below both counts and above both, the likelihood ratio is constant.

    >>> round(Laplace(scale=1.0).total_variation(), 4)
    0.3935
    """

    scale: float

    def __post_init__(self) -> None:
        above_zero(self, "scale", self.scale)
        self._check_flags()

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

    def ratio_spread(self, count: int) -> tuple[float, float, float] | None:
        """The log ratio goes from `-1/scale` to `1/scale` between the two counts, and stays there outside."""
        return None if self._shaped else (-1 / self.scale, 0.5 / self.scale, 1 / self.scale)

    def ratio_tails(self, log_ratio: Floats, count: int) -> tuple[Floats, Floats]:
        """Strictly between the two counts, the ratio at the value y is `(2 (y - count) - 1) / scale`."""
        above = (log_ratio * self.scale + 1) / 2
        return self.below(-above), self.below(1 - above)

    def between(self, low: float, high: float) -> float:
        """In closed form where the interval is symmetric."""
        return -math.expm1(-high / self.scale) if low == -high else super().between(low, high)


class Shaped(Mechanism):
    """Noise from a continuum, followed by fixed rules: some values get a probability of their own."""

    def __init__(self, first: Noise, rules: tuple[Rule, ...]) -> None:
        self.first, self.rules = first, rules
        self._laws: dict[float, tuple[Law, list[Piece]]] = {}

    def __repr__(self) -> str:
        return f"Shaped({self.first!r}, {self.rules!r})"

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Noise, then the rules."""
        out = self.first.sample(count, rng)
        for rule in self.rules:
            out = rule.sample(out, rng)
        return out

    def _parts(self, count: float) -> tuple[Law, list[Piece]]:
        """Values with a probability of their own, and the pieces of the line that are published as they are."""
        if count not in self._laws:
            reach = self.first.reach + 1
            pieces = pieces_of(self.rules, count - reach, count + reach)
            atoms = [piece for piece in pieces if piece.value is not None]
            values = np.array([piece.value for piece in atoms], dtype=np.float64)
            chances = np.array([self.first.between(piece.low - count, piece.high - count) for piece in atoms])
            self._laws[count] = gathered(values, chances), [piece for piece in pieces if piece.value is None]
        return self._laws[count]

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Log probability of values that have one, log density of the rest."""
        outputs, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        out = np.full(outputs.shape, -np.inf)
        for n in np.unique(counts[~np.isnan(counts)]):
            (values, chances), left = self._parts(float(n))
            here = counts == n
            wanted = outputs[here]
            found = np.full(wanted.shape, -np.inf)
            for piece in left:
                inside = (wanted > piece.low) & (wanted < piece.high)
                found[inside] = self.first.log_density(wanted[inside] - n)
            if len(values):
                index = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
                atom = (values[index] == wanted) | (np.isnan(values[index]) & np.isnan(wanted))
                found[atom] = np.log(chances[index[atom]])
            out[here] = found
        return out

    def outputs(self, count: int) -> Floats | None:
        """The values, where all of them have a probability of their own."""
        if self._parts(count)[1] or self._parts(count + 1)[1]:
            return None
        return self._atoms(count)

    def _atoms(self, count: int) -> Floats:
        return np.unique(np.concatenate([self._parts(count)[0][0], self._parts(count + 1)[0][0]]))

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """Values with a probability of their own, and panels over the rest."""
        return self.around(np.array([count, count + 0.5, count + 1]))

    def around(self, centres: Floats) -> tuple[Floats, Floats]:
        """The same for densities with kinks at the centres, as a mixture of counts has."""
        parts = [self._parts(float(centre)) for centre in centres]
        atoms = np.unique(np.concatenate([law[0] for law, _ in parts]))
        left = [piece for _, pieces in parts for piece in pieces]
        nodes, weights = panels(centres, self.first.reach, self.first.width, {e for p in left for e in p[:2]})
        inside = np.zeros(len(nodes), dtype=bool)
        for low, high in {piece[:2] for piece in left}:
            inside |= (nodes > low) & (nodes < high)
        return np.append(nodes[inside], atoms), np.append(weights[inside], np.ones(len(atoms)))
