"""A quick look at many series: what no guess exceeds for each, by telling the past.

The posterior chain of a series is not made for it. With `b_t(x)` the likelihood of all that is published after t, given
x at t, told-the-past times `b` is a recursion on the habits themselves. For k misses left, and with `w` the weight of
what is published at the step,

    b_{t-1}(x) = Σ_y P(x,y) w(y) b_t(y),
    B_{t-1}(k,x) = Σ_y P(x,y) w(y) B_t(k-1,y) + max_g P(x,g) w(g) (B_t(k,g) - B_t(k-1,g)).

Rows of both sums are made four at a time.
"""

import numpy as np

from .ceiling import TOGETHER, four_told, rows_for
from .chain import at, dot
from .jit import cube, inlined, kernel, out_vector, vector, whole, whole_matrix

#: The log of the probability of a series below which it is not bounded. Above, less than `posterior.MISSING` for each
#: place and step can have vanished: what does is below 1e-322 in the scale of its step.
FAINTEST = -100.0


@inlined
def arrive(value, classes, weights, named, K, less, gain):
    """What arriving at each place is worth with one miss fewer, and what a right name adds; row K is for all.

    `value` (R, M) has `B` of a step in rows 0..K-1 and `b` in row K.
    """
    for y in range(value.shape[1]):
        weight, before = weights[classes[y]], 0.0
        for k in range(K):
            now = value[k, y] * weight
            less[k, y] = before
            gain[k, y] = (now - before) * named[y]
            before = now
        less[K, y] = value[K, y] * weight


@kernel(out_vector(vector, cube, whole_matrix, cube, vector, whole))
def glances(initial, matrices, classes, weights, named, misses):
    """For each series (weights (n, T, C)), what no guess with so many misses exceeds (n,); states are places.

    1 for series so unlikely that numbers may have vanished.
    """
    n, T = weights.shape[:2]
    M, K = initial.shape[0], misses + 1
    rows = rows_for(K + 1)
    value, less, gain = np.zeros((rows, M)), np.zeros((rows, M)), np.zeros((rows, M))
    out = np.ones(n)
    for i in range(n):
        value[: K + 1] = 1.0
        log_mass = 0.0
        for t in range(T - 1, 0, -1):
            arrive(value, classes[t], weights[i, t], named, K, less, gain)
            P = at(matrices, t - 1)
            for x in range(M):
                for r in range(0, rows, TOGETHER):
                    four_told(P[x], np.int64(0), P.shape[1], less, gain, value, r, x)
            top = value[K].max()
            if top <= 0.0:
                log_mass = -np.inf
                break
            log_mass += np.log(top)
            for x in range(M):
                for k in range(K + 1):
                    # With as many misses left as steps, success is certain.
                    value[k, x] = min(value[k, x], value[K, x]) / top if k < T - t else value[K, x] / top
        if log_mass == -np.inf:
            continue
        arrive(value, classes[0], weights[i, 0], named, K, less, gain)
        total, best = dot(initial, less[K]), 0.0
        for y in range(M):
            best = max(best, initial[y] * gain[K - 1, y])
        if total > 0.0 and log_mass + np.log(total) > FAINTEST and K <= T:
            out[i] = min(1.0, (dot(initial, less[K - 1]) + best) / total)
    return out
