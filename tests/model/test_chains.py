from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.states import state_chains
from tests.strategies import chains

import passerby as pb
from passerby.model.chains import conditioned as chains_conditioned
from passerby.model.chains import conditioned_all


def conditioned(world: World, sightings: dict[int, int]) -> NDArray[np.bool_]:
    """Which traces of places (n,) run through all that was seen."""
    possible = np.ones(len(world.traces), dtype=bool)
    for t, place in sightings.items():
        possible &= world.traces[:, t] == place
    return possible


@given(st.one_of(chains(), state_chains()), st.integers(0, 10**6))
def test_is_conditioning_on_what_was_seen(chain: tuple[pb.MarkovPrior, int], seed: int) -> None:
    prior, steps = chain
    world, rng = World(prior, steps), np.random.default_rng(seed)
    seen = {int(t): int(rng.integers(prior.places)) for t in rng.permutation(steps)[: rng.integers(steps + 1)]}
    possible = conditioned(world, seen)
    total = world.chance @ possible
    chances = np.append(prior.initial, prior.matrices)
    if chances[chances > 0].min() < 1e-50:
        return  # the list of all traces underflows, which the chain does not
    if total == 0:
        if not (world.chance * possible).any():
            with pytest.raises(pb.InputError, match="cannot happen with these habits"):
                prior.given(seen, steps)
        return
    known = World(prior.given(seen, steps), steps)
    np.testing.assert_allclose(known.chance, world.chance * possible / total, rtol=1e-9, atol=1e-280)
    assert known.chance.sum() == pytest.approx(1, rel=1e-12)


@given(state_chains())
def test_what_is_not_about_moves_is_kept(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    known = prior.given({}, steps)
    assert (known.place_of == prior.place_of).all()
    assert (known.mode_of == prior.mode_of).all()
    assert (known.guessable == prior.guessable).all()
    assert (known.universe, known.elsewhere) == (prior.universe, prior.elsewhere)
    assert known.transition.shape == (steps - 1, prior.states, prior.states)
    np.testing.assert_allclose(known.transition.sum(axis=2), 1, rtol=1e-12)
    np.testing.assert_allclose(known.initial, prior.initial, rtol=1e-12, atol=1e-300)


def test_a_sighting_tells_the_mode() -> None:
    """Two habits that never move: seen at home, it is the first; next to never, and then for certain."""
    home, away = pb.MarkovPrior([1, 0], np.eye(2)), pb.MarkovPrior([0, 1], np.eye(2))
    prior = pb.MarkovPrior.mixture([1e-300, 1.0], [home, away])
    assert prior.given({1: 0}, 3).marginals(3).tolist() == [[1, 0]] * 3
    assert prior.given({2: 1}, 3).marginals(3).tolist() == [[0, 1]] * 3


def test_a_way_that_is_all_but_closed_is_taken_where_it_is_the_only_one() -> None:
    moves = np.array([[1.0, 1e-300, 0.0], [0.0, 1.0, 1e-12], [0.0, 0.0, 1.0]])
    known = pb.MarkovPrior([1.0, 0.0, 0.0], moves).given({2: 2}, 3)
    np.testing.assert_allclose(known.marginals(3), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("steps", [400, 3000])
def test_many_sightings_do_not_underflow(steps: int) -> None:
    prior = pb.MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    known = prior.given({t: t % 2 for t in range(1, steps)}, steps)
    assert known.marginals(steps)[:, 0].tolist() == [0.5, *((t + 1) % 2 for t in range(1, steps))]


@pytest.mark.parametrize(
    ("sightings", "message"),
    [
        ([1, 2], "sightings: expected a place for each step"),
        ({3: 0}, "sightings: step"),
        ({-1: 0}, "sightings: step"),
        ({True: 0}, "sightings: step"),
        ({"1": 0}, "sightings: step"),
        ({1: 2}, r"sightings\[1\]"),
        ({1: -1}, r"sightings\[1\]"),
        ({1: 0.5}, r"sightings\[1\]"),
        ({1: None}, r"sightings\[1\]"),
        ({0: 1}, "cannot happen with these habits"),
        ({0: 0, 2: 1}, "cannot happen with these habits"),
    ],
)
def test_what_cannot_be_is_refused(sightings: Any, message: str) -> None:
    prior = pb.MarkovPrior([1.0, 0.0], np.eye(2))
    with pytest.raises(pb.InputError, match=message):
        prior.given(sightings, 3)


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, None])
def test_a_number_of_steps_is_needed(steps: Any) -> None:
    with pytest.raises(pb.InputError, match="steps"):
        pb.MarkovPrior([1.0], [[1.0]]).given({}, steps)


def test_the_steps_of_the_habits_are_needed() -> None:
    with pytest.raises(pb.InputError, match="3 steps need 2 matrices"):
        pb.MarkovPrior([1.0], np.ones((1, 1, 1))).given({}, 3)


def test_what_is_all_but_impossible_is_not_impossible() -> None:
    moves = np.eye(4) + 1e-200 * np.eye(4, k=1)
    known = pb.MarkovPrior([1.0, 0, 0, 0], moves).given({3: 3}, 4)
    assert known.marginals(4).argmax(axis=1).tolist() == [0, 1, 2, 3]


@given(st.integers(1, 7), st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_chains_side_by_side_are_those_one_by_one(states: int, steps: int, many: int, seed: int) -> None:
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(rng.random(shape) * (rng.random(shape) < 0.7)))

    start, moves, weights = drawn(states), [drawn(states, states) for _ in range(steps - 1)], drawn(many, steps, states)
    starts, matrices = conditioned_all(start, moves, weights)
    for i in range(many):
        first, then, _ = chains_conditioned(start, moves, weights[i])
        np.testing.assert_array_equal(starts[i], first)
        np.testing.assert_array_equal(matrices[i], then)
