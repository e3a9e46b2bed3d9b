"""The law of the stretches between sightings.

A sighting reveals the place, so the chain starts afresh there. A *restart point* is the start (number 0) or a sighting
at sensor j of step t (number 1 + t S + j). `places` (T, S) holds the sensors, -1 for none. Everything is kept as
logarithms, so long chains do not underflow.
"""

import numpy as np
from numba import types

from passerby.kernels.chain.recursions import at, copy, push, raise_to
from passerby.kernels.jit import cube, inlined, kernel, making, matrix, number, out_matrix, vector, whole_matrix


@inlined
def begin(initial, matrices, places, point, row):
    """Put in `row` the law of the place at the first step after a restart point; returns this step."""
    S = places.shape[1]
    if point == 0:
        copy(initial, row)
        return 0
    t, j = (point - 1) // S, (point - 1) % S
    if t + 1 < places.shape[0]:
        copy(at(matrices, t)[places[t, j]], row)
    return t + 1


@making
def unseen(places, M):
    """For each step (T, M), 1 for the places without a sensor."""
    T, S = places.shape
    out = np.ones((T, M))
    for t in range(T):
        for j in range(S):
            if places[t, j] >= 0:
                out[t, places[t, j]] = 0.0
    return out


@kernel(types.Tuple((out_matrix, out_matrix))(vector, cube, whole_matrix, matrix))
def stretches(initial, matrices, places, reveal):
    """(log_first (N, T S), log_stay (N, T)) from each restart point u; N = 1 + T S.

    `first[u, t S + j]` is the probability of being at sensor j at step t with no sighting since u. `stay[u, t]` is the
    probability of no sighting up to and including t. Being at sensor j of step t is a sighting with probability
    `reveal[t, j]`.
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


@kernel(number(vector, cube, whole_matrix))
def sighted(initial, matrices, there):
    """The probability of being counted at least once, if people in x at step t are counted for `there` (T, M) above 0.

    Added up and not subtracted, so a little is not lost.
    """
    row, new = initial.copy(), np.empty(initial.shape[0])
    seen = 0.0
    for t in range(there.shape[0]):
        if t > 0:
            push(row, at(matrices, t - 1), new)
            row, new = new, row
        for x in range(row.shape[0]):
            if there[t, x] > 0:
                seen += row[x]
                row[x] = 0.0
    return min(1.0, seen)


@kernel(types.UniTuple(number, 2)(matrix, matrix, vector, number))
def log_power_sum(log_first, log_stay, log_reveal, power):
    """`log Σ_y Pr[y]^β`, and its derivative by β.

    `A(0) = 1`, `A(v) = ρ_v Σ_u A(u) first(u,v)^β`, and the sum is `Σ_u A(u) stay(u, T)^β`. `log_reveal` (T S,) holds
    `log ρ`. With `ρ < 1` this is an upper bound: the sum over the revealed unsighted steps is pulled inside the concave
    power.
    """
    N, TS = log_first.shape
    T = log_stay.shape[1]
    S = TS // T if T > 0 else 1
    weight, slope = np.full(N, -np.inf), np.zeros(N)
    weight[0] = 0.0
    terms, ways = np.empty(N), np.empty(N)
    for v in range(TS + 1):
        if v < TS and log_reveal[v] == -np.inf:
            continue
        # Restart points before the step of v; at last, the ways to the end.
        ahead = 1 + (v // S) * S if v < TS else N
        top = -np.inf
        for u in range(ahead):
            if v < TS:
                ways[u] = log_first[u, v]
            else:
                ways[u] = log_stay[u, T - 1] if u < 1 + (T - 1) * S else 0.0
            terms[u] = weight[u] + power * ways[u] if ways[u] > -np.inf else -np.inf
            top = max(top, terms[u])
        if top == -np.inf:
            continue
        total, tilt = 0.0, 0.0
        for u in range(ahead):
            if terms[u] > -np.inf:
                part = np.exp(terms[u] - top)
                total += part
                tilt += part * (slope[u] + ways[u])
        if v == TS:
            return top + np.log(total), tilt / total
        weight[1 + v] = top + np.log(total) + log_reveal[v]
        slope[1 + v] = tilt / total
    return -np.inf, 0.0


@kernel(number(matrix, matrix, vector, number))
def lowest_power_sum(log_first, log_stay, log_reveal, log_kappa):
    """`min_β (1-β) log κ + log Σ_y Pr[y]^β` over [0, 1].

    Convex in β: the root of the slope by false position (the Illinois rule of Dowell and Jarratt 1971). Any β gives a
    valid bound, so nothing hangs on how close to the root this stops.
    """
    low, high = 0.0, 1.0
    best, at_low = log_power_sum(log_first, log_stay, log_reveal, low)
    best, at_low = best + log_kappa, at_low - log_kappa
    value, at_high = log_power_sum(log_first, log_stay, log_reveal, high)
    best, at_high = min(0.0, min(best, value)), at_high - log_kappa
    if not (at_low < 0.0 < at_high):
        return best
    side = 0
    for _ in range(30):
        power = (low * at_high - high * at_low) / (at_high - at_low)
        value, slope = log_power_sum(log_first, log_stay, log_reveal, power)
        slope -= log_kappa
        best = min(best, (1.0 - power) * log_kappa + value)
        if abs(slope) * (high - low) < 1e-10:
            break
        if slope < 0.0:
            low, at_low = power, slope
            at_high *= 0.5 if side == -1 else 1.0
            side = -1
        else:
            high, at_high = power, slope
            at_low *= 0.5 if side == 1 else 1.0
            side = 1
    return best


@kernel(number(vector, cube, whole_matrix))
def log_all_right(log_initial, log_matrices, places):
    """`log Σ_y max_x Pr[X = x, Y = y]` for raw counts: the chance of the likeliest trace being the true one.

    From each restart point, last first: the best way to each next sighting times the value there, plus the best way to
    the end without a sighting. Places never guessed have minus infinity in the start and in their columns.
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
