"""How often people were to be elsewhere in the published steps, by their habits."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.model.prior import MarkovPrior
from passerby.people.habits import People
from passerby.people.origins import spread

#: At most so many people, evenly spread, are looked at.
MOST = 200


class More(NamedTuple):
    """The share of person-steps that are elsewhere beyond what habits expect, and its standard error by chance."""

    share: float
    error: float


def more_elsewhere(people: People, most: int = MOST) -> More | None:
    """The share of published person-steps that are elsewhere beyond what habits expect, of some of the people.

    Of people who were chosen because they were often seen, habits expect more absence than there was before: who is
    seen less often afterwards need not have changed. None without people or published steps. The error is what habits
    say, or what is seen among people, if that is more.

    >>> from passerby import fit_people, simulate_city
    >>> people = fit_people(simulate_city(people=40, places=30, days=8), window="6h", places=8, min_active=2, holdout=4)
    >>> abs(more_elsewhere(people).share) < 0.1
    True
    """
    steps = people.actual.shape[1]
    if not len(people) or not steps:
        return None
    some = spread(len(people), most)
    found = []
    for person in some.tolist():
        prior, states = people.prior(person, [people.elsewhere])
        found.append(times_there(prior, states[prior.place_of] == people.elsewhere, steps))
    expected, variances = (np.array(found) / [steps, steps**2]).T
    more = (people.actual[some] == people.elsewhere).mean(axis=1) - expected
    seen = float(more.var(ddof=1)) if len(more) > 1 else 0.0
    return More(float(more.mean()), sqrt(max(float(variances.mean()), seen) / len(more)))


def times_there(prior: MarkovPrior, there: NDArray[np.bool_], steps: int) -> tuple[float, float]:
    """Mean and variance of the number of steps in some states.

    >>> times_there(MarkovPrior([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]]), np.array([True, False]), 4)
    (2.0, 4.0)
    """
    law, once, twice = prior.initial, prior.initial * there, prior.initial * there
    for t in range(1, steps):
        law, once, twice = (each @ prior.matrix(t - 1) for each in (law, once, twice))
        twice = twice + (2 * once + law) * there
        once = once + law * there
    first = float(once.sum())
    return first, max(0.0, float(twice.sum()) - first**2)
