"""Coarser time: different people over several steps in the place of people at each step."""

from __future__ import annotations

from dataclasses import replace

from passerby.model.counts import Count, Visitors
from passerby.model.release import Release
from passerby.plans.lever import Dial, Family, Scene, cells_of, not_counted_anew, of_counts, tells_less

STEPS = (2, 3, 4, 6, 8, 12, 24)
#: Up to so many counts, a person takes hardly longer than with raw ones; for a day of hours, up to a second.
QUICK = 16


def _family(release: Release, scene: Scene) -> Family:
    """A position is the number of merged steps; counts over several steps or between two stays are left as they are."""

    def build(fine: Release, position: float) -> Release:
        return _built(fine, int(position), scene)

    return Family("visitors", tuple(map(float, _positions(release, scene))), build, _words, False)


def _positions(release: Release, scene: Scene) -> list[int]:
    """The positions no more informative than wanted: a window's noisy count does not follow from its steps."""
    return [n for n in STEPS if n <= release.steps and tells_less(_built(release, n, scene), release)]


def _built(release: Release, size: int, scene: Scene) -> Release:
    kept = {count for count, cell in zip(release.listed, cells_of(release), strict=True) if cell in scene.stay}
    windows = _windows(release, scene, size)
    return of_counts(release, lambda count: count if count in kept else _longer(count, size, windows))


def _windows(release: Release, scene: Scene, size: int) -> dict[tuple[tuple[int, ...], int], tuple[int, ...]]:
    """The steps of each zone and window: steps with a count of the zone, free to change."""
    steps: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for cell in cells_of(release):
        if cell.snapshot and cell not in scene.stay:
            steps.setdefault((cell.zones[0], cell.read // size), []).append(cell.read)
    return {window: tuple(sorted(found)) for window, found in steps.items()}


def _longer(count: Count, size: int, windows: dict[tuple[tuple[int, ...], int], tuple[int, ...]]) -> Count:
    """Different people at any of the steps of the window at which the zone was to be counted."""
    if not count.snapshot:
        return count
    steps = windows[count.zones[0], count.read // size]
    if len(steps) == 1:
        return replace(count, others=None)
    return Visitors(count.zones[0], steps, mechanism=count.mechanism)


def _words(steps: float) -> str:
    return f"counts of different people over {steps:g} steps"


def _refuses(release: Release, scene: Scene) -> str | None:
    if (reason := not_counted_anew(release)) is not None:
        return reason
    if not any(cell.snapshot for cell in cells_of(release)):
        return "nothing is counted at single steps"
    return None if _positions(release, scene) else "there is one step only, or what is published is not raw"


def _quick(release: Release) -> bool:
    """Whether a chain remembers all windows without becoming large."""
    return len(cells_of(release)) <= QUICK


VISITORS = Dial("visitors", "different people over several steps", "sensors", _family, _refuses, usual=_quick)
