"""The bounds `known` and `modes`: an adversary with side information does no worse than any other."""

from collections.abc import Iterator
from dataclasses import replace

from passerby.errors import UnsupportedRelease
from passerby.measurement.finding import Finding, Known, limit
from passerby.model.count import mechanism_of
from passerby.model.mixture import part_states, parts, possible_modes
from passerby.others.numbers import likely
from passerby.outcomes.stand_ins import at_any, grown_series
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import average_upper, bracket_series
from passerby.questions.trace.ways import affordable, refuses_one_series, refuses_others

from .crowd import again
from .enumeration import LISTED_SERIES

#: The share of the budget for the modes together.
SHARE = 0.5


def run_known(goal: Goal, known: Known) -> Iterator[Finding]:
    """At most the loss with raw counts."""
    rules, raw = goal.release.ways, known.bound("raw")
    most = 1.0 if raw is None else raw.ceiling
    if all(rule.raw for rule in rules):
        yield limit("known", most)
    elif not all(rule.shift_invariant for rule in rules):
        yield limit("known", min(most, at_likely_counts(goal, known)))
    else:
        yield knowing(goal, known)


def knowing(goal: Goal, known: Known) -> Finding:
    """The number of others does not matter to an adversary who knows it."""
    found = again(goal, known, goal.release.with_others(None), 1 - 2 * (1 - goal.level))
    return limit("known", found.upper, level=None if found.effort.confidence is None else goal.level)


def at_likely_counts(goal: Goal, known: Known) -> float:
    """The evidence of any likely numbers of others, and the probability of unlikely ones.

    An adversary knowing the numbers of others has the evidence of the rule at these numbers. At each sensor this is
    less than the evidence of a stand-in for all likely numbers.
    """
    assert goal.release.crowd is not None
    numbers = [law for step in goal.release.crowd.laws(goal.release.sensors) for law in step]
    left = 0.1 * goal.tolerance * known.baseline.floor
    rules = [mechanism_of(count) for count in goal.release.listed]
    ranges = [(rule, likely(law, left / len(numbers))) for rule, law in zip(rules, numbers, strict=True)]
    laws = [law for rule, ends in ranges if (law := at_any(rule, *ends)) is not None]
    most = affordable(goal, goal.budget / 4)
    if len(laws) < len(ranges):
        return 1.0
    series = grown_series(goal.prior, goal.release, laws, min(most, LISTED_SERIES), left / most, more=True)
    if series is None:
        return 1.0
    try:
        found = bracket_series(goal.prior, goal.release, series, goal.misses, goal.tolerance, goal.budget / 4)
    except UnsupportedRelease:
        return 1.0
    return min(1.0, average_upper(series, found, goal.level) + left)


def refuses_known(goal: Goal) -> str | None:
    """Without a crowd, the adversary knows everyone else anyway."""
    return "the others are known anyway" if goal.release.crowd is None else refuses_one_series(goal)


KNOWN = Method(
    "known",
    "bounds what an adversary achieves who knows everyone else",
    run_known,
    bounds=("known",),
    needs=("baseline", "raw"),
    refuses=refuses_known,
    cost=lambda goal: goal.budget,
)


def run_modes(goal: Goal, known: Known) -> Iterator[Finding]:
    """`Σ_k w_k loss_k`, each mode by itself, if nothing is known of all series.

    If they were looked at, knowing the mode adds nothing. It also adds nothing if the bound `raw` counts as one: this
    already knows the mode of long series.
    """
    raw = known.bound("raw")
    looked = "posterior" in known or "modes" in known or (raw is not None and raw.ceiling < 1)
    if not looked and not goal.within(known.floor.floor, known.ceiling.ceiling):
        yield told_mode(goal, known)


def told_mode(goal: Goal, known: Known) -> Finding:
    """What is achieved at most where the mode is told."""
    ceiling, certain = 0.0, True
    modes = parts(goal.prior)
    doubt = (1 - goal.level) / len(modes)
    for mode, (weight, prior) in zip(possible_modes(goal.prior), modes, strict=True):
        release = goal.release.of_states(part_states(goal.prior, mode)[0])
        asked = replace(goal, prior=prior, release=release, budget=SHARE * weight * goal.budget, confidence=1 - doubt)
        loss = known.answer(asked)
        ceiling += weight * loss.upper
        certain &= loss.effort.confidence is None
    return limit("modes", ceiling, level=None if certain else goal.level)


def refuses_modes(goal: Goal) -> str | None:
    """Only a mixture has modes."""
    return "the habits are of one kind" if goal.prior.modes == 1 else refuses_others(goal)


MODES = Method(
    "modes",
    "bounds what an adversary achieves who is told which of several habits the person keeps to",
    run_modes,
    bounds=("modes",),
    needs=("baseline", "raw"),
    refuses=refuses_modes,
    cost=lambda goal: SHARE * goal.budget,
)
