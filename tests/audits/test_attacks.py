"""Promises of attacks are those of a measurement; and the chance of what people really did."""

from itertools import pairwise, product

import numpy as np
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits.attacks import BACKTESTED, likelihood, misses_tried, tried_on
from passerby.audits.job import Job
from passerby.audits.settings import Measurement
from passerby.others.by_habits import everyone_else


def job(release: pb.Release, people: pb.People) -> Job:
    return Job(people, release, Measurement(), everyone_else(people, release))


def test_what_attacks_promise_is_what_they_achieve_under_the_habits() -> None:
    people = pb.fit_people(random_traces(3, 30, 12, 5), holdout=3, habits="paper")
    release = pb.Release([[0, 1]] * 3)
    rng = np.random.default_rng(0)
    for person in range(4):
        promised, right = tried_on(job(release, people), person, [0, 1, 2], rng)
        prior, _ = people.prior(person, [0, 1])
        for column, misses in enumerate((0, 1, 2)):
            best = pb.measure(prior, release, misses).upper
            assert (promised[:, column] <= best + 1e-9).all()
            for a, name in enumerate(BACKTESTED):
                found = pb.measure(prior, release, misses).attacks[name]
                assert promised[a, column] == pytest.approx(found.value, rel=1e-9)
        assert (np.diff(promised, axis=1) >= -1e-12).all()
        assert (np.diff(right[:3], axis=1) >= 0).all()  # one place throughout is another one for other misses
        assert set(right.ravel()) <= {0.0, 1.0}


def test_noise_is_sampled_and_agrees_on_average() -> None:
    people = pb.fit_people(random_traces(3, 30, 12, 5), holdout=3, habits="paper")
    release = pb.Release([[0]] * 3, pb.Gaussian(0.5))
    found = np.array([tried_on(job(release, people), i, [1], np.random.default_rng(i))[0][:, 0] for i in range(30)])
    table = pb.audit(people, release, 1, workers=1)
    assert found[:, 2].mean() == pytest.approx(table["attack_prior"].mean(), rel=1e-9)
    assert found[:, 0].mean() == pytest.approx(table["attack_map"].mean(), abs=0.03)


def test_a_trace_that_habits_exclude_is_guessed_by_habits_alone() -> None:
    people = pb.fit_people(random_traces(3, 30, 12, 5), holdout=3, habits=pb.Habits())
    odd = pb.MarkovPrior([1, 0], [[1, 0], [0, 1]], guessable=[True, True])
    object.__setattr__(people, "prior", lambda *_, **__: (odd, np.array([0, 1])))
    object.__setattr__(people, "actual", np.ones_like(people.actual))
    _, right = tried_on(job(pb.Release([[1]] * 3), people), 0, [0, 2], np.random.default_rng(0))
    assert not right.any()
    assert likelihood(people, 0) == -np.inf


@pytest.mark.parametrize("habits", ["paper", pb.Habits(rhythm="none")])
def test_the_likelihood_is_that_of_the_whole_trace(habits: pb.Habits) -> None:
    people = pb.fit_people(random_traces(3, 30, 12, 5), holdout=3, habits=habits)
    for person in range(5):
        prior, places = people.prior(person, reduced=False)
        path = people.actual[person].tolist()
        np.testing.assert_array_equal(places, np.arange(len(places)))
        chance = 0.0  # over all ways of states through these places
        for way in product(*(np.flatnonzero(prior.place_of == place) for place in path)):
            chance += prior.initial[way[0]] * np.prod([prior.transition[a, b] for a, b in pairwise(way)])
        assert likelihood(people, person) == pytest.approx(np.log(chance) / 3, rel=1e-9)


def test_misses_that_are_tried() -> None:
    assert misses_tried(4, 1) == [0, 1, 2, 3]
    assert misses_tried(168, 5) == [0, 5, 42, 84, 125, 167]
