"""The bound `leakage`: a series helps no more than its probability, nor more than the baseline."""

import math
from collections.abc import Iterator

from passerby.kernels import renewal
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.information import check_independent, check_stretches
from passerby.measurement.kappa import log_kappa_bound
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.roots import rounded_up
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.logs import logs

from .formula import log_baseline, refuses


def leakage_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """`min_β κ^{1-β} Σ_y Pr[y]^β`: a series cannot help more than its probability, nor more than kappa.

    `success = Σ_y max_g Pr[success, Y = y] <= Σ_y min(Pr[y], κ)`, and `min(a, b) <= a^β b^{1-β}`. The sum is a
    recursion over stretches between sightings. A mechanism whose laws with and without the target are at total
    variation ρ is a degraded version of "tell the truth with probability ρ, else nothing", which extends the bound to
    any mechanism.
    """
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    if not release.grid.shape[1]:
        return rounded_up(log_kappa)
    check_independent(release)
    check_stretches(prior, release)
    log_first, log_stay = renewal.stretches(prior.initial, prior.matrices, release.grid, release.apart)
    if log_kappa == -math.inf:
        return 0.0
    log_apart = logs(release.apart.reshape(-1))
    return rounded_up(renewal.lowest_power_sum(log_first, log_stay, log_apart, log_kappa))


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit(
        "leakage", leakage_bound(question.prior, question.release, question.misses, log_baseline(question, known))
    )


LEAKAGE = Method(
    "leakage",
    "a series helps no more than its probability, nor more than the baseline",
    run,
    bounds=("leakage",),
    needs=("baseline",),
    refuses=refuses,
)
