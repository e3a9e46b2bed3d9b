"""Many outputs or a continuum: both ends from stand-ins with few series, less telling ones and more telling ones."""

import math
from collections.abc import Iterator

import numpy as np

from passerby.measurement.finding import Finding, Known, Look, exact, limit
from passerby.outcomes.series import Series
from passerby.outcomes.stand_ins import bracketing_series
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import Brackets, average_upper, bracket_series, cost_of_series, plain_series
from passerby.questions.trace.ways import FAR, by_sightings, draws, refuses_others, resolution

#: Series of stand-ins: so many, and more until the tolerance is met, or until four times as many do not narrow the gap
#: to this share any more.
SERIES = (64, 256, 1024, 4096, 16384, 65536)
WORTHWHILE = 0.8
#: If plain guesses differ between stand-ins by so many times the gap of a sample, the stand-ins are not searched.
COARSE = 2.0
#: The share of the budget for stand-ins, if a sample would leave less than the sure success.
SHARE = 0.5


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """Ever finer stand-ins while they help. If even raw counts would tell next to nothing, none are needed."""
    raw, floor = known.bound("raw"), known.baseline.floor
    if "posterior" in known or (raw is not None and goal.within(floor, raw.ceiling)):
        return
    drawn = FAR * resolution(goal, floor, draws(goal)) / floor if floor > 0 else math.inf
    budget = goal.budget * (SHARE if drawn < 1 else 1.0)
    lower, upper, nodes, spent, look = 0.0, 1.0, 0, 0.0, None
    gaps: list[float] = []
    each = cost_of_series(goal.prior, goal.steps, goal.misses)
    for most in SERIES:
        if most * each > budget - spent or not _hopeful(goal.tolerance, gaps):
            break
        faint = 0.05 * goal.tolerance * floor / most
        pair = bracketing_series(goal.prior, goal.release, most, faint)
        if pair is None or _apart(goal, pair) > COARSE * drawn:
            continue
        (less, more), (low, high) = pair, _search(goal, pair, (budget - spent) / 2)
        lower = max(lower, less.mean(low.lower)[0])
        upper = min(upper, average_upper(more, high, goal.level))
        each = max(each, (low.operations + high.operations) / most)
        spent += low.operations + high.operations
        nodes += low.nodes + high.nodes
        look = Look(len(more), covered=1.0 - more.left_over, nodes=nodes, operations=spent)
        gaps.append(_gap(max(lower, known.floor.floor), min(upper, known.ceiling.ceiling)))
    if look is not None:
        yield exact("ascent", lower, look=look)
        yield limit("posterior", upper, look)


def _search(goal: Goal, pair: tuple[Series, Series], budget: float) -> tuple[Brackets, Brackets]:
    """The best guess for the series of both stand-ins, each with a budget."""
    prior, release, misses, tolerance = goal.prior, goal.release, goal.misses, goal.tolerance / 4
    less, more = (bracket_series(prior, release, side, misses, tolerance, budget) for side in pair)
    return less, more


def _apart(goal: Goal, pair: tuple[Series, Series]) -> float:
    """The gain of plain guesses from less telling to more telling stand-ins: about their gap, before any search."""
    prior, release, misses = goal.prior, goal.release, goal.misses
    less, more = (side.mean(np.maximum(*plain_series(prior, release, side, misses)))[0] for side in pair)
    return _gap(less, more)


def _gap(lower: float, upper: float) -> float:
    """How far apart the ends are, relative to the lower one."""
    return upper / lower - 1 if lower > 0 and upper / lower < float("inf") else float("inf")


def _hopeful(tolerance: float, gaps: list[float]) -> bool:
    """Whether more series of stand-ins are needed, and worth it."""
    if len(gaps) < 3:  # the coarsest say little of finer ones
        return not gaps or gaps[-1] > tolerance
    return tolerance < gaps[-1] <= WORTHWHILE * gaps[-2]


def refuses(goal: Goal) -> str | None:
    """Sightings need no stand-ins."""
    if by_sightings(goal):
        return "raw counts need no stand-ins"
    return "its series are listed or sampled, as asked" if goal.series != "auto" else refuses_others(goal)


QUANTISATION = Method(
    "quantisation",
    "searches for the best guess for stand-ins of the mechanism that tell less and that tell more",
    run,
    attacks=("ascent",),
    bounds=("posterior",),
    needs=("baseline", "raw"),
    refuses=refuses,
    cost=lambda goal: SERIES[0] * cost_of_series(goal.prior, goal.steps, goal.misses),
)
