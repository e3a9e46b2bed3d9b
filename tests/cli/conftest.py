"""The command line in this process: a process of its own takes seconds to begin."""

from functools import partial
from pathlib import Path

import pytest
from tests.cli.small_audit import Call, Made
from tests.cli.test_main import Done

from passerby.cli import main


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs `passerby` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: str) -> Done:
        code = main(arguments)
        shown = capsys.readouterr()
        return Done(arguments, code, shown.out, shown.err)

    return call


@pytest.fixture
def call(made: Made, typed: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs `passerby audit` in the folder with the finished audit."""
    monkeypatch.chdir(made[0])
    return partial(typed, "audit")
