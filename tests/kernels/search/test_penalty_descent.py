"""Steps by which penalties are improved, as plain functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from passerby.kernels.search import penalty_descent, penalty_names

pytestmark = pytest.mark.usefixtures("plainly")

Floats = NDArray[np.float64]
sizes = st.sampled_from([0.0, 1e-300, 1e-160, 1e-9, 0.1, 0.2, 0.25, 0.7, 1.0])


def levelled(sums: Floats, less: Floats, rest: float, step: float) -> Floats:
    weights = np.full(len(sums), -1.0)
    penalty_descent.level(sums, less, rest, step, weights)
    return weights


@given(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=6), st.sampled_from([0.0, 0.15]), sizes.filter(bool))
def test_names_are_lowered_by_one_step_in_all(names: list[tuple[float, float]], rest: float, step: float) -> None:
    sums, less = np.array(names).T
    weights = levelled(sums, less, rest, step)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    assert weights.sum() <= 1 + 1e-9
    assert (weights[(less == 0) | (sums <= rest)] == 0).all()


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8), st.floats(0.01, 3.0), st.integers(0, 10**6))
def test_the_highest_names_are_level_after_a_step(sums: list[float], step: float, seed: int) -> None:
    """As by bisection: the height at which all that is above it takes just one step to come down."""
    high, less = np.array(sums), np.random.default_rng(seed).uniform(0.05, 1.0, len(sums))
    weights = levelled(high, less, -10.0, step)
    low, top = -10.0, 1.0
    for _ in range(100):
        height = (low + top) / 2
        low, top = (low, height) if (np.maximum(0, high - height) / less).sum() < step else (height, top)
    np.testing.assert_allclose(weights, np.maximum(0, high - height) / (less * step), atol=1e-9)
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose((high - weights * less * step)[weights > 0], height, atol=1e-9)


def test_shares_are_of_those_who_name() -> None:
    mass, pick = np.zeros((1, 3, 2)), np.full((1, 3, 2), -1)
    mass[0, :, 0], pick[0, :, 0] = [0.1, 0.2, 0.1], [1, 0, 1]
    mass[0, 2, 1] = 0.3  # names nothing
    out = np.full((1, 2, 2), -1.0)
    penalty_descent.share_out_names(mass, pick, np.array([[0.5, 0.4]]), out)
    np.testing.assert_allclose(out, [[[0.4, 0.0], [0.4, 0.0]]])


def test_penalties_of_what_is_named_rise_and_the_most_fall() -> None:
    """Two names: all who are told say the first, and the second is penalised more."""
    P, gains = np.array([[0.6, 0.4]]), np.full((1, 4, 2), 0.5)
    penalties, trends = np.array([[[0.1, 0.1], [0.3, 0.2]]]), np.zeros((1, 2, 2))
    page = penalty_names.Page(np.array([0, 1]), gains, penalties, trends, np.ones((2, 2)))
    shares = np.array([[[1.0, 1.0], [0.0, 0.0]]])
    square, both = penalty_descent.turn_page(page, P, 0.0, 1e-3, shares, np.empty((1, 2)), np.empty((3, 2)))
    far = 0.5**0.75
    np.testing.assert_allclose(trends, [[[-far, -far], [far, far]]])
    assert square == pytest.approx(2 * far)
    assert both == 0.0
    penalty_descent.follow(page, 1e-3)
    np.testing.assert_allclose(penalties[0, 0], 0.1 + 1e-3 * far)
    np.testing.assert_allclose(penalties[0, 1], np.array([0.3, 0.2]) - 1e-3 * far)


def test_what_is_not_penalised_is_not_lowered() -> None:
    trend, penalty = np.array([-1.0, 0.5]), np.array([0.0, 0.2])
    found = penalty_descent.turn_trend(np.ones(2), penalty, np.ones(2), np.zeros(2), 0.5, 2.0, trend)
    np.testing.assert_allclose(trend, [-penalty_descent.KEPT, 0.5 * penalty_descent.KEPT + 1.0])
    assert found == (0.5, 0.25)
