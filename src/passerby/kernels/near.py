"""The best guess for every series where several names may be right at one place: near enough counts.

The table `right[g, x]` stands in place of `[place_of(x) = g]`. It is kept as `Balls`: for each name the states in which
it is right. Guesses are improved one step at a time, and a best-first search over beginnings of the guess bounds what
any guess does, as in `ascent` and `search`. Adversaries are told the present state, as in `ceiling`: a proof that
never asks which states share a name. Effort comes in levels; at higher ones a search starts from each known state.
"""

from typing import NamedTuple

import numpy as np
from numba import types

from .ascent import SWEEPS, advance, map_guess, rows_alive
from .chain import at, copy, dot, likeliest, push, weigh
from .heap import NODE, put, take
from .jit import (
    cube,
    flag,
    inlined,
    kernel,
    making,
    number,
    out_matrix,
    out_vector,
    out_whole_cube,
    vector,
    whole,
    whole_matrix,
    wholes,
)
from .posterior import Chain, ahead, look, move, posterior, ranges

#: Nodes of a search from the start, and from each known state (0 for none), at each level of effort.
ROOT_NODES = (64, 1000, 20000)
STATE_NODES = (0, 8, 64)
#: Numbers that the tables of a search may have.
MOST_NUMBERS = 5e7
#: Unions over the first right step are added up for all series at once if they take no more than this of the budget.
AT_ONCE = 0.05
#: A single search goes on until it is this much closer than the tolerance asks for the sum of all.
CLOSER = 0.2
#: Columns of what is found for a series, as in `best_guess`.
DECODED, STEPWISE, LOWER, UPPER, LEVEL = range(5)
#: What the search took, and how many series could not be explained.
NODES, WORK, UNEXPLAINED = range(3)


class Balls(NamedTuple):
    """The states in which name g is right: `states[begin[g]:begin[g + 1]]`; `begin` (G + 1,)."""

    begin: np.ndarray
    states: np.ndarray


class Tables(NamedTuple):
    """By node of a search, its table (k, M), the entry it comes from and what has won; entries, and their heap."""

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
def over_ball(balls, g, row):
    """`Σ_x right[g, x] row[x]`."""
    total = 0.0
    for i in range(balls.begin[g], balls.begin[g + 1]):
        total += row[balls.states[i]]
    return total


@inlined
def over_ball_by(balls, g, row, worth):
    """`Σ_x right[g, x] row[x] worth[x]`."""
    total = 0.0
    for i in range(balls.begin[g], balls.begin[g + 1]):
        x = balls.states[i]
        total += row[x] * worth[x]
    return total


@inlined
def count_right(balls, table, first, last, g):
    """Count one more right step where g is right; the last row of all collects those with enough."""
    enough = table.shape[0] - 1
    if last < enough:
        table[last] = 0.0
    for i in range(balls.begin[g], balls.begin[g + 1]):
        x = balls.states[i]
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
            for i in range(balls.begin[g], balls.begin[g + 1]):
                later[balls.states[i]] = after[t + 1, k - 1, balls.states[i]]
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
    """The name that is most likely right at each step by itself."""
    for t in range(guess.shape[0]):
        for g in range(chances.shape[0]):
            chances[g] = over_ball(balls, g, chain.law[t])
        guess[t] = likeliest(chances, chain.named)


@making
def first_look(chain, balls, needed, thorough, found, guesses, after):
    """Fill in the plain guesses of a series and, if `thorough`, the best that an ascent from any of three leads to."""
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
            # The name that is right at most steps, at all of them.
            for g in range(G):
                chances[g] = 0.0
                for t in range(T):
                    chances[g] += over_ball(balls, g, chain.law[t])
            trial[:] = likeliest(chances, chain.named)
        b = ascend(chain, balls, trial, needed, after)
        if b > found[LOWER]:
            found[LOWER] = b
            copy(trial, guesses[LOWER])


@making
def undominated(chain, balls):
    """The names (T, G) that are worth a try: no other one is right wherever this one is, of the states of a step.

    Of those that are right in the same states, the first is left. To name one that is right wherever another is can do
    no harm, since more right steps are never worse.
    """
    T, G, M = chain.law.shape[0], chain.named.shape[0], chain.law.shape[1]
    out, size, inside = np.zeros((T, G), np.bool_), np.zeros(G, np.int64), np.zeros(M, np.bool_)
    for t in range(T):
        law = chain.law[t]
        for g in range(G):
            size[g] = 0
            for i in range(balls.begin[g], balls.begin[g + 1]):
                size[g] += 1 if law[balls.states[i]] > 0.0 else 0
        for g in range(G):
            if chain.named[g] == 0.0:
                continue
            inside[:] = False
            for i in range(balls.begin[g], balls.begin[g + 1]):
                inside[balls.states[i]] = law[balls.states[i]] > 0.0
            out[t, g] = True
            for h in range(G):
                if h == g or chain.named[h] == 0.0 or size[h] < size[g] or (size[h] == size[g] and h > g):
                    continue
                shared = 0
                for i in range(balls.begin[h], balls.begin[h + 1]):
                    shared += 1 if inside[balls.states[i]] else 0
                if shared == size[g]:
                    out[t, g] = False
                    break
    return out


@inlined
def top_name(balls, tried, row, worth):
    """`max_g Σ_x right[g, x] row[x] worth[x]` over the names that are worth a try, at least 0."""
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
    """Lower `V[t, k, x]`, k = first..last, to the sum over which step is the first right one.

    `Σ_{u>t} max_g Σ_y right[g, y] Pr[X_u = y | X_t = x] V_u(y, k-1)`, where u leaves enough steps for the rest.
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

    By telling the next state, by `unions`, and by a search of so many nodes from each known state, last step first (a
    Russian doll search). Returns the work.
    """
    T, M = chain.law.shape
    V[:] = 0.0
    V[:, 0] = 1.0
    adds, unused = np.empty(M), np.empty(T, np.int64)
    work = cost_of_union(balls, T, M, needed) if unions else 0.0
    for t in range(T - 2, -1, -1):
        first, last = max(1, needed - t - 1), min(needed, T - 1 - t)
        told_step(V, chain, balls, tried, t, first, last, adds)
        work += (last + 1 - first) * M * (1.0 * M + 2.0 * balls.states.shape[0])
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
    """Optimistic value of no right name at step d, and in `gain` (G,) what each name adds."""
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
    """Copy the rows of `table` and count one more right step where g is right; returns the mass that has enough now."""
    for r in range(first, last):
        copy(table[r], row[r])
    if last < row.shape[0]:
        row[last] = 0.0
    won = 0.0
    for i in range(balls.begin[g], balls.begin[g + 1]):
        x = balls.states[i]
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
        # Expand: move the table one step on, and queue a child for each name that is worth a try there.
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
        work += NODE + (last - first) * M * (M + 2) + balls.states.shape[0]
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


@making
def bracket(chain, balls, needed, level, unions, tolerance, found, guess, V, room, total):
    """Bound a series at a level of effort, and replace `guess` where the search finds a better one."""
    T, low, most = guess.shape[0], found[LOWER], room.won.shape[0] - 1
    tried = undominated(chain, balls)
    total[WORK] += ceilings(V, chain, balls, tried, needed, unions, min(STATE_NODES[level], most), room)
    if unions:
        blind = 0.0
        for u in range(T - needed + 1):
            blind += top_name(balls, tried[u], chain.law[u], V[u, needed - 1])
        found[UPPER] = max(low, min(found[UPPER], blind))
    cutoff, nodes, better = low * (1.0 + tolerance), min(ROOT_NODES[level], most), np.empty(T, np.int64)
    if found[UPPER] <= cutoff:
        return
    b, used, complete, more = search(
        V, chain, balls, tried, chain.start, np.int64(0), needed, nodes, cutoff, better, room
    )
    total[WORK] += more
    total[NODES] += used
    found[UPPER] = max(low, min(found[UPPER], b))
    if complete:
        # Scored anew: what was added up to bound it may be rounded up.
        success = score(chain, balls, better, needed)
        if success > low:
            found[LOWER] = min(success, found[UPPER])
            copy(better, guess)


@inlined
def cost_of_union(balls, T, M, needed):
    """Elementary operations of unions over the first right step, roughly."""
    pairs = min(T * T / 2.0, T * (T - needed + 1.0))
    return pairs * M * (1.0 * M * M + min(needed, T - needed + 1) * balls.states.shape[0])


@inlined
def cost_of_level(balls, T, M, needed, level):
    """Elementary operations of a level, at most, roughly."""
    rows = T * min(needed, T - needed + 1) * 1.0
    each = NODE + needed * M * (M + 2.0) + balls.states.shape[0]
    told = rows * M * (M + 2.0 * balls.states.shape[0]) + cost_of_union(balls, T, M, needed)
    return told + (ROOT_NODES[level] + rows * M * STATE_NODES[level]) * each


@inlined
def allowed(out, mass, times, anchored, tolerance, sampled):
    """Whether the gap that is left of the sum over series is small enough: of a sample, well within its error."""
    gap, achieved, n, beyond, squares = 0.0, 0.0, 0.0, 0.0, 0.0
    last = anchored.shape[0] - 1
    for i in range(out.shape[0]):
        gap += times[i] * mass[i] * (out[i, UPPER] - out[i, LOWER])
        achieved += times[i] * mass[i] * out[i, LOWER]
        more = mass[i] * max(out[i, LOWER] - anchored[min(i, last)], 0.0)
        n += times[i]
        beyond += times[i] * more
        squares += times[i] * more * more
    error = np.sqrt(max(n * squares - beyond * beyond, 0.0) / n) if sampled else 0.0
    return gap <= max(tolerance * achieved, 0.25 * error)


@inlined
def widest(out, whole_mass, balls, T, M, needed, left):
    """The series with the widest gap of those whose next level can be afforded; -1 for none."""
    pick, most = -1, 0.0
    for i in range(out.shape[0]):
        level = int(out[i, LEVEL]) + 1
        gap = whole_mass[i] * (out[i, UPPER] - out[i, LOWER])
        if gap > most and 0 < level < len(ROOT_NODES) and cost_of_level(balls, T, M, needed, level) <= left:
            pick, most = i, gap
    return pick


_RESULT = types.Tuple((out_matrix, out_whole_cube, out_vector))
_CASE = (vector, cube, wholes, wholes, wholes, whole_matrix, cube, vector, vector, vector)


@kernel(_RESULT(*_CASE, whole, number, number, flag, vector))
def brackets(
    initial,
    moves,
    name_of,
    begin,
    states,
    classes,
    weights,
    mass,
    times,
    named,
    misses,
    tolerance,
    budget,
    sampled,
    known,
):
    """Bracket the best guess for each of n series, as `best_guess.brackets` does, for names with `Balls`.

    `name_of` (M,) is the name that a guess of each state is told as, and `known` the success of the guess that is
    `anchored` there. Returns a table (n, 5), the guesses (n, 3, T), and what it took. Every series is done at the
    lowest level; then the widest again at the next one, until the gap of the sum is within `tolerance`, or the `budget`
    is spent. With a `budget` below 0 nothing is bounded, and with an infinite tolerance the plain guesses remain.
    """
    n, T = weights.shape[:2]
    M, G, needed, balls = initial.shape[0], named.shape[0], T - misses, Balls(begin, states)
    out, guesses, total = np.zeros((n, 5)), np.zeros((n, 3, T), np.int64), np.zeros(3)
    law, pinned, after = np.empty((T, M)), np.empty(T, np.int64), np.empty((T, needed + 1, M))
    low, high = ranges(moves)
    none, then, V = np.empty((0, M, M)), np.zeros((T - 1, M, M)), np.empty((T, needed + 1, M))
    room = tables_for(M, G, needed, ROOT_NODES[0])
    whole_mass = mass * times
    order, done, rest, achieved = np.argsort(-whole_mass), 0, whole_mass.sum(), 0.0
    searching, at_once = tolerance < np.inf, n * cost_of_union(balls, T, M, needed) <= AT_ONCE * budget
    while True:
        if done < n:
            i, level = order[done], 0
            done += 1
        else:
            if not searching or allowed(out, mass, times, known, tolerance, sampled):
                break
            i = widest(out, whole_mass, balls, T, M, needed, budget - total[WORK])
            if i < 0:
                break
            level = int(out[i, LEVEL]) + 1
            nodes = max(1, min(ROOT_NODES[level], int(MOST_NUMBERS / (needed * M + 4 * G))))
            if nodes >= room.won.shape[0]:
                room = tables_for(M, G, needed, nodes)
        start, log_mass = posterior(initial, moves, low, high, classes, weights[i], then)
        if log_mass == -np.inf:
            out[i, LEVEL] = -1.0
            total[UNEXPLAINED] += 1.0
            continue
        chain = Chain(start, then, low, high, name_of, named, False, law, pinned, none)
        look(chain)
        # What is left of the probability may stay between the plain guesses and certainty.
        thorough = searching and (sampled or level > 0 or rest > CLOSER * tolerance * achieved)
        if level == 0:
            first_look(chain, balls, needed, thorough, out[i], guesses[i], after)
            total[WORK] += 20.0 * T * min(needed, T - needed + 1) * M * (M + 24.0)
            rest -= whole_mass[i]
            achieved += whole_mass[i] * out[i, LOWER]
        if thorough and budget >= 0.0:
            unions = at_once or level > 0
            bracket(chain, balls, needed, level, unions, CLOSER * tolerance, out[i], guesses[i, LOWER], V, room, total)
        out[i, LEVEL] = level
    return out, guesses, total


@kernel(out_matrix(vector, cube, wholes, wholes, whole_matrix, cube, whole_matrix, whole))
def wrong_laws(initial, matrices, begin, states, classes, weights, guesses, most):
    """`Pr[k steps of a guess are wrong | evidence]` (n, most + 1) for a guess (n, T) per series of evidence (n, T, C).

    -1 in all columns for evidence of probability zero.
    """
    n, T = guesses.shape
    M, K = initial.shape[0], most + 1
    out, now, new = np.zeros((n, K)), np.empty((K, M)), np.empty((K, M))
    every, later, right = np.empty(M), np.empty(M), np.empty(M, np.bool_)
    for i in range(n):
        now[:] = 0.0
        copy(initial, now[0])
        copy(initial, every)
        possible = True
        for t in range(T):
            if t > 0:
                P = at(matrices, t - 1)
                for k in range(K):
                    push(now[k], P, new[k])
                push(every, P, later)
                now, new, every, later = new, now, later, every
            weigh(every, classes[t], weights[i, t])
            total = every.sum()
            if total == 0.0:
                possible = False
                break
            for k in range(K):
                weigh(now[k], classes[t], weights[i, t])
            right[:] = False
            for j in range(begin[guesses[i, t]], begin[guesses[i, t] + 1]):
                right[states[j]] = True
            for x in range(M):
                every[x] /= total
                for k in range(K):
                    now[k, x] /= total
                if not right[x]:
                    for k in range(K - 1, 0, -1):
                        now[k, x] = now[k - 1, x]
                    now[0, x] = 0.0
        for k in range(K):
            out[i, k] = now[k].sum() if possible else -1.0
    return out
