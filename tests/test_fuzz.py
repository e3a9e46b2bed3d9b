"""Whatever is handed in, it is read, or refused with a message: no crash.

A bounded run over files that are nearly right; `make fuzz` runs the same with many more examples. What was found that
way stands at the end, as tests of its own.
"""

import gzip
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.audits.release import build_release, read_published
from passerby.audits.settings import SETTINGS as NAMES
from passerby.audits.settings_file import as_toml, read_settings
from passerby.audits.validation import check_settings
from passerby.cli import main
from passerby.people.sensors import scheduled_sensors
from passerby.visits import read_visits, window_visits
from tests.garbled import Rows, garbled_files, garbled_parquet, garbled_settings

#: How many files of each kind are tried, and what became of them: accepted or refused.
EXAMPLES = int(os.environ.get("PASSERBY_FUZZ", "60"))
OUTCOMES: Counter[tuple[str, str]] = Counter()
bounded = settings(
    max_examples=EXAMPLES,
    derandomize="PASSERBY_FUZZ" not in os.environ,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)

PEOPLE = ("ann@example.org", "bob", "cid")
PLACES = ("park", "café", "gate 7", 'the "old" mill, north')


def visited(header: list[str], order: str) -> Rows:
    """Twelve visits of three people on three days; `order` says which fields come where."""
    rows = []
    for number in range(12):
        day, hour = 1 + number // 4, 8 + number % 4
        field = {
            "p": PEOPLE[number % 3],
            "t": f"2024-05-{day:02d}T{hour:02d}:00:00Z",
            "f": f"Wed May {day:02d} {hour:02d}:00:00 +0000 2024",
            "x": PLACES[number % 4],
            "o": "60",
            "a": f"{48.8 + number / 100:.4f}",
            "b": f"{2.3 - number / 100:.4f}",
        }
        rows.append([field[letter] for letter in order])
    return [header, *rows] if header else rows


TABLE = visited(["person", "time", "place"], "ptx")
POINTS = visited(["uid", "datetime", "lat", "lng"], "ptab")
FOURSQUARE = visited([], "pxfo")
GOWALLA = visited([], "ptabx")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def people() -> pb.People:
    city = pb.simulate_city(people=12, places=8, days=3, seed=2)
    return pb.fit_people(city, window="3h", places=5, min_active=1, holdout=3)


@pytest.fixture(scope="module", autouse=True)
def told() -> Iterator[None]:
    """At the end, tell what became of all files, where that was asked for."""
    yield
    if path := os.environ.get("PASSERBY_FUZZ_OUTCOMES"):
        Path(path).write_text("".join(f"{number} {what}: {fate}\n" for (what, fate), number in OUTCOMES.items()))


@pytest.fixture(autouse=True)
def no_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSERBY_DEBUG", "0")


def note(what: str, outcome: str) -> None:
    OUTCOMES[what, outcome] += 1
    event(f"{what}: {outcome}")


def refused(what: str, error: pb.PasserbyError) -> None:
    """A message that says something, and shows nobody.

    A first line with neither a number nor a time in it can only be taken for the names of columns, which are shown.
    """
    assert len(str(error)) > 20
    assert PEOPLE[0] not in str(error).partition("found are the columns")[0]
    note(what, "refused")


options = st.fixed_dictionaries(
    {},
    optional={
        "layout": st.sampled_from(["auto", "table", "foursquare", "gowalla"]),
        "timezone": st.sampled_from(["UTC", "Europe/Paris", "Asia/Kathmandu"]),
        "max_unparsable": st.sampled_from([0.0, 0.01, 0.5, 1.0]),
        "grid_metres": st.sampled_from([1.0, 500.0, 1e7]),
        "person": st.sampled_from(["person", "place", "nobody"]),
        "time": st.sampled_from(["time", "person"]),
    },
)


def read(path: Path, **how: Any) -> None:
    try:
        visits = read_visits(path, **how)
        skipped = visits.skipped
        assert skipped.kept == len(visits) > 0
        assert int(visits.table["person"].to_numpy().max()) < len(visits.people)
        assert int(visits.table["place"].to_numpy().max()) < len(visits.places)
        traces = window_visits(visits, window="20d", places=3, min_active=1)
        assert traces.array.shape[1] == len(traces.starts)
    except pb.InputError as error:
        refused("visits", error)
    else:
        note("visits", "read")


class TestVisits:
    @bounded
    @given(garbled_files(TABLE), options)
    def test_tables(self, folder: Path, content: bytes, how: dict[str, Any]) -> None:
        (folder / "visits.csv").write_bytes(content)
        read(folder / "visits.csv", **how)

    @bounded
    @given(garbled_files(POINTS), st.sampled_from([1.0, 500.0, 1e7]))
    def test_points(self, folder: Path, content: bytes, metres: float) -> None:
        (folder / "points.csv").write_bytes(content)
        read(folder / "points.csv", grid_metres=metres)

    @bounded
    @given(st.one_of(garbled_files(FOURSQUARE, "\t"), garbled_files(GOWALLA, "\t")), options)
    def test_check_ins(self, folder: Path, content: bytes, how: dict[str, Any]) -> None:
        (folder / "checkins.txt").write_bytes(content)
        read(folder / "checkins.txt", **how)

    @bounded
    @given(st.one_of(garbled_parquet(TABLE), garbled_parquet(POINTS)), options)
    def test_parquet(self, folder: Path, content: bytes, how: dict[str, Any]) -> None:
        (folder / "visits.parquet").write_bytes(content)
        read(folder / "visits.parquet", **how)


#: Names of files and folders, that differ by endings, dots, capitals, or only by the folder.
FOLDERS = ("", "a/", "b/", "a/c/", "day=1/", "day=2/")
FILES = ("0", "1", "7", "0.1", "0.2", "7.0", "ann", "Ann", "b.jones", "b.smith")
ENDINGS = (".csv", ".CSV", ".txt", ".csv.gz", ".tsv", "")


@bounded
@given(data=st.data())
def test_a_file_for_each_person(folder: Path, data: st.DataObject) -> None:
    """As many people as files, however these are called, or a refusal."""
    root = folder / "people"
    shutil.rmtree(root, ignore_errors=True)
    path = st.builds("{}{}{}".format, *map(st.sampled_from, (FOLDERS, FILES, ENDINGS)))
    names = data.draw(st.lists(path, min_size=1, max_size=6, unique=True))
    for number, name in enumerate(names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        text = f"time,place\n2024-05-01 08:00,place {number}\n".encode()
        (root / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    try:
        visits = read_visits(root, person="{file}")
    except pb.InputError as error:
        refused("files for each person", error)
    else:
        assert len(visits.people) == len(names)
        assert visits.table.group_by("person").agg(pl.col("place").n_unique())["place"].to_list() == [1] * len(names)
        note("files for each person", "read")


SETTINGS = {
    "visits": '"visits.csv"',
    "window": '"3h"',
    "places": "5",
    "min_active": "1",
    "holdout": "3",
    "misses": "1",
    "explore": "0",
    "backtest": "0",
    "adversaries": "0",
    "out": '"out"',
}


@bounded
@given(garbled_settings(SETTINGS, tuple(NAMES)))
def test_settings(folder: Path, people: pb.People, content: bytes) -> None:
    path = folder / "audit.toml"
    path.write_bytes(content)
    try:
        checked = check_settings(read_settings(path), str(path))
    except pb.ConfigError as error:
        refused("settings", error)
        return
    path.write_text(as_toml(checked, path.parent), encoding="utf-8")
    assert check_settings(read_settings(path), str(path)) == checked
    try:
        build_release(checked, people, checked.seed)
    except pb.PasserbyError as error:
        refused("settings", error)
    else:
        note("settings", "read")


def published(people: pb.People) -> Rows:
    return [["step", "place", "count"], *([str(t + 1), people.places[t], str(3 + t)] for t in range(3))]


@bounded
@given(data=st.data())
def test_published_counts_and_schedules(folder: Path, people: pb.People, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([garbled_files, garbled_parquet]))
    path = folder / "counts.csv"
    path.write_bytes(data.draw(kind(published(people))))
    for what, reader in (("published", read_published), ("schedule", scheduled_sensors)):
        try:
            reader(people, path)
        except pb.InputError as error:
            refused(what, error)
        else:
            note(what, "read")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with visits and counts of a small city, to be in."""
    home, before = tmp_path_factory.mktemp("home"), Path.cwd()
    city = pb.simulate_city(people=12, places=8, days=3, seed=2)
    names = city.places.gather(city.table["place"])
    city.table.with_columns(place=names).write_csv(home / "visits.csv")
    os.chdir(home)
    yield home
    os.chdir(before)


@settings(bounded, max_examples=EXAMPLES // 2)
@given(data=st.data())
def test_the_command_line(
    home: Path, people: pb.People, data: st.DataObject, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it together: the exit code is 0 or 2, with one message."""
    (home / "audit.toml").write_bytes(data.draw(garbled_settings(SETTINGS, tuple(NAMES))))
    (home / "counts.csv").write_bytes(data.draw(garbled_files(published(people))))
    more = data.draw(st.sampled_from([[], [], ["--published", "counts.csv"]]))
    code = main(["audit", "--settings", "audit.toml", "--dry-run", "--workers", "1", *more])
    said = capsys.readouterr()
    assert code in (0, 2), said.err
    assert code == 0 or said.err.count("passerby:") == 1
    note("command line", "done" if code == 0 else "refused")


class TestFound:
    """What crashed once."""

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("visits", '"x\\u0000y"', "visits: it is no path"),
            ("out", '"x\\u0000y"', "out: it is no path"),
            ("published", '"' + "x" * 300 + '"', "published: it is no path"),
            ("window", '"999999999w"', "the longest is a century"),
            ("origin", '"9999-12-31T23:59-23:00"', "which is no time"),
            ("end", '"0000-01-01"', "which is no time"),
            ("sigma", "1e308", "should be less than or equal to 1000000"),
            ("scale", "1e-320", "should be greater than or equal to 0.000001"),
            ("sigmas", "[1e-300]", "should be greater than or equal to 0.000001"),
            ("base", "9" * 30, "should be less than or equal to 1000000000"),
            ("smoothing", "1e-320", "should be greater than or equal to 0.000000001"),
            ("misses", "[" * 5000, "not a settings file"),
        ],
    )
    def test_settings(self, tmp_path: Path, name: str, value: str, message: str) -> None:
        path = tmp_path / "audit.toml"
        path.write_text("".join(f"{name} = {value}\n" for name, value in {**SETTINGS, name: value}.items()))
        with pytest.raises(pb.ConfigError, match=message):
            check_settings(read_settings(path), str(path))

    @pytest.mark.parametrize("time", ["0000-01-01", "9999-12-31T23:59-23:00"])
    def test_times_that_python_has_no_word_for(self, tmp_path: Path, time: str) -> None:
        path = tmp_path / "visits.csv"
        path.write_text(f"person,time,place\nann,2024-01-01,park\nann,{time},park\n")
        with pytest.raises(pb.InputError, match="1 of 2 rows have times that cannot be read"):
            read_visits(path)
        assert len(read_visits(path, max_unparsable=0.5)) == 1

    @pytest.mark.parametrize("reader", [read_published, scheduled_sensors])
    def test_tables_that_are_none(self, tmp_path: Path, people: pb.People, reader: Callable[..., object]) -> None:
        with pytest.raises(pb.InputError, match="is a folder"):
            reader(people, tmp_path)
        with pytest.raises(pb.InputError, match="cannot be read: embedded null byte"):
            reader(people, "x\0y")
        with pytest.raises(pb.InputError, match="cannot be read: File name too long"):
            reader(people, "x" * 300)
        columns = "step,place,count" if reader is read_published else "step,place,note"
        (tmp_path / "steps.csv").write_text(f"{columns}\n{'9' * 5000},{people.places[0]},3\n")
        with pytest.raises(pb.InputError, match="expected a whole number from 1 to 3"):
            reader(people, tmp_path / "steps.csv")
        (tmp_path / "damaged.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
        with pytest.raises(pb.InputError, match="is damaged or no table"):
            reader(people, tmp_path / "damaged.parquet")
