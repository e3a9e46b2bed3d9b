"""Small towns whose losses are found exactly, and exhaustive search over what can be published of them."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

import passerby as pb
from passerby.plans.cost import Truth, cost_of
from passerby.plans.lever import Item, without
from passerby.plans.limit import counted, joint
from passerby.plans.survey import COLUMNS

#: Ends that meet: the losses of small chains are found exactly.
EXACT = {"tolerance": 0.0, "budget": 1e9, "workers": 1}
#: The same for plans whose limits are those on people alone.
PLAIN = {**EXACT, "presence_at_most": 1.0}


def town(seed: int, people: int = 14, steps: int = 3, places: int = 6) -> pb.People:
    city = pb.simulate_city(people, 12, 4, seed=seed)
    return pb.fit_people(city, window="6h", places=places, min_active=1, holdout=steps, habits="paper")


def wanted(people: pb.People, sensors: int = 3) -> pb.Release:
    return pb.Release(pb.most_visited_sensors(people, sensors))


def verdict(people: pb.People, release: pb.Release, limits: list[pb.Limit], misses: int = 0) -> str:
    """Whether a release keeps limits, from an audit of everyone."""
    if not any(release.sensors):
        return "sure"
    table = pb.audit(people, release, misses, **EXACT)  # type: ignore[arg-type]
    lower, upper, *known = (table[name].to_numpy() for name in COLUMNS)
    return joint([counted(limit, lower, upper, (known[0], known[1])) for limit in limits])


def subsets(release: pb.Release, items: list[Item]) -> Iterator[pb.Release]:
    """The release without each set of items, but for all of them."""
    for size in range(len(items)):
        for gone in combinations(items, size):
            yield without(release, frozenset().union(*(item.cells for item in gone)))


def total(people: pb.People, release: pb.Release, all_of: pb.Release) -> float:
    return cost_of(release, all_of, Truth.about(people).as_told(all_of)).total


def limit_between(people: pb.People, release: pb.Release, share: float, misses: int = 0) -> pb.Limit:
    """A limit that what is wanted breaks and nothing keeps: a third of what is added for the person at the share."""
    table = pb.audit(people, release, misses, **EXACT)  # type: ignore[arg-type]
    gains = np.sort((table["lower"] - table["baseline_upper"]).to_numpy())
    return pb.Limit(share=share, added=max(1e-4, float(gains[int((1 - share) * (len(gains) - 1))]) / 3))
