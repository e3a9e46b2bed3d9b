"""The bound `tight`: the paper's bound for uneven priors, which weighs the traces within the misses."""

from collections.abc import Iterator

from passerby.measurement.bounds import tight_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question

from .formula import refuses


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("tight", tight_bound(question.prior, question.release, question.misses))


TIGHT = Method(
    "tight",
    "the paper's bound for uneven priors, which weighs the traces within the misses",
    run,
    bounds=("tight",),
    refuses=refuses,
)
