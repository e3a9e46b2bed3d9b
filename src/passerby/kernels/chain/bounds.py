"""Bounds in closed form: the table of joint maxima of Theorem 1, and roots of Fano-type inequalities by bisection.

A success p is looked for as `p = κ e^d`, so neither a tiny κ nor a tiny gain d over it loses digits. κ is a logarithm
throughout. Comparisons are between ratios to p: these neither underflow nor cancel.
"""

import numpy as np
from numba import types

from passerby.kernels.jit import (
    cube,
    flag,
    flags,
    inlined,
    kernel,
    matrix,
    number,
    out_cube,
    out_vector,
    out_wholes,
    vector,
    whole,
    whole_matrix,
)

from .recursions import at, push, raise_to

#: Probabilities below this may have lost digits or underflowed; bounds on their logarithms come from logarithms, or
#: take them for as large as this.
FAINT = 1e-290


@kernel(types.Tuple((out_vector, out_wholes))(vector, matrix, whole_matrix, vector, flags, whole))
def chained(log_initial, best, gaps, later, guessable, steps):
    """Log of `f(k)`, k = 1..T, without the limit on the total gap, and the total gap used by each.

    `g(k, y) = max_x g(k-1, x) B(x, y)` with `B = max_Δ P^Δ`. `best` (M, M) is the maximum over the gaps looked at,
    attained at `gaps`. `later` (M,) is a ceiling for all longer gaps. If the gaps used add up to at most T - 1 the
    value is `f(k)` itself; otherwise it is an upper bound. Ties go to the smaller total gap.
    """
    M = log_initial.shape[0]
    log_best, gap = np.full((M, M), -np.inf), gaps.copy()
    for x in range(M):
        for y in range(M):
            top = max(best[x, y], later[y])
            if top > best[x, y]:
                gap[x, y] = steps
            if top > 0.0 and guessable[y]:
                log_best[x, y] = np.log(top)
    out = np.empty(steps)
    total = np.zeros(steps, np.int64)
    now = log_initial.copy()
    length = np.zeros(M, np.int64)
    for k in range(steps):
        if k > 0:
            new = np.full(M, -np.inf)
            source = np.zeros(M, np.int64)
            for x in range(M):
                a = now[x]
                if a > -np.inf:
                    for y in range(M):
                        b = a + log_best[x, y]
                        better = b > new[y] or (
                            b == new[y] and length[x] + gap[x, y] < length[source[y]] + gap[source[y], y]
                        )
                        if better:
                            new[y] = b
                            source[y] = x
            grown = np.empty(M, np.int64)
            for y in range(M):
                grown[y] = length[source[y]] + gap[source[y], y]
            now, length = new, grown
        pick = 0
        for y in range(M):
            if now[y] > now[pick] or (now[y] == now[pick] and length[y] < length[pick]):
                pick = y
        out[k] = now[pick]
        total[k] = length[pick]
    return out, total


@inlined
def ahead(row, matrix, out):
    """`out = row @ matrix`, keeping possible states from underflow: their chance is taken for at least `FAINT`."""
    push(row, matrix, out)
    for y in range(out.shape[0]):
        if out[y] < FAINT:
            for x in range(row.shape[0]):
                if row[x] > 0.0 and matrix[x, y] > 0.0:
                    out[y] = FAINT
                    break


@kernel(out_vector(vector, cube, flags, whole, whole))
def joint_maxima(initial, matrices, guessable, steps, misses):
    """Log of `f(k)`, k = T - s..T, for any chain: O(T s M³ + T s² M²).

    `G(t, l, y) = max_{d, x} G(t-d, l-d+1, x) Pr[X_t = y | X_{t-d} = x]` is the largest probability of chosen steps, the
    last of them t, at y, with l steps before it left out. With at most s left out in all, no gap d exceeds s + 1.
    """
    M, most = initial.shape[0], min(misses + 1, steps - 1)
    table = np.full((steps, misses + 1, M), -np.inf)
    law, later, best = initial.copy(), np.empty(M), np.empty(M)
    for t in range(misses + 1):
        for y in range(M):
            if guessable[y] and law[y] > 0.0:
                table[t, t, y] = np.log(law[y])
        if t < misses:
            ahead(law, at(matrices, t), later)
            law, later = later, law
    between, log_between = np.zeros((most + 1, M, M)), np.empty((most, M, M))
    for x in range(M):
        between[0, x, x] = 1.0
    for source in range(steps - 1):
        gaps = min(most, steps - 1 - source)
        if source == 0 or matrices.shape[0] > 1:
            for d in range(gaps):
                for x in range(M):
                    ahead(between[d, x], at(matrices, source + d), between[d + 1, x])
                    for y in range(M):
                        log_between[d, x, y] = np.log(between[d + 1, x, y])
        for d in range(gaps):
            for left in range(min(source, misses - d) + 1):
                best[:] = -np.inf
                for x in range(M):
                    if table[source, left, x] > -np.inf:
                        raise_to(best, table[source, left, x], log_between[d, x])
                row = table[source + d + 1, left + d]
                for y in range(M):
                    if best[y] > row[y] and guessable[y]:
                        row[y] = best[y]
    out = np.full(misses + 1, -np.inf)
    for after in range(misses + 1):
        for left in range(misses - after + 1):
            for y in range(M):
                out[misses - left - after] = max(out[misses - left - after], table[steps - 1 - after, left, y])
    return out


@kernel(types.void(out_cube, whole, whole, matrix))
def add_up(table, source, target, log_between):
    """Let `target` follow `source`: adds `max_x table[source, k, x] P(x, y)` to `table[target, k + 1, y]`, in logs."""
    M = log_between.shape[0]
    best = np.empty(M)
    for k in range(min(source + 1, table.shape[1] - 1)):
        best[:] = -np.inf
        for x in range(M):
            if table[source, k, x] > -np.inf:
                raise_to(best, table[source, k, x], log_between[x])
        for y in range(M):
            a, b = table[target, k + 1, y], best[y]
            if b > -np.inf:
                top, low = max(a, b), min(a, b)
                table[target, k + 1, y] = top + np.log1p(np.exp(low - top))


#: The information is taken for larger by this share, to cover the rounding of the two compared sides.
SLACK = 4e-13
#: Below this, differences of nearly equal numbers are taken from their series.
SMALL = 1 / 32


@inlined
def excess(d):
    """`d - 1 + e^{-d}`, at d >= 0."""
    if d > SMALL:
        return d + np.expm1(-d)
    total = 1.0
    for n in range(9, 2, -1):
        total = 1.0 - d / n * total
    return 0.5 * d * d * total


@inlined
def shortfall(u):
    """`u + (1-u) log(1-u)`, at u from 0 to 1."""
    if u >= 1.0:
        return 1.0
    if u > SMALL:
        return u + (1.0 - u) * np.log1p(-u)
    total = 0.0
    for n in range(11, 1, -1):
        total = total * u + 1.0 / (n * (n - 1))
    return u * u * total


@inlined
def cost(d, log_kappa, full):
    """The information needed for a success of `p = κ e^d`, divided by p.

    In full it is `kl(p ‖ κ) / p = (d - 1 + e^{-d}) + (1-κ) (u + (1-u) log(1-u)) / p` with `u = (p-κ) / (1-κ)`, a sum of
    terms that are never negative. Without the term in `log(1-κ)` it is `d + (1-p) log(1-p) / p`.
    """
    p = np.exp(min(0.0, log_kappa + d))
    if not full:
        if p < 1e-16:
            return d - 1.0
        return d + ((1.0 - p) * np.log1p(-p) / p if p < 1.0 else 0.0)
    if p < 1e-300:
        return excess(d)
    rest = -np.expm1(log_kappa)
    return excess(d) + rest * shortfall(-p * np.expm1(-d) / rest) / p


@kernel(number(number, number, flag))
def largest_gain(log_kappa, information, full):
    """The largest d from 0 at which `information` pays for a success of `κ e^d`; it must not pay at `-log κ`.

    Returns the far end of the last bracket: never below the root. Bisects on a logarithmic scale while the bracket
    spans orders of magnitude, since a gain may be tiny.
    """
    low, high = 0.0, -log_kappa
    told = np.log(information) + SLACK if information > 0.0 else -np.inf
    for _ in range(2000):
        if low > 0.0 and high > 2.0 * low:
            middle = np.sqrt(low) * np.sqrt(high)
        elif low > 0.0 or high < 1e-300:
            middle = 0.5 * (low + high)
        else:
            middle = high / 1024.0
        if not low < middle < high or high - low <= 1e-15 * high:
            break
        if cost(middle, log_kappa, full) <= np.exp(min(709.0, told - log_kappa - middle)):
            low = middle
        else:
            high = middle
    return high
