"""The task of a plan, checked: the wanted release, the limits, and the changeable and unchangeable parts.

How much each number matters to readers, from a table.

The arguments of a plan, checked: names of levers and places, positions, weights and larger zones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
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
from passerby.people.sensors import given, place_number, step_number
from passerby.support.checks import is_word, nearest, number, whole
from passerby.visits.delimited import Header, read_table

from .cost import Cost, Truth, cost_of
from .guard import Kept
from .lever import Cell, Dial, Scene, Setting, Zone, cells_of
from .levers import BY_NAME
from .limit import AGAINST, Limit, check_limits, least_added
from .survey import Beside, resolving


@dataclass(frozen=True)
class Task:
    """The inputs of a plan, checked.

    If nobody may look at the counts, they are all taken to be `alike`. Questions of limits are about places and zones
    as they are `named`. Limits are on a release together with the published ones; `beside` joins the two. `kept` is the
    limit on presence at counted places, if there is one.
    """

    people: People
    wanted: Release
    limits: tuple[Limit, ...]
    measurement: Measurement
    levers: tuple[str, ...] | None
    forbid: tuple[str, ...]
    fix: dict[str, float]
    stay: frozenset[Cell]
    weights: NDArray[np.float64] | None
    drawn: int
    minutes: float | None
    levels: tuple[Mapping[str, Zone], ...] = ()
    alike: bool = False
    beside: Beside | None = None
    named: Mapping[str, Zone] = field(default_factory=dict)
    kept: Kept | None = None

    def cost(self, release: Release) -> Cost:
        """The cost of a release for readers of the wanted one."""
        return cost_of(release, self.wanted, self._truth)

    def weight(self, cell: Cell) -> float:
        """How much a wanted number matters."""
        return self._truth.weight(cell)

    @cached_property
    def _truth(self) -> Truth:
        if self.alike:
            return Truth(lambda release: [1] * len(cells_of(release)), self.weights)
        return Truth.about(self.people, self.weights).as_told(self.wanted)

    def scene(self) -> Scene:
        """The data open to levers."""
        return Scene(self.people.places, self.stay, least_added(self.limits), self.levels)


def hold(task: Task) -> tuple[Release, tuple[Setting, ...]]:
    """The wanted release with the fixed levers in place."""
    release, settings = task.wanted, list[Setting]()
    for name, position in task.fix.items():
        lever = BY_NAME[name]
        assert isinstance(lever, Dial)
        reason = lever.refuses(release, task.scene())
        if reason is not None:
            raise InputError(f"fix: {name!r} cannot be fixed at {position:g}, because {reason}")
        family = lever.family(release, task.scene())
        if not family.has(position):
            raise InputError(
                f"fix: {name!r} cannot be fixed at {position:g}; its positions are "
                f"{', '.join(f'{each:g}' for each in family.positions[:6])}{', ...' * (len(family.positions) > 6)}"
            )
        try:
            release = family.build(release, float(position))
        except InputError as reason:
            raise InputError(f"fix: {name!r} cannot be fixed at {position:g}: {reason}") from None
        settings.append(family.setting(float(position)))
    return release, tuple(settings)


Floats = NDArray[np.float64]
#: The columns of a table of weights.
HEADER = Header(
    "weights",
    ("weight", "place", "step"),
    needs=((frozenset({"weight"}),), (frozenset({"place"}), frozenset({"step"}))),
    needed="the columns weight, and place or step",
)


def read_weights(people: People, path: Path) -> Floats:
    """Weights (T, M) from a table with a column `weight`, and `place`, `step` (from 1) or both; all others weigh 1.

    Rows about a place, about a step and about one place at one step multiply; each subject has one row. The largest
    weight becomes 1: only the ratios of weights matter.
    """
    _, rows = read_table(path, HEADER)
    out = np.ones(people.counts.shape)
    seen: dict[tuple[object, object], str] = {}
    for line, row in rows:
        where = f"{path}, {line}"
        steps = step_number(people, {"step": row["step"]}, where) if given(row.get("step")) else slice(None)
        places = place_number(people, row["place"], where) if given(row.get("place")) else slice(None)
        try:
            weight = float(str(row["weight"]))
        except ValueError:
            weight = -1.0
        if not 0 <= weight < np.inf:
            raise InputError(f"{where}: weight is {row['weight']!r}; expected a number of at least 0")
        about = (None if isinstance(steps, slice) else steps, None if isinstance(places, slice) else places)
        if about in seen:
            raise InputError(f"{where}: the same place and step as in {seen[about]}; give one weight")
        seen[about] = line
        with np.errstate(over="ignore"):
            out[steps, places] *= weight
    if not np.isfinite(out).all():
        raise InputError(f"{path}: weights of places and steps multiply to more than any number; give smaller ones")
    return scaled(out)


def scaled(weights: Floats) -> Floats:
    """The same weights with 1 for the largest, so sums of them are numbers."""
    return weights / weights.max() if weights.any() else weights


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
