import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.evidence import all_evidence, classes, of_case, silence
from tests.oracle import World
from tests.states import state_cases, state_chains
from tests.strategies import FINITE, Case, cases, chains

import passerby as pb
from passerby.kernels.chain import decode


@given(st.one_of(chains(), state_chains()), st.integers(0, 10**6))
def test_without_evidence_it_is_the_tail_of_the_number_right(chain: tuple[pb.MarkovPrior, int], seed: int) -> None:
    prior, steps = chain
    world = World(prior, steps)
    guess = np.random.default_rng(seed).integers(0, prior.places, steps)
    law = world.right(guess)
    nothing = silence(steps, prior.states), np.ones((steps, 1))
    for misses in range(steps):
        found = decode.success(prior.initial, prior.matrices, prior.place_of, *nothing, guess, misses)
        assert found == pytest.approx(law[steps - misses :].sum(), abs=1e-9)


@given(st.one_of(chains(), state_chains()), st.integers(0, 10**6))
def test_constants(chain: tuple[pb.MarkovPrior, int], seed: int) -> None:
    prior, steps = chain
    world = World(prior, steps)
    places = np.random.default_rng(seed).permutation(prior.places)[: 1 + seed % prior.places]
    for misses in range(steps):
        found = decode.constants(prior.initial, prior.matrices, prior.place_of, places, steps, misses)
        expected = [world.success(np.full(steps, place), misses) for place in places]
        assert found == pytest.approx(expected, abs=1e-9)


@given(st.one_of(cases(mechanisms=FINITE), state_cases()), st.integers(0, 10**6))
def test_with_evidence_it_is_conditional(case: Case, seed: int) -> None:
    world, channel, evidence = all_evidence(case)
    rng = np.random.default_rng(seed)
    for i in rng.permutation(len(channel))[:6]:
        guess = rng.integers(0, case.prior.places, case.steps)
        for misses in range(case.steps):
            chain = case.prior.initial, case.prior.matrices, case.prior.place_of
            found = decode.success(*chain, of_case(case), np.exp(evidence[i]), guess, misses)
            assert found == pytest.approx(world.success(guess, misses, channel[i]), abs=1e-9)


@given(state_chains(), st.integers(0, 10**6))
def test_classes_need_not_follow_places(chain: tuple[pb.MarkovPrior, int], seed: int) -> None:
    """Evidence of any class of states at each step, several series of it at once."""
    prior, steps = chain
    world, rng = World(prior, steps), np.random.default_rng(seed)
    told, weights = rng.integers(0, 3, (steps, prior.states)), rng.random((4, steps, 3)) * (rng.random(3) < 0.8)
    guesses = rng.integers(0, prior.places, (4, steps))
    right = (prior.place_of[world.state_traces][None] == guesses[:, None]).sum(axis=2)
    likelihood = np.prod([weights[:, t, told[t, world.state_traces[:, t]]] for t in range(steps)], axis=0)
    joint = likelihood * world.state_chance
    for misses in range(steps):
        habits = prior.initial, prior.matrices, prior.place_of
        found = decode.successes(*habits, told, weights, guesses, misses)
        for i in range(4):
            if joint[i].sum() > 1e-250:
                expected = joint[i, right[i] >= steps - misses].sum() / joint[i].sum()
                assert found[i] == pytest.approx(expected, rel=1e-9, abs=1e-280)
            elif not (likelihood[i] * (world.state_chance > 0)).any():
                assert found[i] == -1


@pytest.mark.parametrize("misses", [0, 1, 400, 499, 500, 501, 998, 999])
def test_independent_steps_are_binomial(misses: int) -> None:
    steps, p = 1000, 0.6
    law = np.array([0.3, p, 0.1])
    guess, nothing = np.ones(steps, dtype=np.int64), (silence(steps, 3), np.ones((steps, 1)))
    found = decode.success(law, np.tile(law, (3, 1))[None], np.arange(3), *nothing, guess, misses)
    assert found == pytest.approx(binom.cdf(misses, steps, 1 - p), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("steps", [9, 12])
def test_independent_steps_are_binomial_for_every_number_of_misses(steps: int) -> None:
    law, nothing = np.array([0.3, 0.6, 0.1]), (silence(steps, 3), np.ones((steps, 1)))
    guess = np.ones(steps, dtype=np.int64)
    for misses in range(steps):
        found = decode.success(law, np.tile(law, (3, 1))[None], np.arange(3), *nothing, guess, misses)
        assert found == pytest.approx(binom.cdf(misses, steps, 0.4), rel=1e-9)


def test_the_scale_of_the_evidence_does_not_matter() -> None:
    prior, release = pb.line_prior(6), pb.Release([2, 3, 4])
    weights = np.array([[0.5, 1.0], [0.2, 0.1], [1.0, 0.3]])
    guess, told = np.array([2, 3, 3]), classes(release.grid, prior.place_of)
    values = [
        decode.success(prior.initial, prior.matrices, prior.place_of, told, weights * scale, guess, 1)
        for scale in (1.0, 1e-60, 1e60)
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-12)


def test_impossible_evidence_is_marked() -> None:
    initial, moves = np.array([1.0, 0.0]), np.eye(2)[None]
    weights = np.array([[1.0, 1.0], [1.0, 0.0]])
    told = np.array([[1, 0], [1, 0]])
    assert decode.success(initial, moves, np.arange(2), told, weights, np.array([0, 0]), 0) == -1
