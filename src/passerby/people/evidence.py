"""Evidence for the family of habits: the data for the likelihood of later fitted steps, for all people at once.

Earlier origins, and evidence of everybody's steps after them: the data for the choice of habits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from passerby.support.blocks import Blocks

from .family import (
    Floats,
    Grouping,
    Habits,
    Ints,
    Trim,
    alike,
    blend,
    fitted_weights,
    groups,
    log_chances,
    mixture,
    narrowed,
    spans,
)
from .origins import Clock, Origin, looked_at, origins
from .population import LITTLE, Flow, Population
from .roles import Own, chance, chances

#: The half-lives, and the weights of moves in other parts of the cycle, for which evidence is gathered.
Lives = Sequence[float | None]


@dataclass(frozen=True)
class Before:
    """Steps (n, F) of people before an origin, and a mark of each kept step."""

    steps: NDArray[np.int32]
    kept: NDArray[np.bool_]
    last: Ints
    places: int

    @classmethod
    def of(cls, steps: NDArray[np.int32], places: int, trim: Trim) -> Before:
        """With `last` (n,), the last kept place."""
        first, stop = spans(steps, places - 1, trim)
        number = np.arange(steps.shape[1])
        kept = (number >= first[:, None]) & (number < stop[:, None])
        return cls(steps, kept, steps[np.arange(len(steps)), stop - 1].astype(np.int64), places)

    @cached_property
    def own(self) -> Own:
        """The places of each person."""
        return Own.of(self.steps, self.kept, self.places)

    @cached_property
    def visited(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Different kept places (n, V), and a mark of each existing one: people visited different numbers of them."""
        there = self.own.places < self.places
        return np.where(there, self.own.places, 0), there

    def moved(self, source: Ints) -> NDArray[np.bool_]:
        """Whether each step but the first (n, F-1) was reached from a person's `source` (n,)."""
        return np.asarray((self.steps[:, :-1] == source[:, None]) & self.kept[:, :-1] & self.kept[:, 1:])

    def flow(self, everybody: Flow, b: Floats, source: Ints, target: Ints, own: tuple[Ints, Ints]) -> Floats:
        """Q(x, y) (n,) of `Flow.law` for one x and y each; `own` are the person's moves from x to y, and from x."""
        places, there = self.visited
        known = [(there & (places == x[:, None])).any(axis=1) for x in (source, target)]
        left, entered = everybody.left, everybody.entered
        inside = (everybody.between(source[:, None], places) * there).sum(axis=1)
        number = everybody.between(source, target) - own[0]
        total = left[source] - own[1]
        away = left[source] - inside
        new = np.flatnonzero(~known[0])
        if len(new):
            mine, here = places[new], there[new]
            number[new] = entered[target[new]] - (everybody.between(mine, target[new, None]) * here).sum(axis=1)
            total[new] = left.sum() - (left[mine] * here).sum(axis=1)
            among = everybody.between(mine[:, :, None], mine[:, None, :]) * (here[:, :, None] & here[:, None, :])
            away[new] = total[new] - (entered[mine] * here).sum(axis=1) + among.sum(axis=(1, 2))
        number, total, away = (np.maximum(each, 0.0) for each in (number, total, away))
        rest = np.maximum(1.0 - (b[places] * there).sum(axis=1), np.finfo(np.float64).tiny)
        inner = (number + LITTLE * b[target]) / (total + LITTLE)
        return np.where(known[1], inner, (away + LITTLE * rest) / (total + LITTLE) * (b[target] / rest))


@dataclass(frozen=True)
class Evidence:
    """For n stretches of S steps: weighted moves and visits, by weight of other parts (C) and half-life (L).

    `moves` and `left` (C, L, n, S) are the person's moves to each step, and all moves from the place before it.
    `visits` and `total` (1 + levels, L, n, S) are visits to the place and all visits: at all times, then in parts of
    the cycle, the finest last. `b`, `flow` and `by_role` (n, S) are the place's share of everybody's known places,
    everybody's moves by place, and moves by role. `rest` (n, S) and `chosen` (C, n, S) split the moves by role and
    times of coming: moves to all but other known places, and moves to these, by each law of coming. `stayed` and `gone`
    (n,) mark stretches entirely at the last place, or elsewhere.
    """

    carries: tuple[float, ...]
    lives: tuple[float | None, ...]
    moves: Floats
    left: Floats
    visits: Floats
    total: Floats
    b: Floats
    flow: Floats
    by_role: Floats
    rest: Floats
    chosen: Floats
    stayed: NDArray[np.bool_]
    gone: NDArray[np.bool_]

    def frequencies(self, half_life: float | None, background: float) -> Floats:
        """The person's frequencies of each step (n, S), backed off."""
        k = self.lives.index(half_life)
        always, *parts = (
            partial(blend, visits, total, weight=background)
            for visits, total in zip(self.visits[:, k], self.total[:, k], strict=True)
        )
        return narrowed(always(self.b), parts)

    def usual(self, habits: Habits, coming: Floats | None = None, f: Floats | None = None) -> Floats:
        """The log probability of each stretch (n,) of people who do as usual; `f` are their frequencies.

        `coming` (C,) are the weights of the laws of coming; they weigh the same unless given.
        """
        f = self.frequencies(habits.half_life, habits.background) if f is None else f
        k = self.lives.index(habits.half_life)
        c = self.carries.index(habits.carry) if len(self.carries) > 1 else 0
        flow = {"places": self.flow, "roles": self.by_role}.get(habits.flow)
        if flow is None:
            even = np.full(len(self.chosen), 1 / len(self.chosen))
            flow = self.rest + np.tensordot(even if coming is None else coming, self.chosen, 1)
        law = mixture(self.moves[c, k], self.left[c, k], f, flow, habits.smoothing, habits.share)
        return np.asarray(np.log(law).sum(axis=1))

    @cached_property
    def others(self) -> Floats:
        """The log probability of each stretch in the modes but the first (n, 3): as everybody, staying, gone."""
        with np.errstate(divide="ignore"):
            return np.stack([np.log(self.flow).sum(axis=1), np.log(self.stayed), np.log(self.gone)], axis=1)

    def logs(self, habits: Habits, coming: Floats | None = None) -> Floats:
        """The log probability of each stretch in each mode (n, 4)."""
        return np.column_stack([self.usual(habits, coming), self.others])

    @classmethod
    def together(cls, parts: Sequence[Evidence]) -> Evidence:
        """The evidence of several origins together."""
        arrays = {
            name: np.concatenate([getattr(each, name) for each in parts], axis=axis)
            for names, axis in (
                (("moves", "left", "visits", "total"), 2),
                (("chosen",), 1),
                (("b", "flow", "by_role", "rest"), 0),
            )
            for name in names
        }
        ends = {name: np.concatenate([getattr(each, name) for each in parts]) for name in ("stayed", "gone")}
        return cls(parts[0].carries, parts[0].lives, **arrays, **ends)


def gather(
    before: Before,
    path: NDArray[np.int32],
    population: Population,
    levels: tuple[Ints, ...],
    lives: Lives,
    carries: Sequence[float],
) -> Evidence:
    """Evidence of the following stretches `path` (n, S); `levels` are the parts of the cycle of all these steps."""
    (n, cut), stretch = before.steps.shape, path.shape[1]
    forgotten = np.array([Habits(half_life=life).weights(cut) for life in lives]).T
    carries = tuple(carries) if levels else (0.0,)
    moves, left = np.empty((2, len(carries), len(lives), n, stretch))
    visits, total = np.empty((2, 1 + len(levels), len(lives), n, stretch))
    flow, by_role, rest = np.empty((3, n, stretch))
    chosen = np.empty((2 + len(levels), n, stretch))
    cycle = [level[:cut] for level in levels], [level[cut : cut + stretch] for level in levels]
    usual, coming = before.own.usual(*cycle), before.own.coming(*cycle)
    target = path.astype(np.int64)
    source = np.column_stack([before.last, target[:, :-1]])
    known = [level[:cut] for level in levels]
    for j in range(stretch):
        parts = [int(level[cut + j]) for level in levels]
        counts = np.array([alike(known, parts, carry) for carry in carries]) if levels else np.ones((1, cut))
        within = np.array([np.ones(cut), *(level == part for level, part in zip(known, parts, strict=True))])
        leaves = before.moved(source[:, j])
        arrives = leaves & (before.steps[:, 1:] == target[:, j, None])
        there = before.kept & (before.steps == target[:, j, None])
        moves[..., j], left[..., j] = (_weighted(each, counts[:, 1:], forgotten[1:]) for each in (arrives, leaves))
        visits[..., j], total[..., j] = (_weighted(each, within, forgotten) for each in (there, before.kept))
        same = known[-1][1:] == parts[-1] if levels else np.ones(cut - 1, dtype=bool)
        own = (arrives[:, same].sum(axis=1), leaves[:, same].sum(axis=1))
        everybody = population.towards(parts[-1] if levels else None)
        flow[:, j] = before.flow(everybody, population.familiarity, source[:, j], target[:, j], own)
        share, h = population.roles[1 + parts[-1] if levels else 0], j if levels else 0
        move = population.familiarity, source[:, j], target[:, j]
        by_role[:, j] = chance(share, before.own, usual[:, h], *move)
        rest[:, j], chosen[:, :, j] = chances(share, before.own, usual[:, h], coming[:, :, h], *move)
    stayed, gone = (target == before.last[:, None]).all(axis=1), (target == before.places - 1).all(axis=1)
    b = population.familiarity[target]
    return Evidence(carries, tuple(lives), moves, left, visits, total, b, flow, by_role, rest, chosen, stayed, gone)


def _weighted(steps: NDArray[np.bool_], counts: Floats, forgotten: Floats) -> Floats:
    """Weighted sums of steps (n, K), for each of `counts` (C, K) and `forgotten` (K, L): (C, L, n)."""
    size = len(steps), len(counts), forgotten.shape[1]
    table = (counts.T[:, :, None] * forgotten[:, None, :]).reshape(len(forgotten), -1)
    return np.moveaxis((steps.astype(np.float64) @ table).reshape(size), 0, 2)


TRIMS: tuple[Trim, ...] = ("none", "before", "around")
#: Candidate weights of moves in other parts of the cycle.
CARRIES = (0.0, 0.1, 1.0)
#: Half-lives, as parts of the fitted steps, besides a half-life without forgetting.
HALF_LIVES = (1 / 2, 1 / 4, 1 / 8, 1 / 16)


@dataclass(frozen=True)
class Past:
    """Fitted steps (n, F) of the chosen people, earlier origins, and evidence of the steps after them.

    `numbers` (n,) are their rows among everybody.
    """

    fitted: NDArray[np.int32]
    numbers: Ints
    places: int
    stretch: int
    looked: Sequence[Origin]
    lives: tuple[float | None, ...]

    @property
    def people(self) -> int:
        """How many different people are looked at."""
        return len(np.unique(np.concatenate([origin.who for origin in self.looked])))

    @property
    def half(self) -> NDArray[np.bool_]:
        """Whether each stretch (n,) is in the first half of the people."""
        return np.asarray(self.numbers[np.concatenate([origin.who for origin in self.looked])] % 2 == 0)

    @property
    def count(self) -> Floats:
        """How much each stretch (n,) counts: at each origin half as much as at the next later one."""
        return np.concatenate([np.full(len(origin.who), 0.5**k) for k, origin in enumerate(self.looked)])

    def groups(self, grouping: Grouping) -> Ints:
        """The group of each stretch (n,)."""
        return np.concatenate(
            [groups(self.fitted[each.who, : each.cut], self.places - 1, grouping) for each in self.looked]
        )

    def evidence(self, trim: Trim, levels: tuple[Ints, ...], carries: Sequence[float] = CARRIES) -> Evidence:
        """Evidence of all stretches."""
        found = []
        for origin in self.looked:
            cut = origin.cut
            population = Population.of(self.fitted[origin.everybody, :cut], self.places, trim, levels)
            before = Before.of(self.fitted[origin.who, :cut], self.places, trim)
            path = self.fitted[origin.who, cut : cut + self.stretch]
            found.append(gather(before, path, population, levels, self.lives, carries))
        return Evidence.together(found)

    def trims(self) -> list[Trim]:
        """The trims with a difference for any of these people."""
        kept: dict[bytes, Trim] = {}
        for trim in TRIMS:
            sides = [Before.of(self.fitted[each.who, : each.cut], self.places, trim).kept for each in self.looked]
            kept.setdefault(b"".join(np.packbits(side).tobytes() for side in sides), trim)
        return list(kept.values())

    def scored(self, logs: Floats, grouping: Grouping) -> float:
        """The mean log probability of a step, with weights from the other half of the people."""
        return self.mean(self.scores(logs, grouping))

    def scores(self, logs: Floats, grouping: Grouping) -> Floats:
        """The log probability of each stretch (n,), with weights from the other half of the people."""
        group, count, half = self.groups(grouping), self.count, self.half
        everybody = np.ones(len(half), dtype=bool)
        both = half.any() and not half.all()
        out = np.empty(len(half))
        for fit, tried in ((half, ~half), (~half, half)) if both else ((everybody, everybody),):
            weights = fitted_weights(logs[fit], group[fit], count[fit], grouping)
            out[tried] = log_chances(logs[tried], weights[group[tried]])
        return out

    def mean(self, scores: Floats) -> float:
        """The mean log probability of a step, from the log probability of each stretch (n,)."""
        return float(scores @ self.count) / (float(self.count.sum()) * self.stretch)

    def surely_better(self, scores: Floats, simpler: Floats) -> bool:
        """Whether scores of stretches (n,) are above simpler ones by more than a standard error of their difference.

        The rule of Breiman et al. (1984): a smaller gain may be chance, and the simpler habits are taken.
        """
        gain = (scores - simpler) * self.count
        return bool(gain.sum() > np.sqrt(len(gain)) * gain.std())


def past(
    blocks: Blocks[NDArray[np.int32]],
    fitted: int,
    places: int,
    horizon: int,
    least: int,
    week: int,
    clock: Clock | None = None,
) -> Past | None:
    """The data for a choice; None if nobody was known before an earlier origin.

    `blocks` are the `fitted` steps (N, F) of everybody. `least` is the least number of known steps of a person used
    here. No half-life is shorter than `week` steps: faster forgetting takes a weekend for a new habit.
    """
    stretch, cuts = origins(fitted, horizon, clock)
    if not cuts:
        return None
    found = looked_at(blocks, cuts, places - 1, least, stretch)
    lives = (None, *(each for part in HALF_LIVES if (each := part * fitted) >= week))
    return Past(found.fitted, found.numbers, places, stretch, found.origins, lives) if found.origins else None
