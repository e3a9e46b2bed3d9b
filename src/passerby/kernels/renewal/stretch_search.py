"""Ceilings on any guess in a stretch, by its first right step.

If right steps are rare, telling the place of each step tells too much (`stretch_ceiling`). But with at most k wrong of
L > k steps one is right. The first right step is no later than the step after k wrong ones. There the place is the
guess, and later steps do not depend on earlier ones. With `b_i(g)` the chance of g at step t + i, unseen since t,

    U(t, v, k, x) <= Σ_i max_g b_i(g) U(t+i+1, v, k-i, g).

If it is told at some step that none was right so far, and the place there, the sum ends with `Σ_y b_i(y) U(t+i+1, v,
k-i-1, y)`. A first right step comes after a wrong one, so `b_i(g) P(g, h)` may be taken from `b_{i+1}(h)` after naming
g. The best guess for this sum is found backwards over the guess itself.
"""

from typing import NamedTuple

import numpy as np

from passerby.kernels.chain.recursions import at, copy, dot, push
from passerby.kernels.jit import inlined, once
from passerby.kernels.search.heap import NODE, put, take

#: Up to so many times the known bound, a sum may still come below it once pairs of right steps are taken out.
NEAR = 2.0


@inlined
def first_right(watch, U, t, end, v, r, known, avoid, ready, spread, scratch):
    """(bound, `ready`, work) for steps t.. until v, with r of them possibly wrong; no more than `known`.

    Tables are there up to step end + 1. `spread` (K, M) holds `b`, with `ready` rows filled in; others are filled if
    needed. With `avoid`, pairs of right steps are taken out. `scratch` is (2, M).
    """
    M, depth = spread.shape[1], U.shape[0]
    last, work = min(r, end - t), 0.0
    total, best, rest = 0.0, known, 0.0
    for i in range(last + 1):
        if i == ready:
            push(spread[i - 1], at(watch.matrices, t + i - 1), spread[i])
            for x in range(M):
                spread[i, x] *= watch.hidden[t + i, x]
            ready += 1
            work += M * M
        row, later = spread[i], U[(t + i + 1) % depth, v]
        now, top = later[r - i], 0.0
        for g in range(M):
            top = max(top, row[g] * watch.named[g] * now[g])
        total += top
        work += 4.0 * M
        if total >= (NEAR if avoid else 1.0) * best:
            return best, ready, work
        rest = dot(row, later[r - i - 1]) if i < r else 0.0
        best = min(best, total + rest)
    if avoid:
        best = min(best, rest + apart(watch, U, t, v, r, last, spread, scratch[0], scratch[1]))
        work += 1.0 * last * M * M
    return best, ready, work


@inlined
def apart(watch, U, t, v, r, last, spread, value, after):
    """`max_g Σ_i (b_i(g_i) - b_{i-1}(g_{i-1}) P(g_{i-1}, g_i)) U(t+i+1, v, r-i, g_i)`, i up to `last`."""
    M, depth = spread.shape[1], U.shape[0]
    for i in range(last, -1, -1):
        row, now = spread[i], U[(t + i + 1) % depth, v, r - i]
        for g in range(M):
            most = 0.0
            if i < last:
                b, line, next_one = row[g], at(watch.matrices, t + i)[g], U[(t + i + 2) % depth, v, r - i - 1]
                hidden = watch.hidden[t + i + 1]
                for h in range(M):
                    most = max(most, after[h] - b * line[h] * hidden[h] * next_one[h])
            value[g] = (row[g] * now[g] if watch.named[g] > 0.0 else 0.0) + most
        for g in range(M):
            after[g] = value[g]
    best = 0.0
    for g in range(M):
        best = max(best, value[g])
    return best


@inlined
def unknown_start(watch, U, d, end, v, r, table, rows, spread, scratch):
    """(bound, work) for a table (number wrong, place) before step d if all are wrong there, without telling the place.

    Each number of wrong steps is bounded by itself, as if it had a guess of its own. People right at d after all add no
    more than their worth when told.
    """
    M = table.shape[1]
    total, work = 0.0, 0.0
    avoid, ready = np.bool_(True), np.int64(1)
    for j in range(min(rows, r)):
        push(table[j], at(watch.matrices, d), spread[0])
        for x in range(M):
            spread[0, x] *= watch.hidden[d + 1, x]
        told = dot(table[j], U[(d + 1) % U.shape[0], v, r - j - 1])
        part, _, more = first_right(watch, U, d + 1, end, v, r - j - 1, told, avoid, ready, spread, scratch)
        total += part
        work += M * M + more
    return total, work


#: In a search, people worth less than this share of the whole are told their places.
TOLD = 1e-3


class Watch(NamedTuple):
    """A chain and its watched places (T, S), the unwatched ones (T, M; 1 or 0), and the nameable ones (M,)."""

    initial: np.ndarray
    matrices: np.ndarray
    watched: np.ndarray
    hidden: np.ndarray
    named: np.ndarray


class Room(NamedTuple):
    """Scratch for a search: a table (K, M) and the told part for each node; bound, step, node and place of entries.

    For `stretch_union`, `here` and `spread` (K, M) from the state and from a node, and `scratch` (2, M).
    """

    tables: np.ndarray
    scratch: np.ndarray
    here: np.ndarray
    spread: np.ndarray
    row: np.ndarray
    gain: np.ndarray
    sure: np.ndarray
    bound: np.ndarray
    step: np.ndarray
    origin: np.ndarray
    place: np.ndarray
    heap: np.ndarray


@once
def room_for(nodes, K, M):
    """Scratch for a search of so many nodes."""
    n = nodes * M
    return Room(
        np.empty((nodes, K, M)),
        np.empty((2, M)),
        np.empty((K, M)),
        np.empty((K, M)),
        np.empty((K, M)),
        np.empty(M),
        np.empty(nodes),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )


@inlined
def hope(table, rows, later, r, gain):
    """Value of naming nobody's place at a step, and in `gain` (M,) each place's gain by naming; all are told then."""
    total = 0.0
    gain[:] = 0.0
    for j in range(rows):
        row, now = table[j], later[r - j]
        if j < r:
            less = later[r - j - 1]
            total += dot(row, less)
            for x in range(row.shape[0]):
                gain[x] += row[x] * (now[x] - less[x])
        else:
            for x in range(row.shape[0]):
                gain[x] += row[x] * now[x]
    return total


@inlined
def name(table, rows, g, later, r, least, row):
    """Put in `row` the table after naming g; people worth less than `least` are told, left out, and returned in sum."""
    M = table.shape[1]
    told = 0.0
    for j in range(min(rows, r) + 1):
        line, now = row[j], later[r - j]
        if j > 0:
            copy(table[j - 1], line)
        else:
            line[:] = 0.0
        line[g] = table[j, g] if j < rows else 0.0
        for x in range(M):
            worth = line[x] * now[x]
            if worth < least:
                told += worth
                line[x] = 0.0
    return told


@inlined
def look_ahead(watch, U, belief, t, v, r, nodes, blind, room):
    """Bound on the best guess for steps t.. until v from a belief at t, with r possibly wrong: (bound, nodes, work).

    Best first: a node is a beginning of the guess with its exact table (number wrong, place). Stops when the best node
    left is a whole guess or as long as there are tables for, or after so many nodes. A `blind` search also bounds nodes
    without telling the place.
    """
    M, depth = belief.shape[0], U.shape[0]
    last = min(v // watch.watched.shape[1] - 1, t + depth - 2)
    tables, scratch, _, spread, row, gain, sure, bound, step, origin, place, heap = room
    d, limit, told, work = t, np.inf, 0.0, 0.0
    size, entries, used = np.int64(0), np.int64(0), 0
    while True:
        table, rows, hidden = tables[used], min(r, d - t) + 1, watch.hidden[d]
        for j in range(rows):
            if d == t:
                copy(belief, table[0])
            else:
                push(row[j], at(watch.matrices, d - 1), table[j])
                for x in range(M):
                    table[j, x] *= hidden[x]
                    work += M if row[j, x] > 0.0 else 0
        base = told + hope(table, rows, U[(d + 1) % depth, v], r, gain)
        sure[used] = told
        work += NODE + 8.0 * rows * M
        unsaid = base
        if blind and d < last:
            unsaid, more = unknown_start(watch, U, d, last, v, r, table, rows, spread, scratch)
            unsaid += told
            work += more
        nobody = False
        for g in range(M):
            # One place without anybody stands for all of them. At a place with somebody, hope may see no gain and be
            # wrong.
            there = False
            for j in range(rows):
                there = there or table[j, g] > 0.0
            if watch.named[g] > 0.0 and (there or not nobody):
                nobody = nobody or not there
                bound[entries] = min(base + gain[g], limit)
                if unsaid < base:
                    right = 0.0
                    for j in range(rows):
                        right += table[j, g] * U[(d + 1) % depth, v, r - j, g]
                    bound[entries] = min(bound[entries], unsaid + right)
                step[entries], origin[entries], place[entries] = d, used, g
                size = put(heap, size, bound, entries)
                entries += 1
        used += 1
        top, size = take(heap, size, bound)
        d, limit = step[top], bound[top]
        if used >= nodes or d == last or limit == 0.0:
            return limit, used, work
        node = origin[top]
        rows = min(r, d - t) + 1
        told = sure[node] + name(tables[node], rows, place[top], U[(d + 1) % depth, v], r, TOLD * limit / M, row)
        d += 1
