"""Upper bounds on how often any guess succeeds, for a chain that is known from some step on.

`V[t, k, x]` is never below the success of the best guess at "at least k of the steps after t are right", for a person
known to be at x at step t. `Q` (T-1, M, M) holds the matrices of the chain (a posterior chain, or a prior), `law`
(T, M) its marginals, `named` (M,) is 1 for the places that a guess may name and 0 for others, and `pinned` (T,) the
place of steps where the person is known for certain, -1 elsewhere.

Three arguments are combined entry by entry, each using the entries of later steps:

- *told the past*: let the adversary learn the next place after naming it;
- *union*: some step must be the first right one, and there the person's place is the guess;
- *union with avoidance*: the same, but a first right step comes after a wrong one, which takes pairs of right steps
  away. The best guess for that sum is found by a recursion over the guess itself.
"""

import numpy as np

from .chain import dot, push
from .jit import inlined, once


@once
def told_step(V, Q, named, t, x, k):
    """`Σ_y Q(x,y) V_{t+1}(y,k) + max_y Q(x,y) (V_{t+1}(y,k-1) - V_{t+1}(y,k))`."""
    line, now, less = Q[t, x], V[t + 1, k], V[t + 1, k - 1]
    gain = 0.0
    for y in range(line.shape[0]):
        gain = max(gain, line[y] * (less[y] - now[y]) * named[y])
    return dot(line, now) + gain


@inlined
def first_right(V, Q, named, pinned, start, begin, k, avoid, spread, value, after):
    """Bound on the success of the best guess from a belief: the sum over which step is the first right one.

    `start` (M,) is the (unnormalised) belief at step `begin`, the first step to guess, with k right steps needed. With
    `avoid`, the mass that was right at the step before is taken out:
    `max_g Σ_t R_t(g_t) (b_t(g_t) - b_{t-1}(g_{t-1}) Q(g_{t-1}, g_t))` with `R_t(g) = V_t(g, k-1)`, solved backwards
    over g. At a pinned step every sensible guess is right, so the sum ends there. `spread` (T, M), `value` and `after`
    (M,) are scratch.
    """
    T, M = V.shape[0], V.shape[2]
    spread[begin] = start
    end = begin
    total = 0.0
    while True:
        top = 0.0
        belief, reward = spread[end], V[end, k - 1]
        for y in range(M):
            top = max(top, belief[y] * reward[y] * named[y])
        total += top
        # A first right step must leave enough steps for the rest.
        if end == T - k or pinned[end] >= 0:
            break
        push(spread[end], Q[end], spread[end + 1])
        end += 1
    if not avoid or end == begin:
        return total
    for g in range(M):
        value[g] = spread[end, g] * V[end, k - 1, g] * named[g]
    for t in range(end - 1, begin - 1, -1):
        after[:] = value
        reward = V[t + 1, k - 1]
        for g in range(M):
            b = spread[t, g] * named[g]  # a place that is not named earns nothing and takes nothing away
            line = Q[t, g]
            best = 0.0
            for y in range(M):
                best = max(best, after[y] - b * line[y] * reward[y])
            value[g] = b * V[t, k - 1, g] + best
    best = 0.0
    for g in range(M):
        best = max(best, value[g])
    return min(best, total)


@once
def union_sums(V, Q, law, named, pinned, t, low, high, sums):
    """`sums[k, x] = Σ_{u>t} max_y Pr[X_u = y | X_t = x] V_u(y, k-1)`, k = low..high, up to the first pinned step.

    A first right step later than T - k leaves too few steps for the rest, so few misses make for short sums.
    """
    T, M = V.shape[0], V.shape[2]
    sums[low : high + 1] = 0.0
    reach = Q[t].copy()
    further = np.empty((M, M))
    for u in range(t + 1, T):
        for x in range(M):
            if law[t, x] > 0.0:
                line = reach[x]
                for k in range(low, min(high, T - u) + 1):
                    reward = V[u, k - 1]
                    top = 0.0
                    for y in range(M):
                        top = max(top, line[y] * reward[y] * named[y])
                    sums[k, x] += top
        if u == T - low or pinned[u] >= 0:
            return
        for x in range(M):
            push(reach[x], Q[u], further[x])
        reach, further = further, reach
