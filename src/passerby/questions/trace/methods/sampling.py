"""Drawn series: if nothing else is close enough, and for the plain guesses, scored by no other method."""

from collections.abc import Iterator
from dataclasses import replace

from passerby.measurement.finding import Finding, Known, exact
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import UNBOUNDED, alone, averaged, bracket_series, cost_of_series
from passerby.questions.trace.stretches import dense
from passerby.questions.trace.subsample import GUESSING, cost_of_quick_ceiling, looked_closely, pilot, thin
from passerby.questions.trace.ways import (
    FAR,
    balanced,
    best_of,
    bound_of,
    by_stretches,
    dear,
    draws,
    looked,
    plainly,
    refuses_others,
    resolution,
    sample,
    searched,
)

#: The part of the budget for guesses made whatever the lot.
SOME = 0.1
#: A sample may raise the lower end by this factor if the absolute gap is too small for lowering the upper one.
FACTOR = 1.25


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """Attacks at a confidence, and a search for each drawn series if the certain ends are far apart."""
    lower, upper = known.floor.floor, known.ceiling.ceiling
    scored = known.attack("map") is not None and known.attack("marginal") is not None
    seen = "posterior" in known or "modes" in known
    finest = resolution(goal, known.baseline.floor, draws(goal)) * (FAR if seen else 1.0)
    near = (upper - lower <= finest and upper <= FACTOR * lower) or goal.within(lower, upper)
    listed = "posterior" in known and not by_stretches(goal)
    drawn = any(finding.level is not None for finding in known)
    if goal.series == "auto" and scored and (listed or near or drawn or thorough(goal)):
        return
    if goal.series == "auto" and near:
        if "ascent" not in known:
            yield exact("ascent", known.baseline.floor)
        yield from plainly(goal, sample(goal, known, draws(goal)))
    else:
        lots = pilot(goal, known)
        runs = balanced(goal, known) if lots is None else lots.runs
        if not resolved(goal, known, runs):
            guessed = sample(goal, known, guesses(goal, GUESSING))
            yield from searched(goal, goal.told, guessed, bounded=False)
        elif lots is None:
            yield from searched(goal, goal.told, sample(goal, known, runs), known.spent)
        else:
            yield from by_lot(goal, known, runs)


def resolved(goal: Goal, known: Known, runs: int) -> bool:
    """Whether so many series are to be bounded: not if bounds are dear and will not decide."""
    if goal.series != "auto" or not dear(goal):
        return True
    finest = resolution(goal, known.baseline.floor, runs)
    return known.ceiling.ceiling > finest and not looked_closely(goal, known)


def guesses(goal: Goal, part: float) -> int:
    """How many series guesses are made for, if they are to take a part of the budget."""
    each = cost_of_series(goal.prior, goal.steps, goal.misses)
    return draws(goal, int(part * max(goal.budget, 2e9) / each))


def by_lot(goal: Goal, known: Known, runs: int) -> Iterator[Finding]:
    """Attacks, and the bound `posterior` from the series chosen by lot.

    Guesses are made for the first of the series whatever the lot. The lower end is the larger of both, each at half of
    the doubt allowed.
    """
    prior, told, misses, tolerance = goal.prior, goal.told, goal.misses, goal.tolerance
    series = sample(goal, known, runs)
    first = series.first(guesses(goal, SOME))
    some = bracket_series(prior, told, first, misses, tolerance, UNBOUNDED)
    yield averaged("map", first, some.map, goal.level)
    yield averaged("marginal", first, some.marginal, goal.level)
    lots = thin(goal, series, goal.other_rngs(2)[1])
    spent = runs * cost_of_quick_ceiling(prior, goal.steps, misses)
    found = bracket_series(prior, told, lots.few, misses, tolerance, max(0.0, goal.budget - known.spent - spent))
    found = lots.whole(found._replace(operations=found.operations + spent))
    look, strict = looked(series, found), replace(goal, confidence=(1 + goal.confidence) / 2)
    both = [best_of(each, b.lower, alone(b), strict, look) for each, b in ((first, some), (series, found))]
    yield replace(max(both, key=lambda best: best.floor), level=goal.level)
    yield bound_of(series, found, goal, look)


def thorough(goal: Goal) -> bool:
    """Whether the budget went to stretches, if they are dear, and to series drawn beside them."""
    return by_stretches(goal) and dense(goal.prior, goal.told, goal.misses)


def refuses(goal: Goal) -> str | None:
    """The reason, if a list was asked for."""
    return "a list was asked for" if goal.series == "enumerate" else refuses_others(goal)


SAMPLING = Method(
    "sampling",
    "scores guesses, and searches for better ones, for series that are drawn",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda goal: draws(goal) * cost_of_series(goal.prior, goal.steps, goal.misses),
)
