"""Good guesses if several names may be right at one place, improved one step at a time.

The table `right[g, x]` stands in place of `[place_of(x) = g]`. It is kept as `balls` (one array): name g is right in
the states `balls[balls[g]:balls[g + 1]]`. As in `ascent`, tables over numbers are (number, state).
"""

import numpy as np

from passerby.kernels.chain.posterior import ahead
from passerby.kernels.chain.recursions import copy, likeliest
from passerby.kernels.jit import inlined, making

from .ascent import SWEEPS, advance, map_guess, rows_alive

#: Columns of the findings for a series, as in `best_guess`.
DECODED, STEPWISE, LOWER, UPPER, LEVEL = range(5)


@inlined
def over_ball(balls, g, row):
    """`Σ_x right[g, x] row[x]`."""
    total = 0.0
    for i in range(balls[g], balls[g + 1]):
        total += row[balls[i]]
    return total


@inlined
def count_right(balls, table, first, last, g):
    """Count one more right step in the states of g; the last row of all collects people with enough."""
    enough = table.shape[0] - 1
    if last < enough:
        table[last] = 0.0
    for i in range(balls[g], balls[g + 1]):
        x = balls[i]
        for r in range(last - 1, first - 1, -1):
            table[r + 1, x] = table[r, x] + (table[enough, x] if r + 1 == enough else 0.0)
            table[r, x] = 0.0


@making
def score(chain, balls, guess, needed):
    """`Pr[at least `needed` steps of guess are right]`, needed >= 1: a forward recursion over (number, state)."""
    T, M = guess.shape[0], chain.start.shape[0]
    now, new = np.zeros((needed + 1, M)), np.zeros((needed + 1, M))
    for t in range(T):
        first, last = rows_alive(needed, t, T)
        if t == 0:
            copy(chain.start, now[0])
        else:
            advance(chain, t - 1, now, new, first, last)
            now, new = new, now
        count_right(balls, now, first, last, guess[t])
    return min(1.0, now[needed].sum())


@making
def look_back(chain, balls, guess, needed, after):
    """`after[t, k, x]` = Pr[at least k of the steps after t are right | X_t = x], for a fixed guess."""
    T, M = guess.shape[0], chain.start.shape[0]
    later = np.empty(M)
    for t in range(T - 2, -1, -1):
        g = guess[t + 1]
        for k in range(max(1, needed - t - 1), min(needed, T - 1 - t) + 1):
            copy(after[t + 1, k], later)
            for i in range(balls[g], balls[g + 1]):
                later[balls[i]] = after[t + 1, k - 1, balls[i]]
            for x in range(M):
                after[t, k, x] = ahead(chain, t, x, later)


@making
def ascend(chain, balls, guess, needed, after):
    """Improve `guess` in place, one step at a time to the name with the largest gain; returns its success.

    As `ascent.ascend`: naming g at step t adds `Σ_x right[g, x] Σ_r F(r,x) (after(m-r-1,x) - after(m-r,x))`.
    """
    T, M = guess.shape[0], chain.start.shape[0]
    now, new = np.zeros((needed + 1, M)), np.zeros((needed + 1, M))
    worth, gain = np.empty(M), np.empty(chain.named.shape[0])
    after[:] = 0.0
    after[:, 0] = 1.0
    best = -1.0
    for _ in range(SWEEPS):
        look_back(chain, balls, guess, needed, after)
        now[:] = 0.0
        changed = False
        for t in range(T):
            first, last = rows_alive(needed, t, T)
            if t == 0:
                copy(chain.start, now[0])
            else:
                advance(chain, t - 1, now, new, first, last)
                now, new = new, now
            worth[:] = 0.0
            for r in range(first, last):
                row, more, less = now[r], after[t, needed - r - 1], after[t, needed - r]
                for x in range(M):
                    worth[x] += row[x] * (more[x] - less[x])
            for g in range(gain.shape[0]):
                gain[g] = over_ball(balls, g, worth)
            pick = likeliest(gain, chain.named)
            # A relative margin keeps rounding from moving between equals for ever.
            if gain[pick] > gain[guess[t]] * (1.0 + 1e-12):
                guess[t] = pick
                changed = True
            count_right(balls, now, first, last, guess[t])
        best = min(1.0, now[needed].sum())
        if not changed:
            break
    return best


@inlined
def likeliest_names(chain, balls, chances, guess):
    """The name most likely right at each step by itself."""
    for t in range(guess.shape[0]):
        for g in range(chances.shape[0]):
            chances[g] = over_ball(balls, g, chain.law[t])
        guess[t] = likeliest(chances, chain.named)


@making
def first_look(chain, balls, needed, thorough, found, guesses, after):
    """Fill in the plain guesses of a series and, if `thorough`, the best result of an ascent from any of three."""
    T, G = guesses.shape[1], chain.named.shape[0]
    chances = np.empty(G)
    map_guess(chain, guesses[DECODED])
    likeliest_names(chain, balls, chances, guesses[STEPWISE])
    found[DECODED] = score(chain, balls, guesses[DECODED], needed)
    found[STEPWISE] = score(chain, balls, guesses[STEPWISE], needed)
    better = DECODED if found[DECODED] >= found[STEPWISE] else STEPWISE
    copy(guesses[better], guesses[LOWER])
    found[LOWER], found[UPPER] = found[better], 1.0
    if not thorough:
        return
    trial = np.empty(T, np.int64)
    for start in range(3):
        if start < 2:
            copy(guesses[start], trial)
        else:
            # The name right at most steps, at all of them.
            for g in range(G):
                chances[g] = 0.0
                for t in range(T):
                    chances[g] += over_ball(balls, g, chain.law[t])
            trial[:] = likeliest(chances, chain.named)
        b = ascend(chain, balls, trial, needed, after)
        if b > found[LOWER]:
            found[LOWER] = b
            copy(trial, guesses[LOWER])
