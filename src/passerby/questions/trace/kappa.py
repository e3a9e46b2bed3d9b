"""Cheap bounds on all guesses without a release, as logarithms.

One of them says how probable the traces within so many misses of a guess are: Theorem 1 of the paper.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.kernels.chain import bounds, decode
from passerby.kernels.chain.bounds import FAINT
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.numbers import logs

Floats = NDArray[np.float64]
#: The most operations of the full recursion of Theorem 1: to run it at once, and to run it if the fast one fails (a few
#: minutes).
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

    At `misses = 0` it is the probability of the likeliest nameable trace, exact.
    """
    check_single(prior)
    if misses == 0:
        return log_likeliest(prior, steps)
    table, _ = log_joint_maxima(prior, steps, misses)
    return float(np.logaddexp.reduce([log_choose(steps, k) + table[misses - k] for k in range(misses + 1)]))


def log_likeliest(prior: MarkovPrior, steps: int) -> float:
    """Log probability of the likeliest nameable trace, `max_x Pr[X = x]`, if a state is a place."""
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
    recursion first, which certifies its own entries. The full recursion is run for the rest unless it would take longer
    than `FULL_LIMIT`. Otherwise the entries are upper bounds (and so still give a valid bound on the loss).
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

    Returns the values (misses + 1,), never below `log f(k)`, and marks the values certified to equal it: their gaps add
    up to at most T - 1. Long gaps seldom pay, so only the powers of the matrix needed for certifying the values are
    formed. The largest entry of a column never grows from one power to the next. This bounds all powers never formed.
    """
    log_initial, _ = prior.named_logs
    fewest = 1 if misses is None else steps - misses
    power = prior.transition
    best, gap = power.copy(), np.ones(power.shape, dtype=np.int64)
    formed = 1
    while True:
        later = power.max(axis=0) if formed < steps - 1 else np.zeros(prior.places)
        values, total = bounds.chained(log_initial, best, gap, later, prior.guessable, steps)
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
    return np.asarray(bounds.joint_maxima(prior.initial, prior.matrices, prior.guessable, steps, misses))


def ahead(law: Floats, moves: Floats) -> Floats:
    """`law @ moves`, keeping possible states from underflow: their chance is taken for at least `FAINT`."""
    out = law @ moves
    if out.min() < FAINT:
        out[(out < FAINT) & ((law > 0).astype(np.float64) @ (moves > 0) > 0)] = FAINT
    return out


def marginals_at_least(prior: MarkovPrior, steps: int) -> Floats:
    """`MarkovPrior.marginals`, keeping possible states from underflow."""
    out = np.empty((prior.check_steps(steps), prior.places))
    out[0] = prior.initial
    for t in range(1, steps):
        out[t] = ahead(out[t - 1], prior.matrix(t - 1))
    return out


def log_kappa_bound(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of a cheap upper bound on all guesses without a release: the best of three.

    The three are the paper's sum over balls, moments of the number right (`log_moment_bound`), and an adversary
    learning each state after naming its place (`log_told_bound`). If several states share a place, the last one alone.
    """
    values = [0.0]
    if misses == 0 and prior.single:
        return min(0.0, log_likeliest(prior, steps))
    if prior.single and steps**2 * prior.states**3 <= FULL_LIMIT / 10:
        values.append(log_moment_bound(prior, steps, steps - misses))
    if steps * (steps - misses) * prior.states**2 <= FULL_LIMIT / 10:
        values.append(log_told_bound(prior, steps, misses))
    with suppress(UnsupportedRelease):
        values.append(log_ball_paper(prior, steps, misses))
    return min(values)


def log_moment_bound(prior: MarkovPrior, steps: int, needed: int) -> float:
    """Log of `min_k Σ_t max_x A_k(t, x) / C(m, k)`, if m steps must be right.

    With R right steps, `Pr[R >= m] <= E[C(R, k)] / C(m, k)`. The expectation is a sum over sets of k steps, of the
    probability of the guess being right at all of them: `A_1(t,x) = Pr[X_t=x]`, `A_k(t,x) = Σ_{u<t} max_y A_{k-1}(u,y)
    Pr[X_t=x | X_u=y]`. Refused if several states share a place.
    """
    if not prior.single:
        raise UnsupportedRelease(
            "moments of the number right are of chains whose states are places; see log_told_bound"
        )
    named = np.where(prior.guessable, 0.0, -np.inf)
    table = np.full((steps, needed, prior.places), -np.inf)
    table[:, 0] = logs(marginals_at_least(prior, steps)) + named
    for source in range(steps):
        between = np.eye(prior.places)
        for target in range(source + 1, steps):
            between = ahead(between, prior.matrix(target - 1))
            bounds.add_up(table, source, target, logs(between) + named)
    sums = np.logaddexp.reduce(table.max(axis=2), axis=0)
    return float(min(sums[k - 1] - log_choose(needed, k) for k in range(1, needed + 1)))


def log_told_bound(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of the success of an adversary learning each state after naming its place: never below any guess's success.

    `W_t(x,k) = Σ_y P(x,y) W_{t+1}(y,k) + max_g Σ_{y at g} P(x,y) (W_{t+1}(y,k-1) - W_{t+1}(y,k))`. Each row k has a
    scale of its own, as a logarithm. The recursion never falls if `W` is raised. So an entry too small for its scale is
    raised.
    """
    named = prior.named[prior.place_of]
    needed = steps - misses
    value, scale = np.zeros((needed + 1, prior.states)), np.full(needed + 1, -np.inf)
    value[0], scale[0] = 1.0, 0.0
    for t in range(steps - 1, -1, -1):
        moves = prior.initial[None] if t == 0 else prior.matrix(t - 1)
        new = np.ones((needed + 1, moves.shape[0]))
        for k in range(needed, 0, -1):
            if scale[k - 1] == -np.inf:
                new[k] = 0.0
                continue
            # With more steps needed there is less success: the row before has the larger scale.
            row = value[k] * math.exp(scale[k] - scale[k - 1])
            row[(row < FAINT) & (value[k] > 0)] = FAINT
            gain = np.maximum(value[k - 1] - row, 0.0) * named
            gains = moves * gain if prior.single else prior.by_place(moves * gain)
            new[k] = moves @ row + gains.max(axis=1)
            if new[k].min() < FAINT:
                possible = (moves > 0).astype(np.float64) @ ((row > 0) | (gain > 0)) > 0
                new[k, (new[k] < FAINT) & possible] = FAINT
            top = new[k].max()
            scale[k] = scale[k - 1] + math.log(top) if top > 0 else -np.inf
            new[k] /= top if top > 0 else 1.0
        value = new
    return min(0.0, float(scale[needed]))
