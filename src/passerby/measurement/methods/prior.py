"""The attack `prior`: the likeliest trace under the prior alone."""

from collections.abc import Iterator

from passerby.measurement.attacks import prior_attack
from passerby.measurement.finding import Finding, Known
from passerby.measurement.method import Method
from passerby.measurement.question import Question


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Exact: what is published plays no part."""
    yield prior_attack(question.prior, question.steps, question.misses)


def refuses(question: Question) -> str | None:
    """An average over what could have been published has no say about what was; samples are scored elsewhere."""
    if question.published is not None:
        return "it does not look at what was published"
    return "it is sampled" if question.way == "sampling" else None


PRIOR = Method("prior", "names the likeliest trace without the release", run, attacks=("prior",), refuses=refuses)
