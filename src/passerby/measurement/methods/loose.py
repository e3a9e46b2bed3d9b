"""The bound `loose`: the paper's bound from a Fano-type inequality, which counts the traces within the misses."""

import math
from collections.abc import Iterator

from passerby.measurement.ball import log_ball
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.information import entropy, paper_information
from passerby.measurement.method import Method
from passerby.measurement.question import Question, check_asked
from passerby.measurement.roots import loose_root
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.checks import nats

from .formula import refuses


def loose_bound(prior: MarkovPrior, release: Release, misses: int, information: float | None = None) -> float:
    """The paper's bound from a Fano-type inequality: counts how many traces lie within `misses` of a guess.

    >>> from passerby import line_prior
    >>> round(loose_bound(line_prior(100), Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71]), 2), 6)
    0.256551
    """
    check_asked(prior, release, misses)
    steps, universe = release.steps, prior.universe
    known = paper_information(prior, release) if information is None else nats(information, "information")
    unknown = entropy(prior, steps) - known
    return loose_root(unknown, log_ball(universe, steps, misses), steps * math.log(universe))


def run(question: Question, known: Known) -> Iterator[Finding]:
    """By formula."""
    yield limit("loose", loose_bound(question.prior, question.release, question.misses, question.paper_information))


LOOSE = Method(
    "loose",
    "the paper's bound from a Fano-type inequality, which counts the traces within the misses",
    run,
    bounds=("loose",),
    refuses=refuses,
    of_places=True,
)
