"""Raw counts with too many series to list: both ends for all of them at once, from the stretches between sightings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from passerby.measurement.average import FAR, looks, resolution, searched
from passerby.measurement.best_guess import MEMORY_LIMIT, bracket_series
from passerby.measurement.finding import Finding, Known, Look, exact, limit
from passerby.measurement.forecast import PILOT, stretches_leave
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.stretches import bracket_stretches, dense
from passerby.outcomes.series import Series

from .ways import by_sightings, by_stretches, refuses_others

if TYPE_CHECKING:
    from passerby.kernels.renewal_guess import Stretchwise

#: The share of the budget that goes to all series at once, before any are drawn, and where that is dear.
SHARE, LITTLE = 0.5, 0.45


def run(question: Question, known: Known) -> Iterator[Finding]:
    """A sighting makes the chain start afresh (`kernels.renewal_guess`); nothing where its tables are too big.

    Of a mixture, where the mode is told: `Σ_k w_k loss_k`. Where that leaves the ends far apart, series are drawn: the
    best guess for each is between the guesses and the ceilings for its stretches, which are known over all series.
    Where stretches are dear, they get all of the budget, or two rounds and series that are drawn get the rest.
    """
    prior, told, misses, budget = question.prior, question.told, question.misses, question.budget
    dear, drawing = dense(prior, told, misses), True

    def more(found: Stretchwise) -> float | None:
        nonlocal drawing
        drawing = worth_drawing(question, found)
        return None if drawing else (1 - LITTLE) * budget

    first = (LITTLE if dear else SHARE) * budget
    found = bracket_stretches(prior, told, misses, question.tolerance, first, more=more if dear else None)
    if found is not None:
        look = Look(found.refined, nodes=found.nodes, operations=found.operations)
        yield exact("ascent", found.lower, look=look)
        if question.prior.modes == 1:
            yield exact("map", found.ways)
            yield exact("marginal", found.places)
        yield limit("posterior" if question.prior.modes == 1 else "modes", found.upper, look)
        drawn = drawn_from_gap(question, known, found, dear) if drawing else None
        if drawn is not None:
            # What plain guesses achieve over all series is known.
            ends = searched(question, question.told, drawn, known.spent)
            yield from (end for end in ends if end.name not in ("map", "marginal"))


def worth_drawing(question: Question, found: Stretchwise) -> bool:
    """Whether looks at series that are drawn will leave less of what is open than stretches will."""
    prior, told = question.prior, question.told
    few = sample(question, found, question.other_rngs(2)[0], PILOT)
    if few is None or question.steps * prior.states**2 > MEMORY_LIMIT:
        return False
    looked = bracket_series(prior, told, few, question.misses, question.tolerance, 0.0)
    low, high = (few.beyond(end).mean() for end in (looked.lower, looked.upper))
    finest = resolution(question, 0.0, looks(question, question.budget - found.operations))
    return bool(high - low + finest < stretches_leave(question))


def drawn_from_gap(question: Question, known: Known, found: Stretchwise, dear: bool) -> Series | None:
    """A sample of series; None where it would not help."""
    lower, upper, runs = known.floor.floor, known.ceiling.ceiling, looks(question, question.budget - known.spent)
    near = not dear and upper - lower <= FAR * resolution(question, lower, runs)
    if near or question.within(lower, upper):
        return None
    return sample(question, found, question.rng(), runs)


def sample(question: Question, found: Stretchwise, rng: np.random.Generator, runs: int) -> Series | None:
    """Series that are drawn where guesses and ceilings for stretches are apart; None where that is nowhere."""
    from passerby.measurement.gap import gap_of, sample_gap

    if found.law is None or found.ceilings is None or found.law.shape[1] != question.told.grid.size + 1:
        return None
    gap = gap_of(question.prior, question.told, found.law, found.ceilings)
    return sample_gap(question.told, gap, found.lower, rng, runs)


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
    of_places=True,
)
