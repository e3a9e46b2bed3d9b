"""Series that are drawn: where nothing else is close enough, and for the plain guesses, which nothing else scores."""

from collections.abc import Iterator
from dataclasses import replace

from passerby.measurement.average import (
    FAR,
    balanced,
    best_of,
    bound_of,
    dear,
    draws,
    looked,
    plainly,
    resolution,
    sample,
    searched,
)
from passerby.measurement.best_guess import UNBOUNDED, alone, bracket_series, cost_of_series
from passerby.measurement.decode import averaged
from passerby.measurement.finding import Finding, Known, exact
from passerby.measurement.forecast import pilot
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.stretches import dense
from passerby.measurement.thinning import cost_of_glance, thin

from .raw import GUESSING, looked_closely
from .ways import by_stretches, refuses_others

#: The part of the budget for guesses that are made whatever the lot.
SOME = 0.1
#: A sample may raise the lower end by this factor where the absolute gap is too small for it to lower the upper one.
FACTOR = 1.25


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Attacks at a confidence, and where the certain ends are far apart, a search for each series that was drawn."""
    lower, upper = known.floor.floor, known.ceiling.ceiling
    scored = known.attack("map") is not None and known.attack("marginal") is not None
    seen = "posterior" in known or "modes" in known
    finest = resolution(question, known.baseline.floor, draws(question)) * (FAR if seen else 1.0)
    near = (upper - lower <= finest and upper <= FACTOR * lower) or question.within(lower, upper)
    listed = "posterior" in known and not by_stretches(question)
    drawn = any(finding.level is not None for finding in known)
    if question.series == "auto" and scored and (listed or near or drawn or thorough(question)):
        return
    if question.series == "auto" and near:
        if "ascent" not in known:
            yield exact("ascent", known.baseline.floor)
        yield from plainly(question, sample(question, known, draws(question)))
    else:
        lots = pilot(question, known)
        runs = balanced(question, known) if lots is None else lots.runs
        if not resolved(question, known, runs):
            guessed = sample(question, known, guesses(question, GUESSING))
            yield from searched(question, question.told, guessed, bounded=False)
        elif lots is None:
            yield from searched(question, question.told, sample(question, known, runs), known.spent)
        else:
            yield from by_lot(question, known, runs)


def resolved(question: Question, known: Known, runs: int) -> bool:
    """Whether so many series are to be bounded: not where that is dear, and they are not to decide."""
    if question.series != "auto" or not dear(question):
        return True
    finest = resolution(question, known.baseline.floor, runs)
    return known.ceiling.ceiling > finest and not looked_closely(question, known)


def guesses(question: Question, part: float) -> int:
    """How many series guesses are made for, if they are to take a part of the budget."""
    each = cost_of_series(question.prior, question.steps, question.misses)
    return draws(question, int(part * max(question.budget, 2e9) / each))


def by_lot(question: Question, known: Known, runs: int) -> Iterator[Finding]:
    """Attacks, and the bound `posterior` from those of the series that the lot falls on.

    Guesses are made for the first of the series whatever the lot: what is achieved at least is the larger of what both
    tell, each at half of the doubt that is allowed.
    """
    prior, told, misses, tolerance = question.prior, question.told, question.misses, question.tolerance
    series = sample(question, known, runs)
    first = series.first(guesses(question, SOME))
    some = bracket_series(prior, told, first, misses, tolerance, UNBOUNDED)
    yield averaged("map", first, some.map, question.level)
    yield averaged("marginal", first, some.marginal, question.level)
    lots = thin(question, series, question.other_rngs(2)[1])
    spent = runs * cost_of_glance(prior, question.steps, misses)
    found = bracket_series(prior, told, lots.few, misses, tolerance, max(0.0, question.budget - known.spent - spent))
    found = lots.whole(found._replace(operations=found.operations + spent))
    look, strict = looked(series, found), replace(question, confidence=(1 + question.confidence) / 2)
    both = [best_of(each, b.lower, alone(b), strict, look) for each, b in ((first, some), (series, found))]
    yield replace(max(both, key=lambda best: best.floor), level=question.level)
    yield bound_of(series, found, question, look)


def thorough(question: Question) -> bool:
    """Whether the budget went to stretches, which are dear, and to series drawn beside them."""
    return by_stretches(question) and dense(question.prior, question.told, question.misses)


def refuses(question: Question) -> str | None:
    """Where a list was asked for."""
    return "a list was asked for" if question.series == "enumerate" else refuses_others(question)


SAMPLING = Method(
    "sampling",
    "scores guesses, and searches for better ones, for series that are drawn",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda question: draws(question) * cost_of_series(question.prior, question.steps, question.misses),
)
