"""What of a plan may be told: numbers of people in fives, and errors that rest on enough counts."""

from __future__ import annotations

import math
from dataclasses import replace

from passerby.model.release import Release
from passerby.support.groups import FEW, fives_above, fives_below

from .cells import cells_of
from .cost import Cost
from .limit import Tally


def in_fives(tally: Tally) -> Tally:
    """A tally as it may be told: in fives of people, rounded to the safe side."""
    people, allowed = tally.people, tally.limit.allowed(tally.people)

    def low(count: float) -> int:
        # What is more than is allowed is told as that, where it is no small group.
        return max(fives_below(count), allowed + 1 if count > allowed >= FEW - 1 else 0)

    def high(count: float) -> int:
        return min(fives_above(count), people, allowed if count <= allowed else people)

    return replace(
        tally,
        surely=low(tally.surely),
        possibly=high(tally.possibly),
        least=low(tally.least),
        most=high(tally.most),
    )


def told_cost(release: Release, cost: Cost) -> Cost:
    """A cost with as many digits as may be told: errors that depend on the counts rest on five of them at least.

    What readers miss is what is kept from them. So where numbers are missing or changed by a rule, the error in all is
    told in fives of people, rounded up, and how many numbers a rule leaves empty, in fives of those. What the error is
    a share of is always told in fives.
    """
    free = all(mechanism.shift_invariant for mechanism in release.ways)
    published = cost.published if full(release, cost) else 1 - _fives(1 - cost.published, cost.number)
    total = _told_total(cost, exact=free and cost.published >= 1)
    mean, worst = cost.mean, cost.worst
    if mean is None or worst is None or not (free or cost.numbers >= FEW):
        mean = worst = None
    else:
        mean, worst = _digits(mean), _digits(worst if free else math.ceil(worst))
    return replace(cost, mean=mean, worst=worst, published=_digits(max(0.0, published)), total=_digits(total))


def full(release: Release, cost: Cost) -> bool:
    """Whether no number of a release is left empty."""
    return cost.numbers >= len(cells_of(release)) - 1e-9


def _told_total(cost: Cost, *, exact: bool) -> float:
    """The error in all, unless `exact` in fives of people, as a share of a sum of counts that is told in fives too.

    Else the sum could be had from the error of noise, which everybody knows.
    """
    if not cost.person or not math.isfinite(cost.total):
        return cost.total
    people, everybody = cost.total / cost.person, 1 / cost.person
    people = people if exact else fives_above(people)
    total = people / (FEW * max(1, round(everybody / FEW)))
    return min(1.0, total) if cost.total <= 1 else max(1.0, total)


def _fives(share: float, one: float) -> float:
    """A share in steps of five times what one person or number is of it, rounded up; as it is where that is nothing."""
    return one * fives_above(share / one) if one and math.isfinite(share) else share


def _digits(value: float) -> float:
    """Three digits."""
    return float(f"{value:.3g}")
