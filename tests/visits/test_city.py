import errno
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from passerby import InputError, PasserbyError
from passerby.visits import city, read_visits, simulate_city, window_visits, write_city
from passerby.visits.city import City


def test_same_seed_same_city() -> None:
    first, again, other = (simulate_city(people=30, places=40, days=3, seed=seed) for seed in (1, 1, 2))
    assert first.table.equals(again.table)
    assert first.places.equals(again.places)
    assert not first.table.equals(other.table)


def test_a_person_depends_on_seed_and_number_alone() -> None:
    small, large = (pl.concat(City(people=people, places=50, days=4).chunks()) for people in (10, 40))
    assert small.equals(large.head(small.height))
    pieces = pl.concat(City(people=40, places=50, days=4).chunks(rows=100))
    assert pieces.equals(large)


def test_daily_rhythm() -> None:
    visits = simulate_city(people=1500, places=200, days=7)
    kind = visits.places.str.replace(r" \d+$", "").gather(visits.table["place"])
    records = visits.table.select(
        home=kind == "home-area",
        errand=~kind.is_in(["home-area", "station", "office", "school", "factory", "hospital"]),
        work=kind.is_in(["office", "school", "factory", "hospital"]),
        hour=pl.col("time").dt.hour(),
        weekend=pl.col("time").dt.weekday() > 5,
    )
    night, noon = records.filter(pl.col("hour") < 5), records.filter(pl.col("hour") == 12)
    assert night["home"].all()
    shares = {bool(day): group.mean() for (day,), group in noon.group_by("weekend")}
    assert shares[False]["work"][0] > 5 * shares[True]["work"][0]
    assert shares[True]["errand"][0] > shares[False]["errand"][0] > 0.1


def test_some_hardly_move_and_some_roam_and_few_places_draw_most() -> None:
    visits = simulate_city(people=1500, places=400, days=14)
    variety = visits.table.group_by("person").agg(pl.col("place").n_unique())["place"]
    assert np.quantile(variety, 0.05) <= 2
    assert np.quantile(variety, 0.97) >= 12
    counts = np.sort(np.bincount(visits.table["place"]))[::-1]
    assert counts[:40].sum() > 0.3 * counts.sum()
    errands = visits.places.str.contains("^(market|café|park|gym)")
    ranked = np.sort(np.bincount(visits.table["place"])[errands.to_numpy()])[::-1]
    assert ranked[0] > 8 * np.median(ranked)


def test_records_lie_in_their_steps() -> None:
    visits = simulate_city(people=20, places=20, days=2, step="30m", seen=0.5, start="2023-07-01T06:00Z")
    assert len(visits) == pytest.approx(20 * 96 / 2, rel=0.2)
    traces = window_visits(visits, window="30m", origin="2023-07-01T06:00Z", end="2023-07-03T06:00Z", min_active=1)
    assert traces.array.shape[1] == 96
    assert visits.table.group_by("person", pl.col("time").dt.truncate("30m")).len()["len"].max() == 1


@pytest.mark.parametrize("name", ["c.csv", "c.csv.gz", "c.parquet"])
def test_a_written_city_reads_back(tmp_path: Path, name: str) -> None:
    size: dict[str, Any] = {"people": 60, "places": 30, "days": 3, "seed": 5}
    made = simulate_city(**size)
    assert write_city(tmp_path / name, **size) == len(made)
    read = read_visits(tmp_path / name)
    assert read.table.sort(pl.all()).equals(made.table.sort(pl.all()))
    assert read.people.equals(made.people)
    assert read.places.equals(made.places)
    first = (tmp_path / name).read_bytes()
    write_city(tmp_path / name, **size)
    assert (tmp_path / name).read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_foursquare_layout(tmp_path: Path) -> None:
    rows = write_city(tmp_path / "c.txt.gz", people=10, places=20, days=2, layout="foursquare")
    line = gzip.decompress((tmp_path / "c.txt.gz").read_bytes()).splitlines()[0].split(b"\t")
    assert [len(field) for field in line[1:3]] == [24, 30]
    assert len(read_visits(tmp_path / "c.txt.gz", layout="foursquare")) == rows


def test_unknown_layouts_are_not_written(tmp_path: Path) -> None:
    layout: Any = "excel"
    with pytest.raises(InputError, match="layout 'excel' cannot be written; choose 'table' or 'foursquare'"):
        write_city(tmp_path / "c.csv", people=2, places=5, days=1, layout=layout)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["c.xlsx", "c.csv.zip"])
def test_endings_that_would_promise_something_else_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}': a file that ends in {Path(name).suffix} .* choose \.csv, "):
        write_city(tmp_path / name, people=2, places=5, days=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["c.csv", "c.parquet"])
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).write_text("what was there before")

    def fail(self: City, rows: int = 0) -> Any:
        yield from [City(people=2, places=5, days=1)._records(np.arange(2))]
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(City, "chunks", fail)
    with pytest.raises(PasserbyError, match=f"{name} could not be written: the disk is full"):
        write_city(tmp_path / name, people=2, places=5, days=1)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "what was there before"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PasserbyError, match="could not be written: No such file"):
        write_city(tmp_path / "no" / "c.csv", people=2, places=5, days=1)


def test_interruption_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(city, "_write_text", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_city(tmp_path / "c.csv", people=2, places=5, days=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "wrong", [{"people": 0}, {"places": 3}, {"days": 0}, {"seen": 0}, {"step": "20d"}, {"seed": -1}]
)
def test_cities_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        simulate_city(**wrong)


def test_small_cities_work() -> None:
    visits = simulate_city(people=1, places=4, days=1, step="1d", seed=2**70)
    assert len(visits) == 1


def test_a_folder_of_partitions_holds_each_person_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    chunks = City.chunks
    monkeypatch.setattr(City, "chunks", lambda city: chunks(city, rows=300))
    rows = write_city(tmp_path / "city", 30, 20, 2, progress=lambda done, _: told.append(done))
    files = sorted((tmp_path / "city").iterdir())
    assert [file.name for file in files] == [f"{number:06d}.parquet" for number in range(5)]
    assert told == [6, 12, 18, 24, 30]
    people = [pl.read_parquet(file)["person"].unique().to_list() for file in files]
    assert sorted(person for each in people for person in each) == list(range(30))
    visits, expected = read_visits(tmp_path / "city"), simulate_city(30, 20, 2)
    assert rows == len(visits) == len(expected)
    # People in files sort as texts, in memory as numbers; each has the same visits.
    places = expected.places.gather(expected.table["place"])
    assert visits.places.gather(visits.table["place"]).value_counts(sort=True)["count"].to_list() == (
        places.value_counts(sort=True)["count"].to_list()
    )


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: pl.DataFrame, path: Path) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(PasserbyError, match="city could not be written: the disk is full"):
        write_city(tmp_path / "city", 5, 20, 1)
    assert not [*tmp_path.iterdir()]


def test_a_folder_has_one_layout(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'foursquare' is of one file"):
        write_city(tmp_path / "city", 5, 20, 1, layout="foursquare")
