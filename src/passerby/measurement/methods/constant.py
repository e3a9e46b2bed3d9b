"""The attack `constant`: the luckiest of the guesses that name one place at all steps."""

from collections.abc import Iterator

from passerby.measurement.attacks import constant_attack
from passerby.measurement.finding import Finding, Known
from passerby.measurement.method import Method
from passerby.measurement.question import Question

from .prior import refuses


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Exact: what is published plays no part."""
    yield constant_attack(question.prior, question.steps, question.misses)


CONSTANT = Method("constant", "names the best single place at all steps", run, attacks=("constant",), refuses=refuses)
