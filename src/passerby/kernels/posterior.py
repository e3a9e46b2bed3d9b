"""The chain of a person given what was published: a Markov chain again, as the search for guesses takes it."""

from typing import NamedTuple

import numpy as np
from numba import types

from .chain import at, copy, dot, weigh
from .jit import cube, inlined, kernel, matrix, number, out_cube, out_vector, out_wholes, vector, whole_matrix, wholes

#: In `posterior`, states less likely than this, relative to the likeliest of the step after, are left out, and the log
#: of the share of the series' probability below which that may matter: what is left out is at most 1e-280 of it.
FAINT = 1e-290
DOUBTFUL = -23.0
#: What may be lost to underflow of a product that is not watched, and the log of the share below which it is.
UNDERFLOW = 1e-307
RARE = -60.0
#: No more than this of a posterior's probability is missing, for each place and step.
MISSING = 1e-279


class Chain(NamedTuple):
    """A chain whose guesses are looked for.

    `start` (M,) and `moves` (T-1, M, M); row x of every matrix is empty outside of `low[x]`..`high[x]` (M,).
    State x has place `place_of[x]` (M,); `named` (P,) is 1 for places that may be named and 0 for others; `single`
    tells whether a state is a place. `law` (T, M) has the marginals; `pinned` (T,) the place of steps at which it is
    certain and may be named, -1 elsewhere. `turned` (T-1, M, M) are the same matrices on their side, by which those of
    many places are followed more quickly, or none (0, M, M).
    """

    start: np.ndarray
    moves: np.ndarray
    low: np.ndarray
    high: np.ndarray
    place_of: np.ndarray
    named: np.ndarray
    single: bool
    law: np.ndarray
    pinned: np.ndarray
    turned: np.ndarray


@inlined
def mostly(row):
    """Whether more than a quarter of a row is not empty."""
    count = 0
    for x in range(row.shape[0]):
        count += 1 if row[x] != 0.0 else 0
    return 4 * count > row.shape[0]


@inlined
def move(chain, t, row, out):
    """`out = row @ moves[t]`, skipping empty states and what is known to be empty of the rows."""
    if chain.turned.shape[0] > 0 and mostly(row):
        for y in range(row.shape[0]):
            out[y] = dot(chain.turned[t, y], row)
        return
    out[:] = 0.0
    for x in range(row.shape[0]):
        a = row[x]
        if a != 0.0:
            line = chain.moves[t, x]
            for y in range(chain.low[x], chain.high[x]):
                out[y] += a * line[y]


@inlined
def ahead(chain, t, x, values):
    """`Σ_y moves[t, x, y] values[y]`."""
    low, high = chain.low[x], chain.high[x]
    return dot(chain.moves[t, x, low:high], values[low:high])


@inlined
def top_place(chain, row, reward, low, high, sums):
    """`max_g Σ_{y at g} row[y] reward[y]` over places g that may be named, y from low to high."""
    top = 0.0
    if chain.single:
        for y in range(low, high):
            top = max(top, row[y] * reward[y] * chain.named[y])
        return top
    sums[:] = 0.0
    for y in range(low, high):
        sums[chain.place_of[y]] += row[y] * reward[y]
    for g in range(sums.shape[0]):
        top = max(top, sums[g] * chain.named[g])
    return top


@inlined
def add_by_place(chain, row, sums):
    """Add values of states to those of their places."""
    for x in range(row.shape[0]):
        sums[chain.place_of[x]] += row[x]


@kernel(types.Tuple((out_wholes, out_wholes))(cube))
def ranges(matrices):
    """Where the entries of each row begin, and one past where they end, over all matrices (M,), (M,)."""
    K, M = matrices.shape[:2]
    low, high = np.full(M, M), np.zeros(M, np.int64)
    for k in range(K):
        for x in range(M):
            y = 0
            while y < low[x] and matrices[k, x, y] == 0.0:
                y += 1
            low[x] = min(low[x], y)
            y = M
            while y > high[x] and matrices[k, x, y - 1] == 0.0:
                y -= 1
            high[x] = max(high[x], y)
    for x in range(M):
        low[x] = min(low[x], high[x])
    return low, high


@inlined
def single(place_of):
    """Whether a state is a place."""
    same = True
    for x in range(place_of.shape[0]):
        same = same and place_of[x] == x
    return same


@inlined
def look(chain):
    """Fill the law of each step, and `pinned`."""
    law, pinned = chain.law, chain.pinned
    copy(chain.start, law[0])
    for t in range(law.shape[0]):
        if t > 0:
            move(chain, t - 1, law[t - 1], law[t])
        pinned[t] = -1
        certain = True
        for x in range(law.shape[1]):
            if law[t, x] > 0.0:
                certain &= pinned[t] < 0 or pinned[t] == chain.place_of[x]
                pinned[t] = chain.place_of[x]
        if not certain or pinned[t] < 0 or chain.named[pinned[t]] == 0.0:
            pinned[t] = -1


@inlined
def fades(row, weights):
    """Whether some state that is still possible may be fainter than `FAINT` once it is weighed."""
    low, least = 1.0, 1.0
    for x in range(row.shape[0]):
        low = min(low, row[x]) if row[x] > 0.0 else low
    for j in range(weights.shape[0]):
        least = min(least, weights[j]) if weights[j] > 0.0 else least
    return low * least < FAINT


@inlined
def possible(row, b):
    """How many states are possible after this row of a matrix, however unlikely."""
    count = 0
    for y in range(row.shape[0]):
        count += 1 if row[y] > 0.0 and b[y] > 0.0 else 0
    return count


@inlined
def smallest(initial, matrices):
    """The smallest probability of a start or a move that is not zero."""
    low = 1.0
    for x in range(initial.shape[0]):
        low = min(low, initial[x]) if initial[x] > 0.0 else low
    for k in range(matrices.shape[0]):
        for x in range(initial.shape[0]):
            for y in range(initial.shape[0]):
                low = min(low, matrices[k, x, y]) if matrices[k, x, y] > 0.0 else low
    return low


@kernel(types.Tuple((out_vector, out_cube, number))(vector, cube, wholes, wholes, whole_matrix, matrix))
def posterior(initial, matrices, low, high, classes, weights):
    """The chain given a series of evidence: start (M,), matrices (T - 1, M, M), and the log probability of the series.

    Backward pass: `b_T = 1`, `b_t(x) = Σ_y P_t(x, y) w_{t+1}(y) b_{t+1}(y)`; the posterior matrix is
    `P_t(x, y) w_{t+1}(y) b_{t+1}(y) / b_t(x)`. Rows of states that cannot be reached are left empty. The log
    probability is minus infinity for an impossible series, and where numbers get too small to be told apart: what is
    left out at step t is at most `FAINT` in the scale of the step after it, in which the series itself must not be too
    small. So of the posterior's probability, at most `MISSING` for each place and step is left out.
    """
    T = classes.shape[0]
    M = initial.shape[0]
    moves = np.zeros((T - 1, M, M))
    b = np.ones(M)
    log_mass = 0.0
    log_faint = -np.inf
    for t in range(T - 2, -1, -1):
        faint = fades(b, weights[t + 1])
        weigh(b, classes[t + 1], weights[t + 1])
        if faint:
            log_faint = max(log_faint, log_mass)
            for x in range(M):
                b[x] = b[x] if b[x] >= FAINT else 0.0
        P = at(matrices, t)
        now = np.zeros(M)
        top = 0.0
        for x in range(M):
            now[x] = dot(P[x, low[x] : high[x]], b[low[x] : high[x]])
            top = max(top, now[x])
        if top < FAINT:
            return b, moves, -np.inf
        for x in range(M):
            if now[x] >= FAINT:
                f = 1.0 / now[x]
                for y in range(low[x], high[x]):
                    moves[t, x, y] = P[x, y] * b[y] * f
                now[x] /= top
            else:
                if possible(P[x], b) > 0:
                    log_faint = max(log_faint, log_mass)
                now[x] = 0.0
        b = now
        log_mass += np.log(top)
    weigh(b, classes[0], weights[0])
    total = 0.0
    for x in range(M):
        b[x] *= initial[x]
        total += b[x]
    if total < FAINT or log_mass + np.log(total) - log_faint < DOUBTFUL:
        return b, moves, -np.inf
    if log_mass + np.log(total) < RARE and smallest(initial, matrices) * FAINT < UNDERFLOW:
        return b, moves, -np.inf
    b /= total
    return b, moves, log_mass + np.log(total)
