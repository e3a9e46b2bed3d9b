"""Laws of series with an event and without it, and what they say of whoever is told more or less."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis.extra.numpy import arrays
from hypothesis.strategies import floats, integers

from passerby.questions.draws import Drawn
from passerby.questions.laws import Law


@given(arrays(float, (12, 2), elements=floats(1e-6, 1)), floats(0.02, 0.95), integers(1, 5))
def test_who_is_surely_sure_and_who_at_most(masses: Any, event: float, groups: int) -> None:
    """Series told in groups say how often somebody who sees them one by one is sure, at least; and these at most."""
    yes, no = np.asarray(masses / masses.sum(axis=0), dtype=np.float64).T
    fine, odds = Law(yes, no), event / (1 - event)
    number = np.arange(len(yes)) % groups
    coarse = Law(*(np.bincount(number, weights=side).astype(np.float64) for side in (yes, no)))
    assert coarse.surely(0.9, odds) <= fine.likely(0.9, odds) + 1e-12
    gap = np.repeat(np.log(yes / no), np.maximum(1, (4000 * yes).astype(int)))
    drawn = Drawn("told", odds, np.random.default_rng(0).permutation(gap), gap, told_more=True, level=0.99)
    assert coarse.likely(0.9, odds) <= drawn.certain(0.9)[1] + 0.01
    assert fine.likely(0.9, odds) <= drawn.certain(0.9)[1] + 0.01
