"""Upper bounds on the success of any guess, for a chain known from some step on.

`V[t, k, x]` is for a person known to be in state x at step t. It is never below the success of the best guess at "at
least k of the steps after t are right". The chain is a `posterior.Chain`.

Three arguments are combined entry by entry, each using the entries of later steps:

- *told the past*: let the adversary learn the next state after naming its place;
- *union*: some step must be the first right one, and there the person's place is the guess;
- *union with avoidance*: the same, but a first right step comes after a wrong one, so pairs of right steps are taken
  away. The best guess for this sum is found by a recursion over the guess itself.
"""

import numpy as np

from passerby.kernels.chain.posterior import ahead, move, top_place
from passerby.kernels.chain.recursions import at, copy, dot
from passerby.kernels.jit import adding, cube, inlined, kernel, once, out_vector, vector, whole, whole_matrix

#: Numbers of steps bounded together: this is quicker. Tables have so many rows, or a multiple.
TOGETHER = 4


@inlined
def rows_for(K):
    """How many rows a table for K numbers has."""
    return (K + TOGETHER - 1) // TOGETHER * TOGETHER


@inlined
def right_adds(V, t, k, out):
    """`out(x) = V_t(x, k-1) - V_t(x, k)`: the gain of a right step."""
    for x in range(out.shape[0]):
        out[x] = V[t, k - 1, x] - V[t, k, x]


@inlined
def top_named(chain, row, worth, low, high, apart, sums):
    """`max_g Σ_{y at g} row[y] worth[y]`, y from low to high; unnameable places are worth nothing.

    `apart` marks rows without two states of one place.
    """
    if not apart:
        return top_place(chain, row, worth, low, high, sums)
    top = 0.0
    for y in range(low, high):
        top = max(top, row[y] * worth[y])
    return top


@once
def known_step(V, chain, t, x, k, gain, apart, sums):
    """`Σ_y Q(x,y) V_{t+1}(y,k) + max_g Σ_{y at g} Q(x,y) gain(y)`, `gain` being the gain of a right step t + 1."""
    return ahead(chain, t, x, V[t + 1, k]) + top_named(
        chain, chain.moves[t, x], gain, chain.low[x], chain.high[x], apart, sums
    )


@adding
def four_known(move, low, high, less, gain, out, r, x):
    """Fill `out[r..r+3, x]`: `Σ_y move(y) less(y) + max(0, max_g move(g) gain(g))`, each with rows of its own.

    y and g from low to high.
    """
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    best_a, best_b, best_c, best_d = 0.0, 0.0, 0.0, 0.0
    less_a, less_b, less_c, less_d = less[r], less[r + 1], less[r + 2], less[r + 3]
    gain_a, gain_b, gain_c, gain_d = gain[r], gain[r + 1], gain[r + 2], gain[r + 3]
    for y in range(low, high):
        p = move[y]
        a += p * less_a[y]
        b += p * less_b[y]
        c += p * less_c[y]
        d += p * less_d[y]
        best_a = max(best_a, p * gain_a[y])
        best_b = max(best_b, p * gain_b[y])
        best_c = max(best_c, p * gain_c[y])
        best_d = max(best_d, p * gain_d[y])
    out[r, x], out[r + 1, x], out[r + 2, x], out[r + 3, x] = a + best_a, b + best_b, c + best_c, d + best_d


@inlined
def first_right(V, chain, start, begin, k, room):
    """Bound on the success of the best guess from a belief: the sum over the first right step.

    `start` (M,) is the (unnormalised) belief at step `begin`, the first step to guess, with k right steps needed. The
    mass right at the step before is taken out: `max_g Σ_t Σ_{y at g_t} R_t(y) (b_t(y) - Σ_{x at g_{t-1}} b_{t-1}(x)
    Q(x, y))` with `R_t(y) = V_t(y, k-1)`, solved backwards over g. At a pinned step every sensible guess is right, so
    the sum ends there. `room.spread` (T, M) and `room.by_place` (4, P) are scratch.
    """
    T, M = V.shape[0], V.shape[2]
    spread, sums = room.spread, room.by_place[0]
    copy(start, spread[begin])
    end = begin
    total = 0.0
    while True:
        total += top_place(chain, spread[end], V[end, k - 1], np.int64(0), M, sums)
        # A first right step must leave enough steps for the rest.
        if end == T - k or chain.pinned[end] >= 0:
            break
        move(chain, end, spread[end], spread[end + 1])
        end += 1
    if end == begin:
        return total
    value, after, taken = room.by_place[1], room.by_place[2], room.by_place[3]
    worth(chain, spread[end], V[end, k - 1], value)
    for t in range(end - 1, begin - 1, -1):
        copy(value, after)
        worth(chain, spread[t], V[t, k - 1], value)
        add_followers(chain, spread[t], t, V[t + 1, k - 1], after, taken, value)
    best = 0.0
    for g in range(value.shape[0]):
        best = max(best, value[g])
    return min(best, total)


@inlined
def worth(chain, row, reward, value):
    """`value[g] = Σ_{x at g} row[x] reward[x]`; an unnamed place earns nothing."""
    value[:] = 0.0
    for x in range(row.shape[0]):
        value[chain.place_of[x]] += row[x] * reward[x]
    for g in range(value.shape[0]):
        value[g] *= chain.named[g]


@inlined
def add_followers(chain, row, t, reward, after, taken, value):
    """Add to `value[g]` the best of the places named after g, less the mass right at g already."""
    for g in range(value.shape[0]):
        taken[:] = 0.0
        first, stop = (g, g + 1) if chain.single else (0, row.shape[0])
        if chain.named[g] > 0.0:
            for x in range(first, stop):
                if chain.place_of[x] == g and row[x] > 0.0:
                    line = chain.moves[t, x]
                    for y in range(chain.low[x], chain.high[x]):
                        taken[chain.place_of[y]] += row[x] * line[y] * reward[y]
        best = 0.0
        for h in range(value.shape[0]):
            best = max(best, after[h] - taken[h])
        value[g] += best


@once
def union_sums(V, chain, t, low, high, apart, sums, by_place):
    """`sums[k, x] = Σ_{u>t} max_g Σ_{y at g} Pr[X_u = y | X_t = x] V_u(y, k-1)`, k = low..high, up to a pinned step.

    A first right step later than T - k leaves too few steps for the rest, so few misses make for short sums. A sum at
    or above `V[t, k, x]` helps nobody: the sums of x are given up once all continuing ones are such. `apart` says that
    no state leads to two states of one place, however many steps later.
    """
    T, M = V.shape[0], V.shape[2]
    sums[low : high + 1] = 0.0
    reach, further = chain.moves[t].copy(), np.empty((M, M))
    going, worth = chain.law[t] > 0.0, np.empty((high + 1, M))
    for u in range(t + 1, T):
        for k in range(low, min(high, T - u) + 1):
            for y in range(M):
                worth[k, y] = V[u, k - 1, y] * chain.named[chain.place_of[y]]
        some = False
        for x in range(M):
            if going[x]:
                going[x] = False
                for k in range(low, min(high, T - u) + 1):
                    sums[k, x] += top_named(chain, reach[x], worth[k], np.int64(0), M, apart, by_place)
                    going[x] = going[x] or (k < T - u and sums[k, x] < V[t, k, x])
                some = some or going[x]
        if not some or u == T - low or chain.pinned[u] >= 0:
            return
        for x in range(M):
            if going[x]:
                move(chain, u, reach[x], further[x])
        reach, further = further, reach


#: The log of a probability: a less likely series is not bounded. Above it, less than `posterior.MISSING` for each place
#: and step can have vanished: only numbers below 1e-322 in the scale of their step vanish.
FAINTEST = -100.0


@inlined
def arrive(value, classes, weights, named, K, less, gain):
    """The worth of arriving at each place with one miss fewer, and the gain of a right name; row K is for all.

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
def quick_ceilings(initial, matrices, classes, weights, named, misses):
    """For each series (weights (n, T, C)), a ceiling on guesses with so many misses (n,); states are places.

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
                    four_known(P[x], np.int64(0), P.shape[1], less, gain, value, r, x)
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
