from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import chain as random_chain
from tests.strategies import chains

import passerby as pb
from passerby.kernels.chain import bounds
from passerby.questions.trace.kappa import fast_joint_maxima, full_joint_maxima, log_joint_maxima


def gaps(prior: pb.MarkovPrior, steps: int) -> NDArray[np.float64]:
    """The paper's recursion over gaps (Theorem 1) as it is written, for chains at equilibrium: `f(k)`."""
    powers = [np.linalg.matrix_power(prior.transition, d) for d in range(steps)]
    table = np.zeros((steps, steps, prior.places))  # chosen steps - 1, total gap, last place
    table[0, 0] = prior.initial
    for k in range(1, steps):
        for total in range(k, steps):
            for gap in range(1, total - k + 2):
                reach = (table[k - 1, total - gap][:, None] * powers[gap]).max(axis=0)
                table[k, total] = np.maximum(table[k, total], reach)
    return np.asarray(table.max(axis=(1, 2)))


@given(chains())
def test_full_is_enumeration(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    np.testing.assert_allclose(
        np.exp(full_joint_maxima(prior, steps)), World(prior, steps).joint_maxima(), rtol=1e-9, atol=1e-300
    )


@given(chains(), st.data())
def test_those_of_many_steps_are_the_last_ones(chain: tuple[pb.MarkovPrior, int], data: st.DataObject) -> None:
    prior, steps = chain
    misses = data.draw(st.integers(0, steps - 1))
    whole, some = full_joint_maxima(prior, steps), full_joint_maxima(prior, steps, misses)
    np.testing.assert_allclose(some, whole[steps - misses - 1 :], rtol=1e-12)
    table, exact = log_joint_maxima(prior, steps, misses)
    assert exact
    np.testing.assert_allclose(table, some, rtol=1e-9, atol=1e-12)


@given(chains(kinds=("stationary",)))
def test_fast_is_never_below_and_equal_where_certified(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    fast, certified = fast_joint_maxima(prior, steps)
    full = full_joint_maxima(prior, steps)
    assert (fast >= full - 1e-9).all()
    np.testing.assert_allclose(fast[certified], full[certified], atol=1e-9)
    assert certified[0]


@pytest.mark.parametrize("sparse", [False, True])
@given(seed=st.integers(0, 10**6), places=st.integers(1, 8), steps=st.integers(1, 14))
def test_all_three_recursions_agree_on_longer_chains(sparse: bool, seed: int, places: int, steps: int) -> None:
    prior = random_chain(seed, places, steps, "stationary", sparse)
    full = full_joint_maxima(prior, steps)
    np.testing.assert_allclose(np.exp(full), gaps(prior, steps), rtol=1e-9, atol=1e-300)
    fast, certified = fast_joint_maxima(prior, steps)
    assert (fast >= full - 1e-9).all()
    np.testing.assert_allclose(fast[certified], full[certified], atol=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(3, 14), st.sampled_from([0.0, 0.02, 0.2]))
def test_long_gaps_that_pay_are_found(seed: int, places: int, steps: int, loose: float) -> None:
    """Nearly a round trip through places that are left at several speeds: coming back is surer than any single move."""
    rng = np.random.default_rng(seed)
    order, split = rng.permutation(places), rng.random((places, 1)) < 0.5
    moves = np.eye(places)[order]
    moves = np.where(split, 0.5 * moves + 0.5 * np.eye(places)[rng.permutation(places)], moves)
    moves = (1 - loose) * moves + loose * rng.dirichlet(np.ones(places), places)
    prior = pb.MarkovPrior.stationary(0.999 * moves + 0.001 / places)
    full = full_joint_maxima(prior, steps)
    np.testing.assert_allclose(np.exp(full), gaps(prior, steps), rtol=1e-9, atol=1e-300)
    fast, certified = fast_joint_maxima(prior, steps)
    assert (fast >= full - 1e-9).all()
    np.testing.assert_allclose(fast[certified], full[certified], atol=1e-9)
    if not certified.all():
        # All powers were formed, to no avail: these are the values without the limit on the total gap.
        powers = np.array([np.linalg.matrix_power(prior.transition, d) for d in range(1, steps)])
        best, gap, nothing = powers.max(axis=0), 1 + powers.argmax(axis=0), np.zeros(places)
        free, total = bounds.chained(np.log(prior.initial), best, gap, nothing, prior.guessable, steps)
        np.testing.assert_allclose(fast, free, atol=1e-9)
        np.testing.assert_array_equal(certified, total <= steps - 1)


def test_what_cannot_be_is_certified() -> None:
    """Only the places of a round trip are visited, and none of them may be named."""
    moves = np.zeros((4, 4))
    moves[[0, 1, 2, 3], [1, 2, 0, 0]] = 1.0
    prior = pb.MarkovPrior([1 / 3, 1 / 3, 1 / 3, 0.0], moves, guessable=[False, False, False, True])
    for steps in (2, 5, 9):
        fast, certified = fast_joint_maxima(prior, steps)
        assert (fast == -np.inf).all()
        assert certified.all()
        assert log_joint_maxima(prior, steps)[1]


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
def test_ties_go_to_the_smallest_total_gap(seed: int, places: int, steps: int) -> None:
    """Few distinct values, so that many are equal: all sequences of places are tried."""
    rng = np.random.default_rng(seed)
    start = np.log(rng.choice([0.5, 1.0], places))
    best = rng.choice([0.0, 0.5, 1.0], (places, places), p=[0.2, 0.4, 0.4])
    later = rng.choice([0.0, 0.5], places, p=[0.7, 0.3])
    guessable = rng.random(places) < 0.8
    start[(rng.random(places) < 0.2) | ~guessable] = -np.inf
    gaps = rng.integers(1, 4, (places, places))
    values, totals = bounds.chained(start, best, gaps, later, guessable, steps)
    gap = np.where(later > best, steps, gaps)
    with np.errstate(divide="ignore"):
        best = np.log(np.where(guessable, np.maximum(best, later), 0.0))
    for k in range(1, steps + 1):
        every = []
        for way in product(range(places), repeat=k):
            value = start[way[0]] + sum(best[pair] for pair in pairwise(way))
            every.append((value, -sum(int(gap[pair]) for pair in pairwise(way))))
        value, shortest = max(every)
        assert values[k - 1] == value
        if value > -np.inf:
            assert totals[k - 1] == -shortest


def test_the_line_is_certified() -> None:
    fast, certified = fast_joint_maxima(pb.line_prior(40), 25)
    assert certified.all()
    np.testing.assert_allclose(fast, full_joint_maxima(pb.line_prior(40), 25), atol=1e-9)


def test_a_star_is_not_and_falls_back() -> None:
    """From the hub to any leaf and back: every second step is sure, and only half of the steps can be had that way."""
    moves = np.zeros((7, 7))
    moves[0, 1:] = 1 / 6
    moves[1:, 0] = 1
    prior, steps = pb.MarkovPrior.stationary(0.99 * moves + 0.01 / 7), 12
    fast, certified = fast_joint_maxima(prior, steps)
    full = full_joint_maxima(prior, steps)
    assert not certified.all()
    assert certified[: steps // 2].all()
    assert (fast[~certified] > full[~certified]).any()
    table, exact = log_joint_maxima(prior, steps)
    assert exact
    np.testing.assert_allclose(table, full, atol=1e-12)


@pytest.mark.parametrize("round_trip", [3, 4, 5])
def test_gaps_are_as_long_as_they_are_said_to_be(round_trip: int) -> None:
    """From a hub through layers of two places and back: nothing is as sure as being at the hub after a whole round.

    What is certified must be the value within the steps that there are, and is not if a gap is said to be shorter.
    """
    layer = np.append(0, 1 + np.arange(2 * round_trip - 2) // 2)
    moves = (layer[None] == (layer[:, None] + 1) % round_trip).astype(float)
    moves /= moves.sum(axis=1, keepdims=True)
    prior = pb.MarkovPrior.stationary(0.99 * moves + 0.01 / len(layer))
    for steps in (2, 7, 10, 12, 13):
        fast, certified = fast_joint_maxima(prior, steps)
        full = np.log(gaps(prior, steps))
        assert certified[: 1 + (steps - 1) // round_trip].all()
        np.testing.assert_allclose(fast[certified], full[certified], atol=1e-9)
        assert (fast >= full - 1e-9).all()


def test_one_place_and_one_step() -> None:
    np.testing.assert_array_equal(log_joint_maxima(pb.line_prior(1), 7)[0], np.zeros(7))
    table, exact = log_joint_maxima(pb.line_prior(4), 1)
    assert exact
    assert table == pytest.approx([np.log(pb.line_prior(4).initial.max())])


def test_values_fall_with_the_number_of_steps_chosen() -> None:
    for prior in (pb.line_prior(20), random_chain(1, 6, 10, "varying"), random_chain(2, 6, 10, "started", sparse=True)):
        table, _ = log_joint_maxima(prior, 10) if prior.homogeneous else (full_joint_maxima(prior, 10), True)
        assert (np.diff(table) <= 1e-12).all()


def test_two_steps_that_are_apart_may_be_likelier_than_neighbours() -> None:
    """Back at the likeliest place after two moves is likelier than after one: a way leads over a place nobody names.

    That later powers may be larger is known from the largest entry of a column, and not from that of a row.
    """
    moves = np.array([[0.69, 0.25, 0.06], [0.9, 0.07, 0.03], [0.68, 0.32, 0.0]])
    prior = pb.MarkovPrior(pb.MarkovPrior.stationary(moves).initial, moves, guessable=[True, False, True])
    for steps in (3, 4, 5, 6):
        fast, certified = fast_joint_maxima(prior, steps)
        full = full_joint_maxima(prior, steps)
        assert (fast >= full - 1e-12).all()
        assert fast[certified] == pytest.approx(full[certified], abs=1e-12)
        assert full[1] == pytest.approx(np.log(prior.initial[0] * (moves @ moves)[0, 0]))
