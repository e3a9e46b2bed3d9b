"""How probable the traces within so many misses of a guess are, at most: Theorem 1 of the paper, in logarithms."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.kernels import decode, joint_maxima
from passerby.kernels.joint_maxima import FAINT
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

Floats = NDArray[np.float64]

#: The full recursion of Theorem 1 is run at once up to so many elementary operations, and where the fast one fails up
#: to so many (a few minutes).
FULL_AT_ONCE, FULL_LIMIT = 1e4, 3e11
#: Binomial coefficients of at most so many steps are exact; beyond, differences of log factorials lose a few digits.
EXACT_BINOMIALS = 2000


@lru_cache(maxsize=64)
def log_ball(places: int, steps: int, misses: int) -> float:
    """Log of the number of traces within `misses` of a given one: `N_s = Σ_{l≤s} C(T, l) (M-1)^l`."""
    if places == 1:
        return 0.0
    terms = [log_choose(steps, k) + k * math.log(places - 1) for k in range(misses + 1)]
    return float(np.logaddexp.reduce(terms))


def check_single(prior: MarkovPrior) -> None:
    """Refuse chains whose states share places: the likeliest trace of states is none of places."""
    if not prior.single:
        raise UnsupportedRelease("the paper's bounds are for chains in which a state is a place")


def log_ball_paper(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of the paper's bound on the largest probability of a ball: `Σ_{l≤s} C(T, l) f(T - l)` (equation 5).

    At `misses = 0` it is the probability of the likeliest trace that may be named, exact.
    """
    check_single(prior)
    if misses == 0:
        return log_likeliest(prior, steps)
    table, _ = log_joint_maxima(prior, steps, misses)
    return float(np.logaddexp.reduce([log_choose(steps, k) + table[misses - k] for k in range(misses + 1)]))


def log_likeliest(prior: MarkovPrior, steps: int) -> float:
    """Log probability of the likeliest trace that may be named, `max_x Pr[X = x]`, where a state is a place."""
    check_single(prior)
    silence = Release.silent(prior.check_steps(steps)).classes(prior), np.zeros((1, steps, 1))
    _, value = decode.decode(*prior.named_logs, np.empty((0, 0)), *silence)
    return float(value[0])


def log_choose(n: int, k: int) -> float:
    """Log of the binomial coefficient."""
    if n <= EXACT_BINOMIALS:
        return math.log(math.comb(n, k))
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_joint_maxima(prior: MarkovPrior, steps: int, misses: int | None = None) -> tuple[Floats, bool]:
    """Log of `f(k)`, k = T - misses..T: the largest joint probability of any k steps taking any k values.

    Theorem 1 of Koga et al. (2024); for all k from 1 on, unless `misses` are given. Shape (misses + 1,). The second
    value tells whether every entry is exact. Unless it is small, a chain at equilibrium is tried with the fast
    recursion first, which certifies its own entries; the full recursion is run for the rest unless it would take longer
    than `FULL_LIMIT`, in which case the entries are upper bounds (and so still give a valid bound on the loss).
    """
    prior.check_steps(steps)
    misses = steps - 1 if misses is None else misses
    cost = steps * (misses + 1) * prior.places**2 * (prior.places + misses + 1) / 2
    fast = None
    if cost > FULL_AT_ONCE and prior.starts_stationary:
        fast, certified = fast_joint_maxima(prior, steps, misses)
        if certified.all():
            return fast, True
    if cost > FULL_LIMIT:
        if fast is not None:
            return fast, False
        raise UnsupportedRelease(
            f"the table of Theorem 1 for a chain that is not at equilibrium would take too long with "
            f"{prior.places} places and {steps} steps"
        )
    return full_joint_maxima(prior, steps, misses), True


def fast_joint_maxima(prior: MarkovPrior, steps: int, misses: int | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """`log f(k)` without the limit on the total gap, for chains at equilibrium: O(T M²) after a few powers.

    Returns the values (misses + 1,), never below `log f(k)`, and which of them are certified to equal it: those whose
    gaps add up to at most T - 1. Long gaps seldom pay, so only as many powers of the matrix are formed as certify the
    values: the largest entry of a column never grows from one power to the next, which bounds all powers that were not
    formed.
    """
    log_initial, _ = prior.named_logs
    fewest = 1 if misses is None else steps - misses
    power = prior.transition
    best, gap = power.copy(), np.ones(power.shape, dtype=np.int64)
    formed = 1
    while True:
        later = power.max(axis=0) if formed < steps - 1 else np.zeros(prior.places)
        values, total = joint_maxima.chained(log_initial, best, gap, later, prior.guessable, steps)
        values, total = values[fewest - 1 :], total[fewest - 1 :]
        certified = (total <= steps - 1) | (values == -np.inf)
        if certified.all() or formed >= steps - 1:
            return values, certified
        target = min(2 * formed, steps - 1)
        for delta in range(formed + 1, target + 1):
            power = ahead(power, prior.transition)
            better = power > best
            best[better] = power[better]
            gap[better] = delta
        formed = target


def full_joint_maxima(prior: MarkovPrior, steps: int, misses: int | None = None) -> Floats:
    """`log f(k)`, k = T - misses..T, by the recursion over absolute times, for any chain (`joint_maxima.recursion`)."""
    misses = steps - 1 if misses is None else misses
    return np.asarray(joint_maxima.recursion(prior.initial, prior.matrices, prior.guessable, steps, misses))


def ahead(law: Floats, moves: Floats) -> Floats:
    """`law @ moves`, in which what is possible does not underflow: it is taken for at least `FAINT`."""
    out = law @ moves
    if out.min() < FAINT:
        out[(out < FAINT) & ((law > 0).astype(np.float64) @ (moves > 0) > 0)] = FAINT
    return out


def marginals_at_least(prior: MarkovPrior, steps: int) -> Floats:
    """`MarkovPrior.marginals`, in which what is possible does not underflow."""
    out = np.empty((prior.check_steps(steps), prior.places))
    out[0] = prior.initial
    for t in range(1, steps):
        out[t] = ahead(out[t - 1], prior.matrix(t - 1))
    return out
