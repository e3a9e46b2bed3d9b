"""Recursions on a Markov chain, with or without evidence.

A chain is `initial` (M,) and `matrices` (K, M, M) with K = 1 (the same matrix at every step) or K = T - 1.
Evidence is by class: `classes` (T, M) holds the class of each state at each step, and `weights` (T, C) the likelihood
of each class.
"""

import numpy as np

from passerby.kernels.jit import (
    adding,
    cube,
    inlined,
    kernel,
    making,
    matrix,
    number,
    out_matrix,
    out_vector,
    out_whole_matrix,
    vector,
    view,
    whole,
    wholes,
)


@view
def at(matrices, t):
    """The matrix from step t to step t + 1."""
    return matrices[0] if matrices.shape[0] == 1 else matrices[t]


@inlined
def copy(row, out):
    """Fill `out` with the content of a row."""
    for x in range(out.shape[0]):
        out[x] = row[x]


@inlined
def weigh(row, classes, weights):
    """Multiply a row over states by the evidence of a step, in place."""
    for x in range(row.shape[0]):
        row[x] *= weights[classes[x]]


@inlined
def push(row, matrix, out):
    """`out = row @ matrix`, skipping empty states."""
    out[:] = 0.0
    for x in range(row.shape[0]):
        a = row[x]
        if a != 0.0:
            line = matrix[x]
            for y in range(out.shape[0]):
                out[y] += a * line[y]


@inlined
def raise_to(out, a, line):
    """`out = max(out, a + line)`, in place."""
    for y in range(out.shape[0]):
        b = a + line[y]
        out[y] = b if b > out[y] else out[y]


@adding
def dot(a, b):
    """`Σ a b`."""
    total = 0.0
    for x in range(a.shape[0]):
        total += a[x] * b[x]
    return total


@making
def turn(matrices):
    """Each matrix on its side: rows become columns."""
    out = np.empty(matrices.shape)
    for t in range(matrices.shape[0]):
        for x in range(matrices.shape[1]):
            for y in range(matrices.shape[2]):
                out[t, y, x] = matrices[t, x, y]
    return out


@adding
def push_four(table, k, turned, out):
    """`out[k..k+3] = table[k..k+3] @ matrix`, by the `turned` matrix: four rows and two of its own are read at once."""
    first, second, third, fourth = table[k], table[k + 1], table[k + 2], table[k + 3]
    last = turned.shape[0] - 1
    for y in range(0, last + 1, 2):
        line, other = turned[y], turned[min(y + 1, last)]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        e, f, g, h = 0.0, 0.0, 0.0, 0.0
        for x in range(line.shape[0]):
            p, q = line[x], other[x]
            a += p * first[x]
            b += p * second[x]
            c += p * third[x]
            d += p * fourth[x]
            e += q * first[x]
            f += q * second[x]
            g += q * third[x]
            h += q * fourth[x]
        out[k, y], out[k + 1, y], out[k + 2, y], out[k + 3, y] = a, b, c, d
        if y < last:
            out[k, y + 1], out[k + 1, y + 1], out[k + 2, y + 1], out[k + 3, y + 1] = e, f, g, h


@inlined
def push_rows(table, rows, turned, out):
    """`out = table @ matrix` for the first rows, by the `turned` matrix: several times as quick as row by row."""
    whole_fours = rows - rows % 4
    for k in range(0, whole_fours, 4):
        push_four(table, k, turned, out)
    for k in range(whole_fours, rows):
        for y in range(turned.shape[0]):
            out[k, y] = dot(table[k], turned[y])


@kernel(out_vector(matrix))
def stationary(transition):
    """Stationary distribution of an irreducible chain, without subtractions (Grassmann, Taksar, Heyman 1985)."""
    M = transition.shape[0]
    a = transition.copy()
    for n in range(M - 1, 0, -1):
        leave = 0.0
        for y in range(n):
            leave += a[n, y]
        for x in range(n):
            a[x, n] /= leave
        for x in range(n):
            f = a[x, n]
            if f != 0.0:
                for y in range(n):
                    a[x, y] += f * a[n, y]
    out = np.empty(M)
    out[0] = 1.0
    for n in range(1, M):
        s = 0.0
        for x in range(n):
            s += out[x] * a[x, n]
        out[n] = s
    return out / out.sum()


@kernel(out_matrix(wholes, wholes, matrix, number, whole))
def smoothed_moves(source, target, background, smoothing, places):
    """`(counts + α b) / (n + α)`: how often each move was made, smoothed with a background (1, M) or (M, M)."""
    out = np.zeros((places, places))
    left = np.zeros(places)
    for i in range(source.shape[0]):
        out[source[i], target[i]] += 1.0
        left[source[i]] += 1.0
    for x in range(places):
        b = background[x if background.shape[0] > 1 else 0]
        for y in range(places):
            out[x, y] = (out[x, y] + smoothing * b[y]) / (left[x] + smoothing)
    return out


@kernel(out_whole_matrix(vector, cube, matrix))
def draw(initial, matrices, uniform):
    """Traces (n, T) drawn by inversion from `uniform` (n, T)."""
    n, T = uniform.shape
    M = initial.shape[0]
    out = np.empty((n, T), np.int64)
    for i in range(n):
        for t in range(T):
            law = initial if t == 0 else at(matrices, t - 1)[out[i, t - 1]]
            left = uniform[i, t]
            pick = -1
            for x in range(M):
                if law[x] > 0.0:
                    pick = x
                    left -= law[x]
                    if left < 0.0:
                        break
            out[i, t] = pick
    return out


@inlined
def likeliest(row, named):
    """The first nameable place with the largest value; values are above -1."""
    pick, top = -1, -1.0
    for x in range(row.shape[0]):
        if row[x] > top and named[x] > 0.0:
            pick, top = x, row[x]
    return pick
