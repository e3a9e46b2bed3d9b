"""What is no memory is said to be that, and what is not is not."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby import cli
from passerby.support.files import write_json
from passerby.support.processes import is_about_memory, raise_about_memory
from passerby.visits.files import check_file, list_files


def allocated() -> BaseException:
    """What NumPy says of more than there is."""
    try:
        np.empty(2**50)
    except MemoryError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        allocated(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        RuntimeError("can't start new thread"),
        OSError("libllvmlite.so: failed to map segment from shared object"),
        pl.exceptions.ComputeError("memory allocation of 8 bytes failed"),
    ],
    ids=repr,
)
def test_errors_for_want_of_memory(error: BaseException) -> None:
    assert is_about_memory(error)
    with pytest.raises(MemoryError):
        raise_about_memory(error)
    later = ValueError("another")
    later.__context__ = error
    assert is_about_memory(later)


@pytest.mark.parametrize("error", [ValueError("out of memory"), OSError(errno.ENOSPC, "No space"), RuntimeError("x")])
def test_other_errors(error: BaseException) -> None:
    assert not is_about_memory(error)
    raise_about_memory(error)


def test_the_command_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def short(*_: object, **__: object) -> None:
        raise allocated()

    monkeypatch.setattr(cli, "app", short)
    assert cli.main(["demo"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("passerby: out of memory")
    assert "--workers 1" in said
    assert "report it" not in said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory are kept by Linux")
def test_a_process_that_may_have_little(tmp_path: Path) -> None:
    code = (
        "import resource, sys, numpy as np\n"
        "from passerby import cli\n"
        "cli.app = lambda *_, **__: np.ones(2**28)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, resource.RLIM_INFINITY))\n"
        "sys.exit(cli.main(['demo']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert "out of memory, or of threads (it may have 1,074 MB: `ulimit -v`)" in done.stderr


def test_a_pipe_is_said_to_be_one(tmp_path: Path) -> None:
    pipe = tmp_path / "visits.csv"
    os.mkfifo(pipe)
    with pytest.raises(pb.InputError, match=r"visits.csv is a pipe, which can be read once, if at all; write what"):
        pb.read_visits(pipe)
    with pytest.raises(pb.InputError, match="is a terminal or another device"):
        check_file(Path("/dev/null"))
    reader, writer = os.pipe()
    try:
        with pytest.raises(pb.InputError, match=r"/dev/fd/\d+ is a pipe"):
            pb.read_visits(f"/dev/fd/{reader}")
    finally:
        os.close(reader)
        os.close(writer)


def test_signs_of_what_was_written_are_no_visits(tmp_path: Path) -> None:
    for name in ("_SUCCESS", "_metadata", ".part-0.crc", "part-0.csv", "_mine.csv"):
        (tmp_path / name).write_text("" if name.startswith("_S") else "person,time,place\na,2024-01-01,b\n")
    assert [file.name for file in list_files(tmp_path) or []] == ["_mine.csv", "part-0.csv"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"mrak": 1}', '{"mark"'])
def test_a_mark_that_is_damaged_is_called_so(tmp_path: Path, content: str) -> None:
    people = pb.fit_people(pb.simulate_city(12, 20, 3), window="3h", places=9, min_active=1, holdout=4)
    (tmp_path / "parts").mkdir()
    mark = tmp_path / "parts" / "mark.json"
    mark.write_text(content)
    with pytest.raises(pb.ConfigError, match=r"mark.json is damaged, so that it cannot be told whose unfinished audit"):
        pb.audit(people, pb.Release([0, 1, 0, 1]), workers=1, folder=tmp_path)
    write_json(mark, {"mark": "another"})
    with pytest.raises(pb.ConfigError, match="an unfinished audit of other people or with other settings"):
        pb.audit(people, pb.Release([0, 1, 0, 1]), workers=1, folder=tmp_path)
