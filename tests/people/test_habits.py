from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

import passerby as pb
from passerby.people.population import CANDIDATES, held_out_likelihood
from passerby.questions.trace.methods.baseline import prior_attack


def traces(array: ArrayLike, places: int, window: timedelta = timedelta(days=20)) -> pb.Traces:
    filled = np.array(array, dtype=np.int32)
    names = (*(f"place {i}" for i in range(places - 1)), "elsewhere")
    starts = np.datetime64("2024-01-01", "us") + np.arange(filled.shape[1]) * np.timedelta64(window)
    return pb.Traces(
        filled,
        names,
        pl.Series([f"person {i}" for i in range(len(filled))]),
        starts,
        window,
        (filled != places - 1).sum(axis=1).astype(np.int32),
        np.bincount(filled.ravel(), minlength=places) / filled.size,
        (filled[:, :, None] == np.arange(places)).sum(axis=0),
    )


def random_traces(seed: int, people: int, steps: int, places: int, known: bool = False) -> pb.Traces:
    """Three own places each; where everybody shall be known, they are at the first place first."""
    rng = np.random.default_rng(seed)
    own = rng.integers(0, places, (people, 3))
    array = own[np.arange(people)[:, None], rng.integers(0, 3, (people, steps))]
    array[:, 0] = np.where(known, 0, array[:, 0])
    return traces(array, places)


def test_the_chain_is_the_smoothed_counts() -> None:
    people = pb.fit_people(traces([[0, 0, 1, 0, 2], [2, 2, 2, 2, 2]], 3), holdout=1, smoothing=2.0, habits="paper")
    np.testing.assert_array_equal(people.fitted, [[0, 0, 1, 0], [2, 2, 2, 2]])
    np.testing.assert_array_equal(people.actual, [[2], [2]])
    np.testing.assert_allclose(people.background, [3 / 8, 1 / 8, 4 / 8])
    prior, states = people.prior(0, reduced=False)
    np.testing.assert_array_equal(states, [0, 1, 2])
    b = np.array([3 / 8, 1 / 8, 4 / 8])
    expected = np.array([(np.array([1, 1, 0]) + 2 * b) / 4, (np.array([1, 0, 0]) + 2 * b) / 3, b])
    np.testing.assert_allclose(prior.transition, expected, rtol=1e-12)
    np.testing.assert_allclose(prior.initial @ prior.transition, prior.initial, atol=1e-12)
    assert prior.elsewhere == 2


@pytest.mark.parametrize("place", [-1, 8, 99])
def test_places_that_are_not_there_are_refused(place: int) -> None:
    people = pb.fit_people(random_traces(3, 30, 14, 8), holdout=3)
    with pytest.raises(pb.InputError, match="there are 8 places, numbered from 0"):
        people.prior(0, sensed=[0, place])


def test_states_are_own_places_sensed_places_the_best_of_the_rest_and_the_others() -> None:
    people = pb.fit_people(traces([[0, 0, 0, 0], [4, 4, 5, 5], [5, 5, 6, 7]], 8), holdout=0, habits="paper")
    prior, states = people.prior(0, sensed=[6])
    np.testing.assert_array_equal(states, [0, 6, 5, -1])
    np.testing.assert_array_equal(prior.guessable, [True, True, True, False])
    assert prior.universe == 8
    shares = people.background[[1, 2, 3, 4, 7]] / people.background[[1, 2, 3, 4, 7]].sum()
    assert prior.merged_entropy[3] == pytest.approx(-sum(p * np.log(p) for p in shares if p > 0))
    # Nobody was ever at some places: they stay states of probability zero when sensed.
    prior, states = people.prior(0, sensed=[1, 2])
    assert prior.initial[list(states).index(1)] == 0


@example(seed=447, places=10, sensors=3, noisy=False)  # two traces are as likely
@example(seed=1331, places=6, sensors=0, noisy=False)  # elsewhere is the most frequent of the rest
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(0, 3), st.booleans())
def test_reducing_loses_nothing(seed: int, places: int, sensors: int, noisy: bool) -> None:
    people = pb.fit_people(random_traces(seed, 6, 9, places), holdout=3, smoothing=0.7, habits="paper")
    nothing_is_lost(people, seed, sensors, noisy)


def chance(prior: pb.MarkovPrior, trace: Sequence[int]) -> float:
    """The probability of a trace of places, added up over all traces of states."""
    moves = np.broadcast_to(prior.matrices, (len(trace) - 1, prior.states, prior.states))
    law = prior.initial * (prior.place_of == trace[0])
    for matrix, place in zip(moves, trace[1:], strict=True):
        law = (law @ matrix) * (prior.place_of == place)
    return float(law.sum())


def nothing_is_lost(people: pb.People, seed: int, sensors: int, noisy: bool) -> None:
    """The reduced chain of the first person and that over all places have the same loss, entropy and guesses."""
    places, rng = len(people.places), np.random.default_rng(seed)
    where = [rng.choice(places, min(sensors, places), replace=False).tolist() for _ in range(3)]
    sensed = sorted({place for step in where for place in step})
    small, states = people.prior(0, sensed)
    full, _ = people.prior(0, sensed, reduced=False)
    mechanism = pb.Gaussian(1.0) if noisy else pb.Raw()
    release = pb.Release(where, mechanism)
    state_of = {int(place): state for state, place in enumerate(states)}
    misses = int(rng.integers(0, 3))
    assert small.single == full.single
    if small.single:
        assert pb.entropy(small, 3) == pytest.approx(pb.entropy(full, 3), abs=1e-9)
    if small.homogeneous:
        assert small.spectral_gap == pytest.approx(full.spectral_gap, abs=1e-7)
    one, other = (
        pb.measure(prior, r, misses, tolerance=0, runs=5, budget=1e8 if noisy else 2e10)
        for prior, r in ((small, release.relabelled(state_of)), (full, release))
    )
    for name, value in one.bounds.items():
        if name != "posterior" or not noisy:
            # Fano's root is flat where the release tells next to nothing, and magnifies rounding.
            assert value == pytest.approx(other.bounds[name], abs=1e-7 if name == "fano" else 1e-9), name
    for name in ("constant",) if noisy else ("constant", "ascent"):
        assert one.attacks[name].value == pytest.approx(other.attacks[name].value, abs=1e-9), name
    # Several traces may be as likely, and which one is the guess is up to rounding; without misses they succeed alike.
    guesses = [one.attacks["prior"].guess, other.attacks["prior"].guess]
    assert guesses[0] is not None
    guesses[0] = tuple(int(states[state]) for state in guesses[0])
    likeliest = prior_attack(full, 3, 0).value
    for guess in guesses:
        assert guess is not None
        assert chance(full, guess) == pytest.approx(likeliest, rel=1e-9)
    if guesses[0] == guesses[1]:
        assert one.attacks["prior"].value == pytest.approx(other.attacks["prior"].value, abs=1e-9)
    assert one.baseline.upper == pytest.approx(other.baseline.upper, abs=1e-9)


def test_cost_does_not_depend_on_the_number_of_places() -> None:
    few, many = (pb.fit_people(random_traces(3, 50, 12, places), holdout=2) for places in (20, 20_000))
    assert few.prior(0, [1, 2])[0].places <= 8
    assert many.prior(0, [1, 2])[0].places <= 8


def test_smoothing_is_chosen_by_held_out_likelihood() -> None:
    rng = np.random.default_rng(0)
    # People who do just what everybody does: the more smoothing the better. People of fixed habits: the less.
    alike = traces(rng.choice(4, (300, 20), p=[0.4, 0.3, 0.2, 0.1]), 4)
    fixed = traces(np.repeat(rng.integers(0, 4, (300, 1)), 20, axis=1), 4)
    assert pb.fit_people(alike, holdout=2, smoothing="auto", habits="paper").smoothing == max(CANDIDATES)
    assert pb.fit_people(fixed, holdout=2, smoothing="auto", habits="paper").smoothing == min(CANDIDATES)


def test_held_out_likelihood_by_hand() -> None:
    fitted = np.array([[0, 1, 0, 1, 1, 1]], dtype=np.int32)
    background = np.array([0.25, 0.75])
    # Habits from the first four moves, the fifth is 1 -> 1: seen once in two moves from 1.
    expected = np.log((1 + 2 * 0.75) / (2 + 2))
    assert held_out_likelihood(fitted, background, 2.0) == pytest.approx(expected)


def test_one_move_leaves_none_to_choose_smoothing_by() -> None:
    two_steps = traces([[0, 1, 0], [1, 1, 0]], 2)
    assert held_out_likelihood(two_steps.array[:, :2], np.array([0.25, 0.75]), 2.0) == 0
    assert pb.fit_people(two_steps, holdout=1, smoothing="auto", habits="paper").smoothing in CANDIDATES


def test_a_rhythm_gives_a_matrix_per_step() -> None:
    day = [0] * 8 + [1] * 8 + [0] * 8
    people = pb.fit_people(
        traces([day * 10], 3, timedelta(hours=1)), holdout=24, smoothing=0.1, rhythm="hour", habits="paper"
    )
    prior, states = people.prior(0, [2])
    assert prior.transition.shape[0] == 23
    law = prior.marginals(24)
    for hour, place in enumerate(day):
        # The person keeps to the rhythm nearly always, and the chain knows.
        assert law[hour, list(states).index(place)] > 0.9, hour
    np.testing.assert_allclose(law.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holdout": 4}, "holdout: 4 of 5 steps"),
        ({"holdout": -1}, "holdout: -1"),
        ({"smoothing": 0}, "smoothing: expected a number from 1e-9 to 1e9, or 'auto', got 0"),
        ({"smoothing": "much"}, "smoothing: expected a number from 1e-9 to 1e9, or 'auto', got 'much'"),
        ({"rhythm": "month"}, "rhythm: expected 'none', 'hour', 'weekday', 'workday', got 'month'"),
        ({"rhythm": "workday"}, "rhythm: 'workday' is not a cycle of habits='paper'"),
        ({"rhythm": "weekday"}, "do not fill"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.fit_people(traces([[0, 1, 0, 1, 1]], 2), **{"holdout": 1, "habits": "paper", **options})  # type: ignore[arg-type]


def test_too_short_for_a_rhythm() -> None:
    with pytest.raises(pb.InputError, match="too few to tell 24 parts apart"):
        pb.fit_people(traces([[0, 1] * 10], 2, timedelta(hours=1)), holdout=1, rhythm="hour")


def test_nobody_is_named_in_a_repr() -> None:
    assert "person 0" not in repr(pb.fit_people(traces([[0, 1, 0, 1, 1]], 2), holdout=1))
