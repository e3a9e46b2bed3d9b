"""An upper bound on any guess for a stretch of steps, by Lagrangian penalties.

An adversary knowing the place after each step (`ceiling`) names the best choice for this place. A guess names the same
place at all places of the person. This difference is a constraint, and penalties are its Lagrangian duals.

Let a known guess count its wrong steps: c of them so far, capped at s + 1. The law `P_t(c, x)` of this count and the
place does not depend on any other guess. Naming g at step t costs a penalty `λ_t(c, x, g) >= 0`, if c and x were so at
the step before and success is still open. A guess naming g for all of them pays at most `Λ_t(g) = Σ_{c,x} P_{t-1}(c, x)
λ_t(c, x, g)`, so

    success of any guess  <=  Σ_t max_g Λ_t(g)  +  W,

with W the best value left to the adversary after penalties. With k misses left, it follows backwards over (c, k, x):

    W_t(c,k,x) = Σ_y Q(x,y) W_{t+1}(c',k-1,y) + max_g (Q(x,g) (W_{t+1}(c',k,g) - W_{t+1}(c',k-1,g)) - λ_t(c,x,g)).

It begins with `worth[k]`, the worth of k misses after the last step: 1 if nothing follows, and else no less than the
success of any guess at the later steps (`penalty_stretches`).

Most places are unlikely at a step. The penalty on each of these is the whole gain of its name: this is little, and
leaves no reason to name it. The few other places are weighed one by one, with penalties set during the recursion
(`penalty_names`) and improved step by step afterwards (`penalty_descent`): the bound is convex in them.

Stages of effort for a series: the work at each, its cost, and the next one.

At some stages a search of a higher level is made. At others penalties are set (`penalties`), cheap if there are many
places.
"""

import numpy as np

from passerby.kernels.chain.recursions import copy, dot, push_rows
from passerby.kernels.jit import inlined, making

from .ceiling import TOGETHER, rows_for
from .heap import NODE
from .penalty_descent import descend, fill_far, walk
from .penalty_names import (
    SHARES,
    book_for,
    first_penalties,
    full_penalties,
    list_names,
    most_unlisted,
    own_penalty,
    page,
    still_open,
    top,
)

#: Cases less likely than this share of the success of the known guess bear no penalty: it is not worth the work.
FAINT = 1e-5
#: The bound aims at this share of the gap to the known guess. If a round brings it nearer by less than the second share
#: of its aim, the aim is multiplied by the third.
AIM, NEARER, LESS = 0.5, 0.02, 0.8
#: Penalties of all steps are kept in memory up to so many.
MOST_PENALTIES = 1e7


@making
def count_beside(chain, guess, arrived, out):
    """Fill `out[t, c, x]`: the chance of x with c wrong steps of `guess` up to t (or more, for the last c).

    In `arrived` the step itself is not counted yet.
    """
    T, C, M = out.shape
    out[:] = 0.0
    arrived[:] = 0.0
    for t in range(T):
        counts, rows = min(C, t + 1), arrived[t]
        if t == 0:
            copy(chain.law[0], rows[0])
        else:
            push_rows(out[t - 1], counts, chain.turned[t - 1], rows)
        for c in range(counts):
            wrong = min(c + 1, C - 1)
            for x in range(M):
                if x == guess[t]:
                    out[t, c, x] += rows[c, x]
                else:
                    out[t, wrong, x] += rows[c, x]


@inlined
def arrive(W, g, less, gain, named):
    """Put in `less[c, k, y]` the worth of arriving at y after a wrong name, and in `gain` the gain of a right one.

    g is named beside. Rows beyond K are left as they are.
    """
    C, M = W.shape[0], W.shape[2]
    for c in range(C):
        wrong = min(c + 1, C - 1)
        for k in range(C - 1):
            here, more, fewer = W[wrong, k], gain[c, k], less[c, k]
            for y in range(M):
                more[y] = (here[y] - fewer[y]) * named[y]
            more[g] = (W[c, k, g] - fewer[g]) * named[g]
            if k + 1 < C - 1:
                copy(here, less[c, k + 1])
                less[c, k + 1, g] = W[c, k, g]


@inlined
def raise_four(move, gain, k, g, penalty, best):
    """Raise `best[i](x)` to `move(x) gain[k + i, g] - penalty(x)` if this is more, for four i: this is quicker."""
    a, b, c, d = gain[k, g], gain[k + 1, g], gain[k + 2, g], gain[k + 3, g]
    best_a, best_b, best_c, best_d = best[0], best[1], best[2], best[3]
    for x in range(move.shape[0]):
        p, owed = move[x], penalty[x]
        best_a[x] = max(best_a[x], p * a - owed)
        best_b[x] = max(best_b[x], p * b - owed)
        best_c[x] = max(best_c[x], p * c - owed)
        best_d[x] = max(best_d[x], p * d - owed)


@inlined
def pay(Q, turned, less, names, most, before, top, best, W):
    """Fill `W[c, k, x]` before a step, success being open with up to `most` misses left and worth `top` with more.

    `before` steps were named. `best` (4, M) is scratch.
    """
    C, rows, M = W.shape
    first = max(0, C - 2 - before) // TOGETHER * TOGETHER
    for c in range(min(C, before + 1)):
        push_rows(less[c, first:], max(0, min(rows, most + TOGETHER) - first), Q, W[c, first:])
        for k in range(first, most + 1, TOGETHER):
            best[:] = 0.0
            for i in range(names.places.shape[0]):
                g = names.places[i]
                raise_four(turned[g], names.gains[c], k, g, names.penalties[c, i], best)
            for j in range(TOGETHER):
                for x in range(M):
                    W[c, k + j, x] = min(1.0, W[c, k + j, x] + best[j, x])
        for k in range(most + 1, rows):
            for x in range(M):
                W[c, k, x] = top


@inlined
def first_name(start, less, gain):
    """The value left before the first step, with nobody told anything, and the place to name."""
    K, M = less.shape[0] - 1, start.shape[0]
    rest = dot(start, less[0, K - 1])
    best, pick = 0.0, 0
    for g in range(M):
        if start[g] * gain[0, K - 1, g] > best:
            best, pick = start[g] * gain[0, K - 1, g], g
    return rest + best, pick


@making
def backwards(chain, guess, worth, beside, book, rests, fresh, faint):
    """(bound, first place named) of the penalties in a book; they are set on the way if `fresh`.

    `beside` is of `count_beside`. `rests` (L,) keeps the largest sum of a name at a step, if penalised in full.
    """
    arrived, P = beside
    L, C, M = P.shape
    rows = rows_for(C - 1)
    W, less, full, best = np.ones((C, rows, M)), np.zeros((C, rows, M)), np.empty(M), np.empty((TOGETHER, M))
    for c in range(C):
        for k in range(C - 1):
            W[c, k] = worth[k]
    total, share = 0.0, 0
    for t in range(L - 1, 0, -1):
        gain, turned, most = book.gains[t % book.gains.shape[0]], chain.turned[t - 1], still_open(worth, L - t)
        arrive(W, guess[t], less, gain, chain.named)
        full_penalties(arrived[t], gain, full)
        # Good choices for a step also suit its neighbours, more or less.
        begin = max(0, share - 1)
        if fresh:
            list_names(book, t, guess[t], full, SHARES[begin] * own_penalty(arrived[t], gain, guess[t]))
        names, rests[t] = page(book, t), most_unlisted(book, t, full)
        sums = full[: names.places.shape[0]]
        if fresh:
            share = first_penalties(names, turned, P[t - 1], rests[t], sums, begin, most, faint)
        else:
            add_up(names.penalties, P[t - 1], sums)
        total += max(top(sums), rests[t])
        pay(chain.moves[t - 1], turned, less, names, most, t, worth[C - 2], best, W)
    arrive(W, guess[0], less, book.gains[0], chain.named)
    value, pick = first_name(chain.start, less, book.gains[0])
    return total + value, pick


@inlined
def add_up(penalties, P, sums):
    """Put in `sums` (n,) the sums `Λ` of penalties (C, n, M), with the law beside (C, M)."""
    sums[:] = 0.0
    for c in range(P.shape[0]):
        for i in range(sums.shape[0]):
            sums[i] += dot(P[c], penalties[c, i])


@making
def penalised(chain, guess, worth, low, enough, rounds, paper):
    """(bound, work) on the worth of any guess for a chain of places; no step of it may be pinned.

    `worth` (K,) does not decrease. `guess` (L,) is the known guess, and is worth `low`. Penalties are improved
    `rounds` times, or until the bound is not above `enough`. They are written on `paper` (2, n).
    """
    L, M = chain.law.shape
    K, C = worth.shape[0], worth.shape[0] + 1
    book = book_for(L, C, M, rounds > 0, paper)
    beside = np.empty((L, C, M)), np.empty((L, C, M))
    rests, faint = np.zeros(L), FAINT * low
    count_beside(chain, guess, beside[0], beside[1])
    best, first = backwards(chain, guess, worth, beside, book, rests, np.bool_(True), faint)
    each = C * K * M * (0.5 * L * M + book.numbers.sum())
    work = each
    if rounds == 0 or best <= enough or L == 1:
        return best, work
    book.trends[: C * M * (book.begins[1] + book.numbers[1])] = 0.0
    fill_far(book, chain.turned)
    mass, pick = np.empty((L, C, K, M)), np.empty((L, C, K, M), np.int64)
    bound, state, share = best, np.zeros(2), AIM
    for _ in range(rounds):
        walk(chain, guess, worth, beside[1], book, first, mass, pick, faint)
        aim = share * (best - low)
        if not descend(beside[1], book, rests, mass, pick, bound - best + aim, state):
            break
        bound, first = backwards(chain, guess, worth, beside, book, rests, np.bool_(False), faint)
        work += each
        share *= 1.0 if bound < best - NEARER * aim else LESS
        best = min(best, bound)
        if best <= enough:
            break
    return best, work


#: Effort by level: nodes for each known state, and nodes for the whole chain.
STATE_NODES = np.array([1, 1, 4, 16, 64, 256])
ROOT_NODES = np.array([12, 24, 100, 400, 1600, 6400])
LEVELS = 6
#: The work on a series at each stage: a search of some level, or so many rounds of penalties; -1 for neither.
SEARCHED = np.array([0, -1, -1, -1, 1, 2, 3, 4, 5])
PENALTY_ROUNDS = np.array([-1, 0, 8, 32, -1, -1, -1, -1, -1])
STAGES = 9
#: Fewer places than this are searched, without penalties: this is as quick.
FEW = 24
#: If penalties are set, a stage leaving more than this share of the gaps of so many series is given up.
TRIED, STALLED = 6, 0.8
#: Largest number of operations spent on union sums at the lowest level, and above.
UNION_AT_ONCE, UNION_LIMIT = 1e5, 1e8


@inlined
def pairs_of_steps(T, M, needed):
    """How many pairs of a state and a later one unions look at."""
    return min(T * T / 2.0, T * (T - needed + 1.0)) * M * M


@inlined
def adds_up(T, M, needed, level):
    """Whether unions over the first right step are added up for every state at a level."""
    return pairs_of_steps(T, M, needed) * (M + needed) <= (UNION_LIMIT if level > 0 else UNION_AT_ONCE)


@inlined
def cost_of_level(T, M, needed, level):
    """Rough number of elementary operations of a level: a search from every state and one from the start."""
    width = min(needed, T - needed + 1)
    states = T * M * width if STATE_NODES[level] > 1 else 0
    return (states * STATE_NODES[level] + 2.0 * ROOT_NODES[level] * T) * (NODE + min(width, 8) * M * (M + 8.0))


@inlined
def cost_of_stage(chain_single, T, M, needed, stage):
    """Elementary operations of a stage, roughly; none for penalties on few or too many places, or shared states."""
    if SEARCHED[stage] >= 0:
        return cost_of_level(T, M, needed, SEARCHED[stage])
    misses, rounds = T - needed, PENALTY_ROUNDS[stage]
    kept = (T if rounds > 0 else 1.0) * (misses + 2.0) * M * M
    if not chain_single or M < FEW or kept > MOST_PENALTIES:
        return 0.0
    return (rounds + 1.0) * T * (misses + 2.0) * (misses + 1.0) * M * M


@making
def paper_for(chain_single, T, M, needed):
    """Paper (2, n) for the penalties of all steps if they are improved, and of one if they are only set."""
    steps = 0
    if cost_of_stage(chain_single, T, M, needed, np.int64(1)) > 0.0:
        steps = T if cost_of_stage(chain_single, T, M, needed, np.int64(2)) > 0.0 else 1
    return np.empty((2, steps * (T - needed + 2) * M * M))


@inlined
def stage_after(alone, T, M, needed, stage, tried):
    """The next stage with something to do that was not tried in vain; none after the last one.

    If the lowest search helped nobody and unions are too many to add up, no other will help.
    """
    hopeless = stalled(tried, np.int64(0)) and not adds_up(T, M, needed, np.int64(1))
    stage += 1
    while stage < STAGES and (
        cost_of_stage(alone, T, M, needed, stage) == 0.0 or in_vain(tried, stage) or (hopeless and SEARCHED[stage] >= 0)
    ):
        stage += 1
    return stage


@inlined
def in_vain(tried, stage):
    """Whether a stage stalled, or less of the same did: fewer rounds; or these, and the cheapest search after them."""
    rounds = stalled(tried, np.int64(2))
    return stalled(tried, stage) or (rounds and (stage == 3 or (stage > 4 and stalled(tried, np.int64(4)))))


@inlined
def stalled(tried, stage):
    """Whether a stage left nearly all of the gaps of the first series it was tried for."""
    return tried[stage, 0] >= TRIED and tried[stage, 2] > STALLED * tried[stage, 1]


@inlined
def keep_score(tried, stage, before, after):
    """Count a series with so large a gap before and after a stage."""
    tried[stage, 0] += 1.0
    tried[stage, 1] += before
    tried[stage, 2] += after


@inlined
def urgency(gap, penalising, T, M, needed, stage, tried):
    """How soon a series is done again after a stage: the larger its gap is, the sooner; 0 if no stage follows.

    If some are penalised, the gap is divided by the cost of the next stage. Many rounds for the series with the widest
    gap bring less than a few for each of many.
    """
    if not penalising:
        return gap if stage < STAGES - 1 else 0.0
    stage = stage_after(np.bool_(True), T, M, needed, stage, tried)
    return gap / cost_of_stage(np.bool_(True), T, M, needed, stage) if stage < STAGES else 0.0
