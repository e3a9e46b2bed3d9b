"""What a mechanism refuses to be made from, with an error that says which and why."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import is_number, is_whole

#: The largest scale of noise (its inverse is the smallest), and the largest number of people that a rule may name.
MOST_NOISE = 1_000_000
MOST_PEOPLE = 1_000_000_000
#: The largest number of others, and what a count may be scaled up to: noise of any size that is used keeps its digits
#: beside it, and half a person is far from being rounded away.
MOST_COUNTED = 1_000_000_000_000
#: Whole numbers from here on, or the next ones, are not exact in floating point.
LARGEST = 2**53 - 1


def above_zero(owner: object, name: str, value: Any) -> None:
    """Refuse what is not a finite number above 0, or too far from a count of one for arithmetic."""
    if not is_number(value) or not 0 < value < math.inf:
        raise InputError(
            f"{type(owner).__name__}({name}={value!r}): {name} must be a finite number above 0; use Raw() for no noise"
        )
    if not 1 / MOST_NOISE <= value <= MOST_NOISE:
        raise InputError(
            f"{type(owner).__name__}({name}={value!r}): {name} must lie between {1 / MOST_NOISE:g} and {MOST_NOISE:,}; "
            "less noise is as good as none, and more as good as silence"
        )


def probability(owner: object, name: str, value: Any) -> None:
    """Refuse what is not a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{type(owner).__name__}({name}={value!r}): {name} must be a probability, from 0 to 1")


def at_least(owner: object, name: str, value: Any, least: int, why: str) -> None:
    """Refuse what is not a whole number of at least `least`, or larger than any count."""
    if not is_whole(value) or value < least:
        raise InputError(
            f"{type(owner).__name__}({name}={value!r}): {name} must be a whole number of at least {least}; {why}"
        )
    if value > MOST_PEOPLE:
        raise InputError(f"{type(owner).__name__}({name}={value!r}): {name} must be at most {MOST_PEOPLE:,}")


def check_hashable(mechanism: object) -> None:
    """Refuse a mechanism that nothing can be remembered of."""
    try:
        hash(mechanism)
    except TypeError:
        raise InputError(
            f"{mechanism!r} cannot be hashed, so nothing can be remembered of it; make it a frozen dataclass: "
            "@dataclass(frozen=True)"
        ) from None


def flag(owner: object, name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{type(owner).__name__}({name}={value!r}): {name} must be True or False")
