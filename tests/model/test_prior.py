from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.oracle import World
from tests.strategies import chains

import passerby as pb
from passerby.model.chains import stationary_distribution

HALF = [[0.5, 0.5], [0.5, 0.5]]


class TestInput:
    @pytest.mark.parametrize(
        ("initial", "transition", "message"),
        [
            ([0.5, 0.4], HALF, r"^initial sums to 0\.9, not 1"),
            ([0.5, 0.5], [[0.5, 0.5], [0.7, 0.4]], r"^transition\[1\] sums to 1\.1, not 1"),
            ([0.5, 0.5], [[0.6, 0.5], [0.7, 0.4]], r"^transition\[0\] sums to 1\.1, .*\(2 such rows in all\)"),
            ([0.5, 0.5], [HALF, [[0.5, 0.5], [0.5, 0.3]]], r"^transition\[1, 1\] sums to 0\.8, not 1"),
            ([1.5, -0.5], HALF, r"^initial\[1\] = -0\.5 is negative"),
            ([0.5, 0.5], [[0.5, 0.5], [1.25, -0.25]], r"^transition\[1, 1\] = -0\.25 is negative"),
            ([np.nan, 1], HALF, r"^initial\[0\] = .*nan.* is not a number"),
            ([0.5, 0.5], [[0.5, np.nan], [0.5, 0.5]], r"^transition\[0, 1\] = .*nan.* is not a number"),
            ([0.5, 0.5], [[0.5, 0.5], [np.inf, 0.5]], r"^transition\[1, 0\] = .*inf.* is infinite"),
            ([], HALF, r"^initial: .*\(0,\)"),
            ([[0.5, 0.5]], HALF, r"^initial: .*\(1, 2\)"),
            ([1.0], HALF, r"^transition: expected a shape \(1, 1\).*got \(2, 2\)"),
            ([0.5, 0.5], [0.5, 0.5], r"^transition: .*got \(2,\)"),
            ([0.5, 0.5], [[0.5, 0.5]], r"^transition: .*got \(1, 2\)"),
            ([0.5, 0.5], [[0.5, 0.5], [1.0]], r"^transition: expected numbers in a regular array"),
            (["here", "there"], HALF, r"^initial: expected numbers"),
        ],
    )
    def test_is_refused_with_argument_position_and_value(self, initial: Any, transition: Any, message: str) -> None:
        with pytest.raises(pb.InputError, match=message):
            pb.MarkovPrior(initial, transition)

    @pytest.mark.parametrize("transition", [[0.5, 0.5], [HALF, HALF], [], [[1.0, 0.0]]])
    def test_stationary_needs_one_square_matrix(self, transition: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^transition: "):
            pb.MarkovPrior.stationary(transition)

    @pytest.mark.parametrize(
        "given", [{"guessable": [True]}, {"guessable": [False, False]}, {"merged_entropy": [0.0, 0.0, 0.5]}]
    )
    def test_states_are_described_one_by_one(self, given: dict[str, Any]) -> None:
        with pytest.raises(pb.InputError, match=r"^guessable and merged_entropy: .* \(2,\), with a place to guess"):
            pb.MarkovPrior([0.5, 0.5], HALF, **given)

    def test_stationary_names_a_bad_row(self) -> None:
        with pytest.raises(pb.InputError, match=r"^transition\[1\] sums to 0\.5"):
            pb.MarkovPrior.stationary([[0.5, 0.5], [0.25, 0.25]])

    def test_errors_are_also_value_errors(self) -> None:
        with pytest.raises(ValueError, match="initial"):
            pb.MarkovPrior([2.0], [[1.0]])

    @pytest.mark.parametrize("places", [0, -3, 2.5, True, "ten"])
    def test_line_refuses_places(self, places: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^places: .*" + str(places)):
            pb.line_prior(places)

    @pytest.mark.parametrize("tau", [0, -1.0, np.inf, np.nan])
    def test_line_refuses_tau(self, tau: float) -> None:
        with pytest.raises(pb.InputError, match=r"^tau: .*" + str(tau)):
            pb.line_prior(10, tau)

    @pytest.mark.parametrize("steps", [0, -1, 2.0, True])
    def test_steps_are_whole_and_positive(self, steps: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^steps: .*" + str(steps)):
            pb.line_prior(3).check_steps(steps)

    def test_a_matrix_per_step_fits_one_number_of_steps(self) -> None:
        prior = pb.MarkovPrior([0.5, 0.5], [HALF, HALF])
        assert prior.check_steps(3) == 3
        with pytest.raises(pb.InputError, match=r"5 steps need 4 matrices .* has 2"):
            prior.marginals(5)


class TestRecord:
    def test_copies_and_freezes_what_it_is_given(self) -> None:
        initial, moves = np.array([0.5, 0.5]), np.array(HALF)
        prior = pb.MarkovPrior(initial, moves)
        initial[0], moves[0, 0] = 9, 9
        assert prior.initial[0] == prior.transition[0, 0] == 0.5
        with pytest.raises(ValueError, match="read-only"):
            prior.transition[0, 0] = 1
        with pytest.raises(AttributeError):
            prior.initial = initial  # type: ignore[misc]

    def test_rows_off_by_rounding_are_divided_by_their_sum(self) -> None:
        prior = pb.MarkovPrior([0.3333333, 0.3333333, 0.3333333], np.full((3, 3), 0.3333333))
        assert prior.initial.sum() == pytest.approx(1, abs=1e-15)
        np.testing.assert_allclose(prior.transition.sum(axis=1), 1, atol=1e-15)

    def test_says_what_it_is(self) -> None:
        assert repr(pb.line_prior(7)) == "MarkovPrior(places=7, one matrix)"
        assert "2 matrices" in repr(pb.MarkovPrior([1.0], np.ones((2, 1, 1))))

    def test_knows_whether_it_starts_at_equilibrium(self) -> None:
        moves = [[0.9, 0.1], [0.2, 0.8]]
        assert pb.MarkovPrior.stationary(moves).starts_stationary
        assert not pb.MarkovPrior([1, 0], moves).starts_stationary
        assert not pb.MarkovPrior([0.5, 0.5], [HALF]).starts_stationary

    @pytest.mark.parametrize("leak", [1e-11, 1e-14, 1e-300])
    def test_a_slow_leak_is_no_equilibrium(self, leak: float) -> None:
        moves = np.array([[1 - leak, leak], [0.0, 1.0]])
        assert not pb.MarkovPrior([1, 0], moves).starts_stationary
        assert pb.MarkovPrior([0, 1], moves).starts_stationary

    @pytest.mark.parametrize("places", [2, 30, 300])
    def test_an_equilibrium_is_known_in_spite_of_rounding(self, places: int) -> None:
        rng = np.random.default_rng(places)
        assert pb.line_prior(places).starts_stationary
        assert pb.MarkovPrior.stationary(rng.dirichlet(np.full(places, 0.1), places)).starts_stationary


class TestStationary:
    @pytest.mark.parametrize("places", [1, 2, 7, 60])
    def test_is_left_unchanged(self, places: int) -> None:
        moves = np.random.default_rng(places).dirichlet(np.full(places, 0.1), places)
        prior = pb.MarkovPrior.stationary(0.999 * moves + 0.001 / places)
        np.testing.assert_allclose(prior.initial @ prior.transition, prior.initial, atol=1e-15)
        assert prior.initial.sum() == pytest.approx(1)

    def test_periodic(self) -> None:
        cycle = np.roll(np.eye(5), 1, axis=1)
        np.testing.assert_allclose(pb.MarkovPrior.stationary(cycle).initial, 0.2)

    def test_places_that_are_left_for_good_get_nothing(self) -> None:
        moves = [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.0, 0.25, 0.75]]
        np.testing.assert_allclose(pb.MarkovPrior.stationary(moves).initial, [0, 1 / 3, 2 / 3], atol=1e-15)

    def test_absorbing(self) -> None:
        np.testing.assert_array_equal(pb.MarkovPrior.stationary([[0.5, 0.5], [0.0, 1.0]]).initial, [0, 1])

    def test_rare_moves_keep_their_relative_precision(self) -> None:
        tiny = 1e-12
        found = pb.MarkovPrior.stationary([[1 - tiny, tiny], [3 * tiny, 1 - 3 * tiny]]).initial
        np.testing.assert_allclose(found, [0.75, 0.25], rtol=1e-3)
        cold = pb.MarkovPrior.stationary([[1 - 1e-14, 1e-14], [1.0, 0.0]]).initial
        assert cold[1] == pytest.approx(1e-14, rel=1e-2)

    def test_more_than_one_class_is_refused_and_they_are_listed(self) -> None:
        moves = np.eye(9)
        moves[0, :3] = [0, 0.5, 0.5]
        moves[3:5, 3:5] = 0.5
        with pytest.raises(
            pb.InputError, match=r"not unique, because 7 groups .*\{1\}, \{2\}, \{3, 4\}, \{5\} and more"
        ):
            pb.MarkovPrior.stationary(moves)
        halves = np.eye(9)
        halves[:8, :8] = 1 / 8
        with pytest.raises(pb.InputError, match=r"2 groups of places .*: \{0, 1, 2, 3, 4, 5, \.\.\.\}, \{8\};"):
            stationary_distribution(halves)


class TestGap:
    def test_values(self) -> None:
        assert pb.MarkovPrior([0.5, 0.5], HALF).spectral_gap == pytest.approx(1)
        assert pb.MarkovPrior([0.5, 0.5], np.eye(2)).spectral_gap == pytest.approx(0)
        assert pb.MarkovPrior([0.5, 0.5], [[0, 1], [1, 0]]).spectral_gap == pytest.approx(0)
        assert pb.MarkovPrior([1.0], [[1.0]]).spectral_gap == 1
        assert pb.MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]).spectral_gap == pytest.approx(0.3)

    def test_needs_one_matrix(self) -> None:
        with pytest.raises(pb.InputError, match="spectral_gap"):
            _ = pb.MarkovPrior([0.5, 0.5], [HALF]).spectral_gap


class TestLine:
    def test_is_the_papers_chain(self) -> None:
        prior = pb.line_prior(places=4, tau=0.5)
        weight = np.exp(-np.abs(np.subtract.outer(range(4), range(4))) / (0.5 * 4))
        np.testing.assert_allclose(prior.transition, weight / weight.sum(axis=1, keepdims=True), rtol=1e-14)
        np.testing.assert_allclose(prior.initial, pb.MarkovPrior.stationary(prior.transition).initial, rtol=1e-12)
        assert prior.starts_stationary

    def test_one_place(self) -> None:
        assert pb.line_prior(1).transition.tolist() == [[1.0]]

    def test_extreme_tau(self) -> None:
        still = pb.line_prior(5, tau=1e-9)
        np.testing.assert_array_equal(still.transition, np.eye(5))
        np.testing.assert_allclose(pb.line_prior(5, tau=1e9).transition, 0.2, rtol=1e-6)


@given(chains())
def test_marginals_are_those_of_all_traces(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    world = World(prior, steps)
    np.testing.assert_allclose(
        prior.marginals(steps), world.posterior_marginals(np.ones(len(world.traces))), atol=1e-12
    )


class TestSample:
    def test_has_the_law_of_the_chain(self) -> None:
        prior = pb.MarkovPrior([0.2, 0.8, 0], [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
        runs = 20_000
        traces = prior.sample(runs, 4, np.random.default_rng(1))
        world = World(prior, 4)
        seen = np.bincount(np.ravel_multi_index(tuple(traces.T), (3,) * 4), minlength=81) / runs
        assert (seen[world.chance == 0] == 0).all()
        np.testing.assert_allclose(seen, world.chance, atol=4 * np.sqrt(0.25 / runs))

    def test_is_the_same_for_the_same_generator(self) -> None:
        prior = pb.line_prior(9)
        first, second = (prior.sample(5, 6, np.random.default_rng(3)) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_a_matrix_per_step(self) -> None:
        prior = pb.MarkovPrior([1, 0], [[[0, 1], [1, 0]], [[1, 0], [0, 1]]])
        np.testing.assert_array_equal(prior.sample(3, 3, np.random.default_rng(0)), [[0, 1, 1]] * 3)
