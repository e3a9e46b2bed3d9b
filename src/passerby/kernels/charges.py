"""What any guess can do, by charging those who are told more than a guess may use.

Told the place after each step (`ceiling`), an adversary names what suits that place; a guess names the same wherever
the person is. Let a known guess count its wrong steps beside: c of them so far, capped at s + 1. The law `P_t(c, x)` of
that count and the place does not depend on any other guess. Let whoever names g at step t pay `λ_t(c, x, g) >= 0`, if c
and x were so at the step before and success is still open. A guess that names g for all of them pays
`Λ_t(g) = Σ_{c,x} P_{t-1}(c, x) λ_t(c, x, g)` at most, so that

    success of any guess  <=  Σ_t max_g Λ_t(g)  +  W,

with W what the told adversary has left at best, by a recursion backwards over (c, k, x), k misses being left:

    W_t(c,k,x) = Σ_y Q(x,y) W_{t+1}(c',k-1,y) + max_g (Q(x,g) (W_{t+1}(c',k,g) - W_{t+1}(c',k-1,g)) - λ_t(c,x,g)).

Charges are set as the recursion goes, so that the known guess is as good as any other wherever it has as many misses
left; what may be charged for other places without raising `max_g Λ(g)` is charged to those who have more. After that
they are improved step by step (`charge_descent`): the bound is convex in them.
"""

import numpy as np
from numba import types

from .chain import copy, dot, push
from .charge_descent import best_name, descend, walk
from .jit import (
    adding,
    cube,
    inlined,
    kernel,
    matrix,
    number,
    vector,
    whole,
    wholes,
)

#: Shares of what naming the known guess gains that are tried as its own charge, until no other place is charged more.
SHARES = np.array([0.0, 0.03, 0.06, 0.1, 0.2, 0.4, 0.7, 1.0])
#: Charges are raised for those who have up to so many misses more left than the known guess.
AHEAD = 2
#: Charges of all steps are kept in memory up to so many.
MOST_CHARGES = 1e7


@inlined
def count_beside(moves, law, guess, out):
    """Fill `out[t, c, x]`: the chance that `guess` has c wrong steps up to t (or more, for the last c), and of x."""
    T, C, M = out.shape
    out[:] = 0.0
    row = np.empty(M)
    for t in range(T):
        for c in range(min(C, t + 1)):
            if t == 0:
                copy(law[0], row)
            else:
                push(out[t - 1, c], moves[t - 1], row)
            wrong = min(c + 1, C - 1)
            for x in range(M):
                if x == guess[t]:
                    out[t, c, x] += row[x]
                else:
                    out[t, wrong, x] += row[x]


@inlined
def arrive(W, g, now, gain, named):
    """Put in `now[c, k, y]` what arriving at y is worth, g being named beside, and in `gain` what a right name adds."""
    C, K, M = W.shape
    for c in range(C):
        wrong = min(c + 1, C - 1)
        for k in range(K):
            copy(W[wrong, k], now[c, k])
            now[c, k, g] = W[c, k, g]
            for y in range(M):
                gain[c, k, y] = (now[c, k, y] - (now[c, k - 1, y] if k > 0 else 0.0)) * named[y]


@inlined
def charge_row(move, gain, mine, share, out):
    """`out(g) = max(0, A(g) - A(mine) + share max(0, A(mine)))`, `A(g) = move(g) gain(g)`."""
    least = (share - 1.0) * max(0.0, move[mine] * gain[mine])
    for g in range(move.shape[0]):
        out[g] = max(0.0, move[g] * gain[g] + least)


@inlined
def add_times(a, row, out):
    """`out += a row`."""
    for g in range(row.shape[0]):
        out[g] += a * row[g]


@adding
def top(row):
    """The largest entry, or 0."""
    best = 0.0
    for g in range(row.shape[0]):
        best = max(best, row[g])
    return best


@inlined
def set_charges(Q, P, gain, mine, charges, sums, begin):
    """Fill `charges` (C, M, M) for a step, and `sums` (M,), `Λ`: with a share at which no place exceeds `mine`.

    `P` (C, M) is the law beside at the step before, `gain` (C, K, M) what a right name adds. Shares are tried from the
    number `begin` on; returns the number of the one that was taken.
    """
    C, K, M = gain.shape
    share, taken = 0.0, begin
    for i in range(begin, SHARES.shape[0]):
        share, taken = SHARES[i], i
        sums[:] = 0.0
        for c in range(K):
            for x in range(M):
                if P[c, x] > 0.0:
                    charge_row(Q[x], gain[c, K - 1 - c], mine, share, charges[c, x])
                    add_times(P[c, x], charges[c, x], sums)
        if top(sums) <= sums[mine]:
            break
    charges[C - 1] = 0.0
    raised, more = np.empty(M), np.empty(M)
    for ahead in range(1, AHEAD + 1):
        limit = top(sums)
        more[:] = 0.0
        for c in range(1, C):
            k = K - 1 - c + ahead
            if k < K:
                for x in range(M):
                    if P[c, x] > 0.0:
                        target(Q[x], gain, c, k, mine, share, charges[c, x], raised)
                        add_times(P[c, x], raised, more)
        for g in range(M):
            more[g] = min(1.0, (limit - sums[g]) / more[g]) if more[g] > 0.0 and g != mine else 0.0
        for c in range(1, C):
            k = K - 1 - c + ahead
            if k < K:
                for x in range(M):
                    if P[c, x] > 0.0:
                        target(Q[x], gain, c, k, mine, share, charges[c, x], raised)
                        for g in range(M):
                            raised[g] *= more[g]
                            charges[c, x, g] += raised[g]
                        add_times(P[c, x], raised, sums)
    return taken


@inlined
def target(move, gain, c, k, mine, share, charge, out):
    """What charges lack to make `mine` as good as any other place for those with k misses left."""
    K = gain.shape[1]
    own = share * max(0.0, move[mine] * gain[c, K - 1 - c, mine]) if c < K else 0.0
    line = gain[c, k]
    least = own - move[mine] * line[mine]
    for g in range(move.shape[0]):
        out[g] = max(0.0, move[g] * line[g] + least - charge[g])


@inlined
def pay(Q, P, now, gain, charges, left, before, W):
    """Fill `W[c, k, x]` before a step after which `left` steps follow; `before` steps were named."""
    C, K, M = W.shape
    for c in range(min(C, before + 1)):
        for x in range(M):
            if P[c, x] > 0.0:
                for k in range(max(0, K - 1 - before), K):
                    if k > left:
                        W[c, k, x] = 1.0
                    else:
                        rest = dot(Q[x], now[c, k - 1]) if k > 0 else 0.0
                        W[c, k, x] = min(1.0, rest + best_name(Q[x], gain[c, k], charges[c, x]))


@inlined
def first_name(start, now, gain):
    """What is left before the first step, for which nobody is told anything: its value, and the place to name."""
    K, M = now.shape[1:]
    rest = dot(start, now[0, K - 2]) if K > 1 else 0.0
    best, pick = 0.0, 0
    for g in range(M):
        if start[g] * gain[0, K - 1, g] > best:
            best, pick = start[g] * gain[0, K - 1, g], g
    return rest + best, pick


@inlined
def backwards(moves, start, pinned, named, guess, P, charges, gains, tops, fresh):
    """(bound, first place named) of charges (T or 1, C, M, M), which are set on the way if `fresh`.

    `gains` (T or 1, C, K, M) keeps what right names add, and `tops` (T,) the place that is charged most at each step.
    """
    T, C, M = P.shape
    K = C - 1
    W, now, sums = np.ones((C, K, M)), np.empty((C, K, M)), np.empty(M)
    total, share = 0.0, 0
    for t in range(T - 1, 0, -1):
        g, Q = guess[t], moves[t - 1]
        charge, gain = charges[t % charges.shape[0]], gains[t % gains.shape[0]]
        arrive(W, g, now, gain, named)
        if pinned[t] >= 0:
            for c in range(C):
                for k in range(K):
                    W[c, k] = now[c, k, g]
            continue
        if fresh:
            # What suits a step suits its neighbours, more or less.
            share = set_charges(Q, P[t - 1], gain, g, charge, sums, max(0, share - 1))
        else:
            sums[:] = 0.0
            for c in range(C):
                for x in range(M):
                    if P[t - 1, c, x] > 0.0:
                        add_times(P[t - 1, c, x], charge[c, x], sums)
        tops[t] = np.argmax(sums)
        total += top(sums)
        pay(Q, P[t - 1], now, gain, charge, T - 1 - t, t, W)
    arrive(W, guess[0], now, gains[0], named)
    value, pick = first_name(start, now, gains[0])
    return total + value, pick


@kernel(types.UniTuple(number, 2)(vector, cube, matrix, wholes, vector, wholes, whole, number, number, whole))
def charged(start, moves, law, pinned, named, guess, misses, low, enough, rounds):
    """(bound, work) on the success of any guess for a chain whose states are places, with so many misses.

    `guess` (T,) is the one that counts beside, and succeeds with probability `low`. Charges are improved `rounds`
    times, or until the bound is not above `enough`.
    """
    T, M = law.shape
    C, K = misses + 2, misses + 1
    guess = guess.copy()
    for t in range(T):
        if pinned[t] >= 0:
            guess[t] = pinned[t]
    P = np.empty((T, C, M))
    count_beside(moves, law, guess, P)
    kept = T if rounds > 0 else 1
    charges, gains, tops = np.zeros((kept, C, M, M)), np.zeros((kept, C, K, M)), np.zeros(T, np.int64)
    best, first = backwards(moves, start, pinned, named, guess, P, charges, gains, tops, np.bool_(True))
    each = 2.0 * T * C * K * M * M
    work = each
    if rounds == 0 or best <= enough:
        return best, work
    mass, pick = np.zeros((T, C, K, M)), np.zeros((T, C, K, M), np.int64)
    trend, state = np.zeros((T, C, M, M)), np.array([1.0, 0.0])
    bound = best
    for _ in range(rounds):
        walk(moves, start, pinned, guess, P, charges, gains, first, mass, pick)
        if not descend(pinned, P, charges, tops, mass, pick, bound - low, trend, state):
            break
        bound, first = backwards(moves, start, pinned, named, guess, P, charges, gains, tops, np.bool_(False))
        work += each
        best = min(best, bound)
        if best <= enough:
            break
    return best, work
