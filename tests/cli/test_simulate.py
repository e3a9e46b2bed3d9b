from pathlib import Path

import pytest
from tests.cli.small_audit import Call

import passerby as pb
from passerby.people.sensors import places_of, read_zones


@pytest.mark.parametrize(
    "name", ["visits.csv", "visits.csv.gz", "visits.parquet", "new/folder/visits.csv", "city", "new/city/"]
)
def test_writes_a_city(name: str, tmp_path: Path, typed: Call) -> None:
    size = ("--people", "30", "--places", "20", "--days", "2", "--seed", "7")
    done = typed("simulate", *size, name)
    assert done.returncode == 0, done.stderr
    assert "1,440 visits of 30 people to 20 places in 2 days" in done.stdout
    visits = pb.read_visits(tmp_path / name)
    expected = pb.simulate_city(30, 20, 2, seed=7)
    assert (len(visits), len(visits.people)) == (len(expected), 30)
    zones = read_zones((tmp_path / name).with_name(f"{Path(name).name.partition('.')[0]}-zones.csv"))
    assert [len(level) for level in zones.values()] == [3, 1]
    assert set(places_of(zones)) >= set(visits.places)


def test_the_seed_makes_the_city(tmp_path: Path, typed: Call) -> None:
    for seed, name in ((1, "a.csv"), (1, "b.csv"), (2, "c.csv")):
        typed("simulate", "--people", "5", "--places", "20", "--days", "1", "--seed", str(seed), name)
    first, second, third = ((tmp_path / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv"))
    assert first == second != third


def test_nothing_is_replaced_unasked(tmp_path: Path, typed: Call) -> None:
    size = ("--people", "5", "--places", "20", "--days", "1")
    (tmp_path / "mine.csv").write_text("precious")
    done = typed("simulate", *size, "mine.csv")
    assert done.returncode == 2
    assert done.stderr == "passerby: OUT: 'mine.csv' exists; choose another name, or --overwrite\n"
    assert (tmp_path / "mine.csv").read_text() == "precious"
    assert typed("simulate", *size, "mine.csv", "--overwrite").returncode == 0
    assert (tmp_path / "mine.csv").read_text() != "precious"
    (tmp_path / "folder").mkdir()
    done = typed("simulate", *size, "folder", "--overwrite")
    assert (done.returncode, done.stderr) == (2, "passerby: OUT: 'folder' is no file; choose another name\n")


def test_a_day_that_is_none_is_said_in_the_words_of_the_command_line(typed: Call) -> None:
    done = typed("simulate", "city.csv", "--people", "10", "--start", "May")
    assert done.returncode == 2
    assert done.stderr.startswith("passerby: --start is 'May', which is no time;")


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_a_folder_is_no_file(out: str, tmp_path: Path, typed: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = typed("simulate", out, "--people", "5", "--overwrite")
    assert (done.returncode, done.stderr) == (2, f"passerby: OUT: '{out}' is no file; choose another name\n")
    assert not list(tmp_path.iterdir())


def test_one_person_for_one_day(tmp_path: Path, typed: Call) -> None:
    done = typed("simulate", str(tmp_path / "v.csv"), "--people", "1", "--days", "1")
    assert done.stdout.startswith("24 visits of 1 person to 200 places in 1 day: ")
