"""Stages of effort for a series: the work at each, its cost, and the next one.

At some stages a search of a higher level is made. At others penalties are set (`penalties`), cheap if there are many
places.
"""

import numpy as np

from passerby.kernels.jit import inlined, making

from .heap import NODE
from .penalties import MOST_PENALTIES

#: Effort by level: nodes for each known state, and nodes for the whole chain.
STATE_NODES = np.array([1, 1, 4, 16, 64, 256])
ROOT_NODES = np.array([12, 24, 100, 400, 1600, 6400])
LEVELS = 6
#: The work on a series at each stage: a search of some level, or so many rounds of penalties; -1 for neither.
SEARCHED = np.array([0, -1, -1, -1, 1, 2, 3, 4, 5])
PENALTY_ROUNDS = np.array([-1, 0, 8, 32, -1, -1, -1, -1, -1])
STAGES = 9
#: Fewer places than this are searched, without penalties: this is as quick.
FEW = 24
#: If penalties are set, a stage leaving more than this share of the gaps of so many series is given up.
TRIED, STALLED = 6, 0.8
#: Largest number of operations spent on union sums at the lowest level, and above.
UNION_AT_ONCE, UNION_LIMIT = 1e5, 1e8


@inlined
def pairs_of_steps(T, M, needed):
    """How many pairs of a state and a later one unions look at."""
    return min(T * T / 2.0, T * (T - needed + 1.0)) * M * M


@inlined
def adds_up(T, M, needed, level):
    """Whether unions over the first right step are added up for every state at a level."""
    return pairs_of_steps(T, M, needed) * (M + needed) <= (UNION_LIMIT if level > 0 else UNION_AT_ONCE)


@inlined
def cost_of_level(T, M, needed, level):
    """Rough number of elementary operations of a level: a search from every state and one from the start."""
    width = min(needed, T - needed + 1)
    states = T * M * width if STATE_NODES[level] > 1 else 0
    return (states * STATE_NODES[level] + 2.0 * ROOT_NODES[level] * T) * (NODE + min(width, 8) * M * (M + 8.0))


@inlined
def cost_of_stage(chain_single, T, M, needed, stage):
    """Elementary operations of a stage, roughly; none for penalties on few or too many places, or shared states."""
    if SEARCHED[stage] >= 0:
        return cost_of_level(T, M, needed, SEARCHED[stage])
    misses, rounds = T - needed, PENALTY_ROUNDS[stage]
    kept = (T if rounds > 0 else 1.0) * (misses + 2.0) * M * M
    if not chain_single or M < FEW or kept > MOST_PENALTIES:
        return 0.0
    return (rounds + 1.0) * T * (misses + 2.0) * (misses + 1.0) * M * M


@making
def paper_for(chain_single, T, M, needed):
    """Paper (2, n) for the penalties of all steps if they are improved, and of one if they are only set."""
    steps = 0
    if cost_of_stage(chain_single, T, M, needed, np.int64(1)) > 0.0:
        steps = T if cost_of_stage(chain_single, T, M, needed, np.int64(2)) > 0.0 else 1
    return np.empty((2, steps * (T - needed + 2) * M * M))


@inlined
def stage_after(alone, T, M, needed, stage, tried):
    """The next stage with something to do that was not tried in vain; none after the last one.

    If the lowest search helped nobody and unions are too many to add up, no other will help.
    """
    hopeless = stalled(tried, np.int64(0)) and not adds_up(T, M, needed, np.int64(1))
    stage += 1
    while stage < STAGES and (
        cost_of_stage(alone, T, M, needed, stage) == 0.0 or in_vain(tried, stage) or (hopeless and SEARCHED[stage] >= 0)
    ):
        stage += 1
    return stage


@inlined
def in_vain(tried, stage):
    """Whether a stage stalled, or less of the same did: fewer rounds; or these, and the cheapest search after them."""
    rounds = stalled(tried, np.int64(2))
    return stalled(tried, stage) or (rounds and (stage == 3 or (stage > 4 and stalled(tried, np.int64(4)))))


@inlined
def stalled(tried, stage):
    """Whether a stage left nearly all of the gaps of the first series it was tried for."""
    return tried[stage, 0] >= TRIED and tried[stage, 2] > STALLED * tried[stage, 1]


@inlined
def keep_score(tried, stage, before, after):
    """Count a series with so large a gap before and after a stage."""
    tried[stage, 0] += 1.0
    tried[stage, 1] += before
    tried[stage, 2] += after


@inlined
def urgency(gap, penalising, T, M, needed, stage, tried):
    """How soon a series is done again after a stage: the larger its gap is, the sooner; 0 if no stage follows.

    If some are penalised, the gap is divided by the cost of the next stage. Many rounds for the series with the widest
    gap bring less than a few for each of many.
    """
    if not penalising:
        return gap if stage < STAGES - 1 else 0.0
    stage = stage_after(np.bool_(True), T, M, needed, stage, tried)
    return gap / cost_of_stage(np.bool_(True), T, M, needed, stage) if stage < STAGES else 0.0
