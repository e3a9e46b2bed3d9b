"""What stands beside the search: the baseline, bounds by formula, and bounds by releases that tell more."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.kernels import renewal
from passerby.model.crowd import Headcount, likely
from passerby.model.lumping import with_one_sensor
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.channels import at_any
from passerby.outcomes.quantisation import grown_series
from passerby.outcomes.series import Anchor, count_series, enumerate_series, one_series

from .attacks import constant_attack, prior_attack
from .averaging import LISTED_SERIES
from .best_guess import average_upper, bracket_series, bracket_stretches, cost_of_series
from .bounds import BOUNDS, FAINT, FROM_KAPPA, log_kappa_bound, paper_information
from .case import Case
from .information import check_stretches
from .loss import Interval
from .roots import rounded_up

#: Effort that a baseline gets at the least. It is a single search, and all that is said of a release rests on it.
BASELINE = 1e9


def unaided(case: Case) -> Interval:
    """What is achieved without the release: the same search on the prior itself, or cheap bounds where it is big.

    Without misses it is the likeliest trace's probability, which is what the attack `prior` achieves.
    """
    prior, steps, misses = case.prior, case.release.steps, case.misses
    case.attacks["prior"] = prior_attack(prior, steps, misses)
    case.attacks["constant"] = constant_attack(prior, steps, misses)
    best = max(case.attacks.values(), key=lambda attack: attack.value)
    known = best.value
    case.anchor = Anchor(np.array(best.guess), misses, known)
    if misses == 0:
        return Interval(known, known if known > FAINT else rounded_up(log_kappa_bound(prior, steps, 0)))
    one = one_series(np.zeros((1, steps, 1)))
    if cost_of_series(prior, steps, misses) <= max(case.budget / 4, 1e10):
        with suppress(UnsupportedRelease):
            effort = max(case.budget / 4, BASELINE)
            found = bracket_series(prior, Release.silent(steps), one, misses, case.tolerance, effort)
            lower = float(found.lower[0])
            if lower > known:
                case.anchor = Anchor(found.guesses[0, 2], misses, lower)
            return Interval(case.anchor.success, max(case.anchor.success, float(found.upper[0])))
    return Interval(known, max(known, rounded_up(log_kappa_bound(prior, steps, misses))))


def formulas(case: Case) -> None:
    """The bounds by formula; those that do not hold for this release are refused."""
    kappa = case.baseline.upper
    log_kappa = math.log(kappa) if kappa > FAINT else log_kappa_bound(case.prior, case.release.steps, case.misses)
    known: dict[str, float] = {"log_kappa": log_kappa}
    with suppress(UnsupportedRelease):
        known["information"] = paper_information(case.prior, case.release)
    for name, bound in BOUNDS.items():
        word = "log_kappa" if name in FROM_KAPPA else "information"
        try:
            case.bounds[name] = bound(case.prior, case.release, case.misses, known.get(word))
        except UnsupportedRelease as reason:
            case.refused[name] = str(reason)


def raw(case: Case, budget: float) -> Interval:
    """What raw counts from the same sensors would give: published ones follow from those, and tell no more."""
    counts = Release.raw(case.release.sensors)
    exact = all_right(case.prior, counts, case.misses)
    if exact is not None:
        return Interval(exact, exact)
    affordable = case.affordable(budget)
    if count_series(case.prior, counts) > affordable:
        found = bracket_stretches(case.prior, counts, case.misses, case.tolerance, budget)
        if found is not None:
            return Interval(found.lower, found.upper)
    listed = enumerate_series(case.prior, counts, affordable, 0.5)
    if listed is None:
        return Interval(0.0, 1.0)
    try:
        best = case.brackets(counts, listed, case.tolerance, budget)
    except UnsupportedRelease:
        return Interval(0.0, 1.0)
    return Interval(listed.mean(best.lower)[0], average_upper(listed, best, case.level))


def decided_by_raw(case: Case, told: Interval) -> bool:
    """Whether nothing is below what raw counts tell, which is not known well: then it deserves more effort."""
    return told.upper > told.lower * (1 + case.tolerance) and told.upper <= min(case.bounds.values())


def at_likely_counts(case: Case) -> float:
    """What is told where all numbers of others are likely ones, whichever, and the probability that they are not.

    Whoever knows the numbers of others has what the rule tells at these, which at each sensor is less than what a
    stand-in for all likely numbers tells.
    """
    headcount = getattr(case.release.mechanism, "first", None)
    assert isinstance(headcount, Headcount)
    left = 0.1 * case.tolerance * case.baseline.lower
    ranges = [likely(law, left / len(headcount.cells)) for law in headcount.cells]
    laws = [law for ends in ranges if (law := at_any(case.release.rule, *ends)) is not None]
    most = case.affordable(case.budget / 4)
    if len(laws) < len(ranges):
        return 1.0
    series = grown_series(case.prior, case.release, laws, min(most, LISTED_SERIES), left / most, more=True)
    if series is None:
        return 1.0
    try:
        found = case.brackets(case.release, series, case.tolerance, case.budget / 4)
    except UnsupportedRelease:
        return 1.0
    return min(1.0, average_upper(series, found, case.level) + left)


def all_right(prior: MarkovPrior, release: Release, misses: int) -> float | None:
    """Raw counts and no misses: the likeliest trace is the best guess, and its success is one recursion.

    None where there are misses, or where it takes too long.
    """
    if misses:
        return None
    prior, release = with_one_sensor(prior, release)
    try:
        check_stretches(prior, release)
    except UnsupportedRelease:
        return None
    return rounded_up(renewal.log_all_right(*prior.named_logs, release.grid))
