"""Counts that are chosen as one goes: their histories are listed where they can be, and drawn elsewhere."""

from collections.abc import Iterator
from dataclasses import replace

from passerby.measurement.average import affordable, anchor, draws, searched
from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.model.adaptive import AdaptiveRelease
from passerby.outcomes.histories import drawn_histories, listed_histories

from .crowd import again
from .enumeration import left_over
from .ways import refuses_one_series

#: The share of the budget that goes to all that may be chosen, together.
AMONG = 0.1


def run(question: Question, known: Known) -> Iterator[Finding]:
    """The best guess for each history; what a policy may ever choose, together, bounds where they are drawn."""
    release = question.release
    assert isinstance(release, AdaptiveRelease)
    if question.series != "sample":
        most, asked = affordable(question, question.budget), question.series == "enumerate"
        listed = listed_histories(question.prior, release, most, left_over(question, known), strict=asked)
        if listed is not None:
            chain, union, series = listed
            yield from searched(replace(question, prior=chain, release=union), union, series, known.spent)
            return
    if release.among is not None:
        found = again(replace(question, budget=AMONG * question.budget), release.among, question.confidence)
        # A bound that rests on a sample would be one doubt more.
        if found.effort.confidence is None:
            yield limit("among", found.upper)
    chain, union, series = drawn_histories(
        question.prior, release, question.rng(), draws(question), anchor(question, known)
    )
    yield from searched(replace(question, prior=chain, release=union), union, series, known.spent)


def refuses(question: Question) -> str | None:
    """Counts that are fixed in advance need no histories."""
    return "its counts are fixed in advance" if question.release.fixed else refuses_one_series(question)


ADAPTIVE = Method(
    "adaptive",
    "searches for the best guess for each history of counts that are chosen as one goes",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior", "among"),
    needs=("baseline",),
    refuses=refuses,
    adaptive=True,
    cost=lambda question: question.budget,
)
