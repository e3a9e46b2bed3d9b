"""Processes that share work end when they should, and say what is wrong with the script that starts them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from passerby.support.processes import all_cores, interruptible

SLOW = """
import os, sys, time
from pathlib import Path
from passerby.support.workers import collect

def nap(folder, item):
    Path(folder, str(os.getpid())).write_text("")
    time.sleep(0.2)
    return item
"""
GUARDED = SLOW + "\nif __name__ == '__main__':\n    collect(nap, sys.argv[1], list(range(1000)), workers=2)\n"
UNGUARDED = SLOW + "\nprint(collect(nap, sys.argv[1], list(range(8)), workers=2))\n"


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # nobody may be there to bury it


def wait_for(what: str, true: object, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path: Path, ended_by: signal.Signals) -> None:
    (tmp_path / "script.py").write_text(GUARDED)
    (tmp_path / "seen").mkdir()
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "seen")], stderr=subprocess.DEVNULL
    )
    wait_for("two workers", lambda: len([*(tmp_path / "seen").iterdir()]) == 2)
    workers = [int(file.name) for file in (tmp_path / "seen").iterdir()]
    assert all(map(alive, workers))
    parent.send_signal(ended_by)
    parent.wait(timeout=30)
    wait_for("the end of the workers", lambda: not any(map(alive, workers)), 10)


def test_a_script_without_a_guard_is_told_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "PasserbyError: workers import the script that starts them" in last
    assert "if __name__ == '__main__':" in last
    assert "memory" not in done.stderr


DAEMON = """
import multiprocessing, sys
from passerby.errors import PasserbyError
from passerby.support.workers import collect

def work(count):
    try:
        print(collect(pow, 2, list(range(1, 5)), workers=count), flush=True)
    except PasserbyError as error:
        print(error, flush=True)

if __name__ == "__main__":
    for count in (None, 2):
        process = multiprocessing.Process(target=work, args=(count,), daemon=True)
        process.start()
        process.join()
"""


def test_a_daemon_works_by_itself(tmp_path: Path) -> None:
    """It may not start processes: by default it does not, and where it is asked to, that is said."""
    (tmp_path / "script.py").write_text(DAEMON)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    by_itself, refused = done.stdout.splitlines()
    assert by_itself == "[2, 4, 8, 16]"
    assert refused.startswith("this is a daemon process")
    assert refused.endswith("with workers=1")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not say which cores may be used")
def test_cores_that_may_not_be_used_get_no_worker() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert all_cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert all_cores() == len(before)


class Stop(KeyboardInterrupt):
    """An interruption of one's own."""


def interrupted() -> None:
    """What numba makes of an interruption: two faults, one of the other."""
    first, second = SystemError("a result with an exception set"), SystemError("and again")
    first.__cause__, second.__cause__ = Stop("now"), first
    raise second


def test_an_interruption_of_a_kernel_is_an_interruption() -> None:
    with pytest.raises(Stop, match="now") as found, interruptible():
        interrupted()
    assert found.value.__cause__ is None


def test_other_faults_stay_what_they_are() -> None:
    with pytest.raises(SystemError, match="another"), interruptible():
        raise SystemError("another") from ValueError("why")


#: A signal comes while a kernel is at work, which takes some seconds unless it is heard.
CODE = """
import os, signal, sys, threading
import numpy as np
import passerby as pb
rng = np.random.default_rng(0)
prior = pb.MarkovPrior(np.full(60, 1 / 60), rng.dirichlet(np.ones(60), (23, 60)))
release = pb.Release([rng.choice(60, 9, replace=False).tolist() for _ in range(24)])
pb.measure(prior, release, 2, budget=0.0)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        pb.measure(prior, release, 6, budget=1e9)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.thorough
def test_a_key_that_is_pressed_while_a_kernel_is_at_work() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 7, done.stderr
