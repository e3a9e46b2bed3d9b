"""Ceilings on any guess in the stretches between sightings, for each number of wrong steps by itself.

For somebody at x just before step t, let `U(t, v, k, x)` bound the chance of at most k wrong steps from t on and then
sighting v. There is no sighting between, and the bound holds whatever the guess:

    U(t, v, k, x) >= max_g Pr[at most k wrong, then v | x].

Telling the place after each step bounds the maximum, backwards from v: `Σ_y P(x,y) U(t+1, v, k-1, y) + max_g P(x,g)
(U(t+1, v, k, g) - U(t+1, v, k-1, g))`, y and g unseen. If right steps are rare, the sum over the first of them is less
(`stretch_union`). A search over beginnings of the guess (`stretch_search`) tells the place only at the end of the
beginning. An entry serves every stretch ending at v, wherever it began. Tables of so many steps as there is memory for
are kept, in turn.

The adversary sees the whole series before guessing, so the guess for a stretch may depend on later steps. But at no
stretch does it make "at most k wrong" likelier than `F(k) = U(t_u, v, k, x_u)`. The chance of success with r misses
left never falls as r grows, so `V(u, r) = Σ_v Σ_k (F(k) - F(k-1)) V(v, r - k)` bounds it. (The one guess best on
average over later steps, `max_g Σ_k Pr[k wrong, v | g] V(v, r - k)`, would be less, and is no bound.)
"""

from typing import NamedTuple

import numpy as np

from passerby.kernels.chain.recursions import at, copy, dot, push
from passerby.kernels.jit import (
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
from passerby.kernels.search.heap import NODE

from .stretch_search import Watch, first_right, look_ahead, room_for

#: States and stretches are counted by how small a part of the whole they are: so many halvings.
HALVINGS = 1100
#: A search from a sighting, whose result adds to the whole as it is, may have so many times as many nodes.
ROOTS = 16
#: Right steps are rare if the sum over the first of them is below this share of the bound by telling the place.
RARE = 0.85
#: A node bounded without telling the place counts for so many others.
BLIND = 8


class Effort(NamedTuple):
    """Nodes of a search from each state worth more than `floor`, and whether tables hold bounds already.

    States worth more than `union` are looked at by their first right step.

    The cost of a node at all states is added to `costs`, by the halvings of 1 down to their worth. Nodes and work spent
    are added to `done`.
    """

    nodes: int
    floor: float
    union: float
    again: bool
    costs: np.ndarray
    done: np.ndarray


@inlined
def halvings(part):
    """How often the whole, 1, is halved until the part is larger."""
    return min(max(int(-np.log2(part)), 0), HALVINGS - 1)


@inlined
def cut(costs, budget):
    """The largest power of two with all larger parts together within the budget; `costs` by halvings."""
    spent = 0.0
    for i in range(costs.shape[0]):
        spent += costs[i]
        if spent > budget:
            return 0.5**i
    return 0.0


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


@once
def state(watch, U, V, t, x, mass, effort, room, out):
    """Fill `U(t, v, r, x)` for all v and r. `mass` (K,) is the weight of x if r may be wrong."""
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
    ready = np.int64(1)
    copy(belief, room.here[0])
    nodes = ROOTS * effort.nodes if seen else effort.nodes
    for v in range((t + 1) * S, T * S + 1):
        if v < T * S and watch.watched[v // S, v % S] < 0:
            here[v, :, x] = 0.0
            continue
        tell(belief, watch.named, later[v], out)
        end = min(v // S - 1, t + depth - 2)
        for r in range(K - 1, -1, -1):
            if r + 1 < K:
                out[r] = min(out[r], out[r + 1])
            told = out[r]
            if effort.again:
                out[r] = min(told, here[v, r, x])
            worth = mass[r] * out[r]
            if r == 0 or worth == 0.0 or v < (t + 2) * S:
                here[v, r, x] = out[r]
                continue
            rare = False
            if seen or (effort.nodes > 1 and worth > effort.union):
                avoid = effort.nodes > 1 and worth > effort.floor
                bound, ready, more = first_right(watch, U, t, end, v, r, told, avoid, ready, room.here, room.scratch)
                rare = bound < RARE * told
                out[r] = min(out[r], bound)
                effort.done[1] += more
            cost = NODE + 0.5 * min(r + 1.0, v // S - t) * M * M
            effort.costs[halvings(worth)] += cost * ROOTS if seen else cost / effort.nodes if rare else cost
            if effort.nodes > 1 and worth > effort.floor and (seen or not rare):
                most = nodes // BLIND if rare else nodes
                bound, used, more = look_ahead(watch, U, belief, t, v, r, most, rare, room)
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
                copy(watch.initial, mass[1, r])
            else:
                push(mass[t, r], at(watch.matrices, t - 1), mass[t + 1, r])
            for x in range(mass.shape[2]):
                mass[t + 1, r, x] *= watch.hidden[t, x]
            for j in range(S):
                if watch.watched[t, j] >= 0:
                    mass[t + 1, r, watch.watched[t, j]] = before[1 + t * S + j, : K - r].sum()


@once
def add_ceilings(F, V, first, out):
    """`out(r) = Σ_v Σ_k (F(v, k) - F(v, k-1)) V(v, r - k)`; `F` (T S + 1, K) is lowered to the limit from one more."""
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
    nodes as far as the budget goes, the most worthy first. `costs` has the cost of one node at all states of some
    worth, and is filled in for the next time. `U` holds bounds already if this is done `again`. Nodes and work are
    added to `done`.
    """
    watch = Watch(initial, matrices, watched, hidden, named)
    T, S = watched.shape
    TS, K, M, depth = T * S, V.shape[1], named.shape[0], U.shape[0]
    effort = Effort(nodes, cut(costs, budget / nodes), cut(costs, budget), again and depth > T, costs, done)
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
                    copy(U[t % depth, v, :, x], bounds[u, v])
                add_ceilings(bounds[u], V, t * S, V[u - 1])
    return V[TS, K - 1]
