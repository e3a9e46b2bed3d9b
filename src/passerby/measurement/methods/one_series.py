"""After the fact: the best guess given exactly the series that was published."""

from collections.abc import Iterator

from passerby.measurement.average import searched
from passerby.measurement.best_guess import cost_of_series
from passerby.measurement.finding import Finding, Known
from passerby.measurement.method import Method
from passerby.measurement.question import Question


def run(question: Question, known: Known) -> Iterator[Finding]:
    """One series, searched with the whole budget."""
    assert question.published is not None
    yield from searched(question, question.release, question.published)


def refuses(question: Question) -> str | None:
    """Only where it is said what was published."""
    return "nothing was published yet" if question.published is None else None


ONE_SERIES = Method(
    "one_series",
    "searches for the best guess given exactly what was published",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    refuses=refuses,
    cost=lambda question: cost_of_series(question.prior, question.steps, question.misses),
)
