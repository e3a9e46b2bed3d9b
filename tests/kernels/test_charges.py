"""Charges as plain functions; compiled, they are tried within `brackets` (`tests/measurement/test_best_guess.py`)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import Chain, small_chains

from passerby.kernels import charges, posterior

pytestmark = pytest.mark.usefixtures("plainly")

Ints = NDArray[np.int64]


def bound(
    chain: Chain, guess: Ints, misses: int, low: float, rounds: int, worth: NDArray[np.float64] | None = None
) -> float:
    whole = np.zeros(chain.states, dtype=np.int64), np.full(chain.states, chain.states), np.arange(chain.states)
    unknown = np.full(chain.steps, -1)
    turned = np.ascontiguousarray(chain.Q.transpose(0, 2, 1))
    case = posterior.Chain(chain.a, chain.Q, *whole, chain.named, True, chain.law, unknown, turned)
    worth = np.ones(misses + 1) if worth is None else worth
    return float(charges.charged(case, guess, worth, low, low * (1 + 1e-9), rounds)[0])


@given(small_chains().filter(lambda chain: chain.places == chain.states), st.integers(0, 10**6))
def test_no_guess_exceeds_it(chain: Chain, seed: int) -> None:
    """Whatever guess counts beside: a bad one makes it loose, and no more."""
    chain.place_of = np.arange(chain.states)
    for misses in range(chain.steps):
        guesses, success = chain.guesses(chain.a, 0, chain.steps - misses)
        for i in (success.argmax(), seed % len(guesses)):
            found = [bound(chain, guesses[i], misses, float(success[i]), rounds) for rounds in (0, 1, 6)]
            assert success.max() <= min(found) * (1 + 1e-12) + 1e-290
            assert found[2] <= found[1] * (1 + 1e-12)
            assert found[1] <= found[0] * (1 + 1e-12)


@given(small_chains().filter(lambda chain: chain.places == chain.states), st.integers(0, 10**6))
def test_no_guess_is_worth_more(chain: Chain, seed: int) -> None:
    """What misses are worth that are left in the end: nothing at times, the same for several, or hardly anything."""
    chain.place_of = np.arange(chain.states)
    rng = np.random.default_rng(seed)
    for misses in range(chain.steps + 1):
        worth = np.sort(rng.choice([0.0, 1e-30, 1e-3, 0.2, 0.2, 0.7, 1.0], misses + 1))
        guesses = chain.guesses(chain.a, 0, max(1, chain.steps - misses))[0]
        gain = np.diff(worth, prepend=0.0)
        each = sum(
            gain[left] * (chain.guesses(chain.a, 0, need)[1] if (need := chain.steps - misses + left) > 0 else 1.0)
            for left in range(misses + 1)
        ) * np.ones(len(guesses))
        for i in (each.argmax(), seed % len(guesses)):
            found = [bound(chain, guesses[i], misses, float(each[i]), rounds, worth) for rounds in (0, 1, 6)]
            assert each.max() <= min(found) * (1 + 1e-12) + 1e-290


@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(each, marks=pytest.mark.thorough) for each in (1, 2))])
def test_no_guess_exceeds_it_with_many_misses(seed: int) -> None:
    chain = Chain(seed, 3, 7, stays=seed % 2 == 1, mask=seed > 1)
    for misses in (4, 5):
        guesses, success = chain.guesses(chain.a, 0, 7 - misses)
        for i in (int(success.argmax()), len(guesses) // 3):
            found = [bound(chain, guesses[i], misses, float(success[i]), rounds) for rounds in (0, 5)]
            assert success.max() <= min(found) * (1 + 1e-12)


def test_four_numbers_of_misses_at_once_are_what_each_is() -> None:
    rng = np.random.default_rng(0)
    move, charge, less = rng.dirichlet(np.ones(9)), 0.01 * rng.random(9), np.sort(rng.random((7, 9)), axis=0)
    gain, found = np.diff(less, axis=0, append=1.0), np.full((7, 3), -1.0)
    charges.four_left(move, less, gain, charge, 2, 1, found)
    for k in range(2, 6):
        assert found[k, 1] == pytest.approx(move @ less[k] + max(0.0, (move * gain[k] - charge).max()), rel=1e-12)
    assert (np.delete(found[:, 1], range(2, 6)) == -1).all()


def test_closes_the_gap_where_steps_are_independent() -> None:
    """The likeliest place of each step is the best guess, and knowing the past does not help."""
    law = np.random.default_rng(0).dirichlet(np.ones(4), 6)
    chain = Chain(0, 4, 6)
    chain.a, chain.Q, chain.law = law[0], np.repeat(law[1:, None], 4, axis=1), law
    guess = law.argmax(axis=1)
    for misses in range(6):
        low = chain.success(guess, 6 - misses)
        assert bound(chain, guess, misses, low, 0) == pytest.approx(low, rel=1e-9)


def test_shares_of_those_who_stand_cannot_be_told_from_all_of_them() -> None:
    """The best guess finds one half; charges come down to 0.5 + 0.4 * 3/5, as the documentation says."""
    chain = Chain(0, 3, 8)
    chain.a, chain.Q = np.array([0.5, 0.4, 0.1]), np.repeat(np.eye(3)[None], 7, axis=0)
    chain.law = np.repeat(chain.a[None], 8, axis=0)
    guess = np.zeros(8, dtype=np.int64)
    assert chain.success(guess, 5) == pytest.approx(0.5)
    found = bound(chain, guess, 3, 0.5, 100)
    assert found * (1 + 1e-9) >= 0.74
    assert found < 0.75


def test_improves_on_telling_the_place() -> None:
    """Somebody who stays where they begin, mostly: told the place, one would know it ever after."""
    chain = Chain(0, 4, 6)
    stay = 0.9 * np.eye(4) + 0.025
    chain.a, chain.Q = np.full(4, 0.25), np.repeat(stay[None], 5, axis=0)
    chain.law = np.full((6, 4), 0.25)
    guess = np.zeros(6, dtype=np.int64)
    low = chain.success(guess, 5)
    assert chain.guesses(chain.a, 0, 5)[1].max() == pytest.approx(low)
    found = [bound(chain, guess, 1, low, rounds) for rounds in (0, 10, 100)]
    assert found[2] < found[1] <= found[0] < 0.95
    assert found[2] < 1.8 * low
