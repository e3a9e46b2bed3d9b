"""Files of sensors and of published counts of many forms, each with what must come of it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits.release import read_published
from passerby.people.sensors import scheduled_sensors


@pytest.fixture(scope="module")
def people() -> pb.People:
    """Four steps of two hours are held out, from 16:00 on the third day, in Paris."""
    table = pl.DataFrame(
        [
            (f"p{n}", f"2024-05-0{day} {hour:02d}:30", "abc"[(n + hour) % 3])
            for n in range(4)
            for day in (1, 2, 3)
            for hour in range(24)
        ],
        schema=["person", "time", "place"],
        orient="row",
    )
    visits = pb.read_visits(table, timezone="Europe/Paris")
    return pb.fit_people(visits, window="2h", min_active=1, holdout=4)


#: Text of a schedule, and the sensors of each step by name, or words of the message.
SCHEDULES: list[tuple[str, str, list[str] | str]] = [
    ("by step", "step,place\n1,a\n4,c\n", ["a", "", "", "c"]),
    ("several at a step", "step,place\n1,a\n1,b\n", ["ab", "", "", ""]),
    (
        "a row twice",
        "step,place\n1,a\n2,b\n1,a\n",
        "line 4: the sensor of 'a' at step 1 is given twice, before in line 2",
    ),
    (
        "two times of one step",
        "time,place\n2024-05-03 16:00,a\n2024-05-03 17:00,a\n",
        "line 3: the sensor of 'a' at step 1 is given twice, before in line 2",
    ),
    ("semicolons", "step;place\n1;a\n", ["a", "", "", ""]),
    ("tabs", "step\tplace\n1\ta\n", ["a", "", "", ""]),
    ("a mark of the byte order", "\ufeffstep,place\n1,a\n", ["a", "", "", ""]),
    ("Windows line ends", "step,place\r\n1,a\r\n", ["a", "", "", ""]),
    ("capitals and blanks", " Step , PLACE \n 1 , a \n", ["a", "", "", ""]),
    ("a comment on top", "# sensors of May\nstep,place\n1,a\n", ["a", "", "", ""]),
    ("remarks beside", "step,note,place\n2,north,b\n", ["", "b", "", ""]),
    (
        "other columns beside",
        "step,name,place\n2,north,b\n",
        "schedules have no column 'name'; they may have place, step",
    ),
    (
        "a misspelled step beside a time",
        "stp,time,place\n1,2024-05-03 18:00,a\n",
        "no column 'stp' (did you mean step?)",
    ),
    ("a misspelled step", "stp,place\n1,a\n", "columns that are not all of these ('stp': did you mean step?)"),
    ("a column without a name", "step,place,\n1,a,\n", "schedules have no column without a name (column 3)"),
    ("by time, by the clock of the visits", "time,place\n2024-05-03 16:00,a\n2024-05-03 23:59,b\n", ["a", "", "", "b"]),
    ("by time with a zone", "time,place\n2024-05-03T14:00Z,a\n2024-05-03T18:00+02:00,b\n", ["a", "b", "", ""]),
    ("by time within a step", "time,place\n2024-05-03 17:45,a\n", ["a", "", "", ""]),
    ("step and time that agree", "step,time,place\n2,2024-05-03 18:00,a\n", ["", "a", "", ""]),
    ("a step where there is no time", "step,time,place\n2,,a\n,2024-05-03 16:00,b\n", ["b", "a", "", ""]),
    ("step and time that disagree", "step,time,place\n1,2024-05-03 18:00,a\n", "step is 1, but time is in step 2"),
    ("a time before", "time,place\n2024-05-03 15:59,a\n", "outside the 4 steps that are published"),
    ("a time after", "time,place\n2024-05-04 00:00,a\n", "outside the 4 steps that are published"),
    ("a time in another zone", "time,place\n2024-05-03T16:00-06:00,a\n", "outside the 4 steps that are published"),
    ("no time", "time,place\nsoon,a\n", "line 2 is 'soon', which is no time"),
    ("step 0", "step,place\n0,a\n", "step is '0'; expected a whole number from 1 to 4"),
    ("step 5", "step,place\n5,a\n", "step 5 is outside the 4 steps that are published"),
    ("half a step", "step,place\n1.5,a\n", "step is '1.5'; expected a whole number"),
    ("a step below", "step,place\n-1,a\n", "step is '-1'"),
    ("neither", "step,place\n,a\n", "it has neither a step nor a time"),
    ("no place", "step,place\n1,\n", "line 2: it names no place"),
    ("an unknown place", "step,place\n1,z\n", "'z' is not one of the 3 chosen places"),
    ("elsewhere", "step,place\n1,elsewhere\n", "'elsewhere' is not one of the 3 chosen places"),
    ("a header alone", "step,place\n", "the schedule holds no sensor"),
    ("nothing", "", "is empty"),
    ("no header", "1,a\n2,b\n", "the first line names no columns"),
    (
        "other columns",
        "when,where\n1,a\n",
        "schedules need the columns place and step (or time); its first line names 2",
    ),
    ("the same column twice", "step,Step,place\n1,1,a\n", "two columns have the same name but for its case"),
    ("JSON", '[{"step": 1, "place": "a"}]', "it is JSON and no table"),
    ("a comment before a mistake", "# sensors\nstep,place\n1,z\n", "sensors.csv, line 3: 'z' is not one of"),
    ("blank lines before a mistake", "step,place\n\n\n7,a\n", "sensors.csv, line 4: step 7 is outside"),
    ("blank lines at the end", "step,place\n1,a\n\n\n", ["a", "", "", ""]),
    ("a capital", "step,place\n1,A\n", "'A' is not one of the 3 chosen places"),
    ("a step beyond all numbers", "step,place\n99999999999999999999999,a\n", "expected a whole number from 1 to 4"),
    ("a time of long ago", "time,place\n1970-01-01,a\n", "outside the 4 steps that are published"),
    ("a column twice", "step,place,place\n1,a,b\n", "names 'place' more than once"),
    ("a field too many", "step,place\n1,a,b\n", "line 2: 3 fields where 2 columns are expected"),
    ("no header, of words", "ann,monday\nbob,tuesday\n", "its first line names 2 columns that are not all of these"),
    ("a spreadsheet", "PK\x03\x04", "is a zip archive or spreadsheet"),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in SCHEDULES], ids=[case[0] for case in SCHEDULES])
def test_schedules(people: pb.People, tmp_path: Path, text: str, expected: list[str] | str) -> None:
    file = tmp_path / "sensors.csv"
    file.write_bytes(text.encode())
    if isinstance(expected, str):
        with pytest.raises(pb.InputError) as caught:
            scheduled_sensors(people, file)
        assert expected in str(caught.value)
        assert "sensors.csv" in str(caught.value)
    else:
        found = scheduled_sensors(people, file)
        assert ["".join(people.places[place] for place in step) for step in found] == expected


#: Text of published counts, and the counts of the steps in order, or words of the message.
COUNTS: list[tuple[str, str, list[list[float]] | str]] = [
    ("by step", "step,place,count\n1,a,3\n2,b,0\n", [[3.0], [0.0], [], []]),
    ("a count that was left out", "step,place,count\n1,a,\n1,b,  \n", [[np.nan, np.nan], [], [], []]),
    ("noise", "step,place,count\n1,a,-1.25\n", [[-1.25], [], [], []]),
    ("semicolons, capitals and a mark", "\ufeffSTEP;Place;Count\r\n1; a ;3\r\n", [[3.0], [], [], []]),
    ("by time with a zone", "time,place,count\n2024-05-03T14:00Z,a,3\n", [[3.0], [], [], []]),
    ("by time, by the clock of the visits", "time,place,count\n2024-05-03 18:00,a,3\n", [[], [3.0], [], []]),
    (
        "step and time that disagree",
        "step,time,place,count\n3,2024-05-03 18:00,a,1\n",
        "step is 3, but time is in step 2",
    ),
    ("no number", "step,place,count\n1,a,many\n", "the count is 'many'; expected a number"),
    ("a comma for a point", "step;place;count\n1;a;1,5\n", "the count is '1,5'; expected a number"),
    ("no count of ours", "step,place,count\n1,a,nan\n", "the count is 'nan'; expected a number"),
    (
        "twice",
        "step,place,count\n1,a,1\n1,a,1\n",
        "line 3: the count of 'a' at step 1 is given twice, before in line 2",
    ),
    (
        "twice in other words",
        "step,place,zone,count\n1,a,,1\n2,b,,1\n1,,a,1\n",
        "line 4: the count of 'a' at step 1 is given twice",
    ),
    ("twice with fresh noise", "step,place,count,draw\n1,a,1,\n1,a,3,2\n2,a,3,1\n", [[1.0, 3.0], [3.0], [], []]),
    ("by two mechanisms", "step,place,count,mechanism\n1,a,1,Raw()\n1,a,3,Gaussian(1)\n", [[1.0, 3.0], [], [], []]),
    ("a draw that is none", "step,place,count,draw\n1,a,1,again\n", "draw is 'again'; expected a whole number"),
    ("a place with a point", "step,place,count\n1,a.0,1\n", "'a.0' is not one of the 3 chosen places"),
    ("no column of counts", "step,place\n1,a\n", "published counts need the columns step (or time), place and count"),
    ("a header alone", "step,place,count\n", "it holds no count"),
    ("no place", "step,place,count\n1,,3\n", "it names no place"),
    ("a time outside", "time,place,count\n2024-05-01 08:00,a,3\n", "outside the 4 steps that are published"),
    ("comments on top", "# of May\n# by hand\nstep,place,count\n1,a,x\n", "counts.csv, line 4: the count is 'x'"),
    ("blank lines", "step,place,count\n\n1,a,3\n\n", [[3.0], [], [], []]),
    ("blank lines before a mistake", "step,place,count\n1,a,3\n\n2,b,x\n", "counts.csv, line 4: the count is 'x'"),
    (
        "a name on two lines before a mistake",
        'step,place,count,note\n1,a,3,"x\ny"\n2,b,z,\n',
        "counts.csv, line 4: the count",
    ),
    ("a misspelled mechanism", "step,place,count,mechansim\n1,a,3,\n", "'mechansim' (did you mean mechanism?)"),
    ("two misspelled", "step,place,count,tims,typ\n", "'tims' (did you mean times?), 'typ' (did you mean kind?)"),
    ("many other columns", "step,place,count,aa,bb,cc,dd,ee,ff,gg\n", "'aa', 'bb', 'cc', 'dd', 'ee', and 2 more; they"),
    ("tabs", "step\tplace\tcount\n1\ta\t3\n", [[3.0], [], [], []]),
    ("bars", "step|place|count\n1|a|3\n", [[3.0], [], [], []]),
    ("blanks", "step place count\n1 a 3\n", [[3.0], [], [], []]),
    ("columns in another order", "count,place,step\n3,a,1\n", [[3.0], [], [], []]),
    ("a count in quotes", 'step,place,count\n1,a,"3"\n', [[3.0], [], [], []]),
    ("thousands by a power", "step,place,count\n1,a,1e3\n", [[1000.0], [], [], []]),
    ("seconds since 1970", "time,place,count\n1714744800,a,3\n", [[3.0], [], [], []]),
    ("digits for a time", "time,place,count\n20240503160000,a,3\n", [[3.0], [], [], []]),
    ("step and time that agree", "step,time,place,count\n1,2024-05-03 17:00,a,3\n", [[3.0], [], [], []]),
    ("too large a number", "step,place,count\n1,a,1e400\n", "the count is '1e400'; expected a number"),
    ("no end", "step,place,count\n1,a,inf\n", "the count is 'inf'; expected a number"),
    ("a line in a number", "step,place,count\n1,a,1_000\n", "the count is '1_000'; expected a number"),
    ("a limit", "step,place,count\n1,a,<5\n", "the count is '<5'; expected a number"),
    ("a star", "step,place,count\n1,a,*\n", "the count is '*'; expected a number"),
    ("NULL", "step,place,count\n1,a,NULL\n", "the count is 'NULL'; expected a number"),
    ("true", "step,place,count\n1,a,true\n", "the count is 'true'; expected a number"),
    ("a unit", "step,place,count\n1,a,3 people\n", "the count is '3 people'; expected a number"),
    ("a field too many", "step,place,count\n1,a,3,4\n", "line 2: 4 fields where 3 columns are expected"),
    ("elsewhere", "step,place,count\n1,elsewhere,4\n", "'elsewhere' is not one of the 3 chosen places"),
    ("a step too far", "step,place,count\n9,a,3\n", "outside the 4 steps that are published"),
    ("a step with a point", "step,place,count\n1.0,a,3\n", "step is '1.0'; expected a whole number from 1 to 4"),
    ("a step in words", "step,place,count\none,a,3\n", "step is 'one'; expected a whole number from 1 to 4"),
    ("day first", "time,place,count\n03/05/2024,a,3\n", "line 2 is '03/05/2024', which is no time"),
    (
        "two times of one step",
        "time,place,count\n2024-05-03T14:00Z,a,3\n2024-05-03T14:30Z,a,4\n",
        "line 3: the count of 'a' at step 1 is given twice",
    ),
    ("another name of the counts", "step,place,counts\n1,a,3\n", "its first line names 3 columns that are not all of"),
    ("no header", "1,a,3\n2,b,4\n", "names no columns: it holds numbers or times in 3 fields; put a line above"),
    ("no header, of words", "ann,park,many\n", "its first line names 3 columns that are not all of these"),
    ("an open quote", 'step,place,count\n1,"a,3\n', "line 2: a quote is never closed"),
    ("JSON", '{"step": 1}', "it is JSON and no table"),
    ("half a Parquet file", "PAR1junk", "is damaged or no table"),
    ("zeros", "\x00\x01", "is not a text table"),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in COUNTS], ids=[case[0] for case in COUNTS])
def test_published_counts(people: pb.People, tmp_path: Path, text: str, expected: list[list[float]] | str) -> None:
    file = tmp_path / "counts.csv"
    file.write_bytes(text.encode())
    if isinstance(expected, str):
        with pytest.raises(pb.InputError) as caught:
            read_published(people, file)
        assert expected in str(caught.value)
        assert "counts.csv" in str(caught.value)
    else:
        for found, step in zip(read_published(people, file).values, expected, strict=True):
            np.testing.assert_array_equal(found, step)
