"""Good guesses for a chain: decoded, step by step, constant, and improved one step at a time.

The chain is a start `a` (M,) and matrices `Q` (T-1, M, M); `named` (M,) is 1 for places that may be guessed. Tables
over numbers are (number, place).
"""

import numpy as np

from .chain import dot, likeliest, push
from .jit import inlined

#: Sweeps after which an ascent stops; it nearly always settles in fewer than ten.
SWEEPS = 25


@inlined
def rows_alive(needed, t, T):
    """Numbers right before step t is guessed from which `needed` can still be reached: first, and one past the last."""
    return max(0, needed - (T - t)), min(needed, t + 1)


@inlined
def advance(now, new, P, first, last):
    """Move the rows first..last-1, and the last row of all (enough right), one step on."""
    enough = now.shape[0] - 1
    for r in range(first, last):
        push(now[r], P, new[r])
    push(now[enough], P, new[enough])


@inlined
def shift(table, first, last, g):
    """Count one more right step for those at g; the last row of all collects those with enough."""
    enough = table.shape[0] - 1
    if last < enough:
        table[last] = 0.0
    for r in range(last - 1, first - 1, -1):
        table[r + 1, g] = table[r, g] + (table[enough, g] if r + 1 == enough else 0.0)
        table[r, g] = 0.0


@inlined
def map_guess(a, Q, named, guess):
    """The likeliest trace of the chain, ties to the lowest place; rescaled at each step against underflow."""
    T, M = guess.shape[0], a.shape[0]
    v = np.zeros((T, M))
    v[0] = a * named
    for t in range(1, T):
        top = v[t - 1].max()
        for x in range(M):
            if v[t - 1, x] > 0.0:
                b = v[t - 1, x] / top
                for y in range(M):
                    v[t, y] = max(v[t, y], b * Q[t - 1, x, y] * named[y])
    guess[T - 1] = likeliest(v[T - 1], named)
    for t in range(T - 2, -1, -1):
        for x in range(M):
            v[t, x] *= Q[t, x, guess[t + 1]]
        guess[t] = likeliest(v[t], named)


@inlined
def score(a, Q, guess, needed):
    """`Pr[at least `needed` steps of guess are right]`, needed >= 1: a forward recursion over (number, place)."""
    T, M = guess.shape[0], a.shape[0]
    now = np.zeros((needed + 1, M))
    new = np.zeros((needed + 1, M))
    for t in range(T):
        first, last = rows_alive(needed, t, T)
        if t == 0:
            now[0] = a
        else:
            advance(now, new, Q[t - 1], first, last)
            now, new = new, now
        shift(now, first, last, guess[t])
    return min(1.0, now[needed].sum())


@inlined
def look_back(Q, guess, needed, after):
    """`after[t, k, x]` = Pr[at least k of the steps after t are right | X_t = x], for a fixed guess.

    Only the numbers that can still matter at each step are filled in; `after[t, 0]` must be 1 and the rest 0 before.
    """
    T, M = guess.shape[0], Q.shape[2]
    later = np.empty(M)
    for t in range(T - 2, -1, -1):
        g = guess[t + 1]
        for k in range(max(1, needed - t - 1), min(needed, T - 1 - t) + 1):
            later[:] = after[t + 1, k]
            later[g] = after[t + 1, k - 1, g]
            for x in range(M):
                after[t, k, x] = dot(Q[t, x], later)


@inlined
def ascend(a, Q, named, guess, needed, after):
    """Improve `guess` in place, one step at a time to the place with the largest gain, until nothing helps.

    Returns its success. One sweep forward over all steps costs as much as scoring the guess twice: with F the forward
    and `after` the backward table, naming x at step t is worth `Σ_r F(r,x) (after(m-r-1,x) - after(m-r,x))` more than
    naming nobody's place. `after` (T, needed + 1, M) is scratch.
    """
    T, M = guess.shape[0], a.shape[0]
    now = np.zeros((needed + 1, M))
    new = np.zeros((needed + 1, M))
    gain = np.empty(M)
    after[:] = 0.0
    after[:, 0] = 1.0
    best = -1.0
    for _ in range(SWEEPS):
        look_back(Q, guess, needed, after)
        now[:] = 0.0
        changed = False
        for t in range(T):
            first, last = rows_alive(needed, t, T)
            if t == 0:
                now[0] = a
            else:
                advance(now, new, Q[t - 1], first, last)
                now, new = new, now
            gain[:] = 0.0
            for r in range(first, last):
                row, more, less = now[r], after[t, needed - r - 1], after[t, needed - r]
                for x in range(M):
                    gain[x] += row[x] * (more[x] - less[x])
            # Rounding may leave every gain a little below zero; a place that may not be named loses all the same.
            pick = likeliest(gain, named)
            # A relative margin keeps rounding from moving between equals for ever.
            if gain[pick] > gain[guess[t]] * (1.0 + 1e-12):
                guess[t] = pick
                changed = True
            shift(now, first, last, guess[t])
        best = min(1.0, now[needed].sum())
        if not changed:
            break
    return best
