"""The bounds by formula: `loose` and `tight` of the paper, `fano`, `leakage` and `dp`."""

import math
from collections.abc import Iterator

from passerby.kernels.chain.bounds import FAINT
from passerby.kernels.renewal import sightings
from passerby.measurement.accounting import shared_noise, success_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.information import (
    check_independent,
    check_stretches,
    entropy,
    mutual_information,
    paper_information,
)
from passerby.measurement.roots import divergence_root, loose_root, rounded_up, tight_root
from passerby.measurement.sensitivity import most_counted
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.questions.trace.goal import Goal, Method, check_asked
from passerby.questions.trace.kappa import log_ball, log_ball_paper, log_kappa_bound
from passerby.support.checks import nats
from passerby.support.numbers import logs


def refuses(goal: Goal) -> str | None:
    """They are about averages over all possible series."""
    return None if goal.published is None else "it is about all that can be published, not about one series"


def log_baseline(goal: Goal, known: Known) -> float:
    """The logarithm of a certain ceiling for the success without the release."""
    kappa = known.baseline.ceiling
    if kappa > FAINT:
        return math.log(kappa)
    if goal.prior.naming is not None:
        return math.log(FAINT)
    # So small a ceiling was rounded up; a formula in logarithms may say less.
    formula = log_kappa_bound(goal.prior, goal.steps, goal.misses)
    return min(math.log(kappa), formula) if kappa > 0 else formula


def loose_bound(prior: MarkovPrior, release: Release, misses: int, information: float | None = None) -> float:
    """The paper's bound from a Fano-type inequality: counts how many traces lie within `misses` of a guess.

    >>> from passerby import line_prior
    >>> round(loose_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.256551
    """
    check_asked(prior, release, misses)
    steps, universe = release.steps, prior.universe
    known = paper_information(prior, release) if information is None else nats(information, "information")
    unknown = entropy(prior, steps) - known
    return loose_root(unknown, log_ball(universe, steps, misses), steps * math.log(universe))


def run_loose(goal: Goal, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("loose", loose_bound(goal.prior, goal.release, goal.misses, goal.paper_information))


LOOSE = Method(
    "loose",
    "the paper's bound from a Fano-type inequality, which counts the traces within the misses",
    run_loose,
    bounds=("loose",),
    refuses=refuses,
    of_places=True,
)


def tight_bound(prior: MarkovPrior, release: Release, misses: int, information: float | None = None) -> float:
    """The paper's bound for uneven priors: weighs the traces within `misses` of a guess by their probability.

    >>> from passerby import line_prior
    >>> round(tight_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.040493
    """
    check_asked(prior, release, misses)
    known = paper_information(prior, release) if information is None else nats(information, "information")
    return tight_root(known, log_ball_paper(prior, release.steps, misses))


def run_tight(goal: Goal, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("tight", tight_bound(goal.prior, goal.release, goal.misses, goal.paper_information))


TIGHT = Method(
    "tight",
    "the paper's bound for uneven priors, which weighs the traces within the misses",
    run_tight,
    bounds=("tight",),
    refuses=refuses,
    of_places=True,
)


def fano_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """The largest p with `kl(p ‖ κ) <= I`: the full inequality behind `tight`, with the best information and kappa.

    For a guess made from the published series, "success" is a function of (trace, series). Its probability is p under
    their joint law, and at most kappa if the two were independent. So `I(X;Y) >= kl(p ‖ κ)` by the data-processing
    inequality (Han and Verdú 1994 give the weaker form without the term in `log(1 - κ)`).
    """
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    return divergence_root(mutual_information(prior, release, "best"), log_kappa)


def run_fano(goal: Goal, known: Known) -> Iterator[Finding]:
    """By formula, for raw counts if the release tells the same as the counts of some of its sensors."""
    yield limit("fano", fano_bound(goal.prior, goal.told, goal.misses, log_baseline(goal, known)))


FANO = Method(
    "fano",
    "the full inequality behind tight, with the best information and baseline",
    run_fano,
    bounds=("fano",),
    needs=("baseline",),
    refuses=refuses,
)


def leakage_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """`min_β κ^{1-β} Σ_y Pr[y]^β`: a series cannot help more than its probability, nor more than kappa.

    `success = Σ_y max_g Pr[success, Y = y] <= Σ_y min(Pr[y], κ)`, and `min(a, b) <= a^β b^{1-β}`. The sum is a
    recursion over stretches between sightings. Consider a mechanism with laws at total variation ρ, with and without
    the target. It is a degraded version of "tell the truth with probability ρ, else nothing". This extends the bound to
    any mechanism.
    """
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    if not release.grid.shape[1]:
        return rounded_up(log_kappa)
    check_independent(release)
    check_stretches(prior, release)
    log_first, log_stay = sightings.stretches(prior.initial, prior.matrices, release.grid, release.apart)
    if log_kappa == -math.inf:
        return 0.0
    log_apart = logs(release.apart.reshape(-1))
    return rounded_up(sightings.lowest_power_sum(log_first, log_stay, log_apart, log_kappa))


def run_leakage(goal: Goal, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("leakage", leakage_bound(goal.prior, goal.release, goal.misses, log_baseline(goal, known)))


LEAKAGE = Method(
    "leakage",
    "a series helps no more than its probability, nor more than the baseline",
    run_leakage,
    bounds=("leakage",),
    needs=("baseline",),
    refuses=refuses,
)


def dp_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """The bound from differential privacy alone: `1 - f(κ)`, f the trade-off function of the noise.

    The noise counts as often as this person can be counted, at most (`accounting.success_bound`,
    `sensitivity.most_counted`).
    """
    noise, weights = shared_noise(release.ways, release.size)
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    return success_bound(noise, most_counted(prior, release, weights), log_kappa)


def run_dp(goal: Goal, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("dp", dp_bound(goal.prior, goal.release, goal.misses, log_baseline(goal, known)))


DP = Method(
    "dp",
    "what follows from differential privacy alone",
    run_dp,
    bounds=("dp",),
    needs=("baseline",),
    refuses=refuses,
)
