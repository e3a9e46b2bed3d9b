"""What a small table says once: a row that says the same as an earlier one is refused, with both of their lines."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from passerby.errors import InputError


@dataclass
class Once:
    """What the rows of a table have said so far, and where.

    >>> rows = Once("sensors.csv")
    >>> rows.say("line 2", ("park", 0), "the sensor of 'park'")
    >>> rows.say("line 7", ("park", 0), "the sensor of 'park'")
    Traceback (most recent call last):
    passerby.errors.InputError: sensors.csv, line 7: the sensor of 'park' is given twice, before in line 2; take one out
    """

    source: object
    _lines: dict[Hashable, str] = field(default_factory=dict)

    def say(self, line: str, about: Hashable, what: str) -> None:
        """Take down what a row is about; refuse it where an earlier one was about the same."""
        if about in self._lines:
            raise InputError(
                f"{self.source}, {line}: {what} is given twice, before in {self._lines[about]}; take one out"
            )
        self._lines[about] = line
