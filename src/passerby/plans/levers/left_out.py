"""Leaving out places, steps or single counts, except counts that must stay."""

from __future__ import annotations

from collections.abc import Callable

from passerby.model.release import Release
from passerby.plans.lever import Cell, Choice, Item, Scene, cells_of


def _items(release: Release, scene: Scene, key: Callable[[Cell], object], name: Callable[[Cell], str]) -> list[Item]:
    """The removable counts, grouped by a key."""
    groups: dict[object, list[Cell]] = {}
    for cell in cells_of(release):
        if cell not in scene.stay:
            groups.setdefault(key(cell), []).append(cell)
    return [Item(name(cells[0]), frozenset(cells)) for cells in groups.values()]


def _places(release: Release, scene: Scene) -> list[Item]:
    """Removable places, zones or flows: one stays if any count of it must stay at some step."""
    held = {cell.zones for cell in scene.stay}
    items = _items(release, scene, lambda cell: cell.zones, scene.name)
    return [item for item in items if not {cell.zones for cell in item.cells} & held]


def _steps(release: Release, scene: Scene) -> list[Item]:
    return _items(release, scene, lambda cell: cell.read, lambda cell: f"step {cell.read + 1}")


def _counts(release: Release, scene: Scene) -> list[Item]:
    return _items(release, scene, lambda cell: cell, lambda cell: f"{scene.name(cell)} at step {cell.read + 1}")


PLACES = Choice("places", "some places left out", _places, lambda kept, of: f"counts of {kept:,} of {of:,} places")
STEPS = Choice("steps", "some steps left out", _steps, lambda kept, of: f"counts at {kept:,} of {of:,} steps")
COUNTS = Choice("counts", "single counts left out", _counts, lambda kept, of: f"{kept:,} of {of:,} counts")
