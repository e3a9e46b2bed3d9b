"""Listed series: all possible ones, the likeliest, or the published one."""

from collections.abc import Iterator

from passerby.measurement.finding import Finding, Known
from passerby.outcomes.series import MAX_SERIES, enumerate_series
from passerby.outcomes.stand_ins import log_outcomes
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import cost_of_series
from passerby.questions.trace.ways import (
    affordable,
    by_sightings,
    draws,
    negligible,
    refuses_others,
    resolution,
    searched,
)
from passerby.support.numbers import exceeds

#: More series than this are not listed for noisy counts, unless a small tolerance asks for it.
LISTED_SERIES = 1024
#: If more than so many times as many are possible, the likeliest hardly ever cover enough, and looking takes long.
WORTH_LISTING = 16


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """The best guess for each series. Noise spreads the probability over all of them: stand-ins need fewer."""
    if ("posterior" in known or "modes" in known) and goal.misses:
        return
    most = affordable(goal, goal.budget)
    left = left_over(goal, known)
    if not by_sightings(goal) and goal.series == "auto":
        most = min(most, LISTED_SERIES) if goal.tolerance >= 0.01 else most
        left = 0.2 * goal.tolerance * known.baseline.floor
        if exceeds(log_outcomes(goal.told), WORTH_LISTING * most):
            return
    series = enumerate_series(goal.prior, goal.told, most, left, negligible(goal, known))
    if series is not None:
        yield from searched(goal, goal.told, series, known.spent)


def run_short(goal: Goal, known: Known) -> Iterator[Finding]:
    """The last resort: a list leaving more over, if this is still less than a sample's doubt."""
    most = affordable(goal, goal.budget)
    if "posterior" in known or exceeds(log_outcomes(goal.told), WORTH_LISTING * most):
        return
    left = left_over(goal, known)
    series = enumerate_series(goal.prior, goal.told, most, left, negligible(goal, known))
    if series is not None:
        yield from searched(goal, goal.told, series, known.spent)


def left_over(goal: Goal, known: Known) -> float:
    """The probability a list may leave over: negligible against the loss, or below the resolution of a sample."""
    if goal.series == "enumerate":
        return 1.0
    floor = known.baseline.floor
    return max(0.2 * goal.tolerance * floor, min(0.01, resolution(goal, floor, draws(goal))))


def refuses(goal: Goal) -> str | None:
    """The reason, if a sample was asked for."""
    return "a sample was asked for" if goal.series == "sample" else refuses_others(goal)


def refuses_short(goal: Goal) -> str | None:
    """Sightings, and lists of any length, are for the full list."""
    if by_sightings(goal) or goal.series == "enumerate":
        return "all series are listed, or none"
    return refuses(goal)


def cost(goal: Goal) -> float:
    """All series at the lowest effort."""
    return MAX_SERIES * cost_of_series(goal.prior, goal.steps, goal.misses)


ENUMERATION = Method(
    "enumeration",
    "searches for the best guess for each of the series that can be published",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=cost,
)


SHORT_LIST = Method(
    "short_list",
    "searches for the best guess for the likeliest series, where stand-ins fail",
    run_short,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses_short,
    cost=cost,
)


def run_published(goal: Goal, known: Known) -> Iterator[Finding]:
    """One series, searched with the whole budget."""
    assert goal.published is not None
    yield from searched(goal, goal.release, goal.published)


def refuses_published(goal: Goal) -> str | None:
    """The reason, if no published series is given."""
    return "nothing was published yet" if goal.published is None else None


ONE_SERIES = Method(
    "one_series",
    "searches for the best guess given exactly what was published",
    run_published,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    refuses=refuses_published,
    cost=lambda goal: cost_of_series(goal.prior, goal.steps, goal.misses),
)
