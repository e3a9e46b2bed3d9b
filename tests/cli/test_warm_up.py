"""Kernels are compiled side by side before the first measurement after an installation."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from passerby.cli import warm_up
from passerby.kernels import jit


def first_use(folder: Path, *shares: str) -> tuple[subprocess.CompletedProcess[str], list[Path]]:
    """What a process says that finds no kernels in a folder, and what it leaves there, with few kernels to compile."""
    code = f"from passerby.cli import warm_up\nwarm_up.SHARES = {[[share] for share in shares]}\nwarm_up.ready()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done, list(folder.rglob(jit.ALL))


def test_they_are_compiled_once(tmp_path: Path) -> None:
    done, marked = first_use(tmp_path, "chain.bounds")
    assert done.returncode == 0, done.stderr
    assert len(marked) == 1
    compiled = [path for path in tmp_path.rglob("*.nbc") if "bounds" in path.name]
    assert compiled
    # Nothing is compiled, or looked for, again.
    for path in compiled:
        path.unlink()
    done, _ = first_use(tmp_path, "chain.bounds")
    assert (done.returncode, done.stderr) == (0, "")
    assert not [path for path in tmp_path.rglob("*.nbc") if "bounds" in path.name]


def test_what_fails_is_left_to_whoever_needs_it(tmp_path: Path) -> None:
    done, marked = first_use(tmp_path, "no_such_kernels")
    assert done.returncode == 0
    assert "no_such_kernels" in done.stderr
    assert marked == []


def test_where_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []

    def refuse(*command: Any, **_: Any) -> None:
        tried.append(command)
        raise OSError("no more processes")

    monkeypatch.setattr(jit, "complete", lambda: False)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    warm_up.ready()
    assert tried
