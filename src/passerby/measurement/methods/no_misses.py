"""No misses and raw counts: the likeliest trace is the best guess, and its success is one recursion."""

import math
from collections.abc import Iterator

from passerby.errors import UnsupportedRelease
from passerby.kernels import renewal
from passerby.measurement.finding import Finding, Known, exact, limit
from passerby.measurement.information import check_stretches
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.roots import rounded_up
from passerby.model.lumping import with_one_sensor
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .ways import refuses_others


def run(question: Question, known: Known) -> Iterator[Finding]:
    """The loss itself."""
    log_value = log_all_right(question.prior, question.release, question.misses)
    if log_value is not None:
        value = min(1.0, math.exp(log_value))
        yield exact("map", value)
        yield exact("ascent", value)
        yield limit("posterior", rounded_up(log_value))


def log_all_right(prior: MarkovPrior, release: Release, misses: int) -> float | None:
    """Log of `Σ_y max_x Pr[X = x, Y = y]` for raw counts; None where there are misses, or where it takes too long."""
    if misses or not release.reveals or not prior.single or prior.naming is not None:
        return None
    prior, release = with_one_sensor(prior, release)
    try:
        check_stretches(prior, release)
    except UnsupportedRelease:
        return None
    return float(renewal.log_all_right(*prior.named_logs, release.grid))


def refuses(question: Question) -> str | None:
    """Only a sighting makes the chain start afresh, and only without misses is the likeliest trace the best guess."""
    if question.misses or not question.release.plain:
        return "the recursion over sightings is for raw counts and no misses"
    return refuses_others(question)


NO_MISSES = Method(
    "no_misses",
    "finds the loss itself by a recursion over sightings",
    run,
    attacks=("map", "ascent"),
    bounds=("posterior",),
    refuses=refuses,
    of_places=True,
)
