"""Guesses for each published series: the likeliest trace, and the best guess bracketed from both sides.

The likeliest trace is the attack of Koga, Meehan and Chaudhuri (2024), section 3.2. A guess is scored exactly given the
published series. Only the average over published series may be sampled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.kernels.chain import decode
from passerby.kernels.chain import decode as scoring
from passerby.kernels.chain.posterior import MISSING
from passerby.kernels.search import best_guess
from passerby.measurement.finding import Finding, exact
from passerby.model.chains import conditioned
from passerby.model.lumping import merged
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series, distinct, score, silent_series
from passerby.support.numbers import logs

Floats = NDArray[np.float64]
#: A posterior chain is held in memory whole, so it may have at most this many entries.
MEMORY_LIMIT = 2e8
#: The budget of whoever only asks for guesses.
UNBOUNDED = -1.0
Ints = NDArray[np.int64]
#: Decoding with dominated places left out pays off once this many (series x steps) share one table.
_SHARE = 50
#: Up to so many places, it is faster to decode several series side by side, unless their values take too much memory.
_FEW, _MOST_VALUES = 32, 10**6


class Brackets(NamedTuple):
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
    """A rough number of elementary operations for one series at the lowest effort."""
    known = 20.0 * steps * min(steps - misses, misses + 1) * moves(prior)
    # Each name tried after a state is weighed by all states in its ball.
    return known * (1.0 + len(prior.balls) / prior.states) if prior.overlapping else known


def cost_of_look(prior: MarkovPrior, steps: int, misses: int) -> float:
    """The cost of a first look as the search counts it, with penalties (`kernels.search.penalties`) set at once."""
    width = steps * min(steps - misses, misses + 1)
    score = width * prior.states**2
    charges = 1.0 * steps * (misses + 2) * (misses + 1) * prior.states**2
    at_once = prior.single and prior.naming is None and charges <= best_guess.AT_ONCE * score
    return best_guess.LOOK * width * moves(prior) + (charges if at_once else 0.0)


@lru_cache(maxsize=8)
def moves(prior: MarkovPrior) -> float:
    """Elementary operations of a step from every state, roughly: moves stay within a mode.

    Remembered: each method asks for its cost.
    """
    sizes = np.bincount(prior.mode_of).tolist() if prior.modes > 1 else [prior.states]
    return float(sum(size * (size + 24) for size in sizes))


def bracket_series(
    prior: MarkovPrior, release: Release, series: Series, misses: int, tolerance: float, budget: float
) -> Brackets:
    """Bracket the best guess for every series, spending effort on the series narrowing the average most.

    The posterior of the trace given a series is a Markov chain again. On it, guesses are improved one step at a time
    (`kernels.search.ascent`). A best-first search over beginnings of the guess bounds all guesses
    (`kernels.search.best_first`, `kernels.search.best_guess`).
    """
    steps = release.steps
    if steps * prior.states**2 > MEMORY_LIMIT:
        raise UnsupportedRelease(
            f"a posterior chain of {steps} steps and {prior.states} places does not fit into memory; merge places"
        )
    different, which, times = _different(series)
    case = merged(prior, release, different.weights)
    table, guesses, total = _searched(
        prior,
        case.initial,
        case.matrices,
        case.place_of,
        case.classes,
        case.weights,
        different.mass,
        times,
        case.named,
        misses,
        tolerance,
        budget,
        series.sampled,
        different.anchored,
    )
    guesses = case.original(guesses)
    if total[best_guess.UNEXPLAINED]:
        for i in np.flatnonzero(table[:, best_guess.LEVEL] < 0):
            table[i], guesses[i], more = _in_logs(prior, release, different.evidence[i], misses, tolerance, budget)
            total = total + more
    decoded, stepwise, lower, upper, _ = table[which].T
    nodes, work, _ = total.tolist()
    upper = upper + missing(prior, steps)
    return Brackets(decoded, stepwise, lower, upper, guesses[which], int(nodes), work)


def _searched(
    prior: MarkovPrior, initial: Floats, matrices: Floats, name_of: NDArray[np.int64], *case: Any
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """The search's finding for each series: by disjoint names, or by overlapping ones."""
    if not prior.overlapping:
        return best_guess.brackets(initial, matrices, name_of, *case)  # type: ignore[no-any-return]
    from passerby.kernels.search import near

    return near.brackets(initial, matrices, name_of, prior.balls, *case)  # type: ignore[no-any-return]


def _different(series: Series) -> tuple[Series, NDArray[np.int64], Floats]:
    """Series without repeated draws, the index of each draw among them (n,), and the number of draws of each (m,).

    Listed series are different already.
    """
    if not series.sampled:
        return series, np.arange(len(series)), np.ones(len(series))
    first, which = distinct(series.evidence)
    return series.some(first, series.mass[first]), which, np.bincount(which).astype(np.float64)


def missing(prior: MarkovPrior, steps: int) -> float:
    """The most an upper end may have lost by underflow: it is never 0 for want of digits."""
    return MISSING * steps * prior.states


def guess_series(prior: MarkovPrior, release: Release, series: Series, misses: int) -> NDArray[np.int64]:
    """The best guess (n, T) for every series found by improving plain ones, without a bound on other guesses."""
    return np.ascontiguousarray(bracket_series(prior, release, series, misses, 0.0, UNBOUNDED).guesses[:, 2])


def plain_series(prior: MarkovPrior, release: Release, series: Series, misses: int) -> tuple[Floats, Floats]:
    """Success of the `map` and `marginal` guesses for each series, without a search for a better one."""
    found = bracket_series(prior, release, series, misses, np.inf, 0.0)
    return found.map, found.marginal


def average_upper(series: Series, found: Brackets, confidence: float) -> float:
    """At least the average of the best guess's success."""
    return series.upper(np.minimum(found.upper, 1.0), alone(found), confidence)


def alone(found: Brackets) -> Floats:
    """The findings of each series alone, from which the stakes of confidence limits are set.

    Effort goes to the series helping the whole sample, so the ends of intervals are not independent of each other. The
    ends are never on the wrong side of the best guess's success.
    """
    return np.maximum(found.map, found.marginal)


def _in_logs(
    prior: MarkovPrior, release: Release, evidence: Floats, misses: int, tolerance: float, budget: float
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """One series whose posterior underflows: worked out in logs, and handed on as a chain without evidence."""
    start, moves = log_posterior(prior, release, evidence)
    return _bracket_chain(prior, start, moves, release.steps, misses, tolerance, budget)


def plain_guesses(prior: MarkovPrior, start: Floats, moves: Floats, misses: int) -> NDArray[np.int64]:
    """The map and marginal guesses and the better one (3, T) for a chain over the states of `prior`."""
    return _bracket_chain(prior, start, moves, len(moves) + 1, misses, np.inf, 0.0)[1]


def _bracket_chain(
    prior: MarkovPrior, start: Floats, moves: Floats, steps: int, misses: int, tolerance: float, budget: float
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """The finding for the one series of a chain without evidence: start (M,) and matrices (T-1, M, M)."""
    even = Release.silent(steps).classes(prior), np.ones((1, steps, 1)), np.ones(1), np.ones(1)
    table, guesses, total = _searched(
        prior, start, moves, prior.name_of, *even, prior.nameable, misses, tolerance, budget, False, np.zeros(1)
    )
    return table[0], guesses[0], total


def log_posterior(prior: MarkovPrior, release: Release, evidence: Floats) -> tuple[Floats, Floats]:
    """The posterior chain (start (M,), matrices (T-1, M, M)) of one series, by a backward pass in log space.

    Slower than the kernel, but nothing underflows. An impossible series raises `InputError`.
    """
    weight = np.take_along_axis(evidence, release.classes(prior), axis=1)
    start, moves, mass = conditioned(logs(prior.initial), prior.log_moves(release.steps), weight)
    if mass == -np.inf:
        raise InputError(
            "published: this series has probability zero for a person with this prior; "
            "check the values, the sensors and the numbers of other people"
        )
    return start, moves


def decode_series(prior: MarkovPrior, release: Release, evidence: Floats) -> tuple[Ints, Floats]:
    """The likeliest trace for each series (n, T), and the log of its joint probability with the series (n,).

    `argmax_x Pr[X = x | published]`, Koga et al. (2024), Proposition 1. Places never guessed are left out. If several
    states share a place, it is the likeliest trace of states, named by its places.
    """
    log_initial, log_matrices = prior.named_logs
    n, steps = evidence.shape[:2]
    watched = release.classes(prior)
    few = prior.states <= _FEW and prior.states * steps <= _MOST_VALUES
    if prior.homogeneous and few and n >= decode.LANES // 2:
        traces, value = decode.decode_together(log_initial, log_matrices[0], watched, evidence)
    else:
        shared = prior.homogeneous and steps > 1 and prior.states**2 <= _SHARE * n * steps
        dominated = decode.dominance(log_matrices[0]) if shared else np.empty((0, 0))
        traces, value = decode.decode(log_initial, log_matrices, dominated, watched, evidence)
    traces = traces if prior.single else prior.place_of[traces]
    # If every nameable trace is impossible, any one of them will do.
    if (impossible := value == -np.inf).any():
        traces[impossible] = np.flatnonzero(prior.guessable)[0]
    return traces, value


def averaged(name: str, series: Series, values: Floats, level: float = 0.0) -> Finding:
    """An attack from its successes given each series. A sampled attack may be lucky: it is sure of nothing."""
    value, error = series.mean(values)
    if series.sampled:
        return Finding(name, value=value, error=error, level=level)
    return exact(name, value)


def map_attack(prior: MarkovPrior, release: Release, misses: int, series: Series, level: float = 0.0) -> Finding:
    """The likeliest trace given the published series, averaged over series."""
    return averaged("map", series, map_successes(prior, release, misses, series), level)


def map_successes(prior: MarkovPrior, release: Release, misses: int, series: Series) -> Floats:
    """The likeliest trace given the published series, scored exactly for each series (n,)."""
    guesses, _ = decode_series(prior, release, series.evidence)
    return score(prior, release, series.evidence, prior.as_names(guesses), misses)


def unaided_success(prior: MarkovPrior, guess: Ints, misses: int) -> float:
    """`Pr[at most misses steps of guess wrong]` with nothing published."""
    steps = len(guess)
    if prior.overlapping:
        success = score(prior, Release.silent(steps), silent_series(steps).evidence, guess[None], misses)
        return min(1.0, float(success[0]))
    silence = Release.silent(steps).classes(prior), silent_series(steps).weights[0]
    return min(1.0, float(scoring.success(prior.initial, prior.matrices, prior.name_of, *silence, guess, misses)))
