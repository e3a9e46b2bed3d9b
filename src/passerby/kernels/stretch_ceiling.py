"""What any guess can do in the stretches between sightings, for each number of wrong steps by itself.

Let `U(t, v, k, x)` bound the chance of at most k wrong steps from t on and then sighting v, with none between, for
somebody who is at x just before step t, whatever the guess:

    U(t, v, k, x) >= max_g Pr[at most k wrong, then v | x].

Telling the place after each step bounds the maximum, backwards from v:
`Σ_y P(x,y) U(t+1, v, k-1, y) + max_g P(x,g) (U(t+1, v, k, g) - U(t+1, v, k-1, g))`, y and g unseen. A search over
beginnings of the guess (`look_ahead`) tells it only where the beginning ends. An entry serves every stretch that ends
at v, wherever it began. Tables of so many steps as there is memory for are kept, in turn.

The adversary sees the whole series before guessing, so that the guess for a stretch may depend on what follows it. But
at no stretch does it make "at most k wrong" likelier than `F(k) = U(t_u, v, k, x_u)`. The chance of success with r
misses left never falls as r grows, so that `V(u, r) = Σ_v Σ_k (F(k) - F(k-1)) V(v, r - k)` bounds it. (One guess that
is best on average over what follows, `max_g Σ_k Pr[k wrong, v | g] V(v, r - k)`, would be less, and is no bound.)
"""

from typing import NamedTuple

import numpy as np

from .chain import at, dot, push
from .jit import (
    cube,
    flag,
    inlined,
    kernel,
    matrix,
    number,
    once,
    out_cube,
    out_cubes,
    out_matrix,
    out_vector,
    vector,
    whole,
    whole_matrix,
)
from .search import NODE, put, take

#: In a search, people who are worth less than this share of the whole are told where they are.
TOLD = 1e-3
#: States and stretches are counted by how small a part of the whole they are: so many halvings.
HALVINGS = 1100
#: A search from a sighting, whose result adds to the whole as it is, may have so many times as many nodes.
ROOTS = 16


class Watch(NamedTuple):
    """A chain and its watched places (T, S), those that are not (T, M; 1 or 0), and those that may be named (M,)."""

    initial: np.ndarray
    matrices: np.ndarray
    watched: np.ndarray
    hidden: np.ndarray
    named: np.ndarray


class Room(NamedTuple):
    """Scratch for a search: a table (K, M) and what was told for each node; bound, step, node and place of entries."""

    tables: np.ndarray
    row: np.ndarray
    gain: np.ndarray
    sure: np.ndarray
    bound: np.ndarray
    step: np.ndarray
    origin: np.ndarray
    place: np.ndarray
    heap: np.ndarray


class Effort(NamedTuple):
    """Nodes of a search from each state that is worth more than `floor`, and whether tables hold bounds already.

    What a node costs at all states is added to `costs`, by how often 1 must be halved to get to their worth; nodes and
    work that were spent are added to `done`.
    """

    nodes: int
    floor: float
    again: bool
    costs: np.ndarray
    done: np.ndarray


@inlined
def halvings(part):
    """How often the whole, 1, is halved until the part is larger."""
    return min(max(int(-np.log2(part)), 0), HALVINGS - 1)


@inlined
def cut(costs, budget):
    """The largest power of two such that all parts above it cost no more than the budget; `costs` by halvings."""
    spent = 0.0
    for i in range(costs.shape[0]):
        spent += costs[i]
        if spent > budget:
            return 0.5**i
    return 0.0


@once
def room_for(nodes, K, M):
    """Scratch for a search of so many nodes."""
    n = nodes * M
    return Room(
        np.empty((nodes, K, M)),
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
def tell(belief, named, later, out):
    """`out(r) = Σ_y belief(y) later(r-1, y) + max_g belief(g) (later(r, g) - later(r-1, g))`; later(-1) is 0."""
    K, M = later.shape
    less = 0.0
    for r in range(K):
        now = later[r]
        gain = 0.0
        if r == 0:
            for y in range(M):
                gain = max(gain, belief[y] * named[y] * now[y])
        else:
            before = later[r - 1]
            for y in range(M):
                gain = max(gain, belief[y] * named[y] * (now[y] - before[y]))
        out[r] = less + gain
        less = dot(belief, now)


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
            line[:] = table[j - 1]
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
def look_ahead(watch, U, belief, t, v, r, nodes, room):
    """Bound on the best guess for steps t.. until v from a belief at t, r of which may be wrong: (bound, nodes, work).

    Best first: a node is a beginning of the guess with its exact table (number wrong, place). Stops when the best node
    left is a whole guess or as long as there are tables for, or after so many nodes.
    """
    M, depth = belief.shape[0], U.shape[0]
    last = min(v // watch.watched.shape[1] - 1, t + depth - 2)
    tables, row, gain, sure, bound, step, origin, place, heap = room
    d, limit, told, work = t, np.inf, 0.0, 0.0
    size, entries, used = 0, 0, 0
    while True:
        table, rows, hidden = tables[used], min(r, d - t) + 1, watch.hidden[d]
        for j in range(rows):
            if d == t:
                table[0] = belief
            else:
                push(row[j], at(watch.matrices, d - 1), table[j])
                for x in range(M):
                    table[j, x] *= hidden[x]
                    work += M if row[j, x] > 0.0 else 0
        base = told + hope(table, rows, U[(d + 1) % depth, v], r, gain)
        sure[used] = told
        work += NODE + 8.0 * rows * M
        nobody = False
        for g in range(M):
            # One place where nobody is stands for all of them. Where somebody is, hope may see no gain and be wrong.
            there = False
            for j in range(rows):
                there = there or table[j, g] > 0.0
            if watch.named[g] > 0.0 and (there or not nobody):
                nobody = nobody or not there
                bound[entries] = min(base + gain[g], limit)
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


@once
def state(watch, U, V, t, x, mass, effort, room, out):
    """Fill `U(t, v, r, x)` for all v and r. `mass` (K,) is the weight of x where r may be wrong."""
    T, S = watch.watched.shape
    K, M, depth = V.shape[1], watch.named.shape[0], U.shape[0]
    row = watch.initial if t == 0 else at(watch.matrices, t - 1)[x]
    here, later = U[t % depth], U[(t + 1) % depth]
    belief = row * watch.hidden[t]
    for j in range(S):
        c = watch.watched[t, j]
        for r in range(K):
            here[t * S + j, r, x] = row[c] if c >= 0 else 0.0
    seen = t == 0 or watch.hidden[t - 1, x] == 0.0
    nodes = ROOTS * effort.nodes if seen else effort.nodes
    for v in range((t + 1) * S, T * S + 1):
        if v < T * S and watch.watched[v // S, v % S] < 0:
            here[v, :, x] = 0.0
            continue
        tell(belief, watch.named, later[v], out)
        for r in range(K):
            if effort.again:
                out[r] = min(out[r], here[v, r, x])
            worth = mass[r] * out[r]
            if worth > 0.0 and r > 0 and v >= (t + 2) * S:
                effort.costs[halvings(worth)] += (ROOTS if seen else 1) * (
                    NODE + 0.5 * min(r + 1.0, v // S - t) * M * M
                )
                if effort.nodes > 1 and worth > effort.floor:
                    bound, used, more = look_ahead(watch, U, belief, t, v, r, nodes, room)
                    out[r] = min(out[r], bound)
                    effort.done[0] += used
                    effort.done[1] += more
            here[v, r, x] = out[r]
    effort.done[1] += 2.0 * (T - t) * S * K * M


@once
def spread(watch, before, mass):
    """Fill `mass[t, r, x]`: the chance of x before step t, with at least r misses left when last seen."""
    T, S = watch.watched.shape
    K = before.shape[1]
    mass[0] = 0.0
    mass[0, :, 0] = 1.0
    for t in range(T):
        for r in range(K):
            if t == 0:
                mass[1, r] = watch.initial
            else:
                push(mass[t, r], at(watch.matrices, t - 1), mass[t + 1, r])
            mass[t + 1, r] *= watch.hidden[t]
            for j in range(S):
                if watch.watched[t, j] >= 0:
                    mass[t + 1, r, watch.watched[t, j]] = before[1 + t * S + j, : K - r].sum()


@once
def add_ceilings(F, V, first, out):
    """`out(r) = Σ_v Σ_k (F(v, k) - F(v, k-1)) V(v, r - k)`; `F` (T S + 1, K) is lowered to what one more allows."""
    TS, K = F.shape[0] - 1, F.shape[1]
    out[:] = 0.0
    for v in range(first, TS + 1):
        for k in range(K - 2, -1, -1):
            F[v, k] = min(F[v, k], F[v, k + 1])
        for k in range(K):
            more = F[v, k] - (F[v, k - 1] if k > 0 else 0.0)
            if more > 0.0:
                for r in range(k, K):
                    out[r] += more * (V[v, r - k] if v < TS else 1.0)
    for r in range(K):
        out[r] = min(1.0, out[r])


@kernel(
    number(
        vector,
        cube,
        whole_matrix,
        matrix,
        vector,
        out_cubes,
        out_matrix,
        out_cube,
        matrix,
        whole,
        number,
        flag,
        out_vector,
        out_vector,
    )
)
def lay(initial, matrices, watched, hidden, named, U, V, bounds, before, nodes, budget, again, costs, done):
    """Fill `V` (T S + 1, K; the last row is the start's) and `bounds[u, v, k]`, the `F(k)` of each; returns V(start).

    `before` (N, K) is the chance of each restart point with k steps wrong before it. States are searched with so many
    nodes as far as the budget goes, those first that are worth most; `costs` tells what one node costs at all states of
    some worth, and is filled in for the next time. `U` holds bounds already if this is done `again`. Nodes and work are
    added to `done`.
    """
    watch = Watch(initial, matrices, watched, hidden, named)
    T, S = watched.shape
    TS, K, M, depth = T * S, V.shape[1], named.shape[0], U.shape[0]
    effort = Effort(nodes, cut(costs, budget / nodes), again and depth > T, costs, done)
    costs[:] = 0.0
    room, out, mass = room_for(ROOTS * nodes, K, M), np.empty(K), np.zeros((T + 1, K, M))
    spread(watch, before, mass)
    bounds[:] = 0.0
    for t in range(T, -1, -1):
        for x in range(M if t > 0 else 1):
            if t < T:
                state(watch, U, V, t, x, mass[t, :, x], effort, room, out)
            else:
                U[T % depth, TS, :, x] = 1.0
        for j in range(S if t > 0 else 1):
            x = watched[t - 1, j] if t > 0 else 0
            if x >= 0:
                u = 1 + (t - 1) * S + j if t > 0 else 0
                for v in range(t * S, TS + 1):
                    bounds[u, v] = U[t % depth, v, :, x]
                add_ceilings(bounds[u], V, t * S, V[u - 1])
    return V[TS, K - 1]
