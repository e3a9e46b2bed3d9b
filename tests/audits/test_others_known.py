"""Others of whom a share is known: numbers against sums of draws, both ends of the line, and who is told of."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import passerby as pb
from passerby.audits.everyone import Everybody
from passerby.audits.others_known import _beside, _Case, most_telling, others_known
from passerby.audits.presence_all import Present, presence_of_all
from passerby.audits.presence_crowd import Seats, coin_of, habitual, numbers_by_share
from passerby.audits.question_words import places_by_name
from passerby.audits.record import ShareAnswers
from passerby.audits.settings import Measurement
from passerby.errors import SettingsError
from passerby.others.numbers import poisson_binomial
from passerby.support.blocks import Team

T, SHARES = 4, (0.0, 0.5, 1.0)


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(pb.simulate_city(60, 16, 4, seed=5), window="3h", places=15, min_active=2, holdout=T)


def asked(people: pb.People, release: pb.Release, shares: tuple[float, ...] = SHARES, **more: Any) -> Present:
    how = Measurement(1, 0.01, 60, 0.99, 1e8, 0)
    case: Any = (Everybody.here(people, Team(1)), release, how, places_by_name(people.places), {}, 10)
    return presence_of_all(*case, team=Team(1), shares=shares, **more)


def by_question(found: list[ShareAnswers]) -> dict[str, list[ShareAnswers]]:
    return {name: [each for each in found if each.question == name] for name in {each.question for each in found}}


def test_the_numbers_of_those_who_are_unknown_are_sums_of_their_draws(people: pb.People) -> None:
    release = pb.Release([[0, 2]] * T)
    coins = np.array([coin_of(name) for name in people.ids])
    rows = list(habitual(people, release, range(len(people))))
    found = numbers_by_share([Seats.of(release, people)], (0.0, 0.4, 1.0))
    for share, numbers in zip((0.0, 0.4, 1.0), found, strict=True):
        hidden = np.flatnonzero(coins >= share)
        for cell, (least, law) in enumerate(numbers.habits):
            right = poisson_binomial([float(rows[k].chance[cell]) for k in hidden])
            assert least == right[0]
            assert law == pytest.approx(right[1], abs=1e-12)
        there = people.actual[hidden][:, :, None] == np.array([0, 2])
        assert numbers.there.tolist() == there.sum(axis=0).reshape(-1).tolist()
    assert (coins.min(), coins.max()) > (0, 0.5)


def spread_out(law: tuple[int, Any]) -> Any:
    """The chances of 0, 1, 2, ... people: tails are cut in one way or another."""
    return np.pad(law[1], (law[0], 100 - law[0] - len(law[1])))


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_the_rest_of_one_person_is_who_is_known_but_them(people: pb.People, share: float) -> None:
    release = pb.Release([[0, 2]] * T)
    present = asked(people, release, (share,))
    habits, insider = present.works["habits"], present.works["insider"]
    case = _Case(habits, insider, (share,), None, ())
    coins = np.array([coin_of(name) for name in people.ids])
    here = (people.actual[:, :, None] == np.array([0, 2])).reshape(len(people), -1)
    for number, name in enumerate(habits.job.people.ids):
        me = people.ids.to_list().index(name)
        known = (coins < share) & (np.arange(len(people)) != me)
        beside = _beside(case, number, share)
        assert beside.rest.tolist() == here[known].sum(axis=0).tolist()
        rows = list(habitual(people, release, np.flatnonzero(~known & (np.arange(len(people)) != me)).tolist()))
        for cell in range(here.shape[1]):
            right = poisson_binomial([float(row.chance[cell]) for row in rows])
            assert spread_out(beside.habits.at(cell)) == pytest.approx(spread_out(right), abs=1e-9)


@pytest.mark.parametrize("way", [pb.Raw(), pb.Rounding(5), pb.Gaussian(1.0)], ids=repr)
def test_answers_rise_from_an_acquaintance_to_an_insider(people: pb.People, way: pb.Mechanism) -> None:
    present = asked(people, pb.Release([[0, 1]] * T, way))
    found = by_question(others_known(present, SHARES, Team(1)))
    first = most_telling(present.places)
    assert first is not None
    assert set(found) == {"counted", f"visited:{first.place}"}
    for rows in found.values():
        assert [each.share for each in rows] == list(SHARES)
        assert all(0 <= each.power.lower <= each.power.upper <= 1 for each in rows)
        # What a rule tells an insider of one day depends on the numbers of that day: it is more on average alone.
        if not isinstance(way, pb.Rounding):
            assert rows[0].advantage.lower <= rows[-1].advantage.upper + 1e-9
            assert all(less.advantage.lower <= more.advantage.upper + 1e-9 for less, more in itertools.pairwise(rows))
    presence = found[f"visited:{first.place}"]
    assert presence[0].advantage.lower == pytest.approx(first.advantage.lower, abs=0.15)  # type: ignore[union-attr]
    if way.raw:
        assert (presence[-1].advantage.lower, presence[-1].power.upper) == (1.0, 1.0)


def test_of_an_insider_membership_is_what_is_asked_of_everybody(people: pb.People) -> None:
    release = pb.Release([[0, 1]] * T)
    found = by_question(others_known(asked(people, release, (1.0,)), (1.0,), Team(1)))
    (row,) = found["counted"]
    mean = np.mean(
        [pb.measure(*chain(people, release, person), pb.InData()).advantage.lower for person in range(len(people))]
    )
    assert row.advantage.lower == pytest.approx(float(mean), abs=0.12)


def chain(people: pb.People, release: pb.Release, person: int) -> tuple[pb.MarkovPrior, pb.Release]:
    prior, places = people.prior(person, [0, 1])
    number = {int(place): state for state, place in enumerate(places)}
    return prior, pb.Release([[number[x] for x in step] for step in release.sensors])


def test_nothing_is_told_of_few_people_nor_of_counts_that_are_no_cells(people: pb.People) -> None:
    release = pb.Release([[0, 1]] * T)
    present = asked(people, release)
    assert others_known(replace(present, members=present.members[:4], places=()), SHARES, Team(1)) == []
    flows = pb.Release(counts=[pb.Moved([0], [1], step=0)], steps=T)
    assert others_known(asked(people, flows), SHARES, Team(1)) == []
    assert others_known(Present(None, (), ()), SHARES, Team(1)) == []


def test_shares_change_nothing_of_presence_itself(people: pb.People) -> None:
    release = pb.Release([[0, 1]] * T)
    with_, without = asked(people, release), asked(people, release, ())
    assert with_.places == without.places
    assert with_.rows is not None
    assert without.rows is not None
    assert with_.rows.equals(without.rows)


def test_zero_alone_switches_it_off(people: pb.People) -> None:
    how: dict[str, Any] = {"budget": 1e7, "workers": 1, "explore": 0, "adversaries": 5, "presence": 8, "runs": 20}
    none = pb.audit_report(people, pb.Release([[0, 1]] * T), known_shares=[0], **how)
    some = pb.audit_report(people, pb.Release([[0, 1]] * T), known_shares=[1, 0], **how)
    assert none.summary.known_shares == []
    assert "it was not asked, or the counts are flows" in none.page
    assert [each.share for each in some.summary.known_shares if each.place is None] == [0, 1]
    assert "How much does it help to know some of the others?" in some.page
    assert "an acquaintance finds" in some.page
    with pytest.raises(SettingsError, match="more than once"):
        pb.audit_report(people, pb.Release([[0, 1]] * T), known_shares=[0.5, 0.5], **how)
