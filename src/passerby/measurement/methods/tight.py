"""The bound `tight`: the paper's bound for uneven priors, which weighs the traces within the misses."""

from collections.abc import Iterator

from passerby.measurement.ball import log_ball_paper
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.information import paper_information
from passerby.measurement.method import Method
from passerby.measurement.question import Question, check_asked
from passerby.measurement.roots import tight_root
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.checks import nats

from .formula import refuses


def tight_bound(prior: MarkovPrior, release: Release, misses: int, information: float | None = None) -> float:
    """The paper's bound for uneven priors: weighs the traces within `misses` of a guess by their probability.

    >>> from passerby import line_prior
    >>> round(tight_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.040493
    """
    check_asked(prior, release, misses)
    known = paper_information(prior, release) if information is None else nats(information, "information")
    return tight_root(known, log_ball_paper(prior, release.steps, misses))


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("tight", tight_bound(question.prior, question.release, question.misses, question.paper_information))


TIGHT = Method(
    "tight",
    "the paper's bound for uneven priors, which weighs the traces within the misses",
    run,
    bounds=("tight",),
    refuses=refuses,
    of_places=True,
)
