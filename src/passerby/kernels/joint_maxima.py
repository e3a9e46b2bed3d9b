"""The largest joint probability of any k steps taking any k values: the table of Theorem 1."""

import numpy as np
from numba import types

from .chain import raise_to
from .jit import cube, flags, kernel, matrix, out_cube, out_vector, out_wholes, vector, whole, whole_matrix


@kernel(types.Tuple((out_vector, out_wholes))(vector, matrix, whole_matrix, vector, flags, whole))
def chained(log_initial, best, gaps, later, guessable, steps):
    """Log of `f(k)`, k = 1..T, without the limit on the total gap, and the total gap that each one uses.

    `g(k, y) = max_x g(k-1, x) B(x, y)` with `B = max_Δ P^Δ`: `best` (M, M) over the gaps looked at, attained at `gaps`,
    or `later` (M,), which no longer gap exceeds. Where the gaps used add up to at most T - 1 the value is `f(k)`
    itself; elsewhere it is an upper bound. Ties go to the smaller total gap.
    """
    M = log_initial.shape[0]
    log_best, gap = np.full((M, M), -np.inf), gaps.copy()
    for x in range(M):
        for y in range(M):
            top = max(best[x, y], later[y])
            if top > best[x, y]:
                gap[x, y] = steps
            if top > 0.0 and guessable[y]:
                log_best[x, y] = np.log(top)
    out = np.empty(steps)
    total = np.zeros(steps, np.int64)
    now = log_initial.copy()
    length = np.zeros(M, np.int64)
    for k in range(steps):
        if k > 0:
            new = np.full(M, -np.inf)
            source = np.zeros(M, np.int64)
            for x in range(M):
                a = now[x]
                if a > -np.inf:
                    for y in range(M):
                        b = a + log_best[x, y]
                        better = b > new[y] or (
                            b == new[y] and length[x] + gap[x, y] < length[source[y]] + gap[source[y], y]
                        )
                        if better:
                            new[y] = b
                            source[y] = x
            grown = np.empty(M, np.int64)
            for y in range(M):
                grown[y] = length[source[y]] + gap[source[y], y]
            now, length = new, grown
        pick = 0
        for y in range(M):
            if now[y] > now[pick] or (now[y] == now[pick] and length[y] < length[pick]):
                pick = y
        out[k] = now[pick]
        total[k] = length[pick]
    return out, total


@kernel(types.void(out_cube, whole, cube, flags))
def extend(table, source, log_between, guessable):
    """Let each later step follow `source` as the next chosen one: raises `table[target, k + 1, y]` in place.

    `table[t, k, y]` is the largest log probability of k + 1 chosen steps of which the last is t, at place y;
    `log_between[d]` (M, M) the log probabilities from `source` to the step d + 1 after it.
    """
    T, M = table.shape[0], table.shape[2]
    best = np.empty(M)
    for target in range(source + 1, T):
        lines = log_between[target - source - 1]
        for k in range(source + 1):
            best[:] = -np.inf
            for x in range(M):
                if table[source, k, x] > -np.inf:
                    raise_to(best, table[source, k, x], lines[x])
            for y in range(M):
                if best[y] > table[target, k + 1, y] and guessable[y]:
                    table[target, k + 1, y] = best[y]


@kernel(types.void(out_cube, whole, whole, matrix))
def add_up(table, source, target, log_between):
    """Let `target` follow `source`: adds `max_x table[source, k, x] P(x, y)` to `table[target, k + 1, y]`, in logs."""
    M = log_between.shape[0]
    best = np.empty(M)
    for k in range(min(source + 1, table.shape[1] - 1)):
        best[:] = -np.inf
        for x in range(M):
            if table[source, k, x] > -np.inf:
                raise_to(best, table[source, k, x], log_between[x])
        for y in range(M):
            a, b = table[target, k + 1, y], best[y]
            if b > -np.inf:
                top, low = max(a, b), min(a, b)
                table[target, k + 1, y] = top + np.log1p(np.exp(low - top))
