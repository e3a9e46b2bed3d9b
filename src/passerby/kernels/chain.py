"""Recursions on a Markov chain, with or without evidence.

Evidence is sparse: `places` (T, S) holds the places that are told apart at each step (-1 for none) and `weights`
(T, S + 1) the likelihoods: entry 0 for every other place, entry 1 + j for `places[t, j]`.
A chain is `initial` (M,) and `matrices` (K, M, M) with K = 1 (the same matrix at every step) or K = T - 1.
"""

import numpy as np
from numba import types

from .jit import (
    adding,
    cube,
    inlined,
    kernel,
    matrix,
    number,
    out_cube,
    out_matrix,
    out_vector,
    out_whole_matrix,
    vector,
    whole,
    whole_matrix,
    wholes,
)

#: In `decode`, how many leading places are tried as dominators before the rest is done row by row.
LEADERS = 12
#: After this many leaders, give up on dominance for the step unless half of the places are out.
TRIAL = 2
#: In `posterior`, places less likely than this, relative to the likeliest of the step after, are left out, and the log
#: of the share of the series' probability below which that may matter: what is left out is at most 1e-280 of it.
FAINT = 1e-290
DOUBTFUL = -23.0
#: What may be lost to underflow of a product that is not watched, and the log of the share below which it is.
UNDERFLOW = 1e-307
RARE = -60.0
#: No more than this of a posterior's probability is missing, for each place and step.
MISSING = 1e-279


@inlined
def at(matrices, t):
    """The matrix from step t to step t + 1."""
    return matrices[0] if matrices.shape[0] == 1 else matrices[t]


@inlined
def weigh(row, places, weights):
    """Multiply a row over places by the evidence of a step, in place."""
    first = weights[0]
    kept = np.empty(places.shape[0])
    for j in range(places.shape[0]):
        kept[j] = row[places[j]] if places[j] >= 0 else 0.0
    if first != 1.0:
        for x in range(row.shape[0]):
            row[x] *= first
    for j in range(places.shape[0]):
        if places[j] >= 0:
            row[places[j]] = kept[j] * weights[1 + j]


@inlined
def fades(row, weights):
    """Whether some place that is still possible may be fainter than `FAINT` once it is weighed."""
    low, least = 1.0, 1.0
    for x in range(row.shape[0]):
        low = min(low, row[x]) if row[x] > 0.0 else low
    for j in range(weights.shape[0]):
        least = min(least, weights[j]) if weights[j] > 0.0 else least
    return low * least < FAINT


@inlined
def possible(row, b):
    """How many places are possible after this row of a matrix, however unlikely."""
    count = 0
    for y in range(row.shape[0]):
        count += 1 if row[y] > 0.0 and b[y] > 0.0 else 0
    return count


@inlined
def smallest(initial, matrices):
    """The smallest probability of a start or a move that is not zero."""
    low = 1.0
    for x in range(initial.shape[0]):
        low = min(low, initial[x]) if initial[x] > 0.0 else low
    for k in range(matrices.shape[0]):
        for x in range(initial.shape[0]):
            for y in range(initial.shape[0]):
                low = min(low, matrices[k, x, y]) if matrices[k, x, y] > 0.0 else low
    return low


@inlined
def push(row, matrix, out):
    """`out = row @ matrix`, skipping empty places."""
    out[:] = 0.0
    for x in range(row.shape[0]):
        a = row[x]
        if a != 0.0:
            line = matrix[x]
            for y in range(out.shape[0]):
                out[y] += a * line[y]


@adding
def dot(a, b):
    """`Σ a b`."""
    total = 0.0
    for x in range(a.shape[0]):
        total += a[x] * b[x]
    return total


@kernel(out_vector(matrix))
def stationary(transition):
    """Stationary distribution of an irreducible chain, without subtractions (Grassmann, Taksar, Heyman 1985)."""
    M = transition.shape[0]
    a = transition.copy()
    for n in range(M - 1, 0, -1):
        leave = 0.0
        for y in range(n):
            leave += a[n, y]
        for x in range(n):
            a[x, n] /= leave
        for x in range(n):
            f = a[x, n]
            if f != 0.0:
                for y in range(n):
                    a[x, y] += f * a[n, y]
    out = np.empty(M)
    out[0] = 1.0
    for n in range(1, M):
        s = 0.0
        for x in range(n):
            s += out[x] * a[x, n]
        out[n] = s
    return out / out.sum()


@kernel(out_matrix(wholes, wholes, matrix, number, whole))
def smoothed_moves(source, target, background, smoothing, places):
    """`(counts + α b) / (n + α)`: how often each move was made, smoothed with a background (1, M) or (M, M)."""
    out = np.zeros((places, places))
    left = np.zeros(places)
    for i in range(source.shape[0]):
        out[source[i], target[i]] += 1.0
        left[source[i]] += 1.0
    for x in range(places):
        b = background[x if background.shape[0] > 1 else 0]
        for y in range(places):
            out[x, y] = (out[x, y] + smoothing * b[y]) / (left[x] + smoothing)
    return out


@kernel(out_whole_matrix(vector, cube, matrix))
def draw(initial, matrices, uniform):
    """Traces (n, T) drawn by inversion from `uniform` (n, T)."""
    n, T = uniform.shape
    M = initial.shape[0]
    out = np.empty((n, T), np.int64)
    for i in range(n):
        for t in range(T):
            law = initial if t == 0 else at(matrices, t - 1)[out[i, t - 1]]
            left = uniform[i, t]
            pick = -1
            for x in range(M):
                if law[x] > 0.0:
                    pick = x
                    left -= law[x]
                    if left < 0.0:
                        break
            out[i, t] = pick
    return out


@kernel(out_matrix(matrix))
def dominance(log_transition):
    """`D[x, y] = max_z log P(y, z) - log P(x, z)`: y can be ignored in a maximum if `v[y] + D[x, y] <= v[x]`."""
    M = log_transition.shape[0]
    out = np.empty((M, M))
    for x in range(M):
        for y in range(M):
            worst = -1e300
            for z in range(M):
                b = log_transition[y, z]
                if b > -np.inf:
                    a = log_transition[x, z]
                    # A large finite number stands for infinity: minus infinity plus it must stay minus infinity.
                    d = b - a if a > -np.inf else 1e300
                    worst = d if d > worst else worst
            out[x, y] = worst
    return out


@inlined
def raise_to(out, a, line):
    """`out = max(out, a + line)`, in place."""
    for y in range(out.shape[0]):
        b = a + line[y]
        out[y] = b if b > out[y] else out[y]


@inlined
def argmax(values):
    """The first place of the largest value (two passes: the first one can use vector instructions)."""
    top = values[0]
    for x in range(1, values.shape[0]):
        top = values[x] if values[x] > top else top
    for x in range(values.shape[0]):
        if values[x] == top:
            return x
    return 0


@inlined
def likeliest(row, named):
    """The first of the places that may be named with the largest value; values are above -1."""
    pick, top = -1, -1.0
    for x in range(row.shape[0]):
        if row[x] > top and named[x] > 0.0:
            pick, top = x, row[x]
    return pick


@inlined
def raise_by_eight(out, a, lines, used, at_row):
    """`raise_to` for eight rows at once, which saves reading and writing `out` seven times."""
    l0, l1, l2, l3 = (
        lines[used[at_row]],
        lines[used[at_row + 1]],
        lines[used[at_row + 2]],
        lines[used[at_row + 3]],
    )
    l4, l5, l6, l7 = (
        lines[used[at_row + 4]],
        lines[used[at_row + 5]],
        lines[used[at_row + 6]],
        lines[used[at_row + 7]],
    )
    a0, a1, a2, a3 = a[used[at_row]], a[used[at_row + 1]], a[used[at_row + 2]], a[used[at_row + 3]]
    a4, a5, a6, a7 = a[used[at_row + 4]], a[used[at_row + 5]], a[used[at_row + 6]], a[used[at_row + 7]]
    for y in range(out.shape[0]):
        b0 = max(max(a0 + l0[y], a1 + l1[y]), max(a2 + l2[y], a3 + l3[y]))
        b4 = max(max(a4 + l4[y], a5 + l5[y]), max(a6 + l6[y], a7 + l7[y]))
        out[y] = max(out[y], max(b0, b4))


@inlined
def best_step(v, log_transition, dominated, out, left, used):
    """`out[y] = max_x v[x] + log P(x, y)`; the places x that were tried go to `used`, their number is returned."""
    M = v.shape[0]
    out[:] = -np.inf
    left[:] = v
    n = 0
    if dominated.shape[0] == M:
        while n < LEADERS:
            x = argmax(left)
            top = left[x]
            if top == -np.inf:
                return n
            raise_to(out, top, log_transition[x])
            used[n] = x
            n += 1
            line = dominated[x]
            for y in range(M):
                left[y] = -np.inf if left[y] + line[y] <= top else left[y]
            left[x] = -np.inf
            if n == TRIAL:
                alive = 0
                for y in range(M):
                    alive += 1 if left[y] > -np.inf else 0
                if 2 * alive > M:
                    break
    rest = n
    for x in range(M):
        if left[x] > -np.inf:
            used[n] = x
            n += 1
    while rest + 8 <= n:
        raise_by_eight(out, v, log_transition, used, rest)
        rest += 8
    while rest < n:
        raise_to(out, v[used[rest]], log_transition[used[rest]])
        rest += 1
    return n


@inlined
def add_evidence(row, places, log_weights):
    """`weigh` in log space."""
    kept = np.empty(places.shape[0])
    for j in range(places.shape[0]):
        kept[j] = row[places[j]] if places[j] >= 0 else 0.0
    if log_weights[0] != 0.0:
        for x in range(row.shape[0]):
            row[x] += log_weights[0]
    for j in range(places.shape[0]):
        if places[j] >= 0:
            row[places[j]] = kept[j] + log_weights[1 + j]


@kernel(types.Tuple((out_whole_matrix, out_vector))(vector, cube, matrix, whole_matrix, cube))
def decode(log_initial, log_matrices, dominated, places, log_weights):
    """The likeliest trace (n, T) for each series of evidence (n, T, S + 1), and the log of its joint probability.

    Viterbi's recursion (Koga et al. 2024, Proposition 1) in log space, so nothing underflows. Two things make it
    fast: places whose every continuation is beaten by a leading place are skipped (`dominated`, from `dominance`;
    pass an empty matrix to do without), and the backward pointers are worked out on the way back, along one trace
    only. Ties go to the lowest place.
    """
    n, T = log_weights.shape[:2]
    M = log_initial.shape[0]
    traces = np.empty((n, T), np.int64)
    value = np.empty(n)
    v = np.empty((T, M))
    left = np.empty(M)
    used = np.empty((T, M), np.int64)
    count = np.zeros(T, np.int64)
    for i in range(n):
        v[0] = log_initial
        add_evidence(v[0], places[0], log_weights[i, 0])
        for t in range(1, T):
            count[t] = best_step(v[t - 1], at(log_matrices, t - 1), dominated, v[t], left, used[t])
            add_evidence(v[t], places[t], log_weights[i, t])
        y = argmax(v[T - 1])
        value[i] = v[T - 1, y]
        traces[i, T - 1] = y
        for t in range(T - 1, 0, -1):
            logs = at(log_matrices, t - 1)
            best, pick = -np.inf, M
            for r in range(count[t]):
                x = used[t, r]
                a = v[t - 1, x] + logs[x, y]
                if a > best or (a == best and x < pick):
                    best, pick = a, x
            y = pick if pick < M else 0
            traces[i, t - 1] = y
    return traces, value


@kernel(types.Tuple((out_vector, out_cube, number))(vector, cube, whole_matrix, matrix))
def posterior(initial, matrices, places, weights):
    """The chain given one series: its start (M,), its matrices (T - 1, M, M), and the log probability of the series.

    Backward pass: `b_T = 1`, `b_t(x) = Σ_y P_t(x, y) w_{t+1}(y) b_{t+1}(y)`; the posterior matrix is
    `P_t(x, y) w_{t+1}(y) b_{t+1}(y) / b_t(x)`. Rows of places that cannot be reached are left empty. The log
    probability is minus infinity for an impossible series, and where numbers get too small to be told apart: what is
    left out at step t is at most `FAINT` in the scale of the step after it, in which the series itself must not be too
    small. So of the posterior's probability, at most `MISSING` for each place and step is left out.
    """
    T = places.shape[0]
    M = initial.shape[0]
    moves = np.zeros((T - 1, M, M))
    b = np.ones(M)
    log_mass = 0.0
    log_faint = -np.inf
    for t in range(T - 2, -1, -1):
        faint = fades(b, weights[t + 1])
        weigh(b, places[t + 1], weights[t + 1])
        if faint:
            log_faint = max(log_faint, log_mass)
            for x in range(M):
                b[x] = b[x] if b[x] >= FAINT else 0.0
        P = at(matrices, t)
        now = np.zeros(M)
        top = 0.0
        for x in range(M):
            now[x] = dot(P[x], b)
            top = max(top, now[x])
        if top < FAINT:
            return b, moves, -np.inf
        for x in range(M):
            if now[x] >= FAINT:
                f = 1.0 / now[x]
                for y in range(M):
                    moves[t, x, y] = P[x, y] * b[y] * f
                now[x] /= top
            else:
                if possible(P[x], b) > 0:
                    log_faint = max(log_faint, log_mass)
                now[x] = 0.0
        b = now
        log_mass += np.log(top)
    weigh(b, places[0], weights[0])
    total = 0.0
    for x in range(M):
        b[x] *= initial[x]
        total += b[x]
    if total < FAINT or log_mass + np.log(total) - log_faint < DOUBTFUL:
        return b, moves, -np.inf
    if log_mass + np.log(total) < RARE and smallest(initial, matrices) * FAINT < UNDERFLOW:
        return b, moves, -np.inf
    b /= total
    return b, moves, log_mass + np.log(total)
