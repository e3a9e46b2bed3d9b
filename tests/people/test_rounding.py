"""Habits of one person are rounded as those of everybody are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.uncompiled import uncompiled

from passerby.kernels import fit
from passerby.people.roles import WEIGHT, Own


@given(st.integers(0, 10**6), st.integers(0, 400))
def test_sums_are_those_of_numpy_to_the_last_digit(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.random(size) * 10.0 ** rng.integers(-6, 6, size)
    with uncompiled():
        assert fit.summed(values) == values.sum()


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 5), st.integers(0, 3))
def test_somebody_is_usually_where_they_are_among_everybody(seed: int, steps: int, places: int, number: int) -> None:
    # With so few steps there are many ties, which rounding decides.
    rng = np.random.default_rng(seed)
    trace = rng.integers(0, places, (1, steps))
    levels = [rng.integers(0, 2 + k, steps) for k in range(number)]
    parts = [rng.integers(0, 2 + k, 3) for k in range(number)]
    expected = Own(np.arange(places)[None], trace, places).usual(levels, parts)[0].tolist()
    within = np.ones((1 + number, 3, steps))
    for k, (level, part) in enumerate(zip(levels, parts, strict=True)):
        within[1 + k] = level == part[:, None]
    always = np.bincount(trace[0], minlength=places) / steps
    found = []
    with uncompiled():
        for h in range(3):
            visits, broad, f = np.empty((3, places))
            fit.towards(trace[0], 0, within, h, within[0, h], WEIGHT, always, visits, broad, f)
            found.append(fit.largest(f))
    assert found == (expected if levels else expected * 3)
