"""The bound `loose`: the paper's bound from a Fano-type inequality, which counts the traces within the misses."""

from collections.abc import Iterator

from passerby.measurement.bounds import loose_bound
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question

from .formula import refuses


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("loose", loose_bound(question.prior, question.release, question.misses))


LOOSE = Method(
    "loose",
    "the paper's bound from a Fano-type inequality, which counts the traces within the misses",
    run,
    bounds=("loose",),
    refuses=refuses,
)
