"""For each mechanism, the best guess found by trying all of them lies within the measured interval."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mechanisms.test_conformance import EVERY
from tests.oracle import Floats, World
from tests.strategies import Whimsical, chain

import passerby as pb

ALL = (*EVERY, Whimsical(3))
#: Noise that others of them have too, beside what changes little.
AGAIN: tuple[pb.Mechanism, ...] = (
    pb.Gaussian(2.0, rounded=True),
    pb.Then(pb.Raw(), pb.Gaussian(1.0)),
    pb.Then(pb.Laplace(1.0), pb.Raw()),
    pb.Then(pb.Gaussian(1.0, clamped=True), pb.Scaled(3)),
    pb.Then(pb.Laplace(1.0, rounded=True), pb.Scaled(4.7)),
)
FIRST: tuple[pb.Mechanism, ...] = (
    pb.Geometric(1.0, clamped=True),
    pb.Miscount(0.2, 0.1),
    pb.RandomRounding(3),
    pb.DiscreteGaussian(1.5),
    pb.Laplace(1.0, clamped=True, rounded=True),
)
AFTERWARDS: tuple[pb.Mechanism, ...] = (pb.Rounding(3), pb.Suppression(3), pb.Bands([2, 5]), pb.RandomRounding(4))
CONTINUUM: tuple[pb.Mechanism, ...] = (pb.Gaussian(0.8), pb.Laplace(1.0))


def optimum(world: World, release: pb.Release, misses: int) -> float:
    """Over all series, densities added up by quadrature where there is a continuum."""
    tables = []
    for t, crowd in enumerate(release.numbers):
        table = np.ones((1, len(world.traces)))
        for place, count in zip(release.sensors[t], crowd, strict=True):
            pair = merged(release.mechanism.pair(count), 60 if sum(map(len, release.sensors)) > 2 else 400)
            table = table[:, None] * pair.T[(world.traces[:, t] == place).astype(int)].T[None]
            table = table.reshape(-1, len(world.traces))
        tables.append(table)
    near = (world.distance <= misses).astype(float)
    rows = tables[0] * world.chance
    for table in tables[1:]:
        rows = (rows[:, None] * table[None]).reshape(-1, len(world.traces))
    return float((rows @ near).max(axis=1).sum())


def merged(pair: Floats, bins: int) -> Floats:
    """Rows with nearly the same likelihood ratio, added up: at most `bins` of them."""
    pair = pair[pair.sum(axis=1) > 1e-15]
    share = pair[:, 1] / pair.sum(axis=1)
    index = np.unique((share * bins).round(9), return_inverse=True)[1].reshape(-1)
    if index.max() >= bins:
        index = (share * bins).astype(int)
    out = np.zeros((index.max() + 1, 2))
    np.add.at(out, index, pair)
    return np.asarray(out[out.sum(axis=1) > 0])


def sensors_of(draw: Any, places: int, steps: int, cells: int) -> list[list[int]]:
    """None, one or two sensors at each step, `cells` in all at most."""
    out: list[list[int]] = []
    for _ in range(steps):
        most = min(2, cells - sum(map(len, out)))
        out.append(draw(st.lists(st.integers(0, places - 1), max_size=most, unique=True)))
    return out


@pytest.mark.parametrize(
    "mechanism", [pytest.param(each, marks=pytest.mark.thorough if each in AGAIN else []) for each in ALL], ids=repr
)
@settings(max_examples=5)
@given(data=st.data())
def test_within_the_interval(mechanism: pb.Mechanism, data: st.DataObject) -> None:
    """Random chains, none to two sensors at a step, and any number of others at each."""
    places, steps = data.draw(st.sampled_from([(2, 3), (3, 2), (3, 3), (4, 2)]), label="places, steps")
    seed, kind = data.draw(st.integers(0, 10**6)), data.draw(st.sampled_from(["stationary", "started", "varying"]))
    prior = chain(seed, places, steps, kind, sparse=data.draw(st.booleans(), label="zeros"))
    sensors = sensors_of(data.draw, places, steps, 3)
    others = [[data.draw(st.sampled_from([0, 1, 2, 3, 4, 6, 9]), label="others") for _ in step] for step in sensors]
    release = pb.Release(sensors, mechanism, others)
    misses = data.draw(st.integers(0, steps - 1), label="misses")
    loss = pb.measure(prior, release, misses, tolerance=0.01)
    best = optimum(World(prior, steps), release, misses)
    # Merging in the enumeration tells less, and a numerical integral over kinks is not exact.
    few = all(len(merged(mechanism.pair(n), 10**9)) <= 60 for step in others for n in step)
    below = 1e-9 if few and mechanism.outputs(0) is not None else 5e-3 if sum(map(len, sensors)) > 2 else 2e-4
    above = 1e-9 if mechanism.outputs(0) is not None else 1e-4
    assert not loss.effort.sampled
    assert loss.lower - below <= best <= loss.upper + above
    for name, bound in loss.bounds.items():
        assert best <= bound + above, name


@pytest.mark.parametrize("mechanism", CONTINUUM, ids=repr)
def test_a_sample_contains_the_optimum_too(mechanism: pb.Mechanism) -> None:
    prior = chain(3, 3, 2, "started")
    release = pb.Release([0, 1], mechanism)
    loss = pb.measure(prior, release, 0, series="sample", confidence=0.999)
    best = optimum(World(prior, 2), release, 0)
    assert loss.effort.sampled
    assert loss.lower - 5 * loss.attacks[loss.effort.attack].error - 1e-12 <= best <= loss.upper + 1e-12


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # Every fifth is another rule after another one.
        pytest.param(*pair, marks=[] if number % 5 == 0 else pytest.mark.thorough)
        for number, pair in enumerate([*product(FIRST, AFTERWARDS), *product(CONTINUUM, AFTERWARDS[:3])])
    ],
    ids=repr,
)
def test_post_processing_tells_no_more(first: pb.Mechanism, second: pb.Mechanism) -> None:
    """It never raises the upper end beyond its error."""
    prior = chain(1, 4, 3, "stationary")
    plain, after = (
        pb.measure(prior, pb.Release([[0], [1, 3], [2]], rule, [[1], [2, 6], [4]]), 1, budget=1e9)
        for rule in (first, pb.Then(first, second))
    )
    error = max(0.01, plain.upper / plain.lower - 1)
    assert after.lower <= plain.upper + 1e-9
    assert after.upper <= plain.upper * (1 + error) + 1e-9
    for count in (1, 2, 6, 4):
        assert pb.Then(first, second).total_variation(count) <= first.total_variation(count) + 1e-9
