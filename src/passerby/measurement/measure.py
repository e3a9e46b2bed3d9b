"""One person: how likely an adversary is to get all but `misses` of their steps right, as an interval."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from passerby.errors import InputError, UnsupportedRelease
from passerby.mechanisms import Raw
from passerby.model.crowd import Crowd, Laws
from passerby.model.disclosure import Disclosure
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import How, given_series

from .attacks import Attack, sampled_attacks
from .averaging import MIN_RUNS, average, search
from .beside import all_right, at_likely_counts, decided_by_raw, formulas, raw, unaided
from .bounds import log_kappa_bound
from .case import Case, Look
from .crowd import Aim, against_crowd, blind_attacks
from .loss import Effort, Interval, Loss


def measure(
    prior: MarkovPrior,
    release: Release,
    misses: int = 0,
    *,
    tolerance: float = 0.01,
    seed: int | Sequence[int] = 0,
    series: How = "auto",
    runs: int = 1000,
    confidence: float = 0.99,
    budget: float = 2e10,
    method: Literal["exact", "sampling"] = "exact",
    published: Iterable[float | Iterable[float]] | None = None,
) -> Loss:
    """The loss of a release for a person with this prior, when `misses` steps may be wrong.

    The search for the best guess goes on until the interval is within `tolerance` of the loss, or about `budget`
    elementary operations are spent (1e10 take a second or two; the baseline gets 1e9 in any case); a budget that is too
    small gives a wider interval, not a wrong one. Published `series` are listed where few of them carry the probability
    ("enumerate"; for a continuum of values, series of discrete stand-ins that tell less and that tell more); too many
    of raw counts are looked at all at once, by the stretches between sightings; and `runs` of them are drawn otherwise
    ("sample"), in which case the interval holds at level `confidence`. With `method="sampling"` the paper's three
    attacks are scored by its plain Monte Carlo of `runs` traces instead, and nothing is searched. With `published`, the
    values that were really published (in the form of the release's sensors), the loss is the realised one: the best
    guess's success given exactly these.

    >>> from passerby import line_prior
    >>> loss = measure(line_prior(20), Release([7, 13, 4]), misses=1)
    >>> loss.upper <= 1.01 * loss.lower
    True
    """
    release.check(prior)
    _check_options(tolerance, series, runs, confidence, budget, method)
    _check_seed(seed)
    case = Case(prior, release, release.check_misses(misses), tolerance, budget, confidence, seed)
    if method == "sampling":
        return by_sampling(case, runs)
    if not release.independent:
        return hidden(case, series, runs, published)
    if published is not None:
        given = given_series(release, published)
        case.baseline = unaided(case)
        case.attacks.clear()  # averages over series have no say about this one
        return concluded(case, search(case, release, given))
    case.baseline = unaided(case)
    formulas(case)
    if release.plain:
        look = average(case, series, runs)
        if (exact := all_right(prior, release, case.misses)) is not None:
            case.attacks["map"] = case.attacks["ascent"] = Attack(exact)
            case.bounds["posterior"] = exact
    else:
        told = raw(case, case.budget / 4)
        case.bounds["raw"] = told.upper
        look = average(case, series, runs)
        if decided_by_raw(case, told):
            case.bounds["raw"] = min(told.upper, raw(case, case.budget).upper)
    if release.crowd is not None:
        case.bounds["known"] = knowing(case, series, runs)
    return concluded(case, look, case.baseline.lower)


def knowing(case: Case, how: How, runs: int) -> float:
    """Against an adversary who knows everyone else, instead of a crowd; at most what raw counts would give."""
    rule, most = case.release.mechanism, case.bounds["raw"]
    if isinstance(rule, Raw):
        return most
    if not rule.shift_invariant:
        return min(most, at_likely_counts(case))
    # The number of others does not matter to an adversary who knows it.
    found = again(case, case.release.with_others(None), how, runs, 1 - 2 * (1 - case.level))
    if found.effort.confidence is not None:
        case.chancy.add("known")
    return found.upper


def hidden(case: Case, how: How, runs: int, published: object = None) -> Loss:
    """In a crowd of which the same people are in several counts, and of whom only habits are known."""
    crowd = case.release.crowd
    assert crowd is not None
    if published is not None:
        raise UnsupportedRelease(
            f"published: what these very values tell of a person in {crowd!r} is not known, since several counts are "
            "of the same people; give the numbers of others, or leave the values out"
        )
    draws = max(min(MIN_RUNS, runs), min(runs, case.affordable(case.budget)))
    aim = Aim(case.misses, case.tolerance, case.budget, case.level, draws)
    if crowd.told is not None:
        return told(case, crowd.told, aim, how, runs)
    case.baseline = unaided(case)
    formulas(case)
    case.bounds["raw"] = raw(case, case.budget / 4).upper
    case.bounds["known"] = knowing(case, how, runs)
    look = Look(0)
    try:
        ends = against_crowd(case.prior, case.release, replace(aim, anchor=case.anchor), case.rng)
    except UnsupportedRelease as reason:
        case.refused["crowd"] = str(reason)
    else:
        case.attacks |= ends.attacks
        case.bounds["crowd"] = ends.bound
        case.chancy |= set() if ends.certain else {"crowd"}
        look = Look(ends.series, not ends.certain, nodes=ends.nodes, operations=ends.operations)
    return concluded(case, look, case.baseline.lower)


def told(case: Case, laws: Laws, aim: Aim, how: How, runs: int) -> Loss:
    """Where it is given what is told of the crowd: the numbers of others are then independent, and measured so."""
    release = case.release.with_others(Crowd.told_of(laws, laws))
    found = again(case, release, how, runs, case.confidence)
    drawn = Disclosure.of(release, laws, aim.runs, case.rng)
    case.baseline, case.refused = found.baseline, found.refused
    case.attacks = {name: attack for name, attack in found.attacks.items() if attack.guess is not None}
    case.attacks |= blind_attacks(case.prior, case.release, drawn, aim, case.rng)
    case.bounds = {name: found.bounds[name] for name in ("raw", "known", "dp") if name in found.bounds}
    case.bounds["crowd"] = found.upper
    case.chancy = set() if found.effort.confidence is None else {*case.bounds}
    look = Look(found.effort.series, True, found.effort.covered, found.effort.nodes, found.effort.operations)
    return concluded(case, look, case.baseline.lower)


def again(case: Case, release: Release, how: How, runs: int, confidence: float) -> Loss:
    """The same question about another release."""
    return measure(
        case.prior,
        release,
        case.misses,
        tolerance=case.tolerance,
        seed=case.seed,
        series=how,
        runs=runs,
        confidence=confidence,
        budget=case.budget,
    )


def by_sampling(case: Case, runs: int) -> Loss:
    """The paper's way: three attacks by plain Monte Carlo, and the bounds by formula."""
    case.attacks = sampled_attacks(case.prior, case.release, case.misses, case.rng, runs, case.level)
    crowd = case.release.crowd
    if crowd is not None and crowd.priors is None and crowd.told is None and not case.release.independent:
        del case.attacks["map"]
        case.refused["map"] = f"how numbers of others go together is not known with {crowd!r}: they cannot be drawn"
    known = max(case.attacks["prior"].sure, case.attacks["constant"].sure)
    kappa = math.exp(log_kappa_bound(case.prior, case.release.steps, case.misses))
    case.baseline = Interval(known, max(known, kappa))
    formulas(case)
    return concluded(case, Look(runs, sampled=True))


def concluded(case: Case, look: Look, least: float = 0.0) -> Loss:
    """The loss: the best attack and the smallest bound. On average, nobody does worse than `least`."""
    # What a sample says counts only where it is said that there was one.
    sure = {name: a.sure for name, a in case.attacks.items() if look.sampled or a.limit is None}
    best = max(sure, key=lambda name: sure[name])
    smallest = min(case.bounds, key=lambda name: case.bounds[name], default="none")
    upper = min(1.0, case.bounds.get(smallest, 1.0))
    lower = max(sure[best], least)
    lower = min(lower, upper) if look.sampled else lower
    upper = max(lower, upper)
    if look.sampled:
        case.chancy.add("posterior")
    chancy = smallest in case.chancy or case.attacks[best].limit is not None
    effort = Effort(
        series=look.series,
        sampled=look.sampled,
        covered=look.covered,
        nodes=look.nodes,
        operations=look.operations,
        attack=best if sure[best] >= least else "baseline",
        bound=smallest,
        confidence=case.confidence if chancy else None,
        reached=upper <= lower * (1 + case.tolerance) + 1e-15,
        seconds=time.perf_counter() - case.started,
    )
    return Loss(
        lower=lower,
        upper=upper,
        baseline=case.baseline,
        attacks=case.attacks,
        bounds=case.bounds,
        misses=case.misses,
        steps=case.release.steps,
        effort=effort,
        refused=case.refused,
    )


def _check_seed(seed: int | Sequence[int]) -> None:
    numbers = seed if isinstance(seed, (list, tuple, np.ndarray)) else [seed]
    if any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0 for n in numbers):
        raise InputError(f"seed: expected a whole number of at least 0, or a list of those, got {seed!r}")


def _check_options(tolerance: float, series: str, runs: int, confidence: float, budget: float, method: str) -> None:
    if not tolerance >= 0:
        raise InputError(f"tolerance: expected a number of at least 0, got {tolerance!r}")
    if series not in ("auto", "enumerate", "sample"):
        raise InputError(f"series: expected 'auto', 'enumerate' or 'sample', got {series!r}")
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or runs < 2:
        raise InputError(f"runs: expected a whole number of at least 2, got {runs!r}")
    if not 0.5 <= confidence < 1:
        raise InputError(f"confidence: expected a level from 0.5 to below 1, got {confidence!r}")
    if not budget >= 0:
        raise InputError(f"budget: expected a number of at least 0, got {budget!r}")
    if method not in ("exact", "sampling"):
        raise InputError(f"method: expected 'exact' or 'sampling', got {method!r}")
