"""Names of people and places that are numbers, and names that look alike."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.visits.test_store import compared

import passerby as pb
from passerby.people.sensors import Zones, fixed_sensors, read_zones, scheduled_sensors
from passerby.visits import read_visits, store
from passerby.visits.names import ZEROS, Names, name_of

DAY = [f"2024-05-{day:02d} 08:00" for day in range(1, 21)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, size in ((store, "ROWS", 12), (store, "DRAWN", 2), (store, "DRAWN", 2), (store, "TASK", 300)):
        monkeypatch.setattr(module, name, size)


def csv(path: Path, people: list[str], places: list[str] | None = None) -> None:
    places = places or ["x"] * len(people)
    rows = [f"{who},{time},{where}" for who, time, where in zip(people, DAY, places, strict=False)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["person,time,place", *rows, ""]))


def parquet(path: Path, people: pl.Series) -> None:
    path.parent.mkdir(exist_ok=True)
    rows = len(people)
    pl.DataFrame({"person": people, "time": DAY[:rows], "place": ["x"] * rows}).write_parquet(path)


WAYS: list[tuple[str, pl.Series]] = [
    ("text", pl.Series(["1", "2"])),
    ("a point", pl.Series(["1.0", "2.0"])),
    ("two zeros", pl.Series(["1.00", "2.00"])),
    ("a power", pl.Series(["1e+00", "2E+00"])),
    ("floats with a gap", pl.Series([1.0, None, 2.0])),
    ("small floats", pl.Series([1.0, 2.0], dtype=pl.Float32)),
    ("whole numbers", pl.Series([1, 2])),
    ("unsigned", pl.Series([1, 2], dtype=pl.UInt8)),
    ("decimals", pl.Series(["1.00", "2.00"]).cast(pl.Decimal(20, 2))),
]


@pytest.mark.parametrize("one", range(len(WAYS)), ids=[name for name, _ in WAYS])
def test_numbers_are_the_same_people_however_they_are_written(tmp_path: Path, one: int) -> None:
    root = tmp_path / "visits"
    parquet(root / "a.parquet", WAYS[one][1])
    csv(root / "b.csv", ["1", "2.0", "2.000"])
    visits = read_visits(root, max_unparsable=0.5)
    assert visits.people.to_list() == [1, 2]
    assert ZEROS in visits.remarks
    compared(root, tmp_path, max_unparsable=0.5)


def test_other_names_stay_as_they_are() -> None:
    names = ["1.5", "1.50", "007", "007.0", "v1.0", "1.0.0", ".0", "1.", "1e5", "12E4", "+1", "a.0", "1.0 m"]
    found = Names.of(pl.Series(names))
    assert found.names.to_list() == names
    assert not found.lost.any()
    assert not found.zeros
    assert [name_of(name) for name in names] == names


@pytest.mark.parametrize("name", ["7", "7.0", "-3.00", "-0.0", "0.0", "x", " park ", "1.5"])
def test_small_tables_read_names_as_visits_do(name: str) -> None:
    assert name_of(name) == Names.of(pl.Series([name])).names[0]


LOST: list[tuple[str, Any]] = [
    ("floats", pl.Series([1.0, 2.0**53])),
    ("floats below", pl.Series([1.0, -(2.0**60)])),
    ("small floats", pl.Series([1.0, 2.0**24], dtype=pl.Float32)),
    ("a point", pl.Series(["1", "9007199254740993.0"])),
    ("a power", pl.Series(["1", "1e+16"])),
    ("a spreadsheet", pl.Series(["1", "1.23457E+11"])),
]


@pytest.mark.parametrize("values", [values for _, values in LOST], ids=[name for name, _ in LOST])
@pytest.mark.parametrize("role", ["person", "place"])
def test_numbers_that_have_lost_digits_are_refused_with_their_rows(
    tmp_path: Path, values: pl.Series, role: str
) -> None:
    table = pl.DataFrame({"person": ["p", "q"], "time": DAY[:2], "place": ["x", "y"]}).with_columns(values.alias(role))
    (tmp_path / "visits").mkdir()
    table.write_parquet(tmp_path / "visits" / "a.parquet")
    with pytest.raises(pb.InputError) as caught:
        read_visits(tmp_path / "visits", max_unparsable=1)
    message = str(caught.value)
    assert "1 names are numbers that have lost digits, being above 2^53" in message
    assert f"row 2 has such a {role}" in message
    assert "9007199254740993" not in message
    with pytest.raises(pb.InputError, match="lost digits") as again:
        compared(tmp_path / "visits", tmp_path, max_unparsable=1)
    assert str(again.value) == message


def test_numbers_with_all_digits_are_taken() -> None:
    for values in (
        pl.Series([2.0**53 - 1, 1.0]),
        pl.Series(["9007199254740993", "9007199254740992"]),
        pl.Series([2**53 + 1, 2**53]),
        pl.Series(["9007199254740993.00", "9007199254740992.00"]).cast(pl.Decimal(30, 2)),
    ):
        visits = read_visits(pl.DataFrame({"person": values, "time": DAY[:2], "place": ["x", "y"]}))
        assert visits.people.to_list() == sorted(
            int(float(v)) if values.dtype == pl.Float64 else int(str(v).split(".")[0]) for v in values
        )


def test_places_that_are_numbers_are_found_by_schedules_and_zones(tmp_path: Path) -> None:
    rows = [(who, time, place) for who in "abc" for time, place in zip(DAY, [1.0, 2.0, None, 3.0] * 5, strict=True)]
    visits = read_visits(pl.DataFrame(rows, schema=["person", "time", "place"], orient="row"), max_unparsable=0.5)
    assert visits.places.to_list() == ["1", "2", "3"]
    people = pb.fit_people(visits, window="1d", places=["1.0", "2", "3.0"], min_active=1, holdout=4)
    assert people.places == ("1", "2", "3", "elsewhere")
    assert fixed_sensors(people, ["3.0"]) == [[2]] * 4
    pl.DataFrame({"place": [1.0, 3.0], "step": [1, 2]}).write_parquet(tmp_path / "sensors.parquet")
    assert scheduled_sensors(people, tmp_path / "sensors.parquet") == [[0], [2], [], []]
    (tmp_path / "zones.csv").write_text("place,zone\n1.0,7.0\n2,7\n3.00,8\n")
    zones = Zones.among(people, read_zones(tmp_path / "zones.csv"), "zones.csv")
    assert zones.named() == {"7": (0, 1), "8": (2,)}


ALIKE: list[tuple[str, list[str], int]] = [
    ("capitals", ["ann", "Ann", "bob"], 2),
    ("normal forms", ["zo\u00eb", "zoe\u0308", "bob"], 2),
    ("both", ["ZO\u00cb", "zoe\u0308", "zo\u00eb", "x", "X"], 5),
    ("wide letters", ["\uff41nn", "ann"], 2),
    ("none", ["ann", "anna", "zoe", "zo\u00eb"], 0),
    ("numbers", ["1", "01", "2"], 0),
]


@pytest.mark.parametrize(("names", "alike"), [case[1:] for case in ALIKE], ids=[case[0] for case in ALIKE])
def test_names_that_look_alike_are_said(tmp_path: Path, names: list[str], alike: int) -> None:
    root = tmp_path / "visits"
    csv(root / "people.csv", names)
    visits = compared(root, tmp_path).remarks
    some = "Fewer than 5" if alike < 5 else f"{alike}"
    said = [text for text in visits if "names of people differ from others by capitals" in text]
    assert [text.partition(" names")[0] for text in said] == ([some] if alike else [])
    assert not any(name in text for text in said for name in names if len(name) > 2)
    csv(root / "people.csv", ["ann"] * len(names), names)
    (tmp_path / "again").mkdir()
    places = [text for text in compared(root, tmp_path / "again").remarks if "names of places" in text]
    assert [text.partition(" names")[0] for text in places] == ([str(alike)] if alike else [])
    assert len(read_visits(root).places) == len(names)


def test_places_that_look_alike_are_named() -> None:
    table = pl.DataFrame({"person": ["a"] * 4, "time": DAY[:4], "place": ["park", "Park", "caf\u00e9", "cafe\u0301"]})
    (said,) = [text for text in read_visits(table).remarks if "places" in text]
    assert said.startswith(
        "4 names of places differ from others by capitals, or by how letters are composed, alone, such "
    )
    assert "'Park' and 'park'" in said
    (said,) = read_visits(table.tail(2)).remarks
    assert r"'cafe\u0301' and 'caf\xe9'" in said


@pytest.mark.parametrize(
    ("time", "good"),
    [
        ("2024-05-01T10:00+14:00", True),
        ("2024-05-01T10:00-12:00", True),
        ("2024-05-01T10:00+0545", True),
        ("2024-05-01T10:00+25:00", False),
        ("2024-05-01T10:00+14:30", False),
        ("2024-05-01 10:00:00-13:00", False),
        ("2024-05-01T10:00+02:60", False),
        ("20240501T100000+2500", False),
        ("Wed May 01 10:00:00 +0200 2024", True),
        ("Wed May 01 10:00:00 +2300 2024", False),
        ("Wed May 01 10:00:00 +2500 2024", False),
    ],
)
def test_no_clock_is_more_than_14_hours_ahead(time: str, good: bool) -> None:
    table = pl.DataFrame({"person": ["ann"], "time": [time], "place": ["x"]})
    if good:
        assert len(read_visits(table)) == 1
        return
    with pytest.raises(pb.InputError, match=r"1 of 1 rows have times that cannot be read: row 1 has .*behind UTC"):
        read_visits(table)


@pytest.mark.parametrize(("offset", "good"), [("+0200", True), ("+2300", False), ("-1230", False)])
def test_nor_by_a_form_that_was_given(offset: str, good: bool) -> None:
    table = pl.DataFrame(
        {"person": ["a", "b"], "time": ["01.05.2024 10:00 +0000", f"01.05.2024 10:00 {offset}"], "place": ["x"] * 2}
    )
    visits = read_visits(table, time_format="%d.%m.%Y %H:%M %z", max_unparsable=0.5)
    assert visits.skipped.times == (0 if good else 1)
