"""One chain from several: somebody keeps to one of them, and the choice is not known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.support.checks import numbers, shown

from .chains import normalised

if TYPE_CHECKING:
    from .prior import MarkovPrior

Floats = NDArray[np.float64]


def joined(cls: type[MarkovPrior], weights: ArrayLike, priors: Sequence[MarkovPrior]) -> MarkovPrior:
    """The chain over (mode, place), a block of states for each of the `priors`; see `MarkovPrior.mixture`."""
    if not isinstance(priors, list | tuple):
        raise InputError(f"priors: expected a list of MarkovPriors, got {shown(priors)}")
    shares = numbers(weights, "weights")
    shares = normalised(shares, "weights") if shares.ndim else shares
    if shares.shape != (len(priors),) or not len(priors):
        raise InputError(f"weights: expected one for each of the {len(priors)} priors, got a shape {shares.shape}")
    first: MarkovPrior = priors[0]
    for prior in priors:
        if not isinstance(prior, cls):
            raise InputError(f"priors: expected MarkovPriors, got {prior!r}")
        if not np.array_equal(prior.guessable, first.guessable):
            raise InputError("priors: the chains of a mixture are over the same places, of which the same are named")
        if prior.elsewhere != first.elsewhere:
            raise InputError("priors: the chains of a mixture have the same place for elsewhere, or none")
        if prior.modes > 1:
            raise InputError("priors: one of them is a mixture itself; give its chains and weights one by one")
    kept = [
        (share, prior, np.flatnonzero(reached(prior))) for share, prior in zip(shares, priors, strict=True) if share
    ]
    seen = np.concatenate([prior.place_of[states] for _, prior, states in kept])
    if len(np.unique(seen)) < first.places:
        # A place never reached must be somewhere: it keeps a state.
        kept = [(share, prior, np.arange(prior.states)) for share, prior, _ in kept]
    return first.with_states(
        np.concatenate([share * prior.initial[states] for share, prior, states in kept]),
        block_diagonal([(prior.transition, states) for _, prior, states in kept]),
        np.concatenate([prior.place_of[states] for _, prior, states in kept]),
        np.repeat(np.arange(len(kept)), [len(states) for _, _, states in kept]),
    )


def reached(prior: MarkovPrior) -> NDArray[np.bool_]:
    """Marks of the reachable states (M,)."""
    seen = np.asarray(prior.initial > 0)
    moves = np.asarray((prior.matrices > 0).any(axis=0))
    while True:
        grown = seen | moves[seen].any(axis=0)
        if (grown == seen).all():
            return np.asarray(seen)
        seen = grown


def block_diagonal(parts: Sequence[tuple[Floats, NDArray[np.int64]]]) -> Floats:
    """Matrices, restricted to some states each, as blocks of one; (M, M), or a matrix per step if one has these."""
    steps = {len(moves) for moves, _ in parts if moves.ndim == 3}
    if len(steps) > 1:
        raise InputError(f"priors: chains for different numbers of steps: {sorted(n + 1 for n in steps)}")
    size = sum(len(states) for _, states in parts)
    out = np.zeros((*steps, size, size))
    at = 0
    for moves, states in parts:
        stop = at + len(states)
        out[..., at:stop, at:stop] = moves[..., states[:, None], states]
        at = stop
    return out


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
    from .prior import state_laws

    together = state_laws(prior, steps)[:-1, :, None] * prior.matrices
    moves = prior.by_place(prior.by_place(together).transpose(0, 2, 1)).transpose(0, 2, 1)
    total = moves.sum(axis=2, keepdims=True)
    moves = np.divide(moves, total, out=np.zeros_like(moves), where=total > 0) + (total == 0) * np.eye(prior.places)
    return prior.with_states(prior.by_place(prior.initial), moves)
