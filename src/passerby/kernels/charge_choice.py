"""Charges as they are set at first, a step at a time (see `charges`).

The known guess becomes as good as any other place for those who have as many misses left as it has. What may be charged
for other places without raising `max_g Λ(g)` is then charged to those who have fewer or more.
"""

import numpy as np

from .jit import adding, inlined, making

#: Shares of what naming the known guess gains that are tried as its own charge, until no other place is charged more.
SHARES = np.array([0.0, 0.03, 0.06, 0.1, 0.2, 0.4, 0.7, 1.0])
#: Charges are raised for those who have so many misses more left than the known guess, in this order: somebody who left
#: it behind and was wrong gains most by following a person about.
AHEAD = np.array([-1, -2, 1, -3, 2, 3, 4, 5])


@inlined
def still_open(worth, steps):
    """The largest number of misses left with which so many steps decide anything; -1 where there is none."""
    K = worth.shape[0]
    k = min(K, steps)
    while k < K and worth[k - steps] < worth[K - 1]:
        k += 1
    return k - 1


@inlined
def charge_row(move, gain, mine, share, out):
    """`out(g) = max(0, A(g) - A(mine) + share max(0, A(mine)))`, `A(g) = move(g) gain(g)`."""
    least = (share - 1.0) * max(0.0, move[mine] * gain[mine])
    for g in range(move.shape[0]):
        out[g] = max(0.0, move[g] * gain[g] + least)


@inlined
def add_times(a, row, out):
    """`out += a row`."""
    for g in range(row.shape[0]):
        out[g] += a * row[g]


@adding
def top(row):
    """The largest entry, or 0."""
    best = 0.0
    for g in range(row.shape[0]):
        best = max(best, row[g])
    return best


@making
def set_charges(Q, P, gain, mine, charges, sums, begin, most, faint):
    """Fill `charges` (C, M, M) for a step, and `sums` (M,), `Λ`: with a share at which no place exceeds `mine`.

    `P` (C, M) is the law beside at the step before, `gain` (C, R, M) what a right name adds. Success
    is open with up to `most` misses left.
    Shares are tried from the number `begin` on; returns that of the one that was taken. Who is `faint` is not charged.
    """
    C, M = P.shape
    K, share, taken = C - 1, 0.0, begin
    charges[:] = 0.0
    for i in range(begin, SHARES.shape[0]):
        share, taken = SHARES[i], i
        sums[:] = 0.0
        for c in range(K):
            for x in range(M):
                if P[c, x] > faint:
                    charge_row(Q[x], gain[c, K - 1 - c], mine, share, charges[c, x])
                    add_times(P[c, x], charges[c, x], sums)
        if top(sums) <= sums[mine]:
            break
    more, limit = np.empty(M), top(sums)
    for i in range(AHEAD.shape[0]):
        first, last = max(0, K - 1 + AHEAD[i] - min(K - 1, most)), min(C - 1, K - 1 + AHEAD[i])
        more[:] = 0.0
        for c in range(first, last + 1):
            line = gain[c, K - 1 - c + AHEAD[i]]
            for x in range(M):
                if P[c, x] > faint:
                    least = as_good(Q[x, mine], gain[c, K - 1 - c, mine] if c < K else 0.0, line[mine], share)
                    add_lacking(Q[x], line, least, charges[c, x], P[c, x], more)
        for g in range(M):
            more[g] = min(1.0, (limit - sums[g]) / more[g]) if more[g] > 0.0 and g != mine else 0.0
        if top(more) == 0.0:
            continue
        for c in range(first, last + 1):
            line = gain[c, K - 1 - c + AHEAD[i]]
            for x in range(M):
                if P[c, x] > faint:
                    least = as_good(Q[x, mine], gain[c, K - 1 - c, mine] if c < K else 0.0, line[mine], share)
                    raise_charges(Q[x], line, least, more, charges[c, x], P[c, x], sums)
    return taken


@inlined
def as_good(chance, own, gain, share):
    """What is added to naming a place, less its charge, if naming the known guess is to be as good."""
    return min(0.0, share * max(0.0, chance * own) - chance * gain)


@inlined
def add_lacking(move, gain, least, charge, chance, out):
    """Add to `out` what charges (M,) of somebody lack, `max(0, move gain + least - charge)`, times their chance."""
    for g in range(move.shape[0]):
        out[g] += chance * max(0.0, move[g] * gain[g] + least - charge[g])


@inlined
def raise_charges(move, gain, least, share, charge, chance, sums):
    """Add to charges (M,) of somebody a share of what they lack, and to `sums` what that comes to."""
    for g in range(charge.shape[0]):
        added = max(0.0, move[g] * gain[g] + least - charge[g]) * share[g]
        charge[g] += added
        sums[g] += chance * added
