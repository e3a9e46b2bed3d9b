import io
import logging
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from passerby.cli.screen import waiting


def test_waiting_is_silent_off_a_terminal() -> None:
    out = io.StringIO()
    with waiting(Console(file=out), "Measuring"):
        pass
    assert out.getvalue().strip() == ""


def test_what_the_library_says_is_shown_once_and_only_while_waiting() -> None:
    out = io.StringIO()
    logger = logging.getLogger("passerby")
    with waiting(Console(file=out), "Measuring"):
        logger.warning("compiling [kernels]")
    assert out.getvalue().strip() == "compiling [kernels]"
    assert not logger.handlers


def test_compiling_is_announced_when_it_happens_and_not_again(tmp_path: Path) -> None:
    """A small function stands for the kernels, which take longer: compiled, then found on disk."""
    (tmp_path / "small.py").write_text(
        "from passerby.kernels.jit import kernel, number\n"
        "@kernel(number(number))\ndef once(x):\n    return x + 1\n"
        "@kernel(number(number))\ndef twice(x):\n    return x + 2\n"
    )
    code = "from passerby.cli.screen import Console, waiting\nwith waiting(Console(), ''): import small"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert first.stdout.count("compiling") == 1
    assert first.stderr == second.stderr == ""
    assert second.stdout.strip() == ""
