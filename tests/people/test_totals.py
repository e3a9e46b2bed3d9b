"""The common part of a day, told by published totals alone: exact moments, and not a bit of what the person did."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import passerby as pb
from passerby.audits.everyone import Everybody
from passerby.audits.inputs import UNTOLD, said_of_the_day
from passerby.audits.job import Job, only, over_states, seen_by
from passerby.audits.presence import Presence, Watched, choose, work_of
from passerby.audits.presence_all import presence_of_all
from passerby.audits.question_rows import HABITS, INSIDER
from passerby.audits.question_words import places_by_name
from passerby.audits.settings import Measurement
from passerby.people.common import LATTICE
from passerby.people.totals import IMPOSSIBLE, Share, Tally, counted_at, moments_of, told_by_totals
from passerby.support.blocks import Blocks, Team

from .test_common import HELD, PLACES, Fixed, days, fitted

COUNTED = pb.Release([[0, 1]] * HELD, pb.Gaussian(2.0), others=pb.Crowd())


def chain(people: pb.People, person: int = 0, release: pb.Release = COUNTED) -> list[bytes]:
    prior = over_states(Job(people, release, Measurement(1)), person)[0]
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


@pytest.mark.parametrize("count", [9, 60, 330])
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
    share = Share.before(Tally.of(np.ones((HELD, PLACES), dtype=np.int64), people).before)
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


def uneven(people: int) -> pb.People:
    """People of whom some are hardly ever anywhere, and others mostly; fewer are anywhere on the last steps."""
    rng = np.random.default_rng(people)
    walked = days(7, people, gone=0.6)
    away = rng.random(walked.array.shape) < np.linspace(0.0, 0.8, people)[rng.permutation(people), None]
    return fitted(replace(walked, array=np.where(away, PLACES - 1, walked.array)))


def test_more_people_tell_more_of_the_day() -> None:
    few, many = (
        told_by_totals(uneven(count), pb.Release([[0, 1]] * HELD, pb.Gaussian(20.0), others=pb.Crowd()))
        for count in (150, 1500)
    )
    assert few is not None
    assert many is not None
    assert many.everybody[1] < few.everybody[1] / 2
    assert many.everybody[0] > few.everybody[0] + 0.2  # noise hid it among few


def test_some_people_tell_what_all_others_would_do() -> None:
    people = uneven(900)
    some = told_by_totals(people, COUNTED)
    everyone = told_by_totals(people, COUNTED, rows=np.arange(len(people)))
    assert some is not None
    assert everyone is not None
    (means, wide), (exact, apart) = some._sums, everyone._sums
    assert len(some.means) == 300
    assert wide[30:60].sum() > apart[30:60].sum()  # the line has an error
    assert (abs(means - exact) < 3 * np.sqrt(wide))[30:60].all()
    assert means == pytest.approx(exact, rel=0.05)
    assert some.everybody[0] == pytest.approx(everyone.everybody[0], abs=3 * some.everybody[1])
    assert everyone.everybody[1] <= some.everybody[1] < 3 * everyone.everybody[1]
    # Somebody whose chain was not looked at is taken out as the line tells.
    row = next(k for k in range(len(people)) if k not in some._known)
    shift = some._sums[0] - (some.traits[row] @ some._lines[0])
    assert shift == pytest.approx(exact - everyone.means[row], rel=0.05)


def test_the_total_of_everybody_in_blocks() -> None:
    people = uneven(400)
    whole = told_by_totals(people, COUNTED)
    parts = [only(people, np.arange(at, at + 100)) for at in range(0, 400, 100)]
    in_blocks = told_by_totals(people, COUNTED, everybody=Blocks(parts, _itself))
    assert whole is not None
    assert in_blocks is not None
    assert in_blocks.everybody == whole.everybody
    # Of a few who are asked about, and of some who are evenly spread.
    asked = only(people, np.arange(0, 400, 4))
    few = told_by_totals(asked, COUNTED, everybody=Blocks(parts, _itself), rows=np.arange(0, 100, 2))
    assert few is not None
    assert few.tally.people == 400
    assert few.counted == whole.counted
    assert few.everybody[0] == pytest.approx(whole.everybody[0], abs=3 * few.everybody[1])


def _itself(people: pb.People) -> pb.People:
    return people


def test_a_sample_knows_the_totals_of_everybody() -> None:
    people = fitted(days(3, 80, gone=0.6))
    known = seen_by(people, COUNTED)
    some = seen_by(only(known, np.arange(10)), COUNTED)
    assert some.common is known.common


def values_of(people: pb.People, more: int = 0) -> list[list[float]]:
    """What is published of the places 0 and 1, with whole noise."""
    return [[float(people.counts[t, place] + more + (-1) ** t) for place in (0, 1)] for t in range(HELD)]


def test_published_totals_are_those_of_the_file() -> None:
    walked, rng = days(3, 80, gone=0.6), np.random.default_rng(1)
    people = fitted(walked)
    true, more = (told_by_totals(people, COUNTED, values_of(people, each)) for each in (0, 20))
    plain = told_by_totals(people, COUNTED)
    assert true is not None
    assert more is not None
    assert plain is not None
    assert true.counted == plain.counted
    assert more.everybody[0] < true.everybody[0] - 0.3  # more people were counted, so fewer were elsewhere
    known = replace(people, common=true)
    # Whoever does something else is counted elsewhere, and nothing else is known of their day.
    for _ in range(3):
        array = walked.array.copy()
        array[5, -HELD:] = rng.integers(0, PLACES, HELD)
        other = fitted(replace(walked, array=array))
        told = told_by_totals(other, COUNTED, values_of(other))
        assert chain(replace(other, common=told), 5) == chain(known, 5)


def test_hidden_counts_tell_nothing() -> None:
    people = fitted(days(3, 80, gone=0.6))
    values = values_of(people)
    values[0][1] = values[2][0] = float("nan")
    release = pb.Release([[0, 1]] * HELD, pb.Suppression(1), others=pb.Crowd())
    found = told_by_totals(people, release, values)
    shown = [[0], [0, 1], [1], [0, 1]]
    rest = [[each for each in step if not np.isnan(each)] for step in values]
    alike = told_by_totals(people, pb.Release(shown, pb.Suppression(1), others=pb.Crowd()), rest)
    assert found is not None
    assert alike is not None
    assert found.counted == alike.counted
    assert found.everybody == alike.everybody
    assert found.noise == 0.0


@pytest.mark.parametrize("more", [200, -100])
def test_totals_that_these_people_cannot_make_are_said_and_tell_nothing(more: int) -> None:
    people = fitted(days(6, 40, gone=0.4))
    assert people.common is not None
    found = told_by_totals(people, COUNTED, values_of(people, more))
    assert found is not None
    assert found.impossible
    assert found.remarks[0] == IMPOSSIBLE
    assert found.everybody == pytest.approx((0.0, people.common.deviation), abs=1e-3)
    assert said_of_the_day(replace(people, common=found), 1, 5, release=COUNTED) == (IMPOSSIBLE,)
    possible = told_by_totals(people, COUNTED, values_of(people))
    assert possible is not None
    assert not possible.impossible
    assert IMPOSSIBLE not in possible.remarks


@pytest.mark.parametrize("more", [0, 500])
def test_presence_says_that_totals_are_impossible(more: int) -> None:
    people = fitted(days(6, 40, gone=0.7))
    everybody = Everybody.here(people, Team(1))
    release = pb.Release([[0, 1]] * HELD, pb.Gaussian(2.0))
    found = presence_of_all(
        everybody,
        release,
        Measurement(1, runs=5),
        places_by_name(people.places),
        {},
        5,
        team=Team(1),
        published=values_of(people, more),
    )
    assert (IMPOSSIBLE in found.alerts) == (more > 0)
