from dataclasses import replace
from datetime import timedelta
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.people.family import Cycle, Flows, Grouping, Start, Trim, span, spans
from passerby.people.population import LITTLE, Flow

from .test_habits import nothing_is_lost, random_traces, traces

HABITS = st.builds(
    pb.Habits,
    smoothing=st.sampled_from([0.1, 1.0, 7.0]),
    background=st.sampled_from([0.1, 2.0]),
    share=st.sampled_from([0.0, 0.4, 1.0]),
    half_life=st.sampled_from([None, 2.0]),
    trim=st.sampled_from(get_args(Trim)),
    start=st.sampled_from(get_args(Start)),
    modes=st.sampled_from(get_args(Grouping)),
    flow=st.sampled_from(get_args(Flows)),
)


def by_hand(people: pb.People, habits: pb.Habits, person: int) -> np.ndarray:
    """The matrix over all places, from the formula, one entry after another."""
    everybody, M = people.fitted, len(people.places)
    first, stop = spans(everybody, M - 1, habits.trim)
    kept = [row[a:b] for row, a, b in zip(everybody, first, stop, strict=True)]
    elsewhere = (np.concatenate(kept) == M - 1).sum() + 1 / M
    share = elsewhere / (sum(map(len, kept)) + 1)
    known = [sum(place in row for row in kept) for place in range(M - 1)]
    b = np.append((1 - share) * (np.array(known) + 1 / (M - 1)) / (sum(known) + 1), share)
    own, others = np.zeros((M, M)), np.zeros((M, M))
    visits = np.zeros(M)
    for i, row in enumerate(kept):
        for k in range(len(row)):
            age = everybody.shape[1] - 1 - (first[i] + k)
            weight = 1.0 if habits.half_life is None else 2 ** (-age / habits.half_life)
            if i == person:
                visits[row[k]] += weight
            if k and i == person:
                own[row[k - 1], row[k]] += weight
            elif k:
                others[row[k - 1], row[k]] += 1
    never = np.setdiff1d(np.arange(M), kept[person])
    Q = np.zeros((M, M))
    for x in range(M):
        counts = others[never].sum(axis=0) if x in never else others[x]
        law = (counts + LITTLE * b) / (counts.sum() + LITTLE)
        law[never] = law[never].sum() * b[never] / b[never].sum() if len(never) else 0
        Q[x] = law
    f = (visits + habits.background * b) / (visits.sum() + habits.background)
    mix = (1 - habits.share) * f + habits.share * Q
    return np.asarray((own + habits.smoothing * mix) / (own.sum(axis=1, keepdims=True) + habits.smoothing))


@given(st.integers(0, 10**6), HABITS, st.integers(2, 9))
@settings(max_examples=60)
def test_the_formula(seed: int, habits: pb.Habits, places: int) -> None:
    habits = replace(habits, modes="none", flow="places")
    people = pb.fit_people(random_traces(seed, 5, 9, places, known=True), holdout=2, habits=habits)
    prior, _ = people.prior(1, reduced=False)
    expected = by_hand(people, habits, 1)
    np.testing.assert_allclose(prior.transition, expected, rtol=1e-9)
    if habits.start == "equilibrium":
        np.testing.assert_allclose(prior.initial @ expected, prior.initial, atol=1e-10)
    else:
        _, stop = spans(people.fitted[1:2], places - 1, habits.trim)
        np.testing.assert_allclose(prior.initial, expected[people.fitted[1, stop[0] - 1]], rtol=1e-9)


@given(st.integers(0, 10**6), HABITS, st.integers(2, 12), st.integers(0, 3), st.booleans())
@settings(max_examples=60)
def test_reducing_loses_nothing(seed: int, habits: pb.Habits, places: int, sensors: int, noisy: bool) -> None:
    people = pb.fit_people(random_traces(seed, 6, 9, places), holdout=3, habits=habits)
    nothing_is_lost(people, seed, sensors, noisy)


@given(st.integers(0, 10**6), HABITS, st.integers(4, 9))
@settings(max_examples=30)
def test_reducing_loses_nothing_with_a_rhythm(seed: int, habits: pb.Habits, places: int) -> None:
    array = random_traces(seed, 6, 15, places).array
    kinds = pb.Habits(**{**vars(habits), "rhythm": "hour"})
    people = pb.fit_people(traces(array, places, timedelta(hours=6)), holdout=3, habits=kinds)
    prior, _ = people.prior(0)
    assert prior.transition.shape[0] == 2
    nothing_is_lost(people, seed, 2, False)


@given(st.integers(0, 10**6), st.sampled_from(["workday", "weekday"]), st.sampled_from([0.1, 2.0, 9.0]))
@settings(max_examples=30)
def test_frequencies_are_backed_off_to_the_part_of_the_day_and_to_the_kind_of_day(
    seed: int, rhythm: Cycle, background: float
) -> None:
    array = random_traces(seed, 5, 40, 6, known=True).array
    # Own moves hardly count, and those of everybody do not.
    habits = pb.Habits(1e9, background, 0.0, None, "none", rhythm=rhythm, modes="none")
    people = pb.fit_people(traces(array, 6, timedelta(hours=12)), holdout=4, habits=habits)
    b, steps = people.familiarity, people.fitted[1]
    day = np.arange(40) // 2  # from a Monday on
    weekend, half = day % 7 >= 5, np.arange(40) % 2

    def within(kept: np.ndarray, base: np.ndarray) -> np.ndarray:
        visits = np.bincount(steps[kept[:36]], minlength=6)
        return np.asarray((visits + background * base) / (visits.sum() + background))

    always = within(np.ones(40, dtype=bool), b)
    prior, _ = people.prior(1, reduced=False)
    for t in range(36, 40):
        same = weekend == weekend[t] if rhythm == "workday" else day % 7 == day[t] % 7
        broad = (within(half == half[t], always) + within(weekend == weekend[t], always)) / 2
        expected = within(same & (half == half[t]), broad)
        found = prior.initial if t == 36 else prior.matrices[t - 37][2]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_all_else_off_is_the_way_of_the_paper_but_for_one_step_spread_evenly() -> None:
    many = random_traces(1, 400, 30, 8, known=True)
    habits = pb.Habits(2.0, 1e9, 0.0, None, "none", "equilibrium", modes="none")
    ours, paper = (
        pb.fit_people(many, holdout=2, **options)
        for options in ({"habits": habits}, {"habits": "paper", "smoothing": 2.0})
    )
    # In the paper, who goes somewhere new goes where others spend their time.
    assert ours.population is not None
    ours = replace(ours, population=replace(ours.population, familiarity=ours.background))
    one, other = (people.prior(3, reduced=False)[0] for people in (ours, paper))
    np.testing.assert_allclose(one.transition, other.transition, atol=2e-4)
    np.testing.assert_allclose(one.initial, other.initial, atol=2e-4)


def test_who_goes_somewhere_new_goes_where_many_were_and_not_where_few_spend_their_time() -> None:
    # Each is at home all day but for one visit to the café; the last one has been at home alone.
    array = [[home] * 7 + [5] + [home] * 4 for home in range(5)] + [[4] * 12]
    people = pb.fit_people(traces(array, 7), holdout=2, habits=pb.Habits(share=0.0, modes="none"))
    start = people.prior(5, reduced=False)[0].initial
    assert start[5] == pytest.approx(start[0] * (5 + 1 / 6) / (1 + 1 / 6))
    assert people.background[5] < people.background[0]


def test_steps_before_the_first_visit_are_no_habit() -> None:
    late = traces([[3, 3, 3, 3, 3, 0, 0, 1, 0, 0, 0]] * 4, 4)
    kept, trimmed = (
        pb.fit_people(late, holdout=1, habits=pb.Habits(share=0.0, trim=trim)).prior(0, reduced=False)[0]
        for trim in ("none", "before")
    )
    assert kept.initial[3] > 0.1
    assert trimmed.initial[3] < 0.03


def test_spans() -> None:
    array = np.array([[2, 0, 2, 1, 2], [2, 2, 2, 2, 2], [0, 2, 2, 2, 0]], dtype=np.int32)
    assert [each.tolist() for each in spans(array, 2, "none")] == [[0, 0, 0], [5, 5, 5]]
    assert [each.tolist() for each in spans(array, 2, "before")] == [[1, 0, 0], [5, 5, 5]]
    assert [each.tolist() for each in spans(array, 2, "around")] == [[1, 0, 0], [4, 5, 5]]


def test_one_person_is_trimmed_as_everybody_is() -> None:
    """They are asked about one by one when chains are made, and all at once when habits are chosen."""
    steps = np.random.default_rng(0).integers(0, 3, (200, 6)).astype(np.int32)
    for trim in get_args(Trim):
        first, stop = spans(steps, 2, trim)
        assert [span(row, 2, trim) for row in steps] == list(zip(first.tolist(), stop.tolist(), strict=True))


def test_habits_follow_the_part_of_the_day() -> None:
    day = [0] * 8 + [1] * 8 + [0] * 8
    habits = pb.Habits(smoothing=1.0, background=1.0, rhythm="hour")
    people = pb.fit_people(traces([day * 10] * 3, 3, timedelta(hours=1)), holdout=24, habits=habits)
    prior, states = people.prior(0, [2])
    law = prior.marginals(24)
    for hour, place in enumerate(day):
        assert law[hour, list(states).index(place)] > 0.85, hour


def test_flows_of_many_places_are_the_same_as_of_few() -> None:
    pairs = np.random.default_rng(0).integers(0, 9, (200, 2))
    few = Flow.counted(pairs[:, 0] * 9 + pairs[:, 1], 9)
    many = Flow.counted(pairs[:, 0] * 9000 + pairs[:, 1], 9000)
    np.testing.assert_array_equal(few.among(np.arange(9)), many.among(np.arange(9)))
    np.testing.assert_array_equal(few.left, many.left[:9])
    np.testing.assert_array_equal(few.entered, many.entered[:9])


def test_cost_does_not_depend_on_the_number_of_places() -> None:
    for places in (20, 20_000):
        people = pb.fit_people(random_traces(3, 50, 12, places), holdout=2)
        assert people.prior(0, [1, 2])[0].places <= 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": 0}, "smoothing=0"),
        ({"background": True}, "background=True"),
        ({"share": 1.5}, "share=1.5.: expected a number from 0 to 1"),
        ({"half_life": 0.0}, "half_life=0.0"),
        ({"half_life": float("inf")}, "half_life=inf"),
        ({"trim": "all"}, "expected one of 'none', 'before', 'around'"),
        ({"start": "first"}, "start='first'"),
        ({"rhythm": "moon"}, "rhythm='moon'"),
    ],
)
def test_impossible_habits(options: dict[str, object], message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.Habits(**options)  # type: ignore[arg-type]
