"""The bound `fano`: the full inequality behind tight, with the best information and baseline."""

from collections.abc import Iterator

from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.information import mutual_information
from passerby.measurement.kappa import log_kappa_bound
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.roots import divergence_root
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .formula import log_baseline, refuses


def fano_bound(prior: MarkovPrior, release: Release, misses: int, log_kappa: float | None = None) -> float:
    """The largest p with `kl(p ‖ κ) <= I`: the full inequality behind `tight`, with the best information and kappa.

    For a guess made from the published series, "success" is a function of (trace, series). Its probability is p under
    their joint law and at most kappa if the two were independent, so `I(X;Y) >= kl(p ‖ κ)` by the data-processing
    inequality (Han and Verdú 1994 give the weaker form without the term in `log(1 - κ)`).
    """
    if log_kappa is None:
        log_kappa = log_kappa_bound(prior, release.steps, misses)
    return divergence_root(mutual_information(prior, release, "best"), log_kappa)


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula, for raw counts where the release tells the same as those of some of its sensors."""
    yield limit("fano", fano_bound(question.prior, question.told, question.misses, log_baseline(question, known)))


FANO = Method(
    "fano",
    "the full inequality behind tight, with the best information and baseline",
    run,
    bounds=("fano",),
    needs=("baseline",),
    refuses=refuses,
)
