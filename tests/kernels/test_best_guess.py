import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import silence
from tests.guesses import Chain, small_chains, taken

from passerby.kernels import ascent, best_guess, ceiling, posterior, stages

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


pytestmark = pytest.mark.usefixtures("plainly")


def look(chain: Chain) -> posterior.Chain:
    seen = chain.unseen
    posterior.look(seen)
    return seen


@given(small_chains())
def test_looking_at_a_chain(chain: Chain) -> None:
    seen = look(chain)
    np.testing.assert_allclose(seen.law, chain.law, atol=1e-12)
    for t in range(chain.steps):
        there = np.unique(chain.place_of[seen.law[t] > 0])
        certain = len(there) == 1 and chain.named[there[0]] > 0
        assert seen.pinned[t] == (there[0] if certain else -1)


@given(small_chains())
def test_ways_are_apart_where_no_two_states_of_one_place_can_be_reached(chain: Chain) -> None:
    reached = step = (chain.Q != 0).any(axis=0)
    for _ in range(chain.states):
        reached = reached | reached @ step
    shared = [len(set(chain.place_of[row])) < row.sum() for row in reached]
    assert not (best_guess.ways_apart(chain.taken) and any(shared))


def test_ways_may_meet_where_rows_are_apart() -> None:
    """Whoever was at place 0 is known by other states from there on, also back at place 1; a mode is kept to."""
    half = np.full((2, 2), 0.5)
    visits = np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.5]])
    modes = np.kron(np.eye(2), half)
    for moves, apart in ((visits, False), (modes, True)):
        chain = taken(np.full(4, 0.25), moves[None], np.ones(2), np.array([0, 1, 0, 1]))
        assert best_guess.rows_apart(chain)
        assert best_guess.ways_apart(chain) == apart


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
@given(small_chains(), st.integers(0, stages.LEVELS - 1), st.sampled_from([1, 2, 5, 60]))
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
        assert 0 <= used <= min(nodes, stages.ROOT_NODES[level])
        assert work > 0


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
        best_guess.ceilings(V, seen, needed, level, scratch)
        blind = ceiling.first_right(V, seen, chain.a, 0, needed, scratch)
        first = min(told_once(chain, V, needed), blind, 1.0)
        # A tolerance that accepts anything leaves nothing to search: the first bound is what is returned.
        guess = np.full(chain.steps, np.flatnonzero(chain.named)[0])
        lower, upper, used, _ = bracket(chain, needed, level, 1e-15, 1e18, guess, 3)
        assert (lower, used) == (1e-15, 0)
        assert upper == pytest.approx(max(first, 1e-15), abs=1e-12)
        # A search of a single node may find nothing better, and must not undo it.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(best_guess, "ROOT_NODES", np.ones(stages.LEVELS, np.int64))
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


class TestCeilings:
    """The table over known states, entry by entry: each is the smallest of what its level offers."""

    @settings(max_examples=30)
    @given(small_chains(pins=1), st.integers(0, stages.LEVELS - 1), st.sampled_from([1, 3, 300]))
    def test_never_below_the_best_and_closer_with_effort(self, chain: Chain, level: int, nodes: int) -> None:
        seen = look(chain)
        for needed in range(1, chain.steps + 1):
            exact, tables = chain.exact(needed), []
            for effort in (0, level):
                V = np.full((chain.steps, needed + 1, chain.states), np.nan)
                scratch = chain.room(needed, nodes)
                assert best_guess.ceilings(V, seen, needed, effort, scratch) >= 0
                tables.append(V)
                assert (V[:, 0] == 1).all()
                assert (V <= 1).all()
                for t in range(chain.steps):
                    there = seen.law[t] > 0
                    for k in range(max(1, needed - t - 1), needed + 1):
                        assert (V[t, k, there] >= exact[t, k, there] - 1e-12).all()
                        if k > chain.steps - 1 - t:
                            assert (V[t, k] == 0).all()
            # Effort is never wasted at the last steps, where nothing else has changed.
            if chain.steps > 1:
                assert (tables[1][-2] <= tables[0][-2] + 1e-12).all()

    @settings(max_examples=30)
    @given(small_chains(pins=1))
    def test_enough_effort_makes_frequent_entries_exact(self, chain: Chain) -> None:
        """Where the union is not the smaller bound, a search with enough nodes finds the best guess from the state."""
        seen = look(chain)
        level = 4
        for needed in range(1, chain.steps + 1):
            exact = chain.exact(needed)
            V = np.empty((chain.steps, needed + 1, chain.states))
            scratch = chain.room(needed, 300)
            best_guess.ceilings(V, seen, needed, level, scratch)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(best_guess, "UNION_LIMIT", 0.0)
                frequent = np.empty_like(V)
                best_guess.ceilings(frequent, seen, needed, level, scratch)
            for t in range(chain.steps - 1):
                there = seen.law[t] > 0
                for k in range(max(1, needed - t - 1), min(needed, chain.steps - 1 - t) + 1):
                    found, best = frequent[t, k, there], exact[t, k, there]
                    assert found[best > 1e-9] == pytest.approx(best[best > 1e-9], abs=1e-9)

    @settings(max_examples=60)
    @given(small_chains(pins=1), st.sampled_from([0, 1, 3]))
    def test_each_entry_is_the_smallest_of_what_its_level_offers(self, chain: Chain, level: int) -> None:
        """Told the next place, the union over first right steps, and above level 1 with avoidance; nothing searched."""
        seen = look(chain)
        for needed in range(1, chain.steps + 1):
            V = np.full((chain.steps, needed + 1, chain.states), np.nan)
            scratch = chain.room(needed, 3)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(best_guess, "STATE_NODES", np.ones(stages.LEVELS, np.int64))
                best_guess.ceilings(V, seen, needed, level, scratch)
            for t in range(chain.steps - 1):
                for k in range(max(1, needed - t - 1), min(needed, chain.steps - 1 - t) + 1):
                    for x in np.flatnonzero(seen.law[t]):
                        gain, sums = (
                            (V[t + 1, k - 1] - V[t + 1, k]) * chain.named[chain.place_of],
                            np.empty(chain.places),
                        )
                        told = ceiling.told_step(V, seen, t, x, k, gain, False, sums)
                        unions, unknown = np.empty((needed + 1, chain.states)), V.copy()
                        unknown[t] = np.inf  # no sum is given up
                        ceiling.union_sums(unknown, seen, t, k, k, False, unions, sums)
                        union = unions[k, x]
                        avoiding = ceiling.first_right(V, seen, chain.Q[t, x], t + 1, k, scratch)
                        if union < told - 1e-12:
                            told = avoiding if level > 1 else union
                        if abs(union - told) > 1e-12 or level < 2:
                            assert V[t, k, x] == pytest.approx(min(told, 1.0), abs=1e-12)

    def test_avoidance_beats_the_union_where_right_steps_are_rare(self) -> None:
        """From the first place to one of three, and there for good, with two of three steps to be right.

        Told the place, nothing can go wrong. The likeliest place may be the first right one at two steps, which counts
        it twice; it cannot be so at the second step after being right at the first.
        """
        chain = Chain(1, 4, 4)
        chain.a = np.eye(4)[0]
        chain.Q[0] = [0, 0.34, 0.33, 0.33]
        chain.Q[0, 0] = [0, 0.4, 0.3, 0.3]
        chain.Q[1:] = np.eye(4)
        seen = look(chain)
        values = []
        for level in (1, 3):
            V = np.empty((4, 3, 4))
            scratch = chain.room(2, 300)
            best_guess.ceilings(V, seen, 2, level, scratch)
            values.append(V[0, 2, 0])
        best = chain.best(chain.Q[0, 0], 1, 2)
        assert best == pytest.approx(0.4)
        assert values == pytest.approx([0.4 + 0.4, 0.4 + 0.3])


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
