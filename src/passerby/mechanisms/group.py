"""A mechanism's evidence of a group moving as one: its laws without the group, and with all of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .base import Mechanism
from .composition import Then
from .fixed import Discrete
from .laws import COUNTS, Domain, Floats, Law


@dataclass(frozen=True)
class Grown(Discrete):
    """From `others` people on, each one more stands for a group of `size`.

    >>> Grown(3, size=4).law(4)[0].tolist()
    [7.0]
    """

    others: int
    size: int

    def gives(self, taken: Domain) -> Domain:
        """Counts."""
        return COUNTS

    def at(self, count: ArrayLike) -> Floats:
        """How many people they are; fewer than the others are as many as they are."""
        more = np.asarray(count, np.float64) - self.others
        return np.asarray(self.others + np.where(more > 0, self.size, 1) * more)

    def law(self, count: float) -> Law:
        """One value."""
        return np.atleast_1d(self.at(count)), np.ones(1)


@dataclass(frozen=True)
class Group(Mechanism):
    """`mechanism`, at `others` people and at `others + size`: a count of `others + 1` stands for the latter.

    Normal noise tells as much of a group of g as noise of a g-th of its deviation tells of one person.

    >>> from passerby.mechanisms import Gaussian, Suppression
    >>> Group(Gaussian(4.0), 7, size=4).total_variation(7) == Gaussian(1.0).total_variation()
    True
    >>> [Group(Suppression(10), others, size=4).total_variation(others) for others in (5, 6, 9)]
    [0.0, 1.0, 1.0]
    """

    mechanism: Mechanism
    others: int
    size: int

    @cached_property
    def _alone(self) -> Mechanism | None:
        """A mechanism telling as much of one person, at any number of others, if there is one."""
        return self.mechanism.unfolded().divided(self.size)

    @cached_property
    def _after(self) -> Mechanism:
        """The mechanism after the count has grown."""
        return Then(Grown(self.others, self.size), self.mechanism)

    @property
    def _same(self) -> Mechanism:
        """A mechanism telling the same, at `others` and one more."""
        return self._alone or self._after

    def like(self, count: int) -> int:
        """The number itself: the number of others is part of the mechanism."""
        return count

    @property
    def persistent(self) -> bool:
        """Whether the mechanism is."""
        return self.mechanism.persistent

    @property
    def hides(self) -> bool:
        """Whether the mechanism does."""
        return self.mechanism.hides

    @property
    def endless(self) -> bool:
        """Whether the mechanism is."""
        return self.mechanism.endless

    def gives(self, taken: Domain) -> Domain:
        """The values of the mechanism."""
        return self.mechanism.gives(taken)

    def pure_epsilon(self, times: float) -> float:
        """The epsilon of more draws: so many for each person of the group."""
        return self.mechanism.pure_epsilon(times * self.size)

    def _at(self, count: ArrayLike) -> Floats:
        return Grown(self.others, self.size).at(count)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw at the number of people."""
        return self.mechanism.sample(self._at(count), rng)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log-likelihood at the number of people."""
        return self.mechanism.log_likelihood(output, self._at(count))

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """The log probability at the number of people."""
        return self.mechanism.log_between(low, high, self._at(count))

    def outputs(self, count: int) -> Floats | None:
        """The outputs at the number of people without the group, and with it."""
        low = int(self._at(count))
        ends = [self.mechanism.outputs(low), self.mechanism.outputs(low + self.size - 1)]
        return None if ends[0] is None or ends[1] is None else np.unique(np.concatenate(ends))  # type: ignore[arg-type]

    def pair(self, count: int) -> Floats:
        """For listable values, the pair of the mechanism itself."""
        if self._alone is None and self.outputs(count) is not None:
            return super().pair(count)
        return self._same.pair(count)

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """For listable values, these; otherwise the nodes of the mechanism after the count has grown."""
        values = self.outputs(count)
        return self._after.quadrature(count) if values is None else (values, np.ones(len(values)))

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """The values if they can be listed, and otherwise the stand-ins of the equivalent mechanism."""
        if self._alone is None and self.outputs(count) is not None:
            return super().stand_ins(count)
        return self._same.stand_ins(count)

    def total_variation(self, count: int = 0) -> float:
        """Between the laws without the group and with it."""
        return super().total_variation(count) if self._alone is None else self._alone.total_variation()

    def information(self, presence: float, count: int = 0) -> float:
        """The information about a group present with this probability."""
        return super().information(presence, count) if self._alone is None else self._alone.information(presence)

    def informations(self, presence: Floats, count: int = 0) -> Floats:
        """The same for several probabilities (n,)."""
        return super().informations(presence, count) if self._alone is None else self._alone.informations(presence)


def grouped(mechanism: Mechanism, others: int, size: int) -> Mechanism:
    """The mechanism as it is for a group of `size` beside so many others; for one person it is itself."""
    return mechanism if size == 1 else _group(mechanism, others, size)


@lru_cache(maxsize=20_000)
def _group(mechanism: Mechanism, others: int, size: int) -> Group:
    """One object for all alike counts, looked at together."""
    return Group(mechanism, others, size)
