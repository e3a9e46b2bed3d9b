"""Every message says what is wrong, where, and what to do, and names nobody."""

import bz2
import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from passerby import InputError
from passerby.visits import read_visits

SECRET = "ann@example.org"
HEADER = "person,time,place\n"
GOOD = f"{SECRET},2024-01-01,park\n"


def message(source: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_visits(source, **options)
    text = str(caught.value)
    error: BaseException | None = caught.value
    while error is not None:  # a traceback shows these as well, unless suppressed
        assert SECRET not in str(error)
        error = None if error.__suppress_context__ else error.__context__
    return text


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "visits.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


File = Callable[[str | bytes], Path]


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "nowhere.csv does not exist" in message(tmp_path / "nowhere.csv")
    assert "is a folder without files" in message(tmp_path)
    # What was written about visits is not read as visits, at any depth.
    for name in (
        "out/audit.toml",
        "out/people.parquet",
        "deep/plan/plan.toml",
        "both/together.json",
        "half/parts/store/a.parquet",
        "begun/parts/mark.json",
        "begun/parts/0.jsonl",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("person")
    assert "is a folder without files" in message(tmp_path)
    (tmp_path / "deep" / "visits.csv").write_text(HEADER + GOOD)
    assert len(read_visits(tmp_path).table) > 0


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", HEADER.encode(), HEADER.encode() + b"\n\n", gzip.compress(b"", mtime=0)]
)
def test_empty_files(file: File, content: bytes) -> None:
    text = message(file(content))
    assert "visits.csv is empty" in text


def test_empty_tables(tmp_path: Path) -> None:
    empty = pl.DataFrame(schema={"person": pl.String, "time": pl.String, "place": pl.String})
    assert "the table is empty" in message(empty)
    empty.write_parquet(tmp_path / "e.parquet")
    assert "is empty" in message(tmp_path / "e.parquet")


def test_missing_columns_list_those_found(file: File) -> None:
    text = message(file("who,when,place,lat\n" + GOOD))
    assert "no column for person, time" in text
    assert "'who', 'when', 'place', 'lat'" in text
    assert "person='<column>'" in text
    assert "no column for 'whom' (given as person)" in message(file(HEADER + GOOD), person="whom")


def test_neither_place_nor_coordinates(file: File) -> None:
    text = message(file("person,time\n" + GOOD))
    assert "no column for place" in text
    assert "latitude and longitude, with grid_metres=500" in text


def test_coordinates_need_a_grid(file: File) -> None:
    assert "give grid_metres" in message(file("uid,datetime,lat,lng\n"))


def test_a_first_line_of_data_is_not_shown(file: File) -> None:
    text = message(file(GOOD + GOOD))
    assert "the first line names no columns" in text
    assert "person,time,place" in text


def test_repeated_column_names(file: File) -> None:
    assert "'time' more than once" in message(file("person,time,time,place\n"))


def test_unparsable_times_are_counted_and_located(file: File) -> None:
    bad = f"{SECRET},31/12/2024,park\n"
    path = file(HEADER + GOOD + bad + GOOD + f"{SECRET},,park\n" + f"{SECRET},{SECRET},park\n" + bad + GOOD * 3)
    text = message(path)
    assert "4 of 9 rows have times that cannot be read" in text
    assert (
        "line 3 has '31/12/2024'; line 5 has nothing; line 6 has a value like 'aaa@aaaaaaa.aaa'; say time_format="
        in text
    )
    assert "max_unparsable" in text
    assert read_visits(path, max_unparsable=0.45).skipped.times == 4


#: A time that cannot be read, what is said of times, and what alone may help.
ODD_TIMES: dict[str, tuple[str, dict[str, Any], str]] = {
    "day or month": ("03/04/2012 08:00", {}, "say time_format='day-first' or time_format='month-first'; otherwise"),
    "no such year": ("9999-12-31", {}, "years are from 1000 to 9899; otherwise correct them"),
    "no such day": ("2024-13-31", {}, "line 2 has '2024-13-31'; correct them"),
    "another form": (
        "3 May 2024",
        {},
        "say how they are written, as in time_format='%d.%m.%Y %H:%M'; otherwise",
    ),
    "a form that is given": ("2024-05-03", {"time_format": "day-first"}, "read by time_format='day-first' alone;"),
    "no time at all": ("", {}, "line 2 has nothing; correct them"),
}


@pytest.mark.parametrize("pattern", ["*.csv", "visits.???", "[uv]isits.csv"])
def test_a_pattern_that_no_shell_has_seen(file: File, pattern: str) -> None:
    text = message(file(HEADER + GOOD).with_name(pattern))
    assert "does not exist; a shell puts in the files that a pattern stands for, unless it is quoted" in text
    assert "or give the folder of the files" in text


@pytest.mark.parametrize("kind", ODD_TIMES)
def test_of_times_only_that_is_said_which_may_help(file: File, kind: str) -> None:
    value, options, said = ODD_TIMES[kind]
    text = message(file(HEADER + f"{SECRET},{value},park\n"), **options)
    assert said in text
    assert text.count("otherwise") == (kind not in ("no such day", "no time at all"))
    assert len(text.partition("visits.csv")[2]) < 330


def test_lines_are_counted_through_quoted_line_ends(file: File) -> None:
    text = message(file('place,person,time\n"a\nb",x,2024-01-01\n\n"a\n\nb",x,2024-13-01\n'))
    assert "line 5 has '2024-13-01'" in text


def test_rows_of_tables_are_counted_from_one() -> None:
    table = pl.DataFrame({"person": ["x"] * 3, "time": ["2024-01-01", "2024-01-01", "2024-14-01"], "place": ["p"] * 3})
    assert "row 3 has '2024-14-01'" in message(table)


def test_nothing_usable(file: File) -> None:
    path = file(HEADER + ",2024-01-01,park\n")
    assert "1 of 1 rows have no person or no place: line 2 has no person" in message(path)
    assert "none of its 1 rows has a person, a time and a place" in message(path, max_unparsable=1.0)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_truncated_compression(file: File, compress: Callable[[bytes], bytes]) -> None:
    lines = HEADER + "".join(f"{number * 7919 % 1000},2024-01-01,place {number}\n" for number in range(20_000))
    whole = compress(lines.encode())
    assert "truncated" in message(file(whole[: len(whole) // 2]))
    assert "truncated" in message(file(whole[:-3]))


def test_damaged_gzip(file: File) -> None:
    whole = bytearray(gzip.compress((HEADER + GOOD * 1000).encode()))
    whole[len(whole) // 2] ^= 0xFF
    whole[-6] ^= 0xFF
    assert "damaged" in message(file(bytes(whole)))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PK\x03\x04rest", "zip archive or spreadsheet"),
        (b"\x89PNG\r\n\x1a\n", "an image"),
        (b"PAR1 but not really", "no Parquet file"),
        (b"a\x00b\x00c", "not a text table"),
        ("person,time,place\n".encode("utf-16"), "not a text table"),
        (b"person,time,place\n1,2024-01-01,caf\xe9\n", "line 2: not UTF-8"),
        (b"person,time,place\n1,2024-01-01,a\n1,2024-01-01,b, c\n", "line 3: 4 fields where 3 columns"),
        (b"person,time,place\n1,2024-01-01,a\n1,2024-01-01\n1,2024-01-01,b, c\n", "line 4: 4 fields where 3 columns"),
        (b"1\tv\tTue Apr 03 18:00:08 +0000 2012\t0\n1\tv\tw\tx\ty\n", "line 2: 5 fields where 4 columns"),
        (
            b'place,person,time\nx,1,2024-01-01\n"y,1,2024-01-01\n' + b"z,1,2024-01-01\n" * 9000,
            "line 3: a quote is never closed",
        ),
        (b'place,person,time\nx,1,2024-01-01\n"y,1,2024-01-01\nz,1,2024-01-01\n', "line 3: a quote is never closed"),
    ],
)
def test_what_is_not_a_table(file: File, content: bytes, expected: str) -> None:
    assert expected in message(file(content))


@pytest.mark.parametrize("source", [None, 3, {"person": [1]}, b"visits.csv"])
def test_other_objects(source: Any) -> None:
    assert "is not a table of visits" in message(source)


@pytest.mark.parametrize("column", ["person", "time", "place"])
def test_columns_of_other_types(column: str) -> None:
    table = pl.DataFrame({"person": [SECRET], "time": ["2024-01-01"], "place": ["p"]})
    assert f"taken for {column} is of type List" in message(
        table.with_columns(pl.col(column).reshape((1, 1)).arr.to_list())
    )


COORDINATES = "uid,datetime,lat,lng\n"


@pytest.mark.parametrize("bad", ["91,0", "0,-180.5", "north,0", "0,nan", "inf,0"])
def test_bad_coordinates(file: File, bad: str) -> None:
    path = file(f"{COORDINATES}{SECRET},2024-01-01,48.8,2.3\n{SECRET},2024-01-01,,2.3\n{SECRET},2024-01-01,{bad}\n")
    text = message(path, grid_metres=500)
    assert "1 of 3 rows have bad coordinates: line 4 has latitude" in text
    visits = read_visits(path, grid_metres=500, max_unparsable=0.5)
    assert (visits.skipped.coordinates, visits.skipped.missing, len(visits)) == (1, 1, 1)


def test_foursquare_has_no_coordinates(file: File) -> None:
    path = file("1\tv\tTue Apr 03 18:00:08 +0000 2012\t0\n")
    assert "holds no coordinates" in message(path, grid_metres=500)
    assert "has its own columns" in message(path, layout="foursquare", person="x")


def test_wrong_layout_does_not_show_rows(file: File) -> None:
    gowalla = f"{SECRET}\t2012-04-03T18:00:08Z\t1\t2\tB\n"
    assert "line 1: 5 fields where 4 columns" in message(file(gowalla), layout="foursquare")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"grid_metres": 0}, "grid_metres is 0"),
        ({"grid_metres": 5, "h3_resolution": 5}, "not both"),
        ({"timezone": "Moon"}, "'Moon', which is not known"),
        ({"max_unparsable": 2}, "max_unparsable is 2"),
        ({"layout": "excel"}, "layout is 'excel', which is not known"),
    ],
)
def test_options_that_make_no_sense(file: File, options: dict[str, Any], expected: str) -> None:
    assert expected in message(file(HEADER + GOOD), **options)


def test_h3_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, file: File) -> None:
    monkeypatch.setitem(sys.modules, "h3", None)
    assert "pip install h3" in message(file(COORDINATES), h3_resolution=7)
