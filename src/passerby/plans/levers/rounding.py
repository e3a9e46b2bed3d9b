"""Rounding to multiples, of which larger ones do not always tell less: all are tried."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from passerby.errors import PasserbyError, UnsupportedRelease
from passerby.mechanisms import Mechanism, RandomRounding, Raw, Rounding, Then
from passerby.mechanisms.registry import described
from passerby.model.count_release import mechanism_of
from passerby.model.release import Release
from passerby.plans.cells import of_counts
from passerby.plans.cost import error_of
from passerby.plans.lever import Dial, Family, Scene

BASES = (3, 5, 10, 20, 50, 100)
#: A count that no rule hides.
MANY = 10_000


def followed(release: Release, second: Mechanism) -> Release:
    """The release with something done to its counts, after what is done to them already."""

    def after(first: Mechanism) -> Mechanism:
        return second if isinstance(first, Raw) else Then(first, second)

    if len(release.ways) < 2:
        return release.through(after(release.mechanism))
    return of_counts(release, lambda count: replace(count, mechanism=after(mechanism_of(count))))


def refuses(made: Mechanism, release: Release, scene: Scene) -> str | None:
    """Why it cannot be put after what is done to the counts already."""
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


def _family(kind: type[Rounding] | type[RandomRounding], name: str, release: Release, scene: Scene) -> Family:
    return Family(
        name,
        tuple(map(float, BASES)),
        lambda fine, base: followed(fine, kind(int(base))),
        lambda base: described(kind(int(base))),
        False,
    )


ROUNDING = Dial(
    "rounding",
    "counts rounded to the nearest multiple",
    "mechanism",
    partial(_family, Rounding, "rounding"),
    partial(refuses, Rounding(5)),
)
RANDOM_ROUNDING = Dial(
    "random-rounding",
    "counts rounded up or down at random",
    "mechanism",
    partial(_family, RandomRounding, "random-rounding"),
    partial(refuses, RandomRounding(5)),
    usual=False,
)
