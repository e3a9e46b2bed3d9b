"""Partitions hold everybody once, and an audit is the same however it is cut."""

import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits import everyone
from passerby.audits.everyone import Partition, Partitions, joined
from passerby.audits.job import Job
from passerby.audits.settings import Measurement
from passerby.others.by_habits import SensorsByHabits as Expected
from passerby.others.by_habits import everyone_else
from passerby.people.common import LATTICE, MOST

RELEASES = {
    "none": pb.Release([0, 1, 2]),
    "counted": pb.Release([0, 1, 2], pb.Rounding(5)),
    "expected": pb.Release([0, 1, 2], pb.Rounding(5), others=pb.Crowd()),
}
LITTLE: dict[str, Any] = {"runs": 20, "budget": 1e6}


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(5, 30, 12, 15), holdout=3)


def job_of(people: pb.People, release: pb.Release) -> Job:
    return Job(people, release, Measurement(1), everyone_else(people, release))


@pytest.mark.parametrize("kind", ["none", "counted"])
@pytest.mark.parametrize("size", [1, 7, 30, 100])
def test_everybody_is_in_one_partition(people: pb.People, kind: str, size: int) -> None:
    parts = Partitions(job_of(people, RELEASES[kind]), size)
    rows = [part for part in parts if isinstance(part, Partition)]
    assert len(rows) == len(parts) == -(-30 // size)
    assert [len(part.ids) for part in rows] == parts.sizes
    assert pl.concat([part.ids for part in rows]).equals(people.ids)
    assert np.array_equal(np.concatenate([part.fitted for part in rows]), people.fitted)
    assert np.array_equal(np.concatenate([part.actual for part in rows]), people.actual)
    with pytest.raises(IndexError):
        parts[len(parts)]


def test_a_partition_is_small_and_what_is_common_does_not_grow(people: pb.People) -> None:
    """Else every worker would hold everybody. What others tell of the day rests on a thousand people at most."""
    many = pb.fit_people(random_traces(5, 3000, 12, 15), holdout=3)
    few, more = (Partitions(job_of(each, RELEASES["counted"]), 10) for each in (people, many))
    assert len(pickle.dumps(more[0])) < 1.1 * len(pickle.dumps(few[0]))
    told = 0 if more.common.people.common is None else more.common.people.common.told.nbytes
    assert told <= MOST * 8 * len(LATTICE)
    assert len(pickle.dumps(more.common)) < 1.5 * len(pickle.dumps(few.common)) + 1.2 * told


def test_rows_and_what_is_common_make_the_same_job_again(people: pb.People) -> None:
    parts = Partitions(job_of(people, RELEASES["counted"]), 7)
    job, some = joined(parts.common, parts[2])
    for here, person in zip(some, parts.range(2), strict=True):
        assert job.people.ids[here] == people.ids[person]
        assert job.release_for(here).others == parts.job.release_for(person).others


def test_everybody_goes_along_where_others_are_known_by_habits(people: pb.People) -> None:
    parts = Partitions(job_of(people, RELEASES["expected"]), 7)
    assert isinstance(parts.common.others, Expected)
    assert [*parts] == [range(7), range(7, 14), range(14, 21), range(21, 28), range(28, 30)]
    assert joined(parts.common, parts[1]) == (parts.job, range(7, 14))


@pytest.mark.parametrize("kind", RELEASES)
def test_any_cut_gives_the_same(people: pb.People, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pb.audit(people, RELEASES[kind], 1, workers=1, **LITTLE)
    for size in (1, 7):
        monkeypatch.setattr(everyone, "PARTITION", size)
        assert pb.audit(people, RELEASES[kind], 1, workers=1, **LITTLE).equals(whole)
