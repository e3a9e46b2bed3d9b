"""Limits of numbers, checks of arguments, and a readable `repr`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import generator, is_number, is_whole, number, shown, whole

#: The largest scale of noise (its inverse is the smallest), and the largest number of people in a rule.
MOST_NOISE = 1_000_000
MOST_PEOPLE = 1_000_000_000
#: The largest number of others, and the largest scaled count. Noise of any size in use keeps its digits beside it, and
#: half a person is far from being rounded away.
MOST_COUNTED = 1_000_000_000_000
#: Whole numbers from here on, or the next ones, are not exact in floating point.
LARGEST = 2**53 - 1


def above_zero(owner: object, name: str, value: Any) -> None:
    """Refuse anything but a finite number above 0, within the reach of arithmetic with a count of one."""
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
    """Refuse anything but a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{type(owner).__name__}({name}={value!r}): {name} must be a probability, from 0 to 1")


def at_least(owner: object, name: str, value: Any, least: int, why: str) -> None:
    """Refuse anything but a whole number of at least `least`, and numbers larger than any count."""
    if not is_whole(value) or value < least:
        raise InputError(
            f"{type(owner).__name__}({name}={value!r}): {name} must be a whole number of at least {least}; {why}"
        )
    if value > MOST_PEOPLE:
        raise InputError(f"{type(owner).__name__}({name}={value!r}): {name} must be at most {MOST_PEOPLE:,}")


def check_hashable(mechanism: object) -> None:
    """Refuse a mechanism without a hash: nothing could be remembered of it."""
    try:
        hash(mechanism)
    except TypeError:
        raise InputError(
            f"{mechanism!r} cannot be hashed, so nothing can be remembered of it; make it a frozen dataclass: "
            "@dataclass(frozen=True)"
        ) from None


def flag(owner: object, name: str, value: Any) -> None:
    """Refuse anything but True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{type(owner).__name__}({name}={value!r}): {name} must be True or False")


Check = Callable[[Any, str], object]
#: The largest distance of a sum of probabilities from one.
ROUNDING = 1e-6
#: Kinds of numbers in arrays: truth values, whole numbers and others.
KINDS = "biuf"


def values(given: Any, name: str) -> None:
    """Refuse anything but numbers, in an array of any shape."""
    if isinstance(given, np.ndarray | np.generic | float):
        if np.asarray(given).dtype.kind in KINDS:
            return
    else:
        try:
            array = np.asarray(given)
        except ValueError:  # lists of different lengths
            array = np.empty(0, dtype=object)
        if array.dtype.kind in KINDS and not isinstance(given, bool):
            return
    raise InputError(f"{name} is {shown(given)}; expected numbers")


def counts(given: Any, name: str) -> None:
    """Refuse anything but numbers keeping their digits; an empty cell (not a number) stays empty."""
    values(given, name)
    if not np.all(~(np.abs(given) > LARGEST)):
        raise InputError(f"{name} is {shown(given)}; expected numbers below 2**53; larger ones cannot be told apart")


def real(given: Any, name: str) -> None:
    """Refuse anything but one number."""
    if not is_number(given) or not abs(given) <= LARGEST:
        raise InputError(f"{name} is {shown(given)}; expected a number below 2**53")


def count(given: Any, name: str) -> None:
    """Refuse anything but a count of others."""
    whole(given, name, 0, LARGEST)


def share(given: Any, name: str) -> None:
    """Refuse anything but a probability, allowing for rounding above 1."""
    number(given, name, 0, 1 + ROUNDING)


#: The checks of the arguments of methods, in order.
ARGUMENTS: dict[str, dict[str, Check]] = {
    "sample": {"count": counts, "rng": generator},
    "log_likelihood": {"output": values, "count": counts},
    "information": {"presence": share, "count": count},
    "total_variation": {"count": count},
    "law": {"count": real},
    "outputs": {"count": count},
    "pair": {"count": count},
    "stand_ins": {"count": count},
}


def guard(mechanism: type) -> None:
    """Have the methods defined by a class check their arguments."""
    for name, checks in ARGUMENTS.items():
        method = vars(mechanism).get(name)
        if callable(method):
            setattr(mechanism, name, _checked(method, checks))


def _check_shapes(output: Any, count: Any, *_: Any) -> None:
    """Refuse arrays if the pairs of values and counts are not clear."""
    try:
        np.broadcast_shapes(np.shape(output), np.shape(count))
    except ValueError:
        shapes = f"{np.shape(output)} and {np.shape(count)}"
        raise InputError(f"output and count have shapes {shapes}, which do not go together") from None


def _checked(method: Callable[..., Any], checks: dict[str, Check]) -> Callable[..., Any]:
    in_order, name_of_method = tuple(checks.items()), method.__name__

    @wraps(method)
    def door(self: Any, *given: Any, **named: Any) -> Any:
        for (name, check), value in zip(in_order, given, strict=False):
            check(value, name)
        for name, value in named.items():
            if name in checks:
                checks[name](value, name)
        if name_of_method == "log_likelihood":
            _check_shapes(*given, *named.values())
        with np.errstate(over="ignore"):  # the logarithm of next to nothing
            return method(self, *given, **named)

    return door


class Record:
    """A readable `repr` for frozen dataclasses: defaults are not shown."""

    def __repr__(self) -> str:
        shown = []
        for f in sorted(fields(self), key=lambda f: f.kw_only is True):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            value = value.item() if isinstance(value, np.generic) else value
            if f.default is MISSING or value != f.default:
                shown.append(f"{f.name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"
