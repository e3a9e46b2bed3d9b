"""One guess for each stretch between sightings: what they achieve together, over all series of raw counts.

`law[u, v, k]` is the chance, from restart point u, that v is the next sighting (v = T S: that there is none) and k
steps between are wrong. Stretches of a series are independent of each other, so that wrong steps add up by a recursion
over sightings. It is affine in the law of each stretch: what a law is worth, given the others, is a weighted sum of its
entries (`worth_of`).
"""

import numpy as np
from numba import types

from .chain import dot
from .jit import (
    cube,
    inlined,
    kernel,
    matrix,
    number,
    out_cube,
    out_cubes,
    out_matrix,
    out_vector,
    vector,
    whole,
    whole_matrix,
)
from .stretch_guess import after_point, map_guesses, marginal_guesses, score_all, ways_ahead
from .stretch_search import Watch


@inlined
def add_up_from(S, u, law, after):
    """Fill `after[u, k]`, the chance of at most k wrong steps after restart point u, from those of later ones."""
    TS, K = law.shape[0] - 1, law.shape[1]
    line = after[u]
    line[:] = 0.0
    for v in range(after_point(u, S) * S, TS + 1):
        for j in range(K):
            b = law[v, j]
            if b > 0.0:
                for k in range(j, K):
                    line[k] += b * (after[1 + v, k - j] if v < TS else 1.0)


@inlined
def add_up(S, law, after):
    """Fill `after` (N, K) for all restart points; returns the chance of at most K - 1 wrong steps in the whole."""
    for u in range(law.shape[0] - 1, -1, -1):
        add_up_from(S, u, law[u], after)
    return after[0, law.shape[2] - 1]


@inlined
def add_before(S, law, before):
    """Fill `before[u, k]`, the chance of a sighting at u with exactly k wrong steps before it."""
    TS, K = law.shape[1] - 1, law.shape[2]
    before[:] = 0.0
    before[0, 0] = 1.0
    for u in range(TS + 1):
        line = before[u]
        for v in range(after_point(u, S) * S, TS):
            for j in range(K):
                b = law[u, v, j]
                if b > 0.0:
                    for k in range(j, K):
                        before[1 + v, k] += b * line[k - j]


@inlined
def worth_of(before, after, u, v, out):
    """Put in `out[k]` what k wrong steps in a stretch are worth: the chance of u, and of few enough wrong in all."""
    K = out.shape[0]
    for k in range(K):
        total = 0.0
        for i in range(K - k):
            total += before[u, i] * (after[1 + v, K - 1 - k - i] if 1 + v < after.shape[0] else 1.0)
        out[k] = total


@kernel(
    types.Tuple((out_cube, out_cubes, out_vector, number))(
        vector, cube, vector, cube, whole_matrix, matrix, vector, whole
    )
)
def plain_laws(guide, guide_moves, initial, matrices, watched, hidden, named, misses):
    """(ways ahead (T, T S + 1, M), laws (2, N, T S + 1, K), success (2,), work) of likeliest ways and likeliest places.

    They are the likeliest for one chain, the guide's, and are scored with another over the same places. A guess for a
    stretch that the guide takes for impossible names any place.
    """
    lead = Watch(guide, guide_moves, watched, hidden, named)
    watch = Watch(initial, matrices, watched, hidden, named)
    T, S = watched.shape
    N = T * S + 1
    ahead, laws = np.zeros((T, N, named.shape[0])), np.zeros((2, N, N, misses + 1))
    ways_ahead(lead, ahead)
    guesses = np.zeros((2, N, T), np.int64)
    work = 0.5 * T * N * named.shape[0] ** 2
    for u in range(N):
        if u == 0 or watched[(u - 1) // S, (u - 1) % S] >= 0:
            map_guesses(lead, u, guesses[0])
            marginal_guesses(lead, ahead, u, guesses[1])
            for i in range(2):
                work += score_all(watch, u, guesses[i], laws[i, u])
    success, after = np.empty(2), np.zeros((N, misses + 1))
    for i in range(2):
        success[i] = add_up(S, laws[i], after)
    return ahead, laws, success, work


@kernel(number(whole, out_cubes, out_matrix, out_matrix, out_cube))
def best_plain(S, laws, before, after, law):
    """Fill `law` with the better of both plain guesses for each stretch, given all others; returns the success.

    `before` and `after` (N, K) are filled in for it.
    """
    TS, K = law.shape[1] - 1, law.shape[2]
    worth = np.empty(K)
    law[:] = laws[0]
    if add_up(S, laws[0], after) < add_up(S, laws[1], after):
        law[:] = laws[1]
    low = add_up(S, law, after)
    add_before(S, law, before)
    # Backwards, one restart point after the other: no series has two stretches from the same one.
    for u in range(TS, -1, -1):
        for v in range((after_point(u, S) + 1) * S, TS + 1):
            worth_of(before, after, u, v, worth)
            now = dot(law[u, v], worth)
            for i in range(2):
                if dot(laws[i, u, v], worth) > now:
                    now = dot(laws[i, u, v], worth)
                    law[u, v] = laws[i, u, v]
        add_up_from(S, u, law[u], after)
    add_before(S, law, before)
    return max(low, after[0, K - 1])
