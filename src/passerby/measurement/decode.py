"""The likeliest traces given what was published, and how often such guesses succeed.

Koga, Meehan and Chaudhuri (2024), section 3.2. A guess is scored exactly given what was published; only the average
over published series may be sampled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from passerby.kernels import decode, decode_lanes
from passerby.kernels import score as scoring
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series, score, silent_series

from .finding import Finding, exact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Decoding with dominated places left out pays off once this many (series x steps) share one table.
_SHARE = 50
#: Up to so many places, it is faster to decode several series side by side, unless their values take too much memory.
_FEW, _MOST_VALUES = 32, 10**6


def decode_series(prior: MarkovPrior, release: Release, evidence: Floats) -> tuple[Ints, Floats]:
    """The likeliest trace for each series (n, T), and the log of its joint probability with the series (n,).

    `argmax_x Pr[X = x | published]`, Koga et al. (2024), Proposition 1. Places that are never guessed are left out.
    Where several states share a place, it is the likeliest trace of states, told as places.
    """
    log_initial, log_matrices = prior.named_logs
    n, steps = evidence.shape[:2]
    watched = release.classes(prior)
    few = prior.states <= _FEW and prior.states * steps <= _MOST_VALUES
    if prior.homogeneous and few and n >= decode_lanes.LANES // 2:
        traces, value = decode_lanes.decode(log_initial, log_matrices[0], watched, evidence)
    else:
        shared = prior.homogeneous and steps > 1 and prior.states**2 <= _SHARE * n * steps
        dominated = decode.dominance(log_matrices[0]) if shared else np.empty((0, 0))
        traces, value = decode.decode(log_initial, log_matrices, dominated, watched, evidence)
    traces = traces if prior.single else prior.place_of[traces]
    # Where every trace that may be guessed is impossible, any one of those will do.
    if (impossible := value == -np.inf).any():
        traces[impossible] = np.flatnonzero(prior.guessable)[0]
    return traces, value


def averaged(name: str, series: Series, values: Floats, level: float = 0.0) -> Finding:
    """An attack from its successes given each series. One that is sampled may be lucky: it is sure of nothing."""
    value, error = series.mean(values)
    if series.sampled:
        return Finding(name, value=value, error=error, level=level)
    return exact(name, value)


def map_attack(prior: MarkovPrior, release: Release, misses: int, series: Series, level: float = 0.0) -> Finding:
    """The likeliest trace given what was published, averaged over series."""
    return averaged("map", series, map_successes(prior, release, misses, series), level)


def map_successes(prior: MarkovPrior, release: Release, misses: int, series: Series) -> Floats:
    """The likeliest trace given what was published, scored exactly for each series (n,)."""
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
