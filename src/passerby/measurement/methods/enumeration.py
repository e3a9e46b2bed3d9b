"""Mechanisms with few outputs: the likeliest series are listed, and what is left over counts as success above."""

from collections.abc import Iterator

from passerby.measurement.average import affordable, draws, negligible, resolution, searched
from passerby.measurement.best_guess import cost_of_series
from passerby.measurement.finding import Finding, Known
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.outcomes.quantisation import log_outcomes
from passerby.outcomes.series import MAX_SERIES, enumerate_series
from passerby.support.logs import exceeds

from .ways import by_sightings, refuses_others

#: More series than this are not listed for noisy counts, unless a small tolerance asks for it.
LISTED_SERIES = 1024
#: Where there are more than so many times as many, hardly ever do the likeliest cover enough, and looking takes long.
WORTH_LISTING = 16


def run(question: Question, known: Known) -> Iterator[Finding]:
    """The best guess for each series. Noise spreads the probability over all of them: stand-ins need fewer."""
    if ("posterior" in known or "modes" in known) and question.misses:
        return
    most = affordable(question, question.budget)
    left = left_over(question, known)
    if not by_sightings(question) and question.series == "auto":
        most = min(most, LISTED_SERIES) if question.tolerance >= 0.01 else most
        left = 0.2 * question.tolerance * known.baseline.floor
        if exceeds(log_outcomes(question.told), WORTH_LISTING * most):
            return
    series = enumerate_series(question.prior, question.told, most, left, negligible(question, known))
    if series is not None:
        yield from searched(question, question.told, series, known.spent)


def run_short(question: Question, known: Known) -> Iterator[Finding]:
    """What nothing else could look at: a list that leaves more over, where that is still less than a sample's doubt."""
    most = affordable(question, question.budget)
    if "posterior" in known or exceeds(log_outcomes(question.told), WORTH_LISTING * most):
        return
    left = left_over(question, known)
    series = enumerate_series(question.prior, question.told, most, left, negligible(question, known))
    if series is not None:
        yield from searched(question, question.told, series, known.spent)


def left_over(question: Question, known: Known) -> float:
    """The probability that a list may leave over: negligible against the loss, or below what a sample resolves."""
    if question.series == "enumerate":
        return 1.0
    floor = known.baseline.floor
    return max(0.2 * question.tolerance * floor, min(0.01, resolution(question, floor, draws(question))))


def refuses(question: Question) -> str | None:
    """Where a sample was asked for."""
    return "a sample was asked for" if question.series == "sample" else refuses_others(question)


def refuses_short(question: Question) -> str | None:
    """Sightings, and lists of any length, are for the full list."""
    if by_sightings(question) or question.series == "enumerate":
        return "all series are listed, or none"
    return refuses(question)


def cost(question: Question) -> float:
    """All series at the lowest effort."""
    return MAX_SERIES * cost_of_series(question.prior, question.steps, question.misses)


ENUMERATION = Method(
    "enumeration",
    "searches for the best guess for each of the series that can be published",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=cost,
)
SHORT_LIST = Method(
    "short_list",
    "searches for the best guess for the likeliest series, where stand-ins fail",
    run_short,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses_short,
    cost=cost,
)
