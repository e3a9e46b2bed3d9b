import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from passerby.cli.screen import chance, chances, waiting


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "0"),
        (1e-300, "1.0e-300"),
        (5.43e-10, "5.4e-10"),
        (0.00099, "9.9e-4"),
        (0.001, "0.10 %"),
        (0.00994, "0.99 %"),
        (0.00996, "1.0 %"),
        (0.0264, "2.6 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.5, "50 %"),
        (0.99, "99 %"),
        (0.99999, "> 99 %"),
        (1 - 1e-15, "100 %"),
        (1.0, "100 %"),
    ],
)
def test_chances_have_two_digits(p: float, text: str) -> None:
    assert chance(p) == text


@given(st.floats(1e-12, 0.989))
def test_what_is_shown_is_near_the_truth(p: float) -> None:
    text = chance(p)
    shown = float(text.removesuffix(" %")) / 100 if text.endswith("%") else float(text)
    assert shown == pytest.approx(p, rel=0.06)


def test_two_chances() -> None:
    assert chances(0.01, 0.02) == "1.0 % to 2.0 %"
    assert chances(1.01e-9, 1.02e-9) == "1.0e-9"


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
