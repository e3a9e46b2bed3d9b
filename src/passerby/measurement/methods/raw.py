"""The bound `raw`: published counts follow from raw ones, so that no guess does better than with those."""

import math
from collections.abc import Iterator
from dataclasses import replace

from passerby.errors import UnsupportedRelease
from passerby.measurement.average import affordable, negligible
from passerby.measurement.best_guess import average_upper, bracket_series
from passerby.measurement.finding import Finding, Known
from passerby.measurement.forecast import raw_leaves, sample_leaves
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.roots import rounded_up
from passerby.measurement.stretches import bracket_stretches, dense, least_cost, stretch_ceiling
from passerby.outcomes.series import enumerate_series, log_series
from passerby.support.logs import exceeds

from .no_misses import log_all_right
from .ways import refuses_one_series

#: The share of the budget that goes to raw counts before it is known whether they decide.
FIRST = 0.25
#: The share that is left for guesses for noisy counts, where raw ones are dear and will decide.
GUESSING = 0.25


def run(question: Question, known: Known) -> Iterator[Finding]:
    """With little effort at first."""
    yield bounded(question, known, FIRST * question.budget)


def run_again(question: Question, known: Known) -> Iterator[Finding]:
    """Where nothing is below what raw counts tell, and this is not known well, it deserves more effort."""
    first = known.bound("raw")
    if first is None or question.within(first.ceiling - first.error, first.ceiling):
        return
    if too_dense(question, question.budget):
        return  # there is no more to be had within the budget
    if looked_closely(question, known):
        return
    if first.ceiling <= min(finding.ceiling for finding in known if finding.about == "loss"):
        yield bounded(question, known, question.budget)


def bounded(question: Question, known: Known, budget: float) -> Finding:
    """The bound; its `error` is how far it is above what raw counts give for sure."""
    lower, upper = raw_loss(question, known, budget)
    return Finding("raw", ceiling=min(1.0, upper), error=max(0.0, upper - lower))


def raw_loss(question: Question, known: Known, budget: float) -> tuple[float, float]:
    """What raw counts from the same sensors would give, at least and at most; of long series, to who knows the mode."""
    counts = question.release.as_raw()
    prior, misses, tolerance = question.prior, question.misses, question.tolerance
    log_exact = log_all_right(prior, counts, misses)
    if log_exact is not None:
        return math.exp(log_exact), rounded_up(log_exact)
    most = affordable(question, budget)
    if too_dense(question, budget):
        return 0.0, stretch_ceiling(prior, counts, misses)
    if exceeds(log_series(prior, counts), most):
        if dense(prior, counts, misses) and budget < question.budget:
            ceiling = stretch_ceiling(prior, counts, misses)
            if sample_leaves(question, known) < raw_leaves(question, known, ceiling):
                return 0.0, ceiling
            budget = (1 - GUESSING) * question.budget
        found = bracket_stretches(prior, counts, misses, tolerance, budget, told=True)
        if found is not None:
            return found.lower, found.upper
    listed = enumerate_series(prior, counts, most, 0.5, negligible(question, known))
    if listed is None:
        return 0.0, 1.0
    try:
        best = bracket_series(prior, counts, listed, misses, tolerance, budget)
    except UnsupportedRelease:
        return 0.0, 1.0
    return listed.mean(best.lower)[0], average_upper(listed, best, question.level)


def looked_closely(question: Question, known: Known) -> bool:
    """Whether raw counts are dear, and all effort went to them since they were to decide."""
    first = known.bound("raw")
    if first is None or first.error >= first.ceiling:
        return False
    return dense(question.prior, question.release.as_raw(), question.misses)


def too_dense(question: Question, budget: float) -> bool:
    """Whether raw counts have too many series to list, and guesses for their stretches cost more than is there."""
    prior, counts = question.prior, question.release.as_raw()
    if not prior.single or not counts.reveals or prior.naming is not None:
        return False
    if not exceeds(log_series(prior, counts), affordable(question, budget)):
        return False
    return least_cost(prior, counts, question.misses) > question.budget


def refuses(question: Question) -> str | None:
    """Raw counts are not bounded by themselves."""
    if question.release.plain:
        return "the counts are raw"
    return refuses_one_series(question)


RAW = Method(
    "raw",
    "bounds what raw counts from the same sensors would give",
    run,
    bounds=("raw",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda question: FIRST * question.budget,
)
RAW_AGAIN = replace(
    RAW,
    name="raw_again",
    says="bounds what raw counts would give with more effort, where that decides",
    run=run_again,
    needs=("raw",),
    cost=lambda question: question.budget,
)
