"""The bound `dp`: what follows from differential privacy alone."""

from collections.abc import Iterator

from passerby.errors import UnsupportedRelease
from passerby.measurement.accounting import most_sightings, private_noise, success_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.kappa import log_kappa_bound
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .formula import log_baseline, refuses


def dp_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """What follows from differential privacy alone: `1 - f(κ)`, f the trade-off function of the noise.

    The noise counts at as many steps as this person can be sighted at, at most (`accounting.success_bound`).
    """
    if len(release.ways) > 1:
        raise UnsupportedRelease("counts that are published in different ways are not accounted for together")
    noise = private_noise(release.mechanism)
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    return success_bound(noise, most_sightings(prior, release), log_kappa)


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
