"""The shareable parts of a plan: numbers of people in fives, and errors of enough counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from passerby.model.release import Release
from passerby.support.rule_of_five import FEW, fives_above, fives_below

from .cost import Cost
from .lever import cells_of
from .limit import Limit, Tally


def told_tally(tally: Tally) -> Tally:
    """A tally as it may be told: in fives of people, rounded to the safe side.

    An exact five is told as any other number up to the next one. Otherwise limits tried one after another would reveal
    the number of people by the first limit reached.
    """
    people, allowed = tally.people, tally.limit.allowed(tally.people)

    def high(count: float) -> int:
        if count <= 0:
            return 0
        # A sure plan is stated as sure; this is a matter of fives, too (`Limit.edges`).
        kept = count <= tally.limit.edges(people)[0]
        return min(fives_below(count) + FEW, people, allowed if kept else people)

    return replace(
        tally,
        surely=fives_below(tally.surely),
        possibly=high(tally.possibly),
        least=fives_below(tally.least),
        most=high(tally.most),
    )


def too_few(limits: Sequence[Limit], people: int) -> str | None:
    """Why verdicts tell of few people: a limit allows some of them, but fewer than `FEW` less one; None elsewhere.

    A plan within such a limit puts at most so many above it, and one beyond it more: beside fives, this is their
    number. A limit with nobody allowed above it only reveals whether anybody is.

    >>> from .limit import Limit
    >>> too_few([Limit(share=0.02, above=0.5)], 200), too_few([Limit(share=0, above=0.9)], 200)
    (None, None)
    >>> too_few([Limit(share=0.01, above=0.5)], 200)
    'The limit allows 2 of 200 people: whether a release keeps it tells of fewer than 5, so keep this page where the \
visits are kept. To share it, allow nobody or at least 2 % of people.'
    """
    for limit in limits:
        allowed = limit.allowed(people)
        if 0 < allowed < FEW - 1:
            some = math.ceil(1000 * (FEW - 1) / people) / 10
            return (
                f"The limit allows {allowed} of {people:,} people: whether a release keeps it tells of fewer than "
                f"{FEW}, so keep this page where the visits are kept. To share it, allow nobody or at least {some:g} % "
                "of people."
            )
    return None


def told_cost(release: Release, cost: Cost) -> Cost:
    """A cost with the shareable digits: errors dependent on the counts cover five of them at least.

    The readers' missing numbers are the withheld ones. So if numbers are missing or changed by a rule, the error in all
    is in fives of people, rounded up. The number of empty values under a rule is in fives as well. The sum under the
    error is always in fives.
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
    """The error in all, unless `exact` in fives of people, as a share of a sum of counts, in fives too.

    Otherwise the sum would follow from the error of noise, and everybody knows this error.
    """
    if not cost.person or not math.isfinite(cost.total):
        return cost.total
    people, everybody = cost.total / cost.person, 1 / cost.person
    people = people if exact else fives_above(people)
    total = people / (FEW * max(1, round(everybody / FEW)))
    return min(1.0, total) if cost.total <= 1 else max(1.0, total)


def _fives(share: float, one: float) -> float:
    """A share in steps of five times the part of one person or number, rounded up; unchanged if this part is 0."""
    return one * fives_above(share / one) if one and math.isfinite(share) else share


def _digits(value: float) -> float:
    """Three digits."""
    return float(f"{value:.3g}")
