"""Laws of numbers of people: sums of independent yes-or-no draws, and their effect on a count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from passerby.mechanisms.fixed import Discrete
from passerby.mechanisms.laws import COUNTS, Domain, Law, Sum, added, trimmed

Floats = NDArray[np.float64]


class Headcount(Discrete):
    """Unknown people are counted as well: adds 0, 1, 2, ... to a count with these `chances`.

    Two with the same chances are equal, so results for one serve the other.

    >>> Headcount(np.array([0.25, 0.5, 0.25])).law(7)
    (array([7., 8., 9.]), array([0.25, 0.5 , 0.25]))
    """

    def __init__(self, chances: Floats) -> None:
        self.chances = chances
        self._key = chances.tobytes()
        self._hash = hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headcount) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Headcount(up to {len(self.chances) - 1})"

    @property
    def shift_invariant(self) -> bool:
        """The addition does not depend on the count."""
        return True

    @property
    def adds(self) -> Floats:
        """These chances."""
        return self.chances

    def gives(self, taken: Domain) -> Domain:
        """Counts."""
        return COUNTS

    def law(self, count: float) -> Law:
        """The count and the added people."""
        return trimmed(count + np.arange(float(len(self.chances))), self.chances)


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


def add_person(law: Floats, chance: Floats) -> None:
    """Add one person, there with these chances (n, S), to laws of numbers (n, S, numbers), in place.

    Laws that the person does not change are not looked at: of most counts it is told that they are not there.
    """
    open_ = chance > 0
    some, p = law[open_], chance[open_][:, None]
    up = some[:, :-1] * p
    some *= 1 - p
    some[:, 1:] += up
    law[open_] = some


def without(total: Sum, chance: float) -> Sum:
    """The law of a sum of trials without one of them, of this probability: the inverse of adding it.

    Solved from below for probabilities up to one half and from above otherwise, so errors do not grow.

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
    kept = np.flatnonzero(out > 1e-15)  # anything below comes from rounding
    out = out[kept[0] : kept[-1] + 1]
    return max(0, first + int(kept[0])), out / out.sum()


def likely(law: Sum, left: float) -> tuple[int, int]:
    """The least and the largest number left after cutting off a probability of at most `left`, half at each end.

    >>> likely(poisson_binomial([0.5, 0.5, 0.5]), 0.3)
    (1, 2)
    """
    first, chances = law
    below, above = np.cumsum(chances), np.cumsum(chances[::-1])
    return first + int((below <= left / 2).sum()), first + len(chances) - 1 - int((above <= left / 2).sum())
