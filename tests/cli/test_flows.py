"""`passerby flows`: a public table in, figures about its people out."""

from pathlib import Path

from tests.cli.small_audit import Call

LITTLE = ("--start", "2024-01-15T06:00", "--step", "4h", "--steps", "3", "--people", "6", "--workers", "1")


def test_figures_are_said_and_written(typed: Call) -> None:
    Path("od.csv").write_text("home,work,people\nnorth,mill,3000\nsouth,mill,1200\n")
    done = typed("flows", "od.csv", *LITTLE, "--sensor-places", "mill", "--out", "found")
    assert done.returncode == 0
    assert "Of the 4,200 people of the table:" in done.stdout
    assert Path("found/figures.csv").is_file()
    again = typed("flows", "od.csv", *LITTLE, "--sensor-places", "mill", "--out", "found")
    assert (again.returncode, "--overwrite" in again.stderr) == (2, True)


def test_what_is_wrong_is_said(typed: Call) -> None:
    Path("od.csv").write_text("home,work,people\nnorth,mill,-4\n")
    done = typed("flows", "od.csv", *LITTLE)
    assert done.returncode == 2
    assert "od.csv, line 2: people is '-4'" in done.stderr or "od.csv, line 2: people is -4" in done.stderr
    Path("od.csv").write_text("home,work,people\nnorth,mill,4\n")
    done = typed("flows", "od.csv", *LITTLE, "--sensor-places", "mill", "--sensor-count", "2")
    assert (done.returncode, "give one of them" in done.stderr) == (2, True)
    done = typed("flows", "od.csv", *LITTLE, "--sensor-places", "mil")
    assert (done.returncode, "mil" in done.stderr) == (2, True)
