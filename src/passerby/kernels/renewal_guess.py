"""All series of raw counts at once: the best guess, bracketed stretch by stretch.

Between two sightings the person's places depend on nothing else that was published, so a guess can be made for each
stretch by itself, and wrong steps add up over stretches that are independent of each other. From below: one guess for
each stretch (`stretch_policy`). From above: an adversary who is told the number of wrong steps at each sighting
(`stretch_ceiling`). Nothing is listed or sampled.

A stretch goes from a restart point u (see `stretches`) to the next sighting v = t S + j, or to the end, v = T S.
"""

import numpy as np

from .chain import at, dot, push
from .jit import cube, inlined, kernel, number, out_vector, vector, whole, whole_matrix
from .renewal import unseen
from .stretch_ceiling import Effort, Watch, lay
from .stretch_guess import after_point, climb, map_guesses, marginal_guesses, ways_ahead
from .stretch_policy import add_before, add_up_from, best_plain, plain_laws, worth_of

#: Nodes of a search from each state, by round.
NODES = np.array([1, 4, 16, 64, 256])
#: Entries of the table of ceilings that are kept in memory.
MEMORY = 2e7
#: States and stretches are counted by how small a part of the whole they are: so many halvings.
HALVINGS = 1100
#: Shares of what is left of the budget that a round may spend on guesses and on ceilings.
GUESSING, SEARCHING = 0.2, 0.7


@inlined
def local_gap(bounds, V, law, before, v):
    """What a stretch adds to the gap between both ends. The sum over all stretches is the gap.

    With i wrong before it, the ceiling counts `bounds(r)`, r = misses - i, where its guess leads to
    `Σ_k law(k) V(v, r - k)`.
    """
    K, TS = V.shape[1], V.shape[0] - 1
    gap = 0.0
    for i in range(K):
        if before[i] > 0.0:
            r = K - 1 - i
            achieved = 0.0
            for k in range(r + 1):
                achieved += law[k] * (V[v, r - k] if v < TS else 1.0)
            gap += before[i] * (bounds[r] - achieved)
    return gap


@inlined
def spread(watch, before, mass):
    """Fill `mass[t, r, x]`: the chance of x before step t, with at least r misses left when last seen."""
    T, S = watch.watched.shape
    K = before.shape[1]
    mass[0] = 0.0
    mass[0, :, 0] = 1.0
    for t in range(T):
        for r in range(K):
            if t == 0:
                mass[1, r] = watch.initial
            else:
                push(mass[t, r], at(watch.matrices, t - 1), mass[t + 1, r])
            mass[t + 1, r] *= watch.hidden[t]
            for j in range(S):
                if watch.watched[t, j] >= 0:
                    mass[t + 1, r, watch.watched[t, j]] = before[1 + t * S + j, : K - r].sum()


@inlined
def halvings(part):
    """How often the whole, 1, is halved until the part is larger."""
    return min(max(int(-np.log2(part)), 0), HALVINGS - 1)


@inlined
def cut(costs, budget):
    """The largest power of two such that all parts above it cost no more than the budget; `costs` by halvings."""
    spent = 0.0
    for i in range(costs.shape[0]):
        spent += costs[i]
        if spent > budget:
            return 0.5**i
    return 0.0


@inlined
def climb_costs(watch, bounds, V, law, before, high):
    """What it costs to improve the guesses of all stretches, by the halvings of their parts of the upper end."""
    T, S = watch.watched.shape
    M, K, TS = watch.named.shape[0], V.shape[1], T * S
    costs = np.zeros(HALVINGS)
    for u in range(TS + 1):
        t0 = after_point(u, S)
        for v in range((t0 + 1) * S, TS + 1):
            gap = local_gap(bounds[u, v], V, law[u, v], before[u], v)
            if gap > 0.0:
                L = v // S - t0
                costs[halvings(gap / high)] += 16.0 * L * min(K, L) * M * (M + 8.0)
    return costs


@inlined
def climb_all(watch, ahead, bounds, V, least, before, after, law):
    """Improve the guesses of stretches that add more than `least` to the gap; (success, number of them, work)."""
    T, S = watch.watched.shape
    K, M, TS = V.shape[1], watch.named.shape[0], T * S
    starts = np.zeros((2, TS + 1, T), np.int64)
    scratch, worth, found = np.empty((T, K, M)), np.empty(K), np.empty(K)
    climbed, work = 0, 0.0
    for u in range(TS, -1, -1):
        ready = False
        for v in range((after_point(u, S) + 1) * S, TS + 1):
            if local_gap(bounds[u, v], V, law[u, v], before[u], v) <= least:
                continue
            if not ready:
                map_guesses(watch, u, starts[0])
                marginal_guesses(watch, ahead, u, starts[1])
                ready = True
            worth_of(before, after, u, v, worth)
            for i in range(2):
                reached, more = climb(watch, u, v, starts[i, v], worth, scratch, found)
                work += more
                if reached > dot(law[u, v], worth):
                    law[u, v] = found
            climbed += 1
        add_up_from(S, u, law[u], after)
    return after[0, K - 1], climbed, work


@kernel(out_vector(vector, cube, whole_matrix, vector, whole, number, number))
def stretchwise(initial, matrices, watched, named, misses, tolerance, budget):
    """Bracket the success of the best guess with at most `misses` wrong steps, over all series of raw counts.

    Returns (lower, upper, stretches whose guess was improved, nodes, work). Sensors must be at places that may be named.
    Rounds of guessing and searching, with more nodes each, go on until both ends are within `tolerance` of each other
    or the budget is spent.
    """
    T, S = watched.shape
    M, K, TS = initial.shape[0], misses + 1, T * S
    watch = Watch(initial, matrices, watched, unseen(watched, M), named)
    ahead, laws, law = np.zeros((T, TS + 1, M)), np.zeros((2, TS + 1, TS + 1, K)), np.zeros((TS + 1, TS + 1, K))
    ways_ahead(watch, ahead)
    done = np.array([0.0, 0.5 * T * TS * M * M + plain_laws(watch, ahead, laws)])
    before, after = np.zeros((TS + 1, K)), np.zeros((TS + 1, K))
    low = best_plain(S, laws, before, after, law)
    depth = min(T + 1, max(2, int(MEMORY / (TS + 1) / K / M)))
    U, V, bounds = np.ones((depth, TS + 1, K, M)), np.ones((TS + 1, K)), np.zeros((TS + 1, TS + 1, K))
    mass, costs = np.zeros((T + 1, K, M)), np.zeros(HALVINGS)
    high, climbed = 1.0, 0.0
    for i in range(NODES.shape[0]):
        left = budget - done[1]
        if i > 0 and (high <= low * (1.0 + tolerance) or left <= 0.1 * budget):
            break
        if i > 0:
            least = high * cut(climb_costs(watch, bounds, V, law, before, high), GUESSING * left)
            low, n, more = climb_all(watch, ahead, bounds, V, least, before, after, law)
            climbed, done[1] = climbed + n, done[1] + more
            if high <= low * (1.0 + tolerance):
                break
        add_before(S, law, before)
        spread(watch, before, mass)
        floor = cut(costs, SEARCHING * left / NODES[i])
        costs[:] = 0.0
        high = min(high, lay(watch, U, V, bounds, mass, Effort(NODES[i], floor, i > 0, costs, done)))
    return np.array([low, max(low, high), climbed, done[0], done[1]])
