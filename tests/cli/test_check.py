"""`passerby check`: from a table to a page, as a newcomer would."""

import html
import json
import re
import shlex
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
    assert "With the same data, the same seed" in page
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


def _again(page: Path) -> list[str]:
    """The command that a page gives to do it again."""
    text = html.unescape(page.read_text())
    found = re.search(r"passerby (?:check|plan) counts\.csv[^<]*", text)
    assert found
    return shlex.split(found[0])[1:]


@pytest.mark.usefixtures("capsys")
def test_the_command_of_the_page_does_the_same_again(counts: Path) -> None:
    more = ["--timezone", "Europe/Paris", "--time-format", "day-first", "--step", "1h", "--runs", "20", "--seed", "3"]
    place = ["--place", "clinic=hospital 001", "--personas", "dialysis"]
    assert main(["check", "counts.csv", *place, *more]) == 0
    again = _again(counts.parent / "check" / "report.html")
    assert again == ["check", "counts.csv", *place, *more]
    before = json.loads((counts.parent / "check" / "check.json").read_text())
    assert main([*again, "--overwrite"]) == 0
    assert json.loads((counts.parent / "check" / "check.json").read_text()) == before


@pytest.mark.usefixtures("capsys")
def test_so_does_that_of_a_plan(counts: Path) -> None:
    said = ["--personas", "dialysis", "--at-most", "0", "--above", "0.3", "--against", "insider"]
    said += ["--levers", "rounding", "places", "--forbid", "rounding", "--stay", "station"]
    said += ["--timezone", "Europe/Paris", "--seed", "3", "--runs", "20"]
    assert main(["plan", "counts.csv", *said]) == 0
    again = _again(counts.parent / "plan" / "plan.html")
    assert sorted(again) == sorted(["plan", "counts.csv", *said])
    before = json.loads((counts.parent / "plan" / "plan.json").read_text())
    assert main([*again, "--overwrite"]) == 0
    assert json.loads((counts.parent / "plan" / "plan.json").read_text()) == before
