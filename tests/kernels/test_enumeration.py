from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence import of_case
from tests.oracle import World
from tests.strategies import FINITE, Case, cases

from passerby.kernels import enumeration


@given(cases(mechanisms=FINITE), st.integers(1, 40), st.sampled_from([0.0, 0.05, 0.3, 1.0]))
def test_the_likeliest_series(case: Case, most: int, enough: float) -> None:
    """Each listed series has its probability, they come in order, and what is not listed is left over."""
    signals = case.release.stacked_signals()
    assert signals is not None
    tables, sizes = signals
    data = (case.prior.initial, case.prior.matrices, of_case(case), tables, sizes)
    chosen, mass, left = enumeration.likeliest(*data, most, enough)
    world = World(case.prior, case.steps)
    law = world.likelihoods(case.release) @ world.chance
    every = dict(zip(product(*map(range, sizes)), law, strict=True))
    if left > enough:
        assert len(chosen) == len(mass) == 0
        # However the list is made, the best of this length leaves something over too.
        assert np.sort(law)[::-1][most:].sum() > 0
        return
    assert len({tuple(series) for series in chosen.tolist()}) == len(chosen) <= most
    assert mass == pytest.approx([every[tuple(series)] for series in chosen.tolist()], abs=1e-12)
    assert (np.diff(mass) <= 0).all()
    assert mass.sum() + left == pytest.approx(1, abs=1e-12)
    if (law > 0).sum() <= most:
        assert len(chosen) == (law > 0).sum()
