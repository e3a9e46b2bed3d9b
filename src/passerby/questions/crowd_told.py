"""Draws of others who are known by their habits, and of what somebody is told of them."""

from __future__ import annotations

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.model.disclosure import Disclosure, draw_told
from passerby.model.passage import passages
from passerby.model.release import Release
from passerby.model.witness import Witness, draw_witness


def told_of_crowd(release: Release, size: int, rng: np.random.Generator) -> Disclosure | Witness:
    """So many draws of the others in a release, with what is told of them: where they were at every second step."""
    crowd = release.crowd
    if crowd is not None and crowd.told is not None:
        return Disclosure.of(release, crowd.told, size, rng)
    if crowd is not None and crowd.witness is not None:
        return crowd.witness.draw(size, rng)
    if crowd is None or crowd.priors is None:
        raise UnsupportedRelease(f"{release.words}: how numbers of others at different counts go together is not known")
    if crowd.counts is None:
        return draw_told(crowd.priors, crowd.where or release.sensors, size, rng)
    return draw_witness(passages(crowd.priors, crowd.counts), size, rng)
