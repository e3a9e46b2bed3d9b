"""Guesses of an adversary knowing the covariance of the numbers of others at different counts.

Somebody who stays is in two counts or in neither. So the rest of a count, given the count before it, is far less
uncertain than the whole count. Take the numbers of others for Gaussian, of mean μ and covariance Σ. A trace has bits b
(whether it is at each sensor). It is the likelier, the larger

    log Pr[x] + bᵀ Λ r - ½ bᵀ Λ b,    r = y - μ,    Λ = Σ⁻¹.

This is a chain again if Λ is kept only between neighbouring steps. For the rest, b is put at its mean. It is a way to
guess and nothing else: guesses are scored under the true law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.measurement.information import sighting_probabilities
from passerby.model.chains import conditioned_all
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.numbers import logs

from .guess import plain_guesses

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Draws for measuring the effect of the mechanism on a count.
_TRIALS = 500
#: Added to each variance, in people: a constant would be taken for certain otherwise.
_LEAST = 0.02
#: Entries of the matrices of chains that are worked out side by side.
_TOGETHER = 1e6


@dataclass(frozen=True)
class Believed:
    """Published values without the target: `mean` (cells,) and `precision` (cells, cells), the inverse covariance.

    `step` (cells,) is the target's addition to the mean of each. `often` (cells,) is their chance of being there.
    """

    mean: Floats
    precision: Floats
    step: Floats
    often: Floats


def believed(prior: MarkovPrior, release: Release, rng: np.random.Generator) -> Believed | None:
    """The law of the published values under the habits; None if their covariance is unknown."""
    crowd = release.crowd
    covariance = None if crowd is None else crowd.covariance(release.sensors)
    if crowd is None or covariance is None:
        return None
    active = release.grid >= 0
    alone = crowd.as_if_independent(release.sensors).draw(release.sensors, _TRIALS, rng)
    without, target = (_filled(release.published(alone + bit, rng)[:, active]) for bit in (0, 1))
    counts = alone[:, active] - alone[:, active].mean(axis=0)
    mean, variance = without.mean(axis=0), np.maximum((counts**2).mean(axis=0), 1e-12)
    slope = (counts * (without - mean)).mean(axis=0) / variance
    rest = np.maximum(without.var(axis=0) - slope**2 * variance, 0.0)
    spread = slope[:, None] * covariance * slope + np.diag(rest + _LEAST)
    often = (sighting_probabilities(prior, release)[:, :, None] * release.sees).sum(axis=1)[active]
    return Believed(mean, np.linalg.inv(spread), target.mean(axis=0) - mean, often)


def _filled(values: Floats) -> Floats:
    """Fill empty cells with the mean of the other cells."""
    there = ~np.isnan(values)
    mean = np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(there, values, mean)


def neighbour_guesses(prior: MarkovPrior, release: Release, known: Believed, published: Floats, misses: int) -> Ints:
    """The best guess found (n, T) for each published series (n, T, S)."""
    steps, active = release.steps, release.grid >= 0
    watched = release.classes(prior)
    values = published[:, active]
    apart = np.where(np.isnan(values), 0.0, values - known.mean)
    cell = np.cumsum([0, *map(len, release.sensors)])
    near = np.repeat(np.arange(steps), np.diff(cell))
    close = np.abs(near[:, None] - near) <= 1
    scaled = known.step[:, None] * known.precision * known.step
    far = (np.where(close, 0.0, scaled) @ known.often)[None]
    nodes = known.step * (apart @ known.precision) - far
    here = [np.s_[cell[t] : cell[t + 1]] for t in range(steps)]
    # The bits of each class, by step.
    bits = [release.sees[t, :, : len(step)].astype(np.float64) for t, step in enumerate(release.sensors)]
    alone = [np.einsum("ci,ij,cj->c", b, scaled[at, at], b) / 2 for b, at in zip(bits, here, strict=True)]
    edges = []
    for t, edge in enumerate(prior.log_moves(steps)):
        together = bits[t] @ scaled[here[t], here[t + 1]] @ bits[t + 1].T
        edges.append(edge - together[watched[t][:, None], watched[t + 1]])
    told = np.array([[(bits[t] @ row[here[t]] - alone[t])[watched[t]] for t in range(steps)] for row in nodes])
    return _guesses(prior, edges, told.reshape(len(nodes), steps, prior.states), misses)


def _guesses(prior: MarkovPrior, edges: list[Floats], weights: Floats, misses: int) -> Ints:
    """The best guess found (n, T) for chains with log weights of states (n, T, M) and of moves (T - 1) of (M, M)."""
    out = np.empty(weights.shape[:2], dtype=np.int64)
    together = max(1, int(_TOGETHER / (weights.shape[1] * weights.shape[2] ** 2)))
    for first in range(0, len(weights), together):
        some = weights[first : first + together]
        for i, (start, moves) in enumerate(zip(*conditioned_all(logs(prior.initial), edges, some), strict=True)):
            out[first + i] = plain_guesses(prior, start, moves, misses)[2]
    return out
