"""Files of sensors and of published counts of many forms, each with what must come of it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits.publication import read_published
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
    ("a row twice", "step,place\n1,a\n1,a\n", ["a", "", "", ""]),
    ("semicolons", "step;place\n1;a\n", ["a", "", "", ""]),
    ("tabs", "step\tplace\n1\ta\n", ["a", "", "", ""]),
    ("a mark of the byte order", "\ufeffstep,place\n1,a\n", ["a", "", "", ""]),
    ("Windows line ends", "step,place\r\n1,a\r\n", ["a", "", "", ""]),
    ("capitals and blanks", " Step , PLACE \n 1 , a \n", ["a", "", "", ""]),
    ("a comment on top", "# sensors of May\nstep,place\n1,a\n", ["a", "", "", ""]),
    ("other columns beside", "step,name,place\n2,north,b\n", ["", "b", "", ""]),
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
    ("step 5", "step,place\n5,a\n", "outside the 4 steps that are published"),
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
        "a schedule needs the columns place and step (or time); its first line names 2",
    ),
    ("the same column twice", "step,Step,place\n1,1,a\n", "two columns have the same name but for its case"),
    ("JSON", '[{"step": 1, "place": "a"}]', "it is JSON and no table"),
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
    ("no number", "step,place,count\n1,a,many\n", "count is 'many'; expected a number"),
    ("a comma for a point", "step;place;count\n1;a;1,5\n", "count is '1,5'; expected a number"),
    ("no count of ours", "step,place,count\n1,a,nan\n", "count is 'nan'; expected a number"),
    ("twice", "step,place,count\n1,a,1\n1,a,1\n", "the count of 'a' at step 1 is given twice"),
    ("no column of counts", "step,place\n1,a\n", "published counts need the columns step (or time), place and count"),
    ("a header alone", "step,place,count\n", "it holds no count"),
    ("no place", "step,place,count\n1,,3\n", "it names no place"),
    ("a time outside", "time,place,count\n2024-05-01 08:00,a,3\n", "outside the 4 steps that are published"),
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
