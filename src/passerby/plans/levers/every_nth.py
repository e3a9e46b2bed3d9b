"""Fewer steps: only every second, third, ... one is published."""

from __future__ import annotations

from passerby.model.release import Release
from passerby.plans.lever import Dial, Family, Scene, cells_of, without

EVERY_NTH = (2, 3, 4, 6, 8, 12, 24)


def _family(release: Release, scene: Scene) -> Family:
    def build(fine: Release, nth: float) -> Release:
        return without(fine, frozenset(cell for cell in cells_of(fine) if cell.read % int(nth)) - scene.stay)

    kept = tuple(float(nth) for nth in EVERY_NTH if nth <= release.steps)
    return Family("every", kept, build, lambda nth: f"counts at every {nth:g}{_ending(int(nth))} step", False)


def _ending(number: int) -> str:
    return {2: "nd", 3: "rd"}.get(number, "th")


def _refuses(release: Release, scene: Scene) -> str | None:
    return None if release.steps > 1 else "there is one step only"


EVERY = Dial("every", "only every second, third, ... step", "sensors", _family, _refuses)
