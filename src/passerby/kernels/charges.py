"""What any guess for a stretch of steps can do, by charging those who are told more than a guess may use.

Told the place after each step (`ceiling`), an adversary names what suits that place; a guess names the same wherever
the person is. Let a known guess count its wrong steps beside: c of them so far, capped at s + 1. The law `P_t(c, x)` of
that count and the place does not depend on any other guess. Let whoever names g at step t pay `λ_t(c, x, g) >= 0`, if c
and x were so at the step before and success is still open. A guess that names g for all of them pays
`Λ_t(g) = Σ_{c,x} P_{t-1}(c, x) λ_t(c, x, g)` at most, so that

    success of any guess  <=  Σ_t max_g Λ_t(g)  +  W,

with W what the told adversary has left at best, by a recursion backwards over (c, k, x), k misses being left:

    W_t(c,k,x) = Σ_y Q(x,y) W_{t+1}(c',k-1,y) + max_g (Q(x,g) (W_{t+1}(c',k,g) - W_{t+1}(c',k-1,g)) - λ_t(c,x,g)).

It begins with what k misses that are left are worth after the last step, `worth[k]`: 1 where nothing follows, and else
no less than the success of any guess at what follows (`charge_stretches`).

Charges are set as the recursion goes (`charge_choice`). After that they are improved step by step (`charge_descent`):
the bound is convex in them.
"""

from typing import NamedTuple

import numpy as np

from .ceiling import TOGETHER, rows_for
from .chain import copy, dot, push_rows
from .charge_choice import add_times, set_charges, still_open, top
from .charge_descent import descend, walk
from .jit import adding, inlined, making

#: Those less likely than this share of the success of the known guess are not charged: it is not worth the work.
FAINT = 1e-5
#: The bound aims at the success of the known guess. After so many rounds that brought it nearer by less than this share
#: of what it aims at, it aims at so much of that.
PATIENCE, NEARER, LESS = 3, 0.02, 0.7
#: Charges of all steps are kept in memory up to so many.
MOST_CHARGES = 1e7


class Desk(NamedTuple):
    """Scratch: charges and where they move (T, C, M, M), what right names add, where the told are and what they name.

    Gains are (T, C, R, M), with rows beyond K that are empty, and the last two (T, C, K, M).
    """

    charges: np.ndarray
    trend: np.ndarray
    gains: np.ndarray
    mass: np.ndarray
    pick: np.ndarray


@making
def desk_for(steps, C, M):
    """Scratch for charges that are kept for so many steps; those of one step are set once and not improved."""
    kept = (steps, C, C - 1, M) if steps > 1 else (1, 1, 1, 1)
    return Desk(
        np.empty((steps, C, M, M)),
        np.empty((steps, C, M, M) if steps > 1 else (1, 1, 1, 1)),
        np.zeros((steps, C, rows_for(C - 1), M)),
        np.empty(kept),
        np.empty(kept, np.int64),
    )


@making
def count_beside(chain, guess, out):
    """Fill `out[t, c, x]`: the chance that `guess` has c wrong steps up to t (or more, for the last c), and of x."""
    T, C, M = out.shape
    out[:] = 0.0
    rows = np.empty((C, M))
    for t in range(T):
        counts = min(C, t + 1)
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
    """Put in `less[c, k, y]` what arriving at y after a wrong name is worth, and in `gain` what a right one adds.

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


@adding
def four_left(move, less, gain, charge, k, x, out):
    """Fill `out[k..k+3, x]`, what is left with k, k + 1, k + 2 and k + 3 misses: together, they are quicker."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    best_a, best_b, best_c, best_d = 0.0, 0.0, 0.0, 0.0
    less_a, less_b, less_c, less_d = less[k], less[k + 1], less[k + 2], less[k + 3]
    gain_a, gain_b, gain_c, gain_d = gain[k], gain[k + 1], gain[k + 2], gain[k + 3]
    for g in range(move.shape[0]):
        p, owed = move[g], charge[g]
        a += p * less_a[g]
        b += p * less_b[g]
        c += p * less_c[g]
        d += p * less_d[g]
        best_a = max(best_a, p * gain_a[g] - owed)
        best_b = max(best_b, p * gain_b[g] - owed)
        best_c = max(best_c, p * gain_c[g] - owed)
        best_d = max(best_d, p * gain_d[g] - owed)
    out[k, x] = min(1.0, a + best_a)
    out[k + 1, x] = min(1.0, b + best_b)
    out[k + 2, x] = min(1.0, c + best_c)
    out[k + 3, x] = min(1.0, d + best_d)


@inlined
def pay(Q, P, less, gain, charges, most, before, top, W):
    """Fill `W[c, k, x]` before a step, success being open with up to `most` misses left and worth `top` with more.

    `before` steps were named.
    """
    C, rows, M = W.shape
    first = max(0, C - 2 - before) // TOGETHER * TOGETHER
    for c in range(min(C, before + 1)):
        for x in range(M):
            if P[c, x] > 0.0:
                for k in range(first, most + 1, TOGETHER):
                    four_left(Q[x], less[c], gain[c], charges[c, x], k, x, W[c])
                for k in range(most + 1, rows):
                    W[c, k, x] = top


@inlined
def first_name(start, less, gain):
    """What is left before the first step, for which nobody is told anything: its value, and the place to name."""
    K, M = less.shape[0] - 1, start.shape[0]
    rest = dot(start, less[0, K - 1])
    best, pick = 0.0, 0
    for g in range(M):
        if start[g] * gain[0, K - 1, g] > best:
            best, pick = start[g] * gain[0, K - 1, g], g
    return rest + best, pick


@making
def backwards(chain, guess, worth, P, charges, gains, tops, fresh, faint):
    """(bound, first place named) of charges (L or 1, C, M, M), which are set on the way if `fresh`.

    `gains` (L or 1, C, R, M) keeps what right names add, and `tops` (L,) the place that is charged most at each step.
    """
    L, C, M = P.shape
    rows = rows_for(C - 1)
    W, less, sums = np.ones((C, rows, M)), np.zeros((C, rows, M)), np.empty(M)
    for c in range(C):
        for k in range(C - 1):
            W[c, k] = worth[k]
    total, share = 0.0, 0
    for t in range(L - 1, 0, -1):
        Q, charge, gain = chain.moves[t - 1], charges[t % charges.shape[0]], gains[t % gains.shape[0]]
        most = still_open(worth, L - t)
        arrive(W, guess[t], less, gain, chain.named)
        if fresh:
            # What suits a step suits its neighbours, more or less.
            share = set_charges(Q, P[t - 1], gain, guess[t], charge, sums, max(0, share - 1), most, faint)
        else:
            sums[:] = 0.0
            for c in range(C):
                for x in range(M):
                    if P[t - 1, c, x] > 0.0:
                        add_times(P[t - 1, c, x], charge[c, x], sums)
        tops[t] = np.argmax(sums)
        total += top(sums)
        pay(Q, P[t - 1], less, gain, charge, most, t, worth[C - 2], W)
    arrive(W, guess[0], less, gains[0], chain.named)
    value, pick = first_name(chain.start, less, gains[0])
    return total + value, pick


@making
def charged(chain, guess, worth, low, enough, rounds):
    """(bound, work) on what any guess for a chain whose states are places is worth; no step of it may be pinned.

    `worth` (K,) does not decrease. `guess` (L,) is the one that counts beside, and is worth `low`. Charges are improved
    `rounds` times, or until the bound is not above `enough`.
    """
    L, M = chain.law.shape
    K, C = worth.shape[0], worth.shape[0] + 1
    desk = desk_for(L if rounds > 0 else np.int64(1), C, M)
    charges, gains, mass, pick = desk.charges, desk.gains, desk.mass, desk.pick
    P, tops, faint = np.empty((L, C, M)), np.zeros(L, np.int64), FAINT * low
    count_beside(chain, guess, P)
    best, first = backwards(chain, guess, worth, P, charges, gains, tops, np.bool_(True), faint)
    each = 2.0 * L * C * K * M * M
    work = each
    if rounds == 0 or best <= enough or L == 1:
        return best, work
    desk.trend[:] = 0.0
    bound, state = best, np.array([1.0, 0.0])
    share, idle = 1.0, 0
    for _ in range(rounds):
        walk(chain, guess, worth, P, charges, gains, first, mass, pick, faint)
        aim = share * (best - low)
        if not descend(P, charges, tops, mass, pick, bound - best + aim, desk.trend, state, faint):
            break
        bound, first = backwards(chain, guess, worth, P, charges, gains, tops, np.bool_(False), faint)
        work += each
        idle = 0 if bound < best - NEARER * aim else idle + 1
        if idle == PATIENCE:
            share, idle = share * LESS, 0
        best = min(best, bound)
        if best <= enough:
            break
    return best, work
