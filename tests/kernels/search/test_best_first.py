from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import of_case, posterior
from tests.guesses import Chain, masked_cases, poorly, small_chains, successes, taken
from tests.oracle import World
from tests.states import state_cases
from tests.strategies import FINITE, Case
from tests.strategies import chain as random_chain

import passerby as pb
from passerby.kernels.search import ascent, best_first, best_guess, ceiling, penalties
from passerby.outcomes.series import Series, enumerate_series, relative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def run(chain: Chain, V: Floats, needed: int, nodes: int, cutoff: float, careful: bool) -> tuple[Any, ...]:
    guess = np.full(chain.steps, -1)
    bound, used, whole, work = best_first.search(
        V, chain.taken, chain.a, 0, needed, nodes, cutoff, careful, guess, chain.room(needed, nodes)
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

    @given(small_chains(), st.integers(0, 10**6))
    def test_hopes(self, chain: Chain, seed: int) -> None:
        """Of any table of (number right, place): being told the place, and not being told it."""
        rng = np.random.default_rng(seed)
        k, d = int(rng.integers(1, chain.steps + 1)), int(rng.integers(chain.steps))
        V, (first, last) = chain.loosened(k, seed), ascent.rows_alive(k, d, chain.steps)
        table, won = rng.random((k, chain.states)) * (rng.random((k, 1)) < 0.8), float(rng.random())
        gain, blind_gain = np.full(chain.places, np.nan), np.full(chain.places, np.nan)
        total = best_first.hope(V, chain.taken, k, table, first, last, d, won, gain)
        room = chain.room(k, 1)
        blind = best_first.blind_hope(V, chain.taken, k, table, first, last, d, won, blind_gain, room)
        told = {r: float(table[r] @ V[d, k - r]) for r in range(first, last)}
        none = np.zeros(chain.states)
        less = chain.by_place(sum((table[r] * V[d, k - r - 1] for r in range(first, last)), none))
        now = chain.by_place(sum((table[r] * V[d, k - r] for r in range(first, last)), none))
        assert total == pytest.approx(won + sum(told.values()), abs=1e-12)
        assert gain == pytest.approx(less - now, abs=1e-12)
        for r, value in told.items():
            if value > 0 and d + 1 < chain.steps:
                ahead = table[r] @ chain.Q[d]
                union = ceiling.first_right(V, chain.taken, ahead, d + 1, k - r, chain.room(k, 1))
                told[r] = min(value, union)
        assert blind == pytest.approx(won + sum(told.values()), abs=1e-12)
        assert blind_gain == pytest.approx(less, abs=1e-12)

    @given(small_chains(), st.booleans(), st.integers(0, 10**6))
    def test_the_first_node_gives_the_best_hope_of_all_places(self, chain: Chain, careful: bool, seed: int) -> None:
        for needed in range(1, chain.steps + 1):
            V = chain.loosened(needed, seed)
            table, gain, blind_gain = chain.a[None], np.empty(chain.places), np.empty(chain.places)
            rows = ascent.rows_alive(needed, 0, chain.steps)
            values = best_first.hope(V, chain.taken, needed, table, *rows, 0, 0.0, gain) + gain
            if careful:
                room = chain.room(needed, 1)
                blind = best_first.blind_hope(V, chain.taken, needed, table, *rows, 0, 0.0, blind_gain, room)
                values = np.minimum(values, blind + blind_gain)
            sensible = (chain.named > 0) & ((chain.pinned[0] < 0) | (np.arange(chain.places) == chain.pinned[0]))
            bound, used, whole, _, _ = run(chain, V, needed, 1, 0.0, careful)
            assert (used, whole) == (1, False)
            assert bound == pytest.approx(max(0.0, min(1.0, values[sensible].max())), abs=1e-12)

    def test_exact_estimates_find_the_best_guess_at_once(self) -> None:
        """When steps are independent, being told the place helps with nothing to come."""
        chain = Chain(4, 3, 4)
        chain.Q[:] = chain.Q[:, :1]
        bound, used, whole, _, guess = run(chain, chain.exact(3), 3, 100, 0.0, False)
        assert whole
        assert used == chain.steps
        assert bound == pytest.approx(chain.best(chain.a, 0, 3))
        assert (guess == [chain.a.argmax(), *chain.Q[:, 0].argmax(axis=1)]).all()


def brackets_of(case: Case, tolerance: float, budget: float) -> tuple[Any, ...]:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    table, guesses, total = best_guess.brackets(
        case.prior.initial,
        case.prior.matrices,
        case.prior.place_of,
        of_case(case),
        relative(series.evidence),
        series.mass,
        np.ones(len(series)),
        case.prior.guessable.astype(np.float64),
        case.misses,
        tolerance,
        budget,
        False,
        np.zeros(len(series)),
    )
    return series, table, guesses, total


def compare_each(case: Case, series: Series, table: Floats, guesses: Ints) -> None:
    """Guesses succeed as often as is said, and the best guess for the series lies between both ends."""
    world = World(case.prior, case.steps)
    allowed = case.prior.guessable[world.traces].all(axis=1)
    assert case.prior.guessable[guesses[table[:, 4] >= 0]].all()
    for i in range(min(len(series), 12)):
        if table[i, 4] < 0:
            # Too faint to be explained, and said so: it is done in logarithms.
            assert series.mass[i] < 1e-9
            continue
        likelihood = np.ones(len(world.traces))
        for t, step in enumerate(case.release.sensors):
            weight = np.full(case.prior.places, np.exp(series.evidence[i, t, 0]))
            weight[list(step)] = np.exp(series.evidence[i, t, 1 : len(step) + 1])
            likelihood *= weight[world.traces[:, t]]
        for which in range(3):
            expected = world.success(guesses[i, which], case.misses, likelihood)
            assert table[i, which] == pytest.approx(expected, abs=1e-9)
        joint = world.chance * likelihood
        best = (joint @ (world.distance <= case.misses))[allowed].max() / joint.sum()
        assert table[i, 2] - 1e-9 <= best <= table[i, 3] + 1e-9


def ascents(case: Case, weights: Floats, guesses: Ints) -> list[float]:
    """What climbing from each of several guesses for a series gives."""
    a, Q, _ = posterior(case.prior.initial, case.prior.matrices, of_case(case), weights)
    chain = taken(a, Q, case.prior.guessable.astype(np.float64), case.prior.place_of)
    needed = case.steps - case.misses
    room = np.empty((case.steps, needed + 1, case.prior.states))
    return [float(ascent.ascend(chain, guess.copy(), needed, room)) for guess in guesses]


anybody = st.one_of(masked_cases(mechanisms=FINITE), state_cases())
efforts = st.sampled_from([0.0, 1e5, 1e9])


class TestBrackets:
    @settings(max_examples=30)
    @given(anybody, st.sampled_from([0.0, 0.2]), efforts)
    def test_every_series_is_bracketed(self, case: Case, tolerance: float, budget: float) -> None:
        series, table, guesses, total = brackets_of(case, tolerance, budget)
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
        compare_each(case, series, table, guesses)

    def test_an_impossible_series_is_said_to_be(self) -> None:
        chain = np.array([1.0, 0.0]), np.eye(2)[None], np.arange(2), np.array([[0, 1], [1, 0]])
        weights = np.array([[[1.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]])
        named, mass = np.ones(2), np.array([0.0, 1.0])
        table, _, _ = best_guess.brackets(*chain, weights, mass, np.ones(2), named, 0, 0.0, 1e6, False, np.zeros(2))
        assert table[0, 4] == -1
        assert table[1, :4].tolist() == [1, 1, 1, 1]


@pytest.mark.usefixtures("plain_class")
class TestEffort:
    @settings(max_examples=30)
    @given(anybody, efforts)
    def test_the_best_guess_is_at_least_what_climbing_gives(self, case: Case, budget: float) -> None:
        series, table, guesses, _ = brackets_of(case, 0.0, budget)
        for i, weights in enumerate(relative(series.evidence)[:12]):
            assert table[i, 4] < 0 or table[i, 2] >= max(ascents(case, weights, guesses[i, :2])) - 1e-12

    @pytest.mark.parametrize(("budget", "nodes"), [(0.0, 1), (1e9, 1), (1e9, 400)])
    @pytest.mark.parametrize("misses", [1, pytest.param(2, marks=pytest.mark.thorough), 3])
    @pytest.mark.parametrize("sensors", [[[]] * 5, [[], 0, [], [], 1]], ids=str)
    def test_where_it_matters_from_which_guess_one_climbs(
        self, sensors: Any, misses: int, budget: float, nodes: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Chains on which the decoded guess leads higher, or the one made step by step."""
        monkeypatch.setattr(best_guess, "ROOT_NODES", np.full(penalties.LEVELS, nodes))
        for seed in (11, 13, 16):
            prior = random_chain(seed, 3 + seed % 2, 5, ("started", "varying", "stationary")[seed % 3])
            case = Case(prior, pb.Release(sensors), misses)
            series, table, guesses, _ = brackets_of(case, 0.0, budget)
            compare_each(case, series, table, guesses)
            for i, weights in enumerate(relative(series.evidence)):
                assert table[i, 4] < 0 or table[i, 2] >= max(ascents(case, weights, guesses[i, :2])) - 1e-12

    @settings(max_examples=40)
    @given(
        anybody,
        st.sampled_from([0.0, 0.2]),
        efforts,
        st.sampled_from([1, 2, 8, 400]),
    )
    def test_poor_guesses(self, case: Case, tolerance: float, budget: float, nodes: int) -> None:
        """On small chains an ascent nearly always finds the best guess, and hides what the bounds do. Here it fails."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(best_guess, "ascend", poorly)
            patch.setattr(best_guess, "ROOT_NODES", np.full(penalties.LEVELS, nodes))
            series, table, guesses, _ = brackets_of(case, tolerance, budget)
        compare_each(case, series, table, guesses)
        if tolerance == 0 and budget == 1e9 and nodes == 400:
            assert table[:, 2] == pytest.approx(table[:, 3], abs=1e-9)
