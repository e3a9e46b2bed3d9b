"""All series of raw counts: how much they tell about a trace, in nats, and the law of the likeliest trace's chance.

Given a series, this chance is a product over the stretches between sightings (see `renewal`). A factor is the likeliest
way through the stretch, over the probability of the stretch. The law of its logarithm is followed from sighting to
sighting by cells, each with its probability and its least and largest logarithm.
"""

import numpy as np

from passerby.kernels.chain.recursions import at, copy, push, raise_to
from passerby.kernels.jit import cube, inlined, kernel, number, out_matrix, vector, whole, whole_matrix

from .sightings import begin, unseen


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
