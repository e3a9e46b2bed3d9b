"""The success without the release: the attacks `prior` and `constant`, and the baseline by search."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.kernels.chain import decode
from passerby.kernels.chain.bounds import FAINT
from passerby.measurement.finding import Finding, Known, exact
from passerby.measurement.roots import rounded_up
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import silent_series
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import Ints, bracket_series, cost_of_series, decode_series, unaided_success
from passerby.questions.trace.kappa import log_kappa_bound

Floats = NDArray[np.float64]
#: All constant guesses are scored if this takes at most so many elementary operations.
SCORE_ALL = 1e6
#: The least effort of a baseline. It is a single search, and every statement about a release rests on it.
LEAST_EFFORT = 1e9


def prior_attack(prior: MarkovPrior, steps: int, misses: int) -> Finding:
    """The likeliest trace under the prior alone. The published series plays no part, so the value is exact."""
    guess = prior.as_names(prior_trace(prior, steps))
    return exact("prior", unaided_success(prior, guess, misses), tuple(guess.tolist()))


def prior_trace(prior: MarkovPrior, steps: int) -> Ints:
    """The likeliest trace under the prior alone (T,): `argmax_x Pr[X = x]`, Koga et al. (2024), Proposition 2."""
    silent = Release.silent(steps)
    traces, _ = decode_series(prior, silent, silent_series(steps).evidence)
    return np.asarray(traces[0])


def run_prior(goal: Goal, known: Known) -> Iterator[Finding]:
    """Exact: the published series plays no part."""
    yield prior_attack(goal.prior, goal.steps, goal.misses)


def refuses_plain(goal: Goal) -> str | None:
    """An average over possible series says nothing about the actual one; samples are scored elsewhere."""
    if goal.published is not None:
        return "it does not look at what was published"
    return "it is sampled" if goal.way == "sampling" else None


PRIOR = Method(
    "prior",
    "names the likeliest trace without the release",
    run_prior,
    attacks=("prior",),
    refuses=refuses_plain,
    adaptive=True,
)


def constant_attack(prior: MarkovPrior, steps: int, misses: int) -> Finding:
    """The luckiest of the guesses naming one place (but `elsewhere`) at all steps. Exact.

    If scoring all places takes long, they are tried in the order of an upper bound on their success (moments of the
    number of visits). Places with a bound below the best success found are never scored.
    """
    named = constants(prior)
    few = steps * min(misses + 2, steps - misses + 1) * prior.states**2 * prior.places <= SCORE_ALL
    if few and not prior.overlapping:
        places = np.flatnonzero(named)
        values = decode.constants(prior.initial, prior.matrices, prior.name_of, places, steps, misses)
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
    """The places a constant guess may name, or the other names of a guess."""
    if prior.naming is not None:
        return prior.naming.constant
    named = prior.guessable.copy()
    if prior.elsewhere is not None and named.sum() > 1:
        named[prior.elsewhere] = False
    return named


def _visits_ceiling(prior: MarkovPrior, steps: int, needed: int) -> Floats:
    """For each place, an upper bound on the probability of being there at `needed` steps or more, shape (P,).

    With V visits, `Pr[V >= m] <= E[C(V, k)] / C(m, k)`. The moments are sums over sets of k steps of the probability of
    being there at all of them. k = 1 serves any chain. Higher k come from the diagonals of the powers of a homogeneous
    chain, if these are cheap.
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


def run_constant(goal: Goal, known: Known) -> Iterator[Finding]:
    """Exact: the published series plays no part."""
    yield constant_attack(goal.prior, goal.steps, goal.misses)


CONSTANT = Method(
    "constant",
    "names the best single place at all steps",
    run_constant,
    attacks=("constant",),
    refuses=refuses_plain,
    adaptive=True,
)


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """Both ends, and the best guess. Without misses it is the likeliest trace, named by the attack `prior`.

    If states share places, this attack names the places of the likeliest trace of states, and others may do better.
    """
    prior, steps, misses = goal.prior, goal.steps, goal.misses
    plain = [known.attack(name) for name in ("prior", "constant")]
    found = [finding for finding in plain if finding is not None]
    found = found or [attack(prior, steps, misses) for attack in (prior_attack, constant_attack)]
    best = max(found, key=lambda finding: finding.floor)
    if misses == 0 and prior.single and prior.naming is None:
        upper = best.floor if best.floor > FAINT else rounded_up(log_kappa_bound(prior, steps, 0))
        yield _between(best.floor, upper, best.guess)
        return
    if cost_of_series(prior, steps, misses) <= max(goal.budget / 4, 10 * LEAST_EFFORT):
        with suppress(UnsupportedRelease):
            effort = max(goal.budget / 4, LEAST_EFFORT)
            nothing = Release.silent(steps), silent_series(steps)
            search = bracket_series(prior, *nothing, misses, goal.tolerance, effort)
            if search.lower[0] > best.floor:
                best = exact("ascent", float(search.lower[0]), tuple(search.guesses[0, 2].tolist()))
            yield _between(best.floor, float(search.upper[0]), best.guess)
            return
    upper = rounded_up(log_kappa_bound(prior, steps, misses)) if prior.naming is None else 1.0
    yield _between(best.floor, upper, best.guess)


def _between(lower: float, upper: float, guess: tuple[int, ...] | None) -> Finding:
    """Both ends; rounding may have put the upper one a little too low."""
    return Finding("baseline", lower, min(1.0, upper), value=lower, guess=guess, about="baseline")


def refuses(goal: Goal) -> str | None:
    """The paper's way has its own."""
    return "it is sampled" if goal.way == "sampling" else None


BASELINE = Method(
    "baseline",
    "searches for the best guess without the release",
    run,
    needs=("prior", "constant"),
    refuses=refuses,
    adaptive=True,
    cost=lambda goal: cost_of_series(goal.prior, goal.steps, goal.misses),
)
