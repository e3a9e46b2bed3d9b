"""The bound `known`: an adversary who knows everyone else, instead of their habits, knows more."""

from collections.abc import Iterator

from passerby.errors import UnsupportedRelease
from passerby.measurement.average import affordable
from passerby.measurement.best_guess import average_upper, bracket_series
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.mechanisms import Raw
from passerby.model.count_release import mechanism_of
from passerby.model.headcount import likely
from passerby.outcomes.channels import at_any
from passerby.outcomes.quantisation import grown_series

from .crowd import again
from .enumeration import LISTED_SERIES
from .ways import refuses_one_series


def run(question: Question, known: Known) -> Iterator[Finding]:
    """At most what raw counts would give."""
    rules, raw = question.release.ways, known.bound("raw")
    most = 1.0 if raw is None else raw.ceiling
    if all(isinstance(rule, Raw) for rule in rules):
        yield limit("known", most)
    elif not all(rule.shift_invariant for rule in rules):
        yield limit("known", min(most, at_likely_counts(question, known)))
    else:
        yield knowing(question)


def knowing(question: Question) -> Finding:
    """The number of others does not matter to an adversary who knows it."""
    found = again(question, question.release.with_others(None), 1 - 2 * (1 - question.level))
    return limit("known", found.upper, level=None if found.effort.confidence is None else question.level)


def at_likely_counts(question: Question, known: Known) -> float:
    """What is told where all numbers of others are likely ones, whichever, and the probability that they are not.

    Whoever knows the numbers of others has what the rule tells at these, which at each sensor is less than what a
    stand-in for all likely numbers tells.
    """
    assert question.release.crowd is not None
    numbers = [law for step in question.release.crowd.laws(question.release.sensors) for law in step]
    left = 0.1 * question.tolerance * known.baseline.floor
    rules = [mechanism_of(count) for count in question.release.listed]
    ranges = [(rule, likely(law, left / len(numbers))) for rule, law in zip(rules, numbers, strict=True)]
    laws = [law for rule, ends in ranges if (law := at_any(rule, *ends)) is not None]
    most = affordable(question, question.budget / 4)
    if len(laws) < len(ranges):
        return 1.0
    series = grown_series(question.prior, question.release, laws, min(most, LISTED_SERIES), left / most, more=True)
    if series is None:
        return 1.0
    try:
        found = bracket_series(
            question.prior, question.release, series, question.misses, question.tolerance, question.budget / 4
        )
    except UnsupportedRelease:
        return 1.0
    return min(1.0, average_upper(series, found, question.level) + left)


def refuses(question: Question) -> str | None:
    """Without a crowd, the adversary knows everyone else anyway."""
    return "the others are known anyway" if question.release.crowd is None else refuses_one_series(question)


KNOWN = Method(
    "known",
    "bounds what an adversary achieves who knows everyone else",
    run,
    bounds=("known",),
    needs=("baseline", "raw"),
    refuses=refuses,
    cost=lambda question: question.budget,
)
