"""What all series of raw counts tell of an event that a trace avoids step by step: "never at these places then".

A sighting reveals the place, so the odds of the event given a series follow from the stretches between sightings (see
`renewal`), one after another. Their law is followed from sighting to sighting by *atoms*: log odds, each with the
probability of those series with the event and without. Where there would be too many, neighbouring atoms become one
with the sums of both, which tells less, or two at the outermost odds of them that keep both sums, which tells more
(what follows is independent of it; Jensen). Both are second order in the width of a cell. Each atom of the law that
tells less also knows the outermost log odds that went into it.
"""

import numpy as np

from .chain import at, push
from .jit import cube, flag, inlined, kernel, making, matrix, number, out_matrix, vector, whole, whole_matrix
from .renewal import begin

#: Cells are narrowest around the log odds without any series: even in the inverse hyperbolic sine of the distance.
NARROW = 0.5
#: Log odds farther than this from there are in the outermost cells.
FARTHEST = 80.0
#: Entries of an atom: probability without the event, with it, least and largest log odds.
ENTRIES = 4


@inlined
def cell(odds, centre, cells):
    """The cell of log odds; those of certainty, on both sides, have cells of their own."""
    if odds == -np.inf:
        return 0
    if odds == np.inf:
        return cells - 1
    far = np.arcsinh(FARTHEST / NARROW)
    place = np.arcsinh(min(max(odds - centre, -FARTHEST), FARTHEST) / NARROW)
    return 1 + int((place + far) / (2.0 * far) * (cells - 3) + 0.5)


@inlined
def put(table, centre, no, yes, low, high):
    """Add an atom to a table of cells (cells, 4)."""
    if no == 0.0 and yes == 0.0:
        return
    odds = np.inf if no == 0.0 else (-np.inf if yes == 0.0 else np.log(yes) - np.log(no))
    k = cell(odds, centre, table.shape[0])
    if table[k, 0] == 0.0 and table[k, 1] == 0.0:
        table[k, 2] = low
        table[k, 3] = high
    table[k, 0] += no
    table[k, 1] += yes
    table[k, 2] = min(table[k, 2], low)
    table[k, 3] = max(table[k, 3], high)


@inlined
def lower_part(no, yes, low, high):
    """Of an atom that is split between two log odds, the probability without the event that goes to the lower."""
    if high == np.inf:
        return no
    # Relative to the higher odds, so that nothing overflows.
    step = np.exp(low - high)
    up = (yes * np.exp(-high) - no * step) / (1.0 - step)
    return no - min(max(up, 0.0), no)


@inlined
def later(odds, clear, hit):
    """Log odds after a stretch in which the event came true with probability `hit`, and with `clear` did not."""
    if odds == np.inf or clear == 0.0:
        return np.inf
    ratio = hit / clear
    before = np.exp(odds)
    if before == np.inf:
        return odds + np.log1p(ratio)
    after = before * (1.0 + ratio) + ratio
    return np.log(after) if after > 0.0 else -np.inf


@inlined
def pass_on(table, centre, no, yes, low, high, clear, hit):
    """Add an atom to a table, after a stretch."""
    after = yes * (clear + hit) + no * hit
    put(table, centre, no * clear, after, later(low, clear, hit), later(high, clear, hit))


@inlined
def pass_all(source, target, centre, clear, hit, more):
    """Add the atoms of a table to another, after a stretch; those of several odds as two, where it is to tell more."""
    for k in range(source.shape[0]):
        no, yes, low, high = source[k, 0], source[k, 1], source[k, 2], source[k, 3]
        if no == 0.0 and yes == 0.0:
            continue
        if not more or high - low <= 1e-13 * (1.0 + abs(low)) or low == high:
            pass_on(target, centre, no, yes, low, high, clear, hit)
            continue
        below = lower_part(no, yes, low, high)
        part = min(yes, below * np.exp(low)) if low > -np.inf else 0.0
        pass_on(target, centre, below, part, low, low, clear, hit)
        pass_on(target, centre, no - below, yes - part, high, high, clear, hit)


@making
def atoms(table, more):
    """The atoms (n, 4) of a table of cells, those of several odds as two, where they are to tell more."""
    cells = table.shape[0]
    out = np.zeros((2 * cells, ENTRIES))
    n = 0
    for k in range(cells):
        no, yes, low, high = table[k, 0], table[k, 1], table[k, 2], table[k, 3]
        if no == 0.0 and yes == 0.0:
            continue
        if not more or low == high:
            out[n, 0], out[n, 1], out[n, 2], out[n, 3] = no, yes, low, high
            n += 1
            continue
        below = lower_part(no, yes, low, high)
        part = min(yes, below * np.exp(low)) if low > -np.inf else 0.0
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = below, part, low, low
        out[n + 1, 0], out[n + 1, 1], out[n + 1, 2], out[n + 1, 3] = no - below, yes - part, high, high
        n += 2
    return out[:n].copy()


@inlined
def last_step(avoided):
    """The last step at which the event may come true; 0 if there is none."""
    last = 0
    for t in range(avoided.shape[0]):
        for x in range(avoided.shape[1]):
            if avoided[t, x] == 0.0:
                last = t
    return last


@kernel(out_matrix(vector, cube, whole_matrix, matrix, number, whole, flag, number))
def law(initial, matrices, places, avoided, centre, cells, more, faint):
    """Atoms (n, 4) of the log odds of an event: probability without it and with it, least and largest log odds.

    `places` (T, S) are the sensors of each step, -1 for none; `avoided` (T, M) is 0 for the places at which the event
    comes true and 1 for others; `centre` are the log odds without any series. Sightings that are less likely than
    `faint` on their way from another are left out of the law. O((T S)² (M² / S + cells)).
    """
    T, S = places.shape
    M, N = initial.shape[0], 1 + T * S
    tables = np.zeros((N + 1, cells, ENTRIES))
    reached = np.zeros(N)
    put(tables[0], centre, 1.0, 0.0, -np.inf, -np.inf)
    reached[0] = 1.0
    hit, clear, new = np.empty(M), np.empty(M), np.empty(M)
    last = last_step(avoided)
    for u in range(N):
        if reached[u] == 0.0:
            continue
        first = begin(initial, matrices, places, u, clear)
        if first > last:
            # Nothing that follows bears on the event.
            pass_all(tables[u], tables[N], centre, 1.0, 0.0, more)
            continue
        hit[:] = 0.0
        for t in range(first, T):
            if t > first:
                push(clear, at(matrices, t - 1), new)
                clear, new = new, clear
                push(hit, at(matrices, t - 1), new)
                hit, new = new, hit
            for x in range(M):
                if avoided[t, x] == 0.0:
                    hit[x] += clear[x]
                    clear[x] = 0.0
            left = 0.0
            for j in range(S):
                c = places[t, j]
                if c >= 0:
                    seen = clear[c] + hit[c]
                    if seen * reached[u] > faint:
                        target = 1 + t * S + j if t < last else N
                        pass_all(tables[u], tables[target], centre, clear[c], hit[c], more)
                        if target < N:
                            reached[target] += reached[u] * seen
                    clear[c] = 0.0
                    hit[c] = 0.0
            for x in range(M):
                left += clear[x] + hit[x]
            if left * reached[u] <= faint:
                break
            if t == T - 1:
                pass_all(tables[u], tables[N], centre, clear.sum(), hit.sum(), more)
    return atoms(tables[N], more)
