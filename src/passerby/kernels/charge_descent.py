"""Charges that are improved along a subgradient of the bound that they give (see `charges`).

The bound is convex in the charges. Where a place is the one that is charged most, its charges count with the law
beside; where the told adversary names a place, they pay its charge. The difference of the two is a subgradient, and is
followed as far as would close the gap to a known guess (Polyak 1969). A charge is of use up to what naming the place
adds, which is a thousand times as much here as there: each is moved in proportion to the root of that.
"""

import numpy as np

from .chain import push_rows
from .charge_choice import still_open
from .charge_names import page
from .jit import inlined, making


@inlined
def best_names(names, turned, c, k, best, pick):
    """Put in `pick` (M,) which name is best where one is told, for c and k; -1 where none is worth anything."""
    best[:] = 0.0
    pick[:] = -1
    for i in range(names.places.shape[0]):
        g = names.places[i]
        move, gain, charge = turned[g], names.gains[c, k, g], names.charges[c, i]
        for x in range(best.shape[0]):
            left = move[x] * gain - charge[x]
            pick[x] = i if left > best[x] else pick[x]
            best[x] = max(best[x], left)


@inlined
def name_told(names, turned, P, most, mass, pick, best, faint):
    """Fill `pick[c, k, x]`, which of the names the told adversary says; -1 for none. Who is `faint` loses their `mass`.

    So does who has more than `most` misses left, and nothing to gain any more. `best` (M,) is scratch.
    """
    C, K, M = mass.shape
    for c in range(C):
        for k in range(K):
            some = False
            for x in range(M):
                if mass[c, k, x] <= faint or k > most or P[c, x] <= faint:
                    mass[c, k, x] = 0.0
                else:
                    some = True
            if some:
                best_names(names, turned, c, k, best, pick[c, k])


@inlined
def go_on(names, turned, g, mass, pick, right, total, after):
    """Put in `after` where those of `mass` (C, K, M) are a step later; g is what the known guess names."""
    C, K, M = mass.shape
    after[:] = 0.0
    for c in range(C):
        wrong = min(c + 1, C - 1)
        push_rows(mass[c], K, turned, total)
        for k in range(K):
            right[:] = 0.0
            for x in range(M):
                if mass[c, k, x] > 0.0 and pick[c, k, x] >= 0:
                    place = names.places[pick[c, k, x]]
                    right[place] += mass[c, k, x] * turned[place, x]
            for y in range(M):
                there = c if y == g else wrong
                after[there, k, y] += right[y]
                if k > 0:
                    after[there, k - 1, y] += max(0.0, total[k, y] - right[y])


@inlined
def slope(mass, pick, share, charges, x, most, line, touched):
    """Put in `line` the subgradient for one count and place x, over their chance `share`; returns how many are touched.

    Charges (n, M) of the name that is charged most could be lowered; those of what the told adversary names, raised.
    """
    n = 0
    if most >= 0:
        touched[0], line[most], n = most, 1.0, 1
    for k in range(mass.shape[0]):
        if mass[k, x] > 0.0 and pick[k, x] >= 0:
            p = pick[k, x]
            if line[p] == 0.0:
                touched[n] = p
                n += 1
            line[p] -= mass[k, x] / share
    for i in range(n):
        if line[touched[i]] > 0.0 and charges[touched[i], x] <= 0.0:
            line[touched[i]] = 0.0
    return n


@making
def walk(chain, guess, worth, P, book, first, mass, pick, faint):
    """Fill `mass` and `pick` (L, C, K, M): where the told adversary is before each step, and what they name there.

    Whoever is `faint` is lost sight of: a direction need not be exact.
    """
    L, C, M = P.shape
    K = C - 1
    right, best, total = np.empty(M), np.empty(M), np.empty((K, M))
    mass[1] = 0.0
    for x in range(M):
        k = K - 1 if x == first else K - 2
        if k >= 0:
            mass[1, 0 if x == guess[0] else 1, k, x] = chain.start[x]
    for t in range(1, L):
        names, turned = page(book, t), chain.turned[t - 1]
        name_told(names, turned, P[t - 1], still_open(worth, L - t), mass[t], pick[t], best, faint)
        if t + 1 < L:
            go_on(names, turned, guess[t], mass[t], pick[t], right, total, mass[t + 1])


@inlined
def most_added(names, c, out):
    """Put in `out` (n,) the most that a right name adds for c, whatever number of misses is left."""
    out[: names.places.shape[0]] = 0.0
    for k in range(names.gains.shape[1]):
        for i in range(names.places.shape[0]):
            out[i] = max(out[i], names.gains[c, k, names.places[i]])


@making
def descend(P, turned, book, tops, mass, pick, gap, state, faint):
    """Change charges along a subgradient and those before it, by as much as would close the gap of a linear bound.

    The direction is that subgradient plus the last direction, both weighed alike (Sherali and Ulular 1989). Directions
    are `state[0]` times the trends of a book, of square `state[1]` where each entry counts by its chance, over the root
    of what naming the place adds.
    """
    T, C, M = P.shape
    line, touched, added = np.zeros(M), np.empty(C, np.int64), np.empty(M)
    square, both = 0.0, 0.0
    for turn in range(2):
        for t in range(1, T):
            names = page(book, t)
            for c in range(C):
                trend, charges = names.trends[c], names.charges[c]
                most_added(names, c, added)
                for x in range(M):
                    share = P[t - 1, c, x]
                    if share <= faint:
                        continue
                    n = slope(mass[t, c], pick[t, c], share, charges, x, tops[t], line, touched)
                    for i in range(n):
                        g = touched[i]
                        scale = np.sqrt(turned[t - 1, names.places[g], x] * added[g])
                        if turn == 0:
                            square += share * scale * line[g] * line[g]
                            both += share * line[g] * state[0] * trend[g, x]
                        else:
                            trend[g, x] += scale * line[g] / state[0]
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
        for t in range(1, T):
            follow(P[t - 1], page(book, t), state[0] * gap / state[1], faint)
    return True


@inlined
def follow(P, names, step, faint):
    """Lower the charges of a page by `step` times a direction, not below 0."""
    C, n, M = names.charges.shape
    for c in range(C):
        for i in range(n):
            charge, line = names.charges[c, i], names.trends[c, i]
            for x in range(M):
                charge[x] = max(0.0, charge[x] - step * line[x]) if P[c, x] > faint else charge[x]
