"""What may be published of a table: verdicts by the ends, and the cost of each way."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import passerby as pb
from passerby.errors import InputError
from passerby.plans.table_plan import LEVERS, TablePlan, plan_table
from passerby.report.table_plan_page import plan_sentences
from passerby.support.numbers import span

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


def test_the_advantage_that_is_left_is_told_at_once_and_after_a_year(plan: TablePlan) -> None:
    for way in plan.recommended.values():
        assert way.leaves is not None
        assert way.year is not None
        assert way.leaves[0] <= way.leaves[1] <= 0.3 + 1e-9
        assert way.leaves[0] <= way.year[0] <= way.year[1]
        left = f"the advantage is {span(*way.leaves)} then, and {span(*way.year)} after a year."
        (said,) = (each for each in plan_sentences(plan) if f"Publish it {way.words}." in each)
        assert left in said
    insider = plan_table(TABLE, pb.Limit(share=0, above=0.99), PEOPLE, against="insider", levers=["rounding"], **QUICK)
    way = insider.recommended["complete"]
    assert way.year is None
    assert any("what other weeks tell depends on their numbers" in each for each in plan_sentences(insider))


def test_a_way_that_is_best_twice_is_told_once() -> None:
    table = TABLE.with_columns(hospital=pl.lit(900))
    plan = plan_table(table, pb.Limit(share=0, above=0.3), PEOPLE, levers=[], **QUICK)
    assert len({*plan.recommended.values()}) == 1
    assert sum("Publish it as it is." in each for each in plan_sentences(plan)) == 1


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


def _week(**columns: Callable[[int, int], object]) -> pl.DataFrame:
    when = [(day, hour) for day in range(7) for hour in range(7, 19)]
    times = [f"2024-01-{15 + day} {hour:02}:00" for day, hour in when]
    return pl.DataFrame({"time": times} | {name: [of(*at) for at in when] for name, of in columns.items()})


def test_each_place_is_judged_on_a_day_when_they_are_there() -> None:
    """The family is at the market on Saturdays alone, where one person is counted an hour."""
    table = _week(kindergarten=lambda *_: 5000, market=lambda *_: 1)
    plan = plan_table(table, pb.Limit(share=0, above=0.25), "family", levers=["places"], **QUICK)
    raw, without = (next(x for x in plan.tried if x.left_out == left) for left in ((), ("market",)))
    assert raw.verdict == "refused"
    assert plan.recommended["exact"] == without
    assert without.verdict == "sure"
    said = " ".join(plan_sentences(plan))
    assert "The table as it is breaks the limit" in said
    assert "hold if others come independently of each other" in said
    assert "hold for the numbers of this table alone" in said


HIDDEN = _week(clinic=lambda _, hour: "12" if hour >= 12 else "< 10", station=lambda *_: "4000")


def test_hidden_hours_are_never_sure() -> None:
    plan = plan_table(HIDDEN, pb.Limit(share=0, above=0.25), "dialysis", levers=["rounding"], **QUICK)
    assert {way.verdict for way in plan.tried} == {"unexamined"}
    assert not plan.recommended
    said = " ".join(plan_sentences(plan))
    assert "No persona is examined in full, so that nothing can be recommended." in said
    assert "not examined. The hours when they are there are hidden or not in the table." in said


def test_who_is_not_examined_does_not_choose_the_best_way() -> None:
    people = [*pb.read_personas("dialysis"), pb.Persona("commuter", [("Mon 07:00-12:00", "station", 0.5)])]
    plan = plan_table(HIDDEN, pb.Limit(share=0, above=0.25), people, levers=["rounding"], **QUICK)
    assert plan.recommended["exact"].words == "as it is"
    assert (plan.recommended["exact"].verdict, plan.recommended["exact"].at_most) == ("unexamined", 0.5)
    assert "What follows is for the personas that are examined alone." in plan_sentences(plan)


def test_large_counts_are_sure_with_few_runs() -> None:
    plan = plan_table(
        _week(clinic=lambda *_: 5000), pb.Limit(share=0, above=0.05), "dialysis", levers=["rounding"], runs=20
    )
    assert next(way for way in plan.tried if way.words == "as it is").verdict == "sure"


def test_a_place_where_they_never_are_in_these_hours_is_no_reason_for_doubt() -> None:
    """The table is of Monday, and the market is for Saturday."""
    table = _week(clinic=lambda *_: 5000, market=lambda *_: 50).filter(pl.col("time").str.starts_with("2024-01-15"))
    plan = plan_table(table, pb.Limit(share=0, above=0.25), "dialysis", levers=[], **QUICK)
    assert [way.verdict for way in plan.tried] == ["sure"]
    assert any("dialysis at market: not examined" in each for each in plan.remarks)


def test_who_is_hidden_in_part_is_not_sure_either() -> None:
    """On Mondays and Wednesdays the clinic is hidden, and on Fridays it is shown."""
    table = _week(clinic=lambda day, _: "< 10" if day in (0, 2) else "4000")
    plan = plan_table(table, pb.Limit(share=0, above=0.25), "dialysis", levers=[], **QUICK)
    assert [way.verdict for way in plan.tried] == ["unexamined"]
    assert not plan.recommended


def test_steps_that_are_not_looked_at_may_tell_anything() -> None:
    """A clinic for nine hours, every five minutes: all counts that are looked at are hidden, and others are not."""
    minutes = range(0, 1440, 5)
    times = [f"2024-01-15 {minute // 60:02}:{minute % 60:02}" for minute in minutes]
    counts = [40 if 990 <= minute < 1020 else 4 for minute in minutes]
    visitor = pb.Persona("visitor", [("Mon-Sun 08:00-17:00", "clinic", 0.5)], stays=0.5)
    found = plan_table(
        pl.DataFrame({"time": times, "clinic": counts}),
        pb.Limit(share=0, above=0.3),
        [visitor],
        levers=["suppression"],
        against="insider",
        **QUICK,
    )
    assert not found.recommended
    assert {way.verdict for way in found.tried if way.readers.shown} <= {"refused", "open"}
