"""Made-up populations of several kinds, of whom it is known how they live: some leave, join late, drift, or drive."""

from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

import passerby as pb

Places = NDArray[np.int64]


def traces(array: Places, places: int, window: timedelta = timedelta(days=20)) -> pb.Traces:
    """Traces of an array (people, steps) of places, of which the last is elsewhere."""
    filled = array.astype(np.int32)
    starts = np.datetime64("2024-01-01", "us") + np.arange(filled.shape[1]) * np.timedelta64(window)
    return pb.Traces(
        filled,
        (*(f"place {i}" for i in range(places - 1)), "elsewhere"),
        pl.Series([f"person {i}" for i in range(len(filled))]),
        starts,
        window,
        (filled != places - 1).sum(axis=1).astype(np.int32),
        np.bincount(filled.ravel(), minlength=places) / filled.size,
        np.stack([np.bincount(step, minlength=places) for step in filled.T]),
    )


def regulars(rng: np.random.Generator, people: int, steps: int, places: int) -> Places:
    """People with a few own places each, drawn by popularity, who are elsewhere at times and stay at times."""
    popularity = 1 / np.arange(1, places)
    own = rng.choice(places - 1, (people, 6), p=popularity / popularity.sum())
    own[:, 0] = places - 1
    weight = rng.dirichlet([2.0, 2.0, 1.0, 0.5, 0.5, 0.5], people)
    out = np.empty((people, steps), dtype=np.int64)
    for t in range(steps):
        pick = (rng.random((people, 1)) > weight.cumsum(axis=1)).sum(axis=1).clip(0, 5)
        fresh = own[np.arange(people), pick]
        out[:, t] = fresh if t == 0 else np.where(rng.random(people) < 0.3, out[:, t - 1], fresh)
    return out


def leavers(people: int = 600, steps: int = 30, places: int = 60, seed: int = 0) -> pb.Traces:
    """Regulars, of whom one in twenty leaves for good at each step."""
    rng = np.random.default_rng(seed)
    array = regulars(rng, people, steps, places)
    array[np.arange(steps) >= rng.geometric(0.05, people)[:, None]] = places - 1
    return traces(array, places)


def joiners(people: int = 600, steps: int = 30, places: int = 60, seed: int = 0) -> pb.Traces:
    """Regulars who begin at any time, with one visit to a place of theirs."""
    rng = np.random.default_rng(seed)
    array = regulars(rng, people, steps, places)
    array[np.arange(steps) < rng.integers(0, steps, people)[:, None]] = places - 1
    return traces(array, places)


def drifters(people: int = 600, steps: int = 40, places: int = 60, seed: int = 0) -> pb.Traces:
    """People who take to a new set of places every ten steps or so."""
    rng = np.random.default_rng(seed)
    lives = [regulars(rng, people, steps, places) for _ in range(8)]
    life = (rng.random((people, steps)) < 0.1).cumsum(axis=1) % len(lives)
    return traces(np.choose(life, lives), places)


def keepers(people: int = 600, steps: int = 30, places: int = 60, seed: int = 0) -> pb.Traces:
    """One in three always at one place, one in three regular, one in three anywhere."""
    rng = np.random.default_rng(seed)
    array = regulars(rng, people, steps, places)
    kind = rng.integers(0, 3, (people, 1))
    array = np.where(kind == 0, array[:, :1] % (places - 1), array)
    return traces(np.where(kind == 2, rng.integers(0, places, (people, steps)), array), places)


def taxis(people: int = 300, days: int = 14, side: int = 8, seed: int = 0) -> pb.Traces:
    """Cars on a square grid, hour by hour: they wander to near cells, draw to the middle by day, and rest at night."""
    rng = np.random.default_rng(seed)
    steps, middle = 24 * days, (side - 1) / 2
    home = rng.integers(0, side, (people, 2))
    at = home.astype(np.float64)
    out = np.empty((people, steps), dtype=np.int64)
    for t in range(steps):
        rests = (t % 24 < 6) & (rng.random((people, 1)) < 0.8)
        drawn = at + 0.15 * (middle - at) + rng.normal(0, 1.2, (people, 2))
        at = np.where(rests, home, np.clip(np.rint(drawn), 0, side - 1))
        out[:, t] = (at[:, 0] * side + at[:, 1]).astype(np.int64)
    return traces(out, side * side + 1, timedelta(hours=1))
