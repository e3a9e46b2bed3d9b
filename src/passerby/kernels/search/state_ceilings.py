"""Ceilings for every possible state of a person at a step, from the last step to the first (see `ceiling`).

At the lowest level of effort, the past is told from each state on. If it is cheap to add up, some step is taken as the
first right one. At higher levels a few nodes are searched from every state. If right steps are rare, right steps next
to each other are taken out instead.
"""

import numpy as np

from passerby.kernels.jit import inlined, making, once

from .best_first import search
from .ceiling import TOGETHER, first_right, four_known, known_step, right_adds, union_sums
from .stages import STATE_NODES, adds_up, pairs_of_steps

#: Largest number of operations spent on avoidance for every state.
AVOID_LIMIT = 3e8
#: Unions helping nobody are given up at the lowest level, after so many steps.
PATIENT = 6


@making
def rows_apart(chain):
    """Whether no row leads to two states of one place, as in a mixture of chains whose states are places."""
    return states_apart(chain, np.bool_(False))


@making
def ways_apart(chain):
    """The same of ways of any length: no state leads to two states of one place, however many steps later."""
    return states_apart(chain, np.bool_(True))


@making
def states_apart(chain, ever):
    """Whether no state leads to two states of one place in a step, or in however many if it is `ever`."""
    if chain.single:
        return True
    seen = np.full(chain.named.shape[0], -1)
    for x in range(chain.low.shape[0]):
        low, high, grown = chain.low[x], chain.high[x], ever
        while grown:
            grown = False
            for y in range(low, high):
                if chain.low[y] < chain.high[y] and (chain.low[y] < low or chain.high[y] > high):
                    low, high, grown = min(low, chain.low[y]), max(high, chain.high[y]), True
        for y in range(low, high):
            if seen[chain.place_of[y]] == x:
                return False
            seen[chain.place_of[y]] = x
    return True


@inlined
def told_together(V, chain, t, low, high, adds):
    """Fill a step of V by telling the past, for k = low..high, four of them at a time; returns the work done.

    Rows must be `rows_apart`, and there must be a fourth: high is at least 4. Entries filled in below low are never
    read.
    """
    M = V.shape[2]
    least = min(low, high + 1 - TOGETHER)
    for k in range(least, high + 1):
        right_adds(V, t + 1, k, adds[k])
        for x in range(M):
            adds[k, x] *= chain.named[chain.place_of[x]]
    for x in range(M):
        if chain.law[t, x] > 0.0:
            for k in range(least, high + 1, TOGETHER):
                first = min(k, high + 1 - TOGETHER)
                four_known(chain.moves[t, x], chain.low[x], chain.high[x], V[t + 1], adds, V[t], first, x)
            for k in range(low, high + 1):
                V[t, k, x] = min(V[t, k, x], 1.0)
    return (high - low + 1.0) * M * M


@inlined
def tell(V, chain, t, low, high, apart, gain, by_place):
    """Fill a step of V by telling the past, for k = low..high and possible states; returns the work done."""
    M, work = V.shape[2], 0.0
    for k in range(low, high + 1):
        right_adds(V, t + 1, k, gain)
        for x in range(M):
            gain[x] *= chain.named[chain.place_of[x]]
        for x in range(M):
            if chain.law[t, x] > 0.0:
                V[t, k, x] = known_step(V, chain, t, x, k, gain, apart, by_place)
                work += M
    return work


@once
def ceilings(V, chain, needed, level, room):
    """Fill V for every relevant state, last step first; returns the work done, in elementary operations.

    Whether right steps are rare (union below told-the-past) decides how the entries are improved at higher levels: by
    avoidance, or by a search from the state.
    """
    T, M = V.shape[0], V.shape[2]
    unused = np.empty(T, np.int64)
    sums, gain = np.empty((needed + 1, M)), np.empty(M)
    by_place, apart, ever_apart = room.by_place[0], rows_apart(chain), ways_apart(chain)
    union = adds_up(T, M, needed, level)
    state_nodes = min(STATE_NODES[level], room.won.shape[0] - 1)
    avoid = union and level > 1 and pairs_of_steps(T, M, needed) * M * needed <= AVOID_LIMIT
    plain = not union and state_nodes <= 1 and apart
    work, helps = 0.0, True
    V[:, 0] = 1.0
    V[:, 1:] = 0.0
    for t in range(T - 2, -1, -1):
        low, high = max(1, needed - t - 1), min(needed, T - 1 - t)
        union = union and (helps or level > 0 or T - t <= PATIENT)
        helps = False
        if plain and high >= max(low, TOGETHER):
            work += told_together(V, chain, t, low, high, sums)
            continue
        work += tell(V, chain, t, low, high, apart, gain, by_place)
        if union and low <= high:
            union_sums(V, chain, t, low, high, ever_apart, sums, by_place)
            work += (T - low - t) * M * M * (M + high - low + 1)
        for k in range(low, high + 1):
            for x in range(M):
                if chain.law[t, x] == 0.0:
                    continue
                b = V[t, k, x]
                rare = union and sums[k, x] < b
                if rare:
                    b, helps = sums[k, x], True
                    if avoid:
                        b = min(b, first_right(V, chain, chain.moves[t, x], t + 1, k, room))
                        work += 2 * (T - k - t) * M * M
                elif state_nodes > 1 and b > 1e-12:
                    found, _, _, more = search(
                        V, chain, chain.moves[t, x], t + 1, k, state_nodes, 0.0, np.bool_(False), unused, room
                    )
                    b = min(b, found)
                    work += more
                V[t, k, x] = min(b, 1.0)
    return work
