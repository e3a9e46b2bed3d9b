"""The form of a question: it has a name and a sentence, refuses an unfit release, and answers by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from passerby.measurement.setup import Setup
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release


class Question(ABC):
    """A possible question about one person.

    A question is a frozen dataclass in a file of its own. `kind` names it in tables and settings, and `sentence` puts
    it in words. `check` refuses people and releases the question does not fit.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The question in words, without a question mark."""

    @abstractmethod
    def check(self, prior: MarkovPrior, release: Release) -> None:
        """Refuse, with an `InputError`, people and releases the question does not fit."""

    @abstractmethod
    def answer(self, setup: Setup) -> Any:
        """The release's answer to it, with intervals."""

    def relabelled(self, state_of: Mapping[int, int]) -> Question:
        """The same question over other place numbers, `state_of[place]`."""
        return self
