"""The bases of chains: arrays of probabilities, the stationary law, and evidence about states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.support.checks import numbers, shown, whole
from passerby.support.numbers import logs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Rows whose sum is further from one than this are refused; closer ones are divided by their sum.
ROW_SUM_TOLERANCE = 1e-6


def normalised(values: Floats, name: str) -> Floats:
    """Probabilities with rows of sum one, or an `InputError` naming the wrong ones."""
    for fault, mask in (
        ("is not a number", np.isnan(values)),
        ("is negative", values < 0),
        ("is infinite", values == np.inf),
    ):
        if mask.any():
            where = tuple(int(i) for i in np.argwhere(mask)[0])
            raise InputError(
                f"{name}[{', '.join(map(str, where))}] = {float(values[where])!r} {fault}; probabilities are needed"
            )
    total = values.sum(axis=-1, keepdims=True)
    off = np.abs(total[..., 0] - 1) > ROW_SUM_TOLERANCE
    if off.any():
        where = tuple(int(i) for i in np.argwhere(off)[0]) if off.ndim else ()
        row = f"[{', '.join(map(str, where))}]" if where else ""
        raise InputError(
            f"{name}{row} sums to {total[..., 0][where]:.9g}, not 1"
            + (f" ({off.sum()} such rows in all)" if off.sum() > 1 else "")
            + "; divide each row by its sum, or check for a missing place"
        )
    return np.asarray(values / total)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array, contiguous and read-only."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def stationary_distribution(transition: Floats) -> Floats:
    """The one distribution left unchanged by `transition`, shape (M,)."""
    from scipy.sparse.csgraph import connected_components

    from passerby.kernels.chain import recursions

    count, label = connected_components(transition > 0, directed=True, connection="strong")
    leaks = np.zeros(count, dtype=bool)
    source, target = np.nonzero(transition > 0)
    leaks[label[source[label[source] != label[target]]]] = True
    closed = sorted((np.flatnonzero(label == c) for c in np.flatnonzero(~leaks)), key=lambda group: int(group[0]))
    if len(closed) > 1:
        raise InputError(
            f"transition: the stationary distribution is not unique, because {len(closed)} groups of places are never "
            f"left once entered: {', '.join(_listed(group) for group in closed[:4])}"
            f"{' and more' if len(closed) > 4 else ''}; give the initial distribution yourself"
        )
    out = np.zeros(transition.shape[0])
    out[closed[0]] = recursions.stationary(np.ascontiguousarray(transition[np.ix_(closed[0], closed[0])]))
    return out


def _listed(places: Sequence[int] | NDArray[np.int64]) -> str:
    shown = ", ".join(str(int(p)) for p in places[:6])
    return "{" + shown + (", ..." if len(places) > 6 else "") + "}"


def conditioned(log_start: Floats, log_moves: Sequence[Floats], log_weights: Floats) -> tuple[Floats, Floats, float]:
    """Start (M,), matrices (T-1, M, M) and log probability of a chain with weights of states (T, M) at each step.

    By a backward pass, `P_t(x, y) w_{t+1}(y) b_{t+1}(y) / b_t(x)`. Rows of states without a possible continuation are
    empty. Minus infinity for impossible evidence; the chain then means nothing.
    """
    steps, states = log_weights.shape
    moves = np.zeros((steps - 1, states, states))
    value, scale = log_weights[-1], 0.0
    for t in range(steps - 2, -1, -1):
        joint = log_moves[t] + value
        total = np.logaddexp.reduce(joint, axis=1)
        moves[t] = np.exp(joint - np.where(total > -np.inf, total, 0.0)[:, None])
        value = log_weights[t] + total
        # Logarithms near zero keep their digits over thousands of steps.
        shift = float(value.max())
        if shift == -np.inf:
            break
        value, scale = value - shift, scale + shift
    start = log_start + value
    mass = float(np.logaddexp.reduce(start))
    return np.exp(start - mass) if mass > -np.inf else np.zeros(states), moves, mass + scale


def conditioned_all(log_start: Floats, log_moves: Sequence[Floats], log_weights: Floats) -> tuple[Floats, Floats]:
    """Start (n, M) and matrices (n, T-1, M, M) of `conditioned` for each of several weights (n, T, M), side by side."""
    many, steps, states = log_weights.shape
    moves = np.zeros((many, steps - 1, states, states))
    value, alive = log_weights[:, -1].copy(), np.ones(many, dtype=bool)
    for t in range(steps - 2, -1, -1):
        joint = log_moves[t] + value[alive, None]
        total = np.logaddexp.reduce(joint, axis=2)
        moves[alive, t] = np.exp(joint - np.where(total > -np.inf, total, 0.0)[:, :, None])
        value[alive] = log_weights[alive, t] + total
        shift = value.max(axis=1)
        alive &= shift > -np.inf
        value[alive] -= shift[alive, None]
    start = log_start + value
    mass = np.logaddexp.reduce(start, axis=1)
    possible = mass > -np.inf
    return np.where(possible[:, None], np.exp(start - np.where(possible, mass, 0.0)[:, None]), 0.0), moves


def given(
    start: Floats, log_moves: Sequence[Floats], place_of: Ints, places: int, sightings: Mapping[int, int]
) -> tuple[Floats, Floats]:
    """A chain with a matrix per step, given the place at some steps: see `MarkovPrior.given`."""
    if not isinstance(sightings, Mapping):
        raise InputError(f"sightings: expected a place for each step that is known, {{step: place}}, got {sightings!r}")
    steps = len(log_moves) + 1
    weight = np.zeros((steps, len(start)))
    for step, place in sightings.items():
        whole(step, "sightings: step", 0, steps - 1)
        whole(place, f"sightings[{step}]", 0, places - 1)
        weight[step] = np.where(place_of == place, 0.0, -np.inf)
    start, moves, mass = conditioned(logs(start), log_moves, weight)
    if mass == -np.inf:
        raise InputError(f"sightings: {dict(sightings)!r} cannot happen with these habits")
    # From where nothing leads to the sightings nobody comes, so any row will do.
    empty, rows = np.nonzero(~moves.any(axis=2))
    moves[empty, rows, rows] = 1.0
    return start, moves


class Nameable(Protocol):
    """Places, of which some may be named; see `MarkovPrior`."""

    @property
    def places(self) -> int:
        """The number of places."""

    @property
    def guessable(self) -> NDArray[np.bool_]:
        """Which places may be named (P,)."""

    @property
    def elsewhere(self) -> int | None:
        """The place that stands for everywhere else, if there is one."""


class Chained(Nameable, Protocol):
    """A chain over states that have places."""

    @property
    def initial(self) -> Floats:
        """Where it starts (M,)."""

    @property
    def transition(self) -> Floats:
        """How it moves (M, M), or (T-1, M, M)."""

    @property
    def matrices(self) -> Floats:
        """The same with one matrix or more (1 or T-1, M, M)."""

    @property
    def place_of(self) -> Ints:
        """The place of each state (M,)."""

    @property
    def states(self) -> int:
        """The number of states."""

    @property
    def modes(self) -> int:
        """The number of modes."""


def joined(kind: type[Chained], weights: ArrayLike, priors: Sequence[Chained]) -> tuple[Floats, Floats, Ints, Ints]:
    """The chain over (mode, place), a block of states for each of the `priors`: start, moves, places and modes.

    All of these must be of a `kind`; see `MarkovPrior.mixture`.
    """
    if not isinstance(priors, list | tuple):
        raise InputError(f"priors: expected a list of MarkovPriors, got {shown(priors)}")
    shares = numbers(weights, "weights")
    shares = normalised(shares, "weights") if shares.ndim else shares
    if shares.shape != (len(priors),) or not len(priors):
        raise InputError(f"weights: expected one for each of the {len(priors)} priors, got a shape {shares.shape}")
    first = priors[0]
    for prior in priors:
        if not isinstance(prior, kind):
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
        # Somewhere must a place be that is never reached: it keeps a state.
        kept = [(share, prior, np.arange(prior.states)) for share, prior, _ in kept]
    return (
        np.concatenate([share * prior.initial[states] for share, prior, states in kept]),
        block_diagonal([(prior.transition, states) for _, prior, states in kept]),
        np.concatenate([prior.place_of[states] for _, prior, states in kept]),
        np.repeat(np.arange(len(kept)), [len(states) for _, _, states in kept]),
    )


def reached(prior: Chained) -> NDArray[np.bool_]:
    """Which states (M,) can be reached at all."""
    seen = np.asarray(prior.initial > 0)
    moves = np.asarray((prior.matrices > 0).any(axis=0))
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
