"""The folder of an audit, made from Python: what the command line makes."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.conftest import made as made
from tests.cli.small_audit import FILES, Made
from tests.cli.test_interrupted import same, stopping

import passerby as pb
from passerby.audits.summary import Summary

#: The settings of the audit that the tests of the command line look at.
SMALL: dict[str, Any] = {"window": "3h", "places": 12, "min_active": 2, "holdout": 4, "sensor_count": 3}
TRIED: dict[str, Any] = {"explore": 6, "sigmas": [1], "bases": [5], "backtest": 12, "adversaries": 6}


def test_it_is_what_the_command_line_makes(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made[0])
    told: list[tuple[str, int, int]] = []
    report = pb.audit_folder(
        "visits.parquet", "python", **SMALL, **TRIED, workers=1, progress=lambda *stage: told.append(stage)
    )
    same(made[0] / "python", made[0] / "result")
    assert report.table.equals(pl.read_parquet("python/people.parquet"))
    assert report.summary == Summary.model_validate_json(Path("python/summary.json").read_text())
    assert report.page == Path("python/report.html").read_text()
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == [
        "Reading the visits",
        "Fitting everyone's habits",
        "Auditing people",
        "Trying out sensors, steps and noise",
        "Trying habits on earlier steps",
        "Trying other adversaries",
        "Writing the report",
    ]
    assert ("Auditing people", 40, 40) in told


def test_an_executor_makes_the_same(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made[0])
    with ThreadPoolExecutor(2) as pool:
        pb.audit_folder("visits.parquet", "threads", **SMALL, **TRIED, executor=pool)
    same(made[0] / "threads", made[0] / "result")


def test_interrupted_it_goes_on_when_called_again(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made[0])
    where = "passerby.audits.audit.audit_person"
    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(where, stopping(where, 20))
        pb.audit_folder("visits.parquet", "halves", **SMALL, **TRIED, workers=1)
    assert len(list(Path("halves/parts").glob("*.parquet"))) == 2
    told: list[int] = []

    def note(stage: str, done: int, everything: int) -> None:
        if stage == "Auditing people" and everything:
            told.append(done)

    pb.audit_folder("visits.parquet", "halves", **SMALL, **TRIED, workers=1, progress=note)
    assert told[0] == 16
    same(made[0] / "halves", made[0] / "result")


def test_what_is_wrong_is_said_in_the_words_of_python(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made[0])
    with pytest.raises(pb.ConfigError) as caught:
        pb.audit_folder("visits.parquet", "wrong", misses=5, runs=1, sensor_place=["a"])
    assert str(caught.value).splitlines() == [
        "audit_folder:",
        "  runs=1: it should be greater than or equal to 2",
        "  sensor_place: there is no such setting; did you mean sensor_places?",
        "  misses=5 must be below holdout=5, the steps to find",
    ]
    with pytest.raises(pb.ConfigError, match=r"choose another out, or replace it with overwrite=True"):
        pb.audit_folder("visits.parquet", "result", **SMALL)
    with pytest.raises(pb.InputError, match=r"^out: 'visits\.parquet' is a file; name a folder"):
        pb.audit_folder("visits.parquet", "visits.parquet", **SMALL)
    assert {path.name for path in Path("result").iterdir()} == FILES
    assert not Path("wrong").exists()
