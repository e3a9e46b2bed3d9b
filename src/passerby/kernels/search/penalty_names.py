"""Places whose penalties are weighed one by one at a step, and their first penalties (see `penalties`).

A penalty of the whole gain of a name leaves no reason to say it. Its sum is

    Σ_c Pr[C = c, X = g] max_k (W(c',k,g) - W(c',k-1,g)),

a small number for a place where the person hardly ever is. Nothing is lost as long as it is no more than the penalty on
the known guess: of a hundred places, a dozen or two are left to be weighed.

At first the known guess becomes as good as any other place, for people with as many misses left as it has. Whatever
other places can bear without raising `max_g Λ(g)` then goes to people with fewer or more misses left.
"""

from typing import NamedTuple

import numpy as np

from passerby.kernels.jit import adding, inlined, making

from .ceiling import rows_for


class Book(NamedTuple):
    """The names of each step: their places (L, M), the known guess's place first, and their number (L,).

    `listed` (L, M) marks the places among the names. `gains` (L, C, R, M) has the gain of a right name, with empty rows
    beyond K. Penalties and trends of all steps follow each other, from the last step to the first. A step begins after
    so many names, `begins` (L,). `far` is the reach of penalties' moves, by the moves to each place.
    """

    places: np.ndarray
    numbers: np.ndarray
    listed: np.ndarray
    gains: np.ndarray
    begins: np.ndarray
    penalties: np.ndarray
    trends: np.ndarray
    far: np.ndarray


class Page(NamedTuple):
    """The names of a step (n,), gains of right ones (C, R, M), penalties, directions (C, n, M), reach (n, M)."""

    places: np.ndarray
    gains: np.ndarray
    penalties: np.ndarray
    trends: np.ndarray
    far: np.ndarray


@making
def book_for(L, C, M, kept, paper):
    """An empty book for L steps. Unless pages are to be `kept`, each is written over the one before, without trends.

    Penalties and trends are written on `paper` (2, n), used again and again: new memory takes as long as a few rounds.
    """
    steps = L if kept else 1
    return Book(
        np.empty((L, M), np.int64),
        np.zeros(L, np.int64),
        np.empty((L, M), np.bool_),
        np.zeros((steps, C, rows_for(C - 1), M)),
        np.zeros(L, np.int64),
        paper[0],
        paper[1] if kept else paper[1, :0],
        np.empty((L, M, M) if kept else (1, 1, M)),
    )


@making
def page(book, t):
    """The page of a step."""
    C, M = book.gains.shape[1], book.gains.shape[3]
    n, begin, end = book.numbers[t], C * M * book.begins[t], C * M * (book.begins[t] + book.numbers[t])
    penalties = book.penalties[begin:end].reshape((C, n, M))
    trends = book.trends[begin:end].reshape((C, n, M)) if book.trends.shape[0] > 0 else penalties
    far = book.far[t % book.far.shape[0], :n]
    return Page(book.places[t, :n], book.gains[t % book.gains.shape[0]], penalties, trends, far)


@inlined
def full_penalties(arrived, gain, out):
    """Put in `out` (M,) the sum of each name, if penalised in full; `arrived` (C, M) is the law beside at the step."""
    C, M = arrived.shape
    out[:] = 0.0
    for c in range(C):
        for g in range(M):
            most = 0.0
            for k in range(C - 1):
                most = max(most, gain[c, k, g])
            out[g] += arrived[c, g] * most


@inlined
def own_penalty(arrived, gain, mine):
    """The gain of the known guess's name for people with as many misses left as it has: it is penalised no more."""
    own, C = 0.0, arrived.shape[0]
    for c in range(C - 1):
        own += arrived[c, mine] * max(0.0, gain[c, C - 2 - c, mine])
    return own


@inlined
def list_names(book, t, mine, full, limit):
    """List the names weighed one by one: `mine`, and the names above a limit in `full` (M,)."""
    L, M = book.places.shape
    book.places[t, 0], n = mine, 1
    for g in range(M):
        book.listed[t, g] = g == mine or full[g] > limit
        if g != mine and full[g] > limit:
            book.places[t, n] = g
            n += 1
    book.numbers[t] = n
    if book.trends.shape[0] > 0 and t + 1 < L:
        book.begins[t] = book.begins[t + 1] + book.numbers[t + 1]


@inlined
def most_unlisted(book, t, full):
    """The largest sum of a fully penalised name."""
    most = 0.0
    for g in range(full.shape[0]):
        if not book.listed[t, g]:
            most = max(most, full[g])
    return most


#: Shares of the gain of naming the known guess, tried as its own penalty until no other place bears more.
SHARES = np.array([0.03, 0.06, 0.1, 0.2, 0.4, 0.7, 1.0])
#: Penalties are raised for so many misses more left than the known guess has, in this order: somebody who left it
#: behind and was wrong gains most by following a person about.
AHEAD = np.array([-1, -2, 1, -3, 2, 3, 4, 5])


@inlined
def still_open(worth, steps):
    """The largest number of misses left for which so many steps decide anything; -1 if there is none."""
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
def penalise_all(move, gain, least, P, faint, out):
    """Fill `out(x) = max(0, move(x) gain + least(x))`, nothing for `faint` people; returns the sum."""
    total = 0.0
    for x in range(move.shape[0]):
        owed = max(0.0, move[x] * gain + least[x]) if P[x] > faint else 0.0
        out[x] = owed
        total += P[x] * owed
    return total


@adding
def lacking(move, gain, least, P, faint, penalty):
    """The lack of penalties (M,) for a name, `max(0, move(x) gain + least(x) - penalty(x))`, times chances."""
    total = 0.0
    for x in range(move.shape[0]):
        lacks = max(0.0, move[x] * gain + least[x] - penalty[x])
        total += P[x] * lacks if P[x] > faint else 0.0
    return total


@adding
def raise_all(move, gain, least, P, faint, share, penalty):
    """Add a share of their lack to penalties (M,) for a name; returns the sum of this."""
    total = 0.0
    for x in range(move.shape[0]):
        lacks = max(0.0, move[x] * gain + least[x] - penalty[x])
        added = share * lacks if P[x] > faint else 0.0
        penalty[x] += added
        total += P[x] * added
    return total


@inlined
def less_own(move, gain, share, out):
    """Fill `out(x) = (share - 1) max(0, A(x))`, `A(x) = move(x) gain` being the gain of the known guess's name."""
    for x in range(out.shape[0]):
        out[x] = (share - 1.0) * max(0.0, move[x] * gain)


@inlined
def as_good(move, gain, penalty, out):
    """Fill `out` (M,): the addition to naming a place, less its penalty, if the known guess's name is as good."""
    for x in range(out.shape[0]):
        out[x] = min(0.0, penalty[x] - move[x] * gain)


@inlined
def share_out(names, turned, P, share, sums, least, faint):
    """Fill the penalties of a page with the known guess's own at a share of its gain, and `sums` (n,), `Λ`."""
    places, gains, penalties = names.places, names.gains, names.penalties
    K = P.shape[0] - 1
    sums[:] = 0.0
    for c in range(K):
        gain = gains[c, K - 1 - c]
        less_own(turned[places[0]], gain[places[0]], share, least)
        for i in range(places.shape[0]):
            g = places[i]
            sums[i] += penalise_all(turned[g], gain[g], least, P[c], faint, penalties[c, i])


@inlined
def raise_ahead(names, turned, P, ahead, most, limit, sums, more, least, faint):
    """Raise penalties for people with so many misses more left than the known guess, as far as a limit allows."""
    places, gains, penalties = names.places, names.gains, names.penalties
    C, n = P.shape[0], places.shape[0]
    K, mine = C - 1, places[0]
    first, last = max(0, K - 1 + ahead - min(K - 1, most)), min(C - 1, K - 1 + ahead)
    more[:] = 0.0
    for turn in range(2):
        for c in range(first, last + 1):
            gain = gains[c, K - 1 - c + ahead]
            as_good(turned[mine], gain[mine], penalties[c, 0], least)
            for i in range(1, n):
                g = places[i]
                if turn == 0:
                    more[i] += lacking(turned[g], gain[g], least, P[c], faint, penalties[c, i])
                elif more[i] > 0.0:
                    sums[i] += raise_all(turned[g], gain[g], least, P[c], faint, more[i], penalties[c, i])
        if turn == 0:
            for i in range(1, n):
                more[i] = min(1.0, (limit - sums[i]) / more[i]) if more[i] > 0.0 else 0.0


@making
def first_penalties(names, turned, P, rest, sums, begin, most, faint):
    """Fill the penalties of a page, and `sums` (n,), `Λ`: with a share at which no name exceeds the known guess.

    `turned` (M, M) holds the moves to each place, `P` (C, M) the law beside at the step before. Names penalised in full
    come to `rest`. Success is open with up to `most` misses left. Shares are tried from the number `begin` on; returns
    the number of the one taken. People who are `faint` are not penalised.
    """
    least, more = np.empty(P.shape[1]), np.empty(sums.shape[0])
    share, taken = 0.0, begin
    names.penalties[P.shape[0] - 1] = 0.0
    for i in range(begin, SHARES.shape[0]):
        share, taken = SHARES[i], i
        share_out(names, turned, P, share, sums, least, faint)
        if max(rest, top(sums)) <= sums[0]:
            break
    limit = max(rest, top(sums))
    for i in range(AHEAD.shape[0]):
        raise_ahead(names, turned, P, AHEAD[i], most, limit, sums, more, least, faint)
    return taken
