"""Which lines of the package no test runs (`make coverage`).

Two runs are put together: all tests, which do not show what happens inside of compiled kernels, and those that are
quick without compilation (see `trust/quick.py`), which do. Every stretch of lines that is left must have a reason, or a
test.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from trust.page import keep
from trust.results import KEPT, ROOT, SOURCE

#: Lines that no test can run: file, text of the line, reason.
UNRUN = (
    (
        "kernels/chain/decode.py",
        "return 0",
        "for the compiler, which wants a value at the end: one of the values is always the largest",
    ),
)
#: The tests that show the lines of kernels, without compilation.
PLAIN = ("tests/kernels", "tests/outcomes", "tests/measurement", "tests/questions/trace", "tests/model")

SETTINGS = """
[run]
source = passerby
parallel = true
concurrency = multiprocessing, thread
patch = subprocess
sigterm = true
[report]
exclude_also =
    if TYPE_CHECKING:
    raise NotImplementedError
    @abstractmethod
"""


def run(folder: Path, *options: str, **environment: str) -> bool:
    """Run tests, and leave data on the lines that they run in a folder; whether all pass."""
    settings = folder / "coveragerc"
    settings.write_text(SETTINGS)
    environment |= {"COVERAGE_FILE": str(folder / "data"), "COVERAGE_PROCESS_START": str(settings)}
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q", "-n0", *options]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode == 0


def run_all(folder: Path) -> dict[str, tuple[set[int], set[int]]]:
    """Run all tests; for each file of the package, the lines with statements and those that were not run."""
    from coverage import Coverage

    shutil.rmtree(folder, ignore_errors=True)  # what an earlier run left
    folder.mkdir(parents=True)
    # Tests that take too long without compilation are stopped, so some fail here: they are run again below.
    run(folder, "-ptrust.quick", *PLAIN, NUMBA_DISABLE_JIT="1", PASSERBY_QUICK=str(folder / "quick.json"))
    if not run(folder, "--ignore=tests/test_trust.py"):  # it asks for the results of this run
        raise SystemExit("some tests fail; coverage is told once they pass")
    wait_for_quiet(folder)
    measured = Coverage(data_file=str(folder / "data"), config_file=str(folder / "coveragerc"))
    measured.combine([str(folder)])
    out = {}
    for path in sorted(SOURCE.rglob("*.py")):
        _, statements, _, missing, _ = measured.analysis2(str(path))
        out[path.relative_to(SOURCE).as_posix()] = set(statements), set(missing)
    return out


def wait_for_quiet(folder: Path, seconds: float = 3.0) -> None:
    """Wait until nobody writes into a folder: processes that tests began may end a little after them."""
    before = None
    while (now := sorted((path.name, path.stat().st_mtime) for path in folder.iterdir())) != before:
        before = now
        time.sleep(seconds)


def stretches(path: Path, missing: set[int]) -> Iterator[tuple[int, int, str]]:
    """Runs of missing lines as (first, last, text of the first); a statement over several lines counts as one."""
    ends = {
        node.lineno: node.end_lineno or node.lineno
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.stmt)
    }
    text = path.read_text(encoding="utf-8").splitlines()
    begin = last = 0
    for line in sorted(missing):
        if begin and line > last + 1:
            yield begin, last, text[begin - 1].strip()
            begin = 0
        begin = begin or line
        simple = ends.get(line, line) if not text[line - 1].rstrip().endswith(":") else line
        last = max(last, simple) if begin != line else simple
    if begin:
        yield begin, last, text[begin - 1].strip()


def why_not(file: str, text: str) -> str:
    """Why no test runs a line, or an empty text."""
    return next((why for where, what, why in UNRUN if where == file and what == text), "")


def main() -> int:
    """Tell which lines are left, and why."""
    parts: dict[str, list[int]] = {}
    left = []
    for file, (statements, missing) in run_all(KEPT / "coverage").items():
        count = parts.setdefault(file.partition("/")[0], [0, 0])
        count[0] += len(statements)
        count[1] += len(missing)
        for first, last, text in stretches(SOURCE / file, missing):
            where = f"{file}:{first}" + (f"-{last}" if last > first else "")
            left.append((f"`{where}`", f"`{text}`", why_not(file, text)))
    keep("coverage", {"parts": parts, "missing": left})
    for row in left:
        print(*row, sep="  ")
    unexplained = [row for row in left if not row[2]]
    print(f"stretches of lines that are not run: {len(left)}, {len(unexplained)} of them without a reason")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
