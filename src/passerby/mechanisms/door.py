"""What the methods of a mechanism are called with: whoever wrote the mechanism, arguments are checked alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import generator, is_number, number, shown, whole

from .checks import LARGEST

Check = Callable[[Any, str], object]
#: What a sum of probabilities may be away from one.
ROUNDING = 1e-6
#: Kinds of numbers in arrays: truth values, whole numbers and others.
KINDS = "biuf"


def values(given: Any, name: str) -> None:
    """Refuse what are no numbers, in an array of any shape."""
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
    """Refuse what are no numbers that keep their digits; an empty cell, which is not a number, stays empty."""
    values(given, name)
    if not np.all(~(np.abs(given) > LARGEST)):
        raise InputError(f"{name} is {shown(given)}; expected numbers below 2**53; larger ones cannot be told apart")


def real(given: Any, name: str) -> None:
    """Refuse what is not one number."""
    if not is_number(given) or not abs(given) <= LARGEST:
        raise InputError(f"{name} is {shown(given)}; expected a number below 2**53")


def count(given: Any, name: str) -> None:
    """Refuse what is no count of others."""
    whole(given, name, 0, LARGEST)


def share(given: Any, name: str) -> None:
    """Refuse what is no probability, which may be above 1 by rounding."""
    number(given, name, 0, 1 + ROUNDING)


#: What the methods are called with, in order.
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
    """Have the methods that a class defines check what they are called with."""
    for name, checks in ARGUMENTS.items():
        method = vars(mechanism).get(name)
        if callable(method):
            setattr(mechanism, name, _checked(method, checks))


def _check_shapes(output: Any, count: Any, *_: Any) -> None:
    """Refuse arrays of which it is not known which value belongs to which count."""
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
