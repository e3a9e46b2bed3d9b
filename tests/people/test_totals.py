"""The common part of a day, told by published totals alone: exact moments, and not a bit of what the person did."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import passerby as pb
from passerby.audits.day import UNTOLD, said_of_the_day
from passerby.audits.job import Job, over_states, seen_by
from passerby.audits.presence import Everybody, Presence, Watched, choose, work_of
from passerby.audits.question_rows import HABITS, INSIDER
from passerby.audits.settings import Measurement
from passerby.people.common import LATTICE
from passerby.people.totals import Share, counted_at, moments_of, told_by_totals
from passerby.support.blocks import Team

from .test_common import HELD, PLACES, Fixed, days, fitted

COUNTED = pb.Release([[0, 1]] * HELD, pb.Gaussian(2.0), others=pb.Crowd())


def chain(people: pb.People, person: int = 0) -> list[bytes]:
    prior = over_states(Job(people, COUNTED, Measurement(1)), person)[0]
    return [prior.initial.tobytes(), prior.transition.tobytes()]


@pytest.mark.parametrize("person", [0, 7, 33])
def test_how_often_somebody_is_counted_is_that_of_all_traces(person: int) -> None:
    people = fitted(days(2))
    cells = np.random.default_rng(person).integers(0, 3, (HELD, PLACES))
    means, variances = moments_of(people, person, cells)
    for at in (30, 48, 70):
        prior, places = replace(people, common=Fixed(float(LATTICE[at]))).prior(person, reduced=False)
        place_of = places[prior.place_of]
        first = second = 0.0
        for states in product(range(prior.states), repeat=HELD):
            chance = prior.initial[states[0]]
            for t in range(1, HELD):
                chance *= prior.matrix(t - 1)[states[t - 1], states[t]]
            if not chance:
                continue
            number = cells[np.arange(HELD), place_of[list(states)]].sum()
            first, second = first + chance * number, second + chance * number**2
        assert means[at] == pytest.approx(first, abs=1e-9)
        assert variances[at] == pytest.approx(second - first**2, abs=1e-9)


@pytest.mark.parametrize("count", [9, 60])
def test_what_a_person_did_changes_no_bit_of_what_totals_tell_of_them(count: int) -> None:
    walked, rng = days(0, count), np.random.default_rng(1)
    real = fitted(walked)
    for person in (0, count - 1):
        for _ in range(2):
            array = walked.array.copy()
            array[person, -HELD:] = rng.integers(0, PLACES, HELD)
            assert chain(fitted(replace(walked, array=array)), person) == chain(real, person)
    array[:, -HELD:] = 0
    array[person, -HELD:] = walked.array[person, -HELD:]
    assert chain(fitted(replace(walked, array=array)), person) != chain(real, person)


def test_totals_alone_tell_of_the_day() -> None:
    walked = days(3, 80, gone=0.6)
    people = fitted(walked)
    array, others = walked.array.copy(), np.arange(1, 80)
    array[others, -HELD:] = array[np.random.default_rng(0).permutation(others), -HELD:]
    shuffled = fitted(replace(walked, array=array))
    assert chain(shuffled) == chain(people)  # others have changed places, and totals are the same
    prior = over_states(Job(people, replace_others(COUNTED), Measurement(1)), 0)[0]
    assert prior.initial.tobytes() != chain(people)[0]
    found, alike = told_by_totals(people, COUNTED), people.common
    assert found is not None
    assert alike is not None
    assert 0.5 < found.everybody[0] < alike.everybody[0] + 0.3
    assert alike.everybody[1] < found.everybody[1] < alike.deviation
    assert "as the published totals show" in found.words
    loud = told_by_totals(people, pb.Release([[0, 1]] * HELD, pb.Gaussian(1e4), others=pb.Crowd()))
    assert loud is not None
    assert loud.everybody == pytest.approx((0.0, alike.deviation), abs=1e-3)
    known = seen_by(people, COUNTED).common
    assert known is not None
    assert known.everybody == found.everybody
    assert seen_by(people, pb.Release([0] * HELD)) is people


def replace_others(release: pb.Release) -> pb.Release:
    """The same release, of others who are known."""
    return pb.Release(release.sensors, release.mechanism)


def test_totals_that_tell_nothing() -> None:
    people = fitted(days(4))
    assert told_by_totals(replace(people, common=None), COUNTED) is None
    flow = pb.Release(counts=[pb.Moved([0], [1], step=0)], steps=HELD, others=pb.Crowd())
    assert told_by_totals(people, flow) is None
    assert told_by_totals(people, pb.Release([PLACES - 2] * HELD, others=pb.Crowd())) is None  # nobody was ever there
    assert told_by_totals(people, pb.Release([[]] * HELD, others=pb.Crowd())) is None
    assert seen_by(people, flow).common is None
    assert said_of_the_day(people, 1, 5, release=flow) == (UNTOLD,)
    assert "published totals show" in said_of_the_day(people, 1, 5, release=COUNTED)[0]
    assert said_of_the_day(replace(people, common=None), 1, 5, release=flow) == ()
    hidden = told_by_totals(people, pb.Release([[0, 1]] * HELD, pb.Suppression(1000), others=pb.Crowd()))
    assert hidden is not None
    assert hidden.noise > 1e3


def test_zones_count_their_places_and_a_place_in_two_counts_twice() -> None:
    counts = [pb.Present([0, 1], step=0), pb.Present([1, 2], step=0), pb.Present([3], step=2)]
    cells = counted_at(pb.Release(counts=counts, steps=3), 5)
    assert cells is not None
    assert cells.tolist() == [[1, 2, 1, 0, 0], [0] * 5, [0, 0, 0, 1, 0]]
    people = fitted(days(5))
    share = Share.before(people, np.arange(len(people)), np.ones((HELD, PLACES), dtype=np.int64))
    assert share is not None
    assert share.mean > 1  # elsewhere is counted, too


def test_presence_by_habits_knows_of_the_day_by_totals() -> None:
    people = fitted(days(6, 40, gone=0.7))
    job = Job(people, pb.Release([[0, 1]] * HELD), Measurement(1))
    everybody = Everybody.here(people, Team(1))
    watched = Watched(("a", "b"), ((0,), (1,)))
    chosen = choose(everybody, job.release, watched, 10, 0)
    works = [work_of(Presence(job, watched, chosen, each), everybody) for each in (HABITS, INSIDER)]
    told, known = (work.job.people.common for work in works)
    assert told is not None
    assert known is people.common
    alike = told_by_totals(people, job.release)
    assert alike is not None
    assert told.everybody == alike.everybody
