"""How probable the traces within so many misses of a guess are, at most: Theorem 1 of the paper, in logarithms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.kernels import decode, joint_maxima
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.logs import logs

Floats = NDArray[np.float64]

#: The full recursion of Theorem 1 is run only up to this many elementary operations (a few minutes).
FULL_LIMIT = 3e11
#: Probabilities below this may have lost digits or underflowed; bounds on their logarithms come from logarithms, or
#: take them for as large as this.
FAINT = 1e-290
#: Binomial coefficients of at most so many steps are exact; beyond, differences of log factorials lose a few digits.
EXACT_BINOMIALS = 2000


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

    At `misses = 0` it is the probability of the likeliest trace, exact.
    """
    check_single(prior)
    if misses == 0:
        return log_likeliest(prior, steps)
    table, _ = log_joint_maxima(prior, steps)
    return float(np.logaddexp.reduce([log_choose(steps, k) + table[steps - k - 1] for k in range(misses + 1)]))


def log_likeliest(prior: MarkovPrior, steps: int) -> float:
    """Log probability of the likeliest trace, `max_x Pr[X = x]`, where a state is a place."""
    check_single(prior)
    silence = Release.silent(prior.check_steps(steps)).classes(prior), np.zeros((1, steps, 1))
    _, value = decode.decode(*prior.named_logs, np.empty((0, 0)), *silence)
    return float(value[0])


def log_choose(n: int, k: int) -> float:
    """Log of the binomial coefficient."""
    if n <= EXACT_BINOMIALS:
        return math.log(math.comb(n, k))
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_joint_maxima(prior: MarkovPrior, steps: int) -> tuple[Floats, bool]:
    """Log of `f(k)`, k = 1..T: the largest joint probability of any k steps taking any k values. Shape (T,).

    Theorem 1 of Koga et al. (2024). The second value tells whether every entry is exact. A chain at equilibrium is
    tried with the fast recursion first, which certifies its own entries; the full recursion is run for the rest
    unless it would take longer than `FULL_LIMIT`, in which case the entries are upper bounds (and so still give a
    valid bound on the loss).
    """
    prior.check_steps(steps)
    fast = None
    if prior.starts_stationary:
        fast, certified = fast_joint_maxima(prior, steps)
        if certified.all():
            return fast, True
    if steps**3 * prior.places**2 / 6 + steps**2 * prior.places**3 / 2 > FULL_LIMIT:
        if fast is not None:
            return fast, False
        raise UnsupportedRelease(
            f"the table of Theorem 1 for a chain that is not at equilibrium would take too long with "
            f"{prior.places} places and {steps} steps"
        )
    return full_joint_maxima(prior, steps), True


def fast_joint_maxima(prior: MarkovPrior, steps: int) -> tuple[Floats, NDArray[np.bool_]]:
    """`log f(k)` without the limit on the total gap, for chains at equilibrium: O(T M²) after a few powers.

    Returns the values (T,), never below `log f(k)`, and which of them are certified to equal it: those whose gaps add
    up to at most T - 1. Long gaps seldom pay, so only as many powers of the matrix are formed as certify the values:
    the largest entry of a column never grows from one power to the next, which bounds all powers that were not formed.
    """
    log_initial, _ = prior.named_logs
    power = prior.transition
    best, gap = power.copy(), np.ones(power.shape, dtype=np.int64)
    formed = 1
    while True:
        later = power.max(axis=0) if formed < steps - 1 else np.zeros(prior.places)
        values, total = joint_maxima.chained(log_initial, best, gap, later, prior.guessable, steps)
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


def full_joint_maxima(prior: MarkovPrior, steps: int) -> Floats:
    """`log f(k)`, k = 1..T, by the recursion over absolute times, for any chain: O(T³ M² + T² M³).

    `G(k, t, x) = max_{t'<t} max_{x'} G(k-1, t', x') Pr[X_t = x | X_{t'} = x']`, `f(k) = max_t max_x G(k, t, x)`.
    """
    table = np.full((steps, steps, prior.places), -np.inf)
    table[:, 0] = logs(marginals_at_least(prior, steps)) + np.where(prior.guessable, 0.0, -np.inf)
    between, matrices = np.empty((steps, prior.places, prior.places)), prior.matrices
    for source in range(steps - 1):
        if source == 0 or not prior.homogeneous:
            so_far = np.eye(prior.places)
            for target in range(source + 1, steps):
                so_far = between[target - source - 1] = ahead(so_far, matrices[0 if prior.homogeneous else target - 1])
            log_between = logs(between[: steps - source - 1])
        joint_maxima.extend(table, source, log_between, prior.guessable)
    return np.asarray(table.max(axis=(0, 2)))


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
        out[t] = ahead(out[t - 1], prior.matrices[0 if prior.homogeneous else t - 1])
    return out
