"""The list of levers; one kind has one file. A new one is a file with a `Dial` or a `Choice`, and a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passerby.errors import InputError
from passerby.model.release import Release
from passerby.plans.lever import Dial, Lever, is_usual
from passerby.support.checks import nearest

from . import every_nth, left_out, noise, rules, visitors, zones

LEVERS: tuple[Lever, ...] = (
    noise.GAUSSIAN,
    noise.LAPLACE,
    noise.GEOMETRIC,
    noise.DISCRETE_GAUSSIAN,
    rules.ROUNDING,
    rules.RANDOM_ROUNDING,
    rules.SUPPRESSION,
    left_out.PLACES,
    left_out.STEPS,
    left_out.COUNTS,
    every_nth.EVERY,
    visitors.VISITORS,
    zones.ZONES,
)

BY_NAME: dict[str, Lever] = {lever.name: lever for lever in LEVERS}


def usual(release: Release) -> tuple[str, ...]:
    """The levers tried by default."""
    return tuple(lever.name for lever in LEVERS if is_usual(lever, release))


def chosen_levers(
    names: Sequence[str] | None, forbidden: Sequence[str], fixed: Mapping[str, float], release: Release
) -> list[Lever]:
    """The movable levers: the named or the usual ones, without forbidden or fixed ones."""
    for what, given in (("levers", names or ()), ("forbid", forbidden), ("fix", fixed)):
        for name in given:
            if name not in BY_NAME:
                near = nearest(str(name), BY_NAME)
                hint = f"; did you mean {near}?" if near else ""
                raise InputError(f"{what}: {name!r} is none of {', '.join(BY_NAME)}{hint}")
    both = {*forbidden} & {*(names or ()), *fixed}
    if both:
        raise InputError(f"forbid: {', '.join(map(repr, sorted(both)))} is asked for and forbidden; decide for one")
    for name in fixed:
        if not isinstance(BY_NAME[name], Dial):
            raise InputError(f"fix: {name!r} cannot be fixed at a position; want fewer counts instead")
    out = [BY_NAME[name] for name in (usual(release) if names is None else names) if name not in {*forbidden, *fixed}]
    if not out:
        raise InputError(
            f"levers: none is left to be moved; allow one of {', '.join(BY_NAME)} that is neither forbidden nor fixed"
        )
    return list(dict.fromkeys(out))
