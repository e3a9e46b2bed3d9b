"""The command line as a user meets it: in a process of its own where that plays a part."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import passerby as pb
from passerby.cli import main

Done = subprocess.CompletedProcess[str]


def run(*arguments: str, code: str = "", cwd: Path | None = None, **environment: str) -> Done:
    """Run `passerby` with arguments, after some `code` that may change what it finds."""
    program = f"import sys\nfrom passerby import cli\n{code}\nsys.exit(cli.main())"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", "PASSERBY_DEBUG": "0", **environment},
        check=False,
    )


def run_here(*arguments: str, cwd: Path) -> Done:
    """The same in this process, where all is loaded: for folders that many tests look at."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        patch.setenv("COLUMNS", "80")
        patch.setenv("PASSERBY_DEBUG", "0")
        code = main(arguments)
    return Done(arguments, code, out.getvalue(), err.getvalue())


def replaced(statement: str) -> str:
    """Code that puts a function with this body in the place of `measure`."""
    return f"import passerby\ndef broken(*a, **k):\n    {statement}\npasserby.measure = broken"


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).with_name("passerby")
    if not command.exists():
        pytest.skip("not installed as a command here")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, pb.__version__)


def test_the_package_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "passerby", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, pb.__version__, "")


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, pb.__version__, "")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_lists_the_commands(arguments: list[str], typed: Callable[..., Done]) -> None:
    done = typed(*arguments)
    assert done.returncode == 0
    assert "line" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "nonsense"),
        (["line", "--placez", "3"], "--placez"),
        (["line", "--places", "many"], "--places"),
        (["line", "--seed", "-1"], "--seed"),
    ],
)
def test_arguments_that_cannot_be_read(arguments: list[str], message: str, typed: Callable[..., Done]) -> None:
    done = typed(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("line --places 0", "for --places. Must be >= 1."),
        ("line --tau -1", "for --tau. Must be > 0."),
        ("line --sigma 0", "for --sigma. Must be >= 1e-06."),
        ("line --misses 3 10", "--misses: expected a whole number from 0 to 9"),
        ("demo --sigma 0", "for --sigma. Must be >= 1e-06."),
        ("demo --people 3", "for --people. Must be >= 10."),
        ("simulate --people 0 city.csv", "for --people. Must be >= 1."),
        ("simulate --places 3 city.csv", "for --places. Must be >= 4."),
        ("simulate --seen 0 city.csv", "for --seen. Must be > 0."),
        ("simulate --step 1x city.csv", "--step is '1x', which is no length of time; write a number and a unit"),
        ("simulate --start soon city.csv", "--start is 'soon', which is no time"),
        ("reproduce nothing", "nothing"),
    ],
)
def test_values_that_cannot_be_used(words: str, message: str, tmp_path: Path, typed: Callable[..., Done]) -> None:
    done = typed(*words.split())
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_unexpected_errors_are_one_line_with_a_hint(
    tmp_path: Path, typed: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("deep inside")

    monkeypatch.setattr(pb, "measure", broken)
    done = typed("line", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "ZeroDivisionError in line.py, line" in done.stderr
    assert "deep inside" not in done.stderr
    assert "PASSERBY_DEBUG=1" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_the_traceback_is_there_for_who_asks(tmp_path: Path) -> None:
    code = replaced("raise ZeroDivisionError('deep inside')")
    done = run("line", "--out", str(tmp_path), code=code, PASSERBY_DEBUG="1")
    assert done.returncode == 1
    assert "ZeroDivisionError: deep inside" in done.stderr


def test_an_error_in_what_was_asked_is_raised_for_who_asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PASSERBY_DEBUG", "1")
    with pytest.raises(pb.InputError, match="misses: expected a whole number from 0 to 9"):
        main(["line", "--misses", "10", "--out", str(tmp_path / "out")])


def test_interruption(tmp_path: Path) -> None:
    done = run("line", "--out", str(tmp_path), code=replaced("raise KeyboardInterrupt"))
    assert done.returncode == 130
    assert done.stderr.strip() == "passerby: interrupted while measuring one person"


def test_a_request_to_end_is_an_interruption(tmp_path: Path) -> None:
    code = replaced("import os, signal, time; os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)")
    done = run("line", "--out", str(tmp_path), code=code)
    assert done.returncode == 143
    assert done.stderr.strip() == "passerby: terminated while measuring one person"


def test_main_returns_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == pb.__version__


@pytest.mark.parametrize(
    ("arguments", "where"),
    [(("audit", "v.csv", "--out", ""), " (after --out)"), (("simulate", ""), " (after simulate)"), (("",), "")],
    ids=["an option", "an argument", "a command"],
)
def test_an_empty_argument_is_no_folder(arguments: tuple[str, ...], where: str, tmp_path: Path) -> None:
    done = run_here(*arguments, cwd=tmp_path)
    said = f"passerby: an argument is empty{where}; fill it in, or leave it out with its option\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
def test_an_output_that_is_full_is_no_defect() -> None:
    program = "import sys\nfrom passerby import cli\nsys.exit(cli.main())"
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", program, "--help"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert (
        done.stderr == "passerby: what is found cannot be shown: No space left on device; send the output elsewhere\n"
    )
