"""How many steps of a guess are right: exact by a forward recursion over (state, number)."""

import numpy as np

from passerby.kernels.jit import (
    cube,
    kernel,
    matrix,
    number,
    out_matrix,
    out_vector,
    vector,
    whole,
    whole_matrix,
    wholes,
)

from .recursions import at, copy, push, weigh


@kernel(number(vector, cube, wholes, whole_matrix, matrix, wholes, whole))
def success(initial, matrices, place_of, classes, weights, guess, misses):
    """`Pr[at most `misses` steps of `guess` are wrong | evidence]`; -1 for evidence of probability zero.

    `F_t(n, x)` is the probability of the evidence so far, of being in state x, and of n events so far. The events are
    wrong steps or right steps, whichever needs fewer rows: O(T min(s, T - s) M²). More wrong steps than `misses` are
    dropped for good. More right steps than needed count as needed.
    """
    T = guess.shape[0]
    M = initial.shape[0]
    by_wrong = misses <= T - misses
    rows = (misses + 1 if by_wrong else T - misses) + 1
    now = np.zeros((rows, M))
    new = np.zeros((rows, M))
    last = rows - 1  # by_wrong: all mass, whatever the count; else: mass with enough steps right
    for t in range(T):
        if t == 0:
            copy(initial, now[0])
            if by_wrong:
                copy(initial, now[last])
        else:
            P = at(matrices, t - 1)
            for r in range(rows):
                push(now[r], P, new[r])
            now, new = new, now
        for r in range(rows):
            weigh(now[r], classes[t], weights[t])
        for x in range(M):
            right = place_of[x] == guess[t]
            if right == by_wrong:
                continue
            if right:
                now[last, x] += now[last - 1, x]
            for r in range(last - 1, 0, -1):
                now[r, x] = now[r - 1, x]
            now[0, x] = 0.0
        total = now[last].sum() if by_wrong else now.sum()
        if total == 0.0:
            return -1.0
        now /= total
    return now[:last].sum() if by_wrong else now[last].sum()


@kernel(out_vector(vector, cube, wholes, wholes, whole, whole))
def constants(initial, matrices, place_of, places, steps, misses):
    """`success` with nothing published, for the guesses naming one of `places` (n,) at all steps."""
    out = np.empty(places.shape[0])
    nothing, weights = np.zeros((steps, initial.shape[0]), np.int64), np.ones((steps, 1))
    for i in range(places.shape[0]):
        out[i] = success(initial, matrices, place_of, nothing, weights, np.full(steps, places[i]), misses)
    return out


@kernel(out_vector(vector, cube, wholes, whole_matrix, cube, whole_matrix, whole))
def successes(initial, matrices, place_of, classes, weights, guesses, misses):
    """`success` for a guess (n, T) per series of evidence (n, T, C)."""
    out = np.empty(guesses.shape[0])
    for i in range(guesses.shape[0]):
        out[i] = success(initial, matrices, place_of, classes, weights[i], guesses[i], misses)
    return out


@kernel(out_matrix(vector, cube, wholes, whole_matrix, cube, whole_matrix, whole))
def wrong_laws(initial, matrices, place_of, classes, weights, guesses, most):
    """`Pr[k steps of a guess are wrong | evidence]` (n, most + 1) for a guess (n, T) per series of evidence (n, T, C).

    The evidence must be possible.
    """
    n, T = guesses.shape
    M, K = initial.shape[0], most + 1
    out, now, new = np.zeros((n, K)), np.empty((K, M)), np.empty((K, M))
    every, later = np.empty(M), np.empty(M)
    for i in range(n):
        now[:] = 0.0
        new[:] = 0.0
        copy(initial, now[0])
        copy(initial, every)
        for t in range(T):
            rows = min(K, t + 1)
            if t > 0:
                P = at(matrices, t - 1)
                for k in range(rows):
                    push(now[k], P, new[k])
                push(every, P, later)
                now, new, every, later = new, now, later, every
            weigh(every, classes[t], weights[i, t])
            total = every.sum()
            for x in range(M):
                every[x] /= total
            for k in range(rows):
                weigh(now[k], classes[t], weights[i, t])
                for x in range(M):
                    now[k, x] /= total
            for x in range(M):
                if place_of[x] != guesses[i, t]:
                    for k in range(min(K - 1, rows), 0, -1):
                        now[k, x] = now[k - 1, x]
                    now[0, x] = 0.0
        for k in range(K):
            out[i, k] = now[k].sum()
    return out
