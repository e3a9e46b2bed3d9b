"""Penalties improved along a subgradient of their bound (see `penalties`).

The bound is convex in the penalties. It falls with the penalty on each name said by the adversary, by the share of
people at c and x with this name. It rises with the penalties of the most penalised names, in all by one. Many names
bear nearly as much as the most. All of them are lowered at a time, each as far as leaves them level after the step: a
proximal step for the maximum (Lions and Mercier 1979). Directions keep some of the last one (Polyak 1964). They are
followed as far as would close the gap to the aim, if the bound were linear (Polyak 1969). A penalty is of use up to the
gain of naming the place. This differs a thousandfold between places, so each is moved by a power of it.
"""

import numpy as np

from passerby.kernels.chain.recursions import push_rows
from passerby.kernels.jit import adding, inlined, making

from .penalty_names import page, still_open

#: The share of the last direction kept by the next one.
KEPT = 0.6


@inlined
def reach(added):
    """The reach of a penalty's move, by the gain of naming the place: to the power of three quarters."""
    root = np.sqrt(added)
    return root * np.sqrt(root)


@inlined
def best_names(names, turned, c, k, best, pick):
    """Put in `pick` (M,) the best name given the place, for c and k; -1 if none is worth anything."""
    best[:] = 0.0
    pick[:] = -1
    for i in range(names.places.shape[0]):
        g = names.places[i]
        move, gain, penalty = turned[g], names.gains[c, k, g], names.penalties[c, i]
        for x in range(best.shape[0]):
            left = move[x] * gain - penalty[x]
            pick[x] = i if left > best[x] else pick[x]
            best[x] = max(best[x], left)


@inlined
def likeliest_names(names, turned, P, most, mass, pick, best, faint):
    """Fill `pick[c, k, x]`, the index of the name said by the told adversary; -1 for none.

    If somebody is `faint`, their `mass` is lost. So is the mass with more than `most` misses left and nothing to gain
    any more. `best` (M,) is scratch.
    """
    C, K, M = mass.shape
    for c in range(C):
        for k in range(K):
            some = False
            for x in range(M):
                if mass[c, k, x] <= faint or k > most or P[c, x] <= faint:
                    mass[c, k, x] = 0.0
                else:
                    some = True
            if some:
                best_names(names, turned, c, k, best, pick[c, k])


@inlined
def advance(names, turned, g, mass, pick, right, total, after):
    """Put in `after` the places of `mass` (C, K, M) a step later; g is the name in the known guess."""
    C, K, M = mass.shape
    after[:] = 0.0
    for c in range(C):
        wrong = min(c + 1, C - 1)
        push_rows(mass[c], K, turned, total)
        for k in range(K):
            right[:] = 0.0
            for x in range(M):
                if mass[c, k, x] > 0.0 and pick[c, k, x] >= 0:
                    place = names.places[pick[c, k, x]]
                    right[place] += mass[c, k, x] * turned[place, x]
            for y in range(M):
                there = c if y == g else wrong
                after[there, k, y] += right[y]
                if k > 0:
                    after[there, k - 1, y] += max(0.0, total[k, y] - right[y])


@making
def walk(chain, guess, worth, P, book, first, mass, pick, faint):
    """Fill `mass` and `pick` (L, C, K, M): the told adversary's places before each step, and their names there.

    Whoever is `faint` is lost sight of: a direction need not be exact.
    """
    L, C, M = P.shape
    K = C - 1
    right, best, total = np.empty(M), np.empty(M), np.empty((K, M))
    mass[1] = 0.0
    for x in range(M):
        k = K - 1 if x == first else K - 2
        if k >= 0:
            mass[1, 0 if x == guess[0] else 1, k, x] = chain.start[x]
    for t in range(1, L):
        names, turned = page(book, t), chain.turned[t - 1]
        likeliest_names(names, turned, P[t - 1], still_open(worth, L - t), mass[t], pick[t], best, faint)
        if t + 1 < L:
            advance(names, turned, guess[t], mass[t], pick[t], right, total, mass[t + 1])


@inlined
def fill_far(book, turned):
    """Put in a book the reach of penalties' moves, but for a right name's gain: by the chances to get to its place."""
    for t in range(1, book.far.shape[0]):
        for i in range(book.numbers[t]):
            line, out = turned[t - 1, book.places[t, i]], book.far[t, i]
            for x in range(line.shape[0]):
                out[x] = reach(line[x])


@inlined
def most_added(names, c, i):
    """The largest gain of a right name for c, over all numbers of misses left."""
    most = 0.0
    for k in range(names.gains.shape[1]):
        most = max(most, names.gains[c, k, names.places[i]])
    return most


@inlined
def share_out_names(mass, pick, P, out):
    """Fill `out[c, i, x]`: the share of people at c and x for whom the told adversary says the name i."""
    C, K, M = mass.shape
    out[:] = 0.0
    for c in range(C):
        for k in range(K):
            for x in range(M):
                if mass[c, k, x] > 0.0 and pick[c, k, x] >= 0:
                    out[c, pick[c, k, x], x] += mass[c, k, x] / P[c, x]


@adding
def come_to(P, penalty, far, share):
    """The sum of a name's penalties (M,), its fall by lowering them by `far`, and the coming rise."""
    total, less, more = 0.0, 0.0, 0.0
    for x in range(P.shape[0]):
        total += P[x] * penalty[x]
        less += P[x] * far[x] if penalty[x] > 0.0 else 0.0
        more += P[x] * far[x] * share[x]
    return total, less, more


@inlined
def level(sums, less, rest, step, weights):
    """Put in `weights` (n,) the part of a step for lowering each name, in all by one, leaving the highest level.

    Lowering a name by the whole of a step takes `less` off its sum. No name is lowered below `rest`.
    """
    n, height, lowered = sums.shape[0], 0.0, -1
    weights[:] = 1.0
    while lowered != 0:
        above, per, lowered = 0.0, 0.0, 0
        for i in range(n):
            if weights[i] > 0.0 and less[i] > 0.0:
                above += sums[i] / less[i]
                per += 1.0 / less[i]
        height = (above - step) / per if per > 0.0 else 0.0
        for i in range(n):
            if weights[i] > 0.0 and (sums[i] <= height or less[i] <= 0.0):
                weights[i] = 0.0
                lowered += 1
    for i in range(n):
        whole = less[i] * step
        # Chances may be so small that nothing is left of a product. No name is lowered by more than a whole step.
        weights[i] = min(1.0, max(0.0, sums[i] - max(height, rest)) / whole) if weights[i] * whole > 0.0 else 0.0


@adding
def turn_trend(P, penalty, far, share, weight, rise, trend):
    """Turn the direction (M,) of the penalties for a name; returns the square of the subgradient, and their agreement.

    Penalties move by `rise` times `far` for as much of it. Zeros are not lowered.
    """
    square, both = 0.0, 0.0
    for x in range(P.shape[0]):
        slope = weight - share[x]
        slope = 0.0 if slope > 0.0 and penalty[x] <= 0.0 else slope
        move = rise * far[x] * slope
        square += P[x] * slope * move
        both += P[x] * slope * trend[x]
        trend[x] = KEPT * trend[x] + move
    return square, both


@inlined
def turn_page(names, P, rest, step, shares, rises, columns):
    """Turn the directions of a step's penalties, for a step of about this length; returns the results of `turn_trend`.

    `shares` (C, n, M) are of `share_out_names`; `rises` (C, n) and `columns` (3, n) are scratch.
    """
    n = names.places.shape[0]
    sums, less, weights = columns[0], columns[1], columns[2]
    columns[:] = 0.0
    for c in range(P.shape[0]):
        for i in range(n):
            rises[c, i] = reach(most_added(names, c, i))
            total, lowers, more = come_to(P[c], names.penalties[c, i], names.far[i], shares[c, i])
            sums[i] += total + step * rises[c, i] * more
            less[i] += rises[c, i] * lowers
    level(sums, less, rest, step, weights)
    square, both = 0.0, 0.0
    for c in range(P.shape[0]):
        for i in range(n):
            new, old = turn_trend(
                P[c], names.penalties[c, i], names.far[i], shares[c, i], weights[i], rises[c, i], names.trends[c, i]
            )
            square += new
            both += old
    return square, both


@making
def descend(P, book, rests, mass, pick, gap, state):
    """Change penalties along a direction to close the gap of a linear bound; returns whether they are changed.

    The sum of fully penalised names at each step is `rests` (L,). `state` holds the length of the last step, and the
    square of the direction. Each entry of it counts by its chance, over the reach of its move.
    """
    L, C, M = P.shape
    square, both, step = 0.0, 0.0, state[0] if state[0] > 0.0 else gap / reach(gap)
    shares, rises, columns = np.empty((C, M, M)), np.empty((C, M)), np.empty((3, M))
    for t in range(1, L):
        names, there = page(book, t), min(C, t + 1)
        n = names.places.shape[0]
        share_out_names(mass[t, :there], pick[t], P[t - 1], shares[:there, :n])
        new, old = turn_page(names, P[t - 1, :there], rests[t], step, shares, rises, columns[:, :n])
        square += new
        both += old
    state[1] = square + 2.0 * KEPT * both + KEPT * KEPT * state[1]
    if square == 0.0 or state[1] <= 1e-12 * square:
        return square > 0.0
    state[0] = gap / state[1]
    for t in range(1, L):
        follow(page(book, t), state[0])
    return True


@inlined
def follow(names, step):
    """Lower the penalties of a page by `step` times a direction, not below 0."""
    C, n, M = names.penalties.shape
    for c in range(C):
        for i in range(n):
            penalty, line = names.penalties[c, i], names.trends[c, i]
            for x in range(M):
                penalty[x] = max(0.0, penalty[x] - step * line[x])
