"""How often people were to be elsewhere in the published steps, by their habits."""

from __future__ import annotations

import numpy as np

from passerby.people.habits import People
from passerby.people.origins import spread

#: At most so many people, evenly spread, are looked at.
MOST = 200


def more_elsewhere(people: People, most: int = MOST) -> float | None:
    """The share of published person-steps elsewhere beyond the expectation of habits, of some of the people.

    If people were chosen for being seen often, habits expect more absence later than before. Fewer sightings afterwards
    need not mean a change. None without people or published steps.

    >>> from passerby import fit_people, simulate_city
    >>> people = fit_people(simulate_city(people=40, places=30, days=8), window="6h", places=8, min_active=2, holdout=4)
    >>> abs(more_elsewhere(people)) < 0.1
    True
    """
    steps = people.actual.shape[1]
    if not len(people) or not steps:
        return None
    some = spread(len(people), most)
    expected = []
    for person in some.tolist():
        prior, states = people.prior(person, [people.elsewhere])
        away = np.flatnonzero(states == people.elsewhere)
        expected.append(float(prior.marginals(steps)[:, away].sum(axis=1).mean()))
    return float((people.actual[some] == people.elsewhere).mean()) - float(np.mean(expected))
