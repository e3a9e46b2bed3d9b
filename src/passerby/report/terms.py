"""Mechanisms, lengths of time, shares and small groups, as a report speaks of them."""

from __future__ import annotations

from contextlib import suppress

from passerby.errors import PasserbyError
from passerby.mechanisms.notation import read_mechanism
from passerby.mechanisms.registry import described
from passerby.visits.steps import parse_length

from .data import FEW


def level(value: float) -> str:
    """A chosen share, without digits that it does not have.

    >>> level(0.05), level(0.5)
    ('5 %', '50 %')
    """
    return f"{100 * value:g} %"


def few() -> str:
    """What is said of a small group."""
    return f"fewer than {FEW}"


def mechanism(name: str) -> str:
    """A mechanism in words, from its name in code.

    >>> mechanism("Gaussian(sigma=2.0)"), mechanism("Mine(x=1)")
    ('counts with normal noise of standard deviation 2', 'Mine(x=1)')
    >>> mechanism("Then(Suppression(below=10), Rounding(base=5))")
    'counts, but those below 10 left empty, then counts rounded to multiples of 5'
    """
    with suppress(PasserbyError):
        return described(read_mechanism(name))
    return name


def length(window: str) -> str:
    """The length of a step in words.

    >>> length("1h"), length("20d"), length("90m"), length("90s")
    ('1 hour', '20 days', '90 minutes', '90 seconds')
    """
    seconds = parse_length(window).total_seconds()
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)}"
    return f"{seconds:g} seconds"
