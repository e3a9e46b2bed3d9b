"""How much is unknown about a trace, and how much raw counts tell about it: sums of entropies, in nats."""

import numpy as np

from .chain import at, push
from .jit import cube, inlined, kernel, number, vector, whole, whole_matrix
from .renewal import begin, unseen


@inlined
def surprise(p):
    """`-p log p`, 0 at 0."""
    return -p * np.log(p) if p > 0.0 else 0.0


@inlined
def told(row, hidden, places):
    """What a step's sensors tell about a belief `row` (M,) whose mass need not be one: mass times entropy.

    `Σ_j p_j log(mass / p_j) + p_0 log(1 + Σ_j p_j / p_0)`: nothing is subtracted, so that little is told exactly too.
    """
    unseen_mass, seen = 0.0, 0.0
    for x in range(row.shape[0]):
        unseen_mass += row[x] * hidden[x]
    for j in range(places.shape[0]):
        if places[j] >= 0:
            seen += row[places[j]]
    mass = unseen_mass + seen
    total = 0.0
    if unseen_mass > seen:
        total = unseen_mass * np.log1p(seen / unseen_mass)
    elif unseen_mass > 0.0:
        total = unseen_mass * (np.log(mass) - np.log(unseen_mass))
    for j in range(places.shape[0]):
        if places[j] >= 0 and row[places[j]] > 0.0:
            p = row[places[j]]
            total += p * (np.log(mass) - np.log(p) if mass > 2.0 * p else np.log1p((mass - p) / p))
    return total


@kernel(number(vector, cube, vector, whole))
def of_trace(initial, matrices, inside, steps):
    """`H(π) + Σ_t Σ_x Pr[X_{t-1} = x] H(P(x, ·))`, and at each step the entropy `inside` (M,) of a place that is many.

    Koga et al. (2024), section 3.3.1.
    """
    M = initial.shape[0]
    law, new, rows = initial.copy(), np.empty(M), np.empty(M)
    total = 0.0
    for x in range(M):
        total += surprise(initial[x])
    for t in range(steps):
        if t > 0:
            P = at(matrices, t - 1)
            if t == 1 or matrices.shape[0] > 1:
                rows[:] = 0.0
                for x in range(M):
                    for y in range(M):
                        rows[x] += surprise(P[x, y])
            for x in range(M):
                total += law[x] * rows[x]
            push(law, P, new)
            law, new = new, law
        for x in range(M):
            total += law[x] * inside[x]
    return total


@kernel(number(vector, cube, whole_matrix))
def of_neighbours(initial, matrices, places):
    """`H(Y_1) + Σ_t H(Y_t | Y_{t-1})` for raw counts (Koga et al. 2024, section 3.3.1)."""
    T, S = places.shape
    M = initial.shape[0]
    hidden = unseen(places, M)
    law, new = initial.copy(), np.empty(M)
    total = told(law, hidden[0], places[0])
    for t in range(1, T):
        P = at(matrices, t - 1)
        for j in range(S):
            c = places[t - 1, j]
            if c >= 0:
                total += law[c] * told(P[c], hidden[t], places[t])
        push(law * hidden[t - 1], P, new)
        total += told(new, hidden[t], places[t])
        push(law, P, new)
        law, new = new, law
    return total


@kernel(number(vector, cube, whole_matrix))
def of_series(initial, matrices, places):
    """`H(Y)` for raw counts, a sum over stretches: what each step tells to those who saw the person last at u."""
    T, S = places.shape
    M = initial.shape[0]
    hidden = unseen(places, M)
    reached = np.zeros(1 + T * S)
    reached[0] = 1.0
    row, new = np.empty(M), np.empty(M)
    total = 0.0
    for u in range(1 + T * S):
        if reached[u] == 0.0:
            continue
        t0 = begin(initial, matrices, places, u, row)
        row *= reached[u]
        for t in range(t0, T):
            if t > t0:
                push(row, at(matrices, t - 1), new)
                row, new = new, row
            total += told(row, hidden[t], places[t])
            for j in range(S):
                if places[t, j] >= 0:
                    reached[1 + t * S + j] += row[places[t, j]]
            row *= hidden[t]
    return total
