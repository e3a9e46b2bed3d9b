"""The exact success of the MAP attack on raw counts, however many series there are.

A sighting tells the place, and the chain starts afresh there. The likeliest trace therefore falls into stretches, each
of which depends on nothing but the sightings at its ends, and wrong steps add up over stretches that are independent of
each other given the sightings. So the success over all series is a sum over where the sightings can be, by one
recursion: O(T² (M² + s M² T)) for one sensor a step, where listing takes 2^T series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from passerby.model.prior import MarkovPrior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def map_success(prior: MarkovPrior, sensors: Sequence[int], misses: int) -> float:
    """`Pr[at most misses steps of the likeliest trace given the sightings are wrong]`, with a sensor at each step.

    Of traces that are equally likely the one with the lowest places is taken, as far as rounding shows them equal.

    >>> from passerby import Release, measure
    >>> prior = MarkovPrior.stationary([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.3, 0.3, 0.4]])
    >>> exact = map_success(prior, [0, 1, 0, 2], 1)
    >>> abs(exact - measure(prior, Release([0, 1, 0, 2]), 1).attacks["map"].value) < 1e-12
    True
    """
    steps = len(sensors)
    # ahead[t, k]: the chance of k wrong steps in 0..t-1 and, for t > 0, of a sighting at t - 1.
    ahead = np.zeros((steps + 1, misses + 1))
    ahead[0, 0] = 1.0
    total = 0.0
    for begin in range(steps + 1):
        if begin == steps:  # a sighting at the last step
            total += ahead[begin].sum()
            break
        for end, wrong in _stretches(prior, sensors, begin, misses):
            law = np.convolve(ahead[begin], wrong)[: misses + 1]
            if end < steps:
                ahead[end + 1] += law
            else:
                total += law.sum()
    return min(1.0, float(total))


def _stretches(prior: MarkovPrior, sensors: Sequence[int], begin: int, misses: int) -> Iterator[tuple[int, Floats]]:
    """Stretches of steps `begin`, `begin + 1`, ... without a sighting, up to one at step `end` or to the end.

    With the chance, for each number of wrong steps up to `misses`, of that number and of such a stretch.
    """
    steps, moves = len(sensors), prior.transition
    start = prior.initial if begin == 0 else moves[sensors[begin - 1]]
    with np.errstate(divide="ignore"):
        log_moves, best = np.log(moves), np.log(start)
    back: list[Ints] = []
    for end in range(begin, steps + 1):
        if end == begin and end < steps:
            yield end, np.append(start[sensors[end]], np.zeros(misses))
        elif end > begin:
            last = best + log_moves[:, sensors[end]] if end < steps else best
            guess = [int(np.argmax(last))]
            for pointer in reversed(back):
                guess.append(int(pointer[guess[-1]]))
            yield end, _wrong(start, moves, sensors, begin, end, guess[::-1], misses)
        if end == steps:
            return
        if end > begin:
            paths = best[:, None] + log_moves
            back.append(np.argmax(paths, axis=0))
            best = paths.max(axis=0)
        best = best.copy()
        best[sensors[end]] = -np.inf


def _wrong(
    start: Floats, moves: Floats, sensors: Sequence[int], begin: int, end: int, guess: Sequence[int], misses: int
) -> Floats:
    """The chance of each number of wrong steps of a guess, without a sighting before `end` and with one there."""
    now = np.zeros((misses + 1, len(start)))
    now[0] = start
    for t in range(begin, end):
        now = now @ moves if t > begin else now
        now[:, sensors[t]] = 0.0
        right = now[:, guess[t - begin]].copy()
        now[1:] = now[:-1].copy()
        now[0] = 0.0
        now[:, guess[t - begin]] = right
    return np.asarray((now @ moves)[:, sensors[end]] if end < len(sensors) else now.sum(axis=1))
