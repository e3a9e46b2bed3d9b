"""The best guess for each published series, bracketed from both sides on the posterior chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.kernels import best_guess, renewal_guess
from passerby.kernels.chain import MISSING
from passerby.model.lumping import merged, with_one_sensor
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series, relative

from .attacks import logs

Floats = NDArray[np.float64]

#: Tables over pairs of sightings may have at most this many entries.
PAIRS_LIMIT = 3e7
#: A posterior chain is held in memory whole, so it may have at most this many entries.
MEMORY_LIMIT = 2e8


@dataclass(frozen=True)
class Brackets:
    """For each series (n,): success of the `map` and `marginal` guesses, and of the best guess from both sides.

    `guesses` (n, 3, T) are the map and marginal guesses and the best one found.
    """

    map: Floats
    marginal: Floats
    lower: Floats
    upper: Floats
    guesses: NDArray[np.int64]
    nodes: int
    operations: float


def cost_of_series(prior: MarkovPrior, steps: int, misses: int) -> float:
    """Elementary operations that one series takes at the lowest effort, roughly."""
    return 20.0 * steps * min(steps - misses, misses + 1) * prior.places * (prior.places + 24)


def bracket_series(
    prior: MarkovPrior, release: Release, series: Series, misses: int, tolerance: float, budget: float
) -> Brackets:
    """Bracket the best guess for every series, spending effort where it narrows the average most.

    The posterior of the trace given a series is a Markov chain again. On it, guesses are improved one step at a time
    (`kernels.ascent`) and a best-first search over beginnings of the guess bounds what any guess can do
    (`kernels.search`, `kernels.best_guess`).
    """
    steps = release.steps
    if steps * prior.places**2 > MEMORY_LIMIT:
        raise UnsupportedRelease(
            f"a posterior chain of {steps} steps and {prior.places} places does not fit into memory; merge places"
        )
    case = merged(prior, release, relative(series.evidence))
    table, guesses, total = best_guess.brackets(
        case.initial,
        case.matrices,
        case.places,
        case.weights,
        series.mass,
        case.named,
        misses,
        tolerance,
        budget,
        series.sampled,
        np.full(len(series), series.anchored),
    )
    guesses = case.original(guesses)
    if table[:, 4].min() < 0:
        named = prior.guessable.astype(np.float64)
        for i in np.flatnonzero(table[:, 4] < 0):
            table[i], guesses[i], more = _in_logs(prior, release, series.evidence[i], named, misses, tolerance, budget)
            total = total + more
    upper = table[:, 3] + missing(prior, steps)
    return Brackets(table[:, 0], table[:, 1], table[:, 2], upper, guesses, int(total[0]), float(total[1]))


def missing(prior: MarkovPrior, steps: int) -> float:
    """What underflow may have taken from an upper end, at most: it is never 0 for want of digits."""
    return MISSING * steps * prior.places


def plain_series(prior: MarkovPrior, release: Release, series: Series, misses: int) -> tuple[Floats, Floats]:
    """Success of the `map` and `marginal` guesses for each series, without a search for a better one."""
    found = bracket_series(prior, release, series, misses, np.inf, 0.0)
    return found.map, found.marginal


def average_upper(series: Series, found: Brackets, confidence: float) -> float:
    """At least the average of the best guess's success."""
    return series.upper(np.minimum(found.upper, 1.0), alone(found), confidence)


def alone(found: Brackets) -> Floats:
    """What depends on each series alone, from which the stakes of confidence limits are set.

    Effort goes where it helps the whole sample, so the ends of intervals are not independent of each other. They are
    never inside of what is: the best guess's success.
    """
    return np.maximum(found.map, found.marginal)


@dataclass(frozen=True)
class Stretches:
    """The best guess over all series of raw counts from both sides, from `refined` stretches between sightings."""

    lower: float
    upper: float
    refined: int
    nodes: int
    operations: float


def bracket_stretches(
    prior: MarkovPrior, release: Release, misses: int, tolerance: float, budget: float
) -> Stretches | None:
    """Bracket the best guess over all series of raw counts at once, by the stretches between sightings.

    See `kernels.renewal_guess`. None where the tables over pairs of sightings are too big.
    """
    prior, release = with_one_sensor(prior, release)
    steps, sensors = release.grid.shape
    points = 1 + steps * sensors
    if points**2 * (misses + 1) > PAIRS_LIMIT or prior.places * points * (misses + 2) > PAIRS_LIMIT:
        return None
    if not sensors or not prior.guessable[release.grid[release.grid >= 0]].all():
        return None
    named = prior.guessable.astype(np.float64)
    lower, upper, refined, nodes, work = renewal_guess.stretchwise(
        prior.initial, prior.matrices, release.grid, named, misses, tolerance, budget
    )
    upper += missing(prior, release.steps)
    return Stretches(min(1.0, float(lower)), min(1.0, float(upper)), int(refined), int(nodes), float(work))


def _in_logs(
    prior: MarkovPrior, release: Release, evidence: Floats, named: Floats, misses: int, tolerance: float, budget: float
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """One series whose posterior underflows: worked out in logs, and handed on as a chain without evidence."""
    start, moves = log_posterior(prior, release, evidence)
    steps = release.steps
    nothing = np.empty((steps, 0), dtype=np.int64)
    table, guesses, total = best_guess.brackets(
        start, moves, nothing, np.ones((1, steps, 1)), np.ones(1), named, misses, tolerance, budget, False, np.zeros(1)
    )
    return table[0], guesses[0], total


def log_posterior(prior: MarkovPrior, release: Release, evidence: Floats) -> tuple[Floats, Floats]:
    """The posterior chain (start (M,), matrices (T-1, M, M)) of one series, by a backward pass in log space.

    Slower than the kernel, but nothing underflows. An impossible series raises `InputError`.
    """
    steps, places = release.steps, prior.places
    weight = np.repeat(evidence[:, :1], places, axis=1)
    for t, step in enumerate(release.sensors):
        weight[t, list(step)] = evidence[t, 1 : len(step) + 1]
    # At T = 1 a homogeneous prior still has a matrix, which no step uses.
    moves = np.zeros((max(steps - 1, 1), places, places))
    log_matrices = logs(prior.matrices)
    value = weight[steps - 1]
    for t in range(steps - 2, -1, -1):
        joint = log_matrices[0 if prior.homogeneous else t] + value
        total = np.logaddexp.reduce(joint, axis=1)
        moves[t] = np.exp(joint - np.where(total > -np.inf, total, 0.0)[:, None])
        value = weight[t] + total
    start = logs(prior.initial) + value
    mass = np.logaddexp.reduce(start)
    if mass == -np.inf:
        raise InputError(
            "published: this series has probability zero for a person with this prior; "
            "check the values, the sensors and the numbers of other people"
        )
    return np.exp(start - mass), moves
