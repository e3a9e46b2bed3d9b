"""Each step by itself: how likely the best guess of one step is right, given all that is published.

Of raw counts this needs no series: between the last sighting before a step and the next one after it, what happens is
independent of the rest, so that the sum over series is one over pairs of sightings.
"""

import numpy as np

from .chain import at, copy, dot, push
from .jit import cube, inlined, kernel, making, number, out_matrix, out_vector, vector, whole_matrix, wholes


@making
def following(initial, matrices, places):
    """How likely the next sighting is each of those after a step, from each unsighted place there: (T, N, M), (T,).

    The first entry of a step is for no sighting at all; the second array tells how many entries there are.
    """
    T, S = places.shape
    M = initial.shape[0]
    out, size = np.zeros((T, 1 + T * S, M)), np.ones(T, np.int64)
    out[T - 1, 0] = 1.0
    ahead = np.empty(M)
    for t in range(T - 1, 0, -1):
        P = at(matrices, t - 1)
        for k in range(size[t]):
            copy(out[t, k], ahead)
            for j in range(S):
                if places[t, j] >= 0:
                    ahead[places[t, j]] = 0.0
            for x in range(M):
                out[t - 1, k, x] = dot(P[x], ahead)
        size[t - 1] = size[t]
        for j in range(S):
            if places[t, j] >= 0:
                for x in range(M):
                    out[t - 1, size[t - 1], x] = P[x, places[t, j]]
                size[t - 1] += 1
    return out, size


@inlined
def best_between(before, points, after, ahead, named):
    """`Σ_u Σ_v max_x before[u, x] after[v, x]` over the places that may be named."""
    total = 0.0
    for i in range(points):
        for k in range(ahead):
            top = 0.0
            for x in range(before.shape[1]):
                top = max(top, before[i, x] * after[k, x] * named[x])
            total += top
    return total


@kernel(out_vector(vector, cube, whole_matrix, vector))
def raw(initial, matrices, places, named):
    """For each step (T,), `Σ_y max_x Pr[X_t = x, y]` of raw counts: `places` (T, S) are the sensors, -1 for none.

    O((T S)² M) for each step, and T² S M numbers are kept.
    """
    T, S = places.shape
    M = initial.shape[0]
    out = np.zeros(T)
    after, size = following(initial, matrices, places)
    # before[u] is how likely the last sighting is u, with each place of the step and no sighting since.
    before, points = np.zeros((1 + T * S, M)), 1
    copy(initial, before[0])
    row = np.empty(M)
    for t in range(T):
        for i in range(points if t > 0 else 0):
            push(before[i], at(matrices, t - 1), row)
            copy(row, before[i])
        known = points
        for j in range(S):
            c = places[t, j]
            if c < 0:
                continue
            seen = 0.0
            for i in range(known):
                seen += before[i, c]
                before[i, c] = 0.0
            out[t] += seen * named[c]
            if seen > 0.0:
                before[points] = 0.0
                before[points, c] = seen
                points += 1
        out[t] += best_between(before, known, after[t], size[t], named)
    return out


@kernel(out_matrix(vector, cube, whole_matrix, cube, wholes, vector, number))
def given(initial, matrices, classes, weights, place_of, named, faintest):
    """For series of evidence (n, T, C), the chance of the best guess of each step given the series: (n, T).

    By a forward and a backward pass, scaled at each step; NaN for a series whose probability falls below `faintest`.
    """
    n = weights.shape[0]
    T, M = classes.shape
    out = np.empty((n, T))
    ahead = np.empty((T, M))
    row, new, sums = np.empty(M), np.empty(M), np.empty(named.shape[0])
    for i in range(n):
        lost = False
        ahead[T - 1] = 1.0
        for t in range(T - 1, 0, -1):
            P = at(matrices, t - 1)
            for y in range(M):
                new[y] = ahead[t, y] * weights[i, t, classes[t, y]]
            top = 0.0
            for x in range(M):
                ahead[t - 1, x] = dot(P[x], new)
                top = max(top, ahead[t - 1, x])
            lost = lost or top <= faintest
            for x in range(M):
                ahead[t - 1, x] /= top
        copy(initial, row)
        for t in range(T):
            if t > 0:
                push(row, at(matrices, t - 1), new)
                row, new = new, row
            total, here = 0.0, 0.0
            for x in range(M):
                row[x] *= weights[i, t, classes[t, x]]
                total += row[x]
            for x in range(M):
                row[x] /= total
            sums[:] = 0.0
            for x in range(M):
                chance = row[x] * ahead[t, x]
                sums[place_of[x]] += chance
                here += chance
            lost = lost or not total > faintest or not here > faintest
            best = 0.0
            for p in range(sums.shape[0]):
                best = max(best, sums[p] * named[p])
            out[i, t] = np.nan if lost else min(1.0, best / here)
    return out
