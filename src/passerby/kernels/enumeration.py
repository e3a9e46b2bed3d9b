"""The likeliest series of a release with few outcomes at each step."""

import numpy as np
from numba import types

from .chain import at, copy
from .jit import cube, kernel, number, out_vector, out_whole_matrix, vector, whole, whole_matrix, wholes

_LISTED = types.Tuple((out_whole_matrix, out_vector, number))


@kernel(_LISTED(vector, cube, whole_matrix, cube, wholes, whole, number, number))
def likeliest(initial, matrices, classes, tables, sizes, most, enough, little):
    """The outcomes (n, T) of the likeliest series, at most `most`, their probabilities (n,), and that of all others.

    `tables` (T, O, C) holds the likelihoods of each step's outcomes, of which there are `sizes` (T,), by the class of
    the state, `classes` (T, M). Beginnings of series are extended step by step with their forward
    vectors. The least likely are dropped when there are too many, and as long as no more than `little` is dropped in
    all; once more than `enough` is, no series is returned.
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
