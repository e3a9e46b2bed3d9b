"""Good guesses for a chain: decoded, step by step, constant, and improved one step at a time.

The chain is a start `a` (M,) and matrices `Q` (T-1, M, M); `named` (M,) is 1 for places that may be guessed. Tables
over numbers are (number, place).
"""

import numpy as np

from .chain import push
from .jit import inlined


@inlined
def shift(table, g):
    """Count one more right step for those at g. The last row is left alone: enough is enough."""
    last = table.shape[0] - 1
    table[last, g] += table[last - 1, g]
    for r in range(last - 1, 0, -1):
        table[r, g] = table[r - 1, g]
    table[0, g] = 0.0


@inlined
def map_guess(a, Q, named, guess):
    """The likeliest trace of the chain, ties to the lowest place; rescaled at each step against underflow."""
    T, M = guess.shape[0], a.shape[0]
    v = np.zeros((T, M))
    v[0] = a * named
    for t in range(1, T):
        top = v[t - 1].max()
        for x in range(M):
            b = v[t - 1, x] / top
            if b > 0.0:
                for y in range(M):
                    v[t, y] = max(v[t, y], b * Q[t - 1, x, y] * named[y])
    guess[T - 1] = np.argmax(v[T - 1])
    for t in range(T - 2, -1, -1):
        guess[t] = np.argmax(v[t] * Q[t, :, guess[t + 1]])


@inlined
def score(a, Q, guess, needed):
    """`Pr[at least `needed` steps of guess are right]`, needed >= 1: a forward recursion over (number, place)."""
    T, M = guess.shape[0], a.shape[0]
    now = np.zeros((needed + 1, M))
    new = np.zeros((needed + 1, M))
    now[0] = a
    shift(now, guess[0])
    for t in range(1, T):
        for r in range(needed + 1):
            push(now[r], Q[t - 1], new[r])
        now, new = new, now
        shift(now, guess[t])
    return now[needed].sum()


@inlined
def look_back(Q, guess, needed, after):
    """`after[t, k, x]` = Pr[at least k of the steps after t are right | X_t = x], for a fixed guess."""
    T, M = guess.shape[0], Q.shape[2]
    after[T - 1, 0] = 1.0
    after[T - 1, 1:] = 0.0
    for t in range(T - 2, -1, -1):
        after[t, 0] = 1.0
        g = guess[t + 1]
        for k in range(1, needed + 1):
            later = after[t + 1, k].copy()
            later[g] = after[t + 1, k - 1, g]
            for x in range(M):
                line = Q[t, x]
                total = 0.0
                for y in range(M):
                    total += line[y] * later[y]
                after[t, k, x] = total


@inlined
def ascend(a, Q, named, guess, needed, after):
    """Improve `guess` in place, one step at a time to the place with the largest gain, until nothing helps.

    Returns its success. One sweep forward over all steps costs as much as scoring the guess twice: with F the forward
    and `after` the backward table, naming x at step t is worth `Σ_r F(r,x) (after(m-r-1,x) - after(m-r,x))` more than
    naming nobody's place.
    """
    T, M = guess.shape[0], a.shape[0]
    now = np.empty((needed + 1, M))
    new = np.empty((needed + 1, M))
    best = -1.0
    for _ in range(2 * T):
        look_back(Q, guess, needed, after)
        now[:] = 0.0
        now[0] = a
        changed = False
        for t in range(T):
            if t > 0:
                for r in range(needed + 1):
                    push(now[r], Q[t - 1], new[r])
                now, new = new, now
            pick, top, kept = guess[t], -1.0, 0.0
            for x in range(M):
                gain = 0.0
                for r in range(needed):
                    gain += now[r, x] * (after[t, needed - r - 1, x] - after[t, needed - r, x])
                gain *= named[x]
                if x == guess[t]:
                    kept = gain
                if gain > top:
                    top, pick = gain, x
            # A relative margin keeps rounding from moving between equals for ever.
            if top > kept * (1.0 + 1e-12):
                guess[t] = pick
                changed = True
            shift(now, guess[t])
        best = now[needed].sum()
        if not changed:
            break
    return best
