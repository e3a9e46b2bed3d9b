"""No interval that is called certain is false, whatever the numbers: checked in exact fractions, and relatively."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.hostile import VANISHING, Hostile, exact_loss, exact_success, hostile_cases, laws, stated_error

import passerby as pb
from passerby.questions.trace.loss import LEAST_ROOM


def holds(lower: float, truth: Fraction, upper: float, error: float) -> None:
    """`lower <= truth <= upper`, up to a relative error, or to what is too small to have digits."""
    assert lower <= float(truth) * (1 + error) + VANISHING
    assert truth <= Fraction(upper) * Fraction(1 + error)


@given(st.one_of(hostile_cases(), hostile_cases(shared=True)), st.sampled_from([0.0, 1e6, 1e9]))
def test_the_loss_lies_in_the_interval(case: Hostile, budget: float) -> None:
    loss = pb.measure(case.prior, case.release, case.misses, budget=budget, runs=50)
    assume(loss.effort.confidence is None)
    truth = exact_loss(case)
    holds(loss.lower, truth, loss.upper, case.error)
    known = exact_loss(case, pb.Release.silent(case.release.steps))
    if known > VANISHING:
        holds(loss.baseline.lower, known, loss.baseline.upper, case.error)
    for name, value in loss.bounds.items():
        assert truth <= Fraction(value) * Fraction(1 + case.error), name
    for name, attack in loss.attacks.items():
        if attack.level is None and attack.error == 0:
            assert attack.value <= float(truth) * (1 + case.error) + VANISHING, name
    assert 0 <= loss.advantage.lower <= loss.advantage.upper <= 1 + case.error


@st.composite
def leaks(draw: st.DrawFn) -> tuple[pb.MarkovPrior, list[int], int]:
    """Places that mix for up to hundreds of steps and leak slowly into one that is hardly left; a guess, and misses."""
    steps, places = draw(st.integers(2, 150)), draw(st.integers(2, 4))
    leak, back = (
        draw(st.sampled_from([1e-300, 1e-100, 1e-13, 1e-10, 1e-3])),
        draw(st.sampled_from([0.0, 1e-300, 1e-12])),
    )
    moves = np.array([draw(laws(places)) for _ in range(places)])
    moves[:-1, -1] = leak
    moves[:-1, :-1] += 1e-3
    moves[-1], moves[-1, 0], moves[-1, -1] = 0.0, back, 1.0
    prior = pb.MarkovPrior([1.0] + [0.0] * (places - 1), moves / moves.sum(axis=1, keepdims=True))
    enters = draw(st.integers(0, steps))
    guess = [draw(st.integers(0, places - 2))] * enters + [places - 1] * (steps - enters)
    return prior, guess, draw(st.integers(0, min(4, steps - 1)))


@given(leaks(), st.booleans())
def test_no_bound_is_below_a_guess_that_exists(case: tuple[pb.MarkovPrior, list[int], int], counted: bool) -> None:
    prior, guess, misses = case
    steps = len(guess)
    truth = exact_success(prior, guess, misses)
    release = pb.Release([0 if counted else []] * steps, pb.Gaussian(3.0) if counted else None)
    loss = pb.measure(prior, release, misses, budget=1e6, runs=2)
    error = stated_error(steps, prior.places, 1)
    for name, value in loss.bounds.items():
        if name != "posterior" or loss.effort.confidence is None:
            assert truth <= Fraction(value) * Fraction(1 + error), name
    if truth > VANISHING:
        assert truth <= Fraction(loss.baseline.upper) * Fraction(1 + error)


@pytest.mark.parametrize("certain", [1e-12, 1e-15, 1e-16, 1e-20, 1e-300])
@pytest.mark.parametrize("noise", [pb.Gaussian(0.5), pb.Laplace(0.7), pb.Geometric(1.0)], ids=repr)
def test_a_faint_doubt_is_counted(certain: float, noise: pb.Mechanism) -> None:
    """All but certainly at a sensor, and what is left goes one of two ways, of which the other step's counts tell."""
    moves = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
    prior = pb.MarkovPrior([1.0, certain, 0.0, 0.0], moves, guessable=[False, True, True, False])
    raw = float(prior.initial[1]) / 2
    for first, second in ((1, 2), (1, 1), (2, 1)):
        release = pb.Release([0, first, second], noise)
        loss = pb.measure(prior, release, 1, budget=1e8, runs=50)
        assert loss.upper >= raw * (1 - 1e-12)
        told = pb.measure(prior, pb.Release([[], first, second], noise), 1, budget=1e8, runs=50)
        if loss.effort.confidence is None and told.effort.confidence is None:
            # Counting the first step as well tells no less.
            assert loss.upper >= told.lower * (1 - 1e-12)


@pytest.mark.parametrize("steps", [20, 200])
@pytest.mark.parametrize("leak", [1e-12, 1e-15, 1e-17])
def test_advantage_of_somebody_who_is_known_anyway(leak: float, steps: int) -> None:
    """Without sensors next to nothing is added, however little room there is."""
    prior = pb.MarkovPrior([1.0, 0.0], [[1 - leak, leak], [0.0, 1.0]])
    loss = pb.measure(prior, pb.Release.silent(steps), 1)
    assert loss.advantage.upper <= (steps * leak + 1e-13) / LEAST_ROOM
