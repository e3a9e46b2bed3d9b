import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence import viterbi
from tests.guesses import Chain, small_chains, taken

import passerby as pb
from passerby.kernels.search import ascent

pytestmark = pytest.mark.usefixtures("plainly")


def some_guess(chain: Chain, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(np.flatnonzero(chain.named), chain.steps)


@given(small_chains())
def test_the_decoded_guess_is_the_likeliest_that_may_be_named(chain: Chain) -> None:
    guess = np.empty(chain.steps, dtype=np.int64)
    ascent.map_guess(chain.taken, guess)
    assert (chain.named[guess] > 0).all()
    assert chain.likeliest(guess) == pytest.approx(chain.likeliest(), rel=1e-12, abs=1e-290)


@pytest.mark.parametrize("places", [2, 4])
def test_long_chains_are_decoded_without_underflow(places: int) -> None:
    """The likeliest trace of 600 steps has a probability below 1e-100: the plain recursion in logarithms finds it."""
    chain = Chain(places, places, 600)
    guess = np.empty(chain.steps, dtype=np.int64)
    ascent.map_guess(chain.taken, guess)
    trace, _ = viterbi(pb.MarkovPrior(chain.a, chain.Q), np.zeros((chain.steps, places)))
    np.testing.assert_array_equal(guess, trace)


@given(small_chains(), st.integers(0, 10**6))
def test_scores_are_those_of_all_traces(chain: Chain, seed: int) -> None:
    guess = some_guess(chain, seed)
    for needed in range(1, chain.steps + 1):
        assert ascent.score(chain.taken, guess, needed) == pytest.approx(chain.success(guess, needed), abs=1e-12)


@given(small_chains(), st.integers(0, 10**6))
def test_looking_back_gives_what_is_still_to_come(chain: Chain, seed: int) -> None:
    guess = some_guess(chain, seed)
    for needed in range(1, chain.steps + 1):
        after = np.zeros((chain.steps, needed + 1, chain.states))
        after[:, 0] = 1.0
        ascent.look_back(chain.taken, guess, needed, after)
        for t in range(chain.steps - 1):
            right = (chain.place_of[chain.traces(t + 1)] == guess[t + 1 :]).sum(axis=1)
            for k in range(max(1, needed - t - 1), needed + 1):
                for x in range(chain.states):
                    expected = chain.chances(chain.Q[t, x], t + 1)[right >= k].sum()
                    assert after[t, k, x] == pytest.approx(expected, abs=1e-12)


@given(small_chains(), st.integers(0, 10**6))
def test_ascent_never_lowers_the_success_and_ends_where_no_single_step_helps(chain: Chain, seed: int) -> None:
    for needed in range(1, chain.steps + 1):
        guess = some_guess(chain, seed + needed)
        before = chain.success(guess, needed)
        scratch = np.full((chain.steps, needed + 1, chain.states), 7.0)
        value = ascent.ascend(chain.taken, guess, needed, scratch)
        assert value >= before - 1e-12
        assert value == pytest.approx(chain.success(guess, needed), abs=1e-12)
        assert (chain.named[guess] > 0).all()
        for t in range(chain.steps):
            for x in np.flatnonzero(chain.named):
                other = guess.copy()
                other[t] = x
                assert chain.success(other, needed) <= value * (1 + 1e-9) + 1e-12


def test_rounding_does_not_name_what_may_not_be_named() -> None:
    """Half start where the last step is sure to be right, the others stay for good where nothing may be named.

    The chance of the last step, added up from parts, is a little above one: naming the first place then seemed to lose
    something, the place that may not be named to lose nothing, and the guess was said to be right for everybody.
    """
    parts = [0.33, 0.56, 0.11]
    assert sum(parts) > 1
    a = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    Q = np.zeros((2, 5, 5))
    Q[:, 0, 0] = 1.0
    Q[0, 1, 2:] = parts
    Q[1, 2:, 1] = 1.0
    named = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    guess = np.array([1, 2, 1])
    value = ascent.ascend(taken(a, Q, named), guess, 1, np.empty((3, 2, 5)))
    assert (named[guess] > 0).all()
    assert value == pytest.approx(0.5)


def test_certainty_is_no_more_than_one() -> None:
    """Right at the first step, for certain; where they go from there adds up to a little more than one."""
    parts = [0.33, 0.56, 0.11]
    assert sum(parts) > 1
    a, Q = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros((1, 4, 4))
    Q[0, 0, 1:] = parts
    guess = np.array([0, 1])
    assert ascent.score(taken(a, Q, np.ones(4)), guess, 1) == 1
    assert ascent.ascend(taken(a, Q, np.ones(4)), guess, 1, np.empty((2, 2, 4))) == 1


def test_rows_that_can_still_matter() -> None:
    # Ten steps, seven to be right: before step 5 at most five are right, and at least two must be.
    assert ascent.rows_alive(7, 5, 10) == (2, 6)
    assert ascent.rows_alive(7, 0, 10) == (0, 1)
    assert ascent.rows_alive(7, 9, 10) == (6, 7)
