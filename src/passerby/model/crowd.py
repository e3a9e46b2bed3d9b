"""Other people whom the adversary knows only by their habits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.mechanisms import COUNTS, Discrete, Domain
from passerby.mechanisms.chance import Sum, added
from passerby.mechanisms.law import Law, trimmed

from .prior import MarkovPrior

Floats = NDArray[np.float64]
#: For each step, the law of the number of others at each of its sensors.
Laws = tuple[tuple[Sum, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """The number of other people at a sensor is not known; it is the sum of what each one's habits make of it.

    `priors` are the habits of the others, over the same places. Alternatively `laws` gives the probabilities of 0, 1,
    2, ... others at each sensor, in the form of the release's sensors. `Crowd()` stands, in an audit, for everyone
    else with the habits fitted to them.

    The number at a sensor and step is Poisson-binomial: each of the others is there with a probability of their own,
    independently of the rest. Numbers at different steps (and sensors) are *not* independent, since they are about the
    same people; treating them as independent is what makes values for a `Crowd` estimates (`Loss.estimates` names
    them). An adversary who knows the others knows more, so bounds for that adversary hold here too.

    >>> Crowd([MarkovPrior([0.5, 0.5], [[1, 0], [0, 1]])] * 2)
    Crowd(2 people)
    """

    priors: tuple[MarkovPrior, ...] | None = None
    given: Laws | None = None

    def __init__(
        self, priors: Iterable[MarkovPrior] | None = None, *, laws: Sequence[Sequence[Any]] | None = None
    ) -> None:
        people = None if priors is None else tuple(priors)
        for i, prior in enumerate(people or ()):
            if not isinstance(prior, MarkovPrior):
                raise InputError(f"Crowd: priors[{i}] = {prior!r}: expected a MarkovPrior")
        if people is not None and laws is not None:
            raise InputError("Crowd: give the priors of the others or the laws of their numbers, not both")
        object.__setattr__(self, "priors", people)
        object.__setattr__(self, "given", None if laws is None else _checked(laws))

    def __repr__(self) -> str:
        if self.priors is not None:
            return f"Crowd({len(self.priors)} people)"
        return "Crowd()" if self.given is None else "Crowd(laws=...)"

    @property
    def open(self) -> bool:
        """Whether it is still to be said who the others are."""
        return self.priors is None and self.given is None

    def laws(self, sensors: Sequence[Sequence[int]]) -> Laws:
        """The law of the number of others at each sensor of each step."""
        if self.given is not None:
            if [len(step) for step in self.given] != [len(step) for step in sensors]:
                raise InputError("Crowd: laws must hold one law for each sensor of each step, in the form of sensors")
            return self.given
        there = [presence(prior, sensors) for prior in self.priors or ()]
        return tuple(
            tuple(poisson_binomial([person[t][j] for person in there]) for j in range(len(step)))
            for t, step in enumerate(sensors)
        )


def likely(law: Sum, left: float) -> tuple[int, int]:
    """The least and the largest number that are left when a probability of at most `left` is cut off, half at each end.

    >>> likely(poisson_binomial([0.5, 0.5, 0.5]), 0.3)
    (1, 2)
    """
    first, chances = law
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])
    return first + int((below <= left / 2).sum()), first + len(chances) - 1 - int((above <= left / 2).sum())


def presence(prior: MarkovPrior, sensors: Sequence[Sequence[int]]) -> list[Floats]:
    """For each step, the probabilities of being at each of its sensors."""
    most = max((place for step in sensors for place in step), default=0)
    if most >= prior.places:
        raise InputError(f"Crowd: a sensor is at place {most}, but one of the priors has {prior.places} places")
    marginals = prior.marginals(len(sensors))
    return [marginals[t][list(step)] for t, step in enumerate(sensors)]


def poisson_binomial(chances: Sequence[float] | Floats) -> Sum:
    """The law of the number of successes of independent trials: (least number, probabilities), tails cut.

    >>> poisson_binomial([0.5, 0.5])
    (0, array([0.25, 0.5 , 0.25]))
    """
    if len(chances) == 0:
        return 0, np.ones(1)
    if len(chances) == 1:
        return added((0, np.array([1 - chances[0], chances[0]])), (0, np.ones(1)))
    half = len(chances) // 2
    return added(poisson_binomial(chances[:half]), poisson_binomial(chances[half:]))


def without(total: Sum, chance: float) -> Sum:
    """The law of a sum of trials without one of them, of this probability: the inverse of adding it.

    Solved from below for probabilities up to one half and from above otherwise, so that errors do not grow.

    >>> first, law = without(poisson_binomial([0.2, 0.9]), 0.9)
    >>> first, law.round(6)
    (0, array([0.8, 0.2]))
    """
    first, law = total
    if chance == 0:
        return total
    if chance == 1:
        return first - 1, law
    up = chance <= 0.5
    stay, move = (1 - chance, chance) if up else (chance, 1 - chance)
    source = law if up else law[::-1]
    out = np.empty(len(law))
    before = 0.0
    for k, value in enumerate(source):
        before = out[k] = max(0.0, (value - move * before) / stay)
    out = out if up else out[::-1]
    first = first if up else first - 1
    kept = np.flatnonzero(out > 1e-15)  # what is below comes from rounding
    out = out[kept[0] : kept[-1] + 1]
    return max(0, first + int(kept[0])), out / out.sum()


class Headcount(Discrete):
    """An unknown number of others, and the target or not: the law of the true count.

    Sensors are numbered through; the "count" `2 i + b` stands for the others at sensor i together with b of the target.
    """

    def __init__(self, laws: Laws) -> None:
        self.cells = [law for step in laws for law in step]

    def __repr__(self) -> str:
        return "Headcount()"

    def gives(self, taken: Domain) -> Domain:
        """Counts."""
        return COUNTS

    def law(self, count: float) -> Law:
        """The number of others, and one more if the target is there."""
        cell, bit = divmod(int(count), 2)
        first, chances = self.cells[cell] if cell < len(self.cells) else (0, np.ones(1))
        return trimmed(bit + first + np.arange(float(len(chances))), chances)


def _checked(laws: Sequence[Sequence[Any]]) -> Laws:
    out = []
    for t, step in enumerate(laws):
        if len(step) and np.ndim(step[0]) == 0:
            step = [step]  # one sensor
        for law in step:
            values = np.asarray(law, dtype=np.float64)
            if values.ndim != 1 or not np.all(values >= 0) or not abs(values.sum() - 1) < 1e-6:
                raise InputError(f"Crowd: laws[{t}]: expected probabilities of 0, 1, 2, ... others that sum to one")
        out.append(tuple((0, np.asarray(law, dtype=np.float64)) for law in step))
    return tuple(out)
