"""Coarser zones: counts of all places of a larger zone together, by the given levels."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from passerby.model.counts import changed
from passerby.model.release import Release
from passerby.plans.lever import Dial, Family, Scene, Zone, cells_of, not_counted_anew, of_counts, tells_less


def _family(release: Release, scene: Scene) -> Family:
    """A position is the number of a level, from 1, the one with most zones first.

    A zone becomes the union of all wanted zones in the same larger one: unwanted places stay out of it. Raw counts of a
    union are sums of its parts' counts, if every level refines the next.
    """
    levels = _coarser(release, scene)

    def build(fine: Release, position: float) -> Release:
        return _built(fine, levels[int(position) - 1], scene)

    nested = all(
        any(set(part) <= set(zone) for zone in next_.values())
        for level, next_ in pairwise(levels)
        for part in level.values()
    )
    positions = tuple(float(n) for n in range(1, len(levels) + 1))
    words = [_words(release, level) for level in levels]
    return Family("zones", positions, build, lambda n: words[int(n) - 1], nested and not scene.stay, "listed")


def _built(release: Release, level: Mapping[str, Zone], scene: Scene) -> Release:
    into = _unions({zone for cell in cells_of(release) for zone in cell.zones}, level)
    kept = {count for count, cell in zip(release.listed, cells_of(release), strict=True) if cell in scene.stay}
    return of_counts(release, lambda count: count if count in kept else changed(count.relabelled(into), others=None))


def _coarser(release: Release, scene: Scene) -> list[Mapping[str, Zone]]:
    """The levels merging anything counted apart, and no more informative than it, from fine to coarse.

    One noisy count of a larger zone is not made from noisy counts of its parts, and may tell more than they do.
    """
    zones = {zone for cell in cells_of(release) for zone in cell.zones}
    changing = [
        level
        for level in scene.levels
        if len({*_unions(zones, level).values()}) < len(zones) and tells_less(_built(release, level, scene), release)
    ]
    return sorted(changing, key=lambda level: -len({*_unions(zones, level).values()}))


def _unions(zones: set[Zone], level: Mapping[str, Zone]) -> dict[Zone, Zone]:
    """The successor of each zone: all wanted ones within the same larger one; a zone outside all stays as it is."""
    within = {zone: next((name for name, larger in level.items() if set(zone) <= set(larger)), None) for zone in zones}
    unions: dict[str, set[int]] = {}
    for zone, name in within.items():
        if name is not None:
            unions.setdefault(name, set()).update(zone)
    return {zone: zone if name is None else tuple(sorted(unions[name])) for zone, name in within.items()}


def _words(release: Release, level: Mapping[str, Zone]) -> str:
    zones = {zone for cell in cells_of(release) for zone in cell.zones}
    larger = len({*_unions(zones, level).values()})
    return f"counts of {larger:,} larger zone{'s' * (larger != 1)} in the place of {len(zones):,}"


def _refuses(release: Release, scene: Scene) -> str | None:
    if not scene.levels:
        return "no larger zones are given"
    if (reason := not_counted_anew(release)) is not None:
        return reason
    if _coarser(release, scene):
        return None
    return "no zones are given that put together what is counted apart, and tell no more than it for certain"


ZONES = Dial("zones", "larger zones, by the levels that are given", "sensors", _family, _refuses)
