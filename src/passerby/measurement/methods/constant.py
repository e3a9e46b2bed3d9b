"""The attack `constant`: the luckiest of the guesses that name one place at all steps."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from passerby.kernels import score
from passerby.measurement.decode import unaided_success
from passerby.measurement.finding import Finding, Known, exact
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.model.prior import MarkovPrior

from .prior import refuses

Floats = NDArray[np.float64]

#: All constant guesses are scored where that takes at most so many elementary operations.
SCORE_ALL = 1e6


def constant_attack(prior: MarkovPrior, steps: int, misses: int) -> Finding:
    """The luckiest of the guesses that name one place (but `elsewhere`) at all steps. Exact.

    Where scoring all places takes long, they are tried in the order of an upper bound on their success (moments of the
    number of visits), and those whose bound is below the best success found are never scored.
    """
    named = constants(prior)
    few = steps * min(misses + 2, steps - misses + 1) * prior.states**2 * prior.places <= SCORE_ALL
    if few and not prior.overlapping:
        places = np.flatnonzero(named)
        values = score.constants(prior.initial, prior.matrices, prior.name_of, places, steps, misses)
        pick = int(np.argmax(values))
        return exact("constant", min(1.0, float(values[pick])), (int(places[pick]),) * steps)
    ceiling = _visits_ceiling(prior, steps, steps - misses)
    ceiling[~named] = -1.0
    order = np.argsort(-ceiling, kind="stable")
    best, lucky = 0.0, int(order[0])
    for place in order:
        if ceiling[place] <= best:
            break
        value = unaided_success(prior, np.full(steps, place), misses)
        if value > best:
            best, lucky = value, int(place)
    return exact("constant", best, (lucky,) * steps)


def constants(prior: MarkovPrior) -> NDArray[np.bool_]:
    """The places that a constant guess may name, or what else a guess names."""
    if prior.naming is not None:
        return prior.naming.constant
    named = prior.guessable.copy()
    if prior.elsewhere is not None and named.sum() > 1:
        named[prior.elsewhere] = False
    return named


def _visits_ceiling(prior: MarkovPrior, steps: int, needed: int) -> Floats:
    """For each place, an upper bound on the probability of being there at `needed` steps or more, shape (P,).

    With V visits, `Pr[V >= m] <= E[C(V, k)] / C(m, k)`; the moments are sums over sets of k steps of the
    probability of being there at all of them. k = 1 for any chain; higher k from the diagonals of the powers of a
    homogeneous chain, where these are cheap.
    """
    marginals = prior.marginals(steps)
    if prior.naming is not None:
        marginals = marginals @ prior.naming.right_as_numbers.T
    margin = 1 + 1e-9  # rounding must not hide the best place
    ceiling = marginals.sum(axis=0) / needed * margin
    if (
        prior.naming is not None
        or not prior.homogeneous
        or not prior.single
        or steps * prior.places**3 > 1e11
        or steps**3 * prior.places > 1e9
    ):
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


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Exact: what is published plays no part."""
    yield constant_attack(question.prior, question.steps, question.misses)


CONSTANT = Method(
    "constant", "names the best single place at all steps", run, attacks=("constant",), refuses=refuses, adaptive=True
)
