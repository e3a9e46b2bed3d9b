import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guesses import Chain, look, small_chains, taken

from passerby.kernels.search import best_first, ceiling, penalties

pytestmark = pytest.mark.usefixtures("plainly")


@given(small_chains())
def test_ways_are_apart_where_no_two_states_of_one_place_can_be_reached(chain: Chain) -> None:
    reached = step = (chain.Q != 0).any(axis=0)
    for _ in range(chain.states):
        reached = reached | reached @ step
    shared = [len(set(chain.place_of[row])) < row.sum() for row in reached]
    assert not (best_first.ways_apart(chain.taken) and any(shared))


def test_ways_may_meet_where_rows_are_apart() -> None:
    """Whoever was at place 0 is known by other states from there on, also back at place 1; a mode is kept to."""
    half = np.full((2, 2), 0.5)
    visits = np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.5]])
    modes = np.kron(np.eye(2), half)
    for moves, apart in ((visits, False), (modes, True)):
        chain = taken(np.full(4, 0.25), moves[None], np.ones(2), np.array([0, 1, 0, 1]))
        assert best_first.rows_apart(chain)
        assert best_first.ways_apart(chain) == apart


class TestCeilings:
    """The table over known states, entry by entry: each is the smallest of what its level offers."""

    @settings(max_examples=30)
    @given(small_chains(pins=1), st.integers(0, penalties.LEVELS - 1), st.sampled_from([1, 3, 300]))
    def test_never_below_the_best_and_closer_with_effort(self, chain: Chain, level: int, nodes: int) -> None:
        seen = look(chain)
        for needed in range(1, chain.steps + 1):
            exact, tables = chain.exact(needed), []
            for effort in (0, level):
                V = np.full((chain.steps, needed + 1, chain.states), np.nan)
                scratch = chain.room(needed, nodes)
                assert best_first.ceilings(V, seen, needed, effort, scratch) >= 0
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
            best_first.ceilings(V, seen, needed, level, scratch)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(penalties, "UNION_LIMIT", 0.0)
                frequent = np.empty_like(V)
                best_first.ceilings(frequent, seen, needed, level, scratch)
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
                patch.setattr(best_first, "STATE_NODES", np.ones(penalties.LEVELS, np.int64))
                best_first.ceilings(V, seen, needed, level, scratch)
            for t in range(chain.steps - 1):
                for k in range(max(1, needed - t - 1), min(needed, chain.steps - 1 - t) + 1):
                    for x in np.flatnonzero(seen.law[t]):
                        gain, sums = (
                            (V[t + 1, k - 1] - V[t + 1, k]) * chain.named[chain.place_of],
                            np.empty(chain.places),
                        )
                        told = ceiling.known_step(V, seen, t, x, k, gain, False, sums)
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
            best_first.ceilings(V, seen, 2, level, scratch)
            values.append(V[0, 2, 0])
        best = chain.best(chain.Q[0, 0], 1, 2)
        assert best == pytest.approx(0.4)
        assert values == pytest.approx([0.4 + 0.4, 0.4 + 0.3])
