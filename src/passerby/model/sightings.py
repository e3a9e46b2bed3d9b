"""A chain of which some steps are known: the habits of somebody who was seen there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import whole

if TYPE_CHECKING:
    from .prior import MarkovPrior


def given(prior: MarkovPrior, sightings: Mapping[int, int], steps: int) -> MarkovPrior:
    """The chain given `{step: place}`, by a backward pass; see `MarkovPrior.given`.

    A matrix per step: `P_t(x, y) w_{t+1}(y) b_{t+1}(y) / b_t(x)`, with w = 1 for states of the place that was seen.
    """
    if not isinstance(sightings, Mapping):
        raise InputError(f"sightings: expected a place for each step that is known, {{step: place}}, got {sightings!r}")
    weight = np.ones((steps, prior.states))
    for step, place in sightings.items():
        whole(step, "sightings: step", 0, steps - 1)
        whole(place, f"sightings[{step}]", 0, prior.places - 1)
        weight[step] = prior.place_of == place
    moves = np.zeros((max(steps - 1, 0), prior.states, prior.states))
    ahead = weight[steps - 1]
    for t in range(steps - 2, -1, -1):
        joint = prior.matrices[0 if prior.homogeneous else t] * ahead
        total = joint.sum(axis=1)
        possible = total > 0
        moves[t, possible] = joint[possible] / total[possible, None]
        # From where nothing leads to the sightings nobody comes, so any row will do.
        moves[t, ~possible, np.flatnonzero(~possible)] = 1.0
        # Only ratios matter; without this, long chains would underflow.
        ahead = weight[t] * total / (total.max() or 1.0)
    start = prior.initial * ahead
    if start.sum() == 0:
        raise InputError(f"sightings: {dict(sightings)!r} cannot happen with these habits")
    return type(prior).known(
        start / start.sum(),
        moves,
        place_of=prior.place_of.copy(),
        mode_of=prior.mode_of.copy(),
        guessable=prior.guessable.copy(),
        universe=prior.universe,
        merged_entropy=prior.merged_entropy.copy(),
        elsewhere=prior.elsewhere,
    )
