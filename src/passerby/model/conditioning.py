"""A chain given evidence about its states, in logarithms: a Markov chain again, and nothing underflows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
