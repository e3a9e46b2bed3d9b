"""All series of raw counts at once: the best guess, bracketed stretch by stretch.

Between two sightings the person's places depend on no other publication. So a guess can be made for each stretch by
itself, and wrong steps add up over independent stretches. From below: one guess for each stretch (`stretch_policy`).
From above: the best guess for each number of wrong steps in a stretch, each by itself (`stretch_ceiling`). Nothing is
listed or sampled.

A stretch goes from a restart point u (see `stretches`) to the next sighting v = t S + j, or to the end, v = T S.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from passerby.kernels.chain.recursions import at, copy, dot, likeliest, push, turn
from passerby.kernels.jit import (
    cube,
    inlined,
    kernel,
    matrix,
    number,
    once,
    out_cube,
    out_cubes,
    out_matrix,
    vector,
    whole_matrix,
)

from .sightings import begin
from .stretch_ceiling import HALVINGS, cut, halvings, lay
from .stretch_guess import after_point, climb, count_wrong, keep, map_guesses, marginal_guesses
from .stretch_policy import add_before, add_up_from, best_plain, plain_laws, worth_of
from .stretch_search import Watch, hope

#: Nodes of a search from each state, by round.
NODES = (1, 4, 16, 64, 256)
#: The most entries of the table of ceilings kept in memory.
MEMORY = 2e7
#: Shares of the remaining budget for the guesses and the ceilings of a round.
GUESSING, SEARCHING = 0.2, 0.7
#: With less than this share left, no round is begun, nor after a round leaving more than so much of the gap.
SPENT = 0.1
STALLED = 0.9

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@inlined
def local_gap(bounds, V, law, before, v):
    """The contribution of a stretch to the gap between both ends. The sum over all stretches is the gap.

    With i wrong before it, the ceiling leads to `Σ_k (F(k) - F(k-1)) V(v, r - k)`, r = misses - i. Its guess leads to
    `Σ_k law(k) V(v, r - k)`.
    """
    K, TS = V.shape[1], V.shape[0] - 1
    gap = 0.0
    for i in range(K):
        if before[i] > 0.0:
            r = K - 1 - i
            for k in range(r + 1):
                more = bounds[k] - (bounds[k - 1] if k > 0 else 0.0) - law[k]
                gap += before[i] * more * (V[v, r - k] if v < TS else 1.0)
    return gap


@once
def dive(watch, U, u, v, r, guess):
    """Name the most promising place by the ceilings at each step of a stretch, with r misses left at u."""
    S, M = watch.watched.shape[1], watch.named.shape[0]
    now, new, gain = np.zeros((r + 1, M)), np.zeros((r + 1, M)), np.empty(M)
    t0 = begin(watch.initial, watch.matrices, watch.watched, u, now[0])
    for t in range(t0, v // S):
        rows = min(r, t - t0) + 1
        for j in range(rows):
            if t > t0:
                push(now[j], at(watch.matrices, t - 1), new[j])
                now[j] = new[j]
            keep(now[j], watch.hidden[t])
        hope(now, rows, U[t + 1, v], r, gain)
        guess[t] = likeliest(gain, watch.named)
        count_wrong(now, r + 1, guess[t])


@once
def misses_left(before, bounds):
    """The number of misses left at a restart point with the largest weight of a stretch from there."""
    K = before.shape[0]
    most, pick = -1.0, K - 1
    for i in range(K):
        if before[i] * bounds[K - 1 - i] > most:
            most, pick = before[i] * bounds[K - 1 - i], K - 1 - i
    return pick


@once
def least_gap(watch, bounds, V, law, before, high, budget):
    """The smallest gap of a stretch with all larger gaps improvable within a budget."""
    T, S = watch.watched.shape
    M, K, TS = watch.named.shape[0], V.shape[1], T * S
    costs = np.zeros(HALVINGS)
    for u in range(TS + 1):
        t0 = after_point(u, S)
        for v in range((t0 + 1) * S, TS + 1):
            gap = local_gap(bounds[u, v], V, law[u, v], before[u], v)
            if gap > 0.0:
                L = v // S - t0
                costs[halvings(gap / high)] += 24.0 * L * min(K, L) * M * (M + 8.0)
    return high * cut(costs, budget)


@kernel(
    types.UniTuple(number, 3)(
        vector,
        cube,
        whole_matrix,
        matrix,
        vector,
        out_cube,
        out_cubes,
        cube,
        matrix,
        number,
        number,
        out_matrix,
        out_matrix,
        out_cube,
    )
)
def climb_all(initial, matrices, watched, hidden, named, ahead, U, bounds, V, high, budget, before, after, law):
    """Improve the guesses of the stretches adding most to the gap, within a budget; (success, number, work).

    Backwards, one restart point after the other: no series has two stretches from the same one, so the success never
    falls. `before`, `after` (N, K) and `law` belong to the guesses, and are kept so.
    """
    watch = Watch(initial, matrices, watched, hidden, named)
    T, S = watched.shape
    K, M, TS = V.shape[1], named.shape[0], T * S
    least = least_gap(watch, bounds, V, law, before, high, budget)
    starts = np.zeros((3, TS + 1, T), np.int64)
    scratch, worth, found = np.empty((T, K, M)), np.empty(K), np.empty(K)
    turned, climbed, work = turn(matrices), 0, 0.0
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
            if U.shape[0] > T:
                dive(watch, U, u, v, misses_left(before[u], bounds[u, v]), starts[2, v])
            for i in range(3 if U.shape[0] > T else 2):
                reached, more = climb(watch, turned, u, v, starts[i, v], worth, scratch, found)
                work += more
                if reached > dot(law[u, v], worth):
                    copy(found, law[u, v])
            climbed += 1
        add_up_from(S, u, law[u], after)
    add_before(S, law, before)
    return after[0, K - 1], climbed * 1.0, work


class Stretchwise(NamedTuple):
    """Both ends, the success of likeliest ways and of likeliest places, the effort, and the law of the guesses.

    `refined` is the number of stretches whose guess was improved; `operations` are elementary ones. The guesses' own
    `law` (N, T S + 1, K) is the chance from u of v next with k wrong steps between. `ceilings`, of the same shape,
    bound every guess's chance of v next with at most k wrong.
    """

    lower: float
    upper: float
    ways: float
    places: float
    refined: int
    nodes: int
    operations: float
    law: Floats | None = None
    ceilings: Floats | None = None


def stretchwise(
    initial: Floats,
    matrices: Floats,
    watched: Ints,
    named: Floats,
    misses: int,
    tolerance: float,
    budget: float,
    more: Callable[[Stretchwise], float | None] | None = None,
) -> Stretchwise:
    """Bracket the success of the best guess with at most `misses` wrong steps, over all series of raw counts.

    Sensors must be at nameable places. Rounds of guessing and searching, with more nodes each, go on until both ends
    are within `tolerance` of each other or the budget is spent. From the findings of the first round, `more` gives the
    effort to spend on top, or None if one more round shall be the last.
    """
    chain = initial, matrices, watched, unwatched(watched, len(initial)), named
    (ahead,), laws, spent = plain_laws(initial[None], matrices, initial[None], *chain[1:], misses)
    points, number_wrong = laws.shape[1], misses + 1
    before, after, law = (np.zeros((1, *shape)) for shape in ((points, number_wrong),) * 2 + (laws.shape[1:],))
    alone = np.empty(2)
    low = best_plain(watched.shape[1], np.ones(1), laws, before, after, law, alone)
    before, after, law = before[0], after[0], law[0]
    each = points * number_wrong * len(initial)
    U = np.ones((min(len(watched) + 1, max(2, int(MEMORY / each))), points, number_wrong, len(initial)))
    V, bounds = np.ones((points, number_wrong)), np.zeros(law.shape)
    costs, done = np.zeros(HALVINGS), np.array([0.0, spent])
    high, refined, rounds = 1.0, 0, len(NODES)

    def found() -> Stretchwise:
        ways, places = np.minimum(alone, 1.0).tolist()
        effort = refined, int(done[0]), float(done[1])
        ceilings = bounds if bounds.any() else None  # they are not needed if plain guesses always succeed
        return Stretchwise(min(1.0, low), min(1.0, high), ways, places, *effort, law, ceilings)

    for i, nodes in enumerate(NODES):
        if i == 1 and more is not None:
            extra = more(found())
            budget, rounds = (budget, 2) if extra is None else (budget + extra, rounds)
        left = budget - done[1]
        if i > 0:
            if left <= SPENT * budget:
                break
            low, climbed, work = climb_all(*chain, ahead, U, bounds, V, high, GUESSING * left, before, after, law)
            refined += int(climbed)
            done[1] += work
        if high <= low * (1 + tolerance):
            break
        gap = high - low
        high = min(high, lay(*chain, U, V, bounds, before, nodes, SEARCHING * left, i > 0, costs, done))
        stalled = i > 1 and high - low > STALLED * gap
        if i + 1 == rounds or stalled or high <= low * (1 + tolerance):
            break
    return found()


def ceiling_at_once(initial: Floats, matrices: Floats, watched: Ints, named: Floats, misses: int) -> float:
    """A ceiling on all guesses over all series of raw counts, told the places of each stretch, without any search."""
    chain = initial, matrices, watched, unwatched(watched, len(initial)), named
    points, number_wrong = watched.size + 1, misses + 1
    U = np.ones((2, points, number_wrong, len(initial)))
    V, bounds = np.ones((points, number_wrong)), np.zeros((points, points, number_wrong))
    scratch = np.zeros((points, number_wrong)), 1, 0.0, False, np.zeros(HALVINGS), np.zeros(2)
    return min(1.0, float(lay(*chain, U, V, bounds, *scratch)))


def unwatched(watched: Ints, places: int) -> Floats:
    """For each step (T, P), 1 for the places without a sensor."""
    hidden = np.ones((len(watched), places))
    step, sensor = np.nonzero(watched >= 0)
    hidden[step, watched[step, sensor]] = 0.0
    return hidden
