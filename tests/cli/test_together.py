"""`passerby together`, as it is typed."""

from pathlib import Path

import pytest
from tests.audits.test_together import write_audits
from tests.cli.small_audit import Call
from tests.cli.test_interrupted import stopping


def test_what_two_tables_tell(tmp_path: Path, typed: Call) -> None:
    write_audits(tmp_path)
    done = typed("together", "whole", "nearly", "--sample", "8", "--workers", "1", "--misses", "0")
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "8 people. The chance that an adversary names all 3 steps, on average:"
    assert [line.split()[0] for line in said[1:5]] == ["without", "whole", "nearly", "together"]
    assert said[-2:] == [
        "The page: passerby-together/together.html",
        "All numbers: passerby-together/together.json",
    ]
    page = (tmp_path / "passerby-together" / "together.html").read_text(encoding="utf-8")
    assert "passerby together whole nearly --misses 0" in page
    assert str(tmp_path) not in page
    assert (tmp_path / "passerby-together" / "together.json").exists()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("whole", "name two folders of audits or more: passerby together A/ B/"),
        ("whole later", "later: --holdout is 2, but 3 in whole"),
        ("whole none", "none: there is no such settings file"),
        ("whole nearly --misses 3", "--misses: expected a whole number from 0 to 2"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, typed: Call, words: str, shown: str) -> None:
    write_audits(tmp_path)
    done = typed("together", *words.split(), "--workers", "1")
    assert done.returncode == 2
    assert shown in done.stderr


def test_a_folder_that_cannot_be_made_is_said_before_anybody_is_measured(
    tmp_path: Path, typed: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_audits(tmp_path)
    (tmp_path / "taken").write_text("")
    measuring = "passerby.runs.together.together"
    monkeypatch.setattr(measuring, stopping(measuring, 0))
    done = typed("together", "whole", "nearly", "--workers", "1", "--out", "taken")
    assert done.returncode == 2
    assert done.stderr.endswith("--out: 'taken' is a file; name a folder\n")
    done = typed("together", "whole", "nearly", "--workers", "1", "--out", "free")
    assert done.returncode == 130
    assert done.stderr.endswith("; nothing was written\n")


def test_results_are_left_alone(tmp_path: Path, typed: Call) -> None:
    write_audits(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "together.json").write_text("{}")
    done = typed("together", "whole", "nearly", "--out", "out")
    assert done.returncode == 2
    assert done.stderr.endswith("looked at together; choose another --out, or replace it with --overwrite\n")


def test_a_wrong_name_is_said_before_earlier_results(tmp_path: Path, typed: Call) -> None:
    write_audits(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "together.json").write_text("{}")
    for names, said in ((("whole", "none"), "none: there is no such"), (("whole", "whole"), "'whole' is given twice")):
        done = typed("together", *names, "--out", "out")
        assert done.returncode == 2
        assert said in done.stderr
