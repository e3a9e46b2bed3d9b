"""The bound `dp`: what follows from differential privacy alone."""

from collections.abc import Iterator

from passerby.measurement.bounds import dp_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question

from .formula import log_baseline, refuses


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
