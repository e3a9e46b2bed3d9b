"""One chain from several: somebody keeps to one of them, and the choice is not known."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .prior import MarkovPrior, state_laws

Floats = NDArray[np.float64]


@lru_cache(maxsize=4)
def parts(prior: MarkovPrior) -> tuple[tuple[float, MarkovPrior], ...]:
    """The weight and the chain of each possible mode, over the same places; a state is a place if possible.

    Remembered: both ends of a mixture are from its parts.

    >>> from passerby import MarkovPrior
    >>> home, away = MarkovPrior([1, 0], np.eye(2)), MarkovPrior([0, 1], np.eye(2))
    >>> [(weight, part.initial.tolist()) for weight, part in parts(MarkovPrior.mixture([0.75, 0.25], [home, away]))]
    [(0.75, [1.0, 0.0]), (0.25, [0.0, 1.0])]
    """
    return tuple(_part(prior, mode) for mode in possible_modes(prior))


def possible_modes(prior: MarkovPrior) -> list[int]:
    """The modes of positive probability: knowledge of a person may rule out some."""
    weights = np.bincount(prior.mode_of, prior.initial, prior.modes)
    return np.flatnonzero(weights > 0).tolist()


def part_states(prior: MarkovPrior, mode: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The state of a mixture for each state of one mode's chain, and its place.

    Places never visited by the mode have a state without anybody, outside the mixture: -1.
    """
    states = np.flatnonzero(prior.mode_of == mode)
    missing = np.flatnonzero(np.bincount(prior.place_of[states], minlength=prior.places) == 0)
    place_of = np.concatenate([prior.place_of[states], missing])
    order = np.argsort(place_of, kind="stable")
    return np.concatenate([states, np.full(len(missing), -1)])[order], place_of[order]


def _part(prior: MarkovPrior, mode: int) -> tuple[float, MarkovPrior]:
    """The chain of one mode."""
    source, place_of = part_states(prior, mode)
    there = np.flatnonzero(source >= 0)
    states, size = source[there], len(source)
    weight = float(prior.initial[states].sum())
    start, moves = np.zeros(size), np.zeros((*prior.transition.shape[:-2], size, size))
    moves[..., np.arange(size), np.arange(size)] = 1.0
    start[there] = prior.initial[states] / weight
    moves[..., there[:, None], there] = prior.transition[..., states[:, None], states]
    return weight, prior.with_states(start, moves, place_of)


def average(prior: MarkovPrior, steps: int) -> MarkovPrior:
    """The chain over places with the mixture's average moves from each: a guide for guesses, no more.

    `P_t(x, y) = Pr[X_{t+1} = y | X_t = x]`, a matrix per step.
    """
    together = state_laws(prior, steps)[:-1, :, None] * prior.matrices
    moves = prior.by_place(prior.by_place(together).transpose(0, 2, 1)).transpose(0, 2, 1)
    total = moves.sum(axis=2, keepdims=True)
    moves = np.divide(moves, total, out=np.zeros_like(moves), where=total > 0) + (total == 0) * np.eye(prior.places)
    return prior.with_states(prior.by_place(prior.initial), moves)
