"""A table is checked: against `measure` by hand, certain ends, and whatever is wrong with what is handed in."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.errors import InputError
from passerby.tables.check import COUNTED, PRESENCE, TableCheck, check_table
from passerby.tables.ways import HABITS, INSIDER

CLINIC = [2, 3, 1, 4, 2]
#: Monday morning, when the dialysis is.
TABLE = pl.DataFrame(
    {"time": [f"2024-01-15 {h:02}:00" for h in range(7, 12)], "hospital": CLINIC, "station": [90, 80, 95, 99, 70]}
)
QUICK: dict[str, Any] = {"runs": 50}


@pytest.fixture(scope="module")
def found() -> TableCheck:
    return check_table(TABLE, "dialysis", ways=[pb.Raw(), pb.Rounding(10), pb.DiscreteGaussian(2.0)], **QUICK)


def test_an_insider_reads_presence_for_certain_from_raw_counts(found: TableCheck) -> None:
    raw = next(x for x in found.of("dialysis", PRESENCE) if (x.way, x.against) == ("Raw()", INSIDER))
    assert raw.lower == pytest.approx(1)
    assert raw.upper == pytest.approx(1)
    assert raw.single == 1


def test_it_is_what_measure_says(found: TableCheck) -> None:
    (persona,) = pb.read_personas("dialysis")
    prior = persona.bound({"clinic": "hospital"}).prior("2024-01-15 07:00", "1h", 5)
    counts = [pb.Present([0], t, mechanism=pb.DiscreteGaussian(2.0), others=n) for t, n in enumerate(CLINIC)]
    asked = pb.Event(pb.Visitors([0], steps=range(5)))
    want = pb.measure(prior, pb.Release(counts=counts, steps=5), asked, runs=50).advantage
    noisy = next(x for x in found.of("dialysis", PRESENCE) if (x.way[:8], x.against) == ("Discrete", INSIDER))
    assert (noisy.lower, noisy.upper) == (want.lower, want.upper)


def test_less_is_told_to_whoever_knows_less(found: TableCheck) -> None:
    for question in (PRESENCE, COUNTED):
        rows = found.of("dialysis", question)
        for way in found.ways:
            insider, habits = (next(x for x in rows if (x.way, x.against) == (way.name, w)) for w in (INSIDER, HABITS))
            assert habits.lower <= insider.upper + 1e-9


def test_an_insider_is_told_the_worse_of_being_counted_and_coming_in_addition() -> None:
    """With two others and the persona three are counted, which is rounded to 5; three others and one are 5 as well."""
    table = pl.DataFrame({"time": ["2024-01-15 08:00"], "hospital": [3]})
    found = check_table(table, "dialysis", ways=[pb.Rounding(5)], **QUICK)
    assert found.of("dialysis", PRESENCE)[0].upper == pytest.approx(1)


def test_roles_are_guessed_and_said(found: TableCheck) -> None:
    assert found.days[0].places == ("hospital",)
    assert "Guessed by name: clinic is hospital." in found.remarks


def test_places_are_bound_by_what_is_given() -> None:
    found = check_table(TABLE, "dialysis", roles={"clinic": "station"}, ways=[pb.Raw()], **QUICK)
    assert found.days[0].places == ("station",)


def test_without_a_likely_name_the_quietest_place_is_an_example() -> None:
    table = TABLE.rename({"hospital": "A", "station": "B"})
    found = check_table(table, ways=[pb.Raw()], **QUICK)
    assert [(day.persona.name, day.places) for day in found.days] == [("dialysis", ("A",)), ("office-worker", ("B",))]
    assert any("Taken as an example: clinic is A" in each for each in found.remarks)


def test_nobody_can_have_been_there() -> None:
    table = TABLE.with_columns(hospital=pl.lit(0))
    found = check_table(table, "dialysis", ways=[pb.Raw()], **QUICK)
    assert any("cannot have been counted at hospital" in each for each in found.remarks)


def test_more_people_than_were_counted() -> None:
    crowd = pb.Persona("crowd", [("Mon-Fri 06:00-18:00", "station", 0.9)], weight=500)
    found = check_table(TABLE, crowd, ways=[pb.Raw()], **QUICK)
    assert any("500 people like crowd cannot have been counted at station" in each for each in found.remarks)


def test_hidden_cells_are_left_out() -> None:
    table = TABLE.with_columns(hospital=pl.Series(["*", "3", "< 5", "4", "2"]))
    found = check_table(table, "dialysis", ways=[pb.Raw()], **QUICK)
    assert len(list(found.days[0].release(pb.Raw(), INSIDER).listed)) == 3
    assert any("Hidden counts: 2" in each for each in found.remarks)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"personas": "pupil"}, "counts at none of its places"),
        (
            {"personas": "dialysis", "roles": {"clinic": "hospitl"}},
            "nobody counts at 'hospitl' .did you mean hospital",
        ),
        ({"personas": "dialysis", "roles": {"clinik": "hospital"}}, "nobody has a role 'clinik'"),
        ({"personas": []}, "the list is empty"),
        ({"personas": ["nurse", "nurse"]}, "'nurse' is there twice"),
        ({"personas": "nobody"}, "no persona that comes with passerby"),
        ({"ways": []}, "the list is empty"),
        ({"ways": ["x"]}, "expected mechanisms"),
        ({"runs": 1}, "runs is 1"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_table(TABLE, **{**QUICK, **more})


def test_a_place_of_which_everything_is_hidden_is_nobodys() -> None:
    table = TABLE.with_columns(hospital=pl.lit("*"))
    with pytest.raises(InputError, match="counts at none of its places"):
        check_table(table, "dialysis", **QUICK)


def test_weeks_and_weights_that_cannot_be() -> None:
    twice = [("Mon 08:00-10:00", "hospital", 0.8), ("Mon 09:00-11:00", "station", 0.8)]
    with pytest.raises(InputError, match="the week contradicts itself"):
        check_table(TABLE, pb.Persona("ann", twice))
    with pytest.raises(InputError, match="weight is 0"):
        check_table(TABLE, pb.Persona("ann", twice[:1], weight=0))


def test_a_day_of_25_hours() -> None:
    times = ["2024-10-27 00:00", "2024-10-27 01:00", "2024-10-27 02:00", "2024-10-27 02:00", "2024-10-27 03:00"]
    found = check_table(pl.DataFrame({"time": times, "hospital": CLINIC}), "nurse", ways=[pb.Raw()], **QUICK)
    assert found.days[0].table.steps == 5
    assert np.diff(found.table.calendar.begins).tolist() == [60] * 4


def test_a_folder_is_written_from_python(tmp_path: Path) -> None:
    found = pb.check_folder(TABLE, tmp_path / "out", "dialysis", **QUICK)
    assert {each.name for each in (tmp_path / "out").iterdir()} >= {"report.html", "check.json"}
    assert found.days[0].places == ("hospital",)
    with pytest.raises(pb.ConfigError, match="overwrite=True"):
        pb.check_folder(TABLE, tmp_path / "out", "dialysis", **QUICK)
