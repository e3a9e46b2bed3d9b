"""The law of the chance that the likeliest trace is the true one, over all series of raw counts.

Given a series, that chance is a product over the stretches between sightings (see `renewal`) of the likeliest way
through the stretch and the probability of the stretch. The law of its logarithm is followed from sighting to sighting
by cells, each with its probability and the least and largest logarithm that went into it.
"""

import numpy as np

from .chain import at, copy, push, raise_to
from .jit import cube, inlined, kernel, number, out_matrix, vector, whole, whole_matrix
from .renewal import begin


@inlined
def put(table, farthest, mass, low, high):
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
def pass_all(source, target, farthest, mass, factor):
    """Add the cells of a table to another, after a stretch of this probability whose likeliest way has this share."""
    for k in range(source.shape[0]):
        if source[k, 0] > 0.0:
            put(target, farthest, source[k, 0] * mass, source[k, 1] + factor, source[k, 2] + factor)


@kernel(out_matrix(vector, cube, vector, cube, whole_matrix, whole, number))
def law(initial, matrices, log_initial, log_matrices, places, cells, farthest):
    """Cells (n, 3): probability, and the least and largest `log max_x Pr[X = x | y]` of the series in it.

    The logarithms have minus infinity for places that are never guessed. Results below `-farthest` share a cell.
    O((T S)² (M² / S + cells)).
    """
    T, S = places.shape
    M, N = initial.shape[0], 1 + T * S
    tables = np.zeros((N + 1, cells, 3))
    put(tables[0], farthest, 1.0, 0.0, 0.0)
    row, best, new = np.empty(M), np.empty(M), np.empty(M)
    for u in range(N):
        if tables[u, :, 0].sum() == 0.0:
            continue
        scale = 0.0
        first = begin(initial, matrices, places, u, row)
        begin(log_initial, log_matrices, places, u, best)
        if first == T:
            pass_all(tables[u], tables[N], farthest, 1.0, 0.0)
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
                        pass_all(tables[u], tables[1 + t * S + j], farthest, mass, best[c] - np.log(row[c]) - scale)
                    row[c] = 0.0
                    best[c] = -np.inf
            total = row.sum()
            if total == 0.0:
                break
            for x in range(M):
                row[x] /= total
            scale += np.log(total)
            if t == T - 1:
                pass_all(tables[u], tables[N], farthest, np.exp(scale), best.max() - scale)
    found = tables[N]
    out = np.zeros((cells, 3))
    n = 0
    for k in range(cells):
        if found[k, 0] > 0.0:
            out[n] = found[k]
            n += 1
    return out[:n].copy()
