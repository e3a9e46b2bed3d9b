"""Draws of others known by their habits, and of an adversary's side information on them."""

from __future__ import annotations

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.model.release import Release
from passerby.others.bridges import passages
from passerby.others.sensors import SensorInformation, draw_at_sensors
from passerby.others.side_information import SideInformation, draw_side_information


def told_of_crowd(release: Release, size: int, rng: np.random.Generator) -> SensorInformation | SideInformation:
    """So many draws of the others in a release, with side information: their places at every second step."""
    crowd = release.crowd
    if crowd is not None and crowd.told is not None:
        return SensorInformation.of(release, crowd.told, size, rng)
    if crowd is not None and crowd.side is not None:
        drawn: SideInformation = crowd.side.draw(size, rng)
        return drawn
    if crowd is None or crowd.priors is None:
        raise UnsupportedRelease(f"{release.words}: how numbers of others at different counts go together is not known")
    if crowd.counts is None:
        return draw_at_sensors(crowd.priors, crowd.where or release.sensors, size, rng)
    return draw_side_information(passages(crowd.priors, crowd.counts), size, rng)
