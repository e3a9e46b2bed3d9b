"""The folder of an audit, made from Python: what the command line makes."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
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
        "Trying out sensors and steps",
        "Trying out noise and rounding",
        "Trying habits on earlier steps",
        "Trying other adversaries",
        "Asking other questions of people",
        "Asking who can be told to have been where",
        "Asking what knowing some of the others adds",
        "Writing the report",
    ]
    assert ("Auditing people", 40, 40) in told


@pytest.mark.thorough
def test_an_executor_makes_the_same(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made[0])
    with ThreadPoolExecutor(2) as pool:
        pb.audit_folder("visits.parquet", "threads", **SMALL, **TRIED, executor=pool)
    same(made[0] / "threads", made[0] / "result")


@pytest.mark.thorough
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


def odd_visits(path: Path, days: int, late: int) -> Path:
    """Twenty people at two places each day; `late` of them are seen on the last three days alone."""
    rows = [
        (f"p{person:02d}", f"2024-03-{day:02d}T12:00:00", f"place {(person + day) % 2}")
        for person in range(20)
        for day in range(1, days + 1)
        if person >= late or day > days - 3
    ]
    pl.DataFrame(rows, schema=["person", "time", "place"], orient="row").write_csv(path)
    return path


ODD: dict[str, Any] = {"window": "1d", "holdout": 3, "min_active": 1, "explore": 0, "adversaries": 6, "workers": 1}


def test_people_who_appear_only_in_the_published_steps_are_told(tmp_path: Path) -> None:
    visits = odd_visits(tmp_path / "visits.csv", days=20, late=7)
    report = pb.audit_folder(visits, tmp_path / "audit", **ODD, habits="paper")
    assert report.summary.people == 13
    assert any("7 of 20 people are not audited: 7 are seen" in alert for alert in report.summary.alerts)
    assert report.summary.backtest is not None
    assert report.summary.backtest.people == 10  # 13, in fives
    assert len(report.summary.adversaries) == 4


@pytest.mark.parametrize(
    ("days", "late", "words"),
    [
        (
            20,
            12,
            "was not tried, so nobody knows: backtest: habits can be tried at no origin; at the latest, fewer than 10 ",
        ),
        (5, 0, "come true: for the published steps, habits promised"),
    ],
)
def test_where_nothing_can_be_tried_an_alert_says_why(tmp_path: Path, days: int, late: int, words: str) -> None:
    visits = odd_visits(tmp_path / "visits.csv", days, late)
    report = pb.audit_folder(visits, tmp_path / "audit", **{**ODD, "adversaries": 0}, habits="paper")
    assert any(words in alert for alert in report.summary.alerts)
    assert (report.summary.backtest is None) == ("was not tried" in words)
    assert ("Did such predictions come true? Because" in report.page) == (report.summary.backtest is None)


def test_what_is_turned_off_is_left_out_and_not_warned_of(tmp_path: Path) -> None:
    visits = odd_visits(tmp_path / "visits.csv", 20, 0)
    report = pb.audit_folder(visits, tmp_path / "audit", **{**ODD, "adversaries": 0}, backtest=0, habits="paper")
    assert report.summary.backtest is None
    assert not any("predictions" in alert for alert in report.summary.alerts)
    assert "Did such predictions come true? Because habits were not tried on earlier steps" in report.page


@pytest.mark.thorough
def test_an_interrupted_backtest_goes_on_and_its_pieces_are_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits, where = odd_visits(tmp_path / "visits.csv", 20, 0), "passerby.audits.backtest._at"
    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(where, stopping(where, 2))
        pb.audit_folder(visits, tmp_path / "halves", **ODD, habits="paper")
    assert len((tmp_path / "halves" / "parts" / "backtest.jsonl").read_text().splitlines()) == 3  # and the mark
    pb.audit_folder(visits, tmp_path / "halves", **ODD, habits="paper")
    pb.audit_folder(visits, tmp_path / "whole", **ODD, habits="paper")
    same(tmp_path / "halves", tmp_path / "whole")
    assert not (tmp_path / "halves" / "parts").exists()
