"""Series and an event about the trace: their joint likelihood; and the best guess of each single step.

An event is followed by a *level*: `follows` (T, M, L) is the level after each step, by the state of the step and the
level before. A trace begins at level 0, and the event holds if it ends at level L - 1.

For raw counts this needs no series. Between the last sighting before a step and the next one after it, the trace is
independent of the rest. So the sum over series is one over pairs of sightings.
"""

import numpy as np

from passerby.kernels.jit import (
    cube,
    flag,
    inlined,
    kernel,
    making,
    matrix,
    number,
    out_matrix,
    out_vector,
    out_whole_matrix,
    vector,
    whole_cube,
    whole_matrix,
    wholes,
)

from .recursions import at, copy, dot, push

#: Series followed side by side.
BLOCK = 128
#: Series are scaled if less is left of one than `FAINT`, or more than its inverse. A level keeping less than `LOST` may
#: have been rounded to nothing.
FAINT, LOST = 1e-50, 1e-250


@inlined
def lift(now, scale, follows, new, fresh):
    """Put each state's probability at the following level, with one scale for each level; returns nothing.

    `now` (L, M) times `exp(scale)` (L,) become `new` times `exp(fresh)`.
    """
    L, M = now.shape
    new[:] = 0.0
    fresh[:] = -np.inf
    for level in range(L):
        for x in range(M):
            if now[level, x] > 0.0:
                fresh[follows[x, level]] = max(fresh[follows[x, level]], scale[level])
    for level in range(L):
        for x in range(M):
            if now[level, x] > 0.0:
                after = follows[x, level]
                new[after, x] += now[level, x] * np.exp(scale[level] - fresh[after])


@inlined
def even(row, scale, level):
    """Divide a row by its sum, and put the sum into its scale."""
    total = row.sum()
    if total > 0.0:
        for x in range(row.shape[0]):
            row[x] /= total
        scale[level] += np.log(total)
    else:
        scale[level] = -np.inf


@kernel(out_matrix(vector, cube, whole_matrix, cube, whole_cube))
def with_and_without(initial, matrices, classes, weights, follows):
    """`log Pr[series, not E]` and `log Pr[series, E]` for series of evidence (n, T, C): (n, 2), O(n T L M²)."""
    n = weights.shape[0]
    T, M, L = follows.shape
    out = np.empty((n, 2))
    now, new, moved = np.empty((L, M)), np.empty((L, M)), np.empty(M)
    scale, fresh = np.empty(L), np.empty(L)
    for i in range(n):
        now[:] = 0.0
        scale[:] = -np.inf
        scale[0] = 0.0
        for x in range(M):
            now[0, x] = initial[x]
        for t in range(T):
            for level in range(L):
                if scale[level] == -np.inf:
                    continue
                if t > 0:
                    push(now[level], at(matrices, t - 1), moved)
                    copy(moved, now[level])
                for x in range(M):
                    now[level, x] *= weights[i, t, classes[t, x]]
            lift(now, scale, follows[t], new, fresh)
            for level in range(L):
                even(new[level], fresh, level)
            now, new, scale, fresh = new, now, fresh, scale
        out[i, 1] = scale[L - 1]
        top = scale[: L - 1].max()
        total = 0.0
        for level in range(L - 1):
            total += np.exp(scale[level] - top) if scale[level] > -np.inf else 0.0
        out[i, 0] = top + np.log(total) if total > 0.0 else -np.inf
    return out


@making
def reachable(initial, matrices, follows):
    """Whether each level can be at each state at all (T, L, M)."""
    T, M, L = follows.shape
    out = np.zeros((T, L, M), np.bool_)
    for x in range(M):
        if initial[x] > 0.0:
            out[0, follows[0, x, 0], x] = True
    for t in range(1, T):
        P = at(matrices, t - 1)
        for level in range(L):
            for x in range(M):
                if out[t - 1, level, x]:
                    for y in range(M):
                        if P[x, y] > 0.0:
                            out[t, follows[t, y, level], y] = True
    return out


@inlined
def push_block(now, live, P, follows, new):
    """Move a block of series (L, M, B) by a step."""
    new[:] = 0.0
    for level in range(now.shape[0]):
        for y in range(now.shape[1]):
            target = new[follows[y, level], y]
            for x in range(now.shape[1]):
                p = P[x, y]
                if p != 0.0 and live[level, x]:
                    source = now[level, x]
                    for b in range(target.shape[0]):
                        target[b] += p * source[b]


@inlined
def weigh_block(new, live, classes, weights, total, part, lost):
    """Multiply a block by the evidence of a step (C, B): the rest of each series, and whether a level is lost."""
    total[:] = 0.0
    for level in range(new.shape[0]):
        part[:] = 0.0
        there = False
        for x in range(new.shape[1]):
            if live[level, x]:
                there = True
                row, weight = new[level, x], weights[classes[x]]
                for b in range(row.shape[0]):
                    row[b] *= weight[b]
                    part[b] += row[b]
        for b in range(part.shape[0]):
            total[b] += part[b]
            if there and part[b] < LOST:
                lost[b] = True


@inlined
def scale_block(new, total, scale):
    """If one is far from one, divide each series of a block by its rest, and put it into its scale."""
    for b in range(total.shape[0]):
        if 0.0 < total[b] < FAINT or total[b] > 1.0 / FAINT:
            scale[b] += np.log(total[b])
            for level in range(new.shape[0]):
                for x in range(new.shape[1]):
                    new[level, x, b] /= total[b]


@kernel(out_matrix(vector, cube, whole_matrix, cube, whole_cube))
def side_by_side(initial, matrices, classes, weights, follows):
    """The same as `with_and_without`, several times as quick: (n, 3), the last column 1 for a lost series.

    All levels of a series have one scale. It is lost if next to nothing may be left of a level.
    """
    n, C = weights.shape[0], weights.shape[2]
    T, M, L = follows.shape
    out = np.empty((n, 3))
    live = reachable(initial, matrices, follows)
    now, new, weight = np.zeros((L, M, BLOCK)), np.zeros((L, M, BLOCK)), np.ones((C, BLOCK))
    total, part, scale, lost = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.zeros(BLOCK, np.bool_)
    for i in range(0, n, BLOCK):
        size = min(BLOCK, n - i)
        scale[:] = 0.0
        lost[:] = False
        for t in range(T):
            for b in range(size):
                for c in range(C):
                    weight[c, b] = weights[i + b, t, c]
            if t == 0:
                new[:] = 0.0
                for x in range(M):
                    for b in range(BLOCK):
                        new[follows[0, x, 0], x, b] = initial[x]
            else:
                push_block(now, live[t - 1], at(matrices, t - 1), follows[t], new)
            weigh_block(new, live[t], classes[t], weight, total, part, lost)
            scale_block(new, total, scale)
            now, new = new, now
        for b in range(size):
            no, yes = 0.0, 0.0
            for x in range(M):
                yes += now[L - 1, x, b]
                for level in range(L - 1):
                    no += now[level, x, b]
            out[i + b, 0], out[i + b, 1] = scale[b] + np.log(no), scale[b] + np.log(yes)
            out[i + b, 2] = 1.0 if lost[b] else 0.0
    return out


@kernel(out_whole_matrix(vector, cube, whole_cube, flag, matrix))
def draw_given(initial, matrices, follows, held, uniform):
    """Draw states (n, T) of traces with the event, or of traces without it.

    `ahead[t, l, x]` is the chance of the wanted end of the trace from state x and level l of step t on. It is relative
    to the largest of the step and takes one backward pass. `uniform` (n, T) are draws between 0 and 1.
    """
    n = uniform.shape[0]
    T, M, L = follows.shape
    ahead = np.zeros((T, L, M))
    for level in range(L):
        ahead[T - 1, level] = 1.0 if (level == L - 1) == held else 0.0
    for t in range(T - 2, -1, -1):
        P = at(matrices, t)
        for x in range(M):
            for level in range(L):
                total = 0.0
                for y in range(M):
                    total += P[x, y] * ahead[t + 1, follows[t + 1, y, level], y]
                ahead[t, level, x] = total
        top = ahead[t].max()
        for level in range(L):
            for x in range(M):
                ahead[t, level, x] /= top
    out = np.empty((n, T), np.int64)
    chance = np.empty(M)
    for i in range(n):
        level = 0
        for t in range(T):
            total = 0.0
            for y in range(M):
                moved = initial[y] if t == 0 else at(matrices, t - 1)[out[i, t - 1], y]
                total += moved * ahead[t, follows[t, y, level], y]
                chance[y] = total
            x = 0
            while chance[x] <= uniform[i, t] * total and x < M - 1:
                x += 1
            out[i, t] = x
            level = follows[t, x, level]
    return out


@making
def following(initial, matrices, places):
    """The law of the next sighting after a step, from each unsighted place there: (T, N, M), (T,).

    The first entry of a step is for no sighting at all; the second array tells how many entries there are.
    """
    T, S = places.shape
    M = initial.shape[0]
    out, size = np.zeros((T, 1 + T * S, M)), np.ones(T, np.int64)
    out[T - 1, 0] = 1.0
    ahead = np.empty(M)
    for t in range(T - 1, 0, -1):
        P = at(matrices, t - 1)
        for k in range(size[t]):
            copy(out[t, k], ahead)
            for j in range(S):
                if places[t, j] >= 0:
                    ahead[places[t, j]] = 0.0
            for x in range(M):
                out[t - 1, k, x] = dot(P[x], ahead)
        size[t - 1] = size[t]
        for j in range(S):
            if places[t, j] >= 0:
                for x in range(M):
                    out[t - 1, size[t - 1], x] = P[x, places[t, j]]
                size[t - 1] += 1
    return out, size


@inlined
def best_between(before, points, after, ahead, named):
    """`Σ_u Σ_v max_x before[u, x] after[v, x]` over the nameable places."""
    total = 0.0
    for i in range(points):
        for k in range(ahead):
            top = 0.0
            for x in range(before.shape[1]):
                top = max(top, before[i, x] * after[k, x] * named[x])
            total += top
    return total


@kernel(out_vector(vector, cube, whole_matrix, vector))
def best_of_raw(initial, matrices, places, named):
    """For each step (T,), `Σ_y max_x Pr[X_t = x, y]` of raw counts: `places` (T, S) are the sensors, -1 for none.

    O((T S)² M) for each step, and T² S M numbers are kept.
    """
    T, S = places.shape
    M = initial.shape[0]
    out = np.zeros(T)
    after, size = following(initial, matrices, places)
    # before[u] is how likely the last sighting is u, with each place of the step and no sighting since.
    before, points = np.zeros((1 + T * S, M)), 1
    copy(initial, before[0])
    row = np.empty(M)
    for t in range(T):
        for i in range(points if t > 0 else 0):
            push(before[i], at(matrices, t - 1), row)
            copy(row, before[i])
        known = points
        for j in range(S):
            c = places[t, j]
            if c < 0:
                continue
            seen = 0.0
            for i in range(known):
                seen += before[i, c]
                before[i, c] = 0.0
            out[t] += seen * named[c]
            if seen > 0.0:
                before[points] = 0.0
                before[points, c] = seen
                points += 1
        out[t] += best_between(before, known, after[t], size[t], named)
    return out


@kernel(out_matrix(vector, cube, whole_matrix, cube, wholes, vector, number))
def best_given(initial, matrices, classes, weights, place_of, named, faintest):
    """For series of evidence (n, T, C), the chance of the best guess of each step given the series: (n, T).

    By a forward and a backward pass, scaled at each step; NaN for a series whose probability falls below `faintest`.
    """
    n = weights.shape[0]
    T, M = classes.shape
    out = np.empty((n, T))
    ahead = np.empty((T, M))
    row, new, sums = np.empty(M), np.empty(M), np.empty(named.shape[0])
    for i in range(n):
        lost = False
        ahead[T - 1] = 1.0
        for t in range(T - 1, 0, -1):
            P = at(matrices, t - 1)
            for y in range(M):
                new[y] = ahead[t, y] * weights[i, t, classes[t, y]]
            top = 0.0
            for x in range(M):
                ahead[t - 1, x] = dot(P[x], new)
                top = max(top, ahead[t - 1, x])
            lost = lost or top <= faintest
            for x in range(M):
                ahead[t - 1, x] /= top
        copy(initial, row)
        for t in range(T):
            if t > 0:
                push(row, at(matrices, t - 1), new)
                row, new = new, row
            total, here = 0.0, 0.0
            for x in range(M):
                row[x] *= weights[i, t, classes[t, x]]
                total += row[x]
            for x in range(M):
                row[x] /= total
            sums[:] = 0.0
            for x in range(M):
                chance = row[x] * ahead[t, x]
                sums[place_of[x]] += chance
                here += chance
            lost = lost or not total > faintest or not here > faintest
            best = 0.0
            for p in range(sums.shape[0]):
                best = max(best, sums[p] * named[p])
            out[i, t] = np.nan if lost else min(1.0, best / here)
    return out
