"""Noise from a continuum, optionally rounded to whole numbers and clamped at zero: what its laws have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .additive import Additive
from .base import Mechanism
from .bins import ALONE, crossing, cut
from .domain import Domain
from .fixed import AtLeast, Fixed, Nearest
from .law import Floats, Law
from .post_processing import PostProcessing
from .quadrature import panels

#: Numbers that are held at a time.
CHUNK = 2_000_000


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

    def times(self, weight: float) -> Noise:
        """Noise that is larger by a weight."""
        return replace(self, **{f.name: getattr(self, f.name) * weight for f in fields(self) if not f.kw_only})

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

    def mixed(self, origin: float, centres: Floats, weights: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Plain noise is the same around any count."""
        if self.processed:
            return self.processed.mixed(origin, centres, weights, cuts)
        nodes, lengths = panels(centres, self.reach, self.width, cuts)
        out = np.empty((len(nodes), len(weights)))
        size = max(1, CHUNK // len(centres))
        for start in range(0, len(nodes), size):
            part = slice(start, start + size)
            out[part] = np.exp(self.log_density(nodes[part, None] - centres)) @ weights.T
        return nodes, lengths[:, None] * out

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
