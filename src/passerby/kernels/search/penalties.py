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
"""

import numpy as np

from passerby.kernels.chain.recursions import copy, dot, push_rows
from passerby.kernels.jit import inlined, making

from .ceiling import TOGETHER, rows_for
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
