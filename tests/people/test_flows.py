"""People from a public table: their habits are those of the profile, and numbers of others those of the table."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.people.flow_tables import by_the_hour, profiles_of
from passerby.people.flows import Residents, chosen, whole_numbers

FLOWS = [("north", "mill", 300), ("south", "mill", 120), ("south", "", 55)]
MONDAY = "2024-01-15"


def made(flows: Any = FLOWS, **more: Any) -> Residents:
    return pb.people_from_flows(flows, start=MONDAY, **{"steps": 12, "step": "2h", **more})


def day(**columns: Any) -> pl.DataFrame:
    shares = {"hour": list(range(24)), "home": [0.5] * 24, "work": [0.3] * 24, "elsewhere": [0.2] * 24}
    return pl.DataFrame({**shares, **columns})


def test_each_lives_by_the_persona_at_their_own_zones() -> None:
    people = made()
    (persona,) = pb.read_personas("resident")
    law = persona.prior(MONDAY, "2h", 12).marginals(12)
    for person in (0, len(people) - 1):
        home, work, _ = people.fitted[person]
        prior, places = people.prior(person, [0, 1, 2])
        found = prior.marginals(12)
        wanted = np.zeros((12, 4))
        for place, name in zip((home, work, people.elsewhere), ("home", "work", "elsewhere"), strict=True):
            wanted[:, place] += law[:, persona.places.index(name)]
        for state, place in enumerate(places):
            if place >= 0:
                np.testing.assert_allclose(found[:, state], wanted[:, place], atol=1e-12)
    assert people.ids[len(people) - 1].startswith("south > south")


def test_the_day_that_is_drawn_is_of_everybody() -> None:
    people = made()
    assert (people.counts.sum(axis=1) == 475).all()
    expected = np.zeros((12, 4))
    (persona,) = pb.read_personas("resident")
    law = persona.prior(MONDAY, "2h", 12).marginals(12)
    columns = [persona.places.index(name) for name in ("home", "work", "elsewhere")]
    for home, work, number in ((1, 0, 300), (2, 0, 120), (2, 2, 55)):
        for column, place in zip(columns, (home, work, 3), strict=True):
            expected[:, place] += number * law[:, column]
    assert np.abs(people.counts - expected).max() < 5 * np.sqrt(475) / 2


def test_some_stand_for_many_and_the_numbers_are_still_everybodys() -> None:
    people = made(people=20)
    assert people.weights is not None
    assert len(people) <= 21
    assert people.everybody == pytest.approx(475)
    assert people.counts[0].sum() == 475
    real = np.zeros_like(people.counts)
    np.add.at(real, (np.arange(12), people.actual), 1)
    assert (people.counts >= real).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any), st.integers(1, 60))
def test_weights_add_up_to_the_table(numbers: list[int], people: int) -> None:
    own, weights = chosen(np.array(numbers), people)
    assert weights.sum() == pytest.approx(sum(numbers))
    there = sum(n > 0 for n in numbers)
    assert len(own) <= people + there
    if there <= people:
        assert {cell for cell, _ in own} == {i for i, n in enumerate(numbers) if n}


def test_parts_of_people_keep_their_sum() -> None:
    assert whole_numbers(np.full(10, 0.3)).sum() == 3


def test_an_audit_of_a_few_is_one_of_their_chains_with_weights() -> None:
    people = made(people=4, steps=4)
    release = pb.Release(pb.fixed_sensors(people, ["mill"]), pb.Rounding(5))
    table = pb.audit(people, release, misses=1, questions=[pb.Trace(1), "counted"], workers=1)
    assert table.columns[:2] == ["person", "weight"]
    weights = table.group_by("person").agg(pl.col("weight").first())["weight"]
    assert weights.sum() == pytest.approx(475)
    prior, places = people.prior(0, [0])
    others = people.counts[:, 0] - (people.actual[0] == 0)
    place = int(np.flatnonzero(places == 0)[0])
    alone = pb.measure(prior, pb.Release([place] * 4, pb.Rounding(5), [[n] for n in others.tolist()]), 1)
    first = table.row(0, named=True)
    assert first["lower"] <= alone.upper + 1e-9
    assert alone.lower <= first["upper"] + 1e-9


def test_everybody_else_is_a_crowd_where_that_is_asked_for() -> None:
    people = made(flows=[("a", "b", 12), ("b", "a", 6)], steps=3)
    found = pb.audit(people, pb.Release([[0]] * 3, others=pb.Crowd()), misses=0, workers=1, runs=20)
    assert set(found["status"]) <= {"ok", "wide"}
    assert (found["lower"] <= found["upper"]).all()


def test_profiles_by_groups_divide_each_pair() -> None:
    two = pl.concat([day(group=["a"] * 24, weight=[3.0] * 24), day(group=["b"] * 24, weight=[1.0] * 24)])
    people = made(flows=[("x", "y", 100)], profile=two)
    assert people.weights is not None
    assert np.bincount(people.fitted[:, 2], people.weights).tolist() == [75, 25]
    idle = pb.Persona("idle", [], {"home": 0.9, "*": 0.1})
    people = made(profile=[pb.read_personas("resident")[0], idle])
    kinds = dict(zip(people.fitted[:, 2].tolist(), people.ids.to_list(), strict=False))
    assert "south > south" in kinds[1]
    assert "mill" in kinds[0]


def test_shares_by_the_hour_are_kept() -> None:
    (persona,) = by_the_hour(day(home=[50] * 24, work=[30] * 24, elsewhere=[20] * 24))
    assert persona.shares == pytest.approx({"home": 0.5, "work": 0.3, "elsewhere": 0.2})


def test_tables_of_others_are_taken_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "od.csv"
    file.write_text("w_geocode,h_geocode,S000,SA01,createdate\n0102,0101,7,3,20230321\n0101,0101,5,1,20230321\n")
    people = made(file)
    assert (people.places, people.everybody) == (("0101", "0102", "elsewhere"), 12.0)
    profile = tmp_path / "day.csv"
    day().write_csv(profile)
    assert [each.name for each in profiles_of(profile)] == ["everybody"]


@pytest.mark.parametrize(
    ("flows", "said"),
    [
        ([("a", "b", -1)], "row 1: people is -1"),
        ([("a", "b", "many")], "row 1: people is 'many'"),
        ([("a", "b", 1), ("a", "b", 2)], "row 2: the number of people from 'a' to 'b' is given twice, before in row 1"),
        ([("a", "b", 0)], "nobody is in it"),
        ([("", "b", 1)], "row 1: home is empty"),
        ([("a", "elsewhere", 1)], "'elsewhere' is no zone"),
        ([("a", "b")], "expected rows of home, work and people"),
        ([], "nobody is in it"),
        ("no-such-file.csv", "no-such-file.csv"),
        (pl.DataFrame({"home": ["a"], "work": ["b"]}), "need the columns home, work and people"),
    ],
)
def test_bad_flows_are_refused(flows: Any, said: str) -> None:
    with pytest.raises(pb.InputError) as error:
        made(flows)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        (day(home=[0.9] * 24), "row 1: the shares at home, at work and elsewhere add up to 1.4, not to 1"),
        (day().head(23), "hour 23 of a workday is missing"),
        (day(day=["holiday"] * 24), "expected workday, weekend or nothing"),
        (pl.concat([day(), day()]), "hour 0 of a workday is given twice"),
        (day(hour=[0.5] * 24), "hour is 0.5"),
        ("tourist", "tourist is never at 'home'"),
        ("residnet", "did you mean resident?"),
        (7, "7 is no table"),
    ],
)
def test_bad_profiles_are_refused(profile: Any, said: str) -> None:
    with pytest.raises(pb.InputError) as error:
        made(profile=profile)
    assert said in str(error.value)


def test_a_zone_that_nobody_knows_cannot_be_counted() -> None:
    with pytest.raises(pb.InputError, match="mil"):
        pb.fixed_sensors(made(), ["mil"])
