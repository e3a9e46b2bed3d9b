"""The order of releases by information: the values of one decide the values of a less informative one, but for chance.

A less informative release has no larger loss (data processing). So an upper end holds for all less informative
releases, and a lower end for all more informative ones.
"""

from __future__ import annotations

from passerby.model.count import mechanism_of
from passerby.model.counts import Count
from passerby.model.release import Release

from .cells import cells_of, spots


def tells_less(coarse: Release, fine: Release) -> bool:
    """Whether `coarse` can be made from the values of `fine`, without another look at the counts.

    >>> from passerby.mechanisms import Gaussian, Rounding
    >>> tells_less(Release([[0], []], Gaussian(2.0)), Release([[0, 1], [0]]))
    True
    >>> tells_less(Release([0], Rounding(10)), Release([0], Rounding(5)))
    False

    Whether somebody was in a zone at any of some steps follows from raw counts of its parts.

    >>> from passerby import Present, Visitors
    >>> day = Release(counts=[Visitors([0, 1], steps=range(2))], steps=2)
    >>> tells_less(day, Release([[0, 1], [0, 1]])), tells_less(day, Release([[0, 1], [0]]))
    (True, False)

    For a crowd, ends are conditional on the others' places at some steps, and these follow from the sensors. So
    releases with other sensors are not compared.
    """
    if coarse.crowd != fine.crowd or (coarse.steps, coarse.size) != (fine.steps, fine.size):
        return False
    if coarse.crowd is not None:
        same = coarse.reveals and fine.reveals and coarse.sensors == fine.sensors
        return same and coarse.mechanism.tells_less_than(fine.mechanism)
    if coarse.reveals and fine.reveals:
        fewer = all(set(some) <= set(all_) for some, all_ in zip(coarse.sensors, fine.sensors, strict=True))
        return fewer and coarse.mechanism.tells_less_than(fine.mechanism)
    return _each_follows(coarse, fine)


def _each_follows(coarse: Release, fine: Release) -> bool:
    """Whether every count of one release follows from counts of the other, each of them used once.

    A noisy count may be used once: two counts made from the same draw would not be independent.
    """
    there: dict[Count, list[Count]] = {}
    for cell, count in zip(cells_of(fine), fine.listed, strict=True):
        there.setdefault(cell, []).append(count)
    raw = [cell for cell, counts in there.items() if any(mechanism_of(count).raw for count in counts)]
    known = [parts for cell in raw if (parts := spots(cell)) is not None]
    for cell, count in zip(cells_of(coarse), coarse.listed, strict=True):
        whole = spots(cell)
        inside = [part for part in known if whole is not None and part <= whole]
        if cell in raw or (inside and frozenset().union(*inside) == whole):
            continue
        left = there.get(cell, [])
        same = next((each for each in left if mechanism_of(count).tells_less_than(mechanism_of(each))), None)
        if same is None:
            return False
        left.remove(same)
    return True
