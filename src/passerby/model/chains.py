"""What chains follow from: arrays of probabilities, the law that stays the same, and evidence about states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError

Floats = NDArray[np.float64]

#: Rows whose sum is further from one than this are refused; closer ones are divided by their sum.
ROW_SUM_TOLERANCE = 1e-6


def normalised(values: Floats, name: str) -> Floats:
    """Probabilities whose rows sum to one, or an `InputError` that says where they are none."""
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
    """The one distribution that `transition` leaves unchanged, shape (M,)."""
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

    By a backward pass, `P_t(x, y) w_{t+1}(y) b_{t+1}(y) / b_t(x)`. Rows of states from which nothing possible follows
    are empty. Minus infinity for evidence that cannot be; the chain then means nothing.
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
