"""Largest success probabilities allowed by Fano-type inequalities: one-dimensional roots, found by bisection.

A success p is looked for as `p = κ e^d`, so that neither a tiny κ nor a tiny gain d over it loses digits: κ is a
logarithm throughout, and what is compared are ratios to p, which neither underflow nor cancel.
"""

import numpy as np

from .jit import flag, inlined, kernel, number

#: What is told is taken for larger by this share, which covers the rounding of the two sides that are compared.
SLACK = 4e-13
#: Below this, differences of nearly equal numbers are taken from their series.
SMALL = 1 / 32


@inlined
def excess(d):
    """`d - 1 + e^{-d}`, at d >= 0."""
    if d > SMALL:
        return d + np.expm1(-d)
    total = 1.0
    for n in range(9, 2, -1):
        total = 1.0 - d / n * total
    return 0.5 * d * d * total


@inlined
def shortfall(u):
    """`u + (1-u) log(1-u)`, at u from 0 to 1."""
    if u >= 1.0:
        return 1.0
    if u > SMALL:
        return u + (1.0 - u) * np.log1p(-u)
    total = 0.0
    for n in range(11, 1, -1):
        total = total * u + 1.0 / (n * (n - 1))
    return u * u * total


@inlined
def cost(d, log_kappa, full):
    """The information that a success of `p = κ e^d` takes, divided by p.

    In full it is `kl(p ‖ κ) / p = (d - 1 + e^{-d}) + (1-κ) (u + (1-u) log(1-u)) / p` with `u = (p-κ) / (1-κ)`, a sum of
    what is never negative. Without the term in `log(1-κ)` it is `d + (1-p) log(1-p) / p`.
    """
    p = np.exp(min(0.0, log_kappa + d))
    if not full:
        if p < 1e-16:
            return d - 1.0
        return d + ((1.0 - p) * np.log1p(-p) / p if p < 1.0 else 0.0)
    if p < 1e-300:
        return excess(d)
    rest = -np.expm1(log_kappa)
    return excess(d) + rest * shortfall(-p * np.expm1(-d) / rest) / p


@kernel(number(number, number, flag))
def largest_gain(log_kappa, information, full):
    """The largest d for which `information` pays for a success of `κ e^d`, from 0 to `-log κ`, where it does not.

    Returns the far end of the last bracket: never below the root. Bisects on a logarithmic scale while the bracket
    spans orders of magnitude, since a gain may be tiny.
    """
    low, high = 0.0, -log_kappa
    told = np.log(information) + SLACK if information > 0.0 else -np.inf
    for _ in range(2000):
        if low > 0.0 and high > 2.0 * low:
            middle = np.sqrt(low) * np.sqrt(high)
        elif low > 0.0 or high < 1e-300:
            middle = 0.5 * (low + high)
        else:
            middle = high / 1024.0
        if not low < middle < high or high - low <= 1e-15 * high:
            break
        if cost(middle, log_kappa, full) <= np.exp(min(709.0, told - log_kappa - middle)):
            low = middle
        else:
            high = middle
    return high
