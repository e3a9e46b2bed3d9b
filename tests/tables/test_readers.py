"""What readers lose: against all that can be published, one by one."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby.mechanisms import DiscreteGaussian, Gaussian, Mechanism, Raw, Rounding, Suppression
from passerby.tables.ways import reader_losses

TABLE = np.array([[3.0, 12.0, np.nan], [4.0, 7.0, 30.0], [11.0, 7.0, 2.0]])


def by_hand(counts: np.ndarray, mechanism: Mechanism) -> tuple[float, float, float]:
    """The share shown, the chance that an order is kept, and that of a change, from all pairs of values."""

    def larger(high: float, low: float) -> float:
        total = 0.0
        for a, p in zip(*mechanism.law(high), strict=True):
            for b, q in zip(*mechanism.law(low), strict=True):
                total += p * q * bool(a > b)
        return total

    true = counts[~np.isnan(counts)]
    shown = np.mean([sum(p for v, p in zip(*mechanism.law(n), strict=True) if not math.isnan(v)) for n in true])
    order = [
        larger(max(a, b), min(a, b))
        for row in counts
        for k, a in enumerate(row)
        for b in row[:k]
        if a != b and a == a and b == b
    ]
    change = [
        larger(max(a, b), min(a, b)) for col in counts.T for a, b in pairwise(col) if a != b and a == a and b == b
    ]
    return float(shown), float(np.mean(order)), float(np.mean(change))


@pytest.mark.parametrize("mechanism", [Raw(), Suppression(5), Rounding(10), DiscreteGaussian(1.0)], ids=repr)
def test_against_all_values(mechanism: Mechanism) -> None:
    found = reader_losses(TABLE, mechanism)
    want = by_hand(TABLE, mechanism)
    assert (found.shown, found.order, found.change) == pytest.approx(want, rel=1e-9)


def test_nothing_is_lost_of_raw_counts() -> None:
    found = reader_losses(TABLE, Raw())
    assert (found.error, found.relative, found.shown, found.order, found.change, found.total) == (0, 0, 1, 1, 1, 0)


def test_the_words_have_units() -> None:
    said = reader_losses(TABLE, Rounding(5)).sentence
    assert "people per count, of counts that average 9.5" in said


def test_everything_hidden() -> None:
    found = reader_losses(np.array([[1.0, 2.0]]), Suppression(10))
    assert (found.shown, found.order, found.relative, found.total) == (0.0, 0.0, None, 1.0)


def test_a_continuum_is_like_its_whole_numbers() -> None:
    real, whole = (reader_losses(TABLE, way) for way in (Gaussian(3.0), DiscreteGaussian(3.0)))
    assert real.error == pytest.approx(whole.error, rel=0.02)
    assert real.error == pytest.approx(3 * math.sqrt(2 / math.pi), rel=1e-3)
    assert real.order == pytest.approx(whole.order or 0, abs=0.03)


@given(st.lists(st.lists(st.integers(0, 40), min_size=2, max_size=2), min_size=2, max_size=4), st.integers(2, 12))
def test_shares_are_shares(rows: list[list[int]], base: int) -> None:
    found = reader_losses(np.array(rows, dtype=float), Rounding(base))
    for share in (found.shown, found.order, found.change):
        assert share is None or 0 <= share <= 1
