"""The best guess for every series if several names may be right at one place: near enough counts.

Guesses are improved one step at a time (`near_guess`). A best-first search over beginnings of the guess bounds all
guesses (`near_search`). Effort comes in levels: at higher ones a search starts from each known state.
"""

import numpy as np
from numba import types

from passerby.kernels.chain.posterior import Chain, look, posterior, ranges
from passerby.kernels.chain.recursions import at, copy, push, weigh
from passerby.kernels.jit import (
    cube,
    flag,
    inlined,
    kernel,
    making,
    number,
    out_matrix,
    out_vector,
    out_whole_cube,
    vector,
    whole,
    whole_matrix,
    wholes,
)

from .heap import NODE
from .near_search import (
    LEVEL,
    LOWER,
    UPPER,
    ceilings,
    cost_of_union,
    first_look,
    score,
    search,
    tables_for,
    top_name,
    undominated,
)

#: Nodes of a search from the start, and from each known state (0 for none), at each level of effort.
ROOT_NODES = (64, 1000, 20000)
STATE_NODES = (0, 8, 64)
#: The most numbers in the tables of a search.
MOST_NUMBERS = 5e7
#: Unions over the first right step are added up for all series at once if they take no more than this of the budget.
AT_ONCE = 0.05
#: A single search goes on until it is this much closer than the tolerance asks for the sum of all.
CLOSER = 0.2
#: The effort of the search, and the number of unexplained series.
NODES, WORK, UNEXPLAINED = range(3)


@making
def bracket(chain, balls, needed, level, unions, tolerance, found, guess, V, room, total):
    """Bound a series at a level of effort, and replace `guess` if the search finds a better one."""
    T, low, most = guess.shape[0], found[LOWER], room.won.shape[0] - 1
    tried = undominated(chain, balls)
    total[WORK] += ceilings(V, chain, balls, tried, needed, unions, min(STATE_NODES[level], most), room)
    if unions:
        blind = 0.0
        for u in range(T - needed + 1):
            blind += top_name(balls, tried[u], chain.law[u], V[u, needed - 1])
        found[UPPER] = max(low, min(found[UPPER], blind))
    cutoff, nodes, better = low * (1.0 + tolerance), min(ROOT_NODES[level], most), np.empty(T, np.int64)
    if found[UPPER] <= cutoff:
        return
    b, used, complete, more = search(
        V, chain, balls, tried, chain.start, np.int64(0), needed, nodes, cutoff, better, room
    )
    total[WORK] += more
    total[NODES] += used
    found[UPPER] = max(low, min(found[UPPER], b))
    if complete:
        # Scored anew: the sum in its bound may be rounded up.
        success = score(chain, balls, better, needed)
        if success > low:
            found[LOWER] = min(success, found[UPPER])
            copy(better, guess)


@inlined
def cost_of_level(balls, T, M, needed, level):
    """Elementary operations of a level, at most, roughly."""
    rows = T * min(needed, T - needed + 1) * 1.0
    each = NODE + needed * M * (M + 2.0) + balls.shape[0]
    told = rows * M * (M + 2.0 * balls.shape[0]) + cost_of_union(balls, T, M, needed)
    return told + (ROOT_NODES[level] + rows * M * STATE_NODES[level]) * each


@inlined
def allowed(out, mass, times, anchored, tolerance, sampled):
    """Whether the remaining gap of the sum over series is small enough: of a sample, well within its error."""
    gap, achieved, n, beyond, squares = 0.0, 0.0, 0.0, 0.0, 0.0
    last = anchored.shape[0] - 1
    for i in range(out.shape[0]):
        gap += times[i] * mass[i] * (out[i, UPPER] - out[i, LOWER])
        achieved += times[i] * mass[i] * out[i, LOWER]
        more = mass[i] * max(out[i, LOWER] - anchored[min(i, last)], 0.0)
        n += times[i]
        beyond += times[i] * more
        squares += times[i] * more * more
    error = np.sqrt(max(n * squares - beyond * beyond, 0.0) / n) if sampled else 0.0
    return gap <= max(tolerance * achieved, 0.25 * error)


@inlined
def widest(out, whole_mass, balls, T, M, needed, left):
    """The series with the widest gap among those with an affordable next level; -1 for none."""
    pick, most = -1, 0.0
    for i in range(out.shape[0]):
        level = int(out[i, LEVEL]) + 1
        gap = whole_mass[i] * (out[i, UPPER] - out[i, LOWER])
        if gap > most and 0 < level < len(ROOT_NODES) and cost_of_level(balls, T, M, needed, level) <= left:
            pick, most = i, gap
    return pick


_RESULT = types.Tuple((out_matrix, out_whole_cube, out_vector))
_CASE = (vector, cube, wholes, wholes, whole_matrix, cube, vector, vector, vector)


@kernel(_RESULT(*_CASE, whole, number, number, flag, vector))
def brackets(
    initial, moves, name_of, balls, classes, weights, mass, times, named, misses, tolerance, budget, sampled, known
):
    """Bracket the best guess for each of n series, as `best_guess.brackets` does, for names with `balls`.

    `name_of` (M,) is the name for a guess of each state, and `known` the success of the guess that is `anchored` there.
    Returns a table (n, 5), the guesses (n, 3, T), and the effort. Every series is done at the lowest level; then the
    widest again at the next one, until the gap of the sum is within `tolerance`, or the `budget` is spent. With a
    `budget` below 0 nothing is bounded, and with an infinite tolerance the plain guesses remain.
    """
    n, T = weights.shape[:2]
    M, G, needed = initial.shape[0], named.shape[0], T - misses
    out, guesses, total = np.zeros((n, 5)), np.zeros((n, 3, T), np.int64), np.zeros(3)
    law, pinned, after = np.empty((T, M)), np.empty(T, np.int64), np.empty((T, needed + 1, M))
    low, high = ranges(moves)
    none, then, V = np.empty((0, M, M)), np.zeros((T - 1, M, M)), np.empty((T, needed + 1, M))
    room = tables_for(M, G, needed, ROOT_NODES[0])
    whole_mass = mass * times
    order, done, rest, achieved = np.argsort(-whole_mass), 0, whole_mass.sum(), 0.0
    searching, at_once = tolerance < np.inf, n * cost_of_union(balls, T, M, needed) <= AT_ONCE * budget
    while True:
        if done < n:
            i, level = order[done], 0
            done += 1
        else:
            if not searching or allowed(out, mass, times, known, tolerance, sampled):
                break
            i = widest(out, whole_mass, balls, T, M, needed, budget - total[WORK])
            if i < 0:
                break
            level = int(out[i, LEVEL]) + 1
            nodes = max(1, min(ROOT_NODES[level], int(MOST_NUMBERS / (needed * M + 4 * G))))
            if nodes >= room.won.shape[0]:
                room = tables_for(M, G, needed, nodes)
        start, log_mass = posterior(initial, moves, low, high, classes, weights[i], then)
        if log_mass == -np.inf:
            out[i, LEVEL] = -1.0
            total[UNEXPLAINED] += 1.0
            continue
        chain = Chain(start, then, low, high, name_of, named, False, law, pinned, none)
        look(chain)
        # The rest of the probability may stay between the plain guesses and certainty.
        thorough = searching and (sampled or level > 0 or rest > CLOSER * tolerance * achieved)
        if level == 0:
            first_look(chain, balls, needed, thorough, out[i], guesses[i], after)
            total[WORK] += 20.0 * T * min(needed, T - needed + 1) * M * (M + 24.0)
            rest -= whole_mass[i]
            achieved += whole_mass[i] * out[i, LOWER]
        if thorough and budget >= 0.0:
            unions = at_once or level > 0
            bracket(chain, balls, needed, level, unions, CLOSER * tolerance, out[i], guesses[i, LOWER], V, room, total)
        out[i, LEVEL] = level
    return out, guesses, total


@kernel(out_matrix(vector, cube, wholes, whole_matrix, cube, whole_matrix, whole))
def wrong_laws(initial, matrices, balls, classes, weights, guesses, most):
    """`Pr[k steps of a guess are wrong | evidence]` (n, most + 1) for a guess (n, T) per series of evidence (n, T, C).

    -1 in all columns for evidence of probability zero.
    """
    n, T = guesses.shape
    M, K = initial.shape[0], most + 1
    out, now, new = np.zeros((n, K)), np.empty((K, M)), np.empty((K, M))
    every, later, right = np.empty(M), np.empty(M), np.empty(M, np.bool_)
    for i in range(n):
        now[:] = 0.0
        copy(initial, now[0])
        copy(initial, every)
        possible = True
        for t in range(T):
            if t > 0:
                P = at(matrices, t - 1)
                for k in range(K):
                    push(now[k], P, new[k])
                push(every, P, later)
                now, new, every, later = new, now, later, every
            weigh(every, classes[t], weights[i, t])
            total = every.sum()
            if total == 0.0:
                possible = False
                break
            for k in range(K):
                weigh(now[k], classes[t], weights[i, t])
            right[:] = False
            for j in range(balls[guesses[i, t]], balls[guesses[i, t] + 1]):
                right[balls[j]] = True
            for x in range(M):
                every[x] /= total
                for k in range(K):
                    now[k, x] /= total
                if not right[x]:
                    for k in range(K - 1, 0, -1):
                        now[k, x] = now[k - 1, x]
                    now[0, x] = 0.0
        for k in range(K):
            out[i, k] = now[k].sum() if possible else -1.0
    return out
