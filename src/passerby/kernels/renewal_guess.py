"""All series of raw counts at once: the best guess, bracketed stretch by stretch.

Between two sightings the person's places depend on nothing else that was published, so a guess can be made for each
stretch by itself, and wrong steps add up over stretches that are independent of each other. For a stretch let `F(k)` be
the chance of at most k wrong steps. With one guess for each stretch, the success over all series is a recursion over
sightings with the law `F(k) - F(k-1)` of wrong steps in each stretch. The best guess may differ from series to series,
but at no stretch does it make "at most k wrong" likelier than the best guess for that k alone: with an `F(k)` that is
at least that large for every k, the same recursion bounds it from above. Nothing is listed or sampled.

At first, `F` is bounded from above by telling the past (all stretches that end at a sighting in one recursion) and from
below by a guess that does not know where the stretch ends. Stretches are then refined, those that add most to the gap
first. A stretch goes from a restart point u (see `stretches`) to the next sighting v = t S + j, or to the end, v = T S.
"""

import numpy as np

from .ascent import ascend, map_guess
from .best_guess import CLOSER, LEVELS, ROOT_NODES, bracket, look, room
from .chain import at, likeliest, push
from .jit import cube, inlined, kernel, number, out_vector, vector, whole, whole_matrix
from .renewal import begin, unseen

#: Stretches that are refined before all is added up again, at most.
BATCH = 256


@inlined
def after_point(u, S):
    """The first step after a restart point."""
    return 0 if u == 0 else (u - 1) // S + 1


@inlined
def tell(row, hidden, named, later, begin, out, gain):
    """`out(k) = Σ_y row(y) later(y, k-1) + max_y row(y) (later(y, k) - later(y, k-1))`, y hidden, for all v >= begin.

    The last row of the tables is for the chance of v itself: `Σ_y row(y) later(y)`.
    """
    K, V = out.shape[0] - 1, out.shape[1]
    out[:, begin:] = 0.0
    gain[:, begin:] = 0.0
    for y in range(row.shape[0]):
        b = row[y] * hidden[y]
        if b > 0.0:
            c = b * named[y]
            for v in range(begin, V):
                out[K, v] += b * later[y, K, v]
                gain[0, v] = max(gain[0, v], c * later[y, 0, v])
            for k in range(1, K):
                now, less = later[y, k], later[y, k - 1]
                for v in range(begin, V):
                    out[k, v] += b * less[v]
                    gain[k, v] = max(gain[k, v], c * (now[v] - less[v]))
    out[:K, begin:] += gain[:, begin:]


@inlined
def tell_the_past(initial, matrices, places, hidden, named, chance, upper):
    """Fill `chance[u, v]`, that v follows u, and `upper[u, v, k]` by letting the adversary learn each place in turn.

    Backwards, for all v at once: `later(x, k, v)` bounds the chance of at most k wrong steps and then v, from x.
    """
    T, S = places.shape
    M = initial.shape[0]
    K, TS = upper.shape[2], T * S
    later, now = np.zeros((M, K + 1, TS + 1)), np.zeros((M, K + 1, TS + 1))
    gain = np.empty((K, TS + 1))
    for t in range(T - 1, -2, -1):
        # From the places of step t (from the start, at t = -1): v is at the next step, or later.
        for x in range(M if t >= 0 else 1):
            if t < T - 1:
                row = at(matrices, t)[x] if t >= 0 else initial
                tell(row, hidden[t + 1], named, later, (t + 2) * S, now[x], gain)
                for j in range(S):
                    now[x, :, (t + 1) * S + j] = row[places[t + 1, j]] if places[t + 1, j] >= 0 else 0.0
            else:
                now[x, :, TS] = 1.0
        for j in range(S if t >= 0 else 1):
            x = places[t, j] if t >= 0 else 0
            if x >= 0:
                u = 1 + t * S + j if t >= 0 else 0
                for v in range((t + 1) * S, TS + 1):
                    f = chance[u, v] = now[x, K, v]
                    for k in range(K):
                        upper[u, v, k] = min(1.0, now[x, k, v] / f) if f > 0.0 else 1.0
        later, now = now, later


@inlined
def count_wrong(table, rows, g):
    """Rows of `table` are numbers of wrong steps; count one more for those not at g. The last row is dropped."""
    for r in range(rows - 1, -1, -1):
        right = table[r, g]
        if r > 0:
            table[r] = table[r - 1]
        else:
            table[r] = 0.0
        table[r, g] = right


@inlined
def guess_from_the_start(initial, matrices, places, hidden, named, chance, lower):
    """Fill `lower[u, v, k]`: each step of a stretch is guessed as the likeliest place since u without a sighting."""
    T, S = places.shape
    M = initial.shape[0]
    K = lower.shape[2]
    # One row for each number of wrong steps, and one for all mass.
    now, new = np.zeros((K + 1, M)), np.zeros((K + 1, M))
    for u in range(T * S + 1):
        if u > 0 and places[(u - 1) // S, (u - 1) % S] < 0:
            continue
        now[:] = new[:] = 0.0
        t0 = begin(initial, matrices, places, u, now[0])
        now[K] = now[0]
        for t in range(t0, T):
            if t > t0:
                P = at(matrices, t - 1)
                for r in range(min(K, t - t0 + 1)):
                    push(now[r], P, new[r])
                push(now[K], P, new[K])
                now, new = new, now
            for j in range(S):
                c = places[t, j]
                if c >= 0 and chance[u, t * S + j] > 0.0:
                    total = 0.0
                    for k in range(K):
                        total += now[k, c]
                        lower[u, t * S + j, k] = min(1.0, total / chance[u, t * S + j])
            for r in range(K + 1):
                for x in range(M):
                    now[r, x] *= hidden[t, x]
            count_wrong(now, K, likeliest(now[K], named))
        if chance[u, T * S] > 0.0:
            total = 0.0
            for k in range(K):
                if t0 < T:
                    total += now[k].sum()
                    lower[u, T * S, k] = min(1.0, total / chance[u, T * S])
                else:
                    lower[u, T * S, k] = 1.0


@inlined
def add_up(S, chance, F, after):
    """Fill `after[u, k]`, the chance of at most k wrong steps after restart point u; returns that of the whole."""
    TS, K = chance.shape[1] - 1, F.shape[2]
    for u in range(TS, -1, -1):
        line = after[u]
        line[:] = 0.0
        for v in range(after_point(u, S) * S, TS + 1):
            f = chance[u, v]
            if f > 0.0:
                for j in range(K):
                    b = f * (F[u, v, j] - (F[u, v, j - 1] if j > 0 else 0.0))
                    if b > 0.0:
                        for k in range(j, K):
                            line[k] += b * (after[1 + v, k - j] if v < TS else 1.0)
    return after[0, K - 1]


@inlined
def add_before(S, chance, F, before):
    """Fill `before[u, k]`, the chance of a sighting at u with exactly k wrong steps before it."""
    TS, K = chance.shape[1] - 1, F.shape[2]
    before[:] = 0.0
    before[0, 0] = 1.0
    for u in range(TS + 1):
        line = before[u]
        for v in range(after_point(u, S) * S, TS):
            f = chance[u, v]
            if f > 0.0:
                for j in range(K):
                    b = f * (F[u, v, j] - (F[u, v, j - 1] if j > 0 else 0.0))
                    if b > 0.0:
                        for k in range(j, K):
                            before[1 + v, k] += b * line[k - j]


@inlined
def importance(before, after, f, u, v, weight):
    """Put in `weight[k]` what `F(k)` of a stretch counts for: that all others have exactly misses - k wrong."""
    K = weight.shape[0]
    for k in range(K):
        total = 0.0
        for i in range(K - k):
            left = K - 1 - k - i
            if 1 + v == after.shape[0]:
                rest = 1.0 if left == 0 else 0.0
            else:
                rest = after[1 + v, left] - (after[1 + v, left - 1] if left > 0 else 0.0)
            total += before[u, i] * rest
        weight[k] = f * total


@inlined
def widest(S, chance, lower, upper, levels, before, after, least):
    """The stretches that add at least `least` to the gap, as (gaps, u, v), widest first."""
    TS, K = chance.shape[1] - 1, lower.shape[2]
    weight = np.empty(K)
    most = 16 * BATCH
    gaps, us, vs = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    n = 0
    for u in range(TS + 1):
        here = before[u].sum()
        for v in range(after_point(u, S) * S, TS + 1):
            f = here * chance[u, v]
            if f < least or levels[u, v] == LEVELS:
                continue
            wide = 0.0
            for k in range(K):
                wide = max(wide, upper[u, v, k] - lower[u, v, k])
            if f * wide < least:
                continue
            importance(before, after, chance[u, v], u, v, weight)
            gap = 0.0
            for k in range(K):
                gap += weight[k] * (upper[u, v, k] - lower[u, v, k])
            if gap >= least and n < most:
                gaps[n], us[n], vs[n] = gap, u, v
                n += 1
    order = np.argsort(-gaps[:n])
    return gaps[order], us[order], vs[order]


@inlined
def chain_between(initial, matrices, places, hidden, named, u, v):
    """The chain of a stretch given its ends, over the places that it can be at: (start, matrices, named)."""
    T, S = places.shape
    M = initial.shape[0]
    t0, t1 = after_point(u, S), v // S
    L = t1 - t0
    start = np.empty(M)
    begin(initial, matrices, places, u, start)
    kept = np.empty(M, np.int64)
    R = 0
    for x in range(M):
        if hidden[t0:t1, x].max() > 0.0:
            kept[R] = x
            R += 1
    kept = kept[:R]
    b, now = np.empty(R), np.empty(R)
    for i in range(R):
        b[i] = (1.0 if v == T * S else at(matrices, t1 - 1)[kept[i], places[t1, v % S]]) * hidden[t1 - 1, kept[i]]
    Q = np.zeros((L - 1, R, R))
    for t in range(L - 2, -1, -1):
        P = at(matrices, t0 + t)
        top = b.max()
        for i in range(R):
            total = 0.0
            if hidden[t0 + t, kept[i]] > 0.0:
                for j in range(R):
                    Q[t, i, j] = P[kept[i], kept[j]] * b[j] / top
                    total += Q[t, i, j]
            now[i] = total
            if total > 0.0:
                for j in range(R):
                    Q[t, i, j] /= total
        b, now = now, b
    a = start[kept] * b
    return a / a.sum(), Q, named[kept]


@inlined
def try_guess(a, Q, guess, weight, lower, top, F):
    """Replace `lower` by a guess that serves the whole better, and `top` by what it achieves for each k."""
    L, R, K = guess.shape[0], a.shape[0], F.shape[0]
    now, new = np.zeros((K, R)), np.zeros((K, R))
    now[0] = a
    for t in range(L):
        if t > 0:
            for r in range(min(K, t + 1)):
                push(now[r], Q[t - 1], new[r])
            now, new = new, now
        count_wrong(now, K, guess[t])
    total, gain = 0.0, 0.0
    for k in range(K):
        total += now[k].sum()
        F[k] = min(1.0, total) if k < L else 1.0
        gain += weight[k] * (F[k] - lower[k])
        top[k] = max(top[k], F[k])
    if gain > 0.0:
        lower[:] = F


@inlined
def refine(chain, level, tolerance, weight, lower, upper):
    """Look at one stretch at a level of effort: level 0 improves the guess, those above search. (nodes, work)."""
    a, Q, named = chain
    L, R, K = Q.shape[0] + 1, a.shape[0], lower.shape[0]
    guess, trial, pinned = np.empty(L, np.int64), np.empty(L, np.int64), np.empty(L, np.int64)
    law = np.empty((L, R))
    look(a, Q, named, law, pinned)
    F, top = np.empty(K), lower.copy()
    map_guess(a, Q, named, guess)
    try_guess(a, Q, guess, weight, lower, top, F)
    nodes, work = 0, 10.0 * L * R * (R + 8.0) * K
    if level == 0:
        for t in range(L):
            trial[t] = likeliest(law[t], named)
        try_guess(a, Q, trial, weight, lower, top, F)
        return nodes, work
    for k in range(min(K, L) - 1, 0, -1):
        if k + 1 < K:
            upper[k] = min(upper[k], upper[k + 1])
        if weight[k] == 0.0 or upper[k] <= top[k] * (1.0 + tolerance):
            continue
        needed = L - k
        trial[:] = guess
        low = ascend(a, Q, named, trial, needed, np.empty((L, needed + 1, R)))
        try_guess(a, Q, trial, weight, lower, top, F)
        most = min(ROOT_NODES[level - 1], max(1, int(5e7 / (needed * R + R))))
        _, up, more, cost = bracket(
            a, Q, law, named, pinned, needed, level - 1, low, tolerance, trial, room(L, R, needed, most)
        )
        nodes += more
        work += cost + 20.0 * L * R * (R + 24.0) * min(needed, k + 1)
        if more > 0:
            try_guess(a, Q, trial, weight, lower, top, F)
        upper[k] = max(min(upper[k], up), top[k])
    return nodes, work


@kernel(out_vector(vector, cube, whole_matrix, vector, whole, number, number))
def stretchwise(initial, matrices, places, named, misses, tolerance, budget):
    """Bracket the success of the best guess with at most `misses` wrong steps, over all series of raw counts.

    Returns (lower, upper, stretches refined, nodes, work). Sensors must be at places that may be named.
    """
    T, S = places.shape
    M = initial.shape[0]
    N, TS, K = 1 + T * S, T * S, misses + 1
    hidden = unseen(places, M)
    chance = np.zeros((N, TS + 1))
    lower, upper = np.zeros((N, TS + 1, K)), np.ones((N, TS + 1, K))
    tell_the_past(initial, matrices, places, hidden, named, chance, upper)
    guess_from_the_start(initial, matrices, places, hidden, named, chance, lower)
    levels = np.zeros((N, TS + 1), np.int8)
    for u in range(N):
        for v in range(after_point(u, S) * S, min(TS, (after_point(u, S) + 1) * S)):
            levels[u, v] = LEVELS
            lower[u, v] = upper[u, v] = 1.0
    after, before, weight = np.zeros((N, K)), np.zeros((N, K)), np.empty(K)
    refined, nodes, work = 0, 0, N * T * 1.0 * M * M * K
    while True:
        low = add_up(S, chance, lower, after)
        high = add_up(S, chance, upper, after)
        work += 6.0 * N * TS * K
        excess = high - low * (1.0 + tolerance)
        if excess <= 0.0 or work > budget:
            break
        add_before(S, chance, upper, before)
        gaps, us, vs = widest(S, chance, lower, upper, levels, before, after, 1e-3 * excess / N)
        taken = 0.0
        for i in range(min(gaps.shape[0], BATCH)):
            if taken > excess or work > budget:
                break
            taken += gaps[i]
            u, v = us[i], vs[i]
            importance(before, after, chance[u, v], u, v, weight)
            chain = chain_between(initial, matrices, places, hidden, named, u, v)
            more, cost = refine(chain, levels[u, v], CLOSER * tolerance, weight, lower[u, v], upper[u, v])
            refined += 1 if levels[u, v] == 0 else 0
            levels[u, v] += 1
            nodes += more
            work += cost
        if taken == 0.0:
            break
    return np.array([low, max(low, high), refined * 1.0, nodes * 1.0, work])
