"""Some of the people, drawn at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from passerby.people.habits import People


def some_people(people: People, count: int, seed: int = 0) -> NDArray[np.int64]:
    """The numbers of `count` people drawn at random without replacement, in order; all if there are fewer."""
    return some_numbers(len(people), count, seed)


def some_numbers(people: int, count: int, seed: int = 0) -> NDArray[np.int64]:
    """The same of so many people."""
    if count >= people:
        return np.arange(people)
    return np.sort(np.random.default_rng(seed).choice(people, count, replace=False))


def only(people: People, chosen: NDArray[np.int64]) -> People:
    """The chosen people alone, with the background of everybody.

    >>> from passerby.visits import simulate_city
    >>> from passerby.people.fit import fit_people
    >>> people = fit_people(simulate_city(people=30, places=20, days=3), window="2h", places=10, min_active=1)
    >>> len(only(people, some_people(people, 5)))
    5
    """
    return replace(
        people,
        fitted=people.fitted[chosen],
        actual=people.actual[chosen],
        ids=people.ids.gather(chosen.tolist()),
        weights=None if people.weights is None else people.weights[chosen],
    )
