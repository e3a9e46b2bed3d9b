"""Ceilings for the loss: no guess, however clever, succeeds more often.

`loose` and `tight` are the bounds of Koga, Meehan and Chaudhuri (2024), sections 3.3.1 and 3.3.2. Each function takes
(prior, release, misses) and returns a number in [0, 1]; a bound that does not hold for a release raises
`UnsupportedRelease`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .attacks import logs
from .errors import UnsupportedRelease
from .information import entropy, mutual_information
from .kernels import chain, joint
from .mechanisms import Gaussian, Raw
from .prior import MarkovPrior
from .release import Release
from .roots import loose_root, tight_root

Floats = NDArray[np.float64]

#: The full recursion of Theorem 1 is run only up to this many elementary operations (a few minutes).
FULL_LIMIT = 3e11


def loose_bound(prior: MarkovPrior, release: Release, misses: int) -> float:
    """The paper's bound from a Fano-type inequality: counts how many traces lie within `misses` of a guess.

    >>> from passerby import line_prior
    >>> round(loose_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.256551
    """
    steps, universe = release.steps, prior.universe
    unknown = entropy(prior, steps) - paper_information(prior, release)
    return loose_root(unknown, log_ball(universe, steps, misses), steps * math.log(universe))


def tight_bound(prior: MarkovPrior, release: Release, misses: int) -> float:
    """The paper's bound for uneven priors: weighs the traces within `misses` of a guess by their probability.

    >>> from passerby import line_prior
    >>> round(tight_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.040493
    """
    return tight_root(paper_information(prior, release), log_ball_paper(prior, release.steps, misses))


def paper_information(prior: MarkovPrior, release: Release) -> float:
    """The upper bound on the mutual information that the paper uses for this mechanism."""
    if isinstance(release.mechanism, Raw):
        return mutual_information(prior, release, "order1")
    if isinstance(release.mechanism, Gaussian):
        return mutual_information(prior, release, "paper-gaussian")
    raise UnsupportedRelease(
        f"the paper's bounds hold for raw counts and Gaussian noise, not for {release.mechanism!r}"
    )


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
    named = np.where(prior.guessable, 0.0, -np.inf)
    nothing = np.empty((steps, 0), dtype=np.int64)
    _, value = chain.decode(
        logs(prior.initial) + named,
        logs(prior.matrices) + named,
        np.empty((0, 0)),
        nothing,
        np.zeros((1, prior.check_steps(steps), 1)),
    )
    return float(value[0])


def log_choose(n: int, k: int) -> float:
    """Log of the binomial coefficient."""
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
    """`log f(k)` without the limit on the total gap, for chains at equilibrium: O(T M²) after the powers.

    Returns the values (T,), never below `log f(k)`, and which of them are certified to equal it: those whose gaps add
    up to at most T - 1.
    """
    named = np.where(prior.guessable, 0.0, -np.inf)
    power = prior.transition.copy()
    best, gap = power.copy(), np.ones(power.shape, dtype=np.int64)
    for delta in range(2, steps):
        after = power @ prior.transition
        # Once a power repeats itself to the last bits, so do all later ones.
        settled = bool(np.all(np.abs(after - power) <= 1e-15 * after))
        power = after
        better = power > best
        best[better] = power[better]
        gap[better] = delta
        if settled:
            break
    values, total = joint.chained(logs(prior.initial) + named, logs(best) + named, gap, steps)
    return values, (total <= steps - 1) | (values == -np.inf)


def full_joint_maxima(prior: MarkovPrior, steps: int) -> Floats:
    """`log f(k)`, k = 1..T, by the recursion over absolute times, for any chain: O(T³ M² + T² M³).

    `G(k, t, x) = max_{t'<t} max_{x'} G(k-1, t', x') Pr[X_t = x | X_{t'} = x']`, `f(k) = max_t max_x G(k, t, x)`.
    """
    table = np.full((steps, steps, prior.places), -np.inf)
    table[:, 0] = logs(prior.marginals(steps)) + np.where(prior.guessable, 0.0, -np.inf)
    powers: list[Floats] = []
    for source in range(steps):
        between = np.eye(prior.places)
        for target in range(source + 1, steps):
            if not prior.homogeneous:
                between = between @ prior.transition[target - 1]
                log_between = logs(between)
            else:
                if source == 0:
                    between = between @ prior.transition
                    powers.append(logs(between))
                log_between = powers[target - source - 1]
            joint.extend(table, source, target, log_between, prior.guessable)
    return np.asarray(table.max(axis=(0, 2)))


BOUNDS: dict[str, Callable[[MarkovPrior, Release, int], float]] = {"loose": loose_bound, "tight": tight_bound}
