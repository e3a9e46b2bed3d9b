"""Checks of arguments, with errors that name the argument, its value and the remedy."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError

#: The largest number of steps: a year and eleven months of minutes.
MOST_STEPS = 1_000_000
#: The largest number of draws; errors then are of the fourth digit.
MOST_DRAWS = 100_000_000
#: Letters of a value in an error.
MOST_SHOWN = 200
#: The largest number of workers.
MOST_WORKERS = 100_000


def shown(value: object) -> str:
    """A value as it is shown in an error: the beginning of a long one."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


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


def nats(value: Any, name: str) -> float:
    """`value`, an amount of information."""
    return number(value, name, 0, np.inf)


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


def steps(value: Any, name: str = "steps") -> int:
    """`value`, a number of steps.

    >>> steps(2**70)
    Traceback (most recent call last):
    passerby.errors.InputError: steps: expected a whole number from 1 to 1,000,000, got 1180591620717411303424
    """
    if not is_whole(value) or not 1 <= value <= MOST_STEPS:
        raise InputError(f"{name}: expected a whole number from 1 to {MOST_STEPS:,}, got {value!r}")
    return int(value)


def word(value: Any, name: str, words: Sequence[str]) -> None:
    """Refuse all but some words; an array is none, whatever its values.

    >>> word(np.array([]), "series", ("auto", "sample"))
    Traceback (most recent call last):
    passerby.errors.InputError: series: expected 'auto' or 'sample', got array([], dtype=float64)
    """
    if not isinstance(value, str) or value not in words:
        choice = ", ".join(repr(word) for word in words[:-1])
        raise InputError(f"{name}: expected {choice} or {words[-1]!r}, got {value!r}")


def is_word(value: object, words: Sequence[str]) -> bool:
    """Whether it is one of some words; to ask an array whether it equals a word is no question."""
    return isinstance(value, str) and value in words


def function(value: Any, name: str, what: str) -> Any:
    """`value`, a callable, or None.

    >>> function(5, "progress", "progress(done, all)")
    Traceback (most recent call last):
    passerby.errors.InputError: progress is 5; expected a function, called as progress(done, all), or None
    """
    if value is not None and not callable(value):
        raise InputError(f"{name} is {value!r}; expected a function, called as {what}, or None")
    return value


def path(value: Any, name: str) -> Path:
    """`value`, a possible path of a file or folder.

    >>> path(-1, "folder")
    Traceback (most recent call last):
    passerby.errors.InputError: folder is -1; expected a path
    """
    if not isinstance(value, str | Path) or not str(value):
        raise InputError(f"{name} is {value!r}; expected a path")
    try:
        written = os.fsencode(value)
    except UnicodeEncodeError:
        written = b"\0"
    if b"\0" in written:
        raise InputError(f"{name} is {value!r}, which no file can be called; expected a path")
    return Path(value)


def generator(value: Any, name: str = "rng") -> np.random.Generator:
    """`value`, a source of random numbers.

    >>> generator(7)
    Traceback (most recent call last):
    passerby.errors.InputError: rng is 7; expected a generator of random numbers, such as numpy.random.default_rng(7)
    """
    if not isinstance(value, np.random.Generator):
        raise InputError(
            f"{name} is {value!r}; expected a generator of random numbers, such as numpy.random.default_rng(7)"
        )
    return value


def seed(value: Any, name: str = "seed") -> int | tuple[int, ...]:
    """`value`, a seed, or several numbers for one."""
    several = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim)
    numbers = list(value) if several else [value]
    if any(not is_whole(n) or n < 0 for n in numbers):
        raise InputError(f"{name}: expected a whole number of at least 0, or a list of those, got {value!r}")
    return int(value) if is_whole(value) else tuple(int(n) for n in numbers)


def is_regular(values: Any) -> bool:
    """Whether its lists are equally long, as in an array."""
    try:
        np.asarray(values)
    except ValueError:
        return False
    return True


def numbers(values: Any, name: str) -> NDArray[np.float64]:
    """An array of floating point numbers; texts and truth values are none, even `"1"` or True.

    >>> numbers([[1.0], [2.0, 3.0]], "transition")
    Traceback (most recent call last):
    passerby.errors.InputError: transition: expected numbers in a regular array, got [[1.0], [2.0, 3.0]]
    """
    try:
        found = np.asarray(values)
        array = np.array(found, dtype=np.float64) if found.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise InputError(f"{name}: expected numbers in a regular array, got {shown(values)}")
    return array


def traces(values: Any, name: str, width: int) -> NDArray[Any]:
    """Traces (n, T) of place numbers over so many steps."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 2 and values.shape[1] == width:
        return values
    array = numbers(values, name)
    if array.ndim != 2 or array.shape[1] != width or not (array == np.floor(array)).all():
        raise InputError(
            f"{name}: expected whole numbers in a shape (n, {width}), a place for each of the {width} steps of each "
            f"trace; got {shown(values)}"
        )
    return np.asarray(values)


def nearest(name: str, known: Collection[str]) -> str | None:
    """The nearest known name; None without a similar one.

    >>> nearest("mechansim", ["kind", "mechanism"]), nearest("typ", ["kind", "mechanism"])
    ('mechanism', None)
    """
    return next(iter(get_close_matches(name, known, 1)), None)
