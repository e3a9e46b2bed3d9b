"""The places that are weighed one by one at a step, when those who are told are charged (see `charges`).

To charge a name all that it adds, whoever says it, leaves nobody a reason to. It comes to

    Σ_c Pr[C = c, X = g] max_k (W(c',k,g) - W(c',k-1,g)),

which is little for a place where the person hardly ever is. As long as it is no more than what the known guess is
charged, nothing is lost by it: of a hundred places, a dozen or two are left to be weighed.
"""

from typing import NamedTuple

import numpy as np

from .ceiling import rows_for
from .jit import inlined, making


class Book(NamedTuple):
    """What is kept of the names of each step: which they are (L, M), that of the known guess first, and how many (L,).

    `listed` (L, M) tells which places are names, and `gains` (L, C, R, M) what a right name adds, with rows beyond K
    that are empty. Charges and trends of all steps follow each other, from the last step to the first: those of a step
    come after so many names, `begins` (L,). `far` is how far charges are moved, by the moves to each place.
    """

    places: np.ndarray
    numbers: np.ndarray
    listed: np.ndarray
    gains: np.ndarray
    begins: np.ndarray
    charges: np.ndarray
    trends: np.ndarray
    far: np.ndarray


class Page(NamedTuple):
    """The names of a step (n,), what right ones add (C, R, M), charges, where they move (C, n, M), how far (n, M)."""

    places: np.ndarray
    gains: np.ndarray
    charges: np.ndarray
    trends: np.ndarray
    far: np.ndarray


@making
def book_for(L, C, M, kept, paper):
    """An empty book for L steps. Unless pages are to be `kept`, each is written over the one before, without trends.

    Charges and trends are written on `paper` (2, n), which is used again and again: new memory takes as long as a few
    rounds.
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
    charges = book.charges[begin:end].reshape((C, n, M))
    trends = book.trends[begin:end].reshape((C, n, M)) if book.trends.shape[0] > 0 else charges
    far = book.far[t % book.far.shape[0], :n]
    return Page(book.places[t, :n], book.gains[t % book.gains.shape[0]], charges, trends, far)


@inlined
def full_charges(arrived, gain, out):
    """Put in `out` (M,) what charging each name in full comes to; `arrived` (C, M) is the law beside at the step."""
    C, M = arrived.shape
    out[:] = 0.0
    for c in range(C):
        for g in range(M):
            most = 0.0
            for k in range(C - 1):
                most = max(most, gain[c, k, g])
            out[g] += arrived[c, g] * most


@inlined
def own_charge(arrived, gain, mine):
    """What the known guess's name adds for those who have as many misses left as it has: it is charged no more."""
    own, C = 0.0, arrived.shape[0]
    for c in range(C - 1):
        own += arrived[c, mine] * max(0.0, gain[c, C - 2 - c, mine])
    return own


@inlined
def list_names(book, t, mine, full, limit):
    """List the names that are weighed one by one: those that come to more than a limit in `full` (M,), and `mine`."""
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
    """The most that a name which is charged in full comes to."""
    most = 0.0
    for g in range(full.shape[0]):
        if not book.listed[t, g]:
            most = max(most, full[g])
    return most
