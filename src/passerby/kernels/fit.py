"""Habits of one person over few states, fitted to their steps.

`index` (K,) are the states of a person's steps, from step `first` on of F fitted ones. There are habits towards H parts
of a cycle, and a fitted step counts differently for each of them. `within` (1 + levels, H, F) is 1 if it is in a part,
at all times, in broader parts and in the finest, and 0 otherwise. `b` (R,) is how well people know the places.

Everybody's habits are tried on earlier steps in NumPy (`people.evidence`), and these are rounded in the same way. A
likeliest trace is often one of several equally likely but for rounding.
"""

import numpy as np
from numba import types

from passerby.kernels.chain.recursions import copy

from .jit import (
    AS_NUMPY,
    cube,
    kernel,
    matrix,
    number,
    out_cube,
    out_vector,
    out_wholes,
    rounded,
    vector,
    whole,
    wholes,
)

#: If nothing is left over, rounding leaves less than this.
_NOTHING = 1e-14
#: Numbers added up at once by NumPy, eight by eight; it halves longer arrays.
_BLOCK, _LANES = 128, 8


@rounded
def summed(values):
    """`Σ values` in the order of NumPy: this loses fewer digits than one after another."""
    n = values.shape[0]
    if n > _BLOCK:
        half = n // 2 - n // 2 % _LANES
        return summed(values[:half]) + summed(values[half:])
    full = n - n % _LANES
    total = 0.0
    if full > 0:
        lane = values[:_LANES].copy()
        for i in range(_LANES, full):
            lane[i % _LANES] += values[i]
        total = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
    for i in range(full, n):
        total += values[i]
    return total


@kernel(types.Tuple((out_wholes, out_vector, out_vector, out_wholes))(*[wholes] * 4, vector, vector, whole), **AS_NUMPY)
def states(steps, sensed, label, order, background, surprise, elsewhere):
    """States of a person with these steps: places (R,), frequencies, entropies within, and the states of the steps.

    They begin with the places of the steps and the `sensed` ones, in order. Then comes the first of all others of each
    `label` (M,) in the `order` of places, with the next one if this is `elsewhere`. The rest is one state, marked as
    `-1 - label`. The entropy of the place within the rest is `(Σ -b log b) / Σb + log Σb`, from the `surprise` `-b log
    b` of each place.
    """
    M, Z = label.shape[0], 1
    for z in label:
        Z = max(Z, z + 1)
    state, own = np.full(M, -1), 0
    for places in (steps, sensed):
        for place in places:
            state[place] = 0
    for place in range(M):
        if state[place] == 0:
            state[place] = own
            own += 1
    # At most two states and the rest of each label.
    most = own + min(3 * Z, M - own)
    out, b, hidden = np.empty(most, np.int64), np.zeros(most), np.zeros(most)
    for place in range(M):
        if state[place] >= 0:
            out[state[place]] = place
            b[state[place]] = background[place]
    few, odd, size = np.empty(M - own), np.empty(M - own), own
    for z in range(Z):
        number, left, away = 0, 0, False
        for place in order:
            if state[place] < 0 and label[place] == z:
                number += 1
                if number == 1 or (number == 2 and away):
                    away = place == elsewhere
                    out[size], b[size] = place, background[place]
                    size += 1
                else:
                    few[left], odd[left] = background[place], surprise[place]
                    left += 1
        if left > 0:
            total = summed(few[:left])
            out[size] = -1 - z
            if total > _NOTHING:
                b[size] = total
                hidden[size] = max(0.0, summed(odd[:left]) / total + np.log(total))
            size += 1
    index = np.empty(steps.shape[0], np.int64)
    for k in range(steps.shape[0]):
        index[k] = state[steps[k]]
    return out[:size], b[:size], hidden[:size], index


@rounded
def back_off(index, first, within, weight, background, visits, f):
    """Back the frequencies of some of the steps off to the frequencies in `f` (R,), in place."""
    visits[:] = 0.0
    for k in range(index.shape[0]):
        if within[first + k] > 0.0:
            visits[index[k]] += weight[first + k]
    total = summed(visits) + background
    for y in range(f.shape[0]):
        f[y] = (visits[y] + background * f[y]) / total


@rounded
def towards(index, first, within, h, weight, background, always, visits, broad, f):
    """Fill `f` (R,): frequencies in a part of the cycle, backed off to their mean in broader parts.

    These are backed off to the frequencies at all times, `always` (R,).
    """
    finest = within.shape[0] - 1
    copy(always, f)
    if finest > 1:
        f[:] = 0.0
        for level in range(1, finest):
            copy(always, broad)
            back_off(index, first, within[level, h], weight, background, visits, broad)
            for y in range(f.shape[0]):
                f[y] += broad[y]
        for y in range(f.shape[0]):
            f[y] /= finest - 1
    if finest > 0:
        back_off(index, first, within[finest, h], weight, background, visits, f)


@kernel(out_cube(wholes, whole, cube, vector, matrix, vector, cube, number, number, number), **AS_NUMPY)
def backed_off(index, first, within, weight, count, b, flow, background, smoothing, share):
    """P (H, R, R) of `people.family`: `(n(x, y) + α [(1-λ) f(y) + λ Q(x, y)]) / (n(x) + α)`.

    `weight` (F,) is the weight of each fitted step, and `count` (H, F) the count of a move to it; `flow` (H, R, R) is
    Q. The frequencies f of a level are `(n(y) + β f(y)) / (Σn + β)`, backed off to the frequencies of broader ones.
    """
    H, R = within.shape[1], b.shape[0]
    out, always, f, visits, broad = np.zeros((H, R, R)), np.empty(R), np.empty(R), np.empty(R), np.empty(R)
    # At all times it is the same for all parts.
    copy(b, always)
    back_off(index, first, within[0, 0], weight, background, visits, always)
    for h in range(H):
        towards(index, first, within, h, weight, background, always, visits, broad, f)
        for k in range(1, index.shape[0]):
            out[h, index[k - 1], index[k]] += count[h, first + k]
        for x in range(R):
            left = summed(out[h, x]) + smoothing
            for y in range(R):
                added = (1 - share) * f[y] + share * flow[h, x, y]
                out[h, x, y] = (out[h, x, y] + smoothing * added) / left
    return out


@rounded
def largest(values):
    """The first of the largest entries."""
    best = 0
    for y in range(values.shape[0]):
        best = y if values[y] > values[best] else best
    return best


@rounded
def arrivals(index, first, within, h, c, out):
    """Fill `out` (R,) with arrivals by one law of coming: 0 evenly, 1 at all times, then in the parts of each level."""
    out[:] = 0.0
    for k in range(index.shape[0]):
        if c == 0 or (k > 0 and index[k] == index[k - 1]):
            continue
        if within[c - 1, h, first + k] > 0.0:
            out[index[k]] += 1.0


@kernel(out_cube(wholes, whole, cube, number, cube, vector, vector, number), **AS_NUMPY)
def by_role(index, first, within, weight, shares, b, coming, least):
    """Q (H, R, R): everybody's moves by role (`people.roles`), over the states of a person.

    `shares` (H, 3, 4) are the shares of each kind of move from each role. `weight` is the weight of broader parts in
    finding the person's usual place. Other known places are chosen by the time the person spent there. Or they are
    chosen by laws of coming with the weights `coming` (C,), each with `least` arrivals more. All new places share a row
    and are entered by b. So somebody staying at one may be at any.
    """
    H, R, C = within.shape[1], b.shape[0], max(1, coming.shape[0])
    out, visits, fresh = np.empty((H, R, R)), np.zeros(R), np.zeros(R)
    here, f, always, broad = np.empty(R), np.empty(R), np.empty(R), np.empty(R)
    others, known = np.zeros((C, R)), np.empty(C)
    for x in index:
        visits[x] += 1.0
    total = max(summed(visits), 1.0)
    for y in range(R):
        always[y] = visits[y] / total
    for y in range(R):
        if visits[y] == 0.0:
            fresh[y] = b[y]
    unknown = summed(fresh)
    for h in range(H):
        # All steps count the same: 1, as at all times.
        towards(index, first, within, h, within[0, h], weight, always, here, broad, f)
        there = largest(f)
        for c in range(C):
            if coming.shape[0] == 0:
                copy(visits, others[c])
            else:
                arrivals(index, first, within, h, c, others[c])
                for y in range(R):
                    if visits[y] > 0.0:
                        others[c, y] += 1.0 if c == 0 else least
            others[c, there] = 0.0
            known[c] = summed(others[c])
        for x in range(R):
            role = 0 if x == there else 1 if visits[x] > 0.0 else 2
            share, line = shares[h, role], out[h, x]
            new = share[3] + share[1] if role == 2 else share[3]
            for y in range(R):
                if y == there:
                    line[y] = share[0]
                elif visits[y] == 0.0:
                    line[y] = new * (fresh[y] / unknown) if unknown > 0.0 else 0.0
                elif y == x:
                    line[y] = share[1]
                elif coming.shape[0] == 0:
                    line[y] = others[0, y] * (share[2] / (known[0] - others[0, x]))
                else:
                    line[y] = 0.0
                    for c in range(C):
                        line[y] += others[c, y] * (coming[c] * share[2] / (known[c] - others[c, x]))
            total = summed(line)
            for y in range(R):
                line[y] /= total
    return out
