"""Earlier origins similar to the one in question, and the people known by then.

Everybody's places at the steps to find, with people seen too seldom for an audit: for numbers of others.

A published number counts all of them. It is a sum over people, so parts of it can be added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from passerby.model.counts import Count
from passerby.support.blocks import Blocks, split
from passerby.visits.table import Traces

Ints = NDArray[np.int64]

#: The most origins; then, at each of them: the most predicted steps of all people, the most steps as their evidence,
#: and the most steps of everybody for learning b and Q.
MOST_ORIGINS, MOST_STEPS, MOST_CELLS, MOST_LEARNT = 3, 6_000, 1_000_000, 5_000_000
#: At least so many people are used, if there are so many.
FEW = 100


@dataclass(frozen=True)
class Clock:
    """Steps in a day and in a week (0 if they do not fill it evenly, or one fills it), and a mark of weekend steps."""

    day: int = 0
    week: int = 0
    weekend: NDArray[np.bool_] | None = None


def origins(steps: int, horizon: int, clock: Clock | None = None) -> tuple[int, list[int]]:
    """The length of a stretch, and the fitted steps before each one, from the latest; empty with too few steps.

    Stretches are as long as the published one, or half of the fitted steps if this is less. They begin at the same time
    of the week if two such exist. Otherwise as many of their steps as possible are on days of the same kind (weekend or
    not). They also begin at the same time of the day if possible. Without a clock they lie side by side, or closer if
    steps are few. At least half of the fitted steps are before each.

    >>> origins(27, 5), origins(9, 5), origins(2, 5)
    ((5, [22, 18, 14]), (4, [5]), (1, []))
    """
    stretch, clock = min(max(horizon, 1), steps // 2), clock or Clock()
    if not stretch:
        return 0, []
    least, latest = max(2, ceil(steps / 2)), steps - stretch
    weekly = [cut for cut in range(steps, least - 1, -clock.week) if cut <= latest] if clock.week else []
    if len(weekly) > 1:
        return stretch, weekly[:MOST_ORIGINS]
    if clock.day and clock.weekend is not None and latest >= least:
        cuts = range(latest, least - 1, -1)
        like = [_likeness(clock, cut, steps, stretch) for cut in cuts]
        most = max(like)
        return stretch, [cut for cut, each in zip(cuts, like, strict=True) if each == most][:MOST_ORIGINS]
    apart = max(1, min(stretch, (latest - least) // (MOST_ORIGINS - 1)))
    return stretch, [cut for cut in (latest - k * apart for k in range(MOST_ORIGINS)) if cut >= least]


def _likeness(clock: Clock, cut: int, steps: int, stretch: int) -> tuple[int, bool, int]:
    """A stretch's likeness to the published one: steps on days of the same kind, time of the day, kinds in order."""
    assert clock.weekend is not None
    here, then = (clock.weekend[first : first + stretch] for first in (cut, steps))
    same = min(here.sum(), then.sum()) + min((~here).sum(), (~then).sum())
    return int(same), (steps - cut) % clock.day == 0, int((here == then).sum())


@dataclass(frozen=True)
class Origin:
    """A number of fitted steps, everybody known by then (n,), and the people to predict, known well enough.

    Both are rows of the `Looked` they belong to.
    """

    cut: int
    everybody: Ints
    who: Ints


@dataclass(frozen=True)
class Looked:
    """The steps (n, F) of the people used at any origin, and their numbers (n,) among everybody."""

    fitted: NDArray[np.int32]
    numbers: Ints
    origins: tuple[Origin, ...]


@dataclass(frozen=True)
class _Asked:
    """The wanted people at each of some origins: known in as large a share of the steps before as `least` is of all."""

    cuts: Sequence[int]
    elsewhere: int
    least: int

    def known(self, fitted: NDArray[np.int32]) -> Iterator[tuple[Ints, Ints]]:
        """At each origin, the rows of people known well enough, and of people known at all."""
        for cut in self.cuts:
            known = (fitted[:, :cut] != self.elsewhere).sum(axis=1)
            yield np.flatnonzero(known >= max(1, ceil(self.least * cut / fitted.shape[1]))), np.flatnonzero(known)


def looked_at(
    blocks: Blocks[NDArray[np.int32]], cuts: Sequence[int], elsewhere: int, least: int, stretch: int
) -> Looked:
    """The people used at each origin, evenly spread if there are many; origins without anybody are left out.

    The numbers of all candidates are added up over blocks (N, F) first, and then some of each block are taken.
    """
    asked = _Asked(cuts, elsewhere, least)
    counts = np.array(blocks.map(_counts, asked), dtype=np.int64)
    sizes, there = counts[:, 0, 0], counts[:, 1:]
    picks = [
        (
            shared(there[:, at, 0], min(MOST_STEPS // stretch, max(FEW, MOST_CELLS // cut))),
            shared(there[:, at, 1], max(FEW, MOST_LEARNT // cut)),
        )
        for at, cut in enumerate(cuts)
    ]
    chosen = [[(who[at], everybody[at]) for who, everybody in picks] for at in range(len(blocks))]
    found = blocks.zipped(chosen).map(_taken, asked)
    offsets = np.cumsum(sizes) - sizes
    numbers = np.concatenate([offset + rows for offset, (rows, _, _) in zip(offsets, found, strict=True)])
    origins = []
    for at, cut in enumerate(cuts):
        sides = (np.concatenate([marks[at][side] for _, _, marks in found]) for side in range(2))
        predicted, known = map(np.flatnonzero, sides)
        if len(predicted):
            origins.append(Origin(cut, known, predicted))
    return Looked(np.concatenate([fitted for _, fitted, _ in found]), numbers, tuple(origins))


def _counts(asked: _Asked, fitted: NDArray[np.int32]) -> list[tuple[int, int]]:
    """The number of people, and at each origin the numbers known well enough and known at all."""
    return [(len(fitted), 0), *((len(well), len(known)) for well, known in asked.known(fitted))]


def _taken(
    asked: _Asked, block: tuple[NDArray[np.int32], Sequence[tuple[Ints, Ints]]]
) -> tuple[Ints, NDArray[np.int32], list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]]:
    """Used rows of a block, their steps, and at each origin the predicted and the known people."""
    fitted, chosen = block
    picked = []
    for (well, known), (some, more) in zip(asked.known(fitted), chosen, strict=True):
        # Everybody's moves are reckoned without the person, so the person must be among everybody.
        picked.append((well[some], np.union1d(known[more], well[some])))
    rows = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(known for _, known in picked)]))
    marks = [(np.isin(rows, who), np.isin(rows, known)) for who, known in picked]
    return rows, fitted[rows], marks


def shared(sizes: Ints, most: int) -> list[Ints]:
    """So many of all at most, evenly spread: their rows in each block."""
    return split(spread(int(sizes.sum()), most), sizes.tolist())


def spread(count: int, most: int) -> Ints:
    """So many of the numbers below `count` at most, evenly spread.

    >>> spread(9, 3).tolist()
    [0, 4, 8]
    """
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, max(1, most)).astype(np.int64))


#: People counted at a time.
CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Place numbers (n, h) in as few bytes as they fit in, and how many more people were `elsewhere` at all steps."""

    steps: NDArray[np.unsignedinteger]
    away: int
    elsewhere: int

    @classmethod
    def of(cls, traces: Traces, first: int, stop: int) -> Whereabouts:
        """From step `first` to before `stop` of traces."""
        elsewhere = len(traces.places) - 1
        few = traces.seldom.between(first, stop, elsewhere)
        kind = np.min_scalar_type(elsewhere)
        steps = np.concatenate([traces.array[:, first:stop].astype(kind), few.astype(kind)])
        return cls(steps, traces.seldom.people - len(few), elsewhere)

    def numbers(self, counts: Sequence[Count]) -> Ints:
        """How many people each count counts."""
        out = np.zeros(len(counts), dtype=np.int64)
        for some in self._chunks():
            inside = Inside(some, self.elsewhere + 1)
            out += [int(count.met(inside).sum()) for count in counts]
        if self.away:
            gone = Inside(np.full((1, self.steps.shape[1]), self.elsewhere), self.elsewhere + 1)
            out += [self.away * int(count.met(gone).sum()) for count in counts]
        return out

    def _chunks(self) -> Iterator[NDArray[np.unsignedinteger]]:
        for first in range(0, len(self.steps), CHUNK):
            yield self.steps[first : first + CHUNK]


class Inside:
    """Whether each of some people is in a zone at a step, looked up once for each."""

    def __init__(self, steps: NDArray[np.integer], places: int) -> None:
        self.steps, self.places = steps, places
        self._known: dict[tuple[tuple[int, ...], int], NDArray[np.bool_]] = {}
        self._zones: dict[tuple[int, ...], NDArray[np.bool_]] = {}

    def __call__(self, zone: tuple[int, ...], step: int) -> NDArray[np.bool_]:
        """An array (n,)."""
        if (zone, step) not in self._known:
            if zone not in self._zones:
                self._zones[zone] = np.isin(np.arange(self.places), zone)
            self._known[zone, step] = self._zones[zone][self.steps[:, step]]
        return self._known[zone, step]
