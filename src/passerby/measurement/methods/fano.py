"""The bound `fano`: the full inequality behind tight, with the best information and baseline."""

from collections.abc import Iterator

from passerby.measurement.bounds import fano_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question

from .formula import log_baseline, refuses


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("fano", fano_bound(question.prior, question.release, question.misses, log_baseline(question, known)))


FANO = Method(
    "fano",
    "the full inequality behind tight, with the best information and baseline",
    run,
    bounds=("fano",),
    needs=("baseline",),
    refuses=refuses,
)
