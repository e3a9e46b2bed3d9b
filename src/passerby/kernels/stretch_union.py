"""What any guess can do in a stretch, by which of its steps is the first right one.

Where right steps are rare, telling the place of each step tells too much (`stretch_ceiling`). But with at most k wrong
of L > k steps one is right, and the first of them is no later than the step after k wrong ones. There the place is the
guess, and what follows does not depend on what was before: with `b_i(g)` the chance of g at step t + i, unseen since t,

    U(t, v, k, x) <= Σ_i max_g b_i(g) U(t+i+1, v, k-i, g).

Told at some step that none was right so far, and the place there, the sum ends with `Σ_y b_i(y) U(t+i+1, v, k-i-1, y)`.
A first right step comes after a wrong one, so that `b_i(g) P(g, h)` may be taken from `b_{i+1}(h)` after naming g; the
best guess for that sum is found backwards over the guess itself.
"""

import numpy as np

from .chain import at, dot, push
from .jit import inlined

#: Up to so many times of what is known already, a sum may still come below it once pairs of right steps are taken out.
NEAR = 2.0


@inlined
def first_right(watch, U, t, end, v, r, known, avoid, ready, spread, scratch):
    """(bound, `ready`, work) for steps t.. until v, r of which may be wrong; no more than `known`.

    Tables are there up to step end + 1. `spread` (K, M) holds `b`, of which `ready` rows are filled in; others are when
    they are needed. With `avoid`, pairs of right steps are taken out. `scratch` is (2, M).
    """
    M, depth = spread.shape[1], U.shape[0]
    last, work = min(r, end - t), 0.0
    total, best, rest = 0.0, known, 0.0
    for i in range(last + 1):
        if i == ready:
            push(spread[i - 1], at(watch.matrices, t + i - 1), spread[i])
            for x in range(M):
                spread[i, x] *= watch.hidden[t + i, x]
            ready += 1
            work += M * M
        row, later = spread[i], U[(t + i + 1) % depth, v]
        now, top = later[r - i], 0.0
        for g in range(M):
            top = max(top, row[g] * watch.named[g] * now[g])
        total += top
        work += 4.0 * M
        if total >= (NEAR if avoid else 1.0) * best:
            return best, ready, work
        rest = dot(row, later[r - i - 1]) if i < r else 0.0
        best = min(best, total + rest)
    if avoid:
        best = min(best, rest + apart(watch, U, t, v, r, last, spread, scratch[0], scratch[1]))
        work += 1.0 * last * M * M
    return best, ready, work


@inlined
def apart(watch, U, t, v, r, last, spread, value, after):
    """`max_g Σ_i (b_i(g_i) - b_{i-1}(g_{i-1}) P(g_{i-1}, g_i)) U(t+i+1, v, r-i, g_i)`, i up to `last`."""
    M, depth = spread.shape[1], U.shape[0]
    for i in range(last, -1, -1):
        row, now = spread[i], U[(t + i + 1) % depth, v, r - i]
        for g in range(M):
            most = 0.0
            if i < last:
                b, line, next_one = row[g], at(watch.matrices, t + i)[g], U[(t + i + 2) % depth, v, r - i - 1]
                hidden = watch.hidden[t + i + 1]
                for h in range(M):
                    most = max(most, after[h] - b * line[h] * hidden[h] * next_one[h])
            value[g] = (row[g] * now[g] if watch.named[g] > 0.0 else 0.0) + most
        for g in range(M):
            after[g] = value[g]
    best = 0.0
    for g in range(M):
        best = max(best, value[g])
    return best


@inlined
def untold(watch, U, d, end, v, r, table, rows, spread, scratch):
    """(bound, work) for a table (number wrong, place) before step d if all are wrong there, without telling the place.

    Each number of wrong steps is bounded by itself, as if it had a guess of its own. Those who are right at d after all
    add no more than what they are worth when told.
    """
    M = table.shape[1]
    total, work = 0.0, 0.0
    avoid, ready = np.bool_(True), np.int64(1)
    for j in range(min(rows, r)):
        push(table[j], at(watch.matrices, d), spread[0])
        for x in range(M):
            spread[0, x] *= watch.hidden[d + 1, x]
        told = dot(table[j], U[(d + 1) % U.shape[0], v, r - j - 1])
        part, _, more = first_right(watch, U, d + 1, end, v, r - j - 1, told, avoid, ready, spread, scratch)
        total += part
        work += M * M + more
    return total, work
