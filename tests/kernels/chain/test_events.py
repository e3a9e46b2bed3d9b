"""Series side by side against one after another, faint ones included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import rows

from passerby.kernels.chain import events


@given(st.integers(0, 10**6), st.integers(1, 300), st.sampled_from([1.0, 30.0, 200.0]), st.booleans())
def test_series_side_by_side_are_as_likely_as_one_after_another(seed: int, n: int, spread: float, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    T, M, L, C = (int(rng.integers(least, most)) for least, most in ((1, 9), (1, 6), (2, 4), (1, 5)))
    initial, moves = rows(rng, (M,), zeros), rows(rng, (1, M, M), zeros)
    classes, follows = rng.integers(0, C, (T, M)), np.sort(rng.integers(0, L, (T, M, L)), axis=2)
    weights = np.exp(-spread * rng.random((n, T, C)))
    case = initial, moves, classes, weights, follows
    want, found = events.with_and_without(*case), events.side_by_side(*case)
    kept = found[:, 2] == 0
    assert found[kept, :2] == pytest.approx(want[kept], rel=1e-9, abs=1e-9)
    assert kept.all() or spread == 200.0
