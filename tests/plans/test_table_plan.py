"""What may be published of a table: verdicts by the ends, and the cost of each way."""

from typing import Any

import polars as pl
import pytest

import passerby as pb
from passerby.errors import InputError
from passerby.plans.table_plan import LEVERS, TablePlan, plan_table

TABLE = pl.DataFrame(
    {
        "time": [f"2024-01-15 {h:02}:00" for h in range(7, 12)],
        "hospital": [2, 3, 1, 4, 2],
        "station": [900, 800, 950, 990, 700],
    }
)
QUICK: dict[str, Any] = {"runs": 40}
#: Somebody at the hospital, and three like somebody at the station.
PEOPLE = [
    pb.Persona("patient", [("Mon 07:00-12:00", "hospital", 0.5)], stays=0.9),
    pb.Persona("commuter", [("Mon 07:00-12:00", "station", 0.5)], stays=0.2, weight=3),
]


@pytest.fixture(scope="module")
def plan() -> TablePlan:
    return plan_table(TABLE, pb.Limit(share=0, above=0.3), PEOPLE, **QUICK)


def test_the_table_as_it_is_is_refused_for_the_patient_alone(plan: TablePlan) -> None:
    raw = next(way for way in plan.tried if way.words == "as it is")
    assert (raw.verdict, raw.at_least, raw.at_most) == ("refused", 0.25, 0.25)


def test_a_share_may_be_above(plan: TablePlan) -> None:
    some = plan_table(TABLE, pb.Limit(share=0.25, above=0.3), PEOPLE, levers=[], **QUICK)
    assert some.tried[0].verdict == "sure"


def test_exact_counts_stay_where_they_tell_little(plan: TablePlan) -> None:
    exact = plan.recommended["exact"]
    assert exact.words == "as it is, without hospital"
    assert (exact.verdict, exact.readers.error, exact.readers.shown) == ("sure", 0, 0.5)
    assert exact.readers.total == pytest.approx(12 / (12 + 900 + 800 + 950 + 990 + 700))


def test_all_numbers_stay_with_enough_noise_or_rounding(plan: TablePlan) -> None:
    assert plan.recommended["complete"].readers.shown == 1
    assert all(way.verdict == "sure" for way in plan.recommended.values())


def test_verdicts_follow_the_ends(plan: TablePlan) -> None:
    for way in plan.tried:
        assert way.at_least <= way.at_most
        assert way.verdict == ("sure" if way.at_most <= 1e-9 else "refused" if way.at_least > 0 else "open")


def test_an_insider_is_not_stopped_by_large_counts() -> None:
    plan = plan_table(TABLE, pb.Limit(share=0, above=0.3), PEOPLE, against="insider", levers=["suppression"], **QUICK)
    raw = next(way for way in plan.tried if way.words == "as it is")
    assert raw.at_least == 1


def test_a_place_that_must_stay_stays() -> None:
    plan = plan_table(TABLE, pb.Limit(share=0, above=0.3), PEOPLE, levers=["places"], stay=["hospital"], **QUICK)
    assert [way.words for way in plan.tried] == ["as it is"]
    assert not plan.recommended


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"limit": pb.Limit(share=0, added=0.1)}, "expected Limit.share=..., above=..."),
        ({"levers": ["zones"]}, f"it has {', '.join(LEVERS)}"),
        ({"levers": "rounding"}, "expected a list"),
        ({"stay": ["park"]}, "the table has no place 'park'"),
        ({"against": "nobody"}, "expected 'insider' or 'habits'"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan_table(TABLE, **{"limit": pb.Limit(share=0, above=0.3), "personas": PEOPLE, **QUICK, **more})
