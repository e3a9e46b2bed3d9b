import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.evidence import all_evidence, classes, of_case, posterior
from tests.oracle import World
from tests.states import state_cases
from tests.strategies import FINITE, Case, cases

import passerby as pb
from passerby.kernels.chain import posterior as kernels
from passerby.kernels.chain.posterior import ranges

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def at_sensors(initial: Floats, matrices: Floats, sensors: Ints, weights: Floats) -> tuple[Floats, Floats, float]:
    """The posterior where a state is a place, and a class that of a sensor (T, S)."""
    return posterior(initial, matrices, classes(sensors, np.arange(len(initial))), weights)


class TestPosterior:
    @given(st.one_of(cases(mechanisms=FINITE), state_cases()))
    def test_is_the_law_of_the_trace_given_the_series(self, case: Case) -> None:
        world, channel, evidence = all_evidence(case)
        # The law of states is that of places, were each of them one.
        states = World(pb.MarkovPrior(case.prior.initial, case.prior.transition), case.steps)
        for likelihood, logged in zip(channel[:20, world.along], evidence[:20], strict=True):
            total = likelihood @ states.chance
            start, moves, log_mass = posterior(case.prior.initial, case.prior.matrices, of_case(case), np.exp(logged))
            if log_mass == -np.inf:
                assert total < 1e-20
                continue
            assert np.exp(log_mass) == pytest.approx(total, rel=1e-9)
            marginals = states.posterior_marginals(likelihood)
            np.testing.assert_allclose(start, marginals[0], atol=1e-9)
            for t, pair in enumerate(states.posterior_pairs(likelihood)):
                np.testing.assert_allclose(marginals[t][:, None] * moves[t], pair, atol=1e-9)

    def test_an_impossible_series_is_said_to_be(self) -> None:
        initial, moves = np.array([1.0, 0.0]), np.eye(2)[None]
        places = np.array([[1], [0]])
        *_, log_mass = at_sensors(initial, moves, places, np.array([[0.0, 1.0], [1.0, 1.0]]))
        assert log_mass == -np.inf
        *_, log_mass = at_sensors(initial, moves, places, np.array([[1.0, 1.0], [1.0, 0.0]]))
        assert log_mass == -np.inf


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 6), st.sampled_from([0.3, 1.0]))
def test_room_that_was_used_before_gives_the_same(seed: int, steps: int, states: int, share: float) -> None:
    """Nothing of an earlier series is left, though rows of states that it reaches may not be reached by a later one."""
    rng = np.random.default_rng(seed)
    initial, matrices = rng.random(states), rng.random((1, states, states))
    matrices[rng.random(matrices.shape) > share] = 0.0
    told = rng.integers(0, 2, (steps, states))
    moves, given = np.zeros((steps - 1, states, states)), (initial, matrices, *ranges(matrices), told)
    kernels.posterior(*given, np.ones((steps, 2)), moves)
    for weights in (rng.random((steps, 2)), rng.integers(0, 2, (steps, 2)).astype(np.float64)):
        start, log_mass = kernels.posterior(*given, weights, moves)
        fresh, expected, exact = posterior(initial, matrices, told, weights)
        assert log_mass == exact
        if log_mass > -np.inf:
            np.testing.assert_array_equal(start, fresh)
            np.testing.assert_array_equal(moves, expected)


@pytest.mark.parametrize("share", [1.0, 0.9, 1e-3])
def test_the_probability_of_a_long_series_does_not_underflow(share: float) -> None:
    """The log probability of 5,000 steps that all have the same share, in closed form."""
    steps, states = 5000, 3
    initial, matrices = np.full(states, 1 / states), np.full((1, states, states), 1 / states)
    told, weights = np.zeros((steps, states), dtype=np.int64), np.full((steps, 1), share)
    start, moves, log_mass = posterior(initial, matrices, told, weights)
    assert log_mass == pytest.approx(steps * math.log(share), rel=1e-12, abs=1e-10)
    np.testing.assert_allclose(start, initial)
    np.testing.assert_allclose(moves, 1 / states)


@given(st.integers(0, 10**6), st.integers(0, 3), st.integers(1, 5), st.sampled_from([0.2, 0.5, 1.0]))
def test_ranges_hold_all_that_is_not_zero_and_no_more(seed: int, count: int, states: int, share: float) -> None:
    """However small it is; a row that is empty in every matrix has an empty range."""
    rng = np.random.default_rng(seed)
    entries = 10.0 ** -rng.choice([0, 12, 300, 320], (count, states, states))
    matrices = np.where(rng.random(entries.shape) < share, entries, 0.0) * (rng.random((states, 1)) < 0.8)
    low, high = ranges(matrices)
    for x in range(states):
        columns = np.flatnonzero((matrices[:, x] > 0).any(axis=0))
        if len(columns):
            assert (low[x], high[x]) == (columns[0], columns[-1] + 1)
        else:
            assert 0 <= low[x] == high[x] <= states


def exactly(initial: Floats, matrices: Floats, weights: Floats) -> tuple[list[Fraction], Fraction]:
    """The law of the first place given dense weights (T, M), and the probability of the series, in fractions."""
    b = [Fraction(1)] * len(initial)
    for t in range(len(weights) - 1, -1, -1):
        b = [Fraction(w) * value for w, value in zip(weights[t], b, strict=True)]
        if t:
            P = matrices[0 if len(matrices) == 1 else t - 1]
            b = [sum((Fraction(p) * value for p, value in zip(row, b, strict=True)), Fraction(0)) for row in P]
    joint = [Fraction(p) * value for p, value in zip(initial, b, strict=True)]
    total = sum(joint, Fraction(0))
    return [value / total if total else total for value in joint], total


@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from([0, 5, 60, 150, 290]), st.booleans())
def test_faint_places_are_right_or_refused(seed: int, steps: int, orders: int, varying: bool) -> None:
    """Likelihoods and moves over hundreds of orders of magnitude, beside exact fractions."""
    rng, places = np.random.default_rng(seed), 3

    def faint(*shape: int, most: float = orders) -> Floats:
        return np.where(rng.random(shape) < 0.1, 0.0, 10.0 ** -(most * rng.random(shape) * (rng.random(shape) < 0.5)))

    matrices = faint(steps - 1 if varying and steps > 2 else 1, places, places, most=min(orders, 50))
    initial = faint(places)
    told, weights = rng.integers(0, places, (steps, places)), faint(steps, places)
    start, moves, log_mass = posterior(initial, matrices, told, weights)
    law, total = exactly(initial, matrices, np.take_along_axis(weights, told, axis=1))
    if total == 0:
        assert log_mass == -np.inf
        return
    exact = math.log(total.numerator) - math.log(total.denominator)
    if orders <= 5:
        assert log_mass > -np.inf
    if log_mass > -np.inf:
        assert log_mass == pytest.approx(exact, abs=1e-9)
        assert start == pytest.approx([float(value) for value in law], abs=1e-9)
        there = start
        for t in range(steps - 1):
            assert moves[t][there > 1e-9].sum(axis=1) == pytest.approx(1, abs=1e-9)
            there = there @ moves[t]
        # The last place given all: the first one of the chain that runs backwards.
        assert there.sum() == pytest.approx(1, abs=1e-9)
    else:
        assert log_mass == -np.inf


def test_what_is_too_faint_is_refused() -> None:
    """Nobody can be where the series is likely: what is left fades beside it, or is lost beside something else."""
    places = np.array([[1], [1]])
    plain = np.ones((2, 2))
    for start, scale, refused in (
        ([1.0, 0.0], 1e-20, False),
        ([1.0, 0.0], 1e-240, True),
        ([1.0, 0.0], 1e-291, True),
        ([0.5, 0.5], 1e-300, False),
    ):
        moves = np.array([[[scale, 0.0], [0.0, 1.0]]])
        *_, log_mass = at_sensors(np.array(start), moves, places, plain)
        assert (log_mass == -np.inf) == refused
        if not refused:
            assert log_mass == pytest.approx(math.log(start[0] * scale + start[1]))
    # Too small at one step, whoever it is.
    *_, log_mass = at_sensors(np.full(2, 0.5), np.full((1, 2, 2), 1e-295), places, plain)
    assert log_mass == -np.inf
    # Left out at the last step, beside somebody whose way back to the start is as faint.
    three, silent = np.array([[1], [1], [1]]), np.ones((3, 2))
    moves = np.array([[[1.0, 0.0], [0.0, 1e-280]], [[1e-292, 0.0], [0.0, 1.0]]])
    *_, log_mass = at_sensors(np.array([1.0, 1e-100]), moves, three, silent)
    assert log_mass == -np.inf


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("others", [1.0, 1e-150], ids=["likely", "rare"])
def test_any_place_may_fade(place: int, others: float) -> None:
    """Nobody moves, and one place fades at the last two steps. It matters only if the others fade later, at the first.

    Beside others that do not fade it is lost without harm. Where they do, it is the only one left, so that the series
    must be refused: its law would be that of the others.
    """
    each = np.ones((6, 3))
    each[:4] = [others, others / 2, others / 4]
    each[:, place] = [1.0, 1.0, 1.0, 1.0, 1e-200, 1e-200]
    initial, matrices = np.array([0.2, 0.3, 0.5]), np.eye(3)[None]
    start, moves, log_mass = at_sensors(initial, matrices, np.array([[1, 2]] * 6), each)
    law, total = exactly(initial, matrices, each)
    if others < 1:
        assert float(law[place]) == pytest.approx(1)
        assert log_mass == -np.inf
    else:
        assert log_mass == pytest.approx(math.log(total), abs=1e-9)
        assert start == pytest.approx([float(value) for value in law], abs=1e-12)
        for t in range(5):
            np.testing.assert_allclose((start @ moves[t])[start > 0], start[start > 0], atol=1e-12)


@pytest.mark.parametrize("place", range(3))
def test_a_place_fades_at_the_step_that_rules_it_out(place: int) -> None:
    """Nobody moves. One place is all but ruled out by the last two steps, and no step before tells against it.

    The others fade further at the first steps, little by little, so that nothing but the one place is left.
    """
    each = np.ones((8, 3))
    each[:4] = 1e-120
    each[:, place] = [1.0] * 6 + [1e-170, 1e-170]
    initial, matrices, grid = np.array([0.2, 0.3, 0.5]), np.eye(3)[None], np.array([[1, 2]] * 8)
    law, _ = exactly(initial, matrices, each)
    assert float(law[place]) == pytest.approx(1)
    *_, log_mass = at_sensors(initial, matrices, grid, each)
    assert log_mass == -np.inf


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 2), (2, 0)])
def test_what_faded_first_is_not_forgotten_when_something_else_fades(first: int, second: int) -> None:
    """Nobody moves. One place fades at the last steps, and another, after all has become less likely, by as much.

    Beside the third place the second one is nothing, but the first one is not: all but it are less likely by far.
    """
    each = np.ones((12, 3))
    each[:, first] = [1.0] * 10 + [1e-150, 1e-150]
    each[:, second] = [1e-10] * 6 + [1e-200, 1e-200, 1e-90, 1e-90, 1.0, 1.0]
    each[:, 3 - first - second] = [1e-10] * 6 + [1e-90, 1e-90, 1e-90, 1e-90, 1.0, 1.0]
    initial, matrices, grid = np.array([0.2, 0.3, 0.5]), np.eye(3)[None], np.array([[1, 2]] * 12)
    law, _ = exactly(initial, matrices, each)
    assert float(law[first]) == pytest.approx(1)
    *_, log_mass = at_sensors(initial, matrices, grid, each)
    assert log_mass == -np.inf


@pytest.mark.parametrize("place", range(3))
def test_what_cannot_be_does_not_fade(place: int) -> None:
    """A place that is ruled out is no reason to refuse a series that is hardly likely anywhere else."""
    each = np.full((8, 3), 1e-100) * [1.0, 0.5, 0.25]
    each[:, place] = 0.0
    initial, matrices = np.array([0.2, 0.3, 0.5]), np.array([[[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]])
    start, _, log_mass = at_sensors(initial, matrices, np.array([[1, 2]] * 8), each)
    law, total = exactly(initial, matrices, each)
    assert log_mass == pytest.approx(math.log(total.numerator) - math.log(total.denominator), rel=1e-12)
    assert start == pytest.approx([float(value) for value in law], abs=1e-12)
    # Nor is a place from which nothing leads on.
    matrices[0, place] = np.eye(3)[place]
    start, _, log_mass = at_sensors(initial, matrices, np.array([[1, 2]] * 8), each)
    law, total = exactly(initial, matrices, each)
    assert log_mass == pytest.approx(math.log(total.numerator) - math.log(total.denominator), rel=1e-12)
    assert start == pytest.approx([float(value) for value in law], abs=1e-12)


@pytest.mark.parametrize("faint", [1e-255, 1e-240])
@pytest.mark.parametrize("rare", [1e-249, 1e-200])
@pytest.mark.parametrize("by", ["likelihood", "two likelihoods", "move"])
def test_what_fades_is_right_or_refused(faint: float, rare: float, by: str) -> None:
    """Two places, of which one gets faint by a likelihood or by a move, and the other is hardly likely in the end.

    Next to each other both matter: the one that faded has a share of up to all.
    """
    moves = np.eye(3)
    weights = np.ones((3, 4))
    if by == "likelihood":
        weights[2] = [1.0, 1.0, faint, 0.0]
    elif by == "two likelihoods":
        weights[1:] = [1.0, 1.0, math.sqrt(faint), 0.0]
    else:
        # From the second place to itself, next to never; else to the third, which the last step rules out.
        moves[1] = [0.0, 1e-20, 1.0]
        weights[2] = [1.0, 1.0, faint / 1e-20, 0.0]
        weights[1] = [1.0, 1.0, 1.0, 0.0]
    weights[0] = [1.0, rare, 1.0, 0.0]
    places = np.array([[0, 1, 2]] * 3)
    initial = np.array([0.5, 0.5, 0.0])
    start, _, log_mass = at_sensors(initial, moves[None], places, weights)
    expected, total = exactly(initial, moves[None], weights[:, 1:])
    if log_mass > -np.inf:
        assert start == pytest.approx([float(value) for value in expected], rel=1e-9)
        assert log_mass == pytest.approx(math.log(total.numerator) - math.log(total.denominator), abs=1e-9)
    else:
        assert min(faint, rare) < 1e-230


def test_products_that_vanish_are_not_taken_for_impossible() -> None:
    """The way to what was seen is 1e-200 from each of two places, twice: the series is refused, and not misjudged."""
    places, weights = np.full((3, 1), -1), np.ones((3, 2))
    moves = np.zeros((2, 3, 3))
    moves[0] = np.eye(3)
    moves[0, 0], moves[0, 1] = [1 - 1e-200, 0.0, 1e-200], [0.0, 1 - 1e-9, 1e-9]
    moves[1] = np.eye(3)
    weights[2] = [0.0, 1.0]
    places[2] = 2
    start, _, log_mass = at_sensors(np.array([1.0, 0.0, 0.0]), moves, places, weights)
    assert log_mass == -np.inf or (log_mass == pytest.approx(math.log(1e-200)) and start[0] == 1)
    # Beside a likelier start, what vanishes is lost without harm.
    start, _, log_mass = at_sensors(np.array([0.5, 0.5, 0.0]), moves, places, weights)
    assert log_mass == pytest.approx(math.log(0.5e-9))
    assert start == pytest.approx([0, 1, 0], abs=1e-12)
    # A habit of 1e-300 towards a place that is 1e-200 likely to lead on: the product is nothing, the way is not.
    moves[0, 0], moves[1, 2] = [1.0, 0.0, 1e-300], [1.0, 0.0, 1e-200]
    moves[0, 1] = [0.0, 1.0, 0.0]
    *_, log_mass = at_sensors(np.array([1.0, 0.0, 0.0]), moves, places, weights)
    assert log_mass == -np.inf
