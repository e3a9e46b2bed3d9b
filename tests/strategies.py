"""Random small chains and releases, and mechanisms with finitely many outputs.

Sizes and kinds are drawn by hypothesis, the probabilities by a seeded generator: they are then generic, so that ties
are as rare as they should be, and an example is reproduced by a handful of integers.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

import passerby as pb

Floats = NDArray[np.float64]

#: No more traces than this are enumerated.
TRACES = 300


@dataclass(frozen=True)
class Case:
    """A chain, a release that fits it, and a number of misses."""

    prior: pb.MarkovPrior
    release: pb.Release
    misses: int

    @property
    def steps(self) -> int:
        return self.release.steps


@dataclass(frozen=True)
class Jumbled(pb.Mechanism):
    """Publishes the count, or with probability `share` a number drawn from 0..`top`: more is always worse."""

    share: float
    top: int = 2

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        count = np.asarray(count, dtype=np.float64)
        return np.where(rng.random(count.shape) < self.share, rng.integers(0, self.top + 1, count.shape), count)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        output, count = np.asarray(output), np.asarray(count)
        other = np.where((output >= 0) & (output <= self.top), self.share / (self.top + 1), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.where(output == count, 1 - self.share, 0.0) + other))

    def total_variation(self, count: int = 0) -> float:
        return 1 - self.share

    def outputs(self, count: int) -> Floats:
        return np.union1d(np.arange(self.top + 1.0), [count, count + 1.0])


@dataclass(frozen=True)
class Halved(pb.Mechanism):
    """Publishes half the count, rounded down: says nothing at even counts of others, everything at odd ones."""

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        return np.asarray(np.asarray(count) // 2, dtype=np.float64)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        return np.where(np.asarray(output) == np.asarray(count) // 2, 0.0, -np.inf)

    def total_variation(self, count: int = 0) -> float:
        return float(count % 2)

    def outputs(self, count: int) -> Floats:
        return np.unique([float(count // 2), float((count + 1) // 2)])


@dataclass(frozen=True)
class Whimsical(pb.Discrete):
    """Publishes anything from 0 to `top`, by a law drawn for each count: ratios in no order, some of them certain."""

    seed: int
    top: int = 5

    def law(self, count: float) -> tuple[Floats, Floats]:
        chances = rows(np.random.default_rng([self.seed, int(count)]), (self.top + 1,), count % 2 == 0)
        return np.arange(self.top + 1.0)[chances > 0], chances[chances > 0]


@dataclass(frozen=True)
class Uniform(pb.Mechanism):
    """The count plus a number drawn from 0 to 1: a continuum, of which nothing but the density is told."""

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        return np.asarray(np.asarray(count) + rng.random(np.shape(count)))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        added = np.asarray(output, np.float64) - np.asarray(count)
        return np.where((added >= 0) & (added < 1), 0.0, -np.inf)


def rows(rng: np.random.Generator, shape: tuple[int, ...], sparse: bool) -> Floats:
    """Random laws along the last axis; with `sparse`, about half of the entries are zero."""
    values = rng.dirichlet(np.full(shape[-1], 0.8), shape[:-1])
    if sparse:
        values = values * (rng.random(shape) < 0.5)
        empty = values.sum(axis=-1) == 0
        values[empty, rng.integers(shape[-1])] = 1.0
        values = values / values.sum(axis=-1, keepdims=True)
    return np.asarray(values)


def chain(seed: int, places: int, steps: int, kind: str, sparse: bool = False) -> pb.MarkovPrior:
    """A random chain: "stationary", "started" (any start) or "varying" (a matrix per step)."""
    rng = np.random.default_rng(seed)
    if kind == "stationary":
        # A little of a common law leaves one closed class, whatever the zeros.
        moves = 0.9 * rows(rng, (places, places), sparse) + 0.1 * rows(rng, (places,), sparse)
        return pb.MarkovPrior.stationary(moves)
    shape = (places, places) if kind == "started" else (steps - 1, places, places)
    return pb.MarkovPrior(rows(rng, (places,), sparse), rows(rng, shape, sparse))


KINDS = ("stationary", "started", "varying")


@st.composite
def chains(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, sparse: bool | None = None) -> tuple[pb.MarkovPrior, int]:
    """A chain and a number of steps, few enough to enumerate."""
    places = draw(st.integers(1, 5), label="places")
    most = 5 if places == 1 else int(np.log(TRACES) / np.log(places) + 1e-9)
    steps = draw(st.integers(1, min(most, 6)), label="steps")
    zeros = draw(st.booleans(), label="zeros") if sparse is None else sparse
    prior = chain(draw(st.integers(0, 10**6), label="seed"), places, steps, draw(st.sampled_from(kinds)), zeros)
    return prior, steps


@st.composite
def released(
    draw: st.DrawFn,
    prior: pb.MarkovPrior,
    steps: int,
    mechanisms: tuple[pb.Mechanism, ...] = (pb.Raw(),),
    most_series: int = 700,
) -> Case:
    """A release with none, one or several sensors at each step for a chain, and a number of misses."""
    mechanism = draw(st.sampled_from(mechanisms))
    everywhere = st.lists(st.integers(0, prior.places - 1), max_size=3, unique=True)
    single = st.integers(0, prior.places - 1).map(lambda place: [place])
    sensors = draw(st.lists(st.one_of(single, everywhere), min_size=steps, max_size=steps), label="sensors")
    others = [[draw(st.integers(0, 1), label="others") for _ in step] for step in sensors]
    release = pb.Release(sensors, mechanism, others)
    tables = release.signals()
    while tables is not None and np.prod([len(table) for table in tables]) > most_series:
        # Too many series to list in a test: silence the step with the most outcomes.
        widest = int(np.argmax([len(table) for table in tables]))
        sensors[widest], others[widest] = [], []
        release = pb.Release(sensors, mechanism, others)
        tables = release.signals()
    return Case(prior, release, draw(st.integers(0, steps - 1), label="misses"))


@st.composite
def cases(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = KINDS,
    mechanisms: tuple[pb.Mechanism, ...] = (pb.Raw(),),
    most_series: int = 700,
) -> Case:
    """A chain, and a release for it."""
    prior, steps = draw(chains(kinds))
    return draw(released(prior, steps, mechanisms, most_series))


FINITE: tuple[pb.Mechanism, ...] = (pb.Raw(), Jumbled(0.3), Halved())
