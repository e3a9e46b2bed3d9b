"""Which will decide where both are dear: a sample of series, or all series of raw counts at once.

Both are told apart by what they will leave, roughly: of noisy counts, above the baseline, from a quick look at few
series and from the ceiling of somebody who is told all places; of raw ones, of what is open between both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from passerby.outcomes.series import sample_series

from .average import FAR, anchor, dear, draws, resolution
from .best_guess import MEMORY_LIMIT, cost_of_look
from .finding import Known
from .question import Question
from .stretches import least_cost
from .thinning import chances, cost_of_glance, glance

#: So many series tell what looks will leave, and which share is to be looked at; if it is more than so much, all are.
PILOT, MOST_LOOKED_AT = 16, 0.5
#: The share of a budget that a first look at the series of a sample may take, where it is by lot.
FIRST_LOOK = 0.8
#: The share that closer looks leave of what a quick one does.
CLOSER = 0.5
#: What the bound `raw` leaves of the ceiling of stretches at once, with a budget of so many times what guesses for all
#: of them cost, and with less.
RAW_LEAVES, WITH_LITTLE, PLENTY = 0.4, 0.75, 5.0
#: With this part of what guesses for all stretches cost, for each pair of numbers of wrong steps, nothing is gained.
PART = 1 / 42


@dataclass(frozen=True)
class Pilot:
    """So many series are to be drawn if they are looked at by lot; `told` is what a quick look leaves, on average.

    Of these, no more are looked at than would be drawn otherwise.
    """

    runs: int
    told: float


def pilot(question: Question, known: Known) -> Pilot | None:
    """From a few series that are not used again; None where looks are not dear, or all series are to be looked at."""
    prior, told, steps, misses = question.prior, question.told, question.steps, question.misses
    if not dear(question) or not prior.single or prior.naming is not None or steps * prior.states**2 > MEMORY_LIMIT:
        return None
    few = sample_series(prior, told, question.other_rngs(2)[0], PILOT, anchor(question, known))
    ceiling = glance(prior, told, few, misses)
    share = float(chances(np.full(len(few), few.anchored), ceiling).mean())
    if share > MOST_LOOKED_AT:
        return None
    each = cost_of_glance(prior, steps, misses) + share * cost_of_look(prior, steps, misses)
    runs = min(int(question.runs / share), int(FIRST_LOOK * max(question.budget, 2e9) / each))
    return Pilot(max(runs, draws(question, 0)), float(few.beyond(ceiling).mean()))


def sample_leaves(question: Question, known: Known) -> float:
    """What a sample will leave above the baseline."""
    floor, first = known.baseline.floor, pilot(question, known)
    if first is None:
        return FAR * resolution(question, floor, draws(question))
    return resolution(question, floor, first.runs) + CLOSER * first.told * (1 - floor)


def raw_leaves(question: Question, known: Known, ceiling: float) -> float:
    """What the bound `raw` will, if somebody who is told all places never exceeds `ceiling`."""
    least = least_cost(question.prior, question.release.as_raw(), question.misses)
    share = RAW_LEAVES if question.budget > PLENTY * least else WITH_LITTLE
    return share * max(0.0, ceiling - known.baseline.floor)


def stretches_leave(question: Question) -> float:
    """The share that stretches will leave of what is open to raw counts: seen to fall as a root of what is spent."""
    least = PART * (question.misses + 1) ** 2 * least_cost(question.prior, question.told, question.misses)
    return min(WITH_LITTLE, math.sqrt(least / max(question.budget, 1.0)))
