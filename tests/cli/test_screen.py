import io
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


def test_compiling_is_announced_once_and_only_when_it_happens(tmp_path: Path) -> None:
    """Two small functions stand for the kernels, which take too long: compiled, then found on disk."""
    (tmp_path / "small.py").write_text(
        "from numba import njit\n"
        "@njit('float64(float64)', cache=True)\ndef once(x):\n    return x + 1\n"
        "@njit('float64(float64)', cache=True)\ndef twice(x):\n    return x + 2\n"
    )
    code = "from passerby.cli.screen import Console, waiting\nwith waiting(Console(), ''): import small"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first.count("compiling") == 1
    assert second.strip() == ""
