"""What is measured: chains, releases and people of the sizes that matter."""

from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

import passerby as pb

Floats = NDArray[np.float64]

#: Steps of a trace in a crowd, those of them that are held out, and the misses that are allowed there.
STEPS, HELD, MISSES = 27, 5, 1


def chain(kind: str, places: int, seed: int = 1) -> pb.MarkovPrior:
    """A chain of a kind: the paper's "line", "habits" (a few likely places after each), or "dense" (no structure)."""
    if kind == "line":
        return pb.line_prior(places, 0.1)
    rng = np.random.default_rng(seed)
    if kind == "habits":
        own = rng.dirichlet(np.full(places, 0.02), places)
        return pb.MarkovPrior.stationary(0.9 * own + 0.1 * rng.dirichlet(np.full(places, 0.2)))
    return pb.MarkovPrior.stationary(rng.dirichlet(np.ones(places), places))


def stays(places: int, share: float, seed: int) -> pb.MarkovPrior:
    """A chain that stays where it is with this probability, and else moves by rows of a flat Dirichlet law."""
    moves = np.random.default_rng(seed).dirichlet(np.ones(places), places)
    return pb.MarkovPrior.stationary(share * np.eye(places) + (1 - share) * moves)


def scattered(places: int, steps: int, sensors: int = 1, seed: int = 0) -> list[list[int]]:
    """So many different places at random at each step."""
    rng = np.random.default_rng(seed)
    return [rng.permutation(places)[:sensors].tolist() for _ in range(steps)]


def evidence(prior: pb.MarkovPrior, release: pb.Release, series: int, seed: int = 0) -> tuple[Floats, Floats]:
    """What published series say: as passerby takes it (n, T, S + 1), and spread over all places (n, T, M)."""
    rng = np.random.default_rng(seed)
    sparse = release.evidence(release.publish(prior.sample(series, release.steps, rng), rng))
    dense = np.repeat(sparse[:, :, :1], prior.places, axis=2)
    for t, step in enumerate(release.sensors):
        dense[:, t, list(step)] = sparse[:, t, 1 : len(step) + 1]
    return sparse, dense


def person(seed: int, places: int = 13, steps: int = 5) -> tuple[pb.MarkovPrior, pb.Release]:
    """Habits fitted to about 50 moves between a few places, smoothed with how often everybody goes anywhere."""
    rng = np.random.default_rng(seed)
    everybody = rng.dirichlet(np.full(places, 0.5))
    own = np.zeros(places)
    own[rng.permutation(places)[: rng.integers(1, 4)]] = 1.0
    own = 0.9 * rng.dirichlet(own + 1e-9) + 0.1 * everybody
    counts = np.zeros((places, places))
    here = rng.choice(places, p=own)
    for _ in range(50):
        there = here if rng.random() < 0.5 else rng.choice(places, p=own)
        counts[here, there] += 1
        here = there
    moves = (counts + everybody) / (counts.sum(axis=1, keepdims=True) + 1)
    likely = 0.5 * counts.sum(axis=0) / counts.sum() + 0.5 * everybody
    return pb.MarkovPrior.stationary(moves), pb.Release(rng.choice(places, steps, p=likely))


def crowd(people: int, places: int, seed: int = 0) -> pb.Traces:
    """Traces like those of check-ins: a few own places each, drawn by popularity, and long stays."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, places) ** 0.8
    popularity /= popularity.sum()
    own = rng.choice(places - 1, size=(people, 10), p=popularity)
    own[:, 0] = places - 1  # elsewhere
    weight = rng.dirichlet(np.array([3.0, *[0.5] * 9]), people)
    array = np.empty((people, STEPS), dtype=np.int32)
    for t in range(STEPS):
        pick = (rng.random((people, 1)) > weight.cumsum(axis=1)).sum(axis=1).clip(0, 9)
        fresh = own[np.arange(people), pick]
        array[:, t] = fresh if t == 0 else np.where(rng.random(people) < 0.4, array[:, t - 1], fresh)
    names = (*(f"place {i}" for i in range(places - 1)), "elsewhere")
    frequency = np.bincount(array.ravel(), minlength=places) / array.size
    starts = np.datetime64("2024-01-01", "us") + np.arange(STEPS) * np.timedelta64(20, "D")
    active = (array != places - 1).sum(axis=1).astype(np.int32)
    counts = np.stack([np.bincount(step, minlength=places) for step in array.T])
    return pb.Traces(array, names, pl.Series(range(people)), starts, timedelta(days=20), active, frequency, counts)
