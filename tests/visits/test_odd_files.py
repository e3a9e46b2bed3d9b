"""What people have: files of many forms, each with what must come of it, a right result or a message."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from passerby import InputError
from passerby.visits import read_visits
from passerby.visits.clean_rows import DATES

SECRET = "ann@example.org"
GOOD = [("7", "2024-05-01 08:00", "park"), ("7", "2024-05-01 09:00", "café"), ("9", "2024-05-02 10:00", "park")]
EXPECTED = [(7, "2024-05-01 08:00", "park"), (7, "2024-05-01 09:00", "café"), (9, "2024-05-02 10:00", "park")]
BODY = "\n".join(",".join(row) for row in GOOD) + "\n"


def found(source: Any, **options: Any) -> list[tuple[object, str, object]]:
    """What was read, decoded and sorted."""
    visits = read_visits(source, **options)
    people, places = visits.people.gather(visits.table["person"]), visits.places.gather(visits.table["place"])
    times = visits.table["time"].dt.strftime("%Y-%m-%d %H:%M")
    return sorted(zip(people, times, places, strict=True))


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_visits(source, **options)
    assert SECRET not in str(caught.value)
    return str(caught.value)


#: A name, the text of a file, options, and what must come of it: nothing special, or words of the message.
FILES: list[tuple[str, str, dict[str, Any], str]] = [
    ("plain", "person,time,place\n" + BODY, {}, ""),
    ("semicolons", "person;time;place\n" + BODY.replace(",", ";"), {}, ""),
    ("tabs", "person\ttime\tplace\n" + BODY.replace(",", "\t"), {}, ""),
    ("bars", "person|time|place\n" + BODY.replace(",", "|"), {}, ""),
    ("colons by choice", "person!time!place\n" + BODY.replace(",", "!"), {"separator": "!"}, ""),
    ("a word for the separator", "person;time;place\n" + BODY.replace(",", ";"), {"separator": "semicolon"}, ""),
    (
        "blanks",
        "person  time place\n" + BODY.replace(" ", "T").replace(",", "   "),
        {},
        "",
    ),
    ("blanks around", " person , time , place \n" + BODY.replace(",", " , "), {}, ""),
    ("a mark of the byte order", "\ufeffperson,time,place\n" + BODY, {}, ""),
    ("Windows line ends", "person,time,place\r\n" + BODY.replace("\n", "\r\n"), {}, ""),
    ("capitals", "PERSON,Time,PLACE\n" + BODY, {}, ""),
    ("loc", "uid,datetime,loc\n" + BODY, {}, ""),
    ("comments on top", "# made by hand\n# in May\nperson,time,place\n" + BODY, {}, ""),
    ("lines on top", "made by hand\n\nin May 2024\nperson,time,place\n" + BODY, {"skip_lines": 3}, ""),
    ("no header", BODY, {"columns": "person,time,place"}, ""),
    ("no header, as a list", BODY, {"columns": ["person", "time", "place"]}, ""),
    ("no header, other names", BODY, {"columns": "a,b,c", "person": "a", "time": "b", "place": "c"}, ""),
    ("digits for times", "person,time,place\n7,202405010800,park\n7,202405010900,café\n9,202405021000,park\n", {}, ""),
    (
        "day first",
        "person,time,place\n7,01/05/2024 08:00,park\n7,01/05/2024 09:00,café\n9,02/05/2024 10:00,park\n",
        {"time_format": "day-first"},
        "",
    ),
    (
        "month first",
        "person,time,place\n7,05/01/2024 08:00,park\n7,05/01/2024 09:00,café\n9,05/02/2024 10:00,park\n",
        {"time_format": "month-first"},
        "",
    ),
    (
        "a pattern",
        "person,time,place\n7,2024.05.01-08h,park\n7,2024.05.01-09h,café\n9,2024.05.02-10h,park\n",
        {"time_format": "%Y.%m.%d-%Hh"},
        "",
    ),
    ("people with blanks", "person,time,place\n" + BODY.replace("7,", " 7,", 1), {}, ""),
    ("blank lines between", "person,time,place\n" + BODY.replace("\n", "\n\n"), {}, ""),
    ("a blank that does not break", "person,time,place\n\u00a0" + BODY, {}, ""),
    ("milliseconds", "person,time,place\n7,1714550400000,park\n7,1714554000000,café\n9,1714644000000,park\n", {}, ""),
    ("ten digits", "person,time,place\n7,2024050108,park\n7,2024050109,café\n9,2024050210,park\n", {}, ""),
    ("fourteen", "person,time,place\n7,20240501080000,park\n7,20240501090000,café\n9,20240502100000,park\n", {}, ""),
    ("names of devices", "device_id;tracked_at;cell\n" + BODY.replace(",", ";"), {}, ""),
    # Messages.
    ("N/A for a person", "person,time,place\nN/A,2024-05-01,p\n", {}, "line 2 has no person"),
    ("a day that is none", "person,time,place\nx,2024-02-30,p\n", {}, "line 2 has '2024-02-30'"),
    ("an hour that is none", "person,time,place\nx,2024-05-01 24:00,p\n", {}, "line 2 has '2024-05-01 24:00'"),
    ("a month of digits that is none", "person,time,place\nx,20241301,p\n", {}, "a value like '99999999'"),
    ("a time of words", "person,time,place\nx,May 1 2024,p\n", {}, "a value like 'Aaa 9 9999'"),
    (
        "an hour that clocks leave out",
        "person,time,place\nx,2024-03-31 02:30,p\n",
        {"timezone": "Europe/Paris"},
        "line 2 has '2024-03-31 02:30'",
    ),
    (
        "neither day nor month first",
        "person,time,place\nx,13/13/2024,p\n",
        {"time_format": "day-first"},
        "'13/13/2024'",
    ),
    ("a column twice", "person,time,place,place\nx,2024-05-01,p,q\n", {}, "names 'place' more than once"),
    ("a column without a name", "person,,place\nx,2024-05-01,p\n", {}, "no column for time; found are the columns"),
    ("two separators", "person;time,place\nx;2024-05-01,p\n", {}, "no column for person, time"),
    ("an id alone", "id,time,place\nx,2024-05-01,p\n", {}, "no column for person; found are the columns 'id'"),
    ("carriage returns alone", "person,time,place\rx,2024-05-01,p\r", {}, "no line ends but carriage returns"),
    ("and one usual end", "person,time,place\rx,2024-05-01,p\r\n", {}, "no line ends but carriage returns"),
    ("a last line of its own", "person,time,place\rx,2024-05-01,p\n", {}, "no line ends but carriage returns"),
    ("a header as a row", "a,b,c\n" + BODY, {"columns": "person,time,place"}, "line 1 has a value like 'a'"),
    ("lines on top, unsaid", "made by hand\nperson,time,place\n" + BODY, {}, "no column for person, time, place"),
    ("no header, unsaid", BODY, {}, "the first line names no columns"),
    ("no header, of words", f"{SECRET},Monday,park\nbob,Tuesday,park\n", {}, "the first line has 3 fields"),
    (
        "another separator, unsaid",
        "person!time!place\nx!2024-05-01!p\n",
        {},
        "the first line has 1 field; say what is between its columns, as in separator='!', or name them",
    ),
    ("no header, too few names", BODY, {"columns": "person,time"}, "columns names 2 columns, but the first line has 3"),
    ("no header, a name twice", BODY, {"columns": "person,time,time"}, "names a column twice"),
    ("JSON", f'{{"person": "{SECRET}", "time": 1}}\n', {}, "it is JSON and no table"),
    ("a JSON list", f'[{{"person": "{SECRET}"}}]\n', {}, "it is JSON and no table"),
    ("a tie", "Person,person,time,place\nx,x,2024-05-01,p\n", {}, "'Person', 'person' could both be the person"),
    ("a tie of times", "person,Time,TIME,place\nx,2024-05-01,2024-05-01,p\n", {}, "could both be the time"),
    (
        "a column for two roles",
        "who,time,place\nx,2024-05-01,p\n",
        {"person": "who", "place": "who"},
        "person and as place",
    ),
    ("a column that is another's", "who,time,place\nx,2024-05-01,p\n", {"person": "place"}, "no column for place"),
    ("an unknown column", "who,when,place\nx,2024-05-01,p\n", {"person": "wh"}, "'wh' (given as person)"),
    ("day first, unsaid", "person,time,place\nx,13/05/2024,p\n", {}, "time_format='day-first'"),
    ("no time of ours", "person,time,place\nx,2012403,p\n", {}, "times that cannot be read"),
    (
        "a year of long ago",
        "person,time,place\nx,1612-05-01,p\n",
        {},
        "line 2 has 1612-05-01",
    ),
    ("NULL for a person", "person,time,place\nNULL,2024-05-01,p\n", {}, "have no person or no place"),
    ("NaN for a place", "person,time,place\nx,2024-05-01,NaN\n", {}, "line 2 has no place"),
    ("blanks for a person", "person,time,place\n  ,2024-05-01,p\n", {}, "line 2 has no person"),
    ("a bad form", "person,time,place\n" + BODY, {"time_format": "dd/mm"}, "time_format is 'dd/mm'"),
    ("a bad separator", "person,time,place\n" + BODY, {"separator": "ab"}, "separator is 'ab'"),
    ("a letter as separator", "person,time,place\n" + BODY, {"separator": "e"}, "separator is 'e'"),
    ("lines that are none", "person,time,place\n" + BODY, {"skip_lines": -1}, "skip_lines is -1"),
    ("all lines skipped", "person,time,place\n" + BODY, {"skip_lines": 9}, "is empty"),
    ("a bad share", "person,time,place\n" + BODY, {"max_unparsable": True}, "max_unparsable is True"),
    ("an unknown zone", "person,time,place\n" + BODY, {"timezone": "Mars"}, "timezone is 'Mars', which is not known"),
    ("an unknown layout", "person,time,place\n" + BODY, {"layout": "xml"}, "layout is 'xml', which is not known"),
    (
        "a span that ends early",
        "person,time,place\n" + BODY,
        {"since": "2024-05-02", "until": "2024-05-01"},
        "is not before until",
    ),
    ("a span that is no time", "person,time,place\n" + BODY, {"since": "May"}, "since is 'May', which is no time"),
    ("a span without visits", "person,time,place\n" + BODY, {"since": "2025-01-01"}, "in the time that was asked for"),
    ("coordinates without a grid", "person,time,lat,lon\nx,2024-05-01,1,2\n", {}, "give grid_metres"),
    ("a file for a person, and one", "person,time\nx,2024-05-01\n", {"person": "{file}"}, "no column for place"),
]


@pytest.mark.parametrize(("text", "options", "words"), [case[1:] for case in FILES], ids=[case[0] for case in FILES])
def test_files_are_read_or_refused(tmp_path: Path, text: str, options: dict[str, Any], words: str) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(text.encode())
    if words:
        assert words in refusal(path, **options)
    else:
        assert found(path, **options) == EXPECTED


def test_a_path_is_taken_as_it_is_written(tmp_path: Path) -> None:
    good = pl.DataFrame(GOOD, schema=["person", "time", "place"], orient="row")
    good.write_parquet(tmp_path / "v1.parquet")
    assert "does not exist" in refusal(tmp_path / "v[1].parquet")
    good.head(1).write_parquet(tmp_path / "v[1].parquet")
    assert len(found(tmp_path / "v[1].parquet")) == 1
    (tmp_path / "*.csv").write_text("person,time,place\n" + BODY)
    (tmp_path / "other.csv").write_text("person,time,place\nx,2024-01-01,q\n")
    assert found(tmp_path / "*.csv") == EXPECTED


def test_several_files_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    (folder / "more").mkdir(parents=True)
    (folder / "a.csv").write_text("person,time,place\n" + BODY.split("\n")[0] + "\n")
    (folder / "more" / "b.csv").write_text("person;time;place\n" + BODY.split("\n")[1].replace(",", ";") + "\n")
    (folder / ".hidden").write_text("nothing")
    rest = tmp_path / "rest.csv"
    rest.write_text("person,time,place\n" + BODY.split("\n")[2] + "\n")
    assert found([folder, rest]) == EXPECTED
    assert len(found(folder)) == 2
    rest.write_text("person,time,place\n7,nope,park\n")
    assert "rest.csv, line 2 has" in refusal([folder, rest])
    assert "must hold the paths of files" in refusal([])


def test_a_file_for_each_person(tmp_path: Path) -> None:
    for name, _, _ in GOOD:
        rows = [",".join(row[1:]) for row in GOOD if row[0] == name]
        (tmp_path / f"{name}.txt").write_text("time,place\n" + "\n".join(rows) + "\n")
    assert found(tmp_path, person="{file}") == EXPECTED
    assert "no column for person" in refusal(tmp_path)


def test_which_column_was_taken_is_said() -> None:
    table = pl.DataFrame({"user": ["x"], "uid": ["7"], "time": ["2024-05-01 08:00"], "place": ["p"]})
    visits = read_visits(table)
    assert visits.columns == {"person": "uid", "time": "time", "place": "place"}
    assert visits.remarks == ("person is taken from the column 'uid'; 'user' could be meant too",)
    assert read_visits(table, person="user").remarks == ()


def test_a_place_with_the_name_of_all_others_is_said() -> None:
    table = pl.DataFrame({"person": ["x", "y"], "time": ["2024-05-01 08:00"] * 2, "place": ["elsewhere", "p"]})
    (said,) = read_visits(table).remarks
    assert said.startswith("A place is called 'elsewhere', which stands for all places that are not chosen")
    assert read_visits(table.tail(1)).remarks == ()


@pytest.mark.parametrize(
    ("times", "bare"),
    [
        (["2024-05-01T08:00:00Z", "2024-05-01 08:00:00", "2024-05-01 10:00+02:00", "2024-05-01"], 2),
        (["2024-05-01T10:00+02:00", "Wed May 01 08:00:00 +0000 2024", "2024-05-01T08:00:00.5"], 1),
        (["2024-05-01T08:00:00Z", "2024-05-01 08:00", "2024-05-01T25:00"], 1),
        (["1714550400", "2024-05-01T08:00:00"], 1),
        (["2024-05-01T08:00:00Z", "1714550400", "2024-05-01T10:00+02:00"], 0),
        (["2024-05-01 08:00:00", "2024-05-01", "2024-05-01T25:00"], 0),
    ],
)
def test_times_of_which_some_name_no_zone_are_told(times: list[str], bare: int) -> None:
    table = pl.DataFrame({"person": ["x"] * len(times), "time": times, "place": list("abcd"[: len(times)])})
    said = "Some times (100 or fewer of 100 or fewer) name no zone, unlike the others, and were read in Europe/Paris"
    remarks = read_visits(table, timezone="Europe/Paris", max_unparsable=0.5).remarks
    assert [text.partition(":")[0] for text in remarks] == ([said] if bare else [])


def test_files_of_which_some_name_no_zone_are_told(tmp_path: Path) -> None:
    noon = pl.DataFrame({"person": ["x"], "time": [datetime(2024, 5, 1, 12)], "place": ["a"]})
    noon.write_parquet(tmp_path / "bare.parquet")
    noon.with_columns(pl.col("time").dt.replace_time_zone("Asia/Tokyo")).write_parquet(tmp_path / "zoned.parquet")
    (said,) = read_visits(tmp_path).remarks
    assert said.startswith(
        "Some times (100 or fewer of 100 or fewer) name no zone, unlike the others, and were read in UTC: "
    )


class TestStrayTimes:
    """One row dated 1970 or 2099 among thousands must not stretch the steps over decades."""

    def rows(self, *stray: str) -> pl.DataFrame:
        times = [str(datetime(2024, 5, 1) + n * timedelta(minutes=14)) for n in range(2000)]
        return pl.DataFrame({"person": ["a", "b"] * 1000, "time": times, "place": ["p", "q", "r", "s"] * 500}).vstack(
            pl.DataFrame({"person": ["a"] * len(stray), "time": list(stray), "place": ["p"] * len(stray)})
        )

    @pytest.mark.parametrize("stray", [["1975-01-01"], ["2099-12-31"], ["1975-01-01", "2099-12-31"]])
    def test_are_refused_with_their_rows(self, stray: list[str]) -> None:
        text = refusal(self.rows(*stray))
        assert f"{len(stray)} of {2000 + len(stray):,} visits lie far from all others" in text
        assert "which reach from 2024-05-01 to 2024-05-20: row 2,001 (" in text
        assert "since='2024-05-01' and until='2024-05-21'" in text

    def test_are_left_out_or_kept_where_it_is_said_which_visits_count(self) -> None:
        table = self.rows("1975-01-01", "2099-12-31")
        visits = read_visits(table, since="2024-05-01", until="2024-05-21")
        assert (visits.skipped.outside, len(visits)) == (2, 2000)
        assert len(read_visits(table, since="1970-01-01", until="2099-12-31 12:00")) == 2002
        assert "1 of 2,001 visits" in refusal(table, since="2024-05-01")

    @pytest.mark.parametrize("rows", [3, 2000])
    @pytest.mark.parametrize("stray", [["2999-01-01"], ["2999-01-01"] * 15, ["1850-01-01", "2100-01-01"]])
    def test_years_in_which_nobody_was_counted_are_refused_however_many(self, stray: list[str], rows: int) -> None:
        table = self.rows(*stray).tail(rows + len(stray))
        text = refusal(table)
        assert f"{len(stray)} of {rows + len(stray):,} rows lie in years before 1900 or from 2100 on" in text
        assert f"row {rows + 1:,} has {stray[0]}" in text
        visits = read_visits(table, since="1900-01-01", until="2100-01-01")
        assert (visits.skipped.outside, visits.skipped.times, len(visits)) == (len(stray), 0, rows)
        assert len(read_visits(table, since="1800-01-01", until="3000-01-01")) == rows + len(set(stray))

    def test_a_long_tail_is_no_stray_row(self) -> None:
        assert len(read_visits(self.rows("2024-04-15", "2024-06-07", "2024-06-08"))) == 2003

    def test_few_rows_do_not_tell(self) -> None:
        assert len(read_visits(self.rows("1975-01-01").tail(20))) == 20


@pytest.mark.parametrize(
    ("times", "zone", "told"),
    [
        (["2024-05-01", "2024-05-02"], "UTC", True),
        (["2024-05-01", "2024-05-02"], "Europe/Paris", True),
        (["2024-05-01T22:00Z", "2024-05-02T22:00Z"], "Europe/Paris", True),
        (["2024-05-01", "2024-05-02 00:01"], "UTC", False),
    ],
    ids=["dates", "dates in a zone", "midnight in a zone", "a minute past midnight"],
)
def test_dates_without_a_time_of_day_are_noticed(times: list[str], zone: str, told: bool) -> None:
    table = pl.DataFrame({"person": ["a", "b"], "time": times, "place": ["x", "y"]})
    assert (DATES in read_visits(table, timezone=zone).remarks) == told
