"""Presence at counted places in plans: what is kept by default, and that a small place is never called harmless."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits.presence import presence
from passerby.audits.settings import Measurement
from passerby.plans.guard import AtPlace, Guard, Kept
from passerby.plans.plan import Plans
from passerby.plans.sequence import decide
from passerby.plans.task import Task

#: A limit on people that anything keeps.
ANY = pb.Limit(share=0.9, added=0.9)
LITTLE: dict[str, Any] = {"budget": 1e5, "runs": 20, "workers": 1}
STEPS = 4


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> pb.People:
    """Forty people at home, at work, and a few of them now and then in a hospital; three are there on the last day."""
    rng = np.random.default_rng(4)
    rows = []
    for person in range(40):
        for day in range(12):
            for step in range(STEPS):
                there = "hospital" if person < 12 and rng.random() < (0.12 if day < 11 else 0.0) else None
                if day == 11 and step == 1 and person < 3:
                    there = "hospital"
                usual = "station" if rng.random() < 0.5 else "home"
                rows.append((f"p{person}", there or usual, datetime(2024, 1, 1 + day, 6 * step + 1)))
    path = tmp_path_factory.mktemp("hospital") / "visits.parquet"
    pl.DataFrame(rows, schema=["person", "place", "time"], orient="row").write_parquet(path)
    visits = pb.read_visits(path)
    return pb.fit_people(visits, window="6h", places=4, min_active=1, holdout=STEPS, habits="paper")


def hourly(people: pb.People, *names: str) -> pb.Release:
    return pb.Release([[people.places.index(name) for name in names]] * STEPS)


def made(people: pb.People, release: pb.Release, **other: Any) -> Plans:
    how = {"levers": ["rounding", "gaussian", "places"], **LITTLE, **other}
    return pb.plan(people, release, [ANY], 0, **how)


def test_the_raw_count_of_a_hospital_of_three_is_never_harmless(people: pb.People) -> None:
    number = people.places.index("hospital")
    assert 2 <= people.counts[-STEPS:, number].max() <= 3
    found = made(people, hourly(people, "hospital", "station"))
    assert found.wanted.kept == "sure"
    assert found.wanted.verdict != "sure"
    assert {each.place for each in found.wanted.presence} == {"hospital", "station"}
    assert found.recommended
    for plan in found.recommended.values():
        raw = any(isinstance(way, pb.Raw) for way in plan.release.ways)
        assert not (raw and any(number in step for step in plan.release.sensors)), plan.words
        assert plan.verdict == "sure"
        assert all(each.verdict == "sure" and each.closely for each in plan.presence)
    # What was tried and counts the hospital raw is not called sure either.
    for plan in found.tried:
        if plan.release.plain and any(number in step for step in plan.release.sensors):
            assert plan.verdict != "sure", plan.words


def test_presence_is_what_it_is_for_everybody(people: pb.People) -> None:
    release = hourly(people, "hospital", "station").through(pb.Rounding(5))
    found = made(people, release, levers=["places"])
    table = presence(people, release, sample=200)
    for each in found.wanted.presence:
        own = table.filter((pl.col("place") == each.place) & pl.col("status").is_in(["ok", "wide"]))
        if own.height == each.people:
            assert each.lower == pytest.approx(own["advantage_lower"].mean(), abs=0.02)
            assert each.upper == pytest.approx(own["advantage_upper"].mean(), abs=0.02)


@pytest.mark.parametrize("way", [pb.Raw(), pb.Suppression(5), pb.Rounding(5), pb.Gaussian(2.0)])
def test_single_counts_tell_no_more_than_all(people: pb.People, way: pb.Mechanism) -> None:
    base = hourly(people, "hospital", "station")
    guard = Guard(people, base, Kept(0.25), Measurement(0), {name: (k,) for k, name in enumerate(people.places)})
    release = base if isinstance(way, pb.Raw) else base.through(way)
    quick = {each.place: each for each in guard.screened(release)}
    closely = {each.place: each for each in guard.told(release)}
    assert {*quick} == {*closely}
    for name, each in closely.items():
        # Five people against up to thirty: the means are near, and the end of single counts is a lower one.
        assert quick[name].lower <= each.upper + 0.1
        assert not quick[name].closely
        assert each.lower <= each.upper
    assert guard.told(release) is guard.told(release)


def test_no_exact_count_keeps_it_from_an_insider(people: pb.People) -> None:
    found = made(people, hourly(people, "station"), levers=["gaussian"], presence_against="insider")
    assert found.wanted.verdict == "refused"
    assert found.wanted.presence[0].lower == 1
    for plan in found.recommended.values():
        assert not plan.release.plain


def test_it_can_be_turned_off(people: pb.People) -> None:
    found = made(people, hourly(people, "hospital"), presence_at_most=1)
    assert found.kept is None
    assert found.wanted.verdict == "sure"
    assert not found.wanted.presence


def test_what_readers_ask_for_is_always_tried(people: pb.People) -> None:
    found = made(people, hourly(people, "hospital", "station"))
    assert [repr(plan.release.mechanism) for plan in found.always] == [
        "Suppression(below=5)",
        "Suppression(below=10)",
        "Rounding(base=5)",
        "Rounding(base=10)",
        "Then(first=Suppression(below=8), second=Rounding(base=5))",
    ]
    assert {plan.release for plan in found.always} <= {plan.release for plan in found.tried}
    assert all(each.closely for plan in found.always for each in plan.presence)
    rounded = made(people, hourly(people, "hospital").through(pb.Rounding(3)), levers=["gaussian"])
    assert not rounded.always


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"presence_at_most": 1.5}, "presence_at_most"),
        ({"presence_at_most": "a"}, "presence_at_most"),
        ({"presence_against": "insiders"}, "did you mean 'insider'"),
    ],
)
def test_what_presence_cannot_be_kept_to(people: pb.People, given: dict[str, Any], said: str) -> None:
    with pytest.raises(pb.InputError, match=said):
        made(people, hourly(people, "hospital"), **given)


@pytest.mark.parametrize(
    ("people", "lower", "upper", "closely", "verdict"),
    [
        (30, 0.1, 0.2, True, "sure"),
        (30, 0.1, 0.2, False, "open"),
        (30, 0.1, 0.3, True, "open"),
        (30, 0.3, 0.4, False, "refused"),
        (3, 0.1, 0.9, True, "sure"),
        (3, 0.3, 0.9, True, "refused"),
    ],
)
def test_verdicts(people: int, lower: float, upper: float, closely: bool, verdict: str) -> None:
    assert AtPlace("a", people, lower, upper, 0.25, closely).verdict == verdict


def task(people: pb.People, release: pb.Release) -> Task:
    named = {name: (k,) for k, name in enumerate(people.places)}
    how = Measurement(0, runs=20, budget=1e5)
    return Task(people, release, (ANY,), how, None, (), {}, frozenset(), None, 60, None, named=named, kept=Kept(0.25))


def test_the_next_table_of_a_hospital_is_held(people: pb.People) -> None:
    found = decide(task(people, hourly(people, "hospital")), [], workers=1)
    assert found.answer != "publish"
    assert "hospital tells who was there" in found.why
    assert found.table is None or not found.table.presence or found.table.verdict == "sure"
    assert decide(task(people, hourly(people, "hospital").through(pb.Gaussian(5.0))), [], workers=1).answer == "publish"


def test_the_next_table_is_decided_on_without_the_counts(people: pb.People) -> None:
    """Where people really were changes nothing of what is said of presence."""
    other = replace(people, actual=np.roll(people.actual, 1, axis=0))
    named = {name: (k,) for k, name in enumerate(people.places)}
    release = hourly(people, "hospital", "station")
    one, two = (
        Guard(each, release, Kept(0.25), Measurement(0), named, blind=True).told(release) for each in (people, other)
    )
    assert one == two
    assert one
