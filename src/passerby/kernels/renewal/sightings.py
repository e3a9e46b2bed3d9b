"""The law of the stretches between sightings.

A sighting reveals the place, so the chain starts afresh there. A *restart point* is the start (number 0) or a sighting
at sensor j of step t (number 1 + t S + j). `places` (T, S) holds the sensors, -1 for none. Everything is kept as
logarithms, so long chains do not underflow.

All series of raw counts: how much they tell about a trace, in nats, and the law of the likeliest trace's chance.

Given a series, this chance is a product over the stretches between sightings (see `renewal`). A factor is the likeliest
way through the stretch, over the probability of the stretch. The law of its logarithm is followed from sighting to
sighting by cells, each with its probability and its least and largest logarithm.
"""

import numpy as np
from numba import types

from passerby.kernels.chain.recursions import at, copy, push, raise_to
from passerby.kernels.jit import cube, inlined, kernel, making, matrix, number, out_matrix, vector, whole, whole_matrix


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


@inlined
def surprise(p):
    """`-p log p`, 0 at 0."""
    return -p * np.log(p) if p > 0.0 else 0.0


@inlined
def revealed(row, hidden, places):
    """The information of a step's sensors about a belief `row` (M,) of any mass: mass times entropy.

    `Σ_j p_j log(mass / p_j) + p_0 log(1 + Σ_j p_j / p_0)`: nothing is subtracted, so little information is exact too.
    """
    unseen_mass, seen = 0.0, 0.0
    for x in range(row.shape[0]):
        unseen_mass += row[x] * hidden[x]
    for j in range(places.shape[0]):
        if places[j] >= 0:
            seen += row[places[j]]
    mass = unseen_mass + seen
    total = 0.0
    if unseen_mass > seen:
        total = unseen_mass * np.log1p(seen / unseen_mass)
    elif unseen_mass > 0.0:
        total = unseen_mass * (np.log(mass) - np.log(unseen_mass))
    for j in range(places.shape[0]):
        if places[j] >= 0 and row[places[j]] > 0.0:
            p = row[places[j]]
            total += p * (np.log(mass) - np.log(p) if mass > 2.0 * p else np.log1p((mass - p) / p))
    return total


@kernel(number(vector, cube, vector, whole))
def of_trace(initial, matrices, inside, steps):
    """`H(π) + Σ_t Σ_x Pr[X_{t-1} = x] H(P(x, ·))`, and at each step the entropy `inside` (M,) of a merged place.

    Koga et al. (2024), section 3.3.1.
    """
    M = initial.shape[0]
    law, new, rows = initial.copy(), np.empty(M), np.empty(M)
    total = 0.0
    for x in range(M):
        total += surprise(initial[x])
    for t in range(steps):
        if t > 0:
            P = at(matrices, t - 1)
            if t == 1 or matrices.shape[0] > 1:
                rows[:] = 0.0
                for x in range(M):
                    for y in range(M):
                        rows[x] += surprise(P[x, y])
            for x in range(M):
                total += law[x] * rows[x]
            push(law, P, new)
            law, new = new, law
        for x in range(M):
            total += law[x] * inside[x]
    return total


@kernel(number(vector, cube, whole_matrix))
def of_neighbours(initial, matrices, places):
    """`H(Y_1) + Σ_t H(Y_t | Y_{t-1})` for raw counts (Koga et al. 2024, section 3.3.1)."""
    T, S = places.shape
    M = initial.shape[0]
    hidden = unseen(places, M)
    law, new = initial.copy(), np.empty(M)
    total = revealed(law, hidden[0], places[0])
    for t in range(1, T):
        P = at(matrices, t - 1)
        for j in range(S):
            c = places[t - 1, j]
            if c >= 0:
                total += law[c] * revealed(P[c], hidden[t], places[t])
        push(law * hidden[t - 1], P, new)
        total += revealed(new, hidden[t], places[t])
        push(law, P, new)
        law, new = new, law
    return total


@kernel(number(vector, cube, whole_matrix))
def of_series(initial, matrices, places):
    """`H(Y)` for raw counts, a sum over stretches: each step's information given the last sighting at u."""
    T, S = places.shape
    M = initial.shape[0]
    hidden = unseen(places, M)
    reached = np.zeros(1 + T * S)
    reached[0] = 1.0
    row, new = np.empty(M), np.empty(M)
    total = 0.0
    for u in range(1 + T * S):
        if reached[u] == 0.0:
            continue
        t0 = begin(initial, matrices, places, u, row)
        row *= reached[u]
        for t in range(t0, T):
            if t > t0:
                push(row, at(matrices, t - 1), new)
                row, new = new, row
            total += revealed(row, hidden[t], places[t])
            for j in range(S):
                if places[t, j] >= 0:
                    reached[1 + t * S + j] += row[places[t, j]]
            row *= hidden[t]
    return total


@inlined
def put_in_law(table, farthest, mass, low, high):
    """Add a probability at logarithms from `low` to `high` to a table of cells (cells, 3); the last one is open."""
    if mass <= 0.0:
        return
    cells = table.shape[0]
    place = int(min(-0.5 * (low + high) / farthest, 1.0) * (cells - 1)) if low > -np.inf else cells - 1
    if table[place, 0] == 0.0:
        table[place, 1] = low
        table[place, 2] = high
    table[place, 0] += mass
    table[place, 1] = min(table[place, 1], low)
    table[place, 2] = max(table[place, 2], high)


@inlined
def pass_law(source, target, farthest, mass, factor):
    """Add the cells of a table to another, after a stretch of this probability whose likeliest way has this share."""
    for k in range(source.shape[0]):
        if source[k, 0] > 0.0:
            put_in_law(target, farthest, source[k, 0] * mass, source[k, 1] + factor, source[k, 2] + factor)


@kernel(out_matrix(vector, cube, vector, cube, whole_matrix, whole, number))
def likeliest_law(initial, matrices, log_initial, log_matrices, places, cells, farthest):
    """Cells (n, 3): probability, and the least and largest `log max_x Pr[X = x | y]` of the series in it.

    The logarithms have minus infinity for places never guessed. Results below `-farthest` share a cell. O((T S)² (M² /
    S + cells)).
    """
    T, S = places.shape
    M, N = initial.shape[0], 1 + T * S
    tables = np.zeros((N + 1, cells, 3))
    put_in_law(tables[0], farthest, 1.0, 0.0, 0.0)
    row, best, new = np.empty(M), np.empty(M), np.empty(M)
    for u in range(N):
        if tables[u, :, 0].sum() == 0.0:
            continue
        scale = 0.0
        first = begin(initial, matrices, places, u, row)
        begin(log_initial, log_matrices, places, u, best)
        if first == T:
            pass_law(tables[u], tables[N], farthest, 1.0, 0.0)
            continue
        for t in range(first, T):
            if t > first:
                push(row, at(matrices, t - 1), new)
                copy(new, row)
                new[:] = -np.inf
                for x in range(M):
                    if best[x] > -np.inf:
                        raise_to(new, best[x], at(log_matrices, t - 1)[x])
                copy(new, best)
            for j in range(S):
                c = places[t, j]
                if c >= 0:
                    if row[c] > 0.0:
                        mass = row[c] * np.exp(scale)
                        pass_law(tables[u], tables[1 + t * S + j], farthest, mass, best[c] - np.log(row[c]) - scale)
                    row[c] = 0.0
                    best[c] = -np.inf
            total = row.sum()
            if total == 0.0:
                break
            for x in range(M):
                row[x] /= total
            scale += np.log(total)
            if t == T - 1:
                pass_law(tables[u], tables[N], farthest, np.exp(scale), best.max() - scale)
    found = tables[N]
    out = np.zeros((cells, 3))
    n = 0
    for k in range(cells):
        if found[k, 0] > 0.0:
            out[n] = found[k]
            n += 1
    return out[:n].copy()
