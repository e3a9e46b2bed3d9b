"""Guesses, ceilings and a best-first search if several names may be right at one place.

The table `right[g, x]` is kept as `balls` (one array): name g is right in `balls[balls[g]:balls[g + 1]]`. Ceilings tell
the present state, or the first right step; both proofs hold for any table of right names. A node is a beginning.
"""

from typing import NamedTuple

import numpy as np

from passerby.kernels.chain.posterior import ahead, move
from passerby.kernels.chain.recursions import copy, dot, likeliest
from passerby.kernels.jit import inlined, making

from .ascent import SWEEPS, advance, map_guess, rows_alive
from .heap import NODE, put, take

#: Columns of the findings for a series, as in `best_guess`.
DECODED, STEPWISE, LOWER, UPPER, LEVEL = range(5)


@inlined
def over_ball(balls, g, row):
    """`Σ_x right[g, x] row[x]`."""
    total = 0.0
    for i in range(balls[g], balls[g + 1]):
        total += row[balls[i]]
    return total


@inlined
def count_right(balls, table, first, last, g):
    """Count one more right step in the states of g; the last row of all collects people with enough."""
    enough = table.shape[0] - 1
    if last < enough:
        table[last] = 0.0
    for i in range(balls[g], balls[g + 1]):
        x = balls[i]
        for r in range(last - 1, first - 1, -1):
            table[r + 1, x] = table[r, x] + (table[enough, x] if r + 1 == enough else 0.0)
            table[r, x] = 0.0


@making
def score(chain, balls, guess, needed):
    """`Pr[at least `needed` steps of guess are right]`, needed >= 1: a forward recursion over (number, state)."""
    T, M = guess.shape[0], chain.start.shape[0]
    now, new = np.zeros((needed + 1, M)), np.zeros((needed + 1, M))
    for t in range(T):
        first, last = rows_alive(needed, t, T)
        if t == 0:
            copy(chain.start, now[0])
        else:
            advance(chain, t - 1, now, new, first, last)
            now, new = new, now
        count_right(balls, now, first, last, guess[t])
    return min(1.0, now[needed].sum())


@making
def look_back(chain, balls, guess, needed, after):
    """`after[t, k, x]` = Pr[at least k of the steps after t are right | X_t = x], for a fixed guess."""
    T, M = guess.shape[0], chain.start.shape[0]
    later = np.empty(M)
    for t in range(T - 2, -1, -1):
        g = guess[t + 1]
        for k in range(max(1, needed - t - 1), min(needed, T - 1 - t) + 1):
            copy(after[t + 1, k], later)
            for i in range(balls[g], balls[g + 1]):
                later[balls[i]] = after[t + 1, k - 1, balls[i]]
            for x in range(M):
                after[t, k, x] = ahead(chain, t, x, later)


@making
def ascend(chain, balls, guess, needed, after):
    """Improve `guess` in place, one step at a time to the name with the largest gain; returns its success.

    As `ascent.ascend`: naming g at step t adds `Σ_x right[g, x] Σ_r F(r,x) (after(m-r-1,x) - after(m-r,x))`.
    """
    T, M = guess.shape[0], chain.start.shape[0]
    now, new = np.zeros((needed + 1, M)), np.zeros((needed + 1, M))
    worth, gain = np.empty(M), np.empty(chain.named.shape[0])
    after[:] = 0.0
    after[:, 0] = 1.0
    best = -1.0
    for _ in range(SWEEPS):
        look_back(chain, balls, guess, needed, after)
        now[:] = 0.0
        changed = False
        for t in range(T):
            first, last = rows_alive(needed, t, T)
            if t == 0:
                copy(chain.start, now[0])
            else:
                advance(chain, t - 1, now, new, first, last)
                now, new = new, now
            worth[:] = 0.0
            for r in range(first, last):
                row, more, less = now[r], after[t, needed - r - 1], after[t, needed - r]
                for x in range(M):
                    worth[x] += row[x] * (more[x] - less[x])
            for g in range(gain.shape[0]):
                gain[g] = over_ball(balls, g, worth)
            pick = likeliest(gain, chain.named)
            # A relative margin keeps rounding from moving between equals for ever.
            if gain[pick] > gain[guess[t]] * (1.0 + 1e-12):
                guess[t] = pick
                changed = True
            count_right(balls, now, first, last, guess[t])
        best = min(1.0, now[needed].sum())
        if not changed:
            break
    return best


@inlined
def likeliest_names(chain, balls, chances, guess):
    """The name most likely right at each step by itself."""
    for t in range(guess.shape[0]):
        for g in range(chances.shape[0]):
            chances[g] = over_ball(balls, g, chain.law[t])
        guess[t] = likeliest(chances, chain.named)


@making
def first_look(chain, balls, needed, thorough, found, guesses, after):
    """Fill in the plain guesses of a series and, if `thorough`, the best result of an ascent from any of three."""
    T, G = guesses.shape[1], chain.named.shape[0]
    chances = np.empty(G)
    map_guess(chain, guesses[DECODED])
    likeliest_names(chain, balls, chances, guesses[STEPWISE])
    found[DECODED] = score(chain, balls, guesses[DECODED], needed)
    found[STEPWISE] = score(chain, balls, guesses[STEPWISE], needed)
    better = DECODED if found[DECODED] >= found[STEPWISE] else STEPWISE
    copy(guesses[better], guesses[LOWER])
    found[LOWER], found[UPPER] = found[better], 1.0
    if not thorough:
        return
    trial = np.empty(T, np.int64)
    for start in range(3):
        if start < 2:
            copy(guesses[start], trial)
        else:
            # The name right at most steps, at all of them.
            for g in range(G):
                chances[g] = 0.0
                for t in range(T):
                    chances[g] += over_ball(balls, g, chain.law[t])
            trial[:] = likeliest(chances, chain.named)
        b = ascend(chain, balls, trial, needed, after)
        if b > found[LOWER]:
            found[LOWER] = b
            copy(trial, guesses[LOWER])


class Tables(NamedTuple):
    """By node of a search, its table (k, M), its entry and its certain success; entries, and their heap."""

    tables: np.ndarray
    source: np.ndarray
    won: np.ndarray
    bound: np.ndarray
    step: np.ndarray
    origin: np.ndarray
    name: np.ndarray
    heap: np.ndarray


@making
def tables_for(M, G, needed, nodes):
    """Scratch for a search of so many nodes."""
    entries = (nodes + 1) * G
    return Tables(
        np.empty((nodes + 1, needed, M)),
        np.empty(nodes + 1, np.int64),
        np.empty(nodes + 1),
        np.empty(entries),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
    )


@inlined
def over_ball_by(balls, g, row, worth):
    """`Σ_x right[g, x] row[x] worth[x]`."""
    total = 0.0
    for i in range(balls[g], balls[g + 1]):
        x = balls[i]
        total += row[x] * worth[x]
    return total


@making
def undominated(chain, balls):
    """The names (T, G) worth a try: no other name is right in all of their states and more, among the states of a step.

    Of names right in the same states, the first is left. A name right in all states of another and more can do no harm,
    since more right steps are never worse.
    """
    T, G, M = chain.law.shape[0], chain.named.shape[0], chain.law.shape[1]
    out, size, inside = np.zeros((T, G), np.bool_), np.zeros(G, np.int64), np.zeros(M, np.bool_)
    for t in range(T):
        law = chain.law[t]
        for g in range(G):
            size[g] = 0
            for i in range(balls[g], balls[g + 1]):
                size[g] += 1 if law[balls[i]] > 0.0 else 0
        for g in range(G):
            if chain.named[g] == 0.0:
                continue
            inside[:] = False
            for i in range(balls[g], balls[g + 1]):
                inside[balls[i]] = law[balls[i]] > 0.0
            out[t, g] = True
            for h in range(G):
                if h == g or chain.named[h] == 0.0 or size[h] < size[g] or (size[h] == size[g] and h > g):
                    continue
                shared = 0
                for i in range(balls[h], balls[h + 1]):
                    shared += 1 if inside[balls[i]] else 0
                if shared == size[g]:
                    out[t, g] = False
                    break
    return out


@inlined
def top_name(balls, tried, row, worth):
    """`max_g Σ_x right[g, x] row[x] worth[x]` over the names worth a try, at least 0."""
    top = 0.0
    for g in range(tried.shape[0]):
        if tried[g]:
            top = max(top, over_ball_by(balls, g, row, worth))
    return top


@inlined
def told_step(V, chain, balls, tried, t, first, last, adds):
    """Fill `V[t, k, x]`, k = first..last, by telling the next state after it is named.

    `Σ_y Q(x,y) V(k,y) + max_g Σ_y right[g, y] Q(x,y) (V(k-1,y) - V(k,y))`, with V of step t + 1.
    """
    for k in range(first, last + 1):
        for y in range(adds.shape[0]):
            adds[y] = V[t + 1, k - 1, y] - V[t + 1, k, y]
        for x in range(adds.shape[0]):
            if chain.law[t, x] > 0.0:
                top = top_name(balls, tried[t + 1], chain.moves[t, x], adds)
                V[t, k, x] = min(1.0, ahead(chain, t, x, V[t + 1, k]) + top)


@making
def union_step(V, chain, balls, tried, t, first, last):
    """Lower `V[t, k, x]`, k = first..last, to the sum over the first right step.

    `Σ_{u>t} max_g Σ_y right[g, y] Pr[X_u = y | X_t = x] V_u(y, k-1)`, over u leaving enough steps for the rest.
    """
    T, M = chain.law.shape
    reach, further, sums = chain.moves[t].copy(), np.empty((M, M)), np.zeros((last + 1, M))
    for u in range(t + 1, T - first + 1):
        for k in range(first, min(last, T - u) + 1):
            for x in range(M):
                if chain.law[t, x] > 0.0:
                    sums[k, x] += top_name(balls, tried[u], reach[x], V[u, k - 1])
        if u < T - first:
            for x in range(M):
                move(chain, u, reach[x], further[x])
            reach, further = further, reach
    for k in range(first, last + 1):
        for x in range(M):
            V[t, k, x] = min(V[t, k, x], sums[k, x])


@making
def ceilings(V, chain, balls, tried, needed, unions, nodes, room):
    """Fill `V[t, k, x]`, never below Pr[at least k of the steps after t are right | X_t = x] for the best guess.

    By telling the next state, by `unions`, and by a search of so many nodes from each known state. The last step comes
    first (a Russian doll search). Returns the work.
    """
    T, M = chain.law.shape
    V[:] = 0.0
    V[:, 0] = 1.0
    adds, unused = np.empty(M), np.empty(T, np.int64)
    work = cost_of_union(balls, T, M, needed) if unions else 0.0
    for t in range(T - 2, -1, -1):
        first, last = max(1, needed - t - 1), min(needed, T - 1 - t)
        told_step(V, chain, balls, tried, t, first, last, adds)
        work += (last + 1 - first) * M * (1.0 * M + 2.0 * balls.shape[0])
        if unions and first <= last:
            union_step(V, chain, balls, tried, t, first, last)
        if nodes == 0:
            continue
        for k in range(first, last + 1):
            for x in range(M):
                if chain.law[t, x] > 0.0 and V[t, k, x] > 0.0:
                    line = chain.moves[t, x]
                    b, _, _, more = search(V, chain, balls, tried, line, t + 1, k, nodes, 0.0, unused, room)
                    V[t, k, x] = min(V[t, k, x], b)
                    work += more
    return work


@inlined
def hope(V, balls, k, table, first, last, d, won, worth, gain):
    """Optimistic value of no right name at step d, and in `gain` (G,) the gain of each name."""
    total = won
    worth[:] = 0.0
    for r in range(first, last):
        row, now, less = table[r], V[d, k - r], V[d, k - r - 1]
        total += dot(row, now)
        for x in range(worth.shape[0]):
            worth[x] += row[x] * (less[x] - now[x])
    for g in range(gain.shape[0]):
        gain[g] = over_ball(balls, g, worth)
    return total


@inlined
def name_one(balls, table, row, first, last, g):
    """Copy the rows of `table` and count one more right step in the states of g; returns the mass now with enough."""
    for r in range(first, last):
        copy(table[r], row[r])
    if last < row.shape[0]:
        row[last] = 0.0
    won = 0.0
    for i in range(balls[g], balls[g + 1]):
        x = balls[i]
        for r in range(last - 1, first - 1, -1):
            moved = row[r, x]
            row[r, x] = 0.0
            if r + 1 < row.shape[0]:
                row[r + 1, x] = moved
            else:
                won += moved
    return won


@making
def search(V, chain, balls, tried, start, begin, k, nodes, cutoff, guess, room):
    """Upper bound on the best guess for steps begin..T-1 from the belief `start`, with k right steps needed.

    As `search.search`: returns (bound, nodes expanded, whether a whole guess was found, work).
    """
    tables, source, wons, bound, step, origin, name, heap = room
    T, M, G = V.shape[0], V.shape[2], chain.named.shape[0]
    gain, worth, row = np.empty(G), np.empty(M), np.empty((k, M))
    work = 0.0
    size, entries, used = np.int64(0), np.int64(0), 0
    d, parent, won, limit = begin - 1, np.int64(-1), 0.0, 1.0
    while True:
        # Expand: move the table one step on, and queue a child for each name worth a try there.
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
        base = hope(V, balls, k, table, first, last, d, won, worth, gain)
        work += NODE + (last - first) * M * (M + 2) + balls.shape[0]
        for g in range(G):
            b = min(base + gain[g], limit)
            if tried[d, g] and b > cutoff:
                bound[entries], step[entries], origin[entries], name[entries] = b, d, used, g
                size = put(heap, size, bound, entries)
                entries += 1
        used += 1
        # Go on with the best child of all.
        if size == 0:
            return cutoff, used, False, work
        top, size = take(heap, size, bound)
        d = step[top]
        if d == T - 1:
            entry = top
            for t in range(T - 1, begin - 1, -1):
                guess[t] = name[entry]
                entry = source[origin[entry]]
            return bound[top], used, True, work
        if used >= nodes:
            return bound[top], used, False, work
        f = origin[top]
        first, last = rows_alive(k, d - begin, T - begin)
        won = wons[f] + name_one(balls, tables[f], row, first, last, name[top])
        limit = bound[top]
        parent = top


@inlined
def cost_of_union(balls, T, M, needed):
    """Elementary operations of unions over the first right step, roughly."""
    pairs = min(T * T / 2.0, T * (T - needed + 1.0))
    return pairs * M * (1.0 * M * M + min(needed, T - needed + 1) * balls.shape[0])
