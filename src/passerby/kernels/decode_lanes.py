"""The likeliest traces of many series at once, for chains of few states.

Series stand side by side in lanes, and every instruction does one step of several of them. Where states are few there
is nothing else that vector instructions could take on.
"""

import numpy as np
from numba import types

from .jit import cube, inlined, kernel, matrix, out_vector, out_whole_matrix, vector, whole_matrix

#: Series that are done together: they fill a few vector registers, and their values fit into the nearest cache.
LANES = 32


@inlined
def best_steps(v, log_back, out):
    """`out[y] = max_x v[x] + log P(x, y)` in every lane; `log_back` is the matrix with a row for each y."""
    M = v.shape[0]
    for y in range(M):
        row, moves = out[y], log_back[y]
        row[:] = -np.inf
        x = 0
        while x + 5 <= M:
            v0, v1, v2, v3, v4 = v[x], v[x + 1], v[x + 2], v[x + 3], v[x + 4]
            p0, p1, p2, p3, p4 = moves[x], moves[x + 1], moves[x + 2], moves[x + 3], moves[x + 4]
            for b in range(row.shape[0]):
                most = max(max(v0[b] + p0, v1[b] + p1), max(v2[b] + p2, v3[b] + p3))
                row[b] = max(row[b], max(most, v4[b] + p4))
            x += 5
        while x < M:
            p0 = moves[x]
            for b in range(row.shape[0]):
                row[b] = max(row[b], v[x, b] + p0)
            x += 1


@inlined
def add_evidence(v, classes, log_weights):
    """Add what is published at a step, `log_weights` (n, C) for the first n lanes."""
    for x in range(v.shape[0]):
        for b in range(log_weights.shape[0]):
            v[x, b] += log_weights[b, classes[x]]


@inlined
def best_state(v, moves, lane):
    """The first state of the largest `v[x] + moves[x]` in a lane, and that value."""
    best, pick = -np.inf, 0
    for x in range(v.shape[0]):
        a = v[x, lane] + moves[x]
        pick = x if a > best else pick
        best = max(a, best)
    return best, pick


@kernel(types.Tuple((out_whole_matrix, out_vector))(vector, matrix, whole_matrix, cube))
def decode(log_initial, log_transition, classes, log_weights):
    """What `decode.decode` returns, for a chain with the same matrix at every step. Ties go to the lowest state."""
    n, T = log_weights.shape[:2]
    M = log_initial.shape[0]
    traces = np.empty((n, T), np.int64)
    value = np.empty(n)
    log_back = log_transition.T.copy()
    nothing = np.zeros(M)
    v = np.zeros((T, M, LANES))
    for i in range(0, n, LANES):
        used = min(LANES, n - i)
        for t in range(T):
            if t == 0:
                for x in range(M):
                    v[0, x] = log_initial[x]
            else:
                best_steps(v[t - 1], log_back, v[t])
            add_evidence(v[t], classes[t], log_weights[i : i + used, t])
        for b in range(used):
            value[i + b], traces[i + b, T - 1] = best_state(v[T - 1], nothing, b)
        for t in range(T - 1, 0, -1):
            for b in range(used):
                _, traces[i + b, t - 1] = best_state(v[t - 1], log_back[traces[i + b, t]], b)
    return traces, value
