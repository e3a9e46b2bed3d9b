"""Modes: a person's way through all of the published steps.

A mean chain hides differences between people. Most do as usual, some do as everybody does, some stay at their last
place, and some are gone. The prior of a person is a mixture of these four. The weights come from
expectation-maximisation (Dempster, Laird and Rubin 1977) over whole stretches of later fitted steps of everybody.
Weights may differ by knowledge of a person: presence in the last fitted step, or the time since then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .family import Floats, Grouping, Ints

#: The modes, in the order of weights and of blocks of states.
NAMES = ("as usual", "like everybody", "staying", "gone")
#: The weights of a person who always does as usual.
USUAL: Floats = np.array([[1.0, 0.0, 0.0, 0.0]])
#: Weights without any evidence; the weights of everybody are drawn to them.
FIRST: Floats = np.array([0.85, 0.05, 0.05, 0.05])
#: A group's weights are drawn to everybody's with the weight of so many people, and everybody's to the first ones.
SHRINKAGE = 10.0
#: A mode of fewer people than this share is left out: it changes no promise by more, and may double the states.
LEAST = 5e-3
#: The most steps since a person was seen, in each group but the last.
AGO: dict[Grouping, tuple[int, ...]] = {"none": (), "alike": (), "seen": (0,), "lately": (0, 2)}
_ROUNDS = 100


def groups(fitted: NDArray[np.int32], elsewhere: int, grouping: Grouping) -> Ints:
    """The group of each person (N,), by how many steps ago they were seen.

    >>> groups(np.array([[0, 2, 2, 2], [0, 1, 2, 2], [2, 2, 2, 1]], dtype=np.int32), 2, "lately").tolist()
    [2, 1, 0]
    """
    known = fitted != elsewhere
    ago = np.where(known.any(axis=1), known[:, ::-1].argmax(axis=1), fitted.shape[1])
    return np.asarray(np.searchsorted(np.array(AGO[grouping], dtype=np.int64), ago), dtype=np.int64)


def group_of(fitted: NDArray[np.int32], elsewhere: int, grouping: Grouping) -> int:
    """The group of one person with the steps `fitted` (F,), in half the time: chains are made one by one.

    >>> group_of(np.array([0, 1, 2, 2], dtype=np.int32), 2, "lately")
    1
    """
    known = np.flatnonzero(fitted != elsewhere)
    return bisect_left(AGO[grouping], len(fitted) - 1 - int(known[-1]) if known.size else len(fitted))


def log_chances(logs: Floats, weights: Floats) -> Floats:
    """The log probability of each stretch (n,), from its log probability in each mode (n, 4) and the weights (n, 4)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp.reduce(logs + np.log(weights), axis=1))


def fitted_weights(logs: Floats, group: Ints, count: Floats, grouping: Grouping) -> Floats:
    """The weights of modes of each group (G, 4), from the log probability of each stretch in each mode (n, 4).

    `count` (n,) says how much each stretch counts. Groups are drawn to everybody by `SHRINKAGE`, so one without anybody
    has the weights of all, and these to `FIRST`.
    """
    if grouping == "none":
        return USUAL
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    everybody = _maximised(likely, count, FIRST, SHRINKAGE)
    found = [everybody]
    if AGO[grouping]:
        each = [group == number for number in range(len(AGO[grouping]) + 1)]
        found = [_maximised(likely[inside], count[inside], everybody, SHRINKAGE) for inside in each]
    weights = np.array(found)
    weights[weights < LEAST] = 0.0
    # Each place needs a state, and the usual mode has one of each.
    weights[:, 0] = np.maximum(weights[:, 0], LEAST)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _maximised(likely: Floats, count: Floats, toward: Floats, strength: float) -> Floats:
    """Weights (4,) of high likelihood of the stretches, with `strength` people's worth of the weights `toward`."""
    weights = toward
    if not len(likely):
        return weights
    for _ in range(_ROUNDS):
        share = likely * weights
        share *= (count / share.sum(axis=1))[:, None]
        weights = (share.sum(axis=0) + strength * toward) / (count.sum() + strength)
    return weights


def joined(
    weights: Sequence[float] | Floats, chains: Sequence[tuple[Floats, Floats]], last: int, elsewhere: int
) -> tuple[Floats, Floats, Ints, Ints]:
    """One chain over states (mode, place) from a chain of each mode: start (S,), moves, place and mode of each (S,).

    `chains` are start (R,) and moves (R, R) or (T-1, R, R) of the usual mode and, unless its weight is 0, of
    everybody's mode. The staying mode is in one state, at the place `last`; the gone mode in another, `elsewhere`.
    Modes follow one another in blocks, and modes of weight 0 are left out. A person who was elsewhere and stays there
    is gone.
    """
    usual, alike, staying, gone = weights
    if last == elsewhere:
        staying, gone = 0.0, staying + gone
    one, every = (np.ones(1), np.ones((1, 1))), np.arange(len(chains[0][0]))
    modes = ((usual, chains[0], every), (alike, chains[-1], every), (staying, one, last), (gone, one, elsewhere))
    blocks = [block for block in modes if block[0] > 0]
    size = sum(len(first) for _, (first, _), _ in blocks)
    start, place_of, mode_of = np.empty(size), np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    moves = np.zeros((*chains[0][1].shape[:-2], size, size))
    at = 0
    for mode, (weight, (first, inside), places) in enumerate(blocks):
        block = slice(at, at + len(first))
        start[block], moves[..., block, block] = weight * first, inside
        place_of[block], mode_of[block] = places, mode
        at = block.stop
    return start, moves, place_of, mode_of


def cases(
    shares: Sequence[float],
    weights: Sequence[float] | Floats,
    chains: Sequence[Sequence[tuple[Floats, Floats]]],
    last: int,
    elsewhere: int,
) -> tuple[Floats, Floats, Ints, Ints]:
    """The same for several cases with these `shares`, each with its own chains of the moving modes.

    The staying and the gone modes are the same in any case.
    """
    usual, alike, *others = weights
    found = [
        joined([share * usual, share * alike, *(others if not k else (0.0, 0.0))], each, last, elsewhere)
        for k, (share, each) in enumerate(zip(shares, chains, strict=True))
    ]
    sizes = [len(start) for start, *_ in found]
    moves = np.zeros((*found[0][1].shape[:-2], sum(sizes), sum(sizes)))
    modes, at = [], 0
    for number, (size, (_, inside, _, mode)) in enumerate(zip(sizes, found, strict=True)):
        moves[..., at : at + size, at : at + size] = inside
        modes.append(number * len(NAMES) + mode)
        at += size
    start, place_of = (np.concatenate([each[part] for each in found]) for part in (0, 2))
    mode_of = np.unique(np.concatenate(modes), return_inverse=True)[1].astype(np.int64)
    return start, moves, place_of, mode_of
