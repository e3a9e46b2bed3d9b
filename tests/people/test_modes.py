"""Modes: their weights, and the chain over states (mode, place)."""

from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.people.family import (
    FIRST,
    LEAST,
    SHRINKAGE,
    USUAL,
    Grouping,
    fitted_weights,
    group_of,
    groups,
    joined,
    log_chances,
)

from .test_habits import chance, random_traces, traces


def stretches(rng: np.random.Generator, weights: np.ndarray, count: int) -> np.ndarray:
    """Log probabilities in each mode of stretches whose mode is drawn by `weights`."""
    mode = rng.choice(4, count, p=weights)
    logs = np.log(rng.uniform(0.05, 0.3, (count, 4)))
    logs[np.arange(count), mode] = np.log(0.9)
    return logs


def test_weights_are_found_again() -> None:
    rng = np.random.default_rng(0)
    true = np.array([0.6, 0.1, 0.1, 0.2])
    mode = rng.choice(4, 20_000, p=true)
    # Of eight outcomes, each mode makes two likely.
    chances = np.full((4, 8), 0.05)
    chances[np.arange(4), 2 * np.arange(4)] = chances[np.arange(4), 2 * np.arange(4) + 1] = 0.35
    seen = np.array([rng.choice(8, p=chances[each]) for each in mode])
    logs = np.log(chances[:, seen].T)
    weights = fitted_weights(logs, np.zeros(len(logs), dtype=np.int64), np.ones(len(logs)), "alike")
    np.testing.assert_allclose(weights[0], true, atol=0.02)


def test_weights_maximise_what_they_are_said_to() -> None:
    rng = np.random.default_rng(1)
    logs, count = stretches(rng, np.array([0.5, 0.2, 0.1, 0.2]), 40), rng.uniform(0.2, 1, 40)
    [best] = fitted_weights(logs, np.zeros(40, dtype=np.int64), count, "alike")

    def worth(weights: np.ndarray) -> float:
        return float(log_chances(logs, np.tile(weights, (40, 1))) @ count + SHRINKAGE * FIRST @ np.log(weights))

    for _ in range(200):
        other = 0.98 * best + 0.02 * rng.dirichlet(np.ones(4))
        assert worth(best) >= worth(other) - 1e-6


def test_groups_differ_where_there_are_enough_people() -> None:
    rng = np.random.default_rng(2)
    logs = np.vstack(
        [stretches(rng, np.array([0.9, 0.0, 0.1, 0.0]), 500), stretches(rng, np.array([0.2, 0.0, 0.1, 0.7]), 500)]
    )
    seen, not_seen = fitted_weights(logs, np.repeat([0, 1], 500), np.ones(1000), "seen")
    assert seen[3] < 0.1 < 0.5 < not_seen[3]
    # Of a group without anybody nothing is known but what is known of all.
    rare = fitted_weights(logs, np.zeros(1000, dtype=np.int64), np.ones(1000), "lately")
    everybody = fitted_weights(logs, np.zeros(1000, dtype=np.int64), np.ones(1000), "alike")[0]
    np.testing.assert_allclose(rare[1], everybody, atol=2 * LEAST)
    np.testing.assert_array_equal(fitted_weights(logs, np.zeros(1000, dtype=np.int64), np.ones(1000), "none"), USUAL)


@pytest.mark.parametrize(("share", "kept"), [(0.001, False), (0.02, True)])
def test_modes_of_hardly_anybody_are_left_out(share: float, kept: bool) -> None:
    logs = np.tile(np.log([0.9, 1e-6, 1e-6, 1e-6]), (20_000, 1))
    logs[: int(share * len(logs))] = np.log([1e-9, 1e-9, 0.9, 1e-9])
    [weights] = fitted_weights(logs, np.zeros(len(logs), dtype=np.int64), np.ones(len(logs)), "alike")
    assert (weights > 0).tolist() == [True, False, kept, False]
    assert weights.sum() == pytest.approx(1)


def test_groups() -> None:
    array = np.array([[0, 2, 2, 2, 2], [2, 0, 2, 2, 2], [0, 1, 0, 1, 2], [2, 2, 2, 2, 0], [2] * 5], dtype=np.int32)
    assert groups(array, 2, "alike").tolist() == [0] * 5
    assert groups(array, 2, "seen").tolist() == [1, 1, 1, 0, 1]
    assert groups(array, 2, "lately").tolist() == [2, 2, 1, 0, 2]


def test_one_person_is_grouped_as_everybody_is() -> None:
    steps = np.random.default_rng(0).integers(0, 3, (200, 6)).astype(np.int32)
    for grouping in get_args(Grouping):
        assert [group_of(row, 2, grouping) for row in steps] == groups(steps, 2, grouping).tolist()


WEIGHTS = st.lists(st.floats(0.05, 1), min_size=4, max_size=4).map(lambda w: np.array(w) / sum(w))


@given(st.integers(0, 10**6), WEIGHTS, st.booleans())
@settings(max_examples=15)
def test_a_mixture_is_the_weighted_sum_of_its_chains(seed: int, weights: np.ndarray, reduced: bool) -> None:
    habits = pb.Habits(modes="alike")
    people = pb.fit_people(random_traces(seed, 6, 9, 6, known=True), holdout=3, habits=habits)
    assert people.habits is not None
    chosen = replace(people, habits=replace(people.habits, weights=weights[None]))
    prior, states = chosen.prior(1, [0, 2, 5], reduced=reduced)
    usual = replace(people, habits=replace(people.habits, weights=USUAL)).prior(1, [0, 2, 5], reduced=reduced)[0]
    alike = replace(people, habits=replace(people.habits, weights=np.eye(4)[[1]])).prior(1, [0, 2, 5], reduced=reduced)[
        0
    ]
    place_of = {int(place): number for number, place in enumerate(states)}
    last, gone = place_of[int(people.fitted[1, -1])], place_of[5]
    for trace in product(range(prior.places), repeat=3):
        expected = (
            weights[0] * chance(usual, trace)
            + weights[1] * chance(alike, trace)
            + weights[2] * (set(trace) == {last})
            + weights[3] * (set(trace) == {gone})
        )
        assert chance(prior, trace) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_the_success_of_a_guess_is_the_weighted_sum_over_modes() -> None:
    people = pb.fit_people(random_traces(5, 8, 12, 6, known=True), holdout=3, habits=pb.Habits(modes="alike"))
    assert people.habits is not None
    weights = np.array([0.5, 0.2, 0.2, 0.1])
    people = replace(people, habits=replace(people.habits, weights=weights[None]))
    prior, _ = people.prior(2, [0], reduced=False)
    for misses in range(3):
        found = pb.measure(prior, pb.Release([[0], [0], [0]]), misses).attacks["prior"]
        assert found.guess is not None
        right = sum(
            chance(prior, trace)
            for trace in product(range(6), repeat=3)
            if sum(a != b for a, b in zip(trace, found.guess, strict=True)) <= misses
        )
        assert found.value == pytest.approx(right, rel=1e-9)


def test_blocks() -> None:
    chain = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])
    start, moves, place_of, mode_of = joined(np.array([0.5, 0.0, 0.3, 0.2]), [chain, chain], 0, 1)
    assert start.tolist() == [0.25, 0.25, 0.3, 0.2]
    assert place_of.tolist() == [0, 1, 0, 1]
    assert mode_of.tolist() == [0, 0, 1, 2]
    np.testing.assert_array_equal(moves[2:, 2:], np.eye(2))
    # Who was elsewhere and stays there is gone.
    start, _, place_of, _ = joined(np.array([0.5, 0.0, 0.3, 0.2]), [chain, chain], 1, 1)
    assert (start.tolist(), place_of.tolist()) == ([0.25, 0.25, 0.5], [0, 1, 1])


def test_people_who_leave_are_found_to_leave() -> None:
    rng = np.random.default_rng(4)
    array = np.repeat(rng.integers(0, 5, (400, 1)), 30, axis=1)
    array[rng.random((400, 30)) < 0.3] = 1
    leaves = rng.geometric(0.05, 400)
    array[np.arange(30) >= np.maximum(leaves, 3)[:, None]] = 6
    people = pb.fit_people(traces(array, 7), holdout=5, habits="auto")
    assert people.habits is not None
    assert people.habits.chosen.modes in ("seen", "lately")
    # One in twenty leaves at each step: who was seen is gone for all of five steps with a probability of 0.05.
    assert people.habits.weights[0, 3] == pytest.approx(0.05, abs=0.03)
    gone = np.flatnonzero((people.fitted[:, -3:] == 6).all(axis=1))
    for person in gone[:20]:
        prior, states = people.prior(int(person))
        assert prior.marginals(5)[:, list(states).index(6)].min() > 0.9


def test_people_without_modes_or_rhythm_have_one_chain() -> None:
    people = pb.fit_people(random_traces(5, 8, 12, 6, known=True), holdout=3, habits=pb.Habits(modes="seen"))
    prior, _ = people.plain.prior(2)
    assert prior.single
    assert prior.spectral_gap > 0
