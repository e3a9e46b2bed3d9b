"""The chain of a person given the published values: a Markov chain again, in the form for guess searches."""

from typing import NamedTuple

import numpy as np
from numba import types

from passerby.kernels.jit import (
    cube,
    inlined,
    kernel,
    matrix,
    number,
    out_cube,
    out_vector,
    out_wholes,
    vector,
    whole_matrix,
    wholes,
)

from .recursions import at, copy, dot, weigh

#: In `posterior`, states less likely than this, relative to the likeliest of the step after, are left out. The second
#: number is the log of the share of the series' probability below which this may matter: at most 1e-280 of it is left
#: out.
FAINT = 1e-290
DOUBTFUL = -23.0
#: The probability of steps is multiplied down to this, and then kept as a logarithm.
TINY = 1e-15
#: The probability that may be lost to underflow of an unwatched product, and the log of the share below which it
#: matters.
UNDERFLOW = 1e-307
RARE = -60.0
#: No more than this of a posterior's probability is missing, for each place and step.
MISSING = 1e-279


class Chain(NamedTuple):
    """A chain for guess searches.

    `start` (M,) and `moves` (T-1, M, M); row x of every matrix is empty outside of `low[x]`..`high[x]` (M,). State x
    has place `place_of[x]` (M,). `named` (P,) is 1 for nameable places and 0 for others. `single` tells whether a state
    is a place. `law` (T, M) has the marginals. `pinned` (T,) has the place of steps with a certain and nameable place,
    and -1 otherwise. `turned` (T-1, M, M) are the same matrices on their side: chains of many places are followed more
    quickly by them. They may be missing (0, M, M).
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
    """`out = row @ moves[t]`, skipping empty states and known empty parts of the rows."""
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
    """`max_g Σ_{y at g} row[y] reward[y]` over nameable places g, y from low to high."""
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
    """Add values of states to the values of their places."""
    for x in range(row.shape[0]):
        sums[chain.place_of[x]] += row[x]


@kernel(types.Tuple((out_wholes, out_wholes))(cube))
def ranges(matrices):
    """The first entry of each row, and one past the last, over all matrices (M,), (M,)."""
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
def least(row):
    """The smallest number above 0, or 1 if that is smaller."""
    low = 1.0
    for x in range(row.shape[0]):
        low = min(low, row[x] if row[x] > 0.0 else 1.0)
    return low


@inlined
def look_back(matrix, low, high, b, now):
    """`now = matrix @ b`, by the non-empty parts of the rows of a matrix; returns the largest."""
    top = 0.0
    for x in range(now.shape[0]):
        u, v = low[x], high[x]
        now[x] = dot(matrix[x], b) if v - u == now.shape[0] else dot(matrix[x, u:v], b[u:v])
        top = max(top, now[x])
    return top


@inlined
def fill(line, b, f, out):
    """`out = line b f`: by parts of arrays beginning at 0, since loops over these use vector instructions."""
    for y in range(out.shape[0]):
        out[y] = line[y] * b[y] * f


@inlined
def fill_moves(matrix, low, high, b, now, out):
    """The posterior matrix of a step, and the row before it; returns if one of its states had to be left out."""
    left_out = False
    for x in range(now.shape[0]):
        if now[x] >= FAINT:
            u, v = low[x], high[x]
            if v - u == now.shape[0]:
                fill(matrix[x], b, 1.0 / now[x], out[x])
            else:
                fill(matrix[x, u:v], b[u:v], 1.0 / now[x], out[x, u:v])
        else:
            left_out = left_out or possible(matrix[x], b) > 0
            out[x] = 0.0
            now[x] = 0.0
    return left_out


@inlined
def possible(row, b):
    """How many states are possible after this row of a matrix, however unlikely."""
    count = 0
    for y in range(row.shape[0]):
        count += 1 if row[y] > 0.0 and b[y] > 0.0 else 0
    return count


@inlined
def smallest(initial, matrices):
    """The smallest probability of a start or a move above zero."""
    low = 1.0
    for x in range(initial.shape[0]):
        low = min(low, initial[x]) if initial[x] > 0.0 else low
    for k in range(matrices.shape[0]):
        for x in range(initial.shape[0]):
            for y in range(initial.shape[0]):
                low = min(low, matrices[k, x, y]) if matrices[k, x, y] > 0.0 else low
    return low


@kernel(types.Tuple((out_vector, number))(vector, cube, wholes, wholes, whole_matrix, matrix, out_cube))
def posterior(initial, matrices, low, high, classes, weights, moves):
    """The chain given a series of evidence: its start (M,), and the log probability of the series.

    Its matrices are filled into `moves` (T - 1, M, M). This begins as zeros and may be filled again for other series of
    the same chain: getting new memory from the system takes longer than the computation.

    Backward pass: `b_T = 1`, `b_t(x) = Σ_y P_t(x, y) w_{t+1}(y) b_{t+1}(y)`; the posterior matrix is `P_t(x, y)
    w_{t+1}(y) b_{t+1}(y) / b_t(x)`. Rows of unreachable states are left empty. The log probability is minus infinity
    for an impossible series, and if numbers get too small to be told apart. The part left out at step t is at most
    `FAINT` in the scale of the step after it. The series itself must not be too small in this scale. So of the
    posterior's probability, at most `MISSING` for each place and step is left out.
    """
    T, M = classes.shape[0], initial.shape[0]
    b, now = np.ones(M), np.empty(M)
    log_mass, mass = 0.0, 1.0
    log_faint = -np.inf
    for t in range(T - 2, -1, -1):
        faint = least(b) * least(weights[t + 1]) < FAINT
        weigh(b, classes[t + 1], weights[t + 1])
        if faint:
            log_faint = max(log_faint, log_mass + np.log(mass))
            for x in range(M):
                b[x] = b[x] if b[x] >= FAINT else 0.0
        P = at(matrices, t)
        top = look_back(P, low, high, b, now)
        if top < FAINT:
            return b, -np.inf
        if fill_moves(P, low, high, b, now, moves[t]):
            log_faint = max(log_faint, log_mass + np.log(mass))
        for x in range(M):
            b[x] = now[x] / top
        mass *= top
        if mass < TINY:
            log_mass, mass = log_mass + np.log(mass), 1.0
    weigh(b, classes[0], weights[0])
    total = 0.0
    for x in range(M):
        b[x] *= initial[x]
        total += b[x]
    log_mass += np.log(mass)
    if total < FAINT or log_mass + np.log(total) - log_faint < DOUBTFUL:
        return b, -np.inf
    if log_mass + np.log(total) < RARE and smallest(initial, matrices) * FAINT < UNDERFLOW:
        return b, -np.inf
    for x in range(M):
        b[x] /= total
    return b, log_mass + np.log(total)
