"""A folder with a finished audit of a small town, that the tests of the command line look at."""

from functools import partial
from pathlib import Path

import pytest
from tests.cli.small_audit import OPTIONS, TRIED, Call, Made, write_visits
from tests.cli.test_main import Done, run

from passerby.cli import main


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A folder with visits and a finished audit of them."""
    folder = tmp_path_factory.mktemp("audit")
    write_visits(folder / "visits.parquet")
    done = run("audit", "visits.parquet", *OPTIONS, *TRIED, "--out", "result", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs `passerby` in an empty folder and in this process: a process of its own takes seconds to begin."""
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
