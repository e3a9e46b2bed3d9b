"""The counts of a release in a plan: the subject of each, apart from its mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

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
