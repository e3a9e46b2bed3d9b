"""Presence and membership in the backtest: chances by enumeration, promises that hold, and what may be told."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits.alerts import about_backtest
from passerby.audits.calibration import calibrate
from passerby.audits.disclosure import told_backtest, who_tests
from passerby.audits.event_promises import (
    COUNTED,
    TESTS,
    VISITED,
    Events,
    Looked,
    _test,
    counted_zones,
    events_of,
    said_of_tests,
    visit_chances,
)
from passerby.audits.job import Job
from passerby.audits.settings import Measurement
from passerby.others.by_habits import everyone_else
from passerby.support.rule_of_five import FEW


def job_of(people: pb.People, release: pb.Release) -> Job:
    return Job(people, release, Measurement(1), everyone_else(people, release))


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(3, 60, 14, 8), holdout=4, habits="paper")


def test_chances_to_be_somewhere_are_those_of_all_traces(people: pb.People) -> None:
    release = pb.Release([[0, 1], [2], [0], [1]])
    zones = counted_zones(release)
    assert zones == [(0,), (1,), (2,)]
    found = Events.of(events_of(job_of(people, release), np.random.default_rng(0)))
    for person in range(5):
        prior = people.prior(person, reduced=False)[0]
        expected = np.zeros(3)
        for trace in product(range(prior.states), repeat=4):
            chance = prior.initial[trace[0]]
            for t, (here, there) in enumerate(pairwise(trace)):
                chance *= prior.matrix(t)[here, there]
            places = {int(prior.place_of[state]) for state in trace}
            expected += [chance * (zone[0] in places) for zone in zones]
        np.testing.assert_allclose(found.chance[person], expected, atol=1e-12)
    for z, zone in enumerate(zones):
        np.testing.assert_array_equal(found.there[:, z], (people.actual == zone[0]).any(axis=1))


def test_a_place_of_everybody_is_visited_for_certain() -> None:
    prior = pb.line_prior(6)
    chances = visit_chances(prior, np.arange(6), [tuple(range(6)), (2,), ()], 3)
    assert chances[0] == pytest.approx(1.0)
    assert 0 < chances[1] < 1
    assert chances[2] == pytest.approx(0.0)


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0), pb.Rounding(5)])
def test_people_who_live_by_their_habits_are_found_as_often_as_promised(mechanism: pb.Mechanism) -> None:
    city = pb.simulate_city(people=250, places=30, days=6)
    fitted = pb.fit_people(city, window="6h", places=20, min_active=4, holdout=4)
    rng = np.random.default_rng(1)
    drawn = np.array([fitted.prior(each, reduced=False)[0].sample(1, 4, rng)[0] for each in range(len(fitted))])
    people = replace(fitted, actual=drawn.astype(np.int32))
    sensors = pb.most_visited_sensors(people, 3)
    release = pb.Release(sensors, mechanism, others=[[5 + place % 3 for place in step] for step in sensors])
    rounds = [Events.of(events_of(job_of(people, release), np.random.default_rng(seed))) for seed in range(3)]
    first = rounds[0]
    spread = np.sqrt((first.chance * (1 - first.chance)).sum()) / first.chance.size
    assert abs(first.there.mean() - first.chance.mean()) < 4 * spread
    for name in (VISITED, COUNTED):
        promised, found = (
            np.concatenate([getattr(each.tests[name], part) for each in rounds]) for part in ("promised", "found")
        )
        assert abs(promised.mean() - found.mean()) < 4 * 0.5 / np.sqrt(len(found) / 3)
        if mechanism == pb.Raw() and name == VISITED and len(set(map(tuple, release.sensors))) == 1:
            assert found.min() == 1.0  # a place that is counted at all steps shows whoever is there


def test_a_raw_count_shows_whom_habits_do_not_expect() -> None:
    array = random_traces(3, 60, 14, 8)
    people = pb.fit_people(array, holdout=4, habits="paper", smoothing=1e-9)
    never = next(place for place in range(5) if place not in people.fitted[0].tolist())
    actual = people.actual.copy()
    actual[0] = never
    moved = replace(people, actual=actual)
    job = job_of(moved, pb.Release([[never]] * 4))
    assert _test(job, 0, (never,), np.random.default_rng(0)) == pytest.approx((1.0, 1.0))


def test_what_is_told_of_events_rests_on_five_people() -> None:
    found = pb.backtest(random_traces(3, 60, 20, 8), holdout=3, habits="paper", people=40)
    upper = pl.Series([0.5] * 40)
    told = told_backtest(found, upper, None)
    assert [(each.event, each.steps_before) for each in told.events] == [
        (name, before) for before in (0, 3, 6, 9) for name in (VISITED, COUNTED)
    ]
    for each in told.events:
        assert each.tested % FEW == each.people % FEW == 0
        assert each.visitors is not None
        assert each.visitors % FEW == 0
    few = np.zeros((40, 2), dtype=bool)
    few[:3] = True
    tests = Looked(np.array([0.0, 0, 1, 1, 2, 2]), np.ones(6), np.ones(6))
    odd = replace(found.tried[0], events=Events(np.full((40, 2), 0.1), few, {VISITED: tests, COUNTED: tests}))
    [visited, counted] = told_backtest(replace(found, tried=(odd,)), upper, None).events
    assert (visited.promised, visited.right, visited.visitors, visited.tested) == (0.1, None, 0, 0)
    assert (visited.power, visited.found) == (None, None)
    assert (counted.promised, counted.right) == (1.0, 1.0)


def test_tests_have_a_verdict_at_the_published_window() -> None:
    found = pb.backtest(random_traces(3, 60, 20, 8), holdout=3, habits="paper", people=40)
    for what, event in TESTS.items():
        row, tests = found.published(what), found.tried[0].events
        assert tests is not None
        assert row["promised"] == pytest.approx(tests.tests[event].promised.mean())
        assert row["right"] == pytest.approx(tests.tests[event].found.mean())
        assert row["people"] == len(set(tests.tests[event].who.tolist()))
    told = told_backtest(found, pl.Series([0.5] * 40), None)
    assert [each.event for each in told.tested] == [VISITED, COUNTED]
    for each in told.tested:
        [window] = (one for one in told.windows if (TESTS.get(one.what), one.steps_before) == (each.event, 0))
        assert (each.verdict, each.right) == (window.verdict, window.right)
        assert each.verdict in each.sentence
        [same] = (same for same in told.events if (same.event, same.steps_before) == (each.event, 0))
        assert each.right == same.found


def test_tests_that_find_far_fewer_are_said() -> None:
    found = pb.backtest(random_traces(3, 60, 20, 8), holdout=3, habits="paper", people=40)
    tried = []
    for each in found.tried:
        assert each.events is not None
        alike = each.events.tests.items()
        tests = {name: Looked(one.who, np.full(len(one.who), 0.9), one.found * 0) for name, one in alike}
        tried.append(replace(each, events=each.events._replace(tests=tests)))
    worse = calibrate(tried, found.tried_misses, found.misses, found.steps, found.independent)
    told = told_backtest(worse, pl.Series([0.5] * 40), None)
    assert [each.verdict for each in told.tested] == ["did not come true"] * 2
    alerts = list(about_backtest(told, None))
    assert (
        "a test by an insider with 1 % of false alarms was to find 90 % of the people, and it found 0 %" in alerts[-1]
    )
    assert alerts[-1].endswith("What this report says of such tests is likely too high.")
    beside = told_backtest(worse, pl.Series([0.5] * 40), None, who=who_tests(pb.Release([[0]]).with_others(pb.Crowd())))
    assert "a test by an acquaintance with 1 %" in beside.tested[0].sentence
    words = said_of_tests(VISITED, "cannot be told", 1, 0.5, 0.5)
    assert words.startswith("Whether tests of presence at counted places come true cannot be told: in the published")
    assert "50 % of the people who were at one of them, and it found 50 %" in words


def test_nobody_is_looked_for_twice() -> None:
    people = pb.fit_people(random_traces(3, 60, 14, 8), holdout=4, habits="paper")
    found = Events.of(events_of(job_of(people, pb.Release([[0, 1, 2]] * 4)), np.random.default_rng(0)))
    for tests in found.tests.values():
        assert len(set(tests.who.tolist())) == len(tests.who)
