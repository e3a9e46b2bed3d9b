"""A chain with some known steps: the habits of somebody seen there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import whole
from passerby.support.numbers import logs

from .chains import conditioned

if TYPE_CHECKING:
    from .prior import MarkovPrior


def given(prior: MarkovPrior, sightings: Mapping[int, int], steps: int) -> MarkovPrior:
    """The chain given `{step: place}`, a matrix per step; see `MarkovPrior.given`."""
    if not isinstance(sightings, Mapping):
        raise InputError(f"sightings: expected a place for each step that is known, {{step: place}}, got {sightings!r}")
    weight = np.zeros((steps, prior.states))
    for step, place in sightings.items():
        whole(step, "sightings: step", 0, steps - 1)
        whole(place, f"sightings[{step}]", 0, prior.places - 1)
        weight[step] = np.where(prior.place_of == place, 0.0, -np.inf)
    start, moves, mass = conditioned(logs(prior.initial), prior.log_moves(steps), weight)
    if mass == -np.inf:
        raise InputError(f"sightings: {dict(sightings)!r} cannot happen with these habits")
    # Nobody comes to states without a way to the sightings, so any row will do.
    empty, rows = np.nonzero(~moves.any(axis=2))
    moves[empty, rows, rows] = 1.0
    return prior.with_states(start, moves, prior.place_of.copy(), prior.mode_of.copy())
