"""The task of a plan, checked: the wanted release, the limits, and the changeable and unchangeable parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.audits.settings import Measurement
from passerby.errors import InputError
from passerby.model.release import Release
from passerby.people.habits import People

from .cells import Cell, cells_of
from .cost import Cost, Truth, cost_of
from .guard import Kept
from .lever import Dial, Scene, Setting, Zone
from .levers import BY_NAME
from .limit import Limit, least_added
from .survey import Beside


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
