"""The arguments of a plan, checked: names of levers and places, positions, weights and larger zones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.audits.job import Job, check_job
from passerby.audits.question_words import places_by_name
from passerby.audits.settings import Measurement
from passerby.errors import InputError
from passerby.model.counts import Present
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.people.sensors import place_number
from passerby.support.checks import is_word, nearest, number, whole

from .cells import Cell, cells_of
from .guard import Kept
from .lever import Zone
from .limit import AGAINST, Limit, check_limits
from .survey import resolving
from .task import Task
from .weights import scaled


def staying(people: People, wanted: Release, given: Sequence[str]) -> frozenset[Cell]:
    """The counts of places that must stay, by name."""
    places = {place_number(people, name, "stay") for name in given}
    cells = frozenset(cell for cell in cells_of(wanted) if any(places & {*zone} for zone in cell.zones))
    for place in sorted(places - {place for cell in cells for zone in cell.zones for place in zone}):
        raise InputError(f"stay: {people.places[place]!r} is not among the places that are wanted")
    return cells


def names(given: Sequence[str], what: str) -> tuple[str, ...]:
    """One name or several."""
    several = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(name, str) for name in several):
        raise InputError(f"{what}: expected one or more names, got {given!r}")
    return several


def positions(fix: Mapping[str, float] | None) -> dict[str, float]:
    """Levers and their positions."""
    if fix is not None and not isinstance(fix, Mapping):
        raise InputError(f"fix: expected levers with a position, such as {{'rounding': 10}}, got {fix!r}")
    return {name: number(position, f"fix: {name}", -math.inf, math.inf) for name, position in (fix or {}).items()}


def checked_weights(weights: ArrayLike | None, people: People) -> NDArray[np.float64] | None:
    """Weights (T, M), if they are numbers of at least 0 in this form and not all 0."""
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"weights: expected numbers in the form {people.counts.shape}, got {weights!r}") from None
    if array.shape != people.counts.shape or not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise InputError(
            f"weights: expected numbers of at least 0, not all of them 0, in the form {people.counts.shape} (steps, "
            f"places); got the form {array.shape}"
        )
    return scaled(array)


def checked_levels(levels: Sequence[Mapping[str, Iterable[int]]], people: People) -> tuple[Mapping[str, Zone], ...]:
    """Larger zones by name, if each place is there and in one zone of a level at most."""
    if isinstance(levels, (str, bytes, Mapping)) or not isinstance(levels, Iterable):
        raise InputError(f"levels: expected a list such as [{{'north': [0, 1], 'south': [2]}}], got {levels!r}")
    out: list[Mapping[str, Zone]] = []
    for number_of, level in enumerate(levels):
        if not isinstance(level, Mapping) or not level:
            raise InputError(f"levels[{number_of}] = {level!r}: expected zones by name, such as {{'north': [0, 1]}}")
        zones = {str(name): Present(places, 0).places for name, places in level.items()}
        listed = [place for zone in zones.values() for place in zone]
        if max(listed) >= len(people.places):
            raise InputError(f"levels[{number_of}]: place {max(listed)} is not there; there are {len(people.places)}")
        if len({*listed}) < len(listed):
            twice = next(place for place in listed if listed.count(place) > 1)
            raise InputError(f"levels[{number_of}]: {people.places[twice]!r} is in two zones of the same level")
        out.append(zones)
    return tuple(out)


def keeping(at_most: Any, against: Any) -> Kept | None:
    """The limit on presence at counted places; None without one."""
    level = float(number(at_most, "presence_at_most", 0.0, 1.0))
    if not is_word(against, AGAINST):
        near = nearest(str(against), AGAINST)
        hint = f"; did you mean {near!r}?" if near else ""
        raise InputError(f"presence_against: expected 'habits' or 'insider', got {against!r}{hint}")
    return None if level == 1 else Kept(level, against)


def checked_task(
    people: People,
    wanted: Release,
    limits: Sequence[Limit],
    measurement: Measurement,
    *,
    levers: Any,
    forbid: Any,
    fix: Any,
    stay: Any,
    weights: Any,
    levels: Any,
    drawn: Any,
    minutes: Any,
    presence_at_most: Any,
    presence_against: Any,
) -> Task:
    """The inputs of a plan, each part of them checked."""
    limits = check_limits(limits)
    check_job(Job(people, wanted, measurement))
    return Task(
        people,
        wanted,
        limits,
        resolving(measurement, limits),
        None if levers is None else names(levers, "levers"),
        names(forbid, "forbid"),
        positions(fix),
        staying(people, wanted, names(stay, "stay")),
        checked_weights(weights, people),
        whole(drawn, "drawn", 1),
        None if minutes is None else number(minutes, "minutes", 0.0, 1e6),
        checked_levels(levels, people),
        named=places_by_name(people.places),
        kept=keeping(presence_at_most, presence_against),
    )
