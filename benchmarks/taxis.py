"""People who are everywhere: dense habits over a hundred places that change by the hour, a dozen sensors, a day.

For each kind of such people, with 2 and 6 misses, raw counts and Gaussian noise: both ends and whether they are
certain, the attack `marginal` as sampled, with its error, and the processor seconds of one measurement.
"""

import time
from itertools import product

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from benchmarks.chains import scattered
from benchmarks.record import Section, pace, rounded

Floats = NDArray[np.float64]

#: Places on a square grid, hours, and sensors in each.
SIDE, HOURS, SENSORS = 10, 24, 12
MISSES = (2, 6)
#: Elementary operations: a fifth of what `measure` does unless told, and as much.
BUDGETS = (4e9, 2e10)
KINDS = ("anywhere", "near", "favourites", "rests", "homely")


def taxi(kind: str, seed: int = 0) -> pb.MarkovPrior:
    """Somebody of a kind.

    "anywhere" goes from each place to all others by a flat Dirichlet law, "near" to what is near, "favourites" to a
    few places most of the time, "rests" is near but at home at night, and "homely" is at home by night, at one of few
    places by day, and between these anywhere near. Where they are drawn to changes from hour to hour.
    """
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    M = SIDE * SIDE
    where = np.stack(np.divmod(np.arange(M), SIDE), axis=1)
    apart = np.linalg.norm(where[:, None] - where[None], axis=2)
    popular, later = rng.dirichlet(np.full(M, 0.5), 2)
    fond, other = rng.choice(M, (2, 5), replace=False)
    home = int(rng.integers(M))
    moves = np.empty((HOURS - 1, M, M))
    for t in range(HOURS - 1):
        share = 0.5 - 0.5 * np.cos(2 * np.pi * t / HOURS)
        drawn = (1 - share) * popular + share * later + 1e-4
        near = drawn * np.exp(-apart / 1.5)
        near /= near.sum(axis=1, keepdims=True)
        anywhere = rng.dirichlet(np.ones(M), M)
        likes = np.zeros(M)
        likes[fond] += (1 - share) * np.array([0.6, 0.2, 0.1, 0.05, 0.05])
        likes[other] += share * np.array([0.6, 0.2, 0.1, 0.05, 0.05])
        if kind == "anywhere":
            moves[t] = anywhere
        elif kind == "near":
            moves[t] = 0.5 * np.eye(M) + 0.45 * near + 0.05 * anywhere
        elif kind == "favourites":
            moves[t] = 0.8 * likes + 0.1 * near + 0.1 * anywhere
        else:
            night = 0.9 if t < 6 or t >= 22 else 0.1
            stays = (0.3 if kind == "rests" else 0.8) * np.eye(M)
            day = stays + (1 - np.diag(stays)[:, None]) * (0.7 * near + 0.2 * likes + 0.1 * anywhere)
            moves[t] = night * np.eye(M)[home] + (1 - night) * day
    start = 0.9 * np.eye(M)[home] + 0.1 * popular if kind in ("rests", "homely") else popular
    return pb.MarkovPrior(start, moves)


def run(
    kinds: tuple[str, ...] = KINDS,
    sigmas: tuple[float | None, ...] = (None, 1.0),
    budgets: tuple[float, ...] = BUDGETS,
    quick: bool = False,
) -> Section:
    if quick:
        return run(("homely",), sigmas, (1e6,))
    section = Section("people who are everywhere")
    section.add(case="pace", seconds=pace())
    sensors = scattered(SIDE * SIDE, HOURS, SENSORS)
    pb.measure(taxi(KINDS[0]), pb.Release(sensors), 1, budget=0.0)  # compile and load what long series need
    for sigma in sigmas:
        release = pb.Release(sensors, None if sigma is None else pb.Gaussian(sigma))
        for kind, misses, budget in product(kinds, MISSES, budgets):
            prior = taxi(kind)
            start = time.process_time()
            loss = pb.measure(prior, release, misses, budget=budget)
            spent = time.process_time() - start
            marginal = loss.attacks["marginal"]
            section.add(
                kind=kind,
                sigma=sigma,
                misses=misses,
                budget=budget,
                lower=rounded(loss.lower),
                upper=rounded(loss.upper),
                confidence=loss.effort.confidence,
                attack=loss.effort.attack,
                bound=loss.effort.bound,
                marginal=rounded(marginal.value),
                error=rounded(marginal.error, 2),
                baseline=[rounded(loss.baseline.lower), rounded(loss.baseline.upper)],
                seconds=rounded(spent, 3),
            )
    return section
