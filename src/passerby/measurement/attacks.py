"""Guesses that an adversary can make, and how often they succeed: floors for the loss.

`map`, `prior` and `constant` are the attacks of Koga, Meehan and Chaudhuri (2024), section 3.2. Each is scored
exactly given what was published; only the average over published series may be sampled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from passerby.kernels import chain, decode_lanes
from passerby.kernels import score as scoring
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series, score
from passerby.support.confidence import lower_limit

from .finding import Finding, Look, exact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: All constant guesses are scored where that takes at most so many elementary operations.
_SCORE_ALL = 1e6
#: Decoding with dominated places left out pays off once this many (series x steps) share one table.
_SHARE = 50
#: Up to so many places, it is faster to decode several series side by side, unless their values take too much memory.
_FEW, _MOST_VALUES = 32, 10**6


def logs(values: Floats) -> Floats:
    """Natural logarithms, minus infinity at zero, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def decode_series(prior: MarkovPrior, release: Release, evidence: Floats) -> tuple[Ints, Floats]:
    """The likeliest trace for each series (n, T), and the log of its joint probability with the series (n,).

    `argmax_x Pr[X = x | published]`, Koga et al. (2024), Proposition 1. States that are never guessed are left out.
    """
    log_initial, log_matrices = prior.named_logs
    n, steps = evidence.shape[:2]
    few = prior.places <= _FEW and prior.places * steps <= _MOST_VALUES
    if prior.homogeneous and few and n >= decode_lanes.LANES // 2:
        traces, value = decode_lanes.decode(log_initial, log_matrices[0], release.grid, evidence)
    else:
        shared = prior.homogeneous and steps > 1 and prior.places**2 <= _SHARE * n * steps
        dominated = chain.dominance(log_matrices[0]) if shared else np.empty((0, 0))
        traces, value = chain.decode(log_initial, log_matrices, dominated, release.grid, evidence)
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
    return score(prior, release, series.evidence, guesses, misses)


def prior_trace(prior: MarkovPrior, steps: int) -> Ints:
    """The likeliest trace under the prior alone (T,): `argmax_x Pr[X = x]`, Koga et al. (2024), Proposition 2."""
    silent = Release.silent(steps)
    traces, _ = decode_series(prior, silent, np.zeros((1, steps, 1)))
    return np.asarray(traces[0])


def prior_attack(prior: MarkovPrior, steps: int, misses: int) -> Finding:
    """The likeliest trace under the prior alone. What is published plays no part, so the value is exact."""
    guess = prior_trace(prior, steps)
    return exact("prior", _unaided(prior, guess, misses), tuple(guess.tolist()))


def constant_attack(prior: MarkovPrior, steps: int, misses: int) -> Finding:
    """The luckiest of the guesses that name one place (but `elsewhere`) at all steps. Exact.

    Where scoring all places takes long, they are tried in the order of an upper bound on their success (moments of the
    number of visits), and those whose bound is below the best success found are never scored.
    """
    named = _constants(prior)
    if steps * min(misses + 2, steps - misses + 1) * prior.places**3 <= _SCORE_ALL:
        places = np.flatnonzero(named)
        values = scoring.constants(prior.initial, prior.matrices, places, steps, misses)
        pick = int(np.argmax(values))
        return exact("constant", min(1.0, float(values[pick])), (int(places[pick]),) * steps)
    ceiling = _visits_ceiling(prior, steps, steps - misses)
    ceiling[~named] = -1.0
    order = np.argsort(-ceiling, kind="stable")
    best, lucky = 0.0, int(order[0])
    for place in order:
        if ceiling[place] <= best:
            break
        value = _unaided(prior, np.full(steps, place), misses)
        if value > best:
            best, lucky = value, int(place)
    return exact("constant", best, (lucky,) * steps)


def sampled_attacks(
    prior: MarkovPrior,
    release: Release,
    misses: int,
    rng: np.random.Generator,
    runs: int = 1000,
    confidence: float = 0.99,
    look: Look | None = None,
) -> dict[str, Finding]:
    """The paper's plain Monte Carlo for its three attacks: draw a trace, publish, guess, count the successes.

    The limits of all three hold together, whichever constant is the luckiest.
    """
    traces = prior.sample(runs, release.steps, rng)
    guesses, _ = decode_series(prior, release, release.evidence(release.publish(traces, rng)))
    hits = {
        "map": (traces != guesses).sum(axis=1) <= misses,
        "prior": (traces != prior_trace(prior, release.steps)).sum(axis=1) <= misses,
    }
    constants = [(traces != x).sum(axis=1) <= misses for x in np.flatnonzero(_constants(prior))]
    hits["constant"] = max(constants, key=np.mean)
    doubt = (1 - confidence) / len(hits)
    tried = {"constant": len(constants)}
    levels = {name: 1 - doubt / tried.get(name, 1) for name in hits}
    return {name: _counted(name, hit, levels[name], confidence, look) for name, hit in hits.items()}


def _constants(prior: MarkovPrior) -> NDArray[np.bool_]:
    """The places that a constant guess may name."""
    named = prior.guessable.copy()
    if prior.elsewhere is not None and named.sum() > 1:
        named[prior.elsewhere] = False
    return named


def _counted(name: str, hit: NDArray[np.bool_], confidence: float, level: float, look: Look | None) -> Finding:
    rate = float(hit.mean())
    error = float(np.sqrt(rate * (1 - rate) / hit.size))
    floor = lower_limit(hit.astype(float), confidence)
    return Finding(name, floor=floor, value=rate, error=error, level=level, look=look)


def _unaided(prior: MarkovPrior, guess: Ints, misses: int) -> float:
    """`Pr[at most misses steps of guess wrong]` with nothing published."""
    steps = len(guess)
    nothing = np.empty((steps, 0), dtype=np.int64)
    return min(1.0, float(scoring.success(prior.initial, prior.matrices, nothing, np.ones((steps, 1)), guess, misses)))


def _visits_ceiling(prior: MarkovPrior, steps: int, needed: int) -> Floats:
    """For each place, an upper bound on the probability of being there at `needed` steps or more, shape (M,).

    With V visits, `Pr[V >= m] <= E[C(V, k)] / C(m, k)`; the moments are sums over sets of k steps of the
    probability of being there at all of them. k = 1 for any chain; higher k from the diagonals of the powers of a
    homogeneous chain, where these are cheap.
    """
    marginals = prior.marginals(steps)
    margin = 1 + 1e-9  # rounding must not hide the best place
    ceiling = marginals.sum(axis=0) / needed * margin
    if not prior.homogeneous or steps * prior.places**3 > 1e11 or steps**3 * prior.places > 1e9:
        return np.asarray(ceiling)
    returns = np.empty((steps, prior.places))
    power = np.eye(prior.places)
    for gap in range(1, steps):
        power = power @ prior.transition
        returns[gap] = np.diag(power)
    moment, ways = marginals, float(needed)
    for k in range(2, min(needed, 8) + 1):
        before, moment = moment, np.zeros_like(moment)
        for gap in range(1, steps):
            moment[gap:] += before[:-gap] * returns[gap]
        ways *= (needed - k + 1) / k
        ceiling = np.minimum(ceiling, moment.sum(axis=0) / ways * margin)
    return np.asarray(ceiling)
