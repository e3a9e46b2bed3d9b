"""Everybody's moves by the role of places for the moving person, rather than by place.

Other people leave a café for their homes. So a person there will soon leave for a home of their own, and not for the
homes of the others. So moves are counted by roles. A move starts from the person's usual place at the time, from
another place they know, or from one new to them. It goes

    to their usual place at the time  |  nowhere: they stay  |  to another place they know  |  to a new one

with the shares T of everybody, in each part of the cycle. For a person this is a law over places again: other known
places are chosen by the number of visits, and new ones by b. A person's usual place in a part of the cycle is their
most frequent one. It backs off to broader parts as frequencies do, with a weight of `WEIGHT` steps.

A person leaving home on a Sunday does not go to work, despite the hours spent there. With `flow="times"` other places
are chosen by the person's number of arrivals: evenly, at all times, and in each part of the cycle at the end of the
move. These laws are mixed with weights by expectation-maximisation over the later moves of everybody (deleted
interpolation, Jelinek and Mercer 1980). Each law gives a place `LEAST` arrivals besides the real ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from .family import narrowed

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Steps' worth of broader parts of the cycle in the choice of a usual place.
WEIGHT = 3.0
#: Arrivals of each known place besides the real ones.
LEAST = 0.1
#: Moves' worth of even weights for each law; the weights of laws are drawn to them.
EVEN = 1.0
#: People are counted in groups with no more visits to places in parts of the cycle than these.
CELLS = 1 << 22
_ROLES, _KINDS, _ROUNDS = 3, 4, 100


@dataclass(frozen=True)
class Own:
    """Own places (n, V) of n people, in order, `none` beyond the last; `slot` (n, F) are the places of their steps.

    Left-out steps have the slot -1.
    """

    places: Ints
    slot: Ints
    none: int

    @classmethod
    def of(cls, steps: NDArray[np.int32], kept: NDArray[np.bool_], none: int) -> Own:
        """From steps (n, F) at places below `none`."""
        marked = np.where(kept, steps, none).astype(np.int64)
        order = np.argsort(marked, axis=1, kind="stable")
        ordered = np.take_along_axis(marked, order, axis=1)
        first = np.ones(ordered.shape, dtype=bool)
        first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        rank = np.cumsum(first, axis=1) - 1
        slot = np.empty_like(rank)
        np.put_along_axis(slot, order, rank, axis=1)
        first &= ordered < none
        places = np.full((len(steps), int(first.sum(axis=1).max(initial=1))), none, dtype=np.int64)
        who, at = np.nonzero(first)
        places[who, rank[who, at]] = ordered[who, at]
        return cls(places, np.where(kept, slot, -1), none)

    @cached_property
    def visits(self) -> Floats:
        """How often each place was visited (n, V)."""
        return _visits(self.slot, np.zeros(self.slot.shape[1], dtype=np.int64), 1, self.places.shape[1])[:, 0]

    def usual(self, levels: Sequence[Ints], parts: Sequence[Ints]) -> Ints:
        """Slots (n, H) of people's usual places, in H `parts` of each level of a cycle; H = 1 without a rhythm."""
        f = (self.visits / np.maximum(self.visits.sum(axis=1, keepdims=True), 1.0))[:, None]
        within = [partial(self._within, level, part) for level, part in zip(levels, parts, strict=True)]
        return np.asarray(narrowed(f, within).argmax(axis=2))

    def _within(self, level: Ints, part: Ints, f: Floats) -> Floats:
        """Frequencies (n, H, V) in H parts of a level of a cycle, backed off to f."""
        wanted, which = np.unique(part, return_inverse=True)
        inside, size = np.isin(level, wanted), self.places.shape[1]
        visits = _visits(self.slot[:, inside], np.searchsorted(wanted, level[inside]), len(wanted), size)[:, which]
        return np.asarray((visits + WEIGHT * f) / (visits.sum(axis=2, keepdims=True) + WEIGHT))

    @cached_property
    def came(self) -> NDArray[np.bool_]:
        """A mark of each step (n, F) with an arrival, rather than a stay."""
        came = self.slot >= 0
        came[:, 1:] &= self.slot[:, 1:] != self.slot[:, :-1]
        return came

    @cached_property
    def runs(self) -> Ints:
        """How often people came to each of their places (n, V), with any number of steps in a row."""
        who, at = np.nonzero(self.came)
        size = self.places.shape[1]
        return np.bincount(who * size + self.slot[who, at], minlength=self.places.size).reshape(-1, size)

    def coming(self, levels: Sequence[Ints], parts: Sequence[Ints]) -> Floats:
        """Arrivals (C, n, H, V) evenly, at all times, and in H `parts` of each level of a cycle; H = 1 without any."""
        known = (self.places < self.none)[:, None].astype(np.float64)
        slot, size, wide = np.where(self.came, self.slot, -1), self.places.shape[1], len(parts[0]) if parts else 1
        found = [known, self.runs[:, None] + LEAST * known]
        for level, part in zip(levels, parts, strict=True):
            wanted, which = np.unique(part, return_inverse=True)
            inside = np.isin(level, wanted)
            arrived = _visits(slot[:, inside], np.searchsorted(wanted, level[inside]), len(wanted), size)[:, which]
            found.append(arrived + LEAST * known)
        return np.stack([np.broadcast_to(each, (len(slot), wide, size)) for each in found])


def _visits(slot: Ints, part: Ints, parts: int, size: int) -> Floats:
    """How often each place was visited in each part (n, parts, V)."""
    who, at = np.nonzero(slot >= 0)
    every = (who * parts + part[at]) * size + slot[who, at]
    return np.bincount(every, minlength=len(slot) * parts * size).reshape(-1, parts, size).astype(np.float64)


def moves_by_role(steps: NDArray[np.int32], kept: NDArray[np.bool_], none: int, levels: Sequence[Ints]) -> Ints:
    """Moves of people (n, F), towards each part of the cycle: from each role, of each kind (P, 3, 4).

    `levels` (each (F,) or longer) are parts of the cycle, the finest last. A place with one arrival of a person is new.
    """
    parts: list[Ints] = []
    fine = np.zeros(steps.shape[1], dtype=np.int64)
    if levels:
        fine = levels[-1]
        found, where = np.unique(fine, return_index=True)
        sample = np.zeros(int(found[-1]) + 1, dtype=np.int64)
        sample[found] = where
        parts = [level[sample] for level in levels]
    number = int(fine.max(initial=0)) + 1
    total = np.zeros(number * _ROLES * _KINDS, dtype=np.int64)
    before = [level[: steps.shape[1]] for level in levels]
    chunk = max(1, CELLS // (number * max(1, min(none, steps.shape[1]))))
    for first in range(0, len(steps), chunk):
        some = slice(first, first + chunk)
        own = Own.of(steps[some], kept[some], none)
        usual, slot = own.usual(before, parts), own.slot
        who, at = np.nonzero((slot[:, :-1] >= 0) & (slot[:, 1:] >= 0))
        source, target, towards = slot[who, at], slot[who, at + 1], fine[at + 1]
        there, known = usual[who, towards], own.runs > 1
        role = np.where(source == there, 0, np.where(known[who, source], 1, 2))
        kind = np.where(target == there, 0, np.where(target == source, 1, np.where(known[who, target], 2, 3)))
        total += np.bincount((towards * _ROLES + role) * _KINDS + kind, minlength=len(total))
    return total.reshape(number, _ROLES, _KINDS)


def shares(moves: Ints, weight: float) -> Floats:
    """T (1 + P, 3, 4): shares of the kinds from each role, at all times and in each part of the cycle.

    A part's shares include so many moves' worth of the shares at all times.
    """
    whole = moves.sum(axis=0, keepdims=True) + 1 / _KINDS
    whole = whole / whole.sum(axis=2, keepdims=True)
    return np.concatenate([whole, (moves + weight * whole) / (moves.sum(axis=2, keepdims=True) + weight)])


def chance(t: Floats, own: Own, usual: Ints, b: Floats, source: Ints, target: Ints) -> Floats:
    """The law (n,) of one move each of n people; `t` (3, 4) are shares and `usual` (n,) slots.

    Over the states of one person it is `kernels.fit.by_role`.
    """
    rest, chosen = chances(t, own, usual, own.visits[None], b, source, target)
    return np.asarray(rest + chosen[0])


def chances(
    t: Floats, own: Own, usual: Ints, weight: Floats, b: Floats, source: Ints, target: Ints
) -> tuple[Floats, Floats]:
    """The same in parts: of moves of all kinds but to another known place (n,), and of these (C, n).

    Other places are chosen by one of C laws, in proportion to their `weight` (C, n, V).
    """
    person = np.arange(len(usual))
    there = own.places[person, usual]
    is_source, is_target = (own.places == place[:, None] for place in (source, target))
    knows, known = is_source.any(axis=1), is_target.any(axis=1)
    share = t[np.where(source == there, 0, np.where(knows, 1, 2))]
    other = weight * ~is_source
    other[:, person, usual] = 0.0
    left = other.sum(axis=2)
    fresh = 1.0 - (np.append(b, 0.0)[own.places]).sum(axis=1)
    open_ = own.none > (own.places < own.none).sum(axis=1)
    stay = np.where(knows & (source != there), share[:, 1], 0.0)
    new = np.where(open_, share[:, 3] + np.where(knows, 0.0, share[:, 1]), 0.0)
    total = share[:, 0] + stay + np.where(left[0] > 0, share[:, 2], 0.0) + new
    chosen = share[:, 2] * (weight * is_target).sum(axis=2) / np.where(left > 0, left, 1.0)
    stays, usually = (target == source) & knows, target == there
    rest = np.where(known, 0.0, new * b[target] / np.maximum(fresh, np.finfo(np.float64).tiny))
    rest = np.where(usually, share[:, 0], np.where(stays, stay, rest))
    return np.asarray(rest / total), np.asarray(np.where(known & ~stays & ~usually, chosen, 0.0) / total)


def law_weights(chosen: Floats, count: Floats) -> Floats:
    """Weights (C,) of laws for the choice of other places, from the chance each gave to real moves (C, n, S).

    `count` (n,) says how much the moves of each person count.
    """
    moved = chosen.sum(axis=0) > 0
    likely = chosen[:, moved]
    each = np.broadcast_to(count[:, None], moved.shape)[moved]
    weights = np.full(len(chosen), 1 / len(chosen))
    for _ in range(_ROUNDS):
        share = weights[:, None] * likely
        weights = (share * (each / share.sum(axis=0))).sum(axis=1) + EVEN
        weights /= weights.sum()
    return np.asarray(weights)
