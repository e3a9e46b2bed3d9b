"""Earlier origins similar to the one in question, and the people known by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from passerby.support.blocks import Blocks, split

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
