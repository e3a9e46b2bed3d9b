"""Counts chosen adaptively: their histories are listed if possible, and drawn otherwise."""

from collections.abc import Iterator
from dataclasses import replace

from passerby.measurement.finding import Finding, Known, limit
from passerby.outcomes.histories import drawn_histories, listed_histories
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.ways import affordable, anchor, draws, refuses_one_series, searched

from .crowd import again
from .enumeration import left_over

#: The share of the budget for all counts a policy may choose, together.
AMONG = 0.1


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """The best guess for each history. For drawn histories, all possible choices of a policy together give a bound."""
    release = goal.release
    if goal.series != "sample":
        most, asked = affordable(goal, goal.budget), goal.series == "enumerate"
        listed = listed_histories(goal.prior, release, most, left_over(goal, known), strict=asked)
        if listed is not None:
            chain, union, series = listed
            yield from searched(replace(goal, prior=chain, release=union), union, series, known.spent)
            return
    if release.among is not None:
        found = again(replace(goal, budget=AMONG * goal.budget), known, release.among, goal.confidence)
        # A bound that rests on a sample would be one doubt more.
        if found.effort.confidence is None:
            yield limit("among", found.upper)
    chain, union, series = drawn_histories(goal.prior, release, goal.rng(), draws(goal), anchor(goal, known))
    yield from searched(replace(goal, prior=chain, release=union), union, series, known.spent)


def refuses(goal: Goal) -> str | None:
    """Counts fixed in advance need no histories."""
    return "its counts are fixed in advance" if goal.release.fixed else refuses_one_series(goal)


ADAPTIVE = Method(
    "adaptive",
    "searches for the best guess for each history of counts that are chosen as one goes",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior", "among"),
    needs=("baseline",),
    refuses=refuses,
    adaptive=True,
    cost=lambda goal: goal.budget,
)
