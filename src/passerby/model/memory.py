"""A chain with the memory of counts: a person's origin, and the number of their steps in a zone.

A flow is read at the step after it began, and a number of visitors when its window closes. Each count is to be about
the state of one step. So a state is made of the memory and the state of the prior. A memory is forgotten at its
reading, and visits are counted only as far as they matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease

from .count import Count
from .prior import MarkovPrior

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
#: The memory at a step: a number for each count open there.
Memory = tuple[int, ...]
Counts = Sequence[Sequence[Count]]
#: For each zone, whether each state is in it.
Inside = dict[tuple[int, ...], Ints]
#: For each count that lasts, the level after each step of its window (t, M, L), by state and by level before.
Levels = dict[Count, Ints]

#: Entries of all matrices of a chain with its memory, at most.
MOST_ENTRIES = 1e8


@dataclass(frozen=True, eq=False)
class Watch:
    """The states of a chain told apart by its counts.

    `classes` (T, M) has the class of each state at each step. `sees` (T, C, S) is 1 if count j of a step counts people
    of class c. `kinds` (T,) is the number of classes of each step.
    """

    classes: Ints
    sees: Ints
    kinds: Ints


def remember(prior: MarkovPrior, counts: Counts) -> tuple[MarkovPrior, Watch]:
    """The prior with the memory of these counts, by the step of their reading, and the states they tell apart."""
    steps, base = len(counts), prior.states
    every = [count for step in counts for count in step]
    inside = {zone: np.isin(prior.place_of, zone).astype(np.int64) for count in every for zone in count.zones}
    levels = {each: each.progress(prior.place_of, steps)[each.first : each.read + 1] for each in every if each.lasts}
    open_at = [_open(every, t) for t in range(steps)]
    labels: list[dict[Memory, int]] = [{} for _ in range(steps)]
    begun = _grouped(_counted(open_at[0], (), (), 0, levels, base), prior.initial > 0, labels[0])
    blocks = []
    for t in range(steps - 1):
        blocks.append(list(_blocks(open_at, t, inside, levels, labels, prior.matrix(t))))
        _check_size(base, len(labels[t + 1]), steps, open_at[t + 1], t + 1)
    watch = _watch(counts, inside, open_at, labels, base)
    size = base * max(map(len, labels))
    if size == base:
        return prior, watch
    start, moves = np.zeros(size), np.zeros((steps - 1, size, size))
    for label, states in begun:
        start[label * base + states] = prior.initial[states]
    for t, found in enumerate(blocks):
        matrix = prior.matrix(t)
        for a, x, b, y in found:
            moves[t, (a * base + x)[:, None], b * base + y] = matrix[x[:, None], y]
    times = size // base
    return prior.with_states(start, moves, np.tile(prior.place_of, times), np.tile(prior.mode_of, times)), watch


def _check_size(base: int, memories: int, steps: int, open_now: Sequence[Count], t: int) -> None:
    """Refuse a chain that is too large, at the first step making it so: there may be many more."""
    size = base * memories
    if memories > 1 and size**2 * steps > MOST_ENTRIES:
        kinds = [count.kind for count in open_now if not count.flow]
        windows, of = len(kinds), " and ".join(dict.fromkeys(kinds)) or "visitors"
        flows, many = len(open_now) - windows, "s" * (windows != 1)
        raise UnsupportedRelease(
            f"too much to remember: {windows} window{many} of {of} and {flows} flows are open at step {t + 1}, so "
            f"that {memories:,} cases or more must be told apart beside each of {base} states, which makes {size:,} "
            f"states over {steps} steps; at most {int((MOST_ENTRIES / steps) ** 0.5):,} are possible: publish fewer "
            "zones, flows or kinds together, or shorten the windows"
        )


def _open(every: Sequence[Count], t: int) -> list[Count]:
    """The counts of which something is remembered at step t: flows that are read there, and windows that are open."""
    flows = (count for count in every if count.flow and count.read == t)
    windows = (count for count in every if count.lasts and count.first <= t <= count.read)
    return list(dict.fromkeys([*flows, *windows]))


def _counted(now: Sequence[Count], before: Sequence[Count], memory: Memory, t: int, levels: Levels, base: int) -> Ints:
    """What is remembered at step t in each state (M, counts), after this memory of the step before; no flows."""
    out = np.zeros((base, len(now)), dtype=np.int64)
    known = dict(zip(before, memory, strict=True))
    for i, count in enumerate(now):
        if count.lasts:
            out[:, i] = levels[count][t - count.first, :, known.get(count, 0)]
    return out


def _grouped(after: Ints, possible: NDArray[np.bool_], labels: dict[Memory, int]) -> list[tuple[int, Ints]]:
    """The possible states with each memory, by its label; new memories get the next labels."""
    rows, which = np.unique(after, axis=0, return_inverse=True)
    which = which.reshape(-1)
    out = []
    for i, row in enumerate(rows):
        states = np.flatnonzero((which == i) & possible)
        if len(states):
            out.append((labels.setdefault(tuple(row.tolist()), len(labels)), states))
    return out


def _blocks(
    open_at: Sequence[Sequence[Count]],
    t: int,
    inside: Inside,
    levels: Levels,
    labels: list[dict[Memory, int]],
    matrix: Floats,
) -> Iterator[tuple[int, Ints, int, Ints]]:
    """The moves from step t to the next: from a memory and some states, to a memory and some states."""
    before, now, base = open_at[t], open_at[t + 1], len(matrix)
    flows = [i for i, count in enumerate(now) if count.flow]
    # States that the flows take for the same origin move alike.
    left = np.array([inside[now[i].zones[0]] for i in flows], dtype=np.int64).reshape(len(flows), base).T
    origins, which = np.unique(left, axis=0, return_inverse=True)
    for memory, label in list(labels[t].items()):
        after = _counted(now, before, memory, t + 1, levels, base)
        for i, origin in enumerate(origins):
            after[:, flows] = origin
            states = np.flatnonzero(which.reshape(-1) == i)
            for following, ahead in _grouped(after, np.asarray((matrix[states] > 0).any(axis=0)), labels[t + 1]):
                yield label, states, following, ahead


def _watch(
    counts: Counts, inside: Inside, open_at: Sequence[Sequence[Count]], labels: list[dict[Memory, int]], base: int
) -> Watch:
    """The evidence of each step's counts about the state there: states treated alike by all of them are one class."""
    steps, size = len(counts), base * max(map(len, labels))
    bits = [np.zeros((size, len(step)), dtype=np.int64) for step in counts]
    for t, step in enumerate(counts):
        for memory, label in labels[t].items():
            known = dict(zip(open_at[t], memory, strict=True))
            for j, count in enumerate(step):
                bits[t][label * base : (label + 1) * base, j] = _bit(count, known, inside)
    found = [np.unique(each, axis=0, return_inverse=True) for each in bits]
    kinds = np.array([len(rows) for rows, _ in found])
    sees = np.zeros((steps, kinds.max(), max(map(len, counts))), dtype=np.int64)
    for t, (rows, _) in enumerate(found):
        sees[t, : rows.shape[0], : rows.shape[1]] = rows
    return Watch(np.array([which.reshape(-1) for _, which in found]), sees, kinds)


def _bit(count: Count, known: dict[Count, int], inside: Inside) -> Ints:
    """Whether a count counts those in each state of the prior (M,), with what is remembered at the step it is read."""
    if count.flow:
        return known[count] * inside[count.zones[1]]
    if count.lasts:
        return np.full(len(inside[count.zones[0]]), int(known[count] == count.levels - 1))
    return np.asarray(count.met(lambda zone, _: inside[zone] > 0)).astype(np.int64)
