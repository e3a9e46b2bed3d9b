from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import Chain, masked_cases, small_chains, successes
from tests.oracle import World
from tests.strategies import FINITE, Case

from passerby.kernels import brackets, search
from passerby.series import enumerate_series, relative

Floats = NDArray[np.float64]


def scratch(chain: Chain, nodes: int, needed: int) -> tuple[Any, ...]:
    entries = (nodes + 1) * chain.places
    return (
        np.empty((nodes + 1, needed, chain.places)),
        np.empty(entries),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(nodes + 1, np.int64),
        np.empty(nodes + 1),
        np.empty((chain.steps, chain.places)),
        np.empty(chain.places),
        np.empty(chain.places),
    )


def run(chain: Chain, V: Floats, needed: int, nodes: int, cutoff: float, careful: bool) -> tuple[Any, ...]:
    guess = np.full(chain.steps, -1)
    room = scratch(chain, nodes, needed)
    bound, used, whole, work = search.search(
        V, chain.Q, chain.named, chain.pinned, chain.a, 0, needed, nodes, cutoff, careful, guess, room
    )
    return bound, used, whole, work, guess


@pytest.mark.usefixtures("plain_class")
class TestSearch:
    @settings(max_examples=30)
    @given(small_chains(), st.booleans(), st.integers(0, 10**6))
    def test_a_few_nodes_give_a_bound(self, chain: Chain, careful: bool, seed: int) -> None:
        for needed in range(1, chain.steps + 1):
            V, best = chain.loosened(needed, seed), chain.best(chain.a, 0, needed)
            bounds = []
            for nodes in (1, 2, 5):
                bound, used, _, work, _ = run(chain, V, needed, nodes, 0.0, careful)
                assert bound >= best - 1e-12
                assert 1 <= used <= nodes
                assert work > 0
                bounds.append(bound)
            assert (np.diff(bounds) <= 1e-12).all()

    @settings(max_examples=30)
    @given(small_chains(), st.booleans(), st.integers(0, 10**6))
    def test_enough_nodes_give_the_best_guess(self, chain: Chain, careful: bool, seed: int) -> None:
        for needed in range(1, chain.steps + 1):
            V, best = chain.loosened(needed, seed), chain.best(chain.a, 0, needed)
            bound, _, whole, _, guess = run(chain, V, needed, 3000, 0.0, careful)
            assert bound == pytest.approx(best, abs=1e-12)
            assert whole == (best > 0)
            if whole:
                assert chain.success(guess, needed) == pytest.approx(best, abs=1e-12)
                assert (chain.named[guess] > 0).all()

    @settings(max_examples=20)
    @given(small_chains(), st.booleans())
    def test_nothing_above_the_cutoff_is_missed(self, chain: Chain, careful: bool) -> None:
        needed = max(1, chain.steps - 1)
        V, best = chain.loosened(needed, 0), chain.best(chain.a, 0, needed)
        bound, _, whole, _, _ = run(chain, V, needed, 3000, best * 1.05, careful)
        assert not whole
        assert bound == best * 1.05
        if best > 0:
            bound, _, whole, _, _ = run(chain, V, needed, 3000, best * 0.95, careful)
            assert whole
            assert bound == pytest.approx(best, abs=1e-12)

    def test_exact_estimates_find_the_best_guess_at_once(self) -> None:
        """When steps are independent, being told the place helps with nothing to come."""
        chain = Chain(4, 3, 4)
        chain.Q[:] = chain.Q[:, :1]
        bound, used, whole, _, guess = run(chain, chain.exact(3), 3, 100, 0.0, False)
        assert whole
        assert used == chain.steps
        assert bound == pytest.approx(chain.best(chain.a, 0, 3))
        assert (guess == [chain.a.argmax(), *chain.Q[:, 0].argmax(axis=1)]).all()


@pytest.mark.usefixtures("plain_class")
class TestHeap:
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
    def test_entries_come_out_in_decreasing_order(self, values: list[float]) -> None:
        bound, heap, size = np.array(values), np.empty(len(values), np.int64), 0
        for entry in range(len(values)):
            size = search.put(heap, size, bound, entry)
        out = []
        while size:
            top, size = search.take(heap, size, bound)
            out.append(top)
        assert sorted(out) == list(range(len(values)))
        assert (np.diff(bound[out]) <= 0).all()


class TestBrackets:
    def call(self, case: Case, tolerance: float, budget: float) -> tuple[Any, ...]:
        series = enumerate_series(case.prior, case.release)
        assert series is not None
        named = case.prior.guessable.astype(np.float64)
        table, guesses, total = brackets.brackets(
            case.prior.initial,
            case.prior.matrices,
            case.release.grid,
            relative(series.evidence),
            series.mass,
            named,
            case.misses,
            tolerance,
            budget,
            False,
            np.zeros(len(series)),
        )
        return series, table, guesses, total

    @settings(max_examples=30)
    @given(masked_cases(mechanisms=FINITE), st.sampled_from([0.0, 0.2]), st.sampled_from([0.0, 1e5, 1e9]))
    def test_every_series_is_bracketed(self, case: Case, tolerance: float, budget: float) -> None:
        series, table, guesses, total = self.call(case, tolerance, budget)
        world = World(case.prior, case.steps)
        channel = world.likelihoods(case.release)
        channel = channel[channel @ world.chance > 0]
        # The same series, in decreasing order of probability.
        best = successes(world, channel, case.misses, case.prior.guessable)
        assert (series.mass @ table[:, 2]) <= best.sum() + 1e-9
        assert (series.mass @ table[:, 3]) >= best.sum() - 1e-9
        if tolerance == 0 and budget == 1e9:
            np.testing.assert_allclose(np.sort(series.mass * table[:, 2]), np.sort(best), atol=1e-9)
            np.testing.assert_allclose(table[:, 2], table[:, 3], atol=1e-9)
        assert (table[:, :3].max(axis=1) <= table[:, 3] + 1e-12).all()
        assert total[0] >= 0
        assert case.prior.guessable[guesses].all()

    @settings(max_examples=20)
    @given(masked_cases())
    def test_the_guesses_have_the_success_that_is_said(self, case: Case) -> None:
        series, table, guesses, _ = self.call(case, 0.0, 1e9)
        world = World(case.prior, case.steps)
        for i in range(min(len(series), 12)):
            likelihood = np.ones(len(world.traces))
            for t, step in enumerate(case.release.sensors):
                weight = np.full(case.prior.places, np.exp(series.evidence[i, t, 0]))
                weight[list(step)] = np.exp(series.evidence[i, t, 1 : len(step) + 1])
                likelihood *= weight[world.traces[:, t]]
            for which in range(3):
                expected = world.success(guesses[i, which], case.misses, likelihood)
                assert table[i, which] == pytest.approx(expected, abs=1e-9)
