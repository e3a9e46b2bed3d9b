"""Ceilings for the loss: no guess, however clever, succeeds more often.

`loose` and `tight` are the bounds of Koga, Meehan and Chaudhuri (2024), sections 3.3.1 and 3.3.2; they may be handed
the paper's bound on the mutual information, which `paper_information` works out otherwise. `fano`, `leakage` and `dp`
use kappa, an upper bound on what any guess achieves without the release: its logarithm may be handed in as `log_kappa`,
and is worked out by `log_kappa_bound` otherwise. Each function takes (prior, release, misses) and returns a number in
[0, 1]; a bound that does not hold for a release raises `UnsupportedRelease`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.kernels import chain, joint_maxima, renewal
from passerby.mechanisms import Gaussian
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .accounting import most_sightings, private_noise, success_bound
from .attacks import logs
from .information import check_independent, check_stretches, entropy, mutual_information
from .roots import divergence_root, loose_root, rounded_up, tight_root

Floats = NDArray[np.float64]

#: The full recursion of Theorem 1 is run only up to this many elementary operations (a few minutes).
FULL_LIMIT = 3e11
#: Probabilities below this may have lost digits or underflowed; bounds on their logarithms come from logarithms, or
#: take them for as large as this.
FAINT = 1e-290
#: Binomial coefficients of at most so many steps are exact; beyond, differences of log factorials lose a few digits.
EXACT_BINOMIALS = 2000


def loose_bound(prior: MarkovPrior, release: Release, misses: int, information: float | None = None) -> float:
    """The paper's bound from a Fano-type inequality: counts how many traces lie within `misses` of a guess.

    >>> from passerby import line_prior
    >>> round(loose_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.256551
    """
    steps, universe = release.steps, prior.universe
    if information is None:
        information = paper_information(prior, release)
    unknown = entropy(prior, steps) - information
    return loose_root(unknown, log_ball(universe, steps, misses), steps * math.log(universe))


def tight_bound(prior: MarkovPrior, release: Release, misses: int, information: float | None = None) -> float:
    """The paper's bound for uneven priors: weighs the traces within `misses` of a guess by their probability.

    >>> from passerby import line_prior
    >>> round(tight_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.040493
    """
    if information is None:
        information = paper_information(prior, release)
    return tight_root(information, log_ball_paper(prior, release.steps, misses))


def fano_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """The largest p with `kl(p ‖ κ) <= I`: the full inequality behind `tight`, with the best information and kappa.

    For a guess made from the published series, "success" is a function of (trace, series). Its probability is p under
    their joint law and at most kappa if the two were independent, so `I(X;Y) >= kl(p ‖ κ)` by the data-processing
    inequality (Han and Verdú 1994 give the weaker form without the term in `log(1 - κ)`).
    """
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    return divergence_root(mutual_information(prior, release, "best"), log_kappa)


def leakage_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """`min_β κ^{1-β} Σ_y Pr[y]^β`: a series cannot help more than its probability, nor more than kappa.

    `success = Σ_y max_g Pr[success, Y = y] <= Σ_y min(Pr[y], κ)`, and `min(a, b) <= a^β b^{1-β}`. The sum is a
    recursion over stretches between sightings. A mechanism whose laws with and without the target are at total
    variation ρ is a degraded version of "tell the truth with probability ρ, else nothing", which extends the bound to
    any mechanism.
    """
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    steps, sensors = release.grid.shape
    if sensors == 0:
        return rounded_up(log_kappa)
    check_independent(release)
    reveal = np.zeros((steps, sensors))
    for t, step in enumerate(release.channels):
        for j, channel in enumerate(step):
            reveal[t, j] = channel.apart
    check_stretches(prior, release)
    log_first, log_stay = renewal.stretches(prior.initial, prior.matrices, release.grid, reveal)
    log_reveal = logs(reveal.reshape(-1))

    if log_kappa == -math.inf:
        return 0.0
    return rounded_up(renewal.lowest_power_sum(log_first, log_stay, log_reveal, log_kappa))


def dp_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """What follows from differential privacy alone: `1 - f(κ)`, f the trade-off function of the noise.

    The noise counts at as many steps as this person can be sighted at, at most (`accounting.success_bound`).
    """
    noise = private_noise(release.mechanism)
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    return success_bound(noise, most_sightings(prior, release), log_kappa)


def log_kappa_bound(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of a cheap upper bound on what any guess achieves without a release: the best of three.

    The paper's sum over balls; moments of the number right (`log_moment_bound`); an adversary who is told each place
    after naming it (`log_told_bound`).
    """
    values = [0.0]
    if misses == 0:
        return min(0.0, log_likeliest(prior, steps))
    if steps**2 * prior.places**3 <= FULL_LIMIT / 10:
        values.append(log_moment_bound(prior, steps, steps - misses))
    if steps * (steps - misses) * prior.places**2 <= FULL_LIMIT / 10:
        values.append(log_told_bound(prior, steps, misses))
    with suppress(UnsupportedRelease):
        values.append(log_ball_paper(prior, steps, misses))
    return min(values)


def log_moment_bound(prior: MarkovPrior, steps: int, needed: int) -> float:
    """Log of `min_k Σ_t max_x A_k(t, x) / C(m, k)`, where m steps must be right.

    With R right steps, `Pr[R >= m] <= E[C(R, k)] / C(m, k)`, and the expectation is a sum over sets of k steps of the
    probability that the guess is right at all of them: `A_1(t,x) = Pr[X_t=x]`,
    `A_k(t,x) = Σ_{u<t} max_y A_{k-1}(u,y) Pr[X_t=x | X_u=y]`.
    """
    named = np.where(prior.guessable, 0.0, -np.inf)
    table = np.full((steps, needed, prior.places), -np.inf)
    table[:, 0] = logs(_marginals(prior, steps)) + named
    for source in range(steps):
        between = np.eye(prior.places)
        for target in range(source + 1, steps):
            between = ahead(between, prior.matrices[0 if prior.homogeneous else target - 1])
            joint_maxima.add_up(table, source, target, logs(between) + named)
    sums = np.logaddexp.reduce(table.max(axis=2), axis=0)
    return float(min(sums[k - 1] - log_choose(needed, k) for k in range(1, needed + 1)))


def log_told_bound(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of the success of an adversary who learns each place after naming it: never below that of any guess.

    `W_t(x,k) = Σ_y P(x,y) W_{t+1}(y,k) + max_y P(x,y) (W_{t+1}(y,k-1) - W_{t+1}(y,k))`. Each row k has a scale of its
    own, as a logarithm. The recursion never falls when `W` is raised, so that what is too small for its scale is.
    """
    named = prior.guessable.astype(np.float64)
    needed = steps - misses
    value, scale = np.zeros((needed + 1, prior.places)), np.full(needed + 1, -np.inf)
    value[0], scale[0] = 1.0, 0.0
    for t in range(steps - 1, -1, -1):
        moves = prior.initial[None] if t == 0 else prior.matrices[0 if prior.homogeneous else t - 1]
        new = np.ones((needed + 1, moves.shape[0]))
        for k in range(needed, 0, -1):
            if scale[k - 1] == -np.inf:
                new[k] = 0.0
                continue
            # With more steps needed there is less success: the row before has the larger scale.
            row = value[k] * math.exp(scale[k] - scale[k - 1])
            row[(row < FAINT) & (value[k] > 0)] = FAINT
            gain = np.maximum(value[k - 1] - row, 0.0) * named
            new[k] = moves @ row + (moves * gain).max(axis=1)
            if new[k].min() < FAINT:
                possible = (moves > 0).astype(np.float64) @ ((row > 0) | (gain > 0)) > 0
                new[k, (new[k] < FAINT) & possible] = FAINT
            top = new[k].max()
            scale[k] = scale[k - 1] + math.log(top) if top > 0 else -np.inf
            new[k] /= top if top > 0 else 1.0
        value = new
    return min(0.0, float(scale[needed]))


def paper_information(prior: MarkovPrior, release: Release) -> float:
    """The upper bound on the mutual information that the paper uses for this mechanism."""
    if release.plain:
        return mutual_information(prior, release, "order1")
    if isinstance(release.mechanism, Gaussian) and release.crowd is None:
        return mutual_information(prior, release, "paper-gaussian")
    raise UnsupportedRelease(f"the paper's bounds hold for raw counts and Gaussian noise, not for {release.way}")


def log_ball(places: int, steps: int, misses: int) -> float:
    """Log of the number of traces within `misses` of a given one: `N_s = Σ_{l≤s} C(T, l) (M-1)^l`."""
    if places == 1:
        return 0.0
    terms = [log_choose(steps, k) + k * math.log(places - 1) for k in range(misses + 1)]
    return float(np.logaddexp.reduce(terms))


def log_ball_paper(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of the paper's bound on the largest probability of a ball: `Σ_{l≤s} C(T, l) f(T - l)` (equation 5).

    At `misses = 0` it is the probability of the likeliest trace, exact.
    """
    if misses == 0:
        return log_likeliest(prior, steps)
    table, _ = log_joint_maxima(prior, steps)
    return float(np.logaddexp.reduce([log_choose(steps, k) + table[steps - k - 1] for k in range(misses + 1)]))


def log_likeliest(prior: MarkovPrior, steps: int) -> float:
    """Log probability of the likeliest trace, `max_x Pr[X = x]`."""
    nothing = np.empty((steps, 0), dtype=np.int64)
    _, value = chain.decode(*prior.named_logs, np.empty((0, 0)), nothing, np.zeros((1, prior.check_steps(steps), 1)))
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
    table[:, 0] = logs(_marginals(prior, steps)) + np.where(prior.guessable, 0.0, -np.inf)
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


def _marginals(prior: MarkovPrior, steps: int) -> Floats:
    """`MarkovPrior.marginals`, in which what is possible does not underflow."""
    out = np.empty((prior.check_steps(steps), prior.places))
    out[0] = prior.initial
    for t in range(1, steps):
        out[t] = ahead(out[t - 1], prior.matrices[0 if prior.homogeneous else t - 1])
    return out


BOUNDS: dict[str, Callable[..., float]] = {
    "loose": loose_bound,
    "tight": tight_bound,
    "fano": fano_bound,
    "leakage": leakage_bound,
    "dp": dp_bound,
}
#: The bounds that take `log_kappa`.
FROM_KAPPA = ("fano", "leakage", "dp")
