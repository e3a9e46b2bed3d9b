import io
import itertools
import logging
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from passerby.cli.screen import Interrupted, Pace, say, stage, stages


def test_a_quick_stage_is_silent_off_a_terminal() -> None:
    out = io.StringIO()
    with stage(Console(file=out), "Measuring") as progress:
        progress(1, 2)
    assert out.getvalue().strip() == ""


def test_a_long_stage_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 5.0, 5.0])
    monkeypatch.setattr("passerby.cli.screen.time.perf_counter", lambda: next(clock))
    out = io.StringIO()
    with stage(Console(file=out), "Reading", "MB") as progress:
        progress(40_000_000, 80_000_000)
    assert out.getvalue().strip() == "Reading: 5 s (80 MB, 16 MB per second)"


def test_off_a_terminal_a_log_shows_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passerby.cli.screen.MINUTE", 0.05)
    out = io.StringIO()
    with stages(Console(file=out, width=40)) as tell:
        tell("Auditing people", 0, 0)
        time.sleep(0.2)
        tell("Auditing people", 400, 1000)  # an earlier run did them
        time.sleep(0.2)
        tell("Auditing people", 401, 1000)
        time.sleep(0.2)
    lines = out.getvalue().splitlines()
    assert lines[0] == "Auditing people: going on"
    assert "Auditing people: 400 of 1,000" in lines
    found = re.fullmatch(
        r"Auditing people: 401 of 1,000, ([\d.]+) per second, about (\d+) (seconds|minutes) left", lines[-1]
    )
    assert found, lines[-1]
    assert 1 < float(found[1]) < 6  # one in the time since it was heard of, and not 401


def test_what_an_earlier_run_did_is_not_counted() -> None:
    pace = Pace(resumed=True)
    pace.note(400, 1000)
    pace.note(1000, 1000)
    assert pace.size(60.0) == " (600, 10 per second; 400 were there before)"


def test_a_terminal_sees_how_far_it_is_how_fast_and_how_long_it_takes() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with stage(console, "Measuring") as progress:
        for done in range(4):
            progress(done, 8)
            time.sleep(0.15)
    shown = out.getvalue()
    assert re.search(r"3 of 8, [\d.]+ per second", shown)
    assert re.search(r"left \d:\d\d:\d\d", re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown))


def test_what_the_library_says_is_shown_once_and_only_in_a_stage() -> None:
    out = io.StringIO()
    logger = logging.getLogger("passerby")
    with stage(Console(file=out), "Measuring"):
        logger.warning("compiling [kernels]")
    assert out.getvalue().strip() == "compiling [kernels]"
    assert not logger.handlers


def stop() -> None:
    with stage(Console(), "Measuring") as progress:
        progress(3, 8)
        raise KeyboardInterrupt


def test_an_interruption_says_where_it_was() -> None:
    with pytest.raises(Interrupted, match=r"^interrupted while measuring \(3 of 8\)$"):
        stop()


def test_one_stage_follows_another(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, 3.0)
    monkeypatch.setattr("passerby.cli.screen.time.perf_counter", lambda: next(clock))
    out = io.StringIO()
    with stages(Console(file=out)) as tell:
        tell("Reading the visits", 0, 0)
        tell("Reading the visits", 40_000_000, 80_000_000)
        tell("Fitting everyone's habits", 0, 0)
        tell("Auditing people", 0, 0)
        tell("Auditing people", 3, 8)
    assert [line.partition(":")[0] for line in out.getvalue().splitlines()] == [
        "Reading the visits",
        "Fitting everyone's habits",
        "Auditing people",
    ]
    assert "(80 MB, " in out.getvalue()
    assert "(5, " in out.getvalue()
    assert "; 3 were there before)" in out.getvalue()  # an earlier run did them, and its time is not counted


def stop_in_a_stage() -> None:
    with stages(Console()) as tell:
        tell("Fitting", 0, 0)
        tell("Auditing", 0, 0)
        tell("Auditing", 3, 8)
        raise KeyboardInterrupt


def test_an_interruption_says_in_which_stage_it_was() -> None:
    with pytest.raises(Interrupted, match=r"^interrupted while auditing \(3 of 8\)$"):
        stop_in_a_stage()


@pytest.mark.thorough
def test_compiling_is_announced_when_it_happens_and_not_again(tmp_path: Path) -> None:
    """A small function stands for the kernels, which take longer: compiled, then found on disk."""
    (tmp_path / "small.py").write_text(
        "from passerby.kernels.jit import kernel, number\n"
        "@kernel(number(number))\ndef once(x):\n    return x + 1\n"
        "@kernel(number(number))\ndef twice(x):\n    return x + 2\n"
    )
    code = "from passerby.cli.screen import Console, stage\nwith stage(Console(), 'x'): import small"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert first.stdout.count("compiling") == 1
    assert first.stderr == second.stderr == ""
    assert "compiling" not in second.stdout


def test_no_line_begins_with_the_sign_of_percent() -> None:
    text = "All that is wanted: publish all that is wanted, and nothing but that, at once: 0 % of people, 100 % sure."
    for width in range(20, 110):
        out = io.StringIO()
        say(Console(file=out, width=width), text)
        lines = out.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        assert not any(line.startswith("%") or line.endswith(" ") for line in lines)
        assert " ".join(lines) == text
