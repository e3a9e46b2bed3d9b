"""Series: the likeliest ones of a release with few outcomes, and stand-ins grown cell by cell.

A cell's law (K, 2) lists outcomes without and with the person, in increasing order of the likelihood ratio. Take a
beginning with probability w. Under it the person is there with probability p and away with probability q. The latter is
kept on its own, since `1 - p` says nothing of a small q. An outcome moves p to a posterior r. Telling less,
neighbouring outcomes are told as one. Telling more, a few outcomes are kept. Each of the others is told as one of the
two around it, at random and with both laws kept. The effect of either is measured by the variance of r lost or gained,
times w: nearly the gain of the best guess from it.
"""

import numpy as np
from numba import types

from passerby.kernels.jit import (
    cube,
    flag,
    inlined,
    kernel,
    number,
    out_cube,
    out_vector,
    out_whole_matrix,
    vector,
    whole,
    whole_cube,
    whole_matrix,
    wholes,
)

from .recursions import at, copy, push

_LISTED = types.Tuple((out_whole_matrix, out_vector, number))


@kernel(_LISTED(vector, cube, whole_matrix, cube, wholes, whole, number, number))
def likeliest(initial, matrices, classes, tables, sizes, most, enough, little):
    """The outcomes (n, T) of the likeliest series, at most `most`, their probabilities (n,), and the rest.

    `tables` (T, O, C) holds the likelihoods of each step's `sizes` (T,) outcomes, by the class of the state, `classes`
    (T, M). Beginnings of series are extended step by step with their forward vectors. The least likely are dropped when
    there are too many, and as long as no more than `little` is dropped in all; once more than `enough` is, no series is
    returned.
    """
    T, M = classes.shape
    mass_of = np.empty(tables.shape[2])
    belief = initial.copy().reshape(1, M)
    chosen, mass = np.zeros((1, T), np.int64), np.ones(1)
    dropped = 0.0
    for t in range(T):
        n, outcomes = belief.shape[0], sizes[t]
        every = np.empty(n * outcomes)
        for i in range(n):
            mass_of[:] = 0.0
            for x in range(M):
                mass_of[classes[t, x]] += belief[i, x]
            for o in range(outcomes):
                total = 0.0
                for c in range(mass_of.shape[0]):
                    total += tables[t, o, c] * mass_of[c]
                every[i * outcomes + o] = total
        order = np.argsort(-every)
        kept = 0
        for r in range(n * outcomes):
            if every[order[r]] > 0.0:
                if r < most:
                    kept += 1
                else:
                    dropped += every[order[r]]
        while kept > 1 and dropped + every[order[kept - 1]] <= little:
            kept -= 1
            dropped += every[order[kept]]
        if dropped > enough:
            return chosen[:0], mass[:0], dropped
        grown, longer, mass = np.empty((kept, M)), np.zeros((kept, T), np.int64), np.empty(kept)
        for r in range(kept):
            i, o = order[r] // outcomes, order[r] % outcomes
            for x in range(M):
                grown[r, x] = belief[i, x] * tables[t, o, classes[t, x]]
            copy(chosen[i, :t], longer[r, :t])
            longer[r, t] = o
            mass[r] = every[order[r]]
        belief = np.dot(grown, at(matrices, t)) if t + 1 < T else grown
        chosen = longer
    return chosen, mass, dropped


_RESULT = types.Tuple((out_cube, out_vector, number))


@inlined
def moved_to(law, p, q):
    """The probability of an outcome, and the posterior r after it."""
    m = q * law[0] + p * law[1]
    return m, (p * law[1] / m if m > 0.0 else 0.0)


@inlined
def merged_as_one(law, K, p, q, limit, out):
    """Group neighbouring outcomes while the variance lost in each group is within the limit; returns their number."""
    n = 0
    mass, mean, square = 0.0, 0.0, 0.0
    for i in range(K):
        m, r = moved_to(law[i], p, q)
        grown = mass + m
        slope = mean + m * r
        if n == 0 or square + m * r * r - slope * slope / grown > limit:
            out[n, 0], out[n, 1] = 0.0, 0.0
            n += 1
            grown, slope, square = m, m * r, 0.0
        mass, mean = grown, slope
        square += m * r * r
        out[n - 1, 0] += law[i, 0]
        out[n - 1, 1] += law[i, 1]
    return n


@inlined
def merged_as_two(law, K, p, q, limit, kept, out):
    """Keep outcomes far apart while the variance gained between two of them is within the limit; returns their number.

    An outcome (a, b) between two kept ones is split between them by its share b / (a + b). This keeps both sums.
    """
    n = 1
    kept[0] = 0
    start = moved_to(law[0], p, q)[1]
    mass, mean, square = 0.0, 0.0, 0.0
    for i in range(1, K):
        m, r = moved_to(law[i], p, q)
        if mean * (r + start) - square - start * r * mass > limit:
            kept[n] = i - 1
            n += 1
            start = moved_to(law[i - 1], p, q)[1]
            mass, mean, square = 0.0, 0.0, 0.0
        mass += m
        mean += m * r
        square += m * r * r
    if K > 1:
        kept[n] = K - 1
        n += 1
    for j in range(n):
        copy(law[kept[j]], out[j])
    for j in range(n - 1):
        first, last = law[kept[j]], law[kept[j + 1]]
        low, high = first[1] / (first[0] + first[1]), last[1] / (last[0] + last[1])
        for i in range(kept[j] + 1, kept[j + 1]):
            total = law[i, 0] + law[i, 1]
            # Ratios may differ by more than shares near one can tell.
            up = min(1.0, max(0.0, (law[i, 1] / total - low) / (high - low))) * total if high > low else 0.0
            down = total - up
            out[j, 0] += down * (1.0 - low)
            out[j, 1] += down * low
            out[j + 1, 0] += up * (1.0 - high)
            out[j + 1, 1] += up * high
    return n


@inlined
def tell_apart(law, size, here, away, limit, more, kept, cut):
    """Put in `cut` the told outcomes of a cell, at a beginning with mass at the sensor and away; returns their number.

    If somebody is certainly there, or certainly not, nothing need be told.
    """
    if here <= 0.0 or away <= 0.0:
        cut[0] = 1.0
        return 1
    w = here + away
    if more:
        return merged_as_two(law, size, here / w, away / w, limit / w, kept, cut)
    return merged_as_one(law, size, here / w, away / w, limit / w, cut)


@kernel(_RESULT(vector, cube, whole_matrix, whole_cube, cube, wholes, vector, flag, number, whole))
def grow(initial, matrices, classes, sees, laws, sizes, limits, more, faint, most):
    """Series of stand-ins telling less, or `more`, than the cells' laws.

    Count j of step t is cell t S + j. `sees[t, c, j]` (T, C, S) is 1 if it counts people in class c. `classes` (T, M)
    are the classes of states. `laws` (cells, K, 2) hold `sizes` (cells,) outcomes each, none without a count; `limits`
    (cells,) say how finely each is cut. Beginnings less likely than `faint` are dropped. Returns the likelihoods (n, T,
    C) and probabilities (n,) of the series, and the probability dropped; none at all if there would be more than
    `most`.
    """
    T, C, S = sees.shape
    M = initial.shape[0]
    belief, belief_next = np.empty((most, M)), np.empty((most, M))
    told, told_next = np.empty((most, T, C)), np.empty((most, T, C))
    K = laws.shape[1]
    cut = np.empty((K + 1, 2))
    kept = np.empty(K + 1, np.int64)
    moved = np.empty(M)
    copy(initial, belief[0])
    told[0] = 1.0
    n, dropped = 1, 0.0
    for t in range(T):
        if t > 0:
            for i in range(n):
                push(belief[i], at(matrices, t - 1), moved)
                copy(moved, belief[i])
        for j in range(S):
            cell = t * S + j
            if sizes[cell] == 0:
                continue
            law, grown = laws[cell], 0
            for i in range(n):
                here, away = 0.0, 0.0
                for x in range(M):
                    if sees[t, classes[t, x], j]:
                        here += belief[i, x]
                    else:
                        away += belief[i, x]
                for o in range(tell_apart(law, sizes[cell], here, away, limits[cell], more, kept, cut)):
                    mass = away * cut[o, 0] + here * cut[o, 1]
                    if mass <= faint:
                        dropped += mass
                        continue
                    if grown == most:
                        return np.empty((0, T, C)), np.empty(0), 1.0
                    for x in range(M):
                        belief_next[grown, x] = belief[i, x] * cut[o, sees[t, classes[t, x], j]]
                    for u in range(T):
                        copy(told[i, u], told_next[grown, u])
                    for c in range(C):
                        told_next[grown, t, c] *= cut[o, sees[t, c, j]]
                    grown += 1
            n = grown
            belief, belief_next = belief_next, belief
            told, told_next = told_next, told
    mass = np.empty(n)
    for i in range(n):
        mass[i] = belief[i].sum()
    return told[:n].copy(), mass, dropped
