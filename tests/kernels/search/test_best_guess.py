import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import silence
from tests.guesses import Chain, look, small_chains

from passerby.kernels.search import ascent, best_first, best_guess, ceiling, penalties

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


pytestmark = pytest.mark.usefixtures("plainly")


@given(small_chains())
def test_looking_at_a_chain(chain: Chain) -> None:
    seen = look(chain)
    np.testing.assert_allclose(seen.law, chain.law, atol=1e-12)
    for t in range(chain.steps):
        there = np.unique(chain.place_of[seen.law[t] > 0])
        certain = len(there) == 1 and chain.named[there[0]] > 0
        assert seen.pinned[t] == (there[0] if certain else -1)


@given(small_chains())
def test_plain_guesses(chain: Chain) -> None:
    for needed in range(1, chain.steps + 1):
        decoded, stepwise = np.full(chain.steps, -1), np.full(chain.steps, -1)
        found = best_guess.plain(chain.taken, needed, decoded, stepwise)
        assert found[0] == pytest.approx(chain.success(decoded, needed), abs=1e-12)
        assert found[1] == pytest.approx(chain.success(stepwise, needed), abs=1e-12)
        assert (chain.named[decoded] > 0).all()
        assert chain.likeliest(decoded) == pytest.approx(chain.likeliest(), rel=1e-12, abs=1e-290)
        for t in range(chain.steps):
            law = chain.by_place(chain.law[t])
            assert chain.named[stepwise[t]] > 0
            assert law[stepwise[t]] == pytest.approx((law * chain.named).max(), rel=1e-12)


@given(small_chains(), st.integers(0, 10**6))
def test_constants(chain: Chain, seed: int) -> None:
    """The best of all constants (but at pinned steps) is found, or something better."""
    seen = look(chain)
    constants = [np.where(seen.pinned < 0, x, seen.pinned) for x in np.flatnonzero(chain.named)]
    for needed in range(1, chain.steps + 1):
        guess = np.random.default_rng(seed).choice(np.flatnonzero(chain.named), chain.steps)
        before = chain.success(guess, needed)
        scratch = np.empty((chain.steps, needed + 1, chain.states))
        low, work = best_guess.try_constants(seen, needed, before, guess, scratch)
        assert low >= before
        assert low == pytest.approx(chain.success(guess, needed), abs=1e-12)
        assert low >= max(chain.success(other, needed) for other in constants) - 1e-12
        assert (chain.named[guess] > 0).all()
        assert work > 0
        # Without an ascent from there, it is one of the constants, or what was there before.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(best_guess, "ascend", lambda chain, guess, needed, _: ascent.score(chain, guess, needed))
            low, _ = best_guess.try_constants(seen, needed, before, guess, scratch)
        assert low == pytest.approx(max(before, *(chain.success(other, needed) for other in constants)), abs=1e-12)


def bracket(
    chain: Chain, needed: int, level: int, low: float, tolerance: float, guess: Ints, nodes: int
) -> tuple[float, float, int, float]:
    lower, upper, used, work = best_guess.bracket(
        look(chain), needed, level, low, tolerance, guess, chain.room(needed, nodes)
    )
    return float(lower), float(upper), int(used), float(work)


@settings(max_examples=60)
@given(small_chains(), st.integers(0, penalties.LEVELS - 1), st.sampled_from([1, 2, 5, 60]))
def test_the_best_guess_is_bracketed_within_any_room(chain: Chain, level: int, nodes: int) -> None:
    for needed in range(1, chain.steps + 1):
        best = chain.best(chain.a, 0, needed)
        guess = np.full(chain.steps, np.flatnonzero(chain.named)[0])
        before = chain.success(guess, needed)
        lower, upper, used, work = bracket(chain, needed, level, before, 0.0, guess, nodes)
        assert before <= lower <= best + 1e-12
        assert best - 1e-12 <= upper <= 1 + 1e-12
        assert lower <= upper * (1 + 1e-12)
        assert chain.success(guess, needed) == pytest.approx(lower, abs=1e-12)
        assert 0 <= used <= min(nodes, penalties.ROOT_NODES[level])
        assert work > 0


@pytest.mark.parametrize("left", [0.99, 0.5])
def test_the_lowest_search_is_left_out_where_it_helped_nobody_beside_penalties(
    left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty places; six series were bounded by both before."""
    chain, needed, tried, total = Chain(0, 30, 2), 1, np.zeros((penalties.STAGES, 3)), np.zeros(3)
    for _ in range(penalties.TRIED):
        penalties.keep_score(tried, 0, 0.5, 0.5 * left)
    searched: list[int] = []
    monkeypatch.setattr(best_guess, "search_on", lambda *case: searched.append(case[2]))
    guesses = np.tile(chain.law.argmax(axis=1), (3, 1))
    found = np.array([0.0, 0.0, chain.success(guesses[0], needed), 1.0, 0.0])
    best_guess.bound_first(look(chain), needed, 1e-9, found, guesses, chain.room(needed, 3), total, tried)
    assert searched == ([0] if left < penalties.STALLED else [])
    assert found[best_guess.LEVEL] == 1
    assert chain.best(chain.a, 0, needed) * (1 - 1e-12) <= found[best_guess.UPPER] < 1


@settings(max_examples=40)
@given(small_chains(), st.sampled_from([2, 3]))
def test_enough_nodes_close_the_bracket(chain: Chain, level: int) -> None:
    for needed in range(1, chain.steps + 1):
        best = chain.best(chain.a, 0, needed)
        guess = np.full(chain.steps, np.flatnonzero(chain.named)[0])
        lower, upper, *_ = bracket(chain, needed, level, chain.success(guess, needed), 0.0, guess, 400)
        assert (lower, upper) == pytest.approx((best, best), abs=1e-12)


@settings(max_examples=40)
@given(small_chains(), st.sampled_from([0.0, 0.3]))
def test_nothing_is_searched_where_the_guess_is_close_enough(chain: Chain, tolerance: float) -> None:
    for needed in range(1, chain.steps + 1):
        guesses, successes = chain.guesses(chain.a, 0, needed)
        best, guess = float(successes.max()), guesses[successes.argmax()].copy()
        lower, upper, used, _ = bracket(chain, needed, 3, best, tolerance, guess, 400)
        assert lower == pytest.approx(best, abs=1e-12)
        assert upper <= best * (1 + tolerance) + 1e-12 or used > 0
        if tolerance:
            assert upper <= max(best * (1 + tolerance), best) + 1e-9


def told_once(chain: Chain, V: Floats, needed: int) -> float:
    """The bound that `bracket` begins with: at the first step the place is told, and all later entries are known."""
    options = [float(chain.a @ V[0, needed])]
    for g in np.flatnonzero(chain.named):
        later = np.where(chain.place_of == g, V[0, needed - 1], V[0, needed])
        options.append(float(chain.a @ later))
    return max(options)


@settings(max_examples=40)
@given(small_chains(), st.integers(0, 3))
def test_the_first_bound_is_the_smaller_of_two(chain: Chain, level: int) -> None:
    """Told the first place, or the union over first right steps: whichever is smaller, and at most one."""
    seen = look(chain)
    for needed in range(1, chain.steps + 1):
        V = np.empty((chain.steps, needed + 1, chain.states))
        scratch = chain.room(needed, 3)
        best_first.ceilings(V, seen, needed, level, scratch)
        blind = ceiling.first_right(V, seen, chain.a, 0, needed, scratch)
        first = min(told_once(chain, V, needed), blind, 1.0)
        # A tolerance that accepts anything leaves nothing to search: the first bound is what is returned.
        guess = np.full(chain.steps, np.flatnonzero(chain.named)[0])
        lower, upper, used, _ = bracket(chain, needed, level, 1e-15, 1e18, guess, 3)
        assert (lower, used) == (1e-15, 0)
        assert upper == pytest.approx(max(first, 1e-15), abs=1e-12)
        # A search of a single node may find nothing better, and must not undo it.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(best_guess, "ROOT_NODES", np.ones(penalties.LEVELS, np.int64))
            lower, upper, used, _ = bracket(chain, needed, level, 1e-15, 0.0, guess, 3)
        assert used <= 1
        assert upper <= max(first, lower) + 1e-12


def test_constants_are_never_those_that_may_not_be_named() -> None:
    """Nobody is ever at the one place that may be named: naming the other would always be right."""
    chain = Chain(1, 2, 3)
    chain.a, chain.named = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    chain.Q[:] = np.eye(2)
    seen = look(chain)
    for named in (chain.named, chain.named[::-1]):
        guess = np.full(3, int(named.argmax()))
        low, _ = best_guess.try_constants(seen._replace(named=named), 2, 0.0, guess, np.empty((3, 3, 2)))
        assert (named[guess] > 0).all()
        assert low == named[0]


@given(small_chains(), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.9]))
def test_series_that_are_hardly_likely_keep_plain_guesses(chain: Chain, seed: int, tolerance: float) -> None:
    """All series tell nothing, so each has the same best guess; those left to the last are not searched."""
    rng, needed = np.random.default_rng(seed), int(1 + seed % chain.steps)
    mass = rng.permutation(np.append(1.0, rng.random(4) * 10.0 ** -rng.integers(1, 6, 4)))
    mass /= mass.sum()
    nothing = silence(chain.steps, chain.states), np.ones((5, chain.steps, 1))
    table, guesses, _ = best_guess.brackets(
        *(chain.a, chain.Q, chain.place_of, *nothing, mass, np.ones(5), chain.named, chain.steps - needed),
        *(tolerance, 0.0, False, np.zeros(5)),
    )
    best, floor, rest = chain.best(chain.a, 0, needed), 0.0, 1.0
    for i in np.argsort(-mass):
        assert table[i, 2] == pytest.approx(chain.success(guesses[i, 2], needed), abs=1e-12)
        assert table[i, 2] <= best + 1e-12
        assert table[i, 3] >= best - 1e-12
        if rest <= 0.1 * tolerance * floor:
            assert table[i, 2] == max(table[i, 0], table[i, 1])
            assert table[i, 3] == 1
        floor += mass[i] * max(table[i, 0], table[i, 1])
        rest -= mass[i]
