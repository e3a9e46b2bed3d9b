"""Habits as in the paper: how often a person went from x to each place, smoothed with the population's frequencies.

`P(x, ·) = (counts(x, ·) + α b) / (n_x + α)`, started at equilibrium. With a rhythm, each part of the cycle is smoothed
with the person's overall habits. It is the member of the family of habits without anything else, and kept as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.kernels.chain import recursions
from passerby.support.checks import is_number

from .origins import spread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Smoothing is chosen among these when it is "auto".
CANDIDATES = tuple(float(a) for a in np.geomspace(0.01, 100, 17))

#: People by whom it is chosen, at most.
MOST_LOOKED = 5_000


def plain(index: Ints, b: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """Start (R,) and one matrix (R, R) from the states of a person's steps."""
    moves = _moves(index[:-1], index[1:], b, b[None], smoothing)
    return equilibrium(moves, b), moves


def rhythmic(index: Ints, b: Floats, smoothing: float, phase: Ints, held: int) -> tuple[Floats, Floats]:
    """Start and one matrix per held-out step: each part of the cycle smoothed with the person's overall habits."""
    fitted = len(index)
    overall = _moves(index[:-1], index[1:], b, b[None], smoothing)
    of_step = phase[: fitted - 1]
    parts = {
        part: _moves(index[:-1][of_step == part], index[1:][of_step == part], b, overall, smoothing)
        for part in np.unique(phase)
    }
    cycle = np.eye(len(b))
    length = len(parts)
    # The start is the equilibrium of one whole cycle from the first held-out step on.
    first = fitted % length if held else 0
    for step in range(length):
        cycle = cycle @ parts[phase[(first + step) % length]]
    moves = np.array([parts[part] for part in phase[fitted:][:-1]]).reshape(-1, len(b), len(b))
    return equilibrium(cycle, b), moves


def _moves(source: Ints, target: Ints, b: Floats, background: Floats, smoothing: float) -> Floats:
    return np.asarray(recursions.smoothed_moves(source, target, background, smoothing, len(b)))


def equilibrium(moves: Floats, b: Floats) -> Floats:
    """Stationary distribution; smoothing joins all states with a background frequency into one class."""
    there = b > 0
    if there.all():
        return np.asarray(recursions.stationary(moves))
    out = np.zeros(len(b))
    out[there] = recursions.stationary(np.ascontiguousarray(moves[np.ix_(there, there)]))
    return out


def chosen_smoothing(smoothing: float | str, fitted: NDArray[np.int32], background: Floats) -> float:
    """The given number, or the best of `CANDIDATES` for "auto"."""
    if checked_smoothing(smoothing) is None:
        scores = [held_out_likelihood(fitted, background, a) for a in CANDIDATES]
        return CANDIDATES[int(np.argmax(scores))]
    return float(smoothing)


def checked_smoothing(smoothing: float | str) -> float | None:
    """The number given, or None for "auto"; anything else is refused."""
    if isinstance(smoothing, str) and smoothing == "auto":
        return None
    if not is_number(smoothing) or not 1e-9 <= smoothing <= 1e9:
        raise InputError(f"smoothing: expected a number from 1e-9 to 1e9, or 'auto', got {smoothing!r}")
    return float(smoothing)


def held_out_likelihood(fitted: NDArray[np.int32], background: Floats, smoothing: float) -> float:
    """Mean log probability of the last fifth of the fitted moves, under habits fitted to the moves before.

    Looks at no more than `MOST_LOOKED` people, evenly spread.
    """
    chosen = fitted[spread(len(fitted), MOST_LOOKED)]
    moves = chosen.shape[1] - 1
    cut = max(1, moves - max(1, moves // 5))
    if cut >= moves:
        return 0.0
    places = len(background)
    pairs = chosen[:, :-1].astype(np.int64) * places + chosen[:, 1:]
    total = 0.0
    for t in range(cut, moves):
        same = (pairs[:, :cut] == pairs[:, t : t + 1]).sum(axis=1)
        left = (chosen[:, :cut] == chosen[:, t : t + 1]).sum(axis=1)
        law = (same + smoothing * background[chosen[:, t + 1]]) / (left + smoothing)
        total += float(np.log(law).sum())
    return float(total / (len(chosen) * (moves - cut)))
