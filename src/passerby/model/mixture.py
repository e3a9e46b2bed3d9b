"""One chain from several: somebody keeps to one of them, and which one is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError

from .probabilities import normalised, numbers

Floats = NDArray[np.float64]


def joined(cls: Any, weights: ArrayLike, priors: Sequence[Any]) -> Any:
    """The chain over (mode, place), a block of states for each of the `priors`; see `MarkovPrior.mixture`."""
    shares = normalised(numbers(weights, "weights"), "weights")
    if shares.shape != (len(priors),) or not len(priors):
        raise InputError(f"weights: expected one for each of the {len(priors)} priors, got a shape {shares.shape}")
    first = priors[0]
    for prior in priors:
        if not isinstance(prior, cls):
            raise InputError(f"priors: expected MarkovPriors, got {prior!r}")
        if not np.array_equal(prior.guessable, first.guessable):
            raise InputError("priors: the chains of a mixture are over the same places, of which the same are named")
        if prior.modes > 1:
            raise InputError("priors: one of them is a mixture itself; give its chains and weights one by one")
    kept = [
        (share, prior, np.flatnonzero(reached(prior))) for share, prior in zip(shares, priors, strict=True) if share
    ]
    seen = np.concatenate([prior.place_of[states] for _, prior, states in kept])
    if len(np.unique(seen)) < first.places:
        # Somewhere must a place be that is never reached: it keeps a state.
        kept = [(share, prior, np.arange(prior.states)) for share, prior, _ in kept]
    return cls.known(
        np.concatenate([share * prior.initial[states] for share, prior, states in kept]),
        block_diagonal([(prior.transition, states) for _, prior, states in kept]),
        place_of=np.concatenate([prior.place_of[states] for _, prior, states in kept]),
        mode_of=np.repeat(np.arange(len(kept)), [len(states) for _, _, states in kept]),
        guessable=first.guessable.copy(),
        universe=first.universe,
        merged_entropy=first.merged_entropy.copy(),
        elsewhere=first.elsewhere,
    )


def reached(prior: Any) -> NDArray[np.bool_]:
    """Which states (M,) can be reached at all."""
    seen = prior.initial > 0
    moves = (prior.matrices > 0).any(axis=0)
    while True:
        grown = seen | moves[seen].any(axis=0)
        if (grown == seen).all():
            return np.asarray(seen)
        seen = grown


def block_diagonal(parts: Sequence[tuple[Floats, NDArray[np.int64]]]) -> Floats:
    """Matrices, restricted to some states each, as blocks of one; (M, M), or a matrix per step where one has those."""
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
