"""Largest success probabilities allowed by Fano-type inequalities: one-dimensional roots, found by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable


def _h(p: float) -> float:
    """Binary entropy in nats."""
    return -(p * math.log(p) if p > 0 else 0.0) - ((1 - p) * math.log1p(-p) if p < 1 else 0.0)


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest point of [low, high] for which `holds`, true at `low` and false at `high`.

    Returns the false end of the last bracket: never below the root. Bisects on a logarithmic scale while the
    bracket spans orders of magnitude, since a loss may be tiny.
    """
    for _ in range(2000):
        if low > 0 and high > 2 * low:
            middle = math.sqrt(low) * math.sqrt(high)
        else:
            middle = 0.5 * (low + high) if low > 0 or high < 1e-300 else high / 2**10
        if not low < middle < high or high - low <= 1e-15 * high:
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return high


def loose_root(unknown: float, log_ball: float, log_all: float) -> float:
    """One minus the smallest `q` with `unknown <= h(q) + q log((M^T - N) / N) + log N`.

    `unknown = H(X) - I`, `log_ball = log N`, `log_all = T log M`. Koga et al. (2024), equation 3.
    """
    need = unknown - log_ball
    if need <= 0 or log_ball >= log_all:
        return 1.0
    log_rest = log_all + math.log(-math.expm1(log_ball - log_all)) - log_ball
    peak = math.exp(log_ball - log_all)  # the success probability at which the right side is largest
    return _bisect(lambda p: _h(p) + (1 - p) * log_rest >= need, peak, 1.0)


def tight_root(information: float, log_kappa: float) -> float:
    """The largest p with `-information <= h(p) + p log κ` (Koga et al. 2024, section 3.3.2)."""
    if log_kappa >= -information:
        return 1.0
    kappa = math.exp(log_kappa)
    return _bisect(lambda p: _h(p) + p * log_kappa >= -information, kappa / (1 + kappa), 1.0)


def divergence_root(information: float, log_kappa: float) -> float:
    """The largest p with `kl(p ‖ κ) <= information`, the full inequality behind the paper's tight bound.

    `kl(p ‖ κ) = p log(p/κ) + (1-p) log((1-p)/(1-κ))`; the paper drops the term in `log(1-κ)`.
    """
    if log_kappa >= -information or log_kappa >= 0:
        return 1.0
    kappa = math.exp(log_kappa)
    log_rest = math.log1p(-kappa)
    return _bisect(lambda p: -_h(p) - p * log_kappa - (1 - p) * log_rest <= information, kappa, 1.0)
