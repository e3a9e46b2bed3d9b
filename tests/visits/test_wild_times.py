"""Times for which neither Python nor polars has a word: refused with their rows, as any that cannot be read."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.visits.test_store import compared, stored

import passerby as pb
from passerby.audits.release import read_published
from passerby.cli import main
from passerby.people.sensors import read_zones, scheduled_sensors
from passerby.visits import read_visits

DAYS = 3
LATE, EARLY = "a time in the year 9900 or later", "a time before the year 1000"


def micros(year: int) -> int:
    return int(np.datetime64(f"{year}-01-01", "s").astype(int)) * 10**6


#: A name, the column's type, a value that is no time of ours, and what is said of it.
WILD: list[tuple[str, pl.DataType, int, str]] = [
    *(
        (f"{name} in {unit}", pl.Datetime(unit), value, said)
        for unit in ("ms", "us", "ns")
        for name, value, said in (("the first number", -(2**63), EARLY), ("the last number", 2**63 - 1, LATE))
        if unit != "ns"
    ),
    ("the year 20000 in ms", pl.Datetime("ms"), micros(20000) // 1000, LATE),
    ("the year 20000 in us", pl.Datetime("us"), micros(20000), LATE),
    ("the year 9999 in us", pl.Datetime("us"), micros(9999), LATE),
    ("the year 1 in ms", pl.Datetime("ms"), micros(1) // 1000, EARLY),
    ("the year 20000 in Tokyo", pl.Datetime("us", "Asia/Tokyo"), micros(20000), LATE),
    ("the first number in Tokyo", pl.Datetime("ms", "Asia/Tokyo"), -(2**63), EARLY),
    ("the first day", pl.Date(), -(2**31), EARLY),
    ("the last day", pl.Date(), 2**31 - 1, LATE),
    ("the year 20000 by days", pl.Date(), micros(20000) // 86_400_000_000, LATE),
]
wild = pytest.mark.parametrize(("dtype", "value", "said"), [case[1:] for case in WILD], ids=[case[0] for case in WILD])


def column(dtype: pl.DataType, *values: int | None) -> pl.Series:
    return pl.Series("time", values, dtype=pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)


def good(dtype: pl.DataType) -> int:
    """Noon of 6 May 2024."""
    at = int(datetime(2024, 5, 6, 12).timestamp())
    unit = {"ms": 10**3, "us": 10**6, "ns": 10**9}.get(getattr(dtype, "time_unit", ""))
    return at * unit if unit else at // 86_400


def write(path: Path, times: pl.Series) -> pl.DataFrame:
    path.parent.mkdir(exist_ok=True)
    table = pl.DataFrame({"person": ["ann@example.org"] * len(times), "time": times, "place": ["x"] * len(times)})
    table.write_parquet(path)
    return table


@wild
def test_visits(tmp_path: Path, dtype: pl.DataType, value: int, said: str) -> None:
    file = tmp_path / "visits" / "visits.parquet"
    table = write(file, column(dtype, good(dtype), value, None))
    for source in (file, table):
        with pytest.raises(pb.InputError) as caught:
            read_visits(source)
        message = str(caught.value)
        assert (
            f"2 of 3 rows have times that cannot be read: row 2 has {said}; row 3 has nothing; years are from"
            in message
        )
        assert "ann@" not in message
        visits = read_visits(source, max_unparsable=0.9)
        assert (visits.skipped.times, len(visits)) == (2, 1)
        assert visits.table["time"].dt.date().to_list() == [datetime(2024, 5, 6).date()]
    compared(file.parent, tmp_path, max_unparsable=0.9)
    with pytest.raises(pb.InputError, match=f"row 2 has {said}"):
        stored(file.parent, tmp_path / "again")


@wild
def test_visits_whose_ids_are_wrong_too(tmp_path: Path, dtype: pl.DataType, value: int, said: str) -> None:
    """What is wrong with the people is told without looking at the times."""
    times = column(dtype, good(dtype), value)
    table = pl.DataFrame({"person": [1.0, 2.0**60], "time": times, "place": ["x", "y"]})
    with pytest.raises(pb.InputError, match="row 2 has such a person"):
        read_visits(table)


@wild
def test_small_tables(tmp_path: Path, dtype: pl.DataType, value: int, said: str) -> None:
    city = pb.simulate_city(people=12, places=8, days=3, seed=2)
    people = pb.fit_people(city, window="3h", places=5, min_active=1, holdout=3)
    start = people.starts[-3].astype("datetime64[us]").item()
    rows = {"place": [people.places[0]] * 2, "count": [3, 4], "time": column(dtype, good(dtype), value)}
    file = tmp_path / "table.parquet"
    pl.DataFrame(rows).write_parquet(file)
    with pytest.raises(pb.InputError, match=rf"table\.parquet: row 2: time is {said}; years are from 1000 to 9899"):
        read_published(people, file)
    pl.DataFrame(rows).drop("count").write_parquet(file)
    with pytest.raises(pb.InputError, match=rf"row 2: time is {said}"):
        scheduled_sensors(people, file)
    times = {"place": [people.places[0]], "time": [start]}
    pl.DataFrame(times).with_columns(pl.col("time").cast(pl.Datetime("ms"))).write_parquet(file)
    assert scheduled_sensors(people, file) == [[0], [], []]


def test_small_tables_of_other_types(tmp_path: Path) -> None:
    file = tmp_path / "zones.parquet"
    odd = {"place": ["a", "b"], "zone": ["west", "east"], "note": column(pl.Datetime("us"), 0, 2**63 - 1)}
    pl.DataFrame({**odd, "level": [[1], [2]]}).write_parquet(file)
    with pytest.raises(
        pb.InputError, match=r"zones\.parquet: the column 'level' is of type List\(Int64\); convert it to"
    ):
        read_zones(file)
    for note in (odd["note"], pl.Series([[1], [2]])):
        pl.DataFrame({**odd, "note": note}).write_parquet(file)
        assert read_zones(file) == {"": {"west": ["a"], "east": ["b"]}}


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@pytest.mark.parametrize("year", [20_000, 400_000, -400_000])
def test_pandas(unit: str, zone: str | None, year: int) -> None:
    """Of seconds, far more years fit into a number than of microseconds."""
    size = 1000 if unit == "ms" else 1
    none = np.iinfo(np.int64).min
    numbers = np.array([good(pl.Date()) * 86_400 * size, (year - 1970) * 31_556_952 * size, none], dtype=np.int64)
    values = numbers.view(f"datetime64[{unit}]")
    times = pd.Series(values)
    table = pd.DataFrame(
        {"person": ["a"] * 3, "time": times.dt.tz_localize(zone) if zone else times, "place": ["x"] * 3}
    )
    said = EARLY if year < 0 else LATE
    with pytest.raises(pb.InputError, match=f"row 2 has {said}; row 3 has nothing"):
        read_visits(table)
    assert len(read_visits(table, max_unparsable=0.9)) == 1


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dtype = pl.Datetime("ms")
    for number, value in enumerate((-(2**63), 2**63 - 1, micros(20000) // 1000)):
        file = tmp_path / f"{number}.parquet"
        write(file, column(dtype, good(dtype), value))
        assert main(["audit", str(file), "--out", str(tmp_path / "out"), "--dry-run"]) == 2
        said = capsys.readouterr().err
        assert "row 2 has a time" in " ".join(said.split())
        assert "should not happen" not in said
