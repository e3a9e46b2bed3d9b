"""What any guess can do, by charging those who are told more than a guess may use.

Told the place after each step (`ceiling`), an adversary names what suits that place; a guess names the same wherever
the person is. Let a known guess count its wrong steps beside: c of them so far, capped at s + 1. The law `P_t(c, x)` of
that count and the place does not depend on any other guess. Let whoever names g at step t pay `λ_t(c, x, g) >= 0`, if c
and x were so at the step before and success is still open. A guess that names g for all of them pays
`Λ_t(g) = Σ_{c,x} P_{t-1}(c, x) λ_t(c, x, g)` at most, so that

    success of any guess  <=  Σ_t max_g Λ_t(g)  +  W,

with W what the told adversary has left at best, by a recursion backwards over (c, k, x), k misses being left:

    W_t(c,k,x) = Σ_y Q(x,y) W_{t+1}(c',k-1,y) + max_g (Q(x,g) (W_{t+1}(c',k,g) - W_{t+1}(c',k-1,g)) - λ_t(c,x,g)).

Charges are set as the recursion goes (`charge_choice`). After that they are improved step by step (`charge_descent`):
the bound is convex in them.
"""

from typing import NamedTuple

import numpy as np

from .chain import copy, dot, push
from .charge_choice import add_times, set_charges, top
from .charge_descent import best_name, descend, walk
from .jit import adding, inlined

#: Those less likely than this share of the success of the known guess are not charged: it is not worth the work.
FAINT = 1e-5
#: Charges of all steps are kept in memory up to so many.
MOST_CHARGES = 1e7


class Desk(NamedTuple):
    """Scratch: charges and where they move (T, C, M, M), what right names add, where the told are and what they name.

    The last three are (T, C, K, M).
    """

    charges: np.ndarray
    trend: np.ndarray
    gains: np.ndarray
    mass: np.ndarray
    pick: np.ndarray


@inlined
def desk_for(steps, C, M):
    """Scratch for charges that are kept for so many steps; those of one step are set once and not improved."""
    kept = (steps, C, max(C - 1, 1), M) if steps > 1 else (1, 1, 1, 1)
    return Desk(
        np.empty((steps, C, M, M)),
        np.empty((steps, C, M, M) if steps > 1 else (1, 1, 1, 1)),
        np.empty((steps, C, max(C - 1, 1), M)),
        np.empty(kept),
        np.empty(kept, np.int64),
    )


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


@adding
def four_left(move, now, gain, charge, k, out):
    """Put in `out` (4,) what is left with k, k + 1, k + 2 and k + 3 misses: together, they are quicker."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    best_a, best_b, best_c, best_d = 0.0, 0.0, 0.0, 0.0
    now_a, now_b, now_c, now_d = now[k - 1], now[k], now[k + 1], now[k + 2]
    gain_a, gain_b, gain_c, gain_d = gain[k], gain[k + 1], gain[k + 2], gain[k + 3]
    for g in range(move.shape[0]):
        p, owed = move[g], charge[g]
        a += p * now_a[g]
        b += p * now_b[g]
        c += p * now_c[g]
        d += p * now_d[g]
        best_a = max(best_a, p * gain_a[g] - owed)
        best_b = max(best_b, p * gain_b[g] - owed)
        best_c = max(best_c, p * gain_c[g] - owed)
        best_d = max(best_d, p * gain_d[g] - owed)
    out[0], out[1], out[2], out[3] = a + best_a, b + best_b, c + best_c, d + best_d


@inlined
def pay(Q, P, now, gain, charges, left, before, W):
    """Fill `W[c, k, x]` before a step after which `left` steps follow; `before` steps were named."""
    C, K, M = W.shape
    four = np.empty(4)
    for c in range(min(C, before + 1)):
        for x in range(M):
            if P[c, x] > 0.0:
                k = max(0, K - 1 - before)
                while k < K:
                    if k > 0 and k + 3 <= min(left, K - 1):
                        four_left(Q[x], now[c], gain[c], charges[c, x], k, four)
                        for i in range(4):
                            W[c, k + i, x] = min(1.0, four[i])
                        k += 4
                        continue
                    if k > left:
                        W[c, k, x] = 1.0
                    else:
                        rest = dot(Q[x], now[c, k - 1]) if k > 0 else 0.0
                        W[c, k, x] = min(1.0, rest + best_name(Q[x], gain[c, k], charges[c, x]))
                    k += 1


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
def backwards(moves, start, pinned, named, guess, P, charges, gains, tops, fresh, faint):
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
            share = set_charges(Q, P[t - 1], gain, g, charge, sums, max(0, share - 1), T - 1 - t, faint)
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


@inlined
def charged(start, moves, law, pinned, named, guess, misses, low, enough, rounds, charges, trend, gains, mass, pick):
    """(bound, work) on the success of any guess for a chain whose states are places, with so many misses.

    `guess` (T,) is the one that counts beside, and succeeds with probability `low`. Charges are improved `rounds`
    times, or until the bound is not above `enough`. The rest is scratch: `charges` and `trend` (T, C, M, M), `gains`,
    `mass` and `pick` (T, C, K, M); without rounds, `charges` and `gains` of one step are enough.
    """
    T, M = law.shape
    C, K = misses + 2, misses + 1
    guess = guess.copy()
    for t in range(T):
        if pinned[t] >= 0:
            guess[t] = pinned[t]
    P, tops, faint = np.empty((T, C, M)), np.zeros(T, np.int64), FAINT * low
    count_beside(moves, law, guess, P)
    best, first = backwards(moves, start, pinned, named, guess, P, charges, gains, tops, np.bool_(True), faint)
    each = 2.0 * T * C * K * M * M
    work = each
    if rounds == 0 or best <= enough or T == 1:
        return best, work
    trend[:] = 0.0
    bound, state = best, np.array([1.0, 0.0])
    for _ in range(rounds):
        walk(moves, start, pinned, guess, P, charges, gains, first, mass, pick, faint)
        if not descend(pinned, P, charges, tops, mass, pick, bound - low, trend, state, faint):
            break
        bound, first = backwards(moves, start, pinned, named, guess, P, charges, gains, tops, np.bool_(False), faint)
        work += each
        best = min(best, bound)
        if best <= enough:
            break
    return best, work
