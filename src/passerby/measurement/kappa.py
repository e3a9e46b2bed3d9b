"""What any guess achieves without a release, at most: cheap bounds, as logarithms."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.kernels import joint_maxima
from passerby.kernels.joint_maxima import FAINT
from passerby.model.prior import MarkovPrior
from passerby.support.logs import logs

from .ball import FULL_LIMIT, ahead, log_ball_paper, log_choose, log_likeliest, marginals_at_least


def log_kappa_bound(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of a cheap upper bound on what any guess achieves without a release: the best of three.

    The paper's sum over balls; moments of the number right (`log_moment_bound`); an adversary who is told each state
    after naming its place (`log_told_bound`). Where several states share a place, the last one alone.
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
    """Log of `min_k Σ_t max_x A_k(t, x) / C(m, k)`, where m steps must be right.

    With R right steps, `Pr[R >= m] <= E[C(R, k)] / C(m, k)`, and the expectation is a sum over sets of k steps of the
    probability that the guess is right at all of them: `A_1(t,x) = Pr[X_t=x]`,
    `A_k(t,x) = Σ_{u<t} max_y A_{k-1}(u,y) Pr[X_t=x | X_u=y]`. Refused where several states share a place.
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
            joint_maxima.add_up(table, source, target, logs(between) + named)
    sums = np.logaddexp.reduce(table.max(axis=2), axis=0)
    return float(min(sums[k - 1] - log_choose(needed, k) for k in range(1, needed + 1)))


def log_told_bound(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Log of the success of an adversary who learns each state after naming its place: never below that of any guess.

    `W_t(x,k) = Σ_y P(x,y) W_{t+1}(y,k) + max_g Σ_{y at g} P(x,y) (W_{t+1}(y,k-1) - W_{t+1}(y,k))`. Each row
    k has a scale of its own, as a logarithm. The recursion never falls when `W` is raised, so that what is too small
    for its scale is.
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
