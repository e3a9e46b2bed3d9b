"""Rules for verdicts: what is sure, what is not, and what cannot be told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from passerby_paper.rules import (
    FEWEST,
    MEANINGS,
    SURE,
    TRACES,
    VISIBLE,
    close,
    doubt,
    falls,
    more,
    negative,
    rank_correlation,
    rises,
)
from passerby_paper.settings import Settings

probabilities = st.lists(st.floats(0, 1), min_size=2, max_size=6)


def test_reasons_that_are_given_for_thresholds() -> None:
    assert Settings().traces == TRACES
    assert 0.9 * VISIBLE < SURE * np.sqrt(0.25 / TRACES) <= VISIBLE
    assert doubt(0.5, 0.1, TRACES) == pytest.approx(SURE * np.sqrt(0.25 / TRACES))
    assert 0.5**FEWEST < 1 / 20 < 0.5 ** (FEWEST - 1)
    assert all(len(row) == 3 and all(row) for row in MEANINGS)


def test_directions() -> None:
    assert falls([3, 2, 2, 1])
    assert not falls([3, 2, 2.1, 1])
    assert falls([0.30, 0.20, 0.21, 0.1], traces=1000)
    assert falls([0.30, 0.20, 0.28, 0.1], traces=1000) is False
    assert falls([1, 1]) is False
    assert rises([1, 1, 2])
    assert rises([1, 0.5, 2]) is False


@given(probabilities, st.lists(st.floats(0, 0.3), min_size=6, max_size=6))
def test_answers_for_intervals_are_those_for_any_values_within(values: list[float], widths: list[float]) -> None:
    low = [max(0.0, v - w) for v, w in zip(values, widths, strict=False)]
    high = [v + w for v, w in zip(values, widths, strict=False)]
    # A rise within overlapping intervals may be none: only a sure fall or rise of the ends binds the values.
    if falls(low, high):
        assert values[-1] < values[0]
    if falls(low, high) is False:
        assert not falls(values)
    for sense, answer in close(low, high).items():
        if answer is not None:
            assert close(values)[sense] is answer


def test_correlations_are_judged_by_their_interval() -> None:
    assert negative(-0.3, -0.4, -0.2)
    assert negative(-0.05, -0.15, 0.05) is None
    assert negative(0.0, -0.09, 0.09) is False
    assert negative(np.nan, np.nan, np.nan) is None


def test_rates_differ_only_for_sure() -> None:
    assert more([0.9, 0.8], [0.1, 0.2], 100)
    assert more([0.9, 0.25], [0.1, 0.2], 100) is None
    assert more([0.9, 0.05], [0.1, 0.5], 100) is False


def test_rank_correlation() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(80).round(1)
    y = x + rng.normal(0, 0.3, 80)
    value, low, high = rank_correlation(x, y, 0, 300)
    assert value == pytest.approx(float(spearmanr(x, y).statistic), abs=1e-12)
    assert low < value < high
    assert rank_correlation(x, y, 0, 300) == (value, low, high)
    assert np.isnan(rank_correlation(np.ones(80), y, 0, 20)[0])


def test_the_interval_is_that_of_repeated_people() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(4, size=30).astype(float), rng.random(30)
    chosen = np.random.default_rng([0, 3]).integers(30, size=(40, 30))
    each = [float(spearmanr(x[row], y[row]).statistic) for row in chosen]
    expected = (float(spearmanr(x, y).statistic), *np.percentile(each, [2.5, 97.5]))
    assert rank_correlation(x, y, 0, 40) == pytest.approx(expected, abs=1e-12)
