"""Limits, tallies and what is wrong with them."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from tests.plans.towns import town, wanted

import passerby as pb
from passerby.plans.limit import check_limits, counted
from passerby.plans.plan import broken
from passerby.plans.task import checked_weights, read_weights
from passerby.support.statistics import least_people, most_people


@given(st.integers(1, 60), st.data())
def test_limits_from_a_sample_are_those_of_the_law(people: int, data: st.DataObject) -> None:
    drawn = data.draw(st.integers(1, people))
    seen = data.draw(st.integers(0, drawn))
    possible = range(seen, people - (drawn - seen) + 1)
    likely = [k for k in possible if hypergeom.cdf(seen, people, k, drawn) > 0.01 * (1 + 1e-9)]
    assert most_people(seen, drawn, people, 0.99) == max(likely, default=seen)
    likely = [k for k in possible if hypergeom.sf(seen - 1, people, k, drawn) > 0.01 * (1 + 1e-9)]
    assert least_people(seen, drawn, people, 0.99) == min(likely, default=people - (drawn - seen))


def test_nobody_drawn_tells_nothing() -> None:
    assert (least_people(0, 0, 9, 0.99), most_people(0, 0, 9, 0.99)) == (0, 9)


def test_verdicts_come_from_ends() -> None:
    known = (np.zeros(4), np.zeros(4))
    lower, upper = np.array([0.1, 0.4, 0.6, 0.6]), np.array([0.2, 0.6, 0.7, 0.8])
    expected = {0.25: "refused", 0.5: "open", 0.75: "sure"}
    for share, said in expected.items():
        assert counted(pb.Limit(share=share, above=0.5), lower, upper, known).verdict == said


def test_what_is_added_is_against_the_other_end_of_the_baseline() -> None:
    tally = counted(
        pb.Limit(share=0.0, added=0.1), np.array([0.5]), np.array([0.55]), (np.array([0.35]), np.array([0.45]))
    )
    assert (tally.surely, tally.possibly, tally.verdict) == (0, 1, "open")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"share": 0.05}, "give one of them"),
        ({"share": 0.05, "above": 0.5, "added": 0.1}, "give one of them"),
        ({"share": 1.0, "above": 0.5}, "everybody may break"),
        ({"share": -0.1, "above": 0.5}, "share"),
        ({"share": 0.1, "above": 1.0}, "no chance exceeds"),
        ({"share": 0.1, "added": float("nan")}, "added"),
        ({"share": 0, "above": 0.1, "question": "visted:gate"}, "did you mean visited"),
        ({"share": 0, "above": 0.1, "question": 3}, "question is 3"),
        ({"share": 0, "above": 0.1, "question": "counted", "measure": "powr"}, "did you mean 'power'"),
        ({"share": 0, "above": 0.1, "question": "counted", "against": "habit"}, "did you mean 'habits'"),
        ({"share": 0, "above": 0.1, "against": "habits"}, "go with a question"),
        ({"share": 0, "above": 0.1, "measure": "power"}, "go with a question"),
        ({"share": 0, "added": 0.1, "question": "visited:gate"}, "limit what is above"),
        ({"share": 0, "added": 0.1, "question": pb.InData()}, "limit what is above"),
        ({"share": 0, "above": 0.1, "question": "each-step", "measure": "certain"}, "which 'each-step' has none of"),
    ],
)
def test_limits_that_are_none(given: dict[str, Any], said: str) -> None:
    with pytest.raises(pb.InputError, match=said):
        pb.Limit(**given)


def test_limits_that_contradict_each_other() -> None:
    with pytest.raises(pb.InputError, match="contradicts"):
        check_limits([pb.Limit(share=0.05, above=0.5), pb.Limit(share=0.01, above=0.5)])
    asked = partial(pb.Limit, above=0.5, question="counted")
    with pytest.raises(pb.InputError, match="contradicts"):
        check_limits([asked(share=0.05), asked(share=0.01)])
    several = [asked(share=0.05), asked(share=0.01, measure="power"), asked(share=0.02, against="habits")]
    assert check_limits([pb.Limit(share=0, above=0.5), *several]) == (pb.Limit(share=0, above=0.5), *several)
    with pytest.raises(pb.InputError, match="one or more"):
        check_limits([])


def test_a_limit_that_is_broken_without_a_release_is_said_with_the_baseline() -> None:
    people = town(1)
    with pytest.raises(pb.InputError, match=r"there are already \d+ % of people above 1 %"):
        pb.plan(people, wanted(people), [pb.Limit(share=0.0, above=0.01)], 1, workers=1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stay": ["nowhere"]}, "nowhere"),
        ({"levers": []}, "none is left"),
        ({"levers": ["places"], "forbid": ["places"]}, "asked for and forbidden"),
        ({"levers": ["noise"]}, "is none of"),
        ({"fix": {"places": 3}}, "cannot be fixed"),
        ({"weights": [[1.0]]}, "weights"),
        ({"weights": "much"}, "weights: expected numbers in the form"),
        ({"fix": {"rounding": float("inf")}}, "cannot be fixed at inf"),
        ({"fix": {"rounding": "x"}}, "fix: rounding is 'x'"),
        ({"fix": 3}, "fix: expected levers with a position"),
        ({"levers": 3}, "levers: expected one or more names"),
        ({"forbid": None}, "forbid: expected one or more names"),
        ({"stay": [3]}, "stay: expected one or more names"),
        ({"levels": {"all": [0]}}, "levels: expected a list such as"),
        ({"tolerance": float("nan")}, "tolerance: expected a number"),
        ({"budget": -1}, "budget: expected a finite number"),
        ({"runs": 0}, "runs: expected a whole number"),
        ({"confidence": 2}, "confidence: expected a level"),
        ({"seed": -1}, "seed is -1"),
        ({"fix": {"rounding": 2.5}}, "cannot be fixed at 2.5; its positions are 3, 5"),
        ({"fix": {"every": 0}}, "cannot be fixed at 0"),
        ({"fix": {"gaussian": -1}}, "cannot be fixed at -1"),
        ({"fix": {"zones": 3}, "levels": [{"all": [0, 1, 2, 3, 4, 5]}]}, "cannot be fixed at 3; its positions are 1"),
        ({"levels": [{"all": [0, 99]}]}, "place 99 is not there"),
        ({"levels": [{"a": [0, 1], "b": [1]}]}, "in two zones"),
    ],
)
def test_what_cannot_be_planned(given: dict[str, object], said: str) -> None:
    people = town(1)
    with pytest.raises(pb.InputError, match=said):
        pb.plan(people, wanted(people), [pb.Limit(share=0.1, added=0.1)], 1, workers=1, **given)  # type: ignore[arg-type]


def test_what_is_wanted_is_a_release() -> None:
    with pytest.raises(pb.InputError, match="release is a NoneType"):
        pb.plan(town(1), None, [pb.Limit(share=0.1, added=0.1)], workers=1)  # type: ignore[arg-type]


def test_no_share_is_larger_than_everybody() -> None:
    tally = counted(pb.Limit(share=0.1, above=0.2), *(np.ones(4),) * 2, (np.ones(4),) * 2)
    assert broken(tally, "everyone").endswith("(measured on everyone). Limit what the release adds, as in added=0.02")


def test_weights_are_what_they_are_to_each_other() -> None:
    """The largest numbers there are would add up to none."""
    people = town(1)
    weights = np.ones(people.counts.shape)
    one, two = (checked_weights(weights * scale, people) for scale in (1.0, 1e308))
    assert one is not None
    assert two is not None
    assert (one == two).all()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("place,weight\n{0},2\n{1},1\n{0},2\n", "line 4: the same place and step as in line 2"),
        ("step,weight\n1,2\n1,2\n", "line 3: the same place and step as in line 2"),
        ("place,step,weight\n{0},,1e200\n,1,1e200\n", "multiply to more than any number"),
        ("place,weight\n{0},nan\n", "expected a number of at least 0"),
        ("place,stp,weight\n{0},1,2\n", r"weights have no column 'stp' \(did you mean step\?\)"),
        ("place,wieght\n{0},2\n", r"weights need the columns .*\('wieght': did you mean weight\?\)"),
    ],
)
def test_tables_of_weights_that_are_wrong(tmp_path: Path, rows: str, said: str) -> None:
    people = town(1)
    (tmp_path / "weights.csv").write_text(rows.format(*people.places))
    with pytest.raises(pb.InputError, match=said):
        read_weights(people, tmp_path / "weights.csv")


def test_weights_that_leave_nothing_to_plan() -> None:
    people = town(1)
    weights = np.ones(people.counts.shape)
    weights[:, list(wanted(people).sensors[0])] = 0
    with pytest.raises(pb.InputError, match="all numbers that are wanted weigh 0"):
        pb.plan(people, wanted(people), [pb.Limit(share=0.1, added=0.1)], 1, workers=1, weights=weights)


def test_what_must_stay_stays_and_what_is_fixed_is() -> None:
    people = town(1)
    release = wanted(people)
    place = people.places[release.sensors[0][0]]
    found = pb.plan(
        people,
        release,
        [pb.Limit(share=0.2, added=0.05)],
        0,
        stay=[place],
        fix={"rounding": 5},
        levers=["places", "every", "steps"],
        workers=1,
    )
    assert found.tried
    for plan in found.tried:
        assert all(release.sensors[0][0] in step for step in plan.release.sensors)
        assert plan.release.mechanism == pb.Rounding(5)
