"""Guesses for the stretches between sightings, and how many of their steps are wrong.

A stretch goes from a restart point u to the next sighting v = t S + j, or to the end, v = T S. A guess for it may
depend on both. `law[v, k]` is the chance, from u, of v as the next sighting with k wrong steps in the stretch. Guesses
of all stretches from one u are scored together: as long as they agree, they share a table.
"""

from typing import NamedTuple

import numpy as np

from passerby.kernels.chain.recursions import at, copy, dot, likeliest, push, push_rows
from passerby.kernels.jit import inlined, making

from .sightings import begin

#: Sweeps after which an ascent stops.
SWEEPS = 25
#: The cost of an operation if it is done for many tables together.
TOGETHER = 0.25


@inlined
def after_point(u, S):
    """The first step after a restart point."""
    return 0 if u == 0 else (u - 1) // S + 1


@inlined
def arrival(watch, v, out):
    """Put in `out` (M,) the chance of going from each place of the last unseen step to v (1 for the end)."""
    T, S = watch.watched.shape
    if v == T * S:
        out[:] = 1.0
    else:
        copy(at(watch.matrices, v // S - 1)[:, watch.watched[v // S, v % S]], out)


@inlined
def keep(row, places):
    """Multiply a row by 1 for each staying place, and 0 for others."""
    for x in range(row.shape[0]):
        row[x] *= places[x]


@inlined
def count_wrong(table, rows, g):
    """Rows of `table` are numbers of wrong steps; count one more for people not at g. The last row is dropped."""
    for r in range(rows - 1, -1, -1):
        right = table[r, g]
        if r > 0:
            copy(table[r - 1], table[r])
        else:
            table[r] = 0.0
        table[r, g] = right


@making
def ways_ahead(watch, ahead):
    """Fill `ahead[t, v, x]`, the chance of v as the next sighting after step t from x, unseen at t."""
    T, S = watch.watched.shape
    M = watch.named.shape[0]
    later = np.empty(M)
    for v in range(T * S + 1):
        if v < T * S and (watch.watched[v // S, v % S] < 0 or v < S):
            continue
        arrival(watch, v, ahead[v // S - 1, v])
        for t in range(v // S - 2, -1, -1):
            for x in range(M):
                later[x] = ahead[t + 1, v, x] * watch.hidden[t + 1, x]
            for x in range(M):
                ahead[t, v, x] = dot(at(watch.matrices, t)[x], later)


@making
def marginal_guesses(watch, ahead, u, guesses):
    """For each v the likeliest place of each step given both ends, in `guesses` (T S + 1, T)."""
    T, S = watch.watched.shape
    M = watch.named.shape[0]
    row, new, both = np.empty(M), np.empty(M), np.empty(M)
    t0 = begin(watch.initial, watch.matrices, watch.watched, u, row)
    for t in range(t0, T):
        if t > t0:
            push(row, at(watch.matrices, t - 1), new)
            row, new = new, row
        keep(row, watch.hidden[t])
        for v in range((t + 1) * S, T * S + 1):
            for x in range(M):
                both[x] = row[x] * ahead[t, v, x]
            guesses[v, t] = likeliest(both, watch.named)


@making
def map_guesses(watch, u, guesses):
    """For each v the likeliest way from u to v, in `guesses` (T S + 1, T); ties go to the lowest place."""
    T, S = watch.watched.shape
    M = watch.named.shape[0]
    ways, arrive, both = np.zeros((T, M)), np.empty(M), np.empty(M)
    t0 = begin(watch.initial, watch.matrices, watch.watched, u, both)
    for t in range(t0, T):
        if t == t0:
            copy(both, ways[t])
        else:
            top = 0.0
            for x in range(M):
                top = max(top, ways[t - 1, x])
            P = at(watch.matrices, t - 1)
            for x in range(M):
                if ways[t - 1, x] > 0.0:
                    b = ways[t - 1, x] / top
                    for y in range(M):
                        ways[t, y] = max(ways[t, y], b * P[x, y])
        keep(ways[t], watch.hidden[t])
        keep(ways[t], watch.named)
    for v in range((t0 + 1) * S, T * S + 1):
        if v < T * S and watch.watched[v // S, v % S] < 0:
            continue
        arrival(watch, v, arrive)
        for t in range(v // S - 1, t0 - 1, -1):
            for x in range(M):
                both[x] = ways[t, x] * arrive[x]
            guesses[v, t] = likeliest(both, watch.named)
            if t > t0:
                copy(at(watch.matrices, t - 1)[:, guesses[v, t]], arrive)


@inlined
def next_groups(watch, t, guesses, wanted, group, first, groups, named):
    """Number the pairs of a group and its named place at step t; returns their number.

    Only `wanted` guesses (T S + 1,) count. `first` (T S + 1, M) is scratch, -1 for all groups; `named` (2, T S + 1)
    gets the group and the place of each pair.
    """
    T, S = watch.watched.shape
    first[:groups] = -1
    n = 0
    for v in range((t + 1) * S, T * S + 1):
        if wanted[v] and (v == T * S or watch.watched[v // S, v % S] >= 0):
            i, g = group[v], guesses[v, t]
            if first[i, g] < 0:
                first[i, g] = n
                named[0, n], named[1, n] = i, g
                n += 1
            group[v] = first[i, g]
    return n


@inlined
def name_apart(table, hidden, rows, g, out):
    """Put in `out` (K, M) the table of people staying unseen, with one more wrong step except at g."""
    for k in range(rows):
        line = out[k]
        for x in range(hidden.shape[0]):
            line[x] = table[k - 1, x] * hidden[x] if k > 0 else 0.0
        line[g] = table[k, g] * hidden[g]


class Tables(NamedTuple):
    """Scratch to score the guesses of all stretches from one point: for each group, its number, and two tables (K, M).

    See `next_groups` for the others.
    """

    group: np.ndarray
    first: np.ndarray
    named: np.ndarray
    now: np.ndarray
    new: np.ndarray


@making
def tables_for(TS, K, M):
    """Scratch for so many stretches."""
    return Tables(
        np.zeros(TS + 1, np.int64),
        np.empty((TS + 1, M), np.int64),
        np.empty((2, TS + 1), np.int64),
        np.empty((TS + 1, K, M)),
        np.empty((TS + 1, K, M)),
    )


@inlined
def score_all(watch, turned, u, guesses, wanted, law, tables):
    """Fill `law[v, k]` of a guess for each `wanted` v, `guesses` (T S + 1, T); returns the work.

    Guesses agreeing so far form a group, with one table (number wrong, place). Matrices are `turned` as well.
    """
    T, S = watch.watched.shape
    M, K, TS = watch.named.shape[0], law.shape[1], T * S
    group, now, new = tables.group, tables.now, tables.new
    law[:] = 0.0
    group[:] = 0
    now[0] = 0.0
    groups, work = np.int64(1), 0.0
    t0 = begin(watch.initial, watch.matrices, watch.watched, u, now[0, 0])
    if t0 == T:
        law[TS, 0] = 1.0
    for t in range(t0, T):
        rows = min(K, t - t0 + 1)
        if t > t0:
            for i in range(groups):
                push_rows(new[i], rows, at(turned, t - 1), now[i])
            work += TOGETHER * groups * rows * M * M
        for j in range(S):
            if watch.watched[t, j] >= 0 and wanted[t * S + j]:
                for k in range(rows):
                    law[t * S + j, k] = now[group[t * S + j], k, watch.watched[t, j]]
        groups = next_groups(watch, t, guesses, wanted, group, tables.first, groups, tables.named)
        for i in range(groups):
            if rows < K:
                now[tables.named[0, i], rows] = 0.0
            name_apart(now[tables.named[0, i]], watch.hidden[t], min(K, rows + 1), tables.named[1, i], new[i])
    if t0 < T and wanted[TS]:
        for k in range(K):
            for x in range(M):
                law[TS, k] += new[group[TS], k, x] if k <= T - t0 else 0.0
    return work


@making
def look_back(watch, guess, t0, t1, worth, arrive, after):
    """Fill `after[t, j, x]`: the final worth of j wrong steps up to t, at x, for a fixed guess."""
    K, M = worth.shape[0], arrive.shape[0]
    later = np.empty(M)
    for j in range(K):
        for x in range(M):
            after[t1 - 1, j, x] = arrive[x] * worth[j]
    for t in range(t1 - 2, t0 - 1, -1):
        P, g, hidden = at(watch.matrices, t), guess[t + 1], watch.hidden[t + 1]
        for j in range(min(K, t - t0 + 2)):
            for y in range(M):
                later[y] = after[t + 1, j + 1, y] * hidden[y] if j + 1 < K else 0.0
            later[g] = after[t + 1, j, g] * hidden[g]
            for x in range(M):
                after[t, j, x] = dot(P[x], later)


@making
def climb(watch, turned, u, v, guess, worth, after, law):
    """Improve `guess` (T,) for one stretch, a step at a time, until nothing helps; (worth, work). Its law is filled in.

    `worth` (K,) is the worth of each number of wrong steps; matrices are `turned` as well. Naming x at step t gains
    `Σ_j F(j,x) (after(j,x) - after(j+1,x))` over naming nobody's place, F the table (number wrong, place) before the
    step is counted.
    """
    S = watch.watched.shape[1]
    K, M = worth.shape[0], watch.named.shape[0]
    t0, t1 = after_point(u, S), v // S
    now, new, gain, arrive = np.zeros((K, M)), np.zeros((K, M)), np.empty(M), np.empty(M)
    arrival(watch, v, arrive)
    work = 0.0
    for _ in range(SWEEPS):
        look_back(watch, guess, t0, t1, worth, arrive, after)
        now[:] = 0.0
        begin(watch.initial, watch.matrices, watch.watched, u, now[0])
        changed = False
        for t in range(t0, t1):
            rows = min(K, t - t0 + 1)
            if t > t0:
                push_rows(now, rows, at(turned, t - 1), new)
                new[rows:] = 0.0
                now, new = new, now
            gain[:] = 0.0
            for j in range(rows):
                keep(now[j], watch.hidden[t])
                for x in range(M):
                    gain[x] += now[j, x] * (after[t, j, x] - (after[t, j + 1, x] if j + 1 < K else 0.0))
            pick = likeliest(gain, watch.named)
            # A relative margin keeps rounding from moving between equals for ever.
            if gain[pick] > gain[guess[t]] * (1.0 + 1e-12):
                guess[t] = pick
                changed = True
            count_wrong(now, K, guess[t])
            work += 2.0 * rows * M * (M + 8.0)
        if not changed:
            break
    total = 0.0
    for k in range(K):
        law[k] = dot(now[k], arrive)
        total += law[k] * worth[k]
    return total, work
