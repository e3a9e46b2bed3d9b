"""The best guess for one chain, bracketed: best-first search over beginnings of the guess.

A node is a beginning of the guess, with its exact table `F(r, x)` of (number right so far, state now). Its optimistic
value lets the adversary learn the present state and number right once, and guess on from there: `Σ F(r,x) V(k-r, x)`.
The entries of `V` are found by the same search from each known state, last step first (a Russian doll search:
Verfaillie, Lemaître and Schiex 1996). So they are themselves close to the best guess, and not merely told the past.

If right steps are rare, the present state tells too much. There, a `careful` search also bounds nodes without telling
it (`first_right`).

Ceilings for every possible state of a person at a step, from the last step to the first (see `ceiling`).

At the lowest level of effort, the past is told from each state on. If it is cheap to add up, some step is taken as the
first right one. At higher levels a few nodes are searched from every state. If right steps are rare, right steps next
to each other are taken out instead.
"""

from typing import NamedTuple

import numpy as np

from passerby.kernels.chain.posterior import move
from passerby.kernels.chain.recursions import copy, dot
from passerby.kernels.jit import inlined, making, once

from .ascent import rows_alive
from .ceiling import TOGETHER, first_right, four_known, known_step, right_adds, union_sums
from .heap import NODE, put, take
from .penalties import STATE_NODES, adds_up, pairs_of_steps


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


#: Largest number of operations spent on avoidance for every state.
AVOID_LIMIT = 3e8
#: Unions helping nobody are given up at the lowest level, after so many steps.
PATIENT = 6


@making
def rows_apart(chain):
    """Whether no row leads to two states of one place, as in a mixture of chains whose states are places."""
    return states_apart(chain, np.bool_(False))


@making
def ways_apart(chain):
    """The same of ways of any length: no state leads to two states of one place, however many steps later."""
    return states_apart(chain, np.bool_(True))


@making
def states_apart(chain, ever):
    """Whether no state leads to two states of one place in a step, or in however many if it is `ever`."""
    if chain.single:
        return True
    seen = np.full(chain.named.shape[0], -1)
    for x in range(chain.low.shape[0]):
        low, high, grown = chain.low[x], chain.high[x], ever
        while grown:
            grown = False
            for y in range(low, high):
                if chain.low[y] < chain.high[y] and (chain.low[y] < low or chain.high[y] > high):
                    low, high, grown = min(low, chain.low[y]), max(high, chain.high[y]), True
        for y in range(low, high):
            if seen[chain.place_of[y]] == x:
                return False
            seen[chain.place_of[y]] = x
    return True


@inlined
def told_together(V, chain, t, low, high, adds):
    """Fill a step of V by telling the past, for k = low..high, four of them at a time; returns the work done.

    Rows must be `rows_apart`, and there must be a fourth: high is at least 4. Entries filled in below low are never
    read.
    """
    M = V.shape[2]
    least = min(low, high + 1 - TOGETHER)
    for k in range(least, high + 1):
        right_adds(V, t + 1, k, adds[k])
        for x in range(M):
            adds[k, x] *= chain.named[chain.place_of[x]]
    for x in range(M):
        if chain.law[t, x] > 0.0:
            for k in range(least, high + 1, TOGETHER):
                first = min(k, high + 1 - TOGETHER)
                four_known(chain.moves[t, x], chain.low[x], chain.high[x], V[t + 1], adds, V[t], first, x)
            for k in range(low, high + 1):
                V[t, k, x] = min(V[t, k, x], 1.0)
    return (high - low + 1.0) * M * M


@inlined
def tell(V, chain, t, low, high, apart, gain, by_place):
    """Fill a step of V by telling the past, for k = low..high and possible states; returns the work done."""
    M, work = V.shape[2], 0.0
    for k in range(low, high + 1):
        right_adds(V, t + 1, k, gain)
        for x in range(M):
            gain[x] *= chain.named[chain.place_of[x]]
        for x in range(M):
            if chain.law[t, x] > 0.0:
                V[t, k, x] = known_step(V, chain, t, x, k, gain, apart, by_place)
                work += M
    return work


@once
def ceilings(V, chain, needed, level, room):
    """Fill V for every relevant state, last step first; returns the work done, in elementary operations.

    Whether right steps are rare (union below told-the-past) decides how the entries are improved at higher levels: by
    avoidance, or by a search from the state.
    """
    T, M = V.shape[0], V.shape[2]
    unused = np.empty(T, np.int64)
    sums, gain = np.empty((needed + 1, M)), np.empty(M)
    by_place, apart, ever_apart = room.by_place[0], rows_apart(chain), ways_apart(chain)
    union = adds_up(T, M, needed, level)
    state_nodes = min(STATE_NODES[level], room.won.shape[0] - 1)
    avoid = union and level > 1 and pairs_of_steps(T, M, needed) * M * needed <= AVOID_LIMIT
    plain = not union and state_nodes <= 1 and apart
    work, helps = 0.0, True
    V[:, 0] = 1.0
    V[:, 1:] = 0.0
    for t in range(T - 2, -1, -1):
        low, high = max(1, needed - t - 1), min(needed, T - 1 - t)
        union = union and (helps or level > 0 or T - t <= PATIENT)
        helps = False
        if plain and high >= max(low, TOGETHER):
            work += told_together(V, chain, t, low, high, sums)
            continue
        work += tell(V, chain, t, low, high, apart, gain, by_place)
        if union and low <= high:
            union_sums(V, chain, t, low, high, ever_apart, sums, by_place)
            work += (T - low - t) * M * M * (M + high - low + 1)
        for k in range(low, high + 1):
            for x in range(M):
                if chain.law[t, x] == 0.0:
                    continue
                b = V[t, k, x]
                rare = union and sums[k, x] < b
                if rare:
                    b, helps = sums[k, x], True
                    if avoid:
                        b = min(b, first_right(V, chain, chain.moves[t, x], t + 1, k, room))
                        work += 2 * (T - k - t) * M * M
                elif state_nodes > 1 and b > 1e-12:
                    found, _, _, more = search(
                        V, chain, chain.moves[t, x], t + 1, k, state_nodes, 0.0, np.bool_(False), unused, room
                    )
                    b = min(b, found)
                    work += more
                V[t, k, x] = min(b, 1.0)
    return work
