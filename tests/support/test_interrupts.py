import subprocess
import sys

import pytest

from passerby.support.interrupts import interruptible


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
