"""Charges as they are set at first, a step at a time (see `charges`).

The known guess becomes as good as any other place for those who have as many misses left as it has. What may be charged
for other places without raising `max_g Λ(g)` is then charged to those who have fewer or more.
"""

import numpy as np

from .jit import adding, inlined, making

#: Shares of what naming the known guess gains that are tried as its own charge, until no other place is charged more.
SHARES = np.array([0.03, 0.06, 0.1, 0.2, 0.4, 0.7, 1.0])
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


@adding
def top(row):
    """The largest entry, or 0."""
    best = 0.0
    for g in range(row.shape[0]):
        best = max(best, row[g])
    return best


@adding
def charge_all(move, gain, least, P, faint, out):
    """Fill `out(x) = max(0, move(x) gain + least(x))`, nothing for who is `faint`; returns what it comes to."""
    total = 0.0
    for x in range(move.shape[0]):
        owed = max(0.0, move[x] * gain + least[x]) if P[x] > faint else 0.0
        out[x] = owed
        total += P[x] * owed
    return total


@adding
def lacking(move, gain, least, P, faint, charge):
    """What charges (M,) for a name lack, `max(0, move(x) gain + least(x) - charge(x))`, times chances."""
    total = 0.0
    for x in range(move.shape[0]):
        lacks = max(0.0, move[x] * gain + least[x] - charge[x])
        total += P[x] * lacks if P[x] > faint else 0.0
    return total


@adding
def raise_all(move, gain, least, P, faint, share, charge):
    """Add a share of what they lack to charges (M,) for a name; returns what that comes to."""
    total = 0.0
    for x in range(move.shape[0]):
        lacks = max(0.0, move[x] * gain + least[x] - charge[x])
        added = share * lacks if P[x] > faint else 0.0
        charge[x] += added
        total += P[x] * added
    return total


@inlined
def less_own(move, gain, share, out):
    """Fill `out(x) = (share - 1) max(0, A(x))`, `A(x) = move(x) gain` being what the known guess's name adds."""
    for x in range(out.shape[0]):
        out[x] = (share - 1.0) * max(0.0, move[x] * gain)


@inlined
def as_good(move, gain, charge, out):
    """Fill `out` (M,): what is to be added to naming a place, less its charge, if the known guess's name is as good."""
    for x in range(out.shape[0]):
        out[x] = min(0.0, charge[x] - move[x] * gain)


@inlined
def share_out(names, turned, P, share, sums, least, faint):
    """Fill the charges of a page with the known guess's own at a share of what it adds, and `sums` (n,), `Λ`."""
    places, gains, charges = names.places, names.gains, names.charges
    K = P.shape[0] - 1
    sums[:] = 0.0
    for c in range(K):
        gain = gains[c, K - 1 - c]
        less_own(turned[places[0]], gain[places[0]], share, least)
        for i in range(places.shape[0]):
            g = places[i]
            sums[i] += charge_all(turned[g], gain[g], least, P[c], faint, charges[c, i])


@inlined
def raise_ahead(names, turned, P, ahead, most, limit, sums, more, least, faint):
    """Raise charges for those who have so many misses more left than the known guess, as far as a limit allows."""
    places, gains, charges = names.places, names.gains, names.charges
    C, n = P.shape[0], places.shape[0]
    K, mine = C - 1, places[0]
    first, last = max(0, K - 1 + ahead - min(K - 1, most)), min(C - 1, K - 1 + ahead)
    more[:] = 0.0
    for turn in range(2):
        for c in range(first, last + 1):
            gain = gains[c, K - 1 - c + ahead]
            as_good(turned[mine], gain[mine], charges[c, 0], least)
            for i in range(1, n):
                g = places[i]
                if turn == 0:
                    more[i] += lacking(turned[g], gain[g], least, P[c], faint, charges[c, i])
                elif more[i] > 0.0:
                    sums[i] += raise_all(turned[g], gain[g], least, P[c], faint, more[i], charges[c, i])
        if turn == 0:
            for i in range(1, n):
                more[i] = min(1.0, (limit - sums[i]) / more[i]) if more[i] > 0.0 else 0.0


@making
def set_charges(names, turned, P, rest, sums, begin, most, faint):
    """Fill the charges of a page, and `sums` (n,), `Λ`: with a share at which no name exceeds that of the known guess.

    `turned` (M, M) holds the moves to each place, `P` (C, M) the law beside at the step before. Names that are charged
    in full come to `rest`. Success is open with up to `most` misses left. Shares are tried from the number `begin` on;
    returns that of the one that was taken. Who is `faint` is not charged.
    """
    least, more = np.empty(P.shape[1]), np.empty(sums.shape[0])
    share, taken = 0.0, begin
    names.charges[P.shape[0] - 1] = 0.0
    for i in range(begin, SHARES.shape[0]):
        share, taken = SHARES[i], i
        share_out(names, turned, P, share, sums, least, faint)
        if max(rest, top(sums)) <= sums[0]:
            break
    limit = max(rest, top(sums))
    for i in range(AHEAD.shape[0]):
        raise_ahead(names, turned, P, AHEAD[i], most, limit, sums, more, least, faint)
    return taken
