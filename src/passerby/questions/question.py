"""What a question is: it has a name and a sentence, refuses what it does not fit, and answers by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from passerby.measurement.setup import Setup
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release


class Question(ABC):
    """Something that somebody may want to know of one person.

    A question is a frozen dataclass in a file of its own. `kind` names it in tables and settings, `sentence` says in
    words what is asked, and `check` refuses people and releases that it does not fit.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What is asked, in words: without a question mark."""

    @abstractmethod
    def check(self, prior: MarkovPrior, release: Release) -> None:
        """Refuse, with an `InputError`, what the question does not fit."""

    @abstractmethod
    def answer(self, setup: Setup) -> Any:
        """What the release tells of it, as an answer with intervals."""

    def relabelled(self, state_of: Mapping[int, int]) -> Question:
        """The same question over other place numbers, `state_of[place]`."""
        return self
