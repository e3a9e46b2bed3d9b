"""The evidence of raw series for an event avoided by a trace step by step: "never at these places then".

A sighting reveals the place, so the odds of the event given a series follow from the stretches between sightings (see
`renewal`), one after another. A stretch adds the same to `log(1 + odds)`, the *height*, whatever came before. The law
of heights is followed from sighting to sighting by *atoms*: heights, each with the probability of its series with the
event and without. If there would be too many, neighbouring atoms are merged. One atom with the sums of both tells less.
Two atoms at their outermost heights, keeping both sums, tell more (the later steps are independent of it; Jensen). Both
are second order in the width of a cell. Each atom of the less telling law also knows its outermost original heights.
"""

import numpy as np
from numba import types

from passerby.kernels.chain.recursions import at, push
from passerby.kernels.jit import cube, inlined, kernel, making, matrix, number, out_matrix, vector, whole_matrix

from .sightings import begin

#: Entries of an atom: probability without the event, with it, least and largest height, and its own.
ENTRIES = 5


@making
def no_atoms(tables, cells):
    """So many tables of empty cells."""
    out = np.zeros((tables, cells, ENTRIES))
    for table in range(tables):
        for k in range(cells):
            out[table, k, 2], out[table, k, 3] = np.inf, -np.inf
    return out


@inlined
def write(atom, no, yes, low, high, height):
    """Fill an atom."""
    atom[0], atom[1], atom[2], atom[3], atom[4] = no, yes, low, high, height


@inlined
def atoms(table, out):
    """Put the cells of a less telling table in `out`, each at the mean of its odds; returns their number."""
    n = 0
    for k in range(table.shape[0]):
        no, yes, low, high = table[k, 0], table[k, 1], table[k, 2], table[k, 3]
        if no > 0.0 or yes > 0.0:
            height = low
            if low != high:
                height = np.log1p(yes / no) if no > 0.0 else np.inf
            write(out[n], no, yes, low, high, height)
            n += 1
    return n


@inlined
def split_atoms(table, out):
    """Put the cells of a more telling table in `out`, cells of several heights as two; returns their number."""
    n = 0
    for k in range(table.shape[0]):
        no, yes, low, high = table[k, 0], table[k, 1], table[k, 2], table[k, 3]
        if no == 0.0 and yes == 0.0:
            continue
        if high - low <= 1e-13 * (1.0 + low) or low == high:
            write(out[n], no, yes, low, low, low)
            n += 1
            continue
        # The chance of the event is `1 - exp(-height)`: both parts keep its mean, and so both sums.
        least, most = -np.expm1(-low), -np.expm1(-high)
        up = min(max((yes - (no + yes) * least) / (most - least), 0.0), no + yes)
        above, below = min(yes, up * most), min(no, up * np.exp(-high))
        write(out[n], no - below, yes - above, low, low, low)
        write(out[n + 1], below, above, high, high, high)
        n += 2
    return n


@inlined
def pass_all(source, n, clear, hit, edges, target):
    """Add atoms to a table, after a stretch with the event true with probability `hit`, else `clear`.

    Heights of atoms never fall, so each cell is found from the one before; any cell would do.
    """
    climb = np.log1p(hit / clear) if clear > 0.0 else np.inf
    both = clear + hit
    k = 0
    for i in range(n):
        height = source[i, 4] + climb
        while k < edges.shape[0] and height >= edges[k]:
            k += 1
        target[k, 0] += source[i, 0] * clear
        target[k, 1] += source[i, 1] * both + source[i, 0] * hit
        target[k, 2] = min(target[k, 2], source[i, 2] + climb)
        target[k, 3] = max(target[k, 3], source[i, 3] + climb)


@inlined
def last_step(avoided):
    """The last step at which the event may come true; 0 if there is none."""
    last = 0
    for t in range(avoided.shape[0]):
        for x in range(avoided.shape[1]):
            if avoided[t, x] == 0.0:
                last = t
    return last


@inlined
def move(clear, hit, row, matrices, avoided, first, t):
    """Bring both rows to step t of a stretch beginning at `first`: people coming to the event's places change over."""
    if t > first:
        for side in (clear, hit):
            push(side, at(matrices, t - 1), row)
            for x in range(row.shape[0]):
                side[x] = row[x]
    for x in range(clear.shape[0]):
        if avoided[t, x] == 0.0:
            hit[x] += clear[x]
            clear[x] = 0.0


@kernel(types.Tuple((out_matrix, out_matrix))(vector, cube, whole_matrix, matrix, vector, number))
def laws(initial, matrices, places, avoided, edges, faint):
    """Atoms (n, 5) of the height of an event, of a less telling law and of a more telling one.

    `places` (T, S) are the sensors of each step, -1 for none. `avoided` (T, M) is 0 for the event's places and 1 for
    others. `edges` are heights between cells, in order. Sightings less likely than `faint` on their way from another
    are left out. O((T S)² (M² / S + cells)).
    """
    T, S = places.shape
    M, N, cells = initial.shape[0], 1 + T * S, edges.shape[0] + 1
    less, more, reached = no_atoms(N + 1, cells), no_atoms(N + 1, cells), np.zeros(N)
    write(less[0, 0], 1.0, 0.0, 0.0, 0.0, 0.0)
    write(more[0, 0], 1.0, 0.0, 0.0, 0.0, 0.0)
    reached[0] = 1.0
    some, parts = np.empty((cells, ENTRIES)), np.empty((2 * cells, ENTRIES))
    hit, clear, row = np.empty(M), np.empty(M), np.empty(M)
    last = last_step(avoided)
    for u in range(N):
        if reached[u] == 0.0:
            continue
        n, m = atoms(less[u], some), split_atoms(more[u], parts)
        first = begin(initial, matrices, places, u, clear)
        if first > last:
            # No later step bears on the event.
            pass_all(some, n, 1.0, 0.0, edges, less[N])
            pass_all(parts, m, 1.0, 0.0, edges, more[N])
            continue
        hit[:] = 0.0
        for t in range(first, T):
            move(clear, hit, row, matrices, avoided, first, t)
            for j in range(S):
                c = places[t, j]
                if c >= 0:
                    seen = clear[c] + hit[c]
                    if seen * reached[u] > faint:
                        target = 1 + t * S + j if t < last else N
                        pass_all(some, n, clear[c], hit[c], edges, less[target])
                        pass_all(parts, m, clear[c], hit[c], edges, more[target])
                        if target < N:
                            reached[target] += reached[u] * seen
                    clear[c] = 0.0
                    hit[c] = 0.0
            left = clear.sum() + hit.sum()
            if left * reached[u] <= faint:
                break
            if t == T - 1:
                pass_all(some, n, clear.sum(), hit.sum(), edges, less[N])
                pass_all(parts, m, clear.sum(), hit.sum(), edges, more[N])
    n, m = atoms(less[N], some), split_atoms(more[N], parts)
    return some[:n].copy(), parts[:m].copy()
