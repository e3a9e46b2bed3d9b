"""Logarithms of probabilities, of which some are zero, and of numbers of things, which may be too large to be held."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def logs(values: Floats) -> Floats:
    """Natural logarithms, minus infinity at zero, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def log_product(sizes: Iterable[float]) -> float:
    """The logarithm of a product of sizes; minus infinity where one is 0.

    >>> round(log_product([2] * 1250), 3), log_product([3, 0]), log_product([])
    (866.434, -inf, 0.0)
    """
    return math.fsum(math.log(size) if size else -math.inf for size in sizes)


def exceeds(log_size: float, most: float) -> bool:
    """Whether a size, by its logarithm, is above a number of the size of what can be listed.

    Of whole numbers, the last digits of a logarithm do not decide.

    >>> exceeds(log_product([2] * 12), 4096), exceeds(log_product([2] * 12), 4095), exceeds(1e4, 4096)
    (False, True, True)
    """
    return most <= 0 or log_size > math.log(most) + 1e-9


def in_words(log_size: float) -> str:
    """How many, by the logarithm: a whole number, or its power of ten where it has too many digits to be read.

    >>> in_words(log_product([6, 7])), in_words(log_product([2] * 20_000)), in_words(math.inf)
    ('42', 'about 10^6021', 'endlessly many')
    """
    if math.isinf(log_size):
        return "endlessly many" if log_size > 0 else "0"
    return f"{round(math.exp(log_size)):,}" if log_size < math.log(1e12) else f"about 10^{log_size / math.log(10):.0f}"
