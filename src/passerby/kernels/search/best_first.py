"""The best guess for one chain, bracketed: best-first search over beginnings of the guess.

A node is a beginning of the guess, with its exact table `F(r, x)` of (number right so far, state now). Its optimistic
value lets the adversary learn the present state and number right once, and guess on from there: `Σ F(r,x) V(k-r, x)`.
The entries of `V` are found by the same search from each known state, last step first (a Russian doll search:
Verfaillie, Lemaître and Schiex 1996). So they are themselves close to the best guess, and not merely told the past.

If right steps are rare, the present state tells too much. There, a `careful` search also bounds nodes without telling
it (`first_right`).
"""

from typing import NamedTuple

import numpy as np

from passerby.kernels.chain.posterior import move
from passerby.kernels.chain.recursions import copy, dot
from passerby.kernels.jit import inlined, making, once

from .ascent import rows_alive
from .ceiling import first_right
from .heap import NODE, put, take


class Room(NamedTuple):
    """Scratch for a search, and paper for penalties (see `penalty_names`).

    By node, its table (k, M), its entry and its certain success. By entry, its bound, step, node and place; the heap of
    entries. For `first_right`, `spread` (T, M) and `by_place` (4, P).
    """

    tables: np.ndarray
    source: np.ndarray
    won: np.ndarray
    bound: np.ndarray
    step: np.ndarray
    origin: np.ndarray
    place: np.ndarray
    heap: np.ndarray
    spread: np.ndarray
    by_place: np.ndarray
    paper: np.ndarray


@making
def room_for(T, M, P, needed, nodes, paper):
    """Scratch for a search of so many nodes, with paper."""
    entries = (nodes + 1) * P
    return Room(
        np.empty((nodes + 1, needed, M)),
        np.empty(nodes + 1, np.int64),
        np.empty(nodes + 1),
        np.empty(entries),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty((T, M)),
        np.empty((4, P)),
        paper,
    )


@inlined
def name_place(chain, table, row, first, last, g):
    """Copy the rows of `table` and count one more right step for people at g; returns the mass now with enough."""
    for r in range(first, last):
        copy(table[r], row[r])
    if last < row.shape[0]:
        row[last] = 0.0
    won = 0.0
    for x in range(row.shape[1]):
        if chain.place_of[x] == g:
            for r in range(last - 1, first - 1, -1):
                moved = row[r, x]
                row[r, x] = 0.0
                if r + 1 < row.shape[0]:
                    row[r + 1, x] = moved
                else:
                    won += moved
    return won


@once
def hope(V, chain, k, table, first, last, d, won, gain):
    """Optimistic value of naming no place at step d, and in `gain` (P,) the gain of naming each place."""
    M = table.shape[1]
    total = won
    gain[:] = 0.0
    for r in range(first, last):
        row, now, less = table[r], V[d, k - r], V[d, k - r - 1]
        total += dot(row, now)
        for x in range(M):
            gain[chain.place_of[x]] += row[x] * (less[x] - now[x])
    return total


@once
def blind_hope(V, chain, k, table, first, last, d, won, gain, room):
    """The same without telling the state at step d: each number right is bounded by itself, by the better of two.

    It bounds beliefs, grows with the belief and adds up. So moving the mass at the named place to the next number adds
    at most the worth of this mass when told: `gain(g) = Σ_r Σ_{x at g} F(r,x) V(k-r-1, x)`.
    """
    M = table.shape[1]
    total = won
    later = np.empty(M)
    gain[:] = 0.0
    for r in range(first, last):
        row, now, less = table[r], V[d, k - r], V[d, k - r - 1]
        told = dot(row, now)
        for x in range(M):
            gain[chain.place_of[x]] += row[x] * less[x]
        if told > 0.0 and d + 1 < V.shape[0]:
            move(chain, d, row, later)
            told = min(told, first_right(V, chain, later, d + 1, k - r, room))
        total += told
    return total


@inlined
def trace_back(room, entry, begin, guess):
    """Put in `guess` the places named on the way to an entry of the last step."""
    for t in range(guess.shape[0] - 1, begin - 1, -1):
        guess[t] = room.place[entry]
        entry = room.source[room.origin[entry]]


@making
def search(V, chain, start, begin, k, nodes, cutoff, careful, guess, room):
    """Upper bound on the best guess for steps begin..T-1 from the belief `start`, with k right steps needed.

    Stops if the best node left is a whole guess: then the bound is its success, and `guess` holds it. Stops also if no
    node is above `cutoff`, or after `nodes` expansions. Returns (bound, nodes expanded, whether a whole guess was
    found, work).
    """
    tables, source, wons, bound, step, origin, place, heap = room[:8]
    T, M, P = V.shape[0], V.shape[2], chain.named.shape[0]
    gain, blind_gain = np.empty(P), np.empty(P)
    row = np.empty((k, M))
    work = 0.0
    size, entries, used = np.int64(0), np.int64(0), 0
    d, parent, won, limit, blind = begin - 1, -1, 0.0, 1.0, 0.0
    while True:
        # Expand: move the table one step on, and queue a child for each nameable place there.
        table = tables[used]
        d += 1
        first, last = rows_alive(k, d - begin, T - begin)
        for r in range(first, last):
            if d == begin:
                copy(start, table[r])
            else:
                move(chain, d - 1, row[r], table[r])
        source[used] = parent
        wons[used] = won
        base = hope(V, chain, k, table, first, last, d, won, gain)
        work += NODE + (last - first) * M * (M + 2)
        if careful:
            blind = blind_hope(V, chain, k, table, first, last, d, won, blind_gain, room)
            work += 2.0 * (last - first) * (T - d) * M * M
        for g in range(P):
            if chain.named[g] == 0.0 or (chain.pinned[d] >= 0 and chain.pinned[d] != g):
                continue
            b = min(base + gain[g], limit)
            if careful:
                b = min(b, blind + blind_gain[g])
            if b > cutoff:
                bound[entries], step[entries], origin[entries], place[entries] = b, d, used, g
                size = put(heap, size, bound, entries)
                entries += 1
        used += 1
        # Go on with the best child of all.
        if size == 0:
            return cutoff, used, False, work
        top, size = take(heap, size, bound)
        d = step[top]
        if d == T - 1:
            trace_back(room, top, begin, guess)
            return bound[top], used, True, work
        if used >= nodes:
            return bound[top], used, False, work
        f = origin[top]
        won = wons[f] + name_place(chain, tables[f], row, *rows_alive(k, d - begin, T - begin), place[top])
        limit = bound[top]
        parent = top
