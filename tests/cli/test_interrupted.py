"""Interrupted at any stage, an audit says how to go on, and ends with the same files."""

import contextlib
import itertools
import os
import pkgutil
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.cli.small_audit import OPTIONS, TRIED, Made

from passerby.cli import main


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "people.parquet"}


def same(folder: Path, other: Path) -> None:
    """The two folders hold the same files."""
    assert files(folder) == files(other)
    assert_frame_equal(*(pl.read_parquet(path / "people.parquet") for path in (folder, other)))


def go_on(said: str, folder: Path) -> None:
    """Do what an interrupted audit said is to be done."""
    assert "what is finished is kept. To go on:" in said
    command = said.strip().splitlines()[-1].split()
    assert command[:3] == ["passerby", "audit", "--settings"]
    with contextlib.chdir(folder):
        assert main(command[1:]) == 0


@pytest.mark.parametrize(
    ("number", "ended", "word"),
    [
        (signal.SIGINT, 130, "interrupted"),
        pytest.param(signal.SIGTERM, 143, "terminated", marks=pytest.mark.thorough),
    ],
)
def test_interrupted_by_a_signal_it_goes_on(made: Made, number: signal.Signals, ended: int, word: str) -> None:
    folder, _ = made
    out = f"stopped-{word}"
    # Slow from the ninth person on, when the first part is kept: that leaves seconds for the signal.
    code = (
        "import itertools, sys, time\nfrom passerby import cli\nfrom passerby.audits import audit\n"
        "plain, calls = audit.audit_person, itertools.count()\n"
        "def slow(*a):\n    time.sleep(0.3 if next(calls) >= 8 else 0)\n    return plain(*a)\n"
        "audit.audit_person = slow\nsys.exit(cli.main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "audit", "visits.parquet", *OPTIONS, *TRIED, "--out", out],
        cwd=folder,
        env={**os.environ, "PASSERBY_DEBUG": "0"},
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 120
    while not list((folder / out / "parts").glob("*.parquet")):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == ended, said
    assert re.search(rf"{word} while auditing people \(\d+ of 40\); ", said)
    assert not (folder / out / "summary.json").exists()
    # What is kept tells of single people.
    assert (folder / out / "parts").stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o077 for file in (folder / out / "parts").glob("0*")} == {0}
    go_on(said, folder)
    same(folder / out, folder / "result")


@pytest.mark.parametrize(
    ("where", "after", "said"),
    [
        pytest.param(
            "passerby.audits.audit.audit_person", 20, "while auditing people (16 of 40)", marks=pytest.mark.thorough
        ),
        pytest.param(
            "passerby.audits.what_if._simple",
            4,
            "while trying out sensors and steps (4 of 6)",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "passerby.audits.backtest._at",
            2,
            "while trying habits on earlier steps (2 of 4)",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "passerby.audits.adversaries._one", 3, "while trying other adversaries (3 of 6)", marks=pytest.mark.thorough
        ),
        pytest.param("passerby.runs.audit.report_of", 0, "while writing the report", marks=pytest.mark.thorough),
        ("passerby.runs.audit.as_json", 0, "while writing the report"),
    ],
)
def test_interrupted_anywhere_it_ends_the_same(
    made: Made,
    where: str,
    after: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = made[0]
    monkeypatch.chdir(folder)
    out = f"stopped-{where.rpartition('.')[2]}"
    with monkeypatch.context() as patch:
        patch.setattr(where, stopping(where, after))
        assert main(["audit", "visits.parquet", *OPTIONS, *TRIED, "--out", out]) == 130
    told = capsys.readouterr().err
    assert f"interrupted {said}" in told
    # The trials that were done are not done again.
    trials = "passerby.audits.what_if._simple"
    left = {"passerby.audits.audit.audit_person": 6, trials: 6 - after}.get(where, 0)
    with monkeypatch.context() as patch:
        patch.setattr(trials, stopping(trials, left))
        go_on(told, folder)
    same(folder / out, folder / "result")


def stopping(where: str, after: int) -> Callable[..., Any]:
    """The function of this name, but the user stops it after so many calls."""
    plain, calls = pkgutil.resolve_name(where), itertools.count()

    def stopped(*arguments: Any, **options: Any) -> Any:
        if next(calls) >= after:
            raise KeyboardInterrupt
        return plain(*arguments, **options)

    return stopped


@pytest.mark.parametrize("where", ["read_visits", "traces_of"])
def test_interrupted_early_it_leaves_nothing(
    made: Made, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made[0])
    name = f"passerby.audits.inputs.{where}"
    monkeypatch.setattr(name, stopping(name, 0))
    assert main(["audit", "visits.parquet", *OPTIONS, "--out", "early"]) == 130
    assert "nobody was measured yet, and nothing was written" in capsys.readouterr().err
    assert not (made[0] / "early").exists()
