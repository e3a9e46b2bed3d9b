"""Good guesses for a chain: decoded, step by step, constant, and improved one step at a time.

The chain is a `posterior.Chain`, and a guess names places. Tables over numbers are (number, state).
"""

import numpy as np

from passerby.kernels.chain.posterior import ahead, move
from passerby.kernels.chain.recursions import copy, likeliest
from passerby.kernels.jit import inlined, making

#: Sweeps after which an ascent stops; it nearly always settles in fewer than ten.
SWEEPS = 25


@inlined
def rows_alive(needed, t, T):
    """Numbers right before guessing step t from which `needed` can still be reached: first, and one past the last."""
    return max(0, needed - (T - t)), min(needed, t + 1)


@inlined
def advance(chain, t, now, new, first, last):
    """Move the rows first..last-1, and the last row of all (enough right), one step on."""
    enough = now.shape[0] - 1
    for r in range(first, last):
        move(chain, t, now[r], new[r])
    move(chain, t, now[enough], new[enough])


@inlined
def shift(chain, table, first, last, g):
    """Count one more right step for people at place g; the last row of all collects people with enough."""
    enough = table.shape[0] - 1
    if last < enough:
        table[last] = 0.0
    for x in range(table.shape[1]):
        if chain.place_of[x] == g:
            for r in range(last - 1, first - 1, -1):
                table[r + 1, x] = table[r, x] + (table[enough, x] if r + 1 == enough else 0.0)
                table[r, x] = 0.0


@making
def map_guess(chain, guess):
    """The likeliest trace of states, as places, ties to the lowest state; rescaled at each step against underflow."""
    T, M = guess.shape[0], chain.start.shape[0]
    v = np.zeros((T, M))
    named = np.empty(M)
    for x in range(M):
        named[x] = chain.named[chain.place_of[x]]
        v[0, x] = chain.start[x] * named[x]
    for t in range(1, T):
        top = v[t - 1].max()
        for x in range(M):
            if v[t - 1, x] > 0.0:
                b = v[t - 1, x] / top
                line = chain.moves[t - 1, x]
                for y in range(chain.low[x], chain.high[x]):
                    v[t, y] = max(v[t, y], b * line[y] * named[y])
    state = likeliest(v[T - 1], named)
    guess[T - 1] = chain.place_of[state]
    for t in range(T - 2, -1, -1):
        for x in range(M):
            v[t, x] *= chain.moves[t, x, state]
        state = likeliest(v[t], named)
        guess[t] = chain.place_of[state]


@making
def score(chain, guess, needed):
    """`Pr[at least `needed` steps of guess are right]`, needed >= 1: a forward recursion over (number, state)."""
    T, M = guess.shape[0], chain.start.shape[0]
    now = np.zeros((needed + 1, M))
    new = np.zeros((needed + 1, M))
    for t in range(T):
        first, last = rows_alive(needed, t, T)
        if t == 0:
            copy(chain.start, now[0])
        else:
            advance(chain, t - 1, now, new, first, last)
            now, new = new, now
        shift(chain, now, first, last, guess[t])
    return min(1.0, now[needed].sum())


@making
def look_back(chain, guess, needed, after):
    """`after[t, k, x]` = Pr[at least k of the steps after t are right | X_t = x], for a fixed guess.

    Only the numbers relevant at each step are filled in; `after[t, 0]` must be 1 and the rest 0 before.
    """
    T, M = guess.shape[0], chain.start.shape[0]
    later = np.empty(M)
    for t in range(T - 2, -1, -1):
        g = guess[t + 1]
        for k in range(max(1, needed - t - 1), min(needed, T - 1 - t) + 1):
            for x in range(M):
                later[x] = after[t + 1, k - 1 if chain.place_of[x] == g else k, x]
            for x in range(M):
                after[t, k, x] = ahead(chain, t, x, later)


@making
def ascend(chain, guess, needed, after):
    """Improve `guess` in place, one step at a time to the place with the largest gain, until nothing helps.

    Returns its success. One sweep forward over all steps costs as much as scoring the guess twice. With F the forward
    and `after` the backward table, naming a place at step t adds `Σ_r F(r,x) (after(m-r-1,x) - after(m-r,x))` for each
    of its states x. `after` (T, needed + 1, M) is scratch.
    """
    T, M = guess.shape[0], chain.start.shape[0]
    now = np.zeros((needed + 1, M))
    new = np.zeros((needed + 1, M))
    gain = np.empty(chain.named.shape[0])
    after[:] = 0.0
    after[:, 0] = 1.0
    best = -1.0
    for _ in range(SWEEPS):
        look_back(chain, guess, needed, after)
        now[:] = 0.0
        changed = False
        for t in range(T):
            first, last = rows_alive(needed, t, T)
            if t == 0:
                copy(chain.start, now[0])
            else:
                advance(chain, t - 1, now, new, first, last)
                now, new = new, now
            gain[:] = 0.0
            for r in range(first, last):
                row, more, less = now[r], after[t, needed - r - 1], after[t, needed - r]
                for x in range(M):
                    gain[chain.place_of[x]] += row[x] * (more[x] - less[x])
            # Rounding may leave every gain a little below zero; an unnameable place loses all the same.
            pick = likeliest(gain, chain.named)
            # A relative margin keeps rounding from moving between equals for ever.
            if gain[pick] > gain[guess[t]] * (1.0 + 1e-12):
                guess[t] = pick
                changed = True
            shift(chain, now, first, last, guess[t])
        best = min(1.0, now[needed].sum())
        if not changed:
            break
    return best
