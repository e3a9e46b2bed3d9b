"""What is counted next, by what was published: of several releases, each looks at its own values alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .counts import Count
from .release import Release

#: What was published, a tuple of values for each step so far; NaN for a cell left empty.
History = tuple[tuple[float, ...], ...]
#: The counts or places of the next step, from what was published so far.
Policy = Callable[[History], Any]


class JointPolicy:
    """The policy that names what several releases publish, one after another."""

    def __init__(self, parts: tuple[Release, ...]) -> None:
        self.parts = parts

    def __call__(self, history: History) -> list[Count]:
        """The counts of the next step."""
        own: list[History] = [()] * len(self.parts)
        for values in history:
            at = 0
            for i, named in enumerate(self._named(own)):
                own[i] = (*own[i], values[at : at + len(named)])
                at += len(named)
        return [count for named in self._named(own) for count in named]

    def _named(self, own: list[History]) -> list[tuple[Count, ...]]:
        return [part.named(history) for part, history in zip(self.parts, own, strict=True)]
