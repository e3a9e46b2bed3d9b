"""Earlier origins that resemble the one in question, and the people who were known by then."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: The most origins, and at each of them the most steps of all people that are predicted, the most steps that these are
#: told by, and the most steps of everybody that b and Q are learnt from.
MOST_ORIGINS, MOST_STEPS, MOST_CELLS, MOST_LEARNT = 3, 6_000, 1_000_000, 5_000_000
#: So many people are looked at in any case, where there are.
FEW = 100


@dataclass(frozen=True)
class Clock:
    """Steps in a day and in a week (0 where they do not fill it evenly, or one fills it), and which are on weekends."""

    day: int = 0
    week: int = 0
    weekend: NDArray[np.bool_] | None = None


def origins(steps: int, horizon: int, clock: Clock | None = None) -> tuple[int, list[int]]:
    """The length of a stretch, and the fitted steps before each one, from the latest; none where there are too few.

    Stretches are as long as what will be published, or half of the fitted steps where that is less. They begin at
    the same time of the week where there are two such, or else at the same time of the day, on as many days of the same
    kind (weekend or not) as can be. Otherwise they lie side by side, or closer where steps are few. At least half of
    the fitted steps are before each.

    >>> origins(27, 5), origins(9, 5), origins(2, 5)
    ((5, [22, 18, 14]), (4, [5]), (1, []))
    """
    stretch, clock = min(max(horizon, 1), steps // 2), clock or Clock()
    if not stretch:
        return 0, []
    least, latest = max(2, ceil(steps / 2)), steps - stretch
    weekly, daily = (
        [cut for cut in range(steps - unit, least - 1, -unit) if cut <= latest] if unit else []
        for unit in (clock.week, clock.day)
    )
    if len(weekly) > 1:
        return stretch, weekly[:MOST_ORIGINS]
    if daily and clock.weekend is not None:
        kind = clock.weekend
        same = [float(np.mean(kind[cut : cut + stretch] == kind[steps : steps + stretch])) for cut in daily]
        return stretch, [cut for cut, share in zip(daily, same, strict=True) if share == max(same)][:MOST_ORIGINS]
    apart = max(1, min(stretch, (latest - least) // (MOST_ORIGINS - 1)))
    return stretch, [cut for cut in (latest - k * apart for k in range(MOST_ORIGINS)) if cut >= least]


@dataclass(frozen=True)
class Origin:
    """A number of fitted steps, everybody who was known by then (n,), and those to predict, known well enough."""

    cut: int
    everybody: Ints
    who: Ints

    @classmethod
    def at(cls, fitted: NDArray[np.int32], cut: int, elsewhere: int, least: int, stretch: int) -> Origin:
        """Those who are known in as large a share of the steps before as `least` is of all; evenly spread if many."""
        known = (fitted[:, :cut] != elsewhere).sum(axis=1)
        well = np.flatnonzero(known >= max(1, ceil(least * cut / fitted.shape[1])))
        who = _spread(well, min(MOST_STEPS // stretch, max(FEW, MOST_CELLS // cut)))
        # What everybody does is told without the person, who must be among everybody for that.
        everybody = np.union1d(_spread(np.flatnonzero(known), max(FEW, MOST_LEARNT // cut)), who)
        return cls(cut, everybody, who)


def _spread(people: Ints, most: int) -> Ints:
    """So many of the people at most, evenly spread.

    >>> _spread(np.arange(9), 3).tolist()
    [0, 4, 8]
    """
    if len(people) <= most:
        return people
    return np.asarray(people[np.unique(np.linspace(0, len(people) - 1, max(1, most)).astype(int))])
