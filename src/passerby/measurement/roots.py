"""Largest success probabilities allowed by Fano-type inequalities: one-dimensional roots, found by bisection."""

from __future__ import annotations

import math

from passerby.kernels.bisection import largest


def loose_root(unknown: float, log_ball: float, log_all: float) -> float:
    """One minus the smallest `q` with `unknown <= h(q) + q log((M^T - N) / N) + log N`.

    `unknown = H(X) - I`, `log_ball = log N`, `log_all = T log M`. Koga et al. (2024), equation 3.
    """
    need = unknown - log_ball
    if need <= 0 or log_ball >= log_all:
        return 1.0
    log_rest = log_all + math.log(-math.expm1(log_ball - log_all)) - log_ball
    peak = math.exp(log_ball - log_all)  # the success probability at which the right side is largest
    return float(largest(peak, 0.0, log_rest, need, 1.0))


def tight_root(information: float, log_kappa: float) -> float:
    """The largest p with `-information <= h(p) + p log κ` (Koga et al. 2024, section 3.3.2)."""
    if log_kappa >= -information:
        return 1.0
    kappa = math.exp(log_kappa)
    return float(largest(kappa / (1 + kappa), log_kappa, 0.0, -information, 1.0))


def divergence_root(information: float, log_kappa: float) -> float:
    """The largest p with `kl(p ‖ κ) <= information`, the full inequality behind the paper's tight bound.

    `kl(p ‖ κ) = p log(p/κ) + (1-p) log((1-p)/(1-κ))`; the paper drops the term in `log(1-κ)`.
    """
    kappa = math.exp(min(log_kappa, 0.0))
    if log_kappa >= -information or kappa == 1:
        return 1.0
    if information <= 0:
        return kappa  # the divergence is flat at its zero, where bisection would stop too late
    log_rest = math.log1p(-kappa)
    return float(largest(kappa, log_kappa, log_rest, -information, 1.0))
