"""The bound `leakage`: a series helps no more than its probability, nor more than the baseline."""

from collections.abc import Iterator

from passerby.measurement.bounds import leakage_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question

from .formula import log_baseline, refuses


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
