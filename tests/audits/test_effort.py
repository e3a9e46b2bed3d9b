"""Effort goes to those whose interval decides something, at no more than was asked for."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits.audit import CHEAP, SHARE, THOROUGH, audit_job, audit_open, clear_passes, first_pass, second_pass
from passerby.audits.job import Job
from passerby.audits.settings import Measurement
from passerby.others.by_habits import everyone_else
from passerby.support.blocks import Team

HOW = Measurement(2, 0.01, 40, 0.98, 1e6, 3)
THRESHOLDS = (0.25, 0.5)
PEOPLE = 24


def job_of(release: pb.Release) -> Job:
    people = pb.fit_people(random_traces(5, PEOPLE, 30, 8), holdout=6)
    return Job(people, release, HOW, everyone_else(people, release))


@pytest.fixture(scope="module")
def job() -> Job:
    return job_of(pb.Release([[0, 1, 2]] * 6, pb.Gaussian(1.5)))


@pytest.fixture(scope="module")
def first(job: Job) -> pl.DataFrame:
    return audit_job(replace(job, measurement=first_pass(HOW)))


@pytest.fixture(scope="module")
def table(job: Job) -> pl.DataFrame:
    return audit_open(job, THRESHOLDS, team=Team(1))


def test_both_passes_together_take_what_was_asked_for() -> None:
    assert CHEAP + THOROUGH / SHARE == 1
    first, second = first_pass(HOW), second_pass(HOW)
    assert first.runs + second.runs / SHARE == HOW.runs
    assert first.budget + second.budget / SHARE == pytest.approx(HOW.budget)
    # Either may be the one that is told, and each is wrong half as often.
    assert (1 - first.confidence) + (1 - second.confidence) == pytest.approx(1 - HOW.confidence)
    assert first.seed != second.seed


def test_the_second_pass_is_for_those_who_are_open(first: pl.DataFrame, table: pl.DataFrame) -> None:
    assert table.schema == first.schema
    assert table["person"].equals(first["person"])
    changed = [n for n in range(len(table)) if not table[n].equals(first[n])]
    assert 0 < len(changed) <= len(table) // SHARE
    low, high = first["lower"].to_numpy(), first["upper"].to_numpy()
    held = {n for n in range(len(table)) if any(low[n] < level <= high[n] for level in THRESHOLDS)}
    assert len(held) > len(changed)
    assert set(changed) <= held
    width = (table["upper"] - table["lower"]).to_numpy()
    assert (width[changed] < (high - low)[changed]).all()


def test_what_is_pooled_is_of_the_first_pass(first: pl.DataFrame, table: pl.DataFrame) -> None:
    pooled = ["pooled_lower", "pooled_upper", "pooled_reach"]
    assert table.select(pooled).equals(first.select(pooled))


def test_workers_folders_and_interruptions_change_nothing(job: Job, table: pl.DataFrame, tmp_path: Path) -> None:
    def stop(done: int, everyone: int) -> None:
        if everyone < PEOPLE and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit_open(job, THRESHOLDS, tmp_path, team=Team(1), progress=stop)
    assert [*(tmp_path / "parts" / "open" / "parts").glob("*.parquet")]
    assert audit_open(job, THRESHOLDS, tmp_path, team=Team(2)).equals(table)
    clear_passes(tmp_path)
    assert not [*tmp_path.iterdir()]


def test_nobody_is_open_where_all_is_certain() -> None:
    sure = job_of(pb.Release([0] * 6, pb.Rounding(5)))
    narrow = replace(sure, measurement=replace(HOW, budget=1e9))
    found = audit_open(narrow, THRESHOLDS, team=Team(1))
    assert found.equals(audit_job(replace(narrow, measurement=first_pass(narrow.measurement))))


@pytest.mark.thorough
def test_one_pass_where_others_are_known_by_habits() -> None:
    job = job_of(pb.Release([0] * 6, pb.Rounding(5), others=pb.Crowd()))
    some = replace(job, measurement=replace(HOW, runs=20, budget=1e5))
    assert audit_open(some, THRESHOLDS, team=Team(1)).equals(audit_job(some))
