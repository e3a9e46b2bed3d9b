"""One guess for each stretch between sightings: what they achieve together, over all series of raw counts.

`law[u, v, k]` is the chance, from restart point u, that v is the next sighting (v = T S: that there is none) and k steps
between are wrong. Stretches of a series are independent of each other, so that wrong steps add up by a recursion over
sightings. It is affine in the law of each stretch: what a law is worth, given the others, is a weighted sum of its
entries (`worth_of`).
"""

import numpy as np

from .chain import dot
from .jit import inlined
from .stretch_guess import after_point, map_guesses, marginal_guesses, score_all


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


@inlined
def plain_laws(watch, ahead, laws):
    """Fill the laws of the likeliest way (0) and of the likeliest place of each step (1), for all stretches."""
    T, S = watch.watched.shape
    guesses = np.zeros((T * S + 1, T), np.int64)
    work = 0.0
    for u in range(T * S + 1):
        if u == 0 or watch.watched[(u - 1) // S, (u - 1) % S] >= 0:
            map_guesses(watch, u, guesses)
            work += score_all(watch, u, guesses, laws[0, u])
            marginal_guesses(watch, ahead, u, guesses)
            work += score_all(watch, u, guesses, laws[1, u])
    return work


@inlined
def best_plain(S, laws, before, after, law):
    """Fill `law` with the better of both plain guesses for each stretch, given all others; returns the success."""
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
    return max(low, after[0, K - 1])
