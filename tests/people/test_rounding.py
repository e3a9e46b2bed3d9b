"""Habits of one person are rounded as those of everybody are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.uncompiled import uncompiled

from passerby.kernels import habits
from passerby.people.roles import WEIGHT, Own


@given(st.integers(0, 10**6), st.integers(0, 400))
def test_sums_are_those_of_numpy_to_the_last_digit(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.random(size) * 10.0 ** rng.integers(-6, 6, size)
    with uncompiled():
        assert habits.summed(values) == values.sum()


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 5))
def test_somebody_is_usually_where_they_are_among_everybody(seed: int, steps: int, places: int) -> None:
    # With so few steps there are many ties, which rounding decides.
    rng = np.random.default_rng(seed)
    trace = rng.integers(0, places, (1, steps))
    levels = [rng.integers(0, 2, steps), rng.integers(0, 4, steps)]
    parts = [rng.integers(0, 2, 3), rng.integers(0, 4, 3)]
    expected = Own(np.arange(places)[None], trace, places).usual(levels, parts)[0]
    within = np.ones((3, 3, steps))
    within[1:] = [level == part[:, None] for level, part in zip(levels, parts, strict=True)]
    visits = np.bincount(trace[0], minlength=places) * 1.0
    with uncompiled():
        found = [habits.usual(trace[0], 0, within, h, WEIGHT, visits, *np.empty((2, places))) for h in range(3)]
    assert found == expected.tolist()
