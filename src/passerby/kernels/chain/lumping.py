"""Alike places, found and merged into two states: see `model.lumping` for the proof that this changes no loss."""

import numpy as np
from numba import types

from passerby.kernels.jit import (
    cube,
    inlined,
    kernel,
    number,
    once,
    out_cube,
    out_vector,
    out_whole_matrix,
    out_wholes,
    vector,
    whole_matrix,
    wholes,
)

#: The smallest weight of a possible state.
FAINTEST = 1e-300


@inlined
def ways_to(initial, matrices, states):
    """How likely a place is, start and all moves added up, whose state in each mode is given (-1 for none)."""
    total = 0.0
    for m in range(states.shape[0]):
        if states[m] >= 0:
            total += initial[states[m]]
            for k in range(matrices.shape[0]):
                column = 0.0
                for z in range(initial.shape[0]):
                    column += matrices[k, z, states[m]]
                total += column
    return total


@inlined
def same_ways(initial, matrices, x, y, total, its_total, rounding):
    """Whether equal ways lead away from two states, and the ways to them are equal shares of the totals.

    Entry by entry and, of shares, but for rounding: a small entry equals no other, nor zero.
    """
    share = initial[x] / total
    if abs(initial[y] / its_total - share) > rounding * share:
        return False
    for k in range(matrices.shape[0]):
        for z in range(initial.shape[0]):
            share = matrices[k, z, x] / total
            if matrices[k, x, z] != matrices[k, y, z]:
                return False
            if abs(matrices[k, z, y] / its_total - share) > rounding * share:
                return False
    return True


@inlined
def alike_in_all(initial, matrices, these, those, total, its_total, rounding):
    """Whether two places are alike, whose states in each mode are given."""
    for m in range(these.shape[0]):
        if (these[m] < 0) != (those[m] < 0):
            return False
        if these[m] >= 0 and not same_ways(initial, matrices, these[m], those[m], total, its_total, rounding):
            return False
    return True


@kernel(out_wholes(vector, cube, whole_matrix, number))
def alike(initial, matrices, states, rounding):
    """The largest set of alike places, at least two, if each has at most one state in each mode (P, modes).

    Unreachable places are like no other.
    """
    P = states.shape[0]
    taken, total = np.zeros(P, np.bool_), np.empty(P)
    for x in range(P):
        total[x] = ways_to(initial, matrices, states[x])
        taken[x] = total[x] == 0.0
    best, group, most = np.empty(P, np.int64), np.empty(P, np.int64), 1
    for x in range(P):
        if taken[x]:
            continue
        group[0], size = x, 1
        for y in range(x + 1, P):
            if not taken[y] and alike_in_all(initial, matrices, states[x], states[y], total[x], total[y], rounding):
                taken[y] = True
                group[size] = y
                size += 1
        if size > most:
            best, group, most = group, best, size
    return best[: most if most > 1 else 0].copy()


@once
def halves(place_of, mode_of, inside):
    """The states left, the half of the group for each of them (-1 for none), and the positions of the first ones.

    The first state of the group in each mode is left twice. `column` (M,) is the new number of each state: for a state
    of the group, the first of its mode's two.
    """
    M = place_of.shape[0]
    states, half, column = np.empty(2 * M, np.int64), np.empty(2 * M, np.int64), np.empty(M, np.int64)
    lead = np.full(M, -1)
    size = 0
    for x in range(M):
        if not inside[place_of[x]]:
            states[size], half[size], column[x] = x, -1, size
            size += 1
            continue
        mode = mode_of[x]
        if lead[mode] < 0:
            lead[mode] = size
            for i in range(2):
                states[size + i], half[size + i] = x, i
            size += 2
        column[x] = lead[mode]
    return states[:size].copy(), half[:size].copy(), column


@inlined
def gather(row, place_of, inside, column, out):
    """The probabilities of states (M,) added up over the states left: both halves have the group's probability."""
    for x in range(row.shape[0]):
        out[column[x]] += row[x]
        if inside[place_of[x]]:
            out[column[x] + 1] += row[x]


@once
def relabelled(place_of, named, inside, group, states, half):
    """The kept places, with two more for the group: old numbers, marks of nameable ones, and each state's place."""
    P = named.shape[0]
    kept, label = np.empty(P - group.shape[0], np.int64), np.empty(P, np.int64)
    size = 0
    for g in range(P):
        if not inside[g]:
            kept[size], label[g] = g, size
            size += 1
    names, places = np.zeros(size + 2), np.empty(states.shape[0], np.int64)
    for g in range(P):
        if inside[g]:
            names[size] = max(names[size], named[g])
        else:
            names[label[g]] = named[g]
    for i in range(states.shape[0]):
        places[i] = size + half[i] if half[i] >= 0 else label[place_of[states[i]]]
    return kept, names, places


_HALVED = types.Tuple(
    (out_vector, out_cube, out_vector, out_wholes, out_wholes, out_wholes, out_wholes, out_wholes, out_vector)
)


@kernel(_HALVED(vector, cube, wholes, wholes, vector, wholes))
def halved(initial, matrices, place_of, mode_of, named, group):
    """A chain with two states in each mode for the places of the `group`: the fields of `model.lumping.Halved`."""
    K, M, P, G = matrices.shape[0], initial.shape[0], named.shape[0], group.shape[0]
    inside = np.zeros(P, np.bool_)
    for i in range(G):
        inside[group[i]] = True
    states, half, column = halves(place_of, mode_of, inside)
    fewer = states.shape[0]
    start, moves = np.zeros(fewer), np.zeros((K, fewer, fewer))
    gather(initial, place_of, inside, column, start)
    begins, towards = np.full(P, -1), np.zeros(P)
    for y in range(M):
        g = place_of[y]
        begins[g] = y if begins[g] < 0 else begins[g]
        towards[g] += initial[y]
        for k in range(K):
            for x in range(M):
                towards[g] += matrices[k, x, y]
    for k in range(K):
        for i in range(fewer):
            gather(matrices[k, states[i]], place_of, inside, column, moves[k, i])
    kept, names, places = relabelled(place_of, named, inside, group, states, half)
    first, share, total = np.empty(G, np.int64), np.empty(G), 0.0
    for i in range(G):
        total += towards[group[i]]
    for i in range(G):
        first[i], share[i] = begins[group[i]], towards[group[i]] / total
    return start, moves, names, places, states, half, kept, first, share


_MERGED = types.Tuple((out_whole_matrix, out_cube, out_whole_matrix))


@kernel(_MERGED(cube, whole_matrix, wholes, wholes, wholes, vector, vector, wholes))
def merged(weights, classes, states, half, first, share, named, group):
    """Classes (T, M') and weights (n, T, C + 2) with the two halves of the group, and its likeliest place (n, T).

    Of the group, the place best explaining the evidence is one half at each step of each series. All others are the
    other one.
    """
    n, T, C = weights.shape
    label = np.empty((T, states.shape[0]), np.int64)
    out, best = np.zeros((n, T, C + 2)), np.empty((n, T), np.int64)
    for t in range(T):
        for i in range(states.shape[0]):
            label[t, i] = C + half[i] if half[i] >= 0 else classes[t, states[i]]
    for s in range(n):
        for t in range(T):
            for c in range(C):
                out[s, t, c] = weights[s, t, c]
            top, most, weight, rest = 0, -np.inf, 0.0, 0.0
            for i in range(group.shape[0]):
                part = weights[s, t, classes[t, first[i]]]
                # A possible state keeps a weight, if a faint one.
                part = max(part * share[i], FAINTEST) if part > 0.0 else 0.0
                merit = part if named[group[i]] > 0.0 else -1.0
                if merit > most:
                    top, most, weight, part = i, merit, part, weight
                # Added up and not subtracted, so a little is not lost.
                rest += part
            out[s, t, C], out[s, t, C + 1], best[s, t] = weight, rest, group[top]
    return label, out, best
