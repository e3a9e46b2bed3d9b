"""Raw counts with too many series to list: both ends for all of them at once, from the stretches between sightings."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from passerby.measurement.average import FAR, looks, resolution, searched
from passerby.measurement.finding import Finding, Known, Look, exact, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.stretches import bracket_stretches, dense, stretch_ceiling
from passerby.outcomes.series import Series

from .ways import by_sightings, by_stretches, refuses_others

Floats = NDArray[np.float64]

#: The share of the budget that goes to all series at once, before any are drawn. Where they are dear, it is all, or
#: little if somebody who is told all places succeeds so often that nothing is to be had from stretches.
SHARE, ALL, LITTLE = 0.5, 1.0, 0.15
MOST_TOLD = 0.75


def run(question: Question, known: Known) -> Iterator[Finding]:
    """A sighting makes the chain start afresh (`kernels.renewal_guess`); nothing where its tables are too big.

    Of a mixture, where the mode is told: `Σ_k w_k loss_k`. Where that leaves the ends far apart, series are drawn: what
    the best guess for each adds to the guesses for its stretches, whose success over all series is known.
    """
    prior, told, misses, budget = question.prior, question.told, question.misses, share(question) * question.budget
    found = bracket_stretches(prior, told, misses, question.tolerance, budget)
    if found is not None:
        look = Look(found.refined, nodes=found.nodes, operations=found.operations)
        yield exact("ascent", found.lower, look=look)
        if question.prior.modes == 1:
            yield exact("map", found.ways)
            yield exact("marginal", found.places)
        yield limit("posterior" if question.prior.modes == 1 else "modes", found.upper, look)
        drawn = None if found.law is None else beyond(question, known, found.law)
        if drawn is not None:
            yield from searched(question, question.told, drawn, known.spent)


def share(question: Question) -> float:
    """The share of the budget that goes to all series at once."""
    prior, told, misses = question.prior, question.told, question.misses
    if not dense(prior, told, misses):
        return SHARE
    return LITTLE if stretch_ceiling(prior, told, misses) > MOST_TOLD else ALL


def beyond(question: Question, known: Known, law: Floats) -> Series | None:
    """A sample of series, anchored at guesses for their stretches; None where it would not help."""
    from passerby.measurement.policy import policy_of, sample_beyond

    lower, upper, told = known.floor.floor, known.ceiling.ceiling, question.told
    if question.within(lower, upper) or known.floor.name != "ascent" or law.shape[1] != told.grid.size + 1:
        return None
    runs = looks(question, question.budget - known.spent)
    if upper - lower <= FAR * resolution(question, lower, runs):
        return None
    policy = policy_of(question.prior, told, law, lower)
    return sample_beyond(question.prior, told, policy, question.rng(), runs)


def refuses(question: Question) -> str | None:
    """Where a sighting does not reveal the place, nothing starts afresh; few series are better looked at one by one."""
    if not by_sightings(question):
        return "published values are no sightings"
    if not by_stretches(question):
        return "its series can be looked at one by one"
    return refuses_others(question)


RENEWAL = Method(
    "renewal",
    "bounds the best guess for all series of raw counts at once, stretch by stretch between sightings",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda question: SHARE * question.budget,
)
