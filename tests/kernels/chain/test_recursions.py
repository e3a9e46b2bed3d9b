import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.uncompiled import uncompiled

from passerby.kernels.chain import recursions


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
def test_evidence_of_a_step(seed: int, states: int, first: float) -> None:
    """By class of states, which several may share."""
    rng = np.random.default_rng(seed)
    of, weights = rng.integers(0, 3, states), np.append(first, rng.random(2))
    row = rng.random(states)
    found = row.copy()
    with uncompiled():
        recursions.weigh(found, of, weights)
    assert found.tolist() == [value * weights[c] for value, c in zip(row, of, strict=True)]


@pytest.mark.parametrize("places", [1, 2, 5, 30])
def test_stationary_against_a_linear_solve(places: int) -> None:
    moves = np.random.default_rng(places).dirichlet(np.ones(places), places)
    system = np.vstack([moves.T - np.eye(places), np.ones(places)])
    solved = np.linalg.lstsq(system, np.append(np.zeros(places), 1.0), rcond=None)[0]
    np.testing.assert_allclose(recursions.stationary(moves), solved, atol=1e-10)


def test_stationary_of_a_round_trip() -> None:
    """Always on to the next place, but for one at which half of them stay."""
    moves = np.eye(4)[[1, 2, 3, 0]]
    moves[2] = [0, 0, 0.5, 0.5]
    np.testing.assert_allclose(recursions.stationary(moves), [0.2, 0.2, 0.4, 0.2], atol=1e-12)
    np.testing.assert_allclose(recursions.stationary(np.eye(3)[[2, 0, 1]]), np.full(3, 1 / 3), atol=1e-12)


def test_draw_inverts_the_distribution_function() -> None:
    initial, moves = np.array([0.25, 0.0, 0.75]), np.eye(3)[None]
    uniform = np.array([[0.0, 0.5], [0.2499, 0.0], [0.25, 0.99], [0.9999999, 0.5], [1.0, 1.0]])
    np.testing.assert_array_equal(recursions.draw(initial, moves, uniform), [[0, 0], [0, 0], [2, 2], [2, 2], [2, 2]])
    # Where rounding leaves a remainder, it is the last place that can be.
    assert recursions.draw(np.array([0.25, 0.75, 0.0]), moves, np.ones((1, 1))) == 1
    # One matrix for each step, and a number that is used up exactly.
    varying = np.stack([np.eye(3)[[1, 2, 0]], np.full((3, 3), 1 / 3)])
    drawn = recursions.draw(np.full(3, 1 / 3), varying, np.array([[0.1, 0.9, 0.5], [0.5, 0.1, 0.9], [0.9, 0.5, 0.1]]))
    np.testing.assert_array_equal(drawn, [[0, 1, 1], [1, 2, 2], [2, 0, 0]])


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 12), st.booleans())
def test_moves_are_counted_and_smoothed(seed: int, places: int, moves: int, by_row: bool) -> None:
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, places, (2, moves))
    background = rng.dirichlet(np.ones(places), places if by_row else 1)
    found = recursions.smoothed_moves(source, target, background, 0.7, places)
    for x in range(places):
        row = background[x if by_row else 0]
        for y in range(places):
            made, left = ((source == x) & (target == y)).sum(), (source == x).sum()
            assert found[x, y] == pytest.approx((made + 0.7 * row[y]) / (left + 0.7))


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_likeliest_place_that_may_be_named(seed: int, places: int) -> None:
    rng = np.random.default_rng(seed)
    row, named = rng.integers(0, 3, places) * 1.0, (rng.random(places) < 0.6) * 1.0
    named[rng.integers(places)] = 1.0
    allowed = [x for x in range(places) if named[x]]
    with uncompiled():
        assert recursions.likeliest(row, named) == max(allowed, key=lambda x: (row[x], -x))
