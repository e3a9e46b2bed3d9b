"""The MAP attack: its guess, and its exact success on raw counts, however many series there are.

A sighting tells the place, and the chain starts afresh there. The likeliest trace therefore falls into stretches, each
of which depends on nothing but the sightings at its ends, and wrong steps add up over stretches that are independent of
each other given the sightings. So the success over all series is a sum over where the sightings can be, by one
recursion: O(T² (M² + s M² T)) for one sensor a step, where listing takes 2^T series.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

import passerby as pb

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Logarithms that are closer than this are equal: chains of few counts have traces that are equally likely.
TIE = 1e-9


def likeliest(prior: pb.MarkovPrior, weights: Floats) -> tuple[Ints, float]:
    """The likeliest trace (T,) and the log of its probability, with log-likelihoods `weights` (T, M) of each place.

    Viterbi's recursion (the paper's Proposition 1). Ties go to the lowest place, whatever rounding says; states that
    stand for many places are never named.

    >>> prior = pb.MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])
    >>> likeliest(prior, np.zeros((3, 2)))[0]
    array([0, 0, 0])
    """
    with np.errstate(divide="ignore"):
        log_moves, best = np.log(prior.transition), np.log(prior.initial) + weights[0]
    named = np.where(prior.guessable, 0.0, -np.inf)
    best = best + named
    back = []
    for step in weights[1:]:
        paths = best[:, None] + log_moves
        most = paths.max(axis=0)
        back.append(np.argmax(paths >= most - TIE, axis=0))
        best = most + named + step
    return _traced(int(np.argmax(best >= best.max() - TIE)), back), float(best.max())


def _traced(last: int, back: Sequence[Ints]) -> Ints:
    """The trace that ends in a place, by the best place before each."""
    trace = [last]
    for pointer in reversed(back):
        trace.append(int(pointer[trace[-1]]))
    return np.array(trace[::-1])


def map_success(prior: pb.MarkovPrior, sensors: Sequence[int], misses: int) -> float:
    """`Pr[at most misses steps of the likeliest trace given the sightings are wrong]`, with a sensor at each step.

    Of traces that are equally likely the one with the lowest places is taken, as far as rounding shows them equal.

    >>> prior = pb.MarkovPrior.stationary([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.3, 0.3, 0.4]])
    >>> exact = map_success(prior, [0, 1, 0, 2], 1)
    >>> abs(exact - pb.measure(prior, pb.Release([0, 1, 0, 2]), 1).attacks["map"].value) < 1e-12
    True
    """
    steps = len(sensors)
    # ahead[t, k]: the chance of k wrong steps in 0..t-1 and, for t > 0, of a sighting at t - 1.
    ahead = np.zeros((steps + 1, misses + 1))
    ahead[0, 0] = 1.0
    total = 0.0
    for begin in range(steps):
        for end, wrong in _stretches(prior, sensors, begin, misses):
            law = np.convolve(ahead[begin], wrong)[: misses + 1]
            if end < steps:
                ahead[end + 1] += law
            else:
                total += law.sum()
    return min(1.0, float(total + ahead[steps].sum()))


def _stretches(prior: pb.MarkovPrior, sensors: Sequence[int], begin: int, misses: int) -> Iterator[tuple[int, Floats]]:
    """Stretches of steps `begin`, `begin + 1`, ... without a sighting, up to one at step `end` or to the end.

    With the chance, for each number of wrong steps up to `misses`, of that number and of such a stretch.
    """
    steps, moves = len(sensors), prior.transition
    start = prior.initial if begin == 0 else moves[sensors[begin - 1]]
    with np.errstate(divide="ignore"):
        log_moves, best = np.log(moves), np.log(start)
    yield begin, np.append(start[sensors[begin]], np.zeros(misses))
    back: list[Ints] = []
    for end in range(begin + 1, steps + 1):
        best[sensors[end - 1]] = -np.inf
        last = best + log_moves[:, sensors[end]] if end < steps else best
        yield end, _wrong(start, moves, sensors, begin, end, _traced(int(np.argmax(last)), back), misses)
        paths = best[:, None] + log_moves
        back.append(np.argmax(paths, axis=0))
        best = paths.max(axis=0)


def _wrong(
    start: Floats, moves: Floats, sensors: Sequence[int], begin: int, end: int, guess: Ints, misses: int
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
