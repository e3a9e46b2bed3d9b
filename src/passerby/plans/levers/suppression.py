"""Suppression: small counts are left empty."""

from __future__ import annotations

from functools import partial

from passerby.mechanisms import Suppression
from passerby.mechanisms.registry import described
from passerby.model.release import Release
from passerby.plans.lever import Dial, Family, Scene

from .rounding import followed, refuses

#: Counts below this are left empty.
BELOW = (3, 5, 8, 10, 15, 20, 30, 50, 80, 100, 150, 200, 300, 500, 1000)


def _family(release: Release, scene: Scene) -> Family:
    return Family(
        "suppression",
        tuple(map(float, BELOW)),
        lambda fine, below: followed(fine, Suppression(int(below))),
        lambda below: described(Suppression(int(below))),
        True,
    )


SUPPRESSION = Dial(
    "suppression",
    "small counts left empty",
    "mechanism",
    _family,
    partial(refuses, Suppression(10)),
)
