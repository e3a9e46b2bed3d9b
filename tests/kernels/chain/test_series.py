from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence import of_case
from tests.oracle import World
from tests.states import state_cases, state_chains
from tests.strategies import FINITE, Case, cases

import passerby as pb
from passerby.kernels.chain import series as listing


@given(
    st.one_of(cases(mechanisms=FINITE), state_cases()),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.05, 0.3, 1.0]),
    st.sampled_from([0.0, 1e-12, 0.02, 0.2]),
)
def test_the_likeliest_series(case: Case, most: int, enough: float, little: float) -> None:
    """Each listed series has its probability, they come in order, and what is not listed is left over."""
    signals = case.release.stacked_signals()
    assert signals is not None
    tables, sizes = signals
    data = (case.prior.initial, case.prior.matrices, of_case(case), tables, sizes)
    chosen, mass, left = listing.likeliest(*data, most, enough, little)
    world = World(case.prior, case.steps)
    law = world.likelihoods(case.release) @ world.chance
    every = dict(zip(product(*map(range, sizes)), law, strict=True))
    if left > enough:
        assert len(chosen) == len(mass) == 0
        # However the list is made, the best of this length leaves something over too.
        assert np.sort(law)[::-1][most:].sum() > 0 or left <= little
        return
    assert len({tuple(series) for series in chosen.tolist()}) == len(chosen) <= most
    assert mass == pytest.approx([every[tuple(series)] for series in chosen.tolist()], abs=1e-12)
    assert (np.diff(mass) <= 0).all()
    assert mass.sum() + left == pytest.approx(1, abs=1e-12)
    if (law > 0).sum() <= most:
        assert left <= little
        assert len(chosen) == (law > 0).sum() or left > 0


@given(state_chains(), st.integers(0, 10**6))
def test_classes_need_not_follow_places(chain: tuple[pb.MarkovPrior, int], seed: int) -> None:
    """Outcomes that tell any classes of states apart, as many at each step as there are."""
    prior, steps = chain
    world, rng = World(prior, steps), np.random.default_rng(seed)
    told, sizes = rng.integers(0, 3, (steps, prior.states)), rng.integers(1, 4, steps)
    tables = np.zeros((steps, 3, 3))
    for t, size in enumerate(sizes):
        tables[t, :size] = rng.dirichlet(np.full(size, 0.5), 3).T
    chosen, mass, left = listing.likeliest(prior.initial, prior.matrices, told, tables, sizes, 1000, 0.0, 0.0)
    assert left == 0
    assert mass.sum() == pytest.approx(1)
    for series, found in zip(chosen, mass, strict=True):
        likelihood = np.prod([tables[t, series[t], told[t, world.state_traces[:, t]]] for t in range(steps)], axis=0)
        assert found == pytest.approx(likelihood @ world.state_chance, rel=1e-9)
