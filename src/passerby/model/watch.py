"""Which states a release tells apart at each step: evidence is by class of states, not by state."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .prior import MarkovPrior
from .release import Release

Ints = NDArray[np.int64]


def classes(prior: MarkovPrior, release: Release) -> Ints:
    """The class of each state at each step (T, M): 0 at no sensor, 1 + j at sensor j of the step.

    Evidence, `Release.evidence`, has a column for each class.

    >>> from passerby import MarkovPrior, Release
    >>> prior = MarkovPrior([0.5, 0.5, 0], [[1, 0, 0], [0, 0, 1], [0, 1, 0]], place_of=[0, 0, 1])
    >>> classes(prior, Release([0, [], [1, 0]]))
    array([[1, 1, 0],
           [0, 0, 0],
           [2, 2, 1]])
    """
    out = np.zeros((release.steps, prior.places), dtype=np.int64)
    step, sensor, place = release.cells
    out[step, place] = 1 + sensor
    return out if prior.single else np.ascontiguousarray(out[:, prior.place_of])


def nothing(prior: MarkovPrior, steps: int) -> Ints:
    """The classes where nothing is published: all states are in one."""
    return np.zeros((steps, prior.states), dtype=np.int64)


@lru_cache(maxsize=64)
def sees(steps: int, sensors: int) -> Ints:
    """Whether each sensor counts those of each class (T, S + 1, S): 1 or 0."""
    out = np.zeros((steps, sensors + 1, sensors), dtype=np.int64)
    out[:, 1:] = np.eye(sensors, dtype=np.int64)
    out.flags.writeable = False
    return out
