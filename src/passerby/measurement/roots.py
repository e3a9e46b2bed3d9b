"""Largest success probabilities allowed by Fano-type inequalities. Prior knowledge comes as a logarithm."""

from __future__ import annotations

import math
import sys

from passerby.kernels.chain.bounds import largest_gain


def rounded_up(log_value: float) -> float:
    """The probability of this logarithm; if it is too small to be held, a number not below it.

    Only impossible events become 0.

    >>> rounded_up(-800.0), rounded_up(-math.inf), rounded_up(0.1)
    (5e-324, 0.0, 1.0)
    """
    value = math.exp(min(0.0, log_value))
    if value > sys.float_info.min or log_value == -math.inf:
        return value
    return math.nextafter(value, 1.0)


def loose_root(unknown: float, log_ball: float, log_all: float) -> float:
    """One minus the smallest `q` with `unknown <= h(q) + q log((M^T - N) / N) + log N`.

    `unknown = H(X) - I`, `log_ball = log N`, `log_all = T log M`. Koga et al. (2024), equation 3. With `κ = N / M^T`
    the right side is `T log M - kl(1-q ‖ κ)`. This is the inequality of `divergence_root` for equally likely traces,
    with everything told but the `unknown`.
    """
    if unknown <= log_ball:
        return 1.0
    # By rounding, more may seem to be unknown than there is to know.
    rounding = 64 * sys.float_info.epsilon * log_all
    return divergence_root(max(0.0, log_all - unknown) + rounding, log_ball - log_all)


def tight_root(information: float, log_kappa: float) -> float:
    """The largest p with `-information <= h(p) + p log κ` (Koga et al. 2024, section 3.3.2)."""
    if log_kappa >= -information:
        return 1.0
    if log_kappa == -math.inf:
        return 0.0
    return rounded_up(log_kappa + largest_gain(log_kappa, max(0.0, information), False))


def divergence_root(information: float, log_kappa: float) -> float:
    """The largest p with `kl(p ‖ κ) <= information`, the full inequality behind the paper's tight bound.

    `kl(p ‖ κ) = p log(p/κ) + (1-p) log((1-p)/(1-κ))`; the paper drops the term in `log(1-κ)`.
    """
    if log_kappa >= min(0.0, -information):
        return 1.0
    if log_kappa == -math.inf:
        return 0.0
    if information <= 0:
        return rounded_up(log_kappa)
    return rounded_up(log_kappa + largest_gain(log_kappa, information, True))
