"""Run every property of the tests with many more examples, drawn anew for each seed (`make deep`).

`make test` draws the same few examples of each property every time, so that it is quick and gives the same answer
twice. Here each property gets so many times as many, at random: `python -m trust.deep --factor 25 --seed 7`. The
properties of tests/test_fuzz.py have a run of their own (`make fuzz`).
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from trust.page import keep
from trust.results import ROOT


class Deep:
    """A plugin of pytest: leaves out what is no property, and gives the others more examples."""

    def __init__(self, factor: int) -> None:
        self.factor = factor
        self.properties = 0
        self.examples = 0
        self.failures: list[str] = []

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Runs once all tests are collected."""
        kept = [item for item in items if hasattr(getattr(item, "function", None), "hypothesis")]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        self.properties = len(kept)
        for test in {id(item.function): item.function for item in kept if isinstance(item, pytest.Function)}.values():
            self.deepen(test)

    def deepen(self, test: Any) -> None:
        """Change the settings of a property, and count its examples."""
        from hypothesis import settings  # not before pytest, which prepares it

        # A test keeps the settings of its decorator, or of the profile that was loaded when it was made: a profile
        # loaded now would change nothing, and one loaded earlier nothing where a test has a decorator. So they are
        # replaced where hypothesis keeps them.
        old = test._hypothesis_internal_use_settings
        test._hypothesis_internal_use_settings = settings(
            old, max_examples=self.factor * old.max_examples, derandomize=False, database=None
        )
        test.hypothesis.inner_test = self.counted(test.hypothesis.inner_test)

    def counted(self, inner: Callable[..., None]) -> Callable[..., None]:
        """A test's body that is counted each time it runs to its end."""

        @functools.wraps(inner)
        def body(*args: Any, **kwargs: Any) -> None:
            inner(*args, **kwargs)
            self.examples += 1

        return body

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails."""
        if report.failed:
            self.failures.append(report.nodeid)


def main() -> int:
    """Run all properties, and keep how many there are, how many examples held and what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--factor", type=int, default=25, help="times as many examples (25)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="properties whose names hold this, as -k of pytest; nothing is kept")
    wanted = parser.parse_args()
    deep = Deep(wanted.factor)
    os.chdir(ROOT)
    began = time.monotonic()
    options = [
        "-q",
        "-m",
        "thorough or not thorough",
        "-pno:cacheprovider",
        "-n0",
        f"--hypothesis-seed={wanted.seed}",
        "--durations=12",
    ]
    code = pytest.main([*options, "tests", "--ignore=tests/test_fuzz.py", f"-k={wanted.only}"], plugins=[deep])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return int(code)
    if not wanted.only:
        found = {"factor": wanted.factor, "seed": wanted.seed, "properties": deep.properties}
        found |= {"examples": deep.examples, "minutes": round((time.monotonic() - began) / 60)}
        keep("deep", {**found, "failures": deep.failures})
    print(f"{deep.examples:,} examples of {deep.properties} properties held; {len(deep.failures)} properties failed")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
