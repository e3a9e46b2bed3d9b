"""Charges that are improved along a subgradient of the bound that they give (see `charges`).

The bound is convex in the charges. Where a place is the one that is charged most, its charges count with the law
beside; where the told adversary names a place, they pay its charge. The difference of the two is a subgradient, and is
followed as far as would close the gap to a known guess (Polyak 1969).
"""

import numpy as np

from .chain import push_rows
from .charge_choice import still_open
from .jit import adding, inlined, making


@adding
def best_name(move, gain, charge):
    """`max(0, max_g move(g) gain(g) - charge(g))`."""
    best = 0.0
    for g in range(move.shape[0]):
        best = max(best, move[g] * gain[g] - charge[g])
    return best


@inlined
def pick_of(move, gain, charge, best):
    """The first place whose name is worth `best` but for rounding; -1 where none is worth anything."""
    if best <= 0.0:
        return -1
    for g in range(move.shape[0]):
        if move[g] * gain[g] - charge[g] >= best * (1.0 - 1e-12):
            return g
    return -1


@inlined
def name_told(Q, P, gain, charge, most, mass, pick, faint):
    """Fill `pick[c, k, x]`, what the told adversary names; -1 for nothing. Who is `faint` loses their `mass`.

    So does who has more than `most` misses left, and nothing to gain any more.
    """
    C, K, M = mass.shape
    for c in range(C):
        for k in range(K):
            for x in range(M):
                pick[c, k, x] = -1
                if mass[c, k, x] <= faint or k > most or P[c, x] <= faint:
                    mass[c, k, x] = 0.0
                else:
                    best = best_name(Q[x], gain[c, k], charge[c, x])
                    pick[c, k, x] = pick_of(Q[x], gain[c, k], charge[c, x], best)


@inlined
def go_on(Q, turned, g, mass, pick, right, total, after):
    """Put in `after` where those of `mass` (C, K, M) are a step later; g is what the known guess names."""
    C, K, M = mass.shape
    after[:] = 0.0
    for c in range(C):
        wrong = min(c + 1, C - 1)
        push_rows(mass[c], K, turned, total)
        for k in range(K):
            right[:] = 0.0
            for x in range(M):
                p = pick[c, k, x]
                if p >= 0:
                    right[p] += mass[c, k, x] * Q[x, p]
            for y in range(M):
                there = c if y == g else wrong
                after[there, k, y] += right[y]
                if k > 0:
                    after[there, k - 1, y] += max(0.0, total[k, y] - right[y])


@inlined
def slope(mass, pick, share, charge, most, line, touched):
    """Put in `line` the subgradient for one count and place, over their chance `share`; returns how many are touched.

    Charges of the place that pays most could be lowered; those of what is named where one is told could be raised.
    """
    touched[0] = most
    line[most] = 1.0
    n = 1
    for k in range(mass.shape[0]):
        p = pick[k]
        if p >= 0 and mass[k] > 0.0:
            if line[p] == 0.0:
                touched[n] = p
                n += 1
            line[p] -= mass[k] / share
    for i in range(n):
        if line[touched[i]] > 0.0 and charge[touched[i]] <= 0.0:
            line[touched[i]] = 0.0
    return n


@making
def walk(chain, guess, worth, P, charges, gains, first, mass, pick, faint):
    """Fill `mass` and `pick` (L, C, K, M): where the told adversary is before each step, and what they name there.

    Whoever is `faint` is lost sight of: a direction need not be exact.
    """
    L, C, M = P.shape
    K = C - 1
    right, total = np.empty(M), np.empty((K, M))
    mass[1] = 0.0
    for x in range(M):
        k = K - 1 if x == first else K - 2
        if k >= 0:
            mass[1, 0 if x == guess[0] else 1, k, x] = chain.start[x]
    for t in range(1, L):
        Q, most = chain.moves[t - 1], still_open(worth, L - t)
        name_told(Q, P[t - 1], gains[t], charges[t], most, mass[t], pick[t], faint)
        if t + 1 < L:
            go_on(Q, chain.turned[t - 1], guess[t], mass[t], pick[t], right, total, mass[t + 1])


@making
def descend(P, charges, tops, mass, pick, gap, trend, state, faint):
    """Change charges along a subgradient and those before it, by as much as would close the gap of a linear bound.

    The direction is that subgradient plus the last direction, both weighed alike (Sherali and Ulular 1989). Directions
    are `state[0]` times `trend` (T, C, M, M), of square `state[1]` where each entry counts by its chance.
    """
    T, C, M = P.shape
    line, touched = np.zeros(M), np.empty(C, np.int64)
    square, both = 0.0, 0.0
    for turn in range(2):
        for t in range(1, T):
            for c in range(C):
                for x in range(M):
                    share = P[t - 1, c, x]
                    if share <= faint:
                        continue
                    n = slope(mass[t, c, :, x], pick[t, c, :, x], share, charges[t, c, x], tops[t], line, touched)
                    for i in range(n):
                        g = touched[i]
                        if turn == 0:
                            square += share * line[g] * line[g]
                            both += share * line[g] * state[0] * trend[t, c, x, g]
                        else:
                            trend[t, c, x, g] += line[g] / state[0]
                        line[g] = 0.0
        if square == 0.0:
            return False
        if turn == 0 and state[1] > 0.0:
            share = np.sqrt(square / state[1])
            state[0] *= share
            state[1] = square + 2.0 * share * both + square
        elif turn == 0:
            state[1] = square
    if state[1] > 1e-12 * square:
        follow(P, charges, trend, state[0] * gap / state[1], faint)
    return True


@inlined
def follow(P, charges, trend, step, faint):
    """Lower charges by `step` times a direction, not below 0."""
    T, C, M = P.shape
    for t in range(1, T):
        for c in range(C):
            for x in range(M):
                if P[t - 1, c, x] > faint:
                    charge, line = charges[t, c, x], trend[t, c, x]
                    for g in range(M):
                        charge[g] = max(0.0, charge[g] - step * line[g])
