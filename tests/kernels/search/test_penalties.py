"""Charges as plain functions; compiled, they are tried within `brackets` (`questions/trace/test_best_guess.py`)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import Chain, small_chains

from passerby.kernels.chain import posterior
from passerby.kernels.search import penalties, penalty_names

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
    return float(penalties.penalised(case, guess, worth, low, low * (1 + 1e-9), rounds, chain.paper(misses))[0])


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


def test_what_is_left_after_paying_is_what_the_recursion_says() -> None:
    """Eight rows of misses, four at a time; names in any order, and with more misses left than matter."""
    rng = np.random.default_rng(0)
    M, names, C = 9, np.array([4, 0, 7]), 7
    Q, gains, less = rng.dirichlet(np.ones(M), M), rng.random((C, 8, M)), rng.random((C, 8, M))
    owed = 0.05 * rng.random((C, 3, M))
    page = penalty_names.Page(names, gains, owed, owed, Q)
    for most, before in ((5, 9), (2, 9), (5, 3), (-1, 9)):
        W = np.full((C, 8, M), -1.0)
        penalties.pay(Q, np.ascontiguousarray(Q.T), less, page, most, before, 0.9, np.empty((4, M)), W)
        for c in range(min(C, before + 1)):
            for k in range(max(0, C - 2 - before), 8):
                best = (Q[:, names] * gains[c, k, names] - owed[c].T).max(axis=1)
                left = np.minimum(1.0, Q @ less[c, k] + np.maximum(0.0, best)) if k <= most else 0.9
                np.testing.assert_allclose(W[c, k], left, rtol=1e-12)


def test_names_are_listed_that_come_to_more_than_a_limit() -> None:
    """What it comes to: of each count, the most that a right name adds, times the chance of being there."""
    chain = Chain(1, 5, 4)
    book, rng = penalty_names.book_for(4, 4, 5, True, chain.paper(2)), np.random.default_rng(1)
    arrived, gain, full = rng.random((4, 5)), rng.random((4, 4, 5)), np.empty(5)
    gain[:, 3] = 0.0
    penalty_names.full_penalties(arrived, gain, full)
    np.testing.assert_allclose(full, (arrived * gain[:, :3].max(axis=1)).sum(axis=0))
    limit = float(np.sort(full)[2])
    penalty_names.list_names(book, 3, int(full.argmin()), full, limit)
    listed = [int(full.argmin()), *(g for g in range(chain.states) if full[g] > limit)]
    assert book.places[3, : book.numbers[3]].tolist() == listed
    assert penalty_names.most_unlisted(book, 3, full) == limit
    assert penalty_names.own_penalty(arrived, gain, 2) == pytest.approx(
        sum(arrived[c, 2] * gain[c, 2 - c, 2] for c in range(3))
    )


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
    """The best guess finds one half; penalties come down to 0.5 + 0.4 * 3/5, as the documentation says."""
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
