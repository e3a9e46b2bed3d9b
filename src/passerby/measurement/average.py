"""The success of the best guess, averaged over published series: attacks and the bound `posterior`, as findings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.measurement.decode import averaged, map_attack, map_successes
from passerby.model.release import Release
from passerby.outcomes.series import MAX_SERIES, Anchor, Floats, Series, sample_series

from .best_guess import (
    UNBOUNDED,
    Brackets,
    alone,
    average_upper,
    bracket_series,
    cost_of_look,
    cost_of_series,
    plain_series,
)
from .finding import Finding, Known, Look, Pooled, limit
from .question import Question

#: Fewer sampled series than this say too little to be worth the name.
MIN_RUNS = 20
#: The share of a budget that the first look at all series of a sample may take.
FIRST_LOOK = 0.5
#: Elementary operations from which on a look at a series is dear, and what is small beside the success of a guess.
DEAR, SMALL = 5e6, 0.1
#: Both ends of a sample are further apart than so many times what one of them resolves, but for luck.
FAR = 2.0
#: Series that are, all together, so small a part of what the tolerance allows are not listed: most series are such.
NEGLIGIBLE = 1e-3


def affordable(question: Question, budget: float) -> int:
    """How many series can be looked at, at the lowest effort, within a budget."""
    each = cost_of_series(question.prior, question.steps, question.misses)
    return max(1, min(MAX_SERIES, int(max(budget, 2e9) / each)))


def negligible(question: Question, known: Known) -> float:
    """The probability that a list leaves over though there is room for it, unless a list was asked for."""
    return 0.0 if question.series == "enumerate" else NEGLIGIBLE * question.tolerance * known.baseline.floor


def draws(question: Question, most: int | None = None) -> int:
    """How many series are drawn, where they are: at most so many, or what the budget pays for."""
    most = affordable(question, question.budget) if most is None else most
    return max(min(MIN_RUNS, question.runs), min(question.runs, most))


def resolution(question: Question, anchored: float, runs: int) -> float:
    """How wide an interval from so many draws is, at least, beside a guess with the success `anchored`."""
    return math.log(1 / (1 - question.level)) * (1 - anchored) / runs


def anchor(question: Question, known: Known) -> Anchor | None:
    """The best guess without the release, whose success needs no sample."""
    best = known.baseline
    return None if best.guess is None else Anchor(np.array(best.guess), question.misses, best.floor)


def looks(question: Question, budget: float) -> int:
    """How many series are drawn if some of this budget is to be left for a closer look at them."""
    each = cost_of_look(question.prior, question.steps, question.misses)
    return draws(question, int(FIRST_LOOK * max(budget, 2e9) / each))


def balanced(question: Question, known: Known) -> int:
    """How many series are drawn to be searched.

    A sample resolves a share of certainty, and a search for each of its series a share of what is achieved. Where looks
    are dear, no more are drawn than it takes for the first to be small beside the second.
    """
    runs = draws(question)
    if not dear(question):
        return runs
    finest = resolution(question, known.baseline.floor, 1)
    return min(runs, max(looks(question, question.budget), int(finest / max(SMALL * known.baseline.floor, 1e-9))))


def dear(question: Question) -> bool:
    """Whether a look at a series costs much."""
    return cost_of_look(question.prior, question.steps, question.misses) >= DEAR


def sample(question: Question, known: Known, runs: int) -> Series:
    """Series drawn for traces that the best guess without the release gets wrong."""
    return sample_series(question.prior, question.told, question.rng(), runs, anchor(question, known))


def looked(series: Series, *searches: Brackets) -> Look:
    """At these series, by these searches."""
    nodes, operations = sum(found.nodes for found in searches), sum(found.operations for found in searches)
    return Look(len(series), series.sampled, 1.0 - series.left_over, nodes, operations)


def searched(
    question: Question, release: Release, series: Series, spent: float = 0.0, *, bounded: bool = True
) -> Iterator[Finding]:
    """Attacks and the bound `posterior` from the best guess for each series, with what is left of the budget.

    Unless it is to be `bounded`, guesses alone are looked for. Where posterior chains do not fit into memory, the
    likeliest traces alone are scored.
    """
    prior, misses, level = question.prior, question.misses, question.level
    budget = max(0.0, question.budget - spent) if bounded else UNBOUNDED
    try:
        found = bracket_series(prior, release, series, misses, question.tolerance, budget)
    except UnsupportedRelease:
        plain = map_successes(prior, release, misses, series)
        yield averaged("map", series, plain, level)
        yield best_of(series, plain, plain, question, looked(series))
        raise
    yield averaged("map", series, found.map, level)
    yield averaged("marginal", series, found.marginal, level)
    look = looked(series, found)
    yield best_of(series, found.lower, alone(found), question, look)
    if bounded:
        yield bound_of(series, found, question, look)


def bound_of(series: Series, found: Brackets, question: Question, look: Look) -> Finding:
    """The bound `posterior`."""
    level = question.level if series.sampled else None
    bound = limit("posterior", average_upper(series, found, question.level), look, level)
    return replace(bound, pooled=pooled(series, found)) if series.sampled else bound


def pooled(series: Series, found: Brackets) -> Pooled:
    """The best guess's success averaged over the draws, from both sides.

    The ends of single draws depend on each other, since effort goes where it helps all of them, but they never lie
    inside of what depends on one draw alone: its best guess's success.
    """
    lower = np.maximum(found.lower, series.anchored)
    upper = np.maximum(np.minimum(found.upper, series.capped), lower)  # they may differ by rounding
    return Pooled(series.mean(lower)[0], series.mean(upper)[0], series.room / math.sqrt(len(series)))


def best_of(series: Series, best: Floats, guide: Floats, question: Question, look: Look) -> Finding:
    """The best guess that was found for each series, or the anchor's, and what it achieves for sure."""
    best = np.maximum(best, series.anchored)
    value, error = series.mean(best)
    if not series.sampled:
        return Finding("ascent", floor=value, value=value, look=look)
    floor = min(value, series.lower(best, guide, question.level))
    return Finding("ascent", floor=floor, value=value, error=error, level=question.level, look=look)


def plainly(question: Question, series: Series) -> Iterator[Finding]:
    """The plain guesses, which use the published values in full, averaged over a sample."""
    prior, told, misses, level = question.prior, question.told, question.misses, question.level
    try:
        likeliest, marginal = plain_series(prior, told, series, misses)
    except UnsupportedRelease:
        yield map_attack(prior, told, misses, series, level)
        return
    yield averaged("map", series, likeliest, level)
    yield averaged("marginal", series, marginal, level)
