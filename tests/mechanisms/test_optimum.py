"""For each mechanism, the best guess found by trying all of them lies within the measured interval."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mechanisms.test_conformance import EVERY
from tests.oracle import Floats, World
from tests.strategies import chain

import passerby as pb

LISTED = tuple(m for m in EVERY if m.outputs(0) is not None)
CONTINUOUS = tuple(m for m in EVERY if m.outputs(0) is None)
FIRST: tuple[pb.Mechanism, ...] = (pb.Geometric(1.0, clamped=True), pb.Miscount(0.2, 0.1), pb.RandomRounding(3))
AFTERWARDS: tuple[pb.Mechanism, ...] = (pb.Rounding(3), pb.Suppression(3), pb.Bands([2, 5]), pb.RandomRounding(4))


def optimum(world: World, release: pb.Release, misses: int) -> float:
    """Over all series, densities added up by quadrature where there is a continuum."""
    tables = []
    for t, crowd in enumerate(release.others):
        table = np.ones((1, len(world.traces)))
        for place, count in zip(release.sensors[t], crowd, strict=True):
            pair = merged(release.mechanism.pair(count))
            table = table[:, None] * pair.T[(world.traces[:, t] == place).astype(int)].T[None]
            table = table.reshape(-1, len(world.traces))
        tables.append(table)
    total, near = 0.0, world.distance <= misses
    for rows in product(*tables):
        total += float(((np.prod(rows, axis=0) * world.chance) @ near).max())
    return total


def merged(pair: Floats, bins: int = 400) -> Floats:
    """Rows with nearly the same likelihood ratio, added up: at most `bins` of them."""
    pair = pair[pair.sum(axis=1) > 0]
    share = pair[:, 1] / pair.sum(axis=1)
    index = np.unique((share * bins).round(9), return_inverse=True)[1].reshape(-1)
    if index.max() >= bins:
        index = (share * bins).astype(int)
    out = np.zeros((index.max() + 1, 2))
    np.add.at(out, index, pair)
    return np.asarray(out[out.sum(axis=1) > 0])


@pytest.mark.parametrize("mechanism", LISTED, ids=repr)
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), misses=st.integers(0, 1), others=st.lists(st.integers(0, 6), min_size=2, max_size=2))
def test_within_the_interval(mechanism: pb.Mechanism, seed: int, misses: int, others: list[int]) -> None:
    prior = chain(seed, 3, 2, "started")
    release = pb.Release([seed % 3, (seed // 3) % 3], mechanism, others)
    loss = pb.measure(prior, release, misses, tolerance=1e-3)
    best = optimum(World(prior, 2), release, misses)
    assert loss.lower - 1e-9 <= best <= loss.upper + 1e-9


@pytest.mark.parametrize("mechanism", CONTINUOUS, ids=repr)
@pytest.mark.parametrize("seed", [3, 4])
def test_within_the_interval_of_a_continuum(mechanism: pb.Mechanism, seed: int) -> None:
    prior = chain(seed, 3, 2, "started")
    release = pb.Release([seed % 3, 1], mechanism, [seed, 1])
    loss = pb.measure(prior, release, 0, confidence=0.999)
    best = optimum(World(prior, 2), release, 0)
    slack = 5 * loss.attacks[loss.effort.attack].error
    assert loss.lower - slack - 1e-4 <= best <= loss.upper + 1e-6


@pytest.mark.parametrize(
    "first", [pb.Geometric(1.0, clamped=True), pb.Miscount(0.2, 0.1), pb.RandomRounding(3)], ids=repr
)
@pytest.mark.parametrize("second", AFTERWARDS, ids=repr)
def test_post_processing_tells_no_more(first: pb.Mechanism, second: pb.Mechanism) -> None:
    for seed in range(3):
        prior = chain(seed, 4, 3, "stationary")
        sensors, others = [0, 1, 2], [seed, 2, 4]
        plain = pb.measure(prior, pb.Release(sensors, first, others), 1, tolerance=1e-4)
        after = pb.measure(prior, pb.Release(sensors, pb.Then(first, second), others), 1, tolerance=1e-4)
        assert after.lower <= plain.upper + 1e-9
        assert after.upper <= plain.upper * (1 + 1e-4) + 1e-9
        for count in others:
            assert pb.Then(first, second).total_variation(count) <= first.total_variation(count) + 1e-12
