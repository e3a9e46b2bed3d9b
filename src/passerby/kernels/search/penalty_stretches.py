"""Bounds on any guess for a series, stretch by stretch between the steps at which the place is certain.

Given the series, stretches are independent of each other, and wrong steps add up. Let whoever guesses be told after
each stretch how many of its steps were wrong. Taken in any order, with `V_{n+1}(r) = 1`,

    V_i(r) = max_g Σ_k Pr[k steps of stretch i are wrong, for the guess g] V_{i+1}(r - k)

is then the best possible with r misses left at stretch i, and at least the success of any guess at all stretches. Each
maximum is bounded by telling the past, or by penalties for it (`penalties`). These may now depend on r: so short chains
are penalised, and not one long one. The longest stretch comes first, since there only one r matters.
"""

import numpy as np

from passerby.kernels.chain.posterior import Chain
from passerby.kernels.chain.recursions import copy, dot
from passerby.kernels.jit import making, once
from passerby.kernels.renewal.stretch_guess import climb
from passerby.kernels.renewal.stretch_search import Watch

from .ceiling import TOGETHER, four_known, rows_for
from .penalties import penalised

#: Penalties of all stretches but the longest are set for every number of misses left, and improved so much less often.
OTHERS = 4


@making
def stretches_of(pinned):
    """The beginnings of stretches, and one past their ends (n, 2), the shortest first."""
    T = pinned.shape[0]
    found, length, n = np.empty((T, 2), np.int64), np.empty(T, np.int64), 0
    for t in range(T):
        if pinned[t] < 0:
            if t == 0 or pinned[t - 1] >= 0:
                found[n, 0] = t
                n += 1
            found[n - 1, 1] = t + 1
            length[n - 1] = t + 1 - found[n - 1, 0]
    out = np.empty((n, 2), np.int64)
    order = np.argsort(length[:n])
    for i in range(n):
        out[i] = found[order[i]]
    return out


@making
def between(chain, begin, end):
    """The steps of a chain from one on, up to another, if earlier steps do not matter."""
    return Chain(
        chain.law[begin],
        chain.moves[begin : end - 1],
        chain.low,
        chain.high,
        chain.place_of,
        chain.named,
        chain.single,
        chain.law[begin:end],
        chain.pinned[begin:end],
        chain.turned[begin : end - 1],
    )


@making
def known_worth(chain, worth, out):
    """Put in `out` (K,) a ceiling on all guesses with each number of misses left, told the place after each step."""
    L, M = chain.law.shape
    K, rows = worth.shape[0], rows_for(worth.shape[0])
    now, less, gain = np.zeros((rows, M)), np.zeros((rows, M)), np.zeros((rows, M))
    for k in range(K):
        now[k] = worth[k]
    for t in range(L - 1, -1, -1):
        for k in range(K):
            for x in range(M):
                less[k, x] = now[k - 1, x] if k > 0 else 0.0
                gain[k, x] = (now[k, x] - less[k, x]) * chain.named[x]
        if t > 0:
            for x in range(M):
                for k in range(0, rows, TOGETHER):
                    four_known(chain.moves[t - 1, x], chain.low[x], chain.high[x], less, gain, now, k, x)
    for k in range(K):
        best = 0.0
        for x in range(M):
            best = max(best, chain.start[x] * gain[k, x])
        out[k] = min(1.0, dot(chain.start, less[k]) + best)


@once
def improved(chain, worth, guess, after):
    """The worth of a guess for a stretch, once improved in place; and the work. `worth` is by misses left."""
    L, K = guess.shape[0], worth.shape[0]
    never, everywhere = np.full((L, 1), -1), np.ones((L, chain.start.shape[0]))
    watch = Watch(chain.start, chain.moves, never, everywhere, chain.named)
    return climb(watch, chain.turned, np.int64(0), np.int64(L), guess, worth[::-1].copy(), after, np.empty(K))


@once
def penalised_stretches(chain, guess, misses, tolerance, rounds, paper):
    """(bound, work) on the success of any guess with so many misses, `guess` (T,) being a good one.

    Penalties are improved `rounds` times for the longest stretch, on `paper` (see `penalty_names.book_for`).
    """
    parts = stretches_of(chain.pinned)
    n, M = parts.shape[0], chain.start.shape[0]
    worth, new, work = np.ones(misses + 1), np.empty(misses + 1), 0.0
    for i in range(n):
        begin, end = parts[i]
        part = between(chain, begin, end)
        known_worth(part, worth, new)
        after = np.empty((end - begin, misses + 1, M))
        work += 2.0 * (end - begin) * (misses + 1.0) * M * M
        for r in range(misses if i == n - 1 else 0, misses + 1 if end - begin > 1 else 0):
            own = guess[begin:end].copy()
            low, more = improved(part, worth[: r + 1], own, after)
            work += more
            enough = low * (1.0 + tolerance)
            if new[r] > enough:
                times = rounds if i == n - 1 else rounds // OTHERS
                bound, more = penalised(part, own, worth[: r + 1], low, enough, times, paper)
                new[r] = min(new[r], max(bound, low))
                work += more
        for r in range(misses - 1, -1, -1):
            new[r] = min(new[r], new[r + 1])
        copy(new, worth)
    return worth[misses], work
