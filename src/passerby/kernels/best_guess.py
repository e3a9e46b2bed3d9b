"""The best guess for every series, bracketed, with the effort where it narrows the average most.

Effort comes in levels. At the lowest, states are bounded by being told the past (and by the union over the first right
step, where that is cheap) and a few nodes are searched; at higher levels more nodes are searched from every known state
and from the start, or right steps next to each other are taken out where right steps are rare. Between these levels
come stages at which those who are told are charged for it (`charges`), which is cheap where there are many places.
"""

import numpy as np
from numba import types

from .ascent import ascend, map_guess, score
from .ceiling import TOGETHER, first_right, four_told, right_adds, told_step, union_sums
from .chain import copy, dot, likeliest, turn
from .charge_stretches import charged_apart
from .heap import put, take
from .jit import (
    cube,
    flag,
    inlined,
    kernel,
    making,
    number,
    once,
    out_matrix,
    out_vector,
    out_whole_cube,
    vector,
    whole,
    whole_matrix,
    wholes,
)
from .posterior import Chain, add_by_place, look, posterior, ranges, single, top_place
from .search import room_for, search
from .stages import CHARGED, ROOT_NODES, SEARCHED, STAGES, STATE_NODES, cost_of_stage, keep_score, stage_after

#: Charges are set at once if they cost no more than so many scores of a guess.
AT_ONCE = 10.0
#: Largest number of operations spent on union sums (at the lowest level, and above), on avoidance for every state, and
#: on trying all constants.
UNION_AT_ONCE = 1e5
UNION_LIMIT = 1e8
#: Unions that help nobody are given up at the lowest level, after so many steps.
PATIENT = 6
AVOID_LIMIT = 3e8
CONSTANT_LIMIT = 2e8
#: A single search goes on until it is this much closer than the tolerance: if each stopped just within it, none would
#: make up for the few that stay outside, and all would be done again at ever higher levels. A series alone need not.
CLOSER, ALONE = 0.1, 0.2
#: Columns of what is found for a series: success of the decoded guess, of the step-by-step guess, of the best one,
#: what no guess exceeds, and the stage reached. The first three are also the rows of its guesses.
DECODED, STEPWISE, LOWER, UPPER, LEVEL = range(5)
#: Sums over series: of gaps, of lower ends, of what is beyond the anchor, and of its squares.
GAP, ACHIEVED, BEYOND, SQUARES = range(4)
#: What the search took, and how many series could not be explained.
NODES, WORK, UNEXPLAINED = range(3)


@making
def rows_apart(chain):
    """Whether no row leads to two states of one place, as in a mixture of chains whose states are places."""
    return states_apart(chain, np.bool_(False))


@making
def ways_apart(chain):
    """The same of ways of any length: that no state leads to two states of one place, however many steps later."""
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

    Rows must be `rows_apart`, and there must be a fourth: high is at least 4. What is so filled in below low is read by
    nobody.
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
                four_told(chain.moves[t, x], chain.low[x], chain.high[x], V[t + 1], adds, V[t], first, x)
            for k in range(low, high + 1):
                V[t, k, x] = min(V[t, k, x], 1.0)
    return (high - low + 1.0) * M * M


@inlined
def tell(V, chain, t, low, high, apart, gain, by_place):
    """Fill a step of V by telling the past, for k = low..high and states that are possible; returns the work done."""
    M, work = V.shape[2], 0.0
    for k in range(low, high + 1):
        right_adds(V, t + 1, k, gain)
        for x in range(M):
            gain[x] *= chain.named[chain.place_of[x]]
        for x in range(M):
            if chain.law[t, x] > 0.0:
                V[t, k, x] = told_step(V, chain, t, x, k, gain, apart, by_place)
                work += M
    return work


@once
def ceilings(V, chain, needed, level, room):
    """Fill V for every state that matters, last step first; returns the work done, in elementary operations.

    Whether right steps are rare (union below told-the-past) decides how the entries are improved at higher levels: by
    avoidance, or by a search from the state.
    """
    T, M = V.shape[0], V.shape[2]
    unused = np.empty(T, np.int64)
    sums, gain = np.empty((needed + 1, M)), np.empty(M)
    by_place, apart, ever_apart = room.by_place[0], rows_apart(chain), ways_apart(chain)
    pairs = min(T * T / 2.0, T * (T - needed + 1.0)) * M * M
    union = pairs * (M + needed) <= (UNION_LIMIT if level > 0 else UNION_AT_ONCE)
    state_nodes = min(STATE_NODES[level], room.won.shape[0] - 1)
    avoid = union and level > 1 and pairs * M * needed <= AVOID_LIMIT
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


@once
def bracket(chain, needed, level, low, tolerance, guess, room):
    """(lower, upper, nodes, work) for the best guess of one chain; `guess` is replaced where a better one is found."""
    T, a = guess.shape[0], chain.start
    V = np.empty((T, needed + 1, a.shape[0]))
    work = ceilings(V, chain, needed, level, room)
    begin = np.int64(0)
    blind = first_right(V, chain, a, begin, needed, room)
    gain = np.empty(a.shape[0])
    right_adds(V, begin, needed, gain)
    told = dot(a, V[0, needed]) + top_place(chain, a, gain, begin, a.shape[0], room.by_place[0])
    upper = min(min(blind, told), 1.0)
    nodes = 0
    if upper > low * (1.0 + tolerance):
        found = np.empty(T, np.int64)
        careful = blind < told
        most = min(ROOT_NODES[level], room.won.shape[0] - 1)
        b, nodes, whole_guess, more = search(
            V, chain, a, begin, needed, most, low * (1.0 + tolerance), careful, found, room
        )
        work += more
        if whole_guess and b > low:
            low = min(b, upper)
            copy(found, guess)
        upper = min(upper, b)
    return low, upper, nodes, work


@once
def try_constants(chain, needed, low, guess, after):
    """Ascend from the best guesses that name one place at all steps (but pinned ones)."""
    T, M, pinned, named = guess.shape[0], chain.start.shape[0], chain.pinned, chain.named
    merit = np.zeros(named.shape[0])
    trial = np.empty(T, np.int64)
    cost = T * M * M * min(needed, T - needed + 1)
    for t in range(T):
        add_by_place(chain, chain.law[t], merit)
    for g in range(named.shape[0]):
        merit[g] *= named[g]
    tried = min(named.shape[0], max(2, int(CONSTANT_LIMIT / (cost * 1.0))))
    order = np.argsort(-merit)[:tried]
    for i in range(tried):
        for t in range(T):
            trial[t] = order[i] if pinned[t] < 0 else pinned[t]
        merit[order[i]] = score(chain, trial, needed) if named[order[i]] > 0.0 else -1.0
    best = np.argsort(-merit[order])[: min(3, tried)]
    for i in range(best.shape[0]):
        if merit[order[best[i]]] < 0.0:
            break
        for t in range(T):
            trial[t] = order[best[i]] if pinned[t] < 0 else pinned[t]
        b = ascend(chain, trial, needed, after)
        if b > low:
            low = b
            copy(trial, guess)
    return low, tried * cost * 1.0


@once
def plain(chain, needed, decoded, stepwise):
    """The likeliest trace and the likeliest place of each step, as guesses; returns their success and if they agree."""
    map_guess(chain, decoded)
    same = True
    chances = np.empty(chain.named.shape[0])
    for t in range(chain.law.shape[0]):
        chances[:] = 0.0
        add_by_place(chain, chain.law[t], chances)
        stepwise[t] = likeliest(chances, chain.named)
        same = same and stepwise[t] == decoded[t]
    success = score(chain, decoded, needed)
    return success, success if same else score(chain, stepwise, needed), same


@once
def first_look(chain, needed, found, guesses, thorough, after):
    """Fill in the plain guesses of a series and, if `thorough`, the best that an ascent from either leads to."""
    found[DECODED], found[STEPWISE], same = plain(chain, needed, guesses[DECODED], guesses[STEPWISE])
    better = DECODED if found[DECODED] >= found[STEPWISE] else STEPWISE
    copy(guesses[better], guesses[LOWER])
    found[LOWER], found[UPPER] = found[better], 1.0
    if not thorough:
        return
    found[LOWER] = ascend(chain, guesses[LOWER], needed, after)
    if not same:
        trial = guesses[DECODED + STEPWISE - better].copy()
        b = ascend(chain, trial, needed, after)
        if b > found[LOWER]:
            found[LOWER] = b
            copy(trial, guesses[LOWER])


@inlined
def count_in(sums, times, mass, found, anchored):
    """Add a series so many times to the sums of gaps, lower ends, what is beyond the anchor, and its squares."""
    more = mass * max(found[LOWER] - anchored, 0.0)
    sums[GAP] += times * mass * (found[UPPER] - found[LOWER])
    sums[ACHIEVED] += times * mass * found[LOWER]
    sums[BEYOND] += times * more
    sums[SQUARES] += times * more * more


@inlined
def allowed(sums, n, tolerance, sampled):
    """The gap that may remain of the sum over n series, those that are the same counted each."""
    error = np.sqrt(max(n * sums[SQUARES] - sums[BEYOND] ** 2, 0.0) / n) if sampled else 0.0
    return max(tolerance * sums[ACHIEVED], 0.25 * error)


@once
def next_series(heap, size, parts, out, alone, T, M, needed, left, tried):
    """Take from the heap the series that adds most to the gap, of those whose next stage can be afforded; or -1."""
    while size > 0:
        i, size = take(heap, size, parts)
        stage = stage_after(alone, T, M, needed, int(out[i, LEVEL]), tried)
        if stage < STAGES and cost_of_stage(alone, T, M, needed, stage) <= left:
            return i, size
    return -1, size


@making
def charge(chain, needed, rounds, tolerance, found, guess, total):
    """Bound a series by charges, of which the best guess so far keeps count."""
    up, work = charged_apart(chain, guess, guess.shape[0] - needed, tolerance, rounds)
    found[UPPER] = min(found[UPPER], max(up, found[LOWER]))
    total[WORK] += work


@once
def deepen(chain, needed, stage, thorough, bounded, tolerance, found, guesses, after, room, total):
    """Do a series at a stage, and fill in what is found; the lowest does no more than `thorough` and `bounded` ask."""
    T, M = chain.law.shape
    level = SEARCHED[stage]
    found[LEVEL] = stage
    if level < 0:
        charge(chain, needed, CHARGED[stage], tolerance, found, guesses[LOWER], total)
        return
    if level == 0:
        first_look(chain, needed, found, guesses, thorough, after)
        total[WORK] += (20.0 * min(needed, T - needed + 1) if thorough else 4.0) * T * M * (M + 24.0)
    elif level == 2:
        found[LOWER], more = try_constants(chain, needed, found[LOWER], guesses[LOWER], after)
        total[WORK] += more
    if level > 0 or (thorough and bounded):
        low, up, nodes, work = bracket(chain, needed, level, found[LOWER], tolerance, guesses[LOWER], room)
        found[LOWER] = max(found[LOWER], low)
        found[UPPER] = min(found[UPPER], up)
        total[NODES] += nodes
        total[WORK] += work
        # Charges are set at once where they cost no more than what was done.
        first = cost_of_stage(chain.single, T, M, needed, np.int64(1))
        if level == 0 and 0.0 < first <= AT_ONCE * T * min(needed, T - needed + 1) * M * M:
            if found[UPPER] > found[LOWER] * (1.0 + tolerance):
                charge(chain, needed, CHARGED[1], tolerance, found, guesses[LOWER], total)
            found[LEVEL] = 1


_RESULT = types.Tuple((out_matrix, out_whole_cube, out_vector))


@kernel(_RESULT(vector, cube, wholes, whole_matrix, cube, vector, vector, vector, whole, number, number, flag, vector))
def brackets(
    initial, matrices, place_of, classes, weights, mass, times, named, misses, tolerance, budget, sampled, anchored
):
    """Bracket the best guess for each of n series (weights (n, T, C)), of so much mass (n,) each, so many times (n,).

    Returns a table (n, 5) of what is found (stage -1 where the series could not be explained: it is impossible, or
    numbers underflow), the guesses (n, 3, T), and what it took, with the number of these. Every series (but the least
    likely of those that are listed) is done at the lowest level of effort; then the series that adds most to the gap is
    done again at the next stage, until the gap of the sum is within `tolerance` of it (or, for `sampled` series, well
    within the sampling error of what is achieved beyond the success of a known guess, `anchored` (n,) or (1,) for all),
    or the `budget` of elementary operations is spent. With a `budget` below 0 guesses are improved, but nothing is
    bounded; with an infinite tolerance the plain guesses remain.
    """
    n, T = weights.shape[:2]
    M, P = initial.shape[0], named.shape[0]
    needed = T - misses
    out, guesses = np.zeros((n, 5)), np.zeros((n, 3, T), np.int64)
    law, pinned, after = np.empty((T, M)), np.empty(T, np.int64), np.empty((T, needed + 1, M))
    room = room_for(T, M, P, needed, ROOT_NODES[0])
    low, high = ranges(matrices)
    alone, none = single(place_of), np.empty((0, M, M))
    charging = cost_of_stage(alone, T, M, needed, np.int64(1)) > 0.0
    total, sums, tried = np.zeros(3), np.zeros(4), np.zeros((STAGES, 3))
    whole_mass = mass * times
    order, heap, parts, size = np.argsort(-whole_mass), np.empty(n, np.int64), np.zeros(n), 0
    done, rest, last = 0, whole_mass.sum(), anchored.shape[0] - 1
    searching, closer = tolerance < np.inf, tolerance * (CLOSER if n > 1 else ALONE)
    while True:
        if done < n:
            i, stage = order[done], 0
            done += 1
        elif not searching:
            break
        else:
            i, size = next_series(heap, size, parts, out, alone, T, M, needed, budget - total[WORK], tried)
            if i < 0 or sums[GAP] <= allowed(sums, times.sum(), tolerance, sampled):
                break
            stage = stage_after(alone, T, M, needed, int(out[i, LEVEL]), tried)
            nodes = max(1, min(ROOT_NODES[max(SEARCHED[stage], 0)], int(5e7 / (needed * M + M))))
            if nodes >= room.won.shape[0]:
                room = room_for(T, M, P, needed, nodes)
            count_in(sums, -times[i], mass[i], out[i], anchored[min(i, last)])
        start, moves, log_mass = posterior(initial, matrices, low, high, classes, weights[i])
        if log_mass == -np.inf:
            out[i, LEVEL] = -1.0
            total[UNEXPLAINED] += 1.0
            continue
        chain = Chain(start, moves, low, high, place_of, named, alone, law, pinned, turn(moves) if charging else none)
        look(chain)
        # What is left of the probability may stay between the plain guesses and certainty.
        thorough = searching and (sampled or rest > CLOSER * tolerance * sums[ACHIEVED])
        deepen(chain, needed, stage, thorough, budget >= 0.0, closer, out[i], guesses[i], after, room, total)
        rest -= whole_mass[i] if stage == 0 else 0.0
        count_in(sums, times[i], mass[i], out[i], anchored[min(i, last)])
        if charging and stage > 1:
            keep_score(tried, stage, parts[i], whole_mass[i] * (out[i, UPPER] - out[i, LOWER]))
        parts[i] = whole_mass[i] * (out[i, UPPER] - out[i, LOWER])
        if parts[i] > 0.0 and stage < STAGES - 1:
            size = put(heap, size, parts, i)
    return out, guesses, total
