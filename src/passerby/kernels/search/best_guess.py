"""The best guess for every series, bracketed, with most effort for the series narrowing the average most.

Effort comes in levels. At the lowest level, states are bounded by telling the past, and a few nodes are searched. If it
is cheap, the union over the first right step bounds them too. At higher levels more nodes are searched from every known
state and from the start. If right steps are rare, right steps next to each other are taken out instead. Between these
levels come stages of setting penalties (`penalties`), cheap if there are many places.
"""

import numpy as np
from numba import types

from passerby.kernels.chain.posterior import Chain, add_by_place, look, posterior, ranges, single, top_place
from passerby.kernels.chain.recursions import copy, dot, likeliest, turn
from passerby.kernels.jit import (
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

from .ascent import ascend, map_guess, score
from .best_first import ceilings, room_for, search
from .ceiling import first_right, right_adds
from .heap import put, take
from .penalties import (
    PENALTY_ROUNDS,
    ROOT_NODES,
    SEARCHED,
    STAGES,
    cost_of_stage,
    keep_score,
    paper_for,
    stage_after,
    stalled,
    urgency,
)
from .penalty_stretches import penalised_stretches

#: Penalties are set at once if they cost no more than so many scores of a guess.
AT_ONCE = 10.0
#: Elementary operations of a first look, relative to the cost of scoring a guess.
LOOK = 10.0
#: Largest number of operations spent on trying all constants.
CONSTANT_LIMIT = 2e8
#: A single search goes on until it is this much closer than the tolerance. If each stopped just within it, none would
#: make up for the few staying outside, and all would be done again at ever higher levels. A series alone need not.
CLOSER, ALONE = 0.1, 0.2
#: Columns of the findings for a series: success of the decoded guess, of the step-by-step guess, of the best one, a
#: ceiling on all guesses, and the stage reached. The first three are also the rows of its guesses.
DECODED, STEPWISE, LOWER, UPPER, LEVEL = range(5)
#: Sums over series: of gaps, of lower ends, of the success beyond the anchor, and of its squares.
GAP, ACHIEVED, BEYOND, SQUARES = range(4)
#: The effort of the search, and the number of unexplained series.
NODES, WORK, UNEXPLAINED = range(3)


@once
def bracket(chain, needed, level, low, tolerance, guess, room):
    """(lower, upper, nodes, work) for the best guess of one chain; `guess` is replaced if a better one is found."""
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
    """Ascend from the best guesses naming one place at all steps (but pinned ones)."""
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
    """Fill in the plain guesses of a series and, if `thorough`, the best result of an ascent from either."""
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
    """Add a series so many times to the sums of gaps, lower ends, success beyond the anchor, and its squares."""
    more = mass * max(found[LOWER] - anchored, 0.0)
    sums[GAP] += times * mass * (found[UPPER] - found[LOWER])
    sums[ACHIEVED] += times * mass * found[LOWER]
    sums[BEYOND] += times * more
    sums[SQUARES] += times * more * more


@inlined
def allowed(sums, n, tolerance, sampled):
    """The gap allowed for the sum over n series, with repeated ones counted each time."""
    error = np.sqrt(max(n * sums[SQUARES] - sums[BEYOND] ** 2, 0.0) / n) if sampled else 0.0
    return max(tolerance * sums[ACHIEVED], 0.25 * error)


@once
def next_series(heap, size, urgent, out, alone, T, M, needed, left, tried):
    """Take from the heap the most urgent series with an affordable next stage; or -1."""
    while size > 0:
        i, size = take(heap, size, urgent)
        stage = stage_after(alone, T, M, needed, int(out[i, LEVEL]), tried)
        if stage < STAGES and cost_of_stage(alone, T, M, needed, stage) <= left:
            return i, size
    return -1, size


@making
def penalise(chain, needed, rounds, tolerance, found, guess, room, total):
    """Bound a series by penalties, with the best guess so far counting steps; returns this bound."""
    up, work = penalised_stretches(chain, guess, guess.shape[0] - needed, tolerance, rounds, room.paper)
    up = max(up, found[LOWER])
    found[UPPER] = min(found[UPPER], up)
    total[WORK] += work
    return up


@making
def search_on(chain, needed, level, tolerance, found, guesses, room, total):
    """Search for a better guess at a level of effort, and for a ceiling on all guesses."""
    low, up, nodes, work = bracket(chain, needed, level, found[LOWER], tolerance, guesses[LOWER], room)
    found[LOWER] = max(found[LOWER], low)
    found[UPPER] = min(found[UPPER], up)
    total[NODES] += nodes
    total[WORK] += work


@once
def bound_first(chain, needed, tolerance, found, guesses, room, total, tried):
    """Bound a series at the lowest level: by a search, and by penalties at once if they cost no more than it.

    If the search left nearly all of the penalties' gap, for the first series, it is left out.
    """
    T, M = chain.law.shape
    first = cost_of_stage(chain.single, T, M, needed, np.int64(1))
    at_once = 0.0 < first <= AT_ONCE * T * min(needed, T - needed + 1) * M * M
    searching = not at_once or not stalled(tried, np.int64(0))
    if searching:
        search_on(chain, needed, np.int64(0), tolerance, found, guesses, room, total)
    if at_once:
        left = found[UPPER] - found[LOWER]
        up = 1.0
        if found[UPPER] > found[LOWER] * (1.0 + tolerance):
            up = penalise(chain, needed, PENALTY_ROUNDS[1], tolerance, found, guesses[LOWER], room, total)
        if searching:
            keep_score(tried, np.int64(0), up - found[LOWER], min(left, up - found[LOWER]))
        found[LEVEL] = 1


@once
def deepen(chain, needed, stage, thorough, bounded, tolerance, found, guesses, after, room, total, tried):
    """Do a series at a stage, and fill in the findings; the lowest does no more than `thorough` and `bounded` ask."""
    T, M = chain.law.shape
    level = SEARCHED[stage]
    found[LEVEL] = stage
    if level < 0:
        penalise(chain, needed, PENALTY_ROUNDS[stage], tolerance, found, guesses[LOWER], room, total)
    elif level == 0:
        first_look(chain, needed, found, guesses, thorough, after)
        total[WORK] += (LOOK * min(needed, T - needed + 1) if thorough else 4.0) * T * M * (M + 24.0)
        if thorough and bounded:
            bound_first(chain, needed, tolerance, found, guesses, room, total, tried)
    else:
        if level == 2:
            found[LOWER], more = try_constants(chain, needed, found[LOWER], guesses[LOWER], after)
            total[WORK] += more
        search_on(chain, needed, level, tolerance, found, guesses, room, total)


_RESULT = types.Tuple((out_matrix, out_whole_cube, out_vector))


@kernel(_RESULT(vector, cube, wholes, whole_matrix, cube, vector, vector, vector, whole, number, number, flag, vector))
def brackets(
    initial, matrices, place_of, classes, weights, mass, times, named, misses, tolerance, budget, sampled, anchored
):
    """Bracket the best guess for each of n series (weights (n, T, C)), of so much mass (n,) each, so many times (n,).

    Returns a table (n, 5) of findings, the guesses (n, 3, T), and the effort, with the number of unexplained series.
    The stage is -1 for an unexplained series: it is impossible, or numbers underflow. Every series (but the least
    likely of listed ones) is done at the lowest level of effort. Then the most urgent series (`urgency`) is done again
    at the next stage. This ends once the gap of the sum is within `tolerance` of it, or the `budget` of elementary
    operations is spent. For `sampled` series, the gap must be well within the sampling error of the success beyond
    a known guess's success, `anchored` (n,) or (1,) for all. With a `budget` below 0 guesses are improved, but
    nothing is bounded; with an infinite tolerance the plain guesses remain.
    """
    n, T = weights.shape[:2]
    M, P, needed = initial.shape[0], named.shape[0], T - misses
    out, guesses = np.zeros((n, 5)), np.zeros((n, 3, T), np.int64)
    law, pinned, after = np.empty((T, M)), np.empty(T, np.int64), np.empty((T, needed + 1, M))
    low, high = ranges(matrices)
    alone, none, moves = single(place_of), np.empty((0, M, M)), np.zeros((T - 1, M, M))
    penalising = cost_of_stage(alone, T, M, needed, np.int64(1)) > 0.0
    room = room_for(T, M, P, needed, ROOT_NODES[0], paper_for(alone, T, M, needed))
    total, sums, tried = np.zeros(3), np.zeros(4), np.zeros((STAGES, 3))
    whole_mass = mass * times
    order, heap, urgent, size = np.argsort(-whole_mass), np.empty(n, np.int64), np.zeros(n), 0
    done, rest, last = 0, whole_mass.sum(), anchored.shape[0] - 1
    searching, closer = tolerance < np.inf, tolerance * (CLOSER if n > 1 else ALONE)
    while True:
        if done < n:
            i, stage = order[done], 0
            done += 1
        elif not searching:
            break
        else:
            i, size = next_series(heap, size, urgent, out, alone, T, M, needed, budget - total[WORK], tried)
            if i < 0 or sums[GAP] <= allowed(sums, times.sum(), tolerance, sampled):
                break
            stage = stage_after(alone, T, M, needed, int(out[i, LEVEL]), tried)
            nodes = max(1, min(ROOT_NODES[max(SEARCHED[stage], 0)], int(5e7 / (needed * M + M))))  # type: ignore
            if nodes >= room.won.shape[0]:
                room = room_for(T, M, P, needed, nodes, room.paper)
            count_in(sums, -times[i], mass[i], out[i], anchored[min(i, last)])
        start, log_mass = posterior(initial, matrices, low, high, classes, weights[i], moves)
        if log_mass == -np.inf:
            out[i, LEVEL] = -1.0
            total[UNEXPLAINED] += 1.0
            continue
        chain = Chain(start, moves, low, high, place_of, named, alone, law, pinned, turn(moves) if penalising else none)
        look(chain)
        # The rest of the probability may stay between the plain guesses and certainty.
        thorough = searching and (sampled or rest > CLOSER * tolerance * sums[ACHIEVED])
        before = whole_mass[i] * (out[i, UPPER] - out[i, LOWER])
        deepen(chain, needed, stage, thorough, budget >= 0.0, closer, out[i], guesses[i], after, room, total, tried)
        rest -= whole_mass[i] if stage == 0 else 0.0
        count_in(sums, times[i], mass[i], out[i], anchored[min(i, last)])
        left = whole_mass[i] * (out[i, UPPER] - out[i, LOWER])
        if penalising and stage > 1:
            keep_score(tried, stage, before, left)
        urgent[i] = urgency(left, penalising, T, M, needed, int(out[i, LEVEL]), tried)
        size = put(heap, size, urgent, i) if urgent[i] > 0.0 else size
    return out, guesses, total
