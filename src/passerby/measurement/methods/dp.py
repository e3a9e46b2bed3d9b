"""The bound `dp`: what follows from differential privacy alone."""

from collections.abc import Iterator

from passerby.measurement.accounting import shared_noise, success_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.kappa import log_kappa_bound
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.sensitivity import most_counted
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .formula import log_baseline, refuses


def dp_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """What follows from differential privacy alone: `1 - f(κ)`, f the trade-off function of the noise.

    The noise counts as often as this person can be counted, at most (`accounting.success_bound`,
    `sensitivity.most_counted`).
    """
    noise, weights = shared_noise(release.ways, release.size)
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    return success_bound(noise, most_counted(prior, release, weights), log_kappa)


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("dp", dp_bound(question.prior, question.release, question.misses, log_baseline(question, known)))


DP = Method(
    "dp",
    "what follows from differential privacy alone",
    run,
    bounds=("dp",),
    needs=("baseline",),
    refuses=refuses,
)
