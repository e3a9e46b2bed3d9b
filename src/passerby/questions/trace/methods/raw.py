"""The bounds `raw` and `erasure`: published counts follow from raw ones, all of them or some shown at random."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.measurement.erasure import MOST_LISTED, Erasure
from passerby.measurement.finding import Finding, Known, Look, limit
from passerby.measurement.roots import rounded_up
from passerby.model.release import Release
from passerby.outcomes.series import enumerate_series, log_series
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import average_upper, bracket_series
from passerby.questions.trace.stretches import bracket_stretches, dense, least_cost, log_all_right, stretch_ceiling
from passerby.questions.trace.subsample import GUESSING, SPARE, looked_closely, raw_leaves, sample_leaves
from passerby.questions.trace.ways import FAR, affordable, negligible, refuses_one_series, refuses_others
from passerby.support.numbers import exceeds
from passerby.support.statistics import upper_limit

Floats = NDArray[np.float64]

#: The share of the budget for raw counts before it is known whether they decide.
FIRST = 0.25
#: The share of a budget for `erasure`, and the least and most sets of counts to draw.
SHARE, LEAST, MOST = 0.25, 100, 2000
#: Raw counts with so few series are looked at one by one.
FEW = 64


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """With little effort at first."""
    yield bounded(goal, known, FIRST * goal.budget)


def run_again(goal: Goal, known: Known) -> Iterator[Finding]:
    """If no bound is below the one of raw counts, and this is not known well, it deserves more effort."""
    first = known.bound("raw")
    if first is None or goal.within(first.ceiling - first.error, first.ceiling):
        return
    if too_dense(goal, goal.budget):
        return  # there is no more to be had within the budget
    if looked_closely(goal, known):
        return
    if first.ceiling <= min(finding.ceiling for finding in known if finding.about == "loss"):
        yield bounded(goal, known, goal.budget)


def bounded(goal: Goal, known: Known, budget: float) -> Finding:
    """The bound; its `error` is its distance above the certain success with raw counts."""
    lower, upper = raw_loss(goal, known, budget)
    return Finding("raw", ceiling=min(1.0, upper), error=max(0.0, upper - lower))


def raw_loss(goal: Goal, known: Known, budget: float) -> tuple[float, float]:
    """Both ends for raw counts from the same sensors; for long series, against an adversary knowing the mode."""
    counts = goal.release.as_raw()
    prior, misses, tolerance = goal.prior, goal.misses, goal.tolerance
    log_exact = log_all_right(prior, counts, misses)
    if log_exact is not None:
        return math.exp(log_exact), rounded_up(log_exact)
    most = affordable(goal, budget)
    if too_dense(goal, budget):
        return 0.0, stretch_ceiling(prior, counts, misses)
    if exceeds(log_series(prior, counts), most):
        if dense(prior, counts, misses) and budget < goal.budget:
            ceiling = stretch_ceiling(prior, counts, misses)
            if sample_leaves(goal, known) < raw_leaves(goal, known, ceiling):
                return 0.0, ceiling
            budget = (1 - GUESSING) * goal.budget
        found = bracket_stretches(prior, counts, misses, tolerance, budget, told=True)
        if found is not None:
            return found.lower, found.upper
    listed = enumerate_series(prior, counts, most, 0.5, negligible(goal, known))
    if listed is None:
        return 0.0, 1.0
    try:
        best = bracket_series(prior, counts, listed, misses, tolerance, budget)
    except UnsupportedRelease:
        return 0.0, 1.0
    return listed.mean(best.lower)[0], average_upper(listed, best, goal.level)


def too_dense(goal: Goal, budget: float) -> bool:
    """Whether raw counts have too many series to list, and guesses for their stretches cost more than is there."""
    prior, counts = goal.prior, goal.release.as_raw()
    if not prior.single or not counts.reveals or prior.naming is not None:
        return False
    if not exceeds(log_series(prior, counts), affordable(goal, budget)):
        return False
    return least_cost(prior, counts, goal.misses) > goal.budget


def refuses(goal: Goal) -> str | None:
    """Raw counts are not bounded by themselves."""
    if goal.release.plain:
        return "the counts are raw"
    return refuses_one_series(goal)


RAW = Method(
    "raw",
    "bounds what raw counts from the same sensors would give",
    run,
    bounds=("raw",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda goal: FIRST * goal.budget,
)


RAW_AGAIN = replace(
    RAW,
    name="raw_again",
    says="bounds what raw counts would give with more effort, where that decides",
    run=run_again,
    needs=("raw",),
    cost=lambda goal: goal.budget,
)


def run_erasure(goal: Goal, known: Known) -> Iterator[Finding]:
    """`loss <= Σ_A Π_{A} τ Π_{not A} (1 - τ) loss_raw(A)` over the sets A of raw counts shown.

    Few sets are listed. Others are drawn if it may help: both ends are far apart, and no set can tell more than all raw
    counts.
    """
    lower, upper = ends_so_far(known)
    if goal.within(lower, upper):
        return
    erasure, raw = Erasure(goal.release), known.bound("raw")
    most = 1.0 if raw is None else raw.ceiling
    if erasure.listable:
        found = sum(chance * min(most, closely(goal, known, shown)) for chance, shown in erasure.listed())
        yield limit("erasure", found)
    elif upper > FAR * lower:
        share = erasure.shown / max(1, goal.release.as_raw().grid.size)
        if (count := sets_affordable(goal, share)) >= LEAST:
            yield mean_of_sets(goal, known, list(erasure.drawn(goal.seed, count)))


def mean_of_sets(goal: Goal, known: Known, sets: Sequence[Release]) -> Finding:
    """A limit for the mean of what sets of raw counts tell that were drawn; none tells more than all, nor than 1."""
    raw = known.bound("raw")
    most = 1.0 if raw is None else raw.ceiling
    values = np.array([min(most, raw_told(goal, known, shown)) for shown in sets])
    level = 1 - SPARE * (1 - goal.confidence)
    least = min(known.baseline.floor, most)
    room = max(most - least, 1e-300)
    ceiling = least + room * upper_limit(np.clip((values - least) / room, 0.0, 1.0), level)
    return limit("erasure", ceiling, Look(len(sets), sampled=True), level)


def ends_so_far(known: Known) -> tuple[float, float]:
    """The known ends, at a confidence or for certain."""
    found = [finding for finding in known if finding.about == "loss" and not finding.assumes]
    return max((f.floor for f in found), default=0.0), min((f.ceiling for f in found), default=1.0)


def closely(goal: Goal, known: Known, shown: Release) -> float:
    """The upper end for raw counts."""
    asked = replace(goal, release=shown, budget=SHARE * goal.budget / MOST_LISTED)
    return raw_loss(asked, known, asked.budget)[1]


def raw_told(goal: Goal, known: Known, shown: Release) -> float:
    """The same, at the least effort if there are many counts."""
    if exceeds(log_series(goal.prior, shown), FEW):
        return stretch_ceiling(goal.prior, shown, goal.misses)
    return closely(goal, known, shown)


def quick(goal: Goal) -> bool:
    """Whether ceilings come from the stretches between sightings of a chain whose states are places."""
    counts = goal.release.as_raw()
    return counts.reveals and goal.prior.single and goal.prior.naming is None


def sets_affordable(goal: Goal, share: float) -> int:
    """How many sets can be looked at, which hold such a share of all counts."""
    if not quick(goal):
        return 0
    each = least_cost(goal.prior, goal.release.as_raw(), goal.misses) * max(share, 0.05) ** 2 + 1e5
    return int(min(MOST, SHARE * goal.budget / each))


def refuses_erasure(goal: Goal) -> str | None:
    """Raw counts are always shown."""
    if goal.release.plain:
        return "the counts are raw"
    if goal.series != "auto":
        return "its series are listed or sampled, as asked"
    return refuses_others(goal)


ERASURE = Method(
    "erasure",
    "bounds noisy counts by raw ones that are shown at random",
    run_erasure,
    bounds=("erasure",),
    needs=("baseline", "raw"),
    refuses=refuses_erasure,
    cost=lambda goal: SHARE * goal.budget,
)
