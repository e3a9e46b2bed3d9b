"""Largest success probabilities allowed by Fano-type inequalities: one-dimensional roots, found by bisection."""

import numpy as np

from .jit import inlined, kernel, number


@inlined
def binary_entropy(p):
    """`-p log p - (1-p) log(1-p)`."""
    return -(p * np.log(p) if p > 0.0 else 0.0) - ((1.0 - p) * np.log1p(-p) if p < 1.0 else 0.0)


@kernel(number(number, number, number, number, number))
def largest(low, slope, rest_slope, limit, high):
    """The largest p of [low, high] with `h(p) + p slope + (1-p) rest_slope >= limit`, true at low and false at high.

    Returns the false end of the last bracket: never below the root. Bisects on a logarithmic scale while the bracket
    spans orders of magnitude, since a loss may be tiny.
    """
    for _ in range(2000):
        if low > 0.0 and high > 2.0 * low:
            middle = np.sqrt(low) * np.sqrt(high)
        elif low > 0.0 or high < 1e-300:
            middle = 0.5 * (low + high)
        else:
            middle = high / 1024.0
        if not low < middle < high or high - low <= 1e-15 * high:
            break
        if binary_entropy(middle) + middle * slope + (1.0 - middle) * rest_slope >= limit:
            low = middle
        else:
            high = middle
    return high
