"""Whether a person was ever there: any count is an event, and it holds for every person it counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.measurement.setup import Setup
from passerby.model.count import Count
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .event_answer import EventAnswer, told_apart
from .hypotheses import Hypotheses
from .question import Question


@dataclass(frozen=True)
class Event(Question):
    """Whether a count counts this person: `Present`, `Moved`, or `Visitors` for "ever" and for "so often".

    With `never=True`, whether it does not. The count's mechanism and number of others do not matter.

    >>> import passerby as pb
    >>> prior = pb.MarkovPrior.stationary([[0.9, 0.1], [0.5, 0.5]])
    >>> clinic = pb.Event(pb.Visitors([1], steps=range(3)))
    >>> round(pb.measure(prior, pb.Release([1, [], 1]), clinic).advantage.lower, 3)
    0.872
    """

    count: Count
    never: bool = False
    kind: ClassVar[str] = "event"

    def __post_init__(self) -> None:
        if not isinstance(self.count, Count):
            raise InputError(f"Event: expected a count such as Visitors([place], steps=range(8)), got {self.count!r}")
        if not isinstance(self.never, bool):
            raise InputError(f"Event: never={self.never!r}: expected True or False")

    @property
    def sentence(self) -> str:
        """The question, in words."""
        return f"whether {'not ' if self.never else ''}{self.count.sentence}"

    def check(self, prior: MarkovPrior, release: Release) -> None:
        """Refuse steps unknown to the release, and places unknown to the prior."""
        if self.count.read >= release.steps:
            raise InputError(
                f"{self.count!r}: it is about step {self.count.read}, and the release has {release.steps} steps, "
                f"numbered 0 to {release.steps - 1}"
            )
        for zone in self.count.zones:
            if zone[-1] >= prior.places:
                raise InputError(
                    f"{self.count!r}: place {zone[-1]}, but the prior has {prior.places} places, numbered 0 to "
                    f"{prior.places - 1}"
                )

    def answer(self, setup: Setup) -> EventAnswer:
        """How well the release tells whether it is so."""
        return told_apart(self.hypotheses(setup), mirrored=self.never)

    def hypotheses(self, setup: Setup) -> Hypotheses:
        """The hypotheses: the count includes the person, or it does not."""

        def follow(chain: MarkovPrior) -> NDArray[np.int64]:
            return self.count.progress(chain.place_of, setup.steps)

        return Hypotheses(setup, follow)

    def relabelled(self, state_of: Mapping[int, int]) -> Event:
        """The same event over other place numbers."""
        new = {zone: tuple(sorted({int(state_of[place]) for place in zone})) for zone in self.count.zones}
        return Event(self.count.relabelled(new), self.never)
