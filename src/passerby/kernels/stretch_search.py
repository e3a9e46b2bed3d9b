"""Best-first search for a guess in a stretch between sightings, with ceilings for what follows its beginning."""

from typing import NamedTuple

import numpy as np

from .chain import at, copy, dot, push
from .heap import NODE, put, take
from .jit import inlined, once
from .stretch_union import untold

#: In a search, people who are worth less than this share of the whole are told where they are.
TOLD = 1e-3


class Watch(NamedTuple):
    """A chain and its watched places (T, S), those that are not (T, M; 1 or 0), and those that may be named (M,)."""

    initial: np.ndarray
    matrices: np.ndarray
    watched: np.ndarray
    hidden: np.ndarray
    named: np.ndarray


class Room(NamedTuple):
    """Scratch for a search: a table (K, M) and what was told for each node; bound, step, node and place of entries.

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
    """Value of naming nobody's place at a step, and in `gain` (M,) what naming each place adds; all are told then."""
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
    """Put in `row` the table after naming g; who is worth less than `least` is told, left out, and returned in sum."""
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
    """Bound on the best guess for steps t.. until v from a belief at t, r of which may be wrong: (bound, nodes, work).

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
            unsaid, more = untold(watch, U, d, last, v, r, table, rows, spread, scratch)
            unsaid += told
            work += more
        nobody = False
        for g in range(M):
            # One place where nobody is stands for all of them. Where somebody is, hope may see no gain and be wrong.
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
