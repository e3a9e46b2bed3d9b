"""One guess for each stretch between sightings: their joint success, over all series of raw counts.

`law[u, v, k]` is the chance, from restart point u, of v as the next sighting (v = T S: of none) with k wrong steps
between. Stretches of a series are independent of each other, so wrong steps add up by a recursion over sightings. It is
affine in the law of each stretch: the worth of a law, given the others, is a weighted sum of its entries (`worth_of`).
Somebody whose habits are one of several (modes) has a law for each; a guess is for all of them.
"""

import numpy as np
from numba import types

from passerby.kernels.chain.recursions import at, copy, dot, push, turn
from passerby.kernels.jit import (
    cube,
    inlined,
    kernel,
    making,
    matrix,
    number,
    out_cube,
    out_cubes,
    out_vector,
    vector,
    whole,
    whole_matrix,
)

from .stretch_guess import after_point, map_guesses, marginal_guesses, score_all, tables_for, ways_ahead
from .stretch_search import Watch


@inlined
def add_up_from(S, u, law, after):
    """Fill `after[u, k]`, the chance of at most k wrong steps after restart point u, from later ones."""
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
    """Put in `out[k]` the worth of k wrong steps in a stretch: the chance of u, and of few enough wrong in all."""
    K = out.shape[0]
    for k in range(K):
        total = 0.0
        for i in range(K - k):
            total += before[u, i] * (after[1 + v, K - 1 - k - i] if 1 + v < after.shape[0] else 1.0)
        out[k] = total


@making
def reached(watch, law):
    """Whether somebody can come to each restart point (N,); `law` (2, M) is scratch."""
    T, S = watch.watched.shape
    out = np.zeros(T * S + 1, np.bool_)
    out[0] = True
    copy(watch.initial, law[0])
    for t in range(T):
        for j in range(S):
            out[1 + t * S + j] = watch.watched[t, j] >= 0 and law[t % 2, watch.watched[t, j]] > 0.0
        if t + 1 < T:
            push(law[t % 2], at(watch.matrices, t), law[(t + 1) % 2])
    return out


@inlined
def first_same(guesses, i, t0, v, S):
    """The first of the guesses (G, T S + 1, T) equal to the i-th one, for the stretch from step t0 to v."""
    for j in range(i):
        same = True
        for t in range(t0, v // S):
            if guesses[i, v, t] != guesses[j, v, t]:
                same = False
                break
        if same:
            return j
    return i


@making
def score_each(watch, turned, u, guesses, same, laws, tables):
    """Fill `laws[i, u]` for each of the guesses (G, T S + 1, T) from u; the `same` guesses are scored once."""
    G, TS = same.shape[0], same.shape[1] - 1
    wanted = np.empty(TS + 1, np.bool_)
    work = 0.0
    for i in range(G):
        some = False
        for v in range(TS + 1):
            wanted[v] = same[i, v] == i
            some = some or wanted[v]
        if some:
            work += score_all(watch, turned, u, guesses[i], wanted, laws[i, u], tables)
        for v in range(TS + 1):
            if not wanted[v]:
                copy(laws[same[i, v], u, v], laws[i, u, v])
    return work


@kernel(types.Tuple((out_cubes, out_cubes, number))(matrix, cube, matrix, cube, whole_matrix, matrix, vector, whole))
def plain_laws(guides, guide_moves, starts, moves, watched, hidden, named, misses):
    """(ways ahead (G, T, T S + 1, M), laws (modes 2 G, N, T S + 1, K), work) of likeliest ways and likeliest places.

    They are the likeliest for each of G chains, `guides` (G, M) and `guide_moves` (G K, M, M). They are scored with the
    chains of all modes over the same places, `starts` (modes, M) and `moves` (modes K, M, M). A guess for a stretch
    impossible under a guide names any place. Restart points unreachable for a mode have no law.
    """
    T, S = watched.shape
    N, M, G, modes = T * S + 1, named.shape[0], guides.shape[0], starts.shape[0]
    own, each = guide_moves.shape[0] // G, moves.shape[0] // modes
    ahead, laws = np.zeros((G, T, N, M)), np.zeros((modes * 2 * G, N, N, misses + 1))
    for i in range(G):
        ways_ahead(Watch(guides[i], guide_moves[i * own : (i + 1) * own], watched, hidden, named), ahead[i])
    guesses, same = np.zeros((2 * G, N, T), np.int64), np.zeros((2 * G, N), np.int64)
    row, seen, tables = np.empty((2, M)), np.empty((modes, N), np.bool_), tables_for(N - 1, misses + 1, M)
    for k in range(modes):
        seen[k] = reached(Watch(starts[k], moves[k * each : (k + 1) * each], watched, hidden, named), row)
    turned, work = turn(moves), 0.5 * G * T * N * M**2
    for u in range(N):
        if not seen[:, u].any():
            continue
        for i in range(G):
            lead = Watch(guides[i], guide_moves[i * own : (i + 1) * own], watched, hidden, named)
            map_guesses(lead, u, guesses[2 * i])
            marginal_guesses(lead, ahead[i], u, guesses[2 * i + 1])
        for i in range(2 * G):
            for v in range(N):
                same[i, v] = first_same(guesses, i, after_point(u, S), v, S)
        for k in range(modes):
            if seen[k, u]:
                mine = slice(k * each, (k + 1) * each)
                watch = Watch(starts[k], moves[mine], watched, hidden, named)
                work += score_each(watch, turned[mine], u, guesses, same, laws[2 * G * k : 2 * G * (k + 1)], tables)
    return ahead, laws, work


@inlined
def add_all(S, weights, laws, i, after):
    """The success of the i-th guesses under all modes, `weights` (modes,); `after` (modes, N, K) is filled in."""
    each, total = laws.shape[0] // weights.shape[0], 0.0
    for k in range(weights.shape[0]):
        total += weights[k] * add_up(S, laws[k * each + i], after[k])
    return total


@kernel(number(whole, vector, out_cubes, out_cube, out_cube, out_cubes, out_vector))
def best_plain(S, weights, laws, before, after, law, alone):
    """Fill `law` with the best of all guesses for each stretch, given all others; returns the success.

    `laws` (modes G, N, T S + 1, K) are the laws of G guesses for every stretch, `weights` (modes,) the chances of
    modes. `before` and `after` (modes, N, K) are filled in for `law` (modes, N, T S + 1, K). `alone` (G,) is filled
    with the success of each guess if it is made for all stretches.
    """
    modes, TS, K = law.shape[0], law.shape[2] - 1, law.shape[3]
    each = laws.shape[0] // modes
    worth = np.empty((modes, K))
    pick, top = 0, -1.0
    for i in range(each):
        alone[i] = add_all(S, weights, laws, i, after)
        if alone[i] > top:
            pick, top = i, alone[i]
    for k in range(modes):
        for u in range(law.shape[1]):
            for v in range(TS + 1):
                copy(laws[k * each + pick, u, v], law[k, u, v])
        add_before(S, law[k], before[k])
    low = add_all(S, weights, law, np.int64(0), after)
    # Backwards, one restart point after the other: no series has two stretches from the same one.
    for u in range(TS, -1, -1):
        for v in range((after_point(u, S) + 1) * S, TS + 1):
            for k in range(modes):
                worth_of(before[k], after[k], u, v, worth[k])
                worth[k] *= weights[k]
            best, pick = 0.0, -1
            for k in range(modes):
                best += dot(law[k, u, v], worth[k])
            for i in range(each):
                total = 0.0
                for k in range(modes):
                    total += dot(laws[k * each + i, u, v], worth[k])
                if total > best:
                    best, pick = total, i
            if pick >= 0:
                for k in range(modes):
                    copy(laws[k * each + pick, u, v], law[k, u, v])
        for k in range(modes):
            add_up_from(S, u, law[k, u], after[k])
    now = 0.0
    for k in range(modes):
        add_before(S, law[k], before[k])
        now += weights[k] * after[k, 0, K - 1]
    return max(low, now)
