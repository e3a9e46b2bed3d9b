"""Everybody's moves: frequencies of places, and moves from each place to each other one.

Habits as in the paper: how often a person went from x to each place, smoothed with the population's frequencies.

`P(x, ·) = (counts(x, ·) + α b) / (n_x + α)`, started at equilibrium. With a rhythm, each part of the cycle is smoothed
with the person's overall habits. It is the member of the family of habits without anything else, and kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.kernels.chain import recursions
from passerby.support.checks import is_number

from .family import Trim, spans
from .origins import spread
from .roles import moves_by_role, shares

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The weight of the population's frequencies in its moves, in moves.
LITTLE = 10.0
#: The most people for learning moves by role during the choice of habits.
MOST_ROLES = 2_000
#: Up to so many pairs of places, or of people and places, are counted in a table of all of them.
_TABLE = 10**7


@dataclass(frozen=True)
class Flow:
    """Everybody's moves into one part of the cycle, for the pairs of places with any move.

    `keys` (K,), sorted, are `from · M + to`, `number` (K,) how often; `left` and `entered` (M,) the sums by place.
    """

    keys: Ints
    number: Floats
    left: Floats
    entered: Floats

    @classmethod
    def counted(cls, pairs: Ints, places: int) -> Flow:
        """From one key per move."""
        if places**2 <= _TABLE:
            table = np.bincount(pairs, minlength=places**2)
            keys = np.flatnonzero(table)
            number = table[keys].astype(np.float64)
        else:
            keys, counts = np.unique(pairs, return_counts=True)
            number = counts.astype(np.float64)
        left, entered = (
            np.bincount(side, number, places).astype(np.float64) for side in (keys // places, keys % places)
        )
        return cls(keys, number, left, entered)

    @classmethod
    def summed(cls, flows: Sequence[Flow]) -> Flow:
        """The moves of several groups of people together."""
        if len(flows) == 1:
            return flows[0]
        keys, at = np.unique(np.concatenate([flow.keys for flow in flows]), return_inverse=True)
        number = np.bincount(at, np.concatenate([flow.number for flow in flows]), len(keys)).astype(np.float64)
        left, entered = (np.sum([getattr(flow, side) for flow in flows], axis=0) for side in ("left", "entered"))
        return cls(keys, number, left, entered)

    def among(self, places: Ints) -> Floats:
        """The numbers of moves between some places (V, V)."""
        return self.between(places[:, None], places)

    def between(self, source: Ints, target: Ints) -> Floats:
        """The numbers of moves from places to places, of one shape."""
        wanted = source * len(self.left) + target
        if not len(self.keys):
            return np.zeros(wanted.shape)
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, self.number[at], 0.0)


@dataclass(frozen=True)
class Population:
    """Frequencies of places, the number of people who know each, all moves, and the moves into each part of the cycle.

    `background` (M,) are frequencies of everybody's kept steps. `familiarity` (M,), b, is the share of each place in
    all people's known places. A person going somewhere new goes to a place known to many, and not to a place of few
    people's nights. So language models count in how many contexts a word is found (Kneser and Ney 1995). Everybody
    knows elsewhere, so its share is that of the steps. `roles` (1 + P, 3, 4) are shares of moves by role, at all times
    and in each part. One further visit, spread evenly over all places, makes unvisited places possible.
    """

    background: Floats
    familiarity: Floats
    moves: Flow
    parts: tuple[Flow, ...] = ()
    roles: Floats = field(default_factory=lambda: np.empty((0, 3, 4)))

    @classmethod
    def of(cls, fitted: NDArray[np.int32], places: int, trim: Trim, levels: Sequence[Ints]) -> Population:
        """From the steps (N, F) of everybody; `levels` (each (F,) or longer) are parts of the cycle, the finest last.

        Moves by role have few kinds, so some of many people are enough.
        """
        return cls.summed([Tally.of(fitted, places, trim, levels, spread(len(fitted), MOST_ROLES))])

    @classmethod
    def summed(cls, tallies: Sequence[Tally]) -> Population:
        """The sum of the counts of all groups of people."""
        background = _shares(np.sum([tally.visits for tally in tallies], axis=0))
        known = _shares(np.sum([tally.visitors for tally in tallies], axis=0)[:-1])
        familiarity = np.append(known * (1.0 - background[-1]), background[-1])
        parts = zip(*(tally.parts for tally in tallies), strict=True)
        moves = Flow.summed([tally.moves for tally in tallies])
        roles = np.sum([tally.roles for tally in tallies], axis=0)
        return cls(background, familiarity, moves, tuple(map(Flow.summed, parts)), shares(roles, LITTLE))

    def towards(self, part: int | None) -> Flow:
        """The moves into a part of the cycle, or all of them."""
        return self.moves if part is None else self.parts[part]

    def laws(self, index: Ints, states: Ints, b: Floats, part_of: Ints, parts: Ints | None) -> Floats:
        """Q (H, R, R): everybody else's moves over a person's states, with all places never visited as one.

        For each of some parts of the cycle, or all moves together. `index` (K,) are the states of the person's steps,
        `part_of` (K,) their parts of the cycle, and `b` (R,) the frequencies of states. Between visited places it is
        `(N(x, y) + c b(y)) / (N(x) + c)`, with c = `LITTLE` and the person's own moves left out of N. Places never
        visited share the row of their moves taken together, and are entered by b.
        """
        flows = [self.towards(part) for part in ([None] if parts is None else parts.tolist())]
        visited = np.zeros(len(b), dtype=bool)
        visited[index] = True
        own, place = np.flatnonzero(visited), np.cumsum(visited) - 1
        number, total = _others(flows, states[own])
        if len(index) > 1:
            pairs = place[index[:-1]] * len(own) + place[index[1:]]
            if parts is not None:
                mine = part_of[1:] == parts[:, None]
                pairs = (np.arange(len(parts))[:, None] * len(own) ** 2 + pairs)[mine]
            counts = np.bincount(pairs, minlength=len(flows) * len(own) ** 2).reshape(-1, len(own), len(own))
            number[:, :-1] -= counts
            total[:, :-1] -= counts.sum(axis=2)
        number, total = np.maximum(number, 0.0), np.maximum(total, 0.0)
        known = (number + LITTLE * b[own]) / (total + LITTLE)[:, :, None]
        rest = np.where(visited, 0.0, b)
        unknown = max(float(rest.sum()), 0.0)
        away = (np.maximum(total - number.sum(axis=2), 0.0) + LITTLE * unknown) / (total + LITTLE)
        out = np.empty((len(flows), len(own) + 1, len(b)))
        out[:, :, own] = known
        if unknown:
            out[:, :, ~visited] = away[:, :, None] * (rest[~visited] / unknown)
        out /= out.sum(axis=2, keepdims=True)
        return out.take(np.where(visited, place, len(own)), axis=1)


def _shares(numbers: Ints) -> Floats:
    """The share of each, with one more, spread evenly."""
    return np.asarray((numbers + 1 / len(numbers)) / (numbers.sum() + 1))


def _visitors(fitted: NDArray[np.int32], kept: NDArray[np.bool_], places: int) -> Ints:
    """How many people were at each place (M,) at any of the steps kept (N, F)."""
    total = np.zeros(places, dtype=np.int64)
    chunk = max(1, _TABLE // places)
    for first in range(0, len(fitted), chunk):
        some = fitted[first : first + chunk]
        who, at = np.nonzero(kept[first : first + chunk])
        there = np.zeros((len(some), places), dtype=bool)
        there[who, some[who, at]] = True
        total += there.sum(axis=0)
    return total


def _others(flows: Sequence[Flow], own: Ints) -> tuple[Floats, Floats]:
    """Moves of all from each of some places, and from all others: towards each (H, V + 1, V), and in all (H, V + 1)."""
    inside = np.array([flow.among(own) for flow in flows])
    leaving, entered = (np.array([getattr(flow, side)[own] for flow in flows]) for side in ("left", "entered"))
    every = np.array([flow.left.sum() for flow in flows])
    number = np.concatenate([inside, (entered - inside.sum(axis=1))[:, None]], axis=1)
    return number, np.concatenate([leaving, (every - leaving.sum(axis=1))[:, None]], axis=1)


@dataclass(frozen=True)
class Tally:
    """Visits and visitors (M,) of places, moves of some people in all and in each part of the cycle, and by role.

    Moves by `roles` are (P, 3, 4).
    """

    visits: Ints
    visitors: Ints
    moves: Flow
    roles: Ints
    parts: tuple[Flow, ...] = ()

    @classmethod
    def of(
        cls, fitted: NDArray[np.int32], places: int, trim: Trim, levels: Sequence[Ints], some: Ints | None = None
    ) -> Tally:
        """Of their steps (N, F); moves by role of `some` of them, or of all."""
        first, stop = spans(fitted, places - 1, trim)
        steps = np.arange(fitted.shape[1])
        kept = (steps >= first[:, None]) & (steps < stop[:, None])
        visits, visitors = np.bincount(fitted[kept], minlength=places), _visitors(fitted, kept, places)
        pairs = fitted[:, :-1].astype(np.int64) * places + fitted[:, 1:]
        both = kept[:, :-1] & kept[:, 1:]
        moves = Flow.counted(pairs[both], places)
        some = np.arange(len(fitted)) if some is None else some
        roles = moves_by_role(fitted[some], kept[some], places, levels)
        if not levels:
            return cls(visits, visitors, moves, roles)
        towards = levels[-1][1 : fitted.shape[1]]
        parts = [towards == part for part in range(int(levels[-1].max()) + 1)]
        return cls(visits, visitors, moves, roles, tuple(Flow.counted(pairs[:, p][both[:, p]], places) for p in parts))


#: Smoothing is chosen among these when it is "auto".
CANDIDATES = tuple(float(a) for a in np.geomspace(0.01, 100, 17))

#: People by whom it is chosen, at most.
MOST_LOOKED = 5_000


def plain(index: Ints, b: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """Start (R,) and one matrix (R, R) from the states of a person's steps."""
    moves = _moves(index[:-1], index[1:], b, b[None], smoothing)
    return equilibrium(moves, b), moves


def rhythmic(index: Ints, b: Floats, smoothing: float, phase: Ints, held: int) -> tuple[Floats, Floats]:
    """Start and one matrix per held-out step: each part of the cycle smoothed with the person's overall habits."""
    fitted = len(index)
    overall = _moves(index[:-1], index[1:], b, b[None], smoothing)
    of_step = phase[: fitted - 1]
    parts = {
        part: _moves(index[:-1][of_step == part], index[1:][of_step == part], b, overall, smoothing)
        for part in np.unique(phase)
    }
    cycle = np.eye(len(b))
    length = len(parts)
    # The start is the equilibrium of one whole cycle from the first held-out step on.
    first = fitted % length if held else 0
    for step in range(length):
        cycle = cycle @ parts[phase[(first + step) % length]]
    moves = np.array([parts[part] for part in phase[fitted:][:-1]]).reshape(-1, len(b), len(b))
    return equilibrium(cycle, b), moves


def _moves(source: Ints, target: Ints, b: Floats, background: Floats, smoothing: float) -> Floats:
    return np.asarray(recursions.smoothed_moves(source, target, background, smoothing, len(b)))


def equilibrium(moves: Floats, b: Floats) -> Floats:
    """Stationary distribution; smoothing joins all states with a background frequency into one class."""
    there = b > 0
    if there.all():
        return np.asarray(recursions.stationary(moves))
    out = np.zeros(len(b))
    out[there] = recursions.stationary(np.ascontiguousarray(moves[np.ix_(there, there)]))
    return out


def chosen_smoothing(smoothing: float | str, fitted: NDArray[np.int32], background: Floats) -> float:
    """The given number, or the best of `CANDIDATES` for "auto"."""
    if checked_smoothing(smoothing) is None:
        scores = [held_out_likelihood(fitted, background, a) for a in CANDIDATES]
        return CANDIDATES[int(np.argmax(scores))]
    return float(smoothing)


def checked_smoothing(smoothing: float | str) -> float | None:
    """The number given, or None for "auto"; anything else is refused."""
    if isinstance(smoothing, str) and smoothing == "auto":
        return None
    if not is_number(smoothing) or not 1e-9 <= smoothing <= 1e9:
        raise InputError(f"smoothing: expected a number from 1e-9 to 1e9, or 'auto', got {smoothing!r}")
    return float(smoothing)


def held_out_likelihood(fitted: NDArray[np.int32], background: Floats, smoothing: float) -> float:
    """Mean log probability of the last fifth of the fitted moves, under habits fitted to the moves before.

    Looks at no more than `MOST_LOOKED` people, evenly spread.
    """
    chosen = fitted[spread(len(fitted), MOST_LOOKED)]
    moves = chosen.shape[1] - 1
    cut = max(1, moves - max(1, moves // 5))
    if cut >= moves:
        return 0.0
    places = len(background)
    pairs = chosen[:, :-1].astype(np.int64) * places + chosen[:, 1:]
    total = 0.0
    for t in range(cut, moves):
        same = (pairs[:, :cut] == pairs[:, t : t + 1]).sum(axis=1)
        left = (chosen[:, :cut] == chosen[:, t : t + 1]).sum(axis=1)
        law = (same + smoothing * background[chosen[:, t + 1]]) / (left + smoothing)
        total += float(np.log(law).sum())
    return float(total / (len(chosen) * (moves - cut)))
