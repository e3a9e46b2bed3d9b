"""A plugin of pytest that keeps to tests that are quick without compilation (`-p trust.quick`).

What happens inside of compiled kernels is seen by neither mutants nor coverage, so both run kernels as the plain
functions that they are written as. That is slow: a first run stops each test after `LIMIT` seconds and writes how long
each took into the file that `PASSERBY_QUICK` names. Once the file is there, only the tests that passed are run, the
quickest first, and one that takes far longer than it did (an endless loop) fails. Seconds are those of the processor,
so that it does not matter what else the machine does.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

LIMIT = 0.5
#: Wall seconds for each of the processor's that a test may wait, for a process of its own for example.
WAIT = 40.0
#: A mutant that asks for more memory than this is noticed by the test that ran.
MEMORY = 6 << 30
TIMES = Path(os.environ["PASSERBY_QUICK"])
known: dict[str, float] = json.loads(TIMES.read_text(encoding="utf-8")) if TIMES.exists() else {}
measured: dict[str, float] = {}


class TooLong(BaseException):
    """Nothing between a test and pytest catches it: hypothesis would try the example again."""


def stop(*_: Any) -> None:
    """End the test that runs."""
    raise TooLong


def allow(seconds: float) -> None:
    """Let the test that runs have so many seconds more; with 0, as many as it likes."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, WAIT * seconds)


def pytest_collection() -> None:
    """Do not shrink a failing example: that it fails is enough. Runs before the tests are imported."""
    from hypothesis import Phase, settings  # not before pytest, which prepares it

    plain = settings.get_profile("passerby")
    settings.register_profile("quick", parent=plain, phases=(Phase.explicit, Phase.generate), database=None)
    settings.load_profile("quick")
    np.seterr(all="ignore")  # as compiled kernels do
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, stop)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what is known to be quick, and begin with the quickest."""
    if TIMES.exists():
        items[:] = sorted((item for item in items if item.nodeid in known), key=lambda item: known[item.nodeid])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Let a test run for its time, and note how long it took if it passed."""
    began = time.process_time()
    allow(3.0 + 5.0 * known[item.nodeid] if item.nodeid in known else LIMIT)
    try:
        yield
    except TooLong:
        raise TooLong from None  # where it was stopped may have no number of a line, which pytest cannot show
    finally:
        allow(0.0)
    measured[item.nodeid] = round(time.process_time() - began, 3)


def pytest_sessionfinish() -> None:
    """Write down which tests are quick."""
    if not TIMES.exists():
        TIMES.write_text(json.dumps(measured), encoding="utf-8")
