"""Rules after the existing mechanisms of counts: rounding to multiples, and small counts left empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from passerby.errors import PasserbyError, UnsupportedRelease
from passerby.mechanisms import Mechanism, RandomRounding, Rounding, Suppression, Then
from passerby.mechanisms.registry import described
from passerby.model.count import mechanism_of
from passerby.model.release import Release
from passerby.plans.cost import error_of
from passerby.plans.lever import Dial, Family, Scene, of_counts

#: Counts become multiples of this.
BASES = (3, 5, 10, 20, 50, 100)
#: Counts below this are left empty.
BELOW = (3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 150, 200, 300, 500, 1000)
#: A count outside the reach of hiding rules.
MANY = 10_000

Make = Callable[[int], Mechanism]


def followed(release: Release, second: Mechanism) -> Release:
    """The release with a further rule on its counts, after their mechanisms."""

    def after(first: Mechanism) -> Mechanism:
        return second if first.raw else Then(first, second)

    if len(release.ways) < 2:
        return release.through(after(release.mechanism))
    return of_counts(release, lambda count: replace(count, mechanism=after(mechanism_of(count))))


def _refuses(made: Mechanism, release: Release, scene: Scene) -> str | None:
    """Why the rule cannot follow the existing mechanism of the counts, if it cannot."""
    for mechanism in release.ways:
        if type(mechanism) is type(made):
            return f"counts are published as {mechanism!r} already"
    try:
        after = followed(release, made)
    except PasserbyError as reason:
        return str(reason)
    for mechanism in after.ways:
        try:
            error_of(mechanism, MANY)
        except UnsupportedRelease:
            return f"what {mechanism!r} would cost readers cannot be told"
    return None


def _family(
    name: str, make: Make, positions: tuple[int, ...], monotone: bool, release: Release, scene: Scene
) -> Family:
    return Family(
        name,
        tuple(map(float, positions)),
        lambda fine, position: followed(fine, make(int(position))),
        lambda position: described(make(int(position))),
        monotone,
    )


def _dial(
    name: str, says: str, make: Make, positions: tuple[int, ...], usually: int, *, monotone: bool, usual: bool = True
) -> Dial:
    """A lever of a rule; its fit with the existing mechanism is tested at its `usually` position."""
    family, refuses = partial(_family, name, make, positions, monotone), partial(_refuses, make(usually))
    return Dial(name, says, "mechanism", family, refuses, usual)


# Larger multiples do not always tell less.
ROUNDING = _dial("rounding", "counts rounded to the nearest multiple", Rounding, BASES, 5, monotone=False)
RANDOM_ROUNDING = _dial(
    "random-rounding", "counts rounded up or down at random", RandomRounding, BASES, 5, monotone=False, usual=False
)
SUPPRESSION = _dial("suppression", "small counts left empty", Suppression, BELOW, 10, monotone=True)
