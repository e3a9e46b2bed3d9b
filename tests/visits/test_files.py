"""A file for each person: as many people as files, or a refusal that shows nobody."""

from pathlib import Path

import polars as pl
import pytest
from tests.visits.test_store import compared

import passerby as pb
from passerby.cli import main
from passerby.visits import read_visits, store
from passerby.visits.files import BY_FOLDER


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, size in ((store, "ROWS", 12), (store, "DRAWN", 2), (store, "DRAWN", 2), (store, "TASK", 300)):
        monkeypatch.setattr(module, name, size)


def write(path: Path, number: int, rows: int = 3) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pl.DataFrame(
        {"time": [f"2024-05-{day:02d} 08:00" for day in range(1, rows + 1)], "place": [f"place {number}"] * rows}
    )
    if path.suffix == ".parquet":
        table.write_parquet(path)
    else:
        path.write_text(table.write_csv())


def people_of(root: Path, *names: str) -> pb.Visits:
    for number, name in enumerate(names):
        write(root / name, number)
    return read_visits(root, person="{file}")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_of_the_same_name_are_people_of_their_own(tmp_path: Path, ending: str) -> None:
    root = tmp_path / "visits"
    names = [f"{folder}/{number}.{ending}" for folder in "ab" for number in range(30)]
    visits = people_of(root, *names)
    assert len(visits.people) == 60
    assert sorted(visits.people) == sorted(name.partition(".")[0] for name in names)
    assert visits.remarks.count(BY_FOLDER) == 1
    found = visits.table.with_columns(person=visits.people.gather(visits.table["person"]))
    assert found.group_by("person").agg(pl.col("place").n_unique())["place"].to_list() == [1] * 60
    compared(root, tmp_path, person="{file}")
    files = [root / "b", *(root / name for name in names[:30])]
    assert sorted(read_visits(files, person="{file}").people) == sorted(visits.people)


NAMED: list[tuple[str, tuple[str, ...], list[object], bool]] = [
    ("numbers", ("1.csv", "2.csv.gz.csv", "x/3.txt"), [1, 2, 3], False),
    ("dots in names", ("b.jones.csv", "b.smith.csv"), ["b.jones", "b.smith"], False),
    ("folders in folders", ("a/x/0.csv", "a/y/0.csv"), ["x/0", "y/0"], True),
    ("one beside its folder", ("0.csv", "a/0.csv"), ["0", "a/0"], True),
    ("dots and folders", ("a/0.1.csv", "a/0.2.csv", "b/0.1.csv"), ["a/0.1", "a/0.2", "b/0.1"], True),
]


@pytest.mark.parametrize(("names", "people", "told"), [case[1:] for case in NAMED], ids=[case[0] for case in NAMED])
def test_names(tmp_path: Path, names: tuple[str, ...], people: list[object], told: bool) -> None:
    visits = people_of(tmp_path, *names)
    assert visits.people.to_list() == people
    assert (BY_FOLDER in visits.remarks) == told


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("ann.csv", "ann.parquet"), "names differ by their endings alone"),
        (("7.csv", "7.0.csv"), "names differ by their endings alone"),
        (("ann.csv", " ann.csv"), "names differ by their endings alone"),
        (("day=1/ann.csv", "day=2/ann.csv"), "lie in partitions"),
        (("person=1/ann.parquet", "person=2/ann.parquet"), "write the person in a column of each file"),
    ],
)
def test_names_that_do_not_tell_whose_visits_they_are(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    with pytest.raises(pb.InputError, match=message) as caught:
        people_of(tmp_path, *names)
    assert "ann" not in str(caught.value).replace("cannot", "")


def test_a_file_that_is_given_twice_is_one_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ann.csv", 1)
    monkeypatch.chdir(tmp_path)
    visits = read_visits(["ann.csv", tmp_path / "ann.csv"], person="{file}")
    assert (visits.people.to_list(), len(visits), visits.skipped.duplicates) == (["ann"], 3, 3)


def test_messages_tell_files_of_the_same_name_apart(tmp_path: Path) -> None:
    for folder in "ab":
        write(tmp_path / folder / "0.csv", 1)
    (tmp_path / "b" / "0.csv").write_text("time,place\nsoon,x\n")
    write(tmp_path / "1.csv", 1)
    with pytest.raises(pb.InputError, match=r"/b/0\.csv, line 2 has a value like 'aaaa'"):
        read_visits(tmp_path, person="{file}")


def test_a_table_has_no_name() -> None:
    table = pl.DataFrame({"time": ["2024-05-01"], "place": ["x"]})
    with pytest.raises(pb.InputError, match="a table has none; name a column"):
        read_visits(table, person="{file}")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(6):
        write(tmp_path / "visits" / "ab"[number % 2] / f"{number // 2}.csv", number % 2, rows=20)
    how = ["--window", "1d", "--holdout", "3", "--min-active", "2", "--out", str(tmp_path / "out"), "--dry-run"]
    assert main(["audit", str(tmp_path / "visits"), "--person", "{file}", *how]) == 0
    out = capsys.readouterr().out
    assert "6 of 6 can be audited" in out
    assert BY_FOLDER in " ".join(out.split())
