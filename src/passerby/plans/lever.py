"""Levers: ways to publish less than wanted, or less exactly.

There are two kinds. A `Dial` has positions from mild to strong. A `Choice` has items to leave out, and the search finds
their order. Either way a lever is one file below `levers`, and one line in the list there.

The counts of a release in a plan: the subject of each, apart from its mechanism.

The order of releases by information: the values of one decide the values of a less informative one, but for chance.

A less informative release has no larger loss (data processing). So an upper end holds for all less informative
releases, and a lower end for all more informative ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from passerby.errors import InputError
from passerby.mechanisms import Mechanism
from passerby.model.count import mechanism_of
from passerby.model.counts import Count, Present, changed
from passerby.model.release import Release

#: A count without a mechanism and without a number of others: its subject.
Cell = Count


@lru_cache(maxsize=4096)
def cells_of(release: Release) -> tuple[Cell, ...]:
    """All counts of a release, in its order.

    >>> cells_of(Release([[0, 1], 2])) == (Present([0], step=0), Present([1], step=0), Present([2], step=1))
    True
    """
    if release.reveals:
        return tuple(_single(place, t) for t, step in enumerate(release.sensors) for place in step)
    return tuple(changed(count, mechanism=None, others=None) for count in release.listed)


def ways_of(release: Release) -> list[Mechanism]:
    """The mechanism of each count."""
    if release.reveals:
        return [release.mechanism] * len(cells_of(release))
    return [mechanism_of(count) for count in release.listed]


@lru_cache(maxsize=65536)
def _single(place: int, step: int) -> Cell:
    return Present([place], step)


def of_counts(release: Release, change: Callable[[Count], Count | None]) -> Release:
    """The release with each count changed, or left out if it becomes None; counts with the same result are merged.

    Counts planned twice, with fresh draws, stay two.
    """
    _check_others(release)
    first: dict[Count, Count] = {}
    pairs = [(found, count) for count in release.listed if (found := change(count)) is not None]
    made = [found for found, count in pairs if first.setdefault(found, count) == count]
    return Release(counts=made, steps=release.steps, others=release.crowd, size=release.size)


def _check_others(release: Release) -> None:
    """Refuse to leave out counts of a crowd made for these counts alone."""
    if release.crowd is not None and not release.crowd.open:
        raise InputError("others: counts of a given Crowd cannot be left out; with Crowd(), everyone else is counted")


def not_counted_anew(release: Release) -> str | None:
    """Why others are unknown for counts of other places or steps than the release's; None if they can be counted."""
    if release.crowd is not None:
        return "others who are known by their habits are counted place by place, step by step"
    if any(count.others is not None for count in release.listed):
        return "numbers of others are given, and those of other counts are not known"
    return None


def without(release: Release, cells: frozenset[Cell]) -> Release:
    """The release with some counts left out.

    >>> without(Release([[0, 1], [2]]), frozenset([Present([1], step=0), Present([2], step=1)])).sensors
    ((0,), ())
    """
    if not release.reveals:
        gone = dict(zip(release.listed, cells_of(release), strict=True))
        return of_counts(release, lambda count: None if gone[count] in cells else count)
    kept = [[_single(x, t) not in cells for x in step] for t, step in enumerate(release.sensors)]

    def some(rows: tuple[tuple[int, ...], ...]) -> list[list[int]]:
        return [[value for value, keep in zip(*both, strict=True) if keep] for both in zip(rows, kept, strict=True)]

    if isinstance(release.others, tuple):
        return Release(some(release.sensors), release.mechanism, some(release.others), size=release.size)
    _check_others(release)
    return Release(some(release.sensors), release.mechanism, release.others, size=release.size)


@lru_cache(maxsize=65536)
def spots(cell: Cell) -> frozenset[tuple[int, ...]] | None:
    """The spots of a count, found once.

    >>> from passerby import Moved, Visitors
    >>> sorted(spots(Visitors([4], steps=[1, 2]))), sorted(spots(Moved([0, 1], [2], step=3)))
    ([(4, 1), (4, 2)], [(0, 2, 3), (1, 2, 3)])
    """
    return cell.spots


#: A set of places.
Zone = tuple[int, ...]
Kind = Literal["mechanism", "sensors"]


@dataclass(frozen=True)
class Scene:
    """The data open to levers: the names of places, the counts that must stay, and the gain that a limit allows.

    `levels` are ways to put places together, each a list of zones with a name.
    """

    places: tuple[str, ...]
    stay: frozenset[Cell] = frozenset()
    added: float | None = None
    levels: tuple[Mapping[str, Zone], ...] = ()

    def name(self, cell: Cell) -> str:
        """The subject of a count, in words: a place, a zone, or the two ends of a flow."""
        return " to ".join(map(self.zone, cell.zones))

    def zone(self, places: Zone) -> str:
        """The name of a zone."""
        if len(places) == 1:
            return self.places[places[0]]
        named = (name for level in self.levels for name, zone in level.items() if zone == places)
        return next(named, f"{len(places)} places around {self.places[places[0]]}")


@dataclass(frozen=True)
class Setting:
    """A lever in one of its positions, in words."""

    lever: str
    position: float
    words: str


@dataclass(frozen=True)
class Family:
    """Releases from mild to strong, one for each position; if `monotone`, each is less informative than the one before.

    Positions of `kind` "numbers" (of at least 0) or "whole" (of at least 1) may be others than the tried ones; "listed"
    positions may not.
    """

    lever: str
    positions: tuple[float, ...]
    build: Callable[[Release, float], Release]
    words: Callable[[float], str]
    monotone: bool
    kind: Literal["numbers", "whole", "listed"] = "whole"

    def has(self, position: float) -> bool:
        """Whether there is such a position."""
        if self.kind == "listed":
            return position in self.positions
        return 0 < position < math.inf and (self.kind == "numbers" or position == int(position))

    def setting(self, position: float) -> Setting:
        """A position in words."""
        return Setting(self.lever, position, self.words(position))


@dataclass(frozen=True)
class Dial:
    """A lever with positions. `refuses` says why it cannot change a release, if it cannot.

    By default the `usual` levers are moved; some only for releases they are quick for.
    """

    name: str
    says: str
    kind: Kind
    family: Callable[[Release, Scene], Family]
    refuses: Callable[[Release, Scene], str | None]
    usual: bool | Callable[[Release], bool] = True


@dataclass(frozen=True)
class Item:
    """A removable thing: its name, and its counts."""

    name: str
    cells: frozenset[Cell]


@dataclass(frozen=True)
class Choice:
    """A lever that leaves out some of its items. `kept` has the words for so many of all of them being left."""

    name: str
    says: str
    items: Callable[[Release, Scene], list[Item]]
    kept: Callable[[int, int], str]
    kind: Kind = "sensors"
    usual: bool | Callable[[Release], bool] = True

    def family(self, ordered: Sequence[Item], everything: int) -> Family:
        """The first so many of some items left out; the more of them, the less informative the release."""

        def build(release: Release, position: float) -> Release:
            return without(release, frozenset().union(*(item.cells for item in ordered[: int(position)])))

        positions = tuple(float(n) for n in range(1, len(ordered) + 1))
        return Family(self.name, positions, build, lambda n: self.kept(everything - int(n), everything), True)


Lever = Dial | Choice


def is_usual(lever: Lever, release: Release) -> bool:
    """Whether a lever is moved by default."""
    return lever.usual if isinstance(lever.usual, bool) else lever.usual(release)


def tells_less(coarse: Release, fine: Release) -> bool:
    """Whether `coarse` can be made from the values of `fine`, without another look at the counts.

    >>> from passerby.mechanisms import Gaussian, Rounding
    >>> tells_less(Release([[0], []], Gaussian(2.0)), Release([[0, 1], [0]]))
    True
    >>> tells_less(Release([0], Rounding(10)), Release([0], Rounding(5)))
    False

    Whether somebody was in a zone at any of some steps follows from raw counts of its parts.

    >>> from passerby import Present, Visitors
    >>> day = Release(counts=[Visitors([0, 1], steps=range(2))], steps=2)
    >>> tells_less(day, Release([[0, 1], [0, 1]])), tells_less(day, Release([[0, 1], [0]]))
    (True, False)

    For a crowd, ends are conditional on the others' places at some steps, and these follow from the sensors. So
    releases with other sensors are not compared.
    """
    if coarse.crowd != fine.crowd or (coarse.steps, coarse.size) != (fine.steps, fine.size):
        return False
    if coarse.crowd is not None:
        same = coarse.reveals and fine.reveals and coarse.sensors == fine.sensors
        return same and coarse.mechanism.tells_less_than(fine.mechanism)
    if coarse.reveals and fine.reveals:
        fewer = all(set(some) <= set(all_) for some, all_ in zip(coarse.sensors, fine.sensors, strict=True))
        return fewer and coarse.mechanism.tells_less_than(fine.mechanism)
    return _each_follows(coarse, fine)


def _each_follows(coarse: Release, fine: Release) -> bool:
    """Whether every count of one release follows from counts of the other, each of them used once.

    A noisy count may be used once: two counts made from the same draw would not be independent.
    """
    there: dict[Count, list[Count]] = {}
    for cell, count in zip(cells_of(fine), fine.listed, strict=True):
        there.setdefault(cell, []).append(count)
    raw = [cell for cell, counts in there.items() if any(mechanism_of(count).raw for count in counts)]
    known = [parts for cell in raw if (parts := spots(cell)) is not None]
    for cell, count in zip(cells_of(coarse), coarse.listed, strict=True):
        whole = spots(cell)
        inside = [part for part in known if whole is not None and part <= whole]
        if cell in raw or (inside and frozenset().union(*inside) == whole):
            continue
        left = there.get(cell, [])
        same = next((each for each in left if mechanism_of(count).tells_less_than(mechanism_of(each))), None)
        if same is None:
            return False
        left.remove(same)
    return True
