"""The event of somebody ever going from one zone to another: a flow at any of the published steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.count import Inside, Names
from passerby.model.counts import Moved
from passerby.support.checks import whole


@dataclass(frozen=True)
class EverMoved(Moved):
    """Whether somebody is in one zone at a step and in another one at the next, at any of the first `steps` steps.

    It is the subject of a question; no published value counts it.

    >>> EverMoved([0], [1], 3).bits(np.array([[0, 0, 1], [1, 0, 0]])).tolist()
    [True, False]
    """

    steps: int
    flow: ClassVar[bool] = False

    def __init__(self, origin: int | Iterable[int], destination: int | Iterable[int], steps: int) -> None:
        if whole(steps, "steps", 1) < 2:
            raise InputError("moved: nobody goes anywhere in one step; ask where they are, as in visited:PLACE")
        super().__init__(origin, destination, 0)
        object.__setattr__(self, "steps", int(steps))

    @property
    def read(self) -> int:
        """The last step."""
        return self.steps - 1

    @property
    def sentence(self) -> str:
        """Of somebody for whom it holds, in words."""
        return f"{super().sentence.partition(' between ')[0]} at any of {self.steps} steps"

    def asked(self, names: Names, steps: int | None, never: bool) -> str:
        """The words that ask for it."""
        return f"{'never ' * never}moved:{names(self.origin)}>{names(self.destination)}"

    def said(self, names: Names, steps: int | None, never: bool) -> str:
        """The same for a reader."""
        ends = f"from {names(self.origin)} to {names(self.destination)}"
        return f"whether the person {'did not: ' * never}ever went {ends}"

    def met(self, inside: Inside) -> Any:
        """Whether they are in the one zone at a step, and in the other at the next."""
        found = inside(self.origin, 0) & inside(self.destination, 1)
        for t in range(1, self.steps - 1):
            found = found | (inside(self.origin, t) & inside(self.destination, t + 1))
        return found

    def progress(self, place_of: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
        """Level 1 for people in the one zone, level 2 for good for people then in the other.

        >>> EverMoved([0], [1], 2).progress(np.array([0, 1]), steps=2)[1].tolist()
        [[1, 1, 2], [0, 2, 2]]
        """
        ready = np.isin(place_of, self.origin).astype(np.int64)
        levels = np.empty((steps, len(place_of), 3), dtype=np.int64)
        levels[:, :, 0], levels[:, :, 2] = ready, 2
        levels[:, :, 1] = np.where(np.isin(place_of, self.destination), 2, ready)
        levels[self.steps :] = np.arange(3)
        return levels
