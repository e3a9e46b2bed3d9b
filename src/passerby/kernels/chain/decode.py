"""The likeliest trace of a chain given evidence.

How many steps of a guess are right: exact by a forward recursion over (state, number).
"""

import numpy as np
from numba import types

from passerby.kernels.jit import (
    cube,
    inlined,
    kernel,
    matrix,
    number,
    out_matrix,
    out_vector,
    out_whole_matrix,
    vector,
    whole,
    whole_matrix,
    wholes,
)

from .recursions import at, copy, push, raise_to, weigh

#: In `decode`, how many leading states are tried as dominators before the rest is done row by row.
LEADERS = 12
#: After this many leaders, give up on dominance for the step unless half of the states are out.
TRIAL = 2


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
def raise_by_eight(out, a, lines, used, at_row):
    """`raise_to` for eight rows at once: this saves reading and writing `out` seven times."""
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
    """`out[y] = max_x v[x] + log P(x, y)`; the states x tried go to `used`, their number is returned."""
    M = v.shape[0]
    out[:] = -np.inf
    copy(v, left)
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
def add_evidence(row, classes, log_weights):
    """`weigh` in log space."""
    for x in range(row.shape[0]):
        row[x] += log_weights[classes[x]]


@kernel(types.Tuple((out_whole_matrix, out_vector))(vector, cube, matrix, whole_matrix, cube))
def decode(log_initial, log_matrices, dominated, classes, log_weights):
    """The likeliest trace (n, T) for each series of evidence (n, T, C), and the log of its joint probability.

    Viterbi's recursion (Koga et al. 2024, Proposition 1) in log space, so nothing underflows. Two things make it fast.
    States are skipped if every continuation is beaten by a leading state (`dominated`, from `dominance`; pass an empty
    matrix to do without). The backward pointers are worked out on the way back, along one trace only. Ties go to the
    lowest place.
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
        copy(log_initial, v[0])
        add_evidence(v[0], classes[0], log_weights[i, 0])
        for t in range(1, T):
            count[t] = best_step(v[t - 1], at(log_matrices, t - 1), dominated, v[t], left, used[t])
            add_evidence(v[t], classes[t], log_weights[i, t])
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


#: Series done together: they fill a few vector registers, and their values fit into the nearest cache.
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
def add_evidence_together(v, classes, log_weights):
    """Add the evidence of a step, `log_weights` (n, C) for the first n lanes."""
    for x in range(v.shape[0]):
        for b in range(log_weights.shape[0]):
            v[x, b] += log_weights[b, classes[x]]


@inlined
def best_state(v, moves, lane):
    """The first state of the largest `v[x] + moves[x]` in a lane, and this value."""
    best, pick = -np.inf, 0
    for x in range(v.shape[0]):
        a = v[x, lane] + moves[x]
        pick = x if a > best else pick
        best = max(a, best)
    return best, pick


@kernel(types.Tuple((out_whole_matrix, out_vector))(vector, matrix, whole_matrix, cube))
def decode_together(log_initial, log_transition, classes, log_weights):
    """The result of `decode.decode`, for a chain with the same matrix at every step. Ties go to the lowest state."""
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
            add_evidence_together(v[t], classes[t], log_weights[i : i + used, t])
        for b in range(used):
            value[i + b], traces[i + b, T - 1] = best_state(v[T - 1], nothing, b)
        for t in range(T - 1, 0, -1):
            for b in range(used):
                _, traces[i + b, t - 1] = best_state(v[t - 1], log_back[traces[i + b, t]], b)
    return traces, value


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
