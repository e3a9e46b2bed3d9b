"""Where a person was, step by step: the question of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from passerby.measurement.loss import Loss
from passerby.measurement.measure import loss_of
from passerby.measurement.question import Way, ask
from passerby.measurement.setup import Setup
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .question import Question


@dataclass(frozen=True)
class Trace(Question):
    """The whole trace, of which at most `misses` steps are guessed wrong.

    A whole number is short for it: `measure(prior, release, 1)` asks for `Trace(1)`.
    """

    misses: int = 0
    kind: ClassVar[str] = "trace"

    @property
    def sentence(self) -> str:
        """What is asked, in words."""
        return f"all but {self.misses} of the places of the person" if self.misses else "every place of the person"

    def check(self, prior: MarkovPrior, release: Release) -> None:
        """Refuse a number of misses that is none, or not below the number of steps."""
        release.check_misses(self.misses)

    def answer(self, setup: Setup, way: Way = "exact") -> Loss:
        """The loss, by all methods of the paper and beyond it."""
        return loss_of(ask(setup, self.misses, way))
