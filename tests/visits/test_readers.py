import bz2
import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from passerby import InputError
from passerby.visits import Skipped, Visits, read_visits, write_city
from passerby.visits import delimited as delimited_module
from passerby.visits import files as files_module
from passerby.visits.delimited import blocks
from passerby.visits.names import NA, NO_NAMES
from passerby.visits.table import drop_duplicates

FOURSQUARE = "7\tvenueB\tTue Apr 03 18:00:08 +0000 2012\t120\n12\tvenueA\tWed Apr 04 18:00:08 +0000 2012\t-60\n"
GOWALLA = "7\t2012-04-03T18:00:08Z\t48.85\t2.35\tB\n12\t2012-04-04T18:00:08Z\t48.86\t2.36\tA\n"
TABLE = "person,time,place\n7,2012-04-03T18:00:08Z,B\n12,2012-04-04T18:00:08Z,A\n"

ODD_NAMES = ['Joe\'s "Diner"', "a, b; c\td|e", "<script>alert(1)</script>", "☕🏙️", "line\nbreak", "&amp;", "'"]


def rows(visits: Visits) -> list[tuple[Any, datetime, str]]:
    """What was read, decoded and sorted."""
    table = visits.table
    people, places = visits.people.gather(table["person"]), visits.places.gather(table["place"])
    return sorted(zip(people, table["time"], places, strict=True), key=str)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


EXPECTED = [
    (12, datetime(2012, 4, 4, 18, 0, 8, tzinfo=UTC), "A"),
    (7, datetime(2012, 4, 3, 18, 0, 8, tzinfo=UTC), "B"),
]


@pytest.mark.parametrize("layout", ["auto", "gowalla"])
def test_gowalla(tmp_path: Path, layout: Any) -> None:
    visits = read_visits(write(tmp_path / "g.txt", GOWALLA), layout)
    assert rows(visits) == EXPECTED
    assert visits.people.to_list() == [7, 12]
    assert visits.table.schema == {"person": pl.UInt32, "time": pl.Datetime("us", "UTC"), "place": pl.UInt32}


def test_line_ends_of_other_systems(tmp_path: Path) -> None:
    assert rows(read_visits(write(tmp_path / "g.txt", GOWALLA.replace("\n", "\r\n")))) == EXPECTED


@pytest.mark.parametrize("layout", ["auto", "foursquare"])
def test_foursquare_stays_in_utc(tmp_path: Path, layout: Any) -> None:
    visits = read_visits(str(write(tmp_path / "f.txt", FOURSQUARE)), layout)
    assert [(p, t, n.removeprefix("venue")) for p, t, n in rows(visits)] == EXPECTED


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_told_by_content(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    assert rows(read_visits(write(tmp_path / "t.csv", compress(TABLE.encode())))) == EXPECTED


def test_zstd(tmp_path: Path) -> None:
    # A frame of one raw block (RFC 8878, 3.1.1), since Python learns to write zstd only in 3.14.
    block = (len(TABLE) << 3 | 1).to_bytes(3, "little")
    frame = b"\x28\xb5\x2f\xfd\x20" + bytes([len(TABLE)]) + block + TABLE.encode()
    assert rows(read_visits(write(tmp_path / "t.csv.zst", frame))) == EXPECTED
    with pytest.raises(InputError, match="truncated or damaged"):
        read_visits(write(tmp_path / "t.csv.zst", frame[:-4]))


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_line_ends_and_marks(tmp_path: Path, separator: str, end: str) -> None:
    text = "\ufeff" + TABLE.replace(",", separator).replace("\n", end).rstrip()
    assert rows(read_visits(write(tmp_path / "t.txt", text))) == EXPECTED


@pytest.mark.parametrize(
    "columns", [("uid", "datetime", "tile_ID"), ("user_id", "started_at", "location_id"), ("User", "Timestamp", "POI")]
)
def test_usual_names_are_recognised(tmp_path: Path, columns: tuple[str, str, str]) -> None:
    path = write(tmp_path / "t.csv", TABLE.replace("person,time,place", ",".join(columns)))
    assert rows(read_visits(path)) == EXPECTED


def test_columns_by_name_beat_synonyms() -> None:
    table = pl.DataFrame({"person": ["x"], "who": ["y"], "time": ["2024-01-01"], "place": ["p"], "shop": ["q"]})
    assert [(p, n) for p, _, n in rows(read_visits(table, person="who", place="shop"))] == [("y", "q")]


def test_scikit_mobility_coordinates_become_cells() -> None:
    table = pl.DataFrame(
        {"uid": [1, 1], "datetime": ["2024-01-01", "2024-01-02"], "lat": [48.85, -33.9], "lng": [2.35, 151.2]}
    )
    names = read_visits(table, grid_metres=1000).places
    assert names.str.contains(r"^r\d+c\d+$").all()
    assert len(names) == 2


def test_parquet_keeps_types(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"person": [7, 12], "time": [row[1] for row in EXPECTED[::-1]], "place": ["B", "A"]}).write_parquet(
        path
    )
    assert rows(read_visits(path)) == EXPECTED


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_how_much_is_read_is_told(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_city(path, people=3, places=9, days=1)
    told: list[tuple[int, int]] = []
    read_visits(path, progress=lambda *pair: told.append(pair))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


def test_lazy_tables_are_read() -> None:
    assert len(read_visits(pl.read_csv(TABLE.encode()).lazy())) == 2


def test_pandas_is_not_imported() -> None:
    code = "import sys, passerby.visits as v; v.read_visits(v.simulate_city(3, 9, 1).table); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split()
    assert b"polars" in loaded
    assert b"pandas" not in loaded


def test_pandas_tables_with_a_column_twice_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([["a", "b", "2024-05-01", "p"]], columns=["person", "person", "time", "place"])
    with pytest.raises(InputError, match="the table has the column 'person' more than once; rename"):
        read_visits(table)


def test_pandas_tables_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"uid": [7.0, None, 12.0], "place": ["B", "C", "A"]})
    table["time"] = pandas.to_datetime(
        ["2012-04-03 20:00:08", "2012-04-03 00:00:00", "2012-04-04 20:00:08"]
    ).tz_localize("Europe/Paris")
    visits = read_visits(table, max_unparsable=0.5)
    assert rows(visits) == EXPECTED
    assert visits.skipped == Skipped(rows=3, missing=1)
    assert rows(read_visits(table.astype({"uid": "Int64", "place": "category"}), max_unparsable=0.5)) == EXPECTED


def test_people_are_numbers_only_where_all_are() -> None:
    table = pl.DataFrame({"person": ["7", "07", "x"], "time": ["2024-01-01"] * 3, "place": ["p"] * 3})
    assert read_visits(table).people.to_list() == ["07", "7", "x"]
    assert read_visits(table.head(1)).people.to_list() == [7]
    assert read_visits(table.with_columns(person=pl.Series([2.0, 10.0, 2.0]))).people.to_list() == [2, 10]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_odd_names_survive(tmp_path: Path, suffix: str) -> None:
    table = pl.DataFrame({"person": ODD_NAMES, "time": ["2024-01-01"] * len(ODD_NAMES), "place": ODD_NAMES})
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path, separator="\t" if suffix == ".tsv" else ",")
    visits = read_visits(path)
    assert visits.places.to_list() == sorted(ODD_NAMES, key=str.encode)


def test_stray_quotes_are_put_up_with(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 'person,place,time\n1,5" pipes,2024-01-01\n2,"Tom, Dick",2024-01-01\n')
    assert read_visits(path).places.to_list() == ['5" pipes', "Tom, Dick"]
    raw = FOURSQUARE.replace("venueA", '"<b>, A')
    assert read_visits(write(tmp_path / "f.txt", raw)).places.to_list() == ['"<b>, A', "venueB"]


def test_lines_are_told_even_where_quotes_are_sloppy(tmp_path: Path) -> None:
    text = 'person,place,time\n1,5" pipes,2024-01-01\n2,"Tom, Dick",2024-99-01\n'
    with pytest.raises(InputError, match="line 3 has '2024-99-01'"):
        read_visits(write(tmp_path / "t.csv", text))


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    text = TABLE + "7,2012-04-03T18:00:08Z,B\n,2012-04-03,B\n7,2012-04-03,\n7,never,B\n\n7,,\n"
    visits = read_visits(write(tmp_path / "t.csv", text), max_unparsable=0.5)
    assert visits.skipped == Skipped(rows=7, times=2, missing=2, duplicates=1)
    assert visits.skipped.kept == len(visits) == 2


def test_what_r_writes_is_missing_and_counted(tmp_path: Path) -> None:
    text = TABLE + "NA,2012-04-03,B\n7,2012-04-03,NA\n7,2012-04-03,na\nNa,2012-04-03,B\n"
    visits = read_visits(write(tmp_path / "t.csv", text), max_unparsable=0.5)
    assert visits.skipped.missing == 2
    assert {"na"} <= set(visits.places.to_list())
    assert "Na" in visits.people.to_list()


def test_no_id_is_shown() -> None:
    table = pl.DataFrame({"person": ["Ann"], "time": ["2024-01-01"], "place": ["p"]})
    visits = read_visits(table)
    assert "Ann" not in f"{visits!r}{visits}{visits.skipped}"


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=6).filter(
    lambda text: text.strip().lower() not in NO_NAMES and text.strip() != NA
)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=12), st.integers(1, 40), st.randoms())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_chunks_and_row_order_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: list[tuple[str, str]], chunk: int, random: Any
) -> None:
    """A file read in tiny chunks gives what the table in memory gives, in any order."""
    table = pl.DataFrame(
        {"person": [c[0] for c in cells], "time": ["2024-01-01"] * len(cells), "place": [c[1] for c in cells]}
    )
    whole = read_visits(table)
    random.shuffle(cells)
    path = tmp_path / "t.csv"
    pl.DataFrame(
        {"place": [c[1] for c in cells], "time": ["2024-01-01"] * len(cells), "person": [c[0] for c in cells]}
    ).write_csv(path)
    with monkeypatch.context() as patch:
        patch.setattr(
            delimited_module,
            "read_chunks",
            lambda path, size=chunk, progress=None: files_module.read_chunks(
                path, min(size, chunk) if size != 1 << 16 else size, progress
            ),
        )
        told: list[tuple[int, int]] = []
        pieces = read_visits(path, progress=lambda *pair: told.append(pair))
    size = path.stat().st_size
    assert told[-1] == (size, size)
    assert told == sorted(told)
    assert rows(pieces) == rows(whole)
    assert pieces.people.equals(whole.people)
    assert pieces.places.equals(whole.places)
    assert pieces.skipped == whole.skipped


@given(st.lists(st.binary(max_size=9)), st.booleans())
def test_blocks_lose_nothing(chunks: list[bytes], quoted: bool) -> None:
    parts = list(blocks(chunks, '"' if quoted else None))
    assert b"".join(parts) == b"".join(chunks).removeprefix(b"\xef\xbb\xbf")


def test_blocks_end_outside_of_quotes() -> None:
    assert list(blocks([b'a,"x\n', b'y"\nb,', b"z\n"], '"')) == [b'a,"x\ny"\n', b"b,z\n"]


@example(cells=[(person, 0, 0) for person in (0, 9, 9, 4, 4, 4, 0)], size=2)  # compared in several ranges
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)), min_size=1), st.integers(1, 20))
def test_duplicates_go_whatever_the_ranges(cells: list[tuple[int, int, int]], size: int) -> None:
    table = pl.DataFrame(cells, schema={"person": pl.UInt32, "time": pl.Int64, "place": pl.UInt32}, orient="row")
    assert sorted(drop_duplicates(table, 10, size).rows()) == sorted(set(cells))
