"""What arguments must be, with errors that say which one is not, and what it is instead."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from passerby.errors import InputError


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number; True and 3.0 are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number; True is none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def whole(value: Any, name: str, least: int = 0, most: int | None = None) -> int:
    """`value`, a whole number from `least` to `most`.

    >>> whole("a", "places", 1)
    Traceback (most recent call last):
    passerby.errors.InputError: places is 'a'; expected a whole number of at least 1
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        reach = f"of at least {least}" if most is None else f"from {least} to {most:,}"
        raise InputError(f"{name} is {value!r}; expected a whole number {reach}")
    return int(value)


def number(value: Any, name: str, least: float, most: float) -> float:
    """`value`, a number from `least` to `most`.

    >>> number(True, "seen", 0, 1)
    Traceback (most recent call last):
    passerby.errors.InputError: seen is True; expected a number from 0 to 1
    """
    if not is_number(value) or not least <= value <= most:
        raise InputError(f"{name} is {value!r}; expected a number from {least:g} to {most:g}")
    return float(value)


def text(value: Any, name: str) -> str | None:
    """`value`, a text or None."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} is {value!r}; expected a text")
    return value


def flag(value: Any, name: str) -> bool:
    """`value`, True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r}; expected True or False")
    return bool(value)
