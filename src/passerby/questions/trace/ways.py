"""Common parts of methods: their limits, the number of series they can afford, and their findings in these."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.measurement.finding import Finding, Known, Look, Pooled, limit
from passerby.model.release import Release
from passerby.outcomes.series import MAX_SERIES, Anchor, Floats, Series, log_series, sample_series
from passerby.support.numbers import exceeds

from .goal import Goal
from .guess import (
    UNBOUNDED,
    Brackets,
    alone,
    average_upper,
    averaged,
    bracket_series,
    cost_of_look,
    cost_of_series,
    map_attack,
    map_successes,
    plain_series,
)

#: Fewer sampled series than this say too little to be worth the name.
MIN_RUNS = 20
#: The share of a budget for the first look at all series of a sample.
FIRST_LOOK = 0.5
#: Elementary operations above which a look at a series is dear, and a number small beside the success of a guess.
DEAR, SMALL = 5e6, 0.1
#: But for luck, both ends of a sample are further apart than so many times its resolution.
FAR = 2.0
#: Series together making up so small a part of the tolerance are not listed: most series are such.
NEGLIGIBLE = 1e-3


def affordable(goal: Goal, budget: float) -> int:
    """How many series can be looked at, at the lowest effort, within a budget."""
    each = cost_of_series(goal.prior, goal.steps, goal.misses)
    return max(1, min(MAX_SERIES, int(max(budget, 2e9) / each)))


def negligible(goal: Goal, known: Known) -> float:
    """The probability left over by a list in spite of room for it, unless a list was asked for."""
    return 0.0 if goal.series == "enumerate" else NEGLIGIBLE * goal.tolerance * known.baseline.floor


def draws(goal: Goal, most: int | None = None) -> int:
    """The number of series to draw: at most so many, or as many as the budget pays for."""
    most = affordable(goal, goal.budget) if most is None else most
    return max(min(MIN_RUNS, goal.runs), min(goal.runs, most))


def resolution(goal: Goal, anchored: float, runs: int) -> float:
    """How wide an interval from so many draws is, at least, beside a guess with the success `anchored`."""
    return math.log(1 / (1 - goal.level)) * (1 - anchored) / runs


def anchor(goal: Goal, known: Known) -> Anchor | None:
    """The best guess without the release, whose success needs no sample."""
    best = known.baseline
    return None if best.guess is None else Anchor(np.array(best.guess), goal.misses, best.floor)


def looks(goal: Goal, budget: float) -> int:
    """How many series are drawn if some of this budget is to be left for a closer look at them."""
    each = cost_of_look(goal.prior, goal.steps, goal.misses)
    return draws(goal, int(FIRST_LOOK * max(budget, 2e9) / each))


def balanced(goal: Goal, known: Known) -> int:
    """The number of series to draw for a search.

    A sample resolves a share of certainty, and a search for each of its series resolves a share of the success. If
    looks are dear, the first is made small beside the second, and no more series are drawn.
    """
    runs = draws(goal)
    if not dear(goal):
        return runs
    finest = resolution(goal, known.baseline.floor, 1)
    return min(runs, max(looks(goal, goal.budget), int(finest / max(SMALL * known.baseline.floor, 1e-9))))


def dear(goal: Goal) -> bool:
    """Whether a look at a series costs much."""
    return cost_of_look(goal.prior, goal.steps, goal.misses) >= DEAR


def sample(goal: Goal, known: Known, runs: int) -> Series:
    """Series drawn for traces guessed wrong by the best guess without the release."""
    return sample_series(goal.prior, goal.told, goal.rng(), runs, anchor(goal, known))


def looked(series: Series, *searches: Brackets) -> Look:
    """At these series, by these searches."""
    nodes, operations = sum(found.nodes for found in searches), sum(found.operations for found in searches)
    return Look(len(series), series.sampled, 1.0 - series.left_over, nodes, operations)


def searched(
    goal: Goal, release: Release, series: Series, spent: float = 0.0, *, bounded: bool = True
) -> Iterator[Finding]:
    """Attacks and the bound `posterior` from the best guess for each series, with the rest of the budget.

    Unless it is to be `bounded`, guesses alone are looked for. If posterior chains do not fit into memory, the
    likeliest traces alone are scored.
    """
    prior, misses, level = goal.prior, goal.misses, goal.level
    budget = max(0.0, goal.budget - spent) if bounded else UNBOUNDED
    try:
        found = bracket_series(prior, release, series, misses, goal.tolerance, budget)
    except UnsupportedRelease:
        plain = map_successes(prior, release, misses, series)
        yield averaged("map", series, plain, level)
        yield best_of(series, plain, plain, goal, looked(series))
        raise
    yield averaged("map", series, found.map, level)
    yield averaged("marginal", series, found.marginal, level)
    look = looked(series, found)
    yield best_of(series, found.lower, alone(found), goal, look)
    if bounded:
        yield bound_of(series, found, goal, look)


def bound_of(series: Series, found: Brackets, goal: Goal, look: Look) -> Finding:
    """The bound `posterior`."""
    level = goal.level if series.sampled else None
    bound = limit("posterior", average_upper(series, found, goal.level), look, level)
    return replace(bound, pooled=pooled(series, found)) if series.sampled else bound


def pooled(series: Series, found: Brackets) -> Pooled:
    """The best guess's success averaged over the draws, from both sides.

    The ends of single draws depend on each other, since effort goes to draws helping all of them. But they always
    enclose the best guess's success, a number depending on one draw alone.
    """
    lower = np.maximum(found.lower, series.anchored)
    upper = np.maximum(np.minimum(found.upper, series.capped), lower)  # they may differ by rounding
    return Pooled(series.mean(lower)[0], series.mean(upper)[0], series.room / math.sqrt(len(series)))


def best_of(series: Series, best: Floats, guide: Floats, goal: Goal, look: Look) -> Finding:
    """The best guess found for each series, or the anchor's, and its certain success."""
    best = np.maximum(best, series.anchored)
    value, error = series.mean(best)
    if not series.sampled:
        return Finding("ascent", floor=value, value=value, look=look)
    floor = min(value, series.lower(best, guide, goal.level))
    return Finding("ascent", floor=floor, value=value, error=error, level=goal.level, look=look)


def plainly(goal: Goal, series: Series) -> Iterator[Finding]:
    """The plain guesses, based on the published values in full, averaged over a sample."""
    prior, told, misses, level = goal.prior, goal.told, goal.misses, goal.level
    try:
        likeliest, marginal = plain_series(prior, told, series, misses)
    except UnsupportedRelease:
        yield map_attack(prior, told, misses, series, level)
        return
    yield averaged("map", series, likeliest, level)
    yield averaged("marginal", series, marginal, level)


def refuses_others(goal: Goal) -> str | None:
    """The reason, if counts cannot be looked at one by one, or the question is not about all of them."""
    if not goal.release.independent:
        return "counts of the same crowd depend on each other"
    return refuses_one_series(goal)


def refuses_one_series(goal: Goal) -> str | None:
    """The reason, if the question is not about all possible series."""
    if goal.published is not None:
        return "one series was published, and the question is about that one"
    return "the paper's way draws traces" if goal.way == "sampling" else None


def by_sightings(goal: Goal) -> bool:
    """Whether each count tells for certain if the target is there, or tells nothing."""
    return goal.told.plain


def by_stretches(goal: Goal) -> bool:
    """Whether all series of raw counts are looked at at once, since there are too many to look at one by one."""
    if goal.series != "auto" or not by_sightings(goal):
        return False
    return exceeds(log_series(goal.prior, goal.told), affordable(goal, goal.budget))
