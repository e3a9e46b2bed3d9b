import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import chain

import passerby as pb
from passerby.support.ratios import LOST, by_ratio, without_the_faintest


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_what_is_left_out_is_little_in_all(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 10.0 ** -rng.uniform(0, 40, (size, 3))
    left = without_the_faintest(rows)
    lost = math.fsum([*rows.reshape(-1), *-left.reshape(-1)])
    assert lost <= LOST * (1 + 1e-9)
    assert len(left) == size or rows.sum(axis=1).min() <= LOST


@pytest.mark.parametrize("scale", [0.1, 0.31, 1.0, 2.7, 13.0])
def test_geometric_noise_tells_two_things(scale: float) -> None:
    """Whatever is published, the ratio is one of two, but for rounding."""
    pair = pb.Geometric(scale).pair(0)
    table = by_ratio(pair)
    assert len(table) == 2
    np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)


@given(st.integers(0, 10**6), st.floats(0, 60), st.integers(0, 2))
def test_a_faint_outcome_changes_a_loss_by_a_small_share(seed: int, power: float, misses: int) -> None:
    """A loss changes by the share that the likelihoods change by, also where the loss is tiny."""
    rng = np.random.default_rng(seed)
    slow = chain(seed, 3, 3, "started")
    prior = pb.MarkovPrior(slow.initial, slow.matrices[0], guessable=[False, False, True])
    world = World(prior, 3)
    plain = [rng.dirichlet(np.ones(4), 2).T for _ in range(3)]
    changed = [law + 10.0**-power * rng.random(law.shape) for law in plain]

    def loss(laws: list[NDArray[np.float64]]) -> float:
        there = world.traces == np.array([0, 2, 2])
        table = np.ones((1, len(world.traces)))
        for t, law in enumerate(laws):
            table = (table[:, None] * law[:, there[:, t].astype(int)]).reshape(-1, len(world.traces))
        return float(world.optimum(table, misses))

    assert abs(loss(changed) - loss(plain)) <= 13 * 10.0**-power * (1 + 4 * 10.0**-power) ** 2 * loss(plain) + 1e-15
