"""Raw counts: a sighting makes the chain start afresh, and stretches between sightings say all.

Without misses the loss itself is one recursion. If series are too many to list, both ends are for all at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.kernels.renewal import sightings
from passerby.measurement.finding import Finding, Known, Look, exact, limit
from passerby.measurement.information import check_stretches
from passerby.measurement.roots import rounded_up
from passerby.model.lumping import with_one_sensor
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import Series
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import MEMORY_LIMIT, bracket_series
from passerby.questions.trace.stretches import bracket_stretches, dense
from passerby.questions.trace.subsample import PILOT, stretches_leave
from passerby.questions.trace.ways import FAR, by_sightings, by_stretches, looks, refuses_others, resolution, searched

if TYPE_CHECKING:
    from passerby.kernels.renewal.best_guess import Stretchwise

#: The share of the budget for all series at once, before any are drawn: normally, and if it is dear.
SHARE, LITTLE = 0.5, 0.45


def run_no_misses(goal: Goal, known: Known) -> Iterator[Finding]:
    """The loss itself."""
    log_value = log_all_right(goal.prior, goal.release, goal.misses)
    if log_value is not None:
        value = min(1.0, math.exp(log_value))
        yield exact("map", value)
        yield exact("ascent", value)
        yield limit("posterior", rounded_up(log_value))


def log_all_right(prior: MarkovPrior, release: Release, misses: int) -> float | None:
    """Log of `Σ_y max_x Pr[X = x, Y = y]` for raw counts; None if there are misses, or if it takes too long."""
    if misses or not release.reveals or not prior.single or prior.naming is not None:
        return None
    prior, release = with_one_sensor(prior, release)
    try:
        check_stretches(prior, release)
    except UnsupportedRelease:
        return None
    return float(sightings.log_all_right(*prior.named_logs, release.grid))


def refuses_no_misses(goal: Goal) -> str | None:
    """Only a sighting makes the chain start afresh, and only without misses is the likeliest trace the best guess."""
    if goal.misses or not goal.release.plain:
        return "the recursion over sightings is for raw counts and no misses"
    return refuses_others(goal)


NO_MISSES = Method(
    "no_misses",
    "finds the loss itself by a recursion over sightings",
    run_no_misses,
    attacks=("map", "ascent"),
    bounds=("posterior",),
    refuses=refuses_no_misses,
    of_places=True,
)


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """A sighting makes the chain start afresh (`kernels.renewal.best_guess`); nothing if its tables are too big.

    Of a mixture, for an adversary knowing the mode: `Σ_k w_k loss_k`. If this leaves the ends far apart, series are
    drawn. The best guess for each is between the guesses and the ceilings for its stretches, known over all series. If
    stretches are dear, they get all of the budget, or two rounds with the rest for drawn series.
    """
    prior, told, misses, budget = goal.prior, goal.told, goal.misses, goal.budget
    dear, drawing = dense(prior, told, misses), True

    def more(found: Stretchwise) -> float | None:
        nonlocal drawing
        drawing = worth_drawing(goal, found)
        return None if drawing else (1 - LITTLE) * budget

    first = (LITTLE if dear else SHARE) * budget
    found = bracket_stretches(prior, told, misses, goal.tolerance, first, more=more if dear else None)
    if found is not None:
        look = Look(found.refined, nodes=found.nodes, operations=found.operations)
        yield exact("ascent", found.lower, look=look)
        if goal.prior.modes == 1:
            yield exact("map", found.ways)
            yield exact("marginal", found.places)
        yield limit("posterior" if goal.prior.modes == 1 else "modes", found.upper, look)
        drawn = drawn_from_gap(goal, known, found, dear) if drawing else None
        if drawn is not None:
            # The success of plain guesses over all series is known.
            ends = searched(goal, goal.told, drawn, known.spent)
            yield from (end for end in ends if end.name not in ("map", "marginal"))


def worth_drawing(goal: Goal, found: Stretchwise) -> bool:
    """Whether looks at drawn series will leave a smaller gap than stretches will."""
    prior, told = goal.prior, goal.told
    few = sample(goal, found, goal.other_rngs(2)[0], PILOT)
    if few is None or goal.steps * prior.states**2 > MEMORY_LIMIT:
        return False
    looked = bracket_series(prior, told, few, goal.misses, goal.tolerance, 0.0)
    low, high = (few.beyond(end).mean() for end in (looked.lower, looked.upper))
    finest = resolution(goal, 0.0, looks(goal, goal.budget - found.operations))
    return bool(high - low + finest < stretches_leave(goal))


def drawn_from_gap(goal: Goal, known: Known, found: Stretchwise, dear: bool) -> Series | None:
    """A sample of series; None if it would not help."""
    lower, upper, runs = known.floor.floor, known.ceiling.ceiling, looks(goal, goal.budget - known.spent)
    near = not dear and upper - lower <= FAR * resolution(goal, lower, runs)
    if near or goal.within(lower, upper):
        return None
    return sample(goal, found, goal.rng(), runs)


def sample(goal: Goal, found: Stretchwise, rng: np.random.Generator, runs: int) -> Series | None:
    """Series drawn from the gap between guesses and ceilings for stretches; None if there is no gap."""
    from passerby.questions.trace.gap import gap_of, sample_gap

    if found.law is None or found.ceilings is None or found.law.shape[1] != goal.told.grid.size + 1:
        return None
    gap = gap_of(goal.prior, goal.told, found.law, found.ceilings)
    return sample_gap(goal.told, gap, found.lower, rng, runs)


def refuses(goal: Goal) -> str | None:
    """If a sighting does not reveal the place, nothing starts afresh. Few series are better looked at one by one."""
    if not by_sightings(goal):
        return "published values are no sightings"
    if not by_stretches(goal):
        return "its series can be looked at one by one"
    return refuses_others(goal)


RENEWAL = Method(
    "renewal",
    "bounds the best guess for all series of raw counts at once, stretch by stretch between sightings",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda goal: SHARE * goal.budget,
    of_places=True,
)
