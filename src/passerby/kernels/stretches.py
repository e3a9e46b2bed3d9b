"""What happens between sightings.

A sighting reveals the place, so the chain starts afresh there. A *restart point* is the start (number 0) or a sighting
at sensor j of step t (number 1 + t S + j). `places` (T, S) holds the sensors, -1 for none. Everything is kept as
logarithms, so that long chains do not underflow.
"""

import numpy as np
from numba import types

from .chain import at, push, raise_to
from .jit import cube, inlined, kernel, matrix, number, out_matrix, vector, whole_matrix


@inlined
def begin(initial, matrices, places, point, row):
    """Put in `row` the law of the place at the first step after a restart point; returns that step."""
    S = places.shape[1]
    if point == 0:
        row[:] = initial
        return 0
    t, j = (point - 1) // S, (point - 1) % S
    if t + 1 < places.shape[0]:
        row[:] = at(matrices, t)[places[t, j]]
    return t + 1


@kernel(types.Tuple((out_matrix, out_matrix))(vector, cube, whole_matrix, matrix))
def stretches(initial, matrices, places, reveal):
    """(log_first (N, T S), log_stay (N, T)) from each restart point u; N = 1 + T S.

    `first[u, t S + j]` is the probability of being at sensor j at step t with no sighting since u, and `stay[u, t]` of
    no sighting up to and including t, where being at sensor j of step t is a sighting with probability `reveal[t, j]`.
    """
    T, S = places.shape
    N = 1 + T * S
    M = initial.shape[0]
    first = np.full((N, T * S), -np.inf)
    stay = np.full((N, T), -np.inf)
    row, new = np.empty(M), np.empty(M)
    for u in range(N):
        if u > 0 and places[(u - 1) // S, (u - 1) % S] < 0:
            continue
        log_scale = 0.0
        t0 = begin(initial, matrices, places, u, row)
        for t in range(t0, T):
            if t > t0:
                push(row, at(matrices, t - 1), new)
                row, new = new, row
            for j in range(S):
                c = places[t, j]
                if c >= 0 and row[c] > 0.0:
                    first[u, t * S + j] = np.log(row[c]) + log_scale
                    row[c] *= 1.0 - reveal[t, j]
            total = row.sum()
            if total == 0.0:
                break
            row /= total
            log_scale += np.log(total)
            stay[u, t] = log_scale
    return first, stay


@kernel(number(matrix, matrix, vector, number))
def log_power_sum(log_first, log_stay, log_reveal, power):
    """`log Σ_y Pr[y]^β`: `A(0) = 1`, `A(v) = ρ_v Σ_u A(u) first(u,v)^β`, and the sum is `Σ_u A(u) stay(u, T)^β`.

    `log_reveal` (T S,) holds `log ρ`. With `ρ < 1` this is the upper bound in which the sum over which unsighted steps
    were revealed is pulled inside the concave power.
    """
    N, TS = log_first.shape
    T = log_stay.shape[1]
    S = TS // T if T > 0 else 1
    weight = np.full(N, -np.inf)
    weight[0] = 0.0
    for v in range(TS):
        if log_reveal[v] == -np.inf:
            continue
        top = -np.inf
        # Restart points before the step of v.
        ahead = 1 + (v // S) * S
        for u in range(ahead):
            if weight[u] > -np.inf and log_first[u, v] > -np.inf:
                top = max(top, weight[u] + power * log_first[u, v])
        if top > -np.inf:
            total = 0.0
            for u in range(ahead):
                if weight[u] > -np.inf and log_first[u, v] > -np.inf:
                    total += np.exp(weight[u] + power * log_first[u, v] - top)
            weight[1 + v] = top + np.log(total) + log_reveal[v]
    top = -np.inf
    ends = np.full(N, -np.inf)
    for u in range(N):
        last = log_stay[u, T - 1] if u < 1 + (T - 1) * S else 0.0
        if weight[u] > -np.inf and last > -np.inf:
            ends[u] = weight[u] + power * last
            top = max(top, ends[u])
    total = 0.0
    for u in range(N):
        if ends[u] > -np.inf:
            total += np.exp(ends[u] - top)
    return top + np.log(total)


@kernel(number(matrix, matrix, vector, number))
def lowest_power_sum(log_first, log_stay, log_reveal, log_kappa):
    """`min_β (1-β) log κ + log Σ_y Pr[y]^β` over [0, 1]: convex in β, by golden section. Any β gives a valid bound."""
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    low, high = 0.0, 1.0
    left, right = 1.0 - ratio, ratio
    at_left = (1.0 - left) * log_kappa + log_power_sum(log_first, log_stay, log_reveal, left)
    at_right = (1.0 - right) * log_kappa + log_power_sum(log_first, log_stay, log_reveal, right)
    best = min(0.0, min(at_left, at_right))
    for _ in range(36):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = (1.0 - left) * log_kappa + log_power_sum(log_first, log_stay, log_reveal, left)
            best = min(best, at_left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = (1.0 - right) * log_kappa + log_power_sum(log_first, log_stay, log_reveal, right)
            best = min(best, at_right)
    return best


@kernel(number(vector, cube, whole_matrix))
def log_all_right(log_initial, log_matrices, places):
    """`log Σ_y max_x Pr[X = x, Y = y]` for raw counts: how often the likeliest trace is the true one.

    From each restart point, last first: the best way to each next sighting times the value there, plus the best way to
    the end without a sighting. Places that are never guessed have minus infinity in the start and in their columns.
    """
    T, S = places.shape
    M = log_initial.shape[0]
    N = 1 + T * S
    value = np.full(N, -np.inf)
    terms = np.empty(T * S + 1)
    row, new = np.empty(M), np.empty(M)
    for u in range(N - 1, -1, -1):
        if u > 0 and places[(u - 1) // S, (u - 1) % S] < 0:
            continue
        terms[:] = -np.inf
        t0 = begin(log_initial, log_matrices, places, u, row)
        for t in range(t0, T):
            if t > t0:
                new[:] = -np.inf
                for x in range(M):
                    if row[x] > -np.inf:
                        raise_to(new, row[x], at(log_matrices, t - 1)[x])
                row, new = new, row
            for j in range(S):
                c = places[t, j]
                if c >= 0 and row[c] > -np.inf:
                    terms[t * S + j] = row[c] + value[1 + t * S + j]
                    row[c] = -np.inf
        terms[T * S] = row.max() if t0 < T else 0.0
        top = terms.max()
        if top > -np.inf:
            value[u] = top + np.log(np.exp(terms - top).sum())
    return value[0]
