"""`passerby check`: from a table to a page, as a newcomer would."""

import json
from pathlib import Path

import pytest

from passerby.cli import main

TEXT = "time,hospital 001,station\n" + "".join(
    f"2024-01-15 {h:02}:00,{n},{90 + h}\n" for h, n in zip(range(7, 12), (2, 3, 1, 4, 2), strict=True)
)


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "counts.csv"
    path.write_text(TEXT)
    return path


def test_a_table_alone_is_enough(counts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "counts.csv", "--personas", "dialysis", "--runs", "20"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "whoever knows where everybody else was finds 100 of 100 who were there" in said
    assert "people per count, of counts that average" in said
    assert "Guessed by name: clinic is hospital 001." in said
    page = (counts.parent / "check" / "report.html").read_text()
    assert "Can it be told that somebody was there?" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    record = json.loads((counts.parent / "check" / "check.json").read_text())
    assert record["schema_version"] == 1
    assert {each["against"] for each in record["answers"]} == {"insider", "habits"}
    assert record["readers"]["as it is"]["error"] == 0
    assert main(["check", "counts.csv"]) == 2
    assert "--overwrite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--place", "clinic"], "--place: 'clinic' binds no role"),
        (["--place", "clinic=nowhere"], "--place: nobody counts at 'nowhere'"),
        (["--personas", "pupil"], "counts at none of its places"),
        (["--time-format", "x"], "--time-format is 'x'"),
    ],
)
@pytest.mark.usefixtures("counts")
def test_what_is_wrong_is_said_in_options(more: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "counts.csv", *more]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_plan_of_a_table_needs_no_visits(counts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["plan", "counts.csv", "--personas", "dialysis", "--above", "0.3", "--runs", "20"]
    assert main([*asked, "--levers", "rounding", "places"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "none of the personas above an advantage of 30 %" in said
    assert "The table as it is breaks the limit" in said
    assert "Exact: numbers as exact as wanted" in said
    assert "of all counts" in said
    record = json.loads((counts.parent / "plan" / "plan.json").read_text())
    assert record["recommended"]["exact"]["left_out"] == ["hospital 001"]
    assert "What may be published?" in (counts.parent / "plan" / "plan.html").read_text()
    assert main([*asked, "--overwrite", "--holdout", "4"]) == 2
    assert "--holdout is for visits" in " ".join(capsys.readouterr().err.split())
