"""What was published, as a file, and what it reveals of each person."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits import release
from passerby.audits.job import Job
from passerby.audits.release import read_published, realised_rows
from passerby.audits.settings import Measurement


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(5, 8, 9, 6), holdout=3)


def test_a_count_may_be_left_empty(people: pb.People, tmp_path: Path) -> None:
    rows = {"step": [1, 1, 3], "place": ["place 2", "place 0", "place 2"], "count": ["4", "", "1.5"]}
    pl.DataFrame(rows).write_csv(tmp_path / "counts.csv")
    found = read_published(people, tmp_path / "counts.csv")
    assert found.counts == (pb.Present(2, step=0), pb.Present(0, step=0), pb.Present(2, step=2))
    np.testing.assert_array_equal(found.values[0], [4.0, np.nan])
    assert found.values[1:] == [[], [1.5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1,place 0,3\n2,place 1,4\n1,place 0,3\n",
            r"line 4: the count of 'place 0' at step 1 is given twice",
        ),
        ("1,place 0,3\n2,place 1,many\n", r"line 3: the count is 'many'; expected a number"),
        ("1,place 0,inf\n", r"line 2: the count is 'inf'; expected a number"),
        ("", r"it holds no count"),
    ],
)
def test_what_is_no_count_is_refused_with_its_line(people: pb.People, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "counts.csv").write_text(f"step,place,count\n{text}")
    with pytest.raises(pb.InputError, match=rf"counts\.csv.*{message}"):
        read_published(people, tmp_path / "counts.csv")


def test_an_empty_count_needs_a_mechanism_that_leaves_some_empty(people: pb.People, tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("step,place,count,mechanism\n1,place 0,3,\n1,place 1,,\n2,place 1,,Suppression(5)\n")
    with pytest.raises(pb.InputError, match=r"counts\.csv, line 3: the count is empty, but Raw\(\) leaves none empty"):
        read_published(people, file, mechanism=pb.Raw())
    assert np.isnan(read_published(people, file, mechanism=pb.Suppression(5)).values[1]).all()
    file.write_text("step,place,count,mechanism\n1,place 0,3,\n1,place 1,,Rounding(5)\n")
    with pytest.raises(pb.InputError, match=r"line 3: the count is empty, but Rounding\(base=5\) leaves none empty"):
        read_published(people, file, mechanism=pb.Suppression(5))


def test_a_refusal_is_a_status(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> pb.Loss:
        raise pb.UnsupportedRelease("not this one")

    monkeypatch.setattr(release, "trace_loss", refuse)
    job = Job(people, pb.Release([0, 1, 2]), Measurement(1))
    table = realised_rows(job, range(len(people)), [[1.0]] * 3)
    assert table.unique().rows() == [("not this one", None, None)]
