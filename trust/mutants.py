"""Change the source in small wrong ways, one at a time, and see whether a test notices (`make mutants`).

All tests are collected once, without compilation. For each mutant the process forks: the child changes one function,
and runs the tests that reach the changed line until one fails. A child that takes much longer than the
tests should (an endless loop), or asks for too much memory, counts as noticed. Results are kept as they come, so
that a run that was stopped goes on where it was; with `--again`, mutants that were not noticed are tried once more.
Mutants that a rule calls equal to the original meet all tests as well: that is how a rule is found to be too wide.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import json
import os
import re
import resource
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

os.environ.update(NUMBA_DISABLE_JIT="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1")

import numpy as np
import pytest
from _pytest.runner import runtestprotocol

from trust.changed import Mutant, mutants
from trust.results import FILES, HOMES, KEPT, ROOT, SOURCE, load, write
from trust.rules import LEFT_OUT, reason

#: The tests that are run. What takes longer than `LONGEST` seconds without compilation is left out.
TESTS = ("tests/kernels", *(f"tests/test_{name}.py" for name in HOMES))
LONGEST = 2.0
MEMORY = 6 << 30


def in_a_child(job: Any, limit: float) -> Any:
    """Run `job` in a fork of this process and return what it returns; None if it was stopped after `limit` seconds.

    Seconds are those of the processor, so that it does not matter what else the machine does.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(null, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        allow(limit)
        try:
            answer = json.dumps(job())
        except BaseException as error:
            answer = json.dumps(f"stopped by {type(error).__name__}")
        with os.fdopen(write, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def allow(seconds: float) -> None:
    """Let this process end after so many more seconds of the processor."""
    end = int(time.process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def passes(item: pytest.Item) -> bool:
    """Run one test; False if it fails in any of its parts."""
    return not any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))


class Trial:
    """The part of a pytest session after collection: the tests are run on mutants."""

    def __init__(self, wanted: argparse.Namespace) -> None:
        self.wanted = wanted
        self.results: dict[str, dict[str, Any]] = {}
        self.known: dict[str, dict[str, Any]] = {}  # those of earlier runs
        self.drawn_in: dict[str, int] = {}  # the round in which a mutant was first tried
        self.reach: dict[str, dict[str, Any]] = {}
        self.kills: Counter[tuple[str, str, str]] = Counter()  # mutants of a function that a test noticed

    def pytest_collection(self) -> None:
        """Do not shrink a failing example: that it fails is enough. Runs before the tests are imported."""
        from hypothesis import Phase, settings  # not before pytest, which prepares it

        plain = settings.get_profile("passerby")
        settings.register_profile("mutants", parent=plain, phases=(Phase.explicit, Phase.generate), database=None)
        settings.load_profile("mutants")
        np.seterr(all="ignore")  # as compiled kernels do

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of the loop over tests."""
        gc.collect()
        gc.freeze()
        items = {item.nodeid: item for item in session.items}
        self.measure(items)
        if self.wanted.measure:
            return True
        listed = [mutant for file in self.wanted.files or FILES for mutant in mutants(SOURCE, file)]
        self.load(listed)
        todo = [mutant for mutant in listed if mutant.name not in self.results]
        if self.wanted.no_new:
            todo = [mutant for mutant in todo if mutant.name in self.drawn_in]
        if self.wanted.sample:
            todo = self.drawn(todo)
        todo.sort(key=lambda mutant: mutant.name not in self.drawn_in)  # first what is tried again
        try:
            for number, mutant in enumerate(todo, 1):
                drawn = self.drawn_in.get(mutant.name, self.wanted.round)
                self.results[mutant.name] = found = {**self.judge(mutant, items), "round": drawn}
                spent = found.get("seconds", 0)
                print(f"{number}/{len(todo)} {found['fate']:8} {spent:5.1f} s  {mutant.name}", flush=True)
                if number % 20 == 0:
                    self.save()
        finally:
            self.save()
        return True

    def drawn(self, listed: list[Mutant]) -> list[Mutant]:
        """A sample in random order, of the same share of each file."""
        rng, picked = np.random.default_rng(self.wanted.seed), []
        share = min(1.0, self.wanted.sample / max(1, len(listed)))
        for file in dict.fromkeys(mutant.file for mutant in listed):
            some = [mutant for mutant in listed if mutant.file == file]
            picked += [some[i] for i in rng.permutation(len(some))[: round(share * len(some))]]
        return [picked[i] for i in rng.permutation(len(picked))]

    def measure(self, items: dict[str, pytest.Item]) -> None:
        """For each test: seconds, and the lines it reaches. Kept for as long as neither it nor the sources change."""
        path = KEPT / "reach.json"
        known = load(path)
        for number, (name, item) in enumerate(items.items(), 1):
            digest = content(item.path)
            self.reach[name] = known.get(name, {})
            # What takes too long does so with other sources too.
            slow = "seconds" in self.reach[name] and self.reach[name]["seconds"] is None
            if self.reach[name].get("digest", "").split()[-1:] == digest.split()[-1:] and slow:
                continue
            if self.reach[name].get("digest") == digest:
                continue
            answer = in_a_child(lambda item=item: reached(item), LONGEST * 2)
            found = answer if isinstance(answer, dict) else {"seconds": None, "lines": {}}
            known[name] = self.reach[name] = {**found, "digest": digest}
            print(f"{number}/{len(items)} {found['seconds']} s  {name}", flush=True)
            if number % 20 == 0 or number == len(items):
                write(path, known)
        for name in items:
            if self.reach[name].get("passed") is False:
                print(f"left out, since it needs compiled kernels: {name}", flush=True)
                self.reach[name]["seconds"] = None

    def judge(self, mutant: Mutant, items: dict[str, pytest.Item]) -> dict[str, Any]:
        """What became of a mutant."""
        about: dict[str, Any] = {
            "file": mutant.file,
            "function": mutant.function,
            "text": mutant.text,
            "change": mutant.change,
        }
        about |= {"operator": mutant.operator, "line": mutant.line}
        why = reason(LEFT_OUT, mutant.file, mutant.function, mutant.text, mutant.change)
        if why:
            return {**about, "fate": "left out", "by": why}
        # The likeliest to notice comes first: the tests that noticed most mutants of the function, then the quickest.
        reaching = sorted(
            (-self.kills[mutant.file, mutant.function, name], found["seconds"], name)
            for name, found in self.reach.items()
            if name in items
            and found["seconds"] is not None
            and found["seconds"] <= LONGEST
            and (not mutant.function or mutant.line in found["lines"].get(mutant.file, ()))
        )
        if not reaching:
            return {**about, "fate": "survived", "by": "no test reaches it"}
        began = time.monotonic()
        answer = in_a_child(lambda: noticed(mutant, [(items[name], seconds) for _, seconds, name in reaching]), 5.0)
        if answer:
            self.kills[mutant.file, mutant.function, answer] += 1
        spent = round(time.monotonic() - began, 2)
        fate = "survived" if answer == "" else "killed" if answer else "endless"
        return {**about, "fate": fate, "by": answer or "", "seconds": spent}

    def load(self, listed: list[Mutant]) -> None:
        """Take over what is known from an earlier run, for mutants that still exist."""
        self.known = load(KEPT / "mutants.json")
        for mutant in listed:
            found = self.known.get(mutant.name)
            if found and found["fate"] != "left out":
                self.drawn_in[mutant.name] = found.get("round", 1)
            if found and not (self.wanted.again and found["fate"] in ("survived", "left out")):
                self.results[mutant.name] = {**found, "line": mutant.line}
                self.kills[mutant.file, mutant.function, found["by"]] += found["fate"] == "killed"

    def save(self) -> None:
        """Keep the results so far, and those of what is to be tried again."""
        write(KEPT / "mutants.json", {**self.known, **self.results})


@cache
def content(test: Path) -> str:
    """Two digests: of the sources, and of a file of tests with the files of tests that it imports."""
    text = test.read_text(encoding="utf-8")
    used = re.findall(r"^from tests\.([\w.]+) import", text, re.MULTILINE)
    tests = [test, *(ROOT / "tests" / f"{name.replace('.', '/')}.py" for name in used)]
    parts = (sorted(SOURCE.rglob("*.py")), tests)
    return " ".join(hashlib.sha256(b"".join(path.read_bytes() for path in part)).hexdigest()[:16] for part in parts)


def reached(item: pytest.Item) -> dict[str, Any]:
    """Run a test, and tell how long it takes and which lines of the source it reaches."""
    import coverage

    measuring = coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False)
    measuring.set_option("run:disable_warnings", ["no-data-collected"])
    measuring.start()
    began = time.process_time()
    passed = passes(item)
    seconds = time.process_time() - began
    measuring.stop()
    data = measuring.get_data()
    lines = {
        Path(path).relative_to(SOURCE).as_posix(): sorted(data.lines(path) or ()) for path in data.measured_files()
    }
    return {
        "seconds": round(seconds, 3),
        "passed": passed,
        "lines": {file: lines[file] for file in lines if file in FILES},
    }


def noticed(mutant: Mutant, items: list[tuple[pytest.Item, float]]) -> str:
    """The first test that fails with a mutant in place, or an empty text. Each may take several times its seconds."""
    name = mutant.file.removesuffix(".py").replace("/", ".")
    mutant.apply(importlib.import_module(f"passerby.{name}"))
    for item, seconds in items:
        allow(3.0 + 5.0 * seconds)
        if not passes(item):
            return item.nodeid
    return ""


def main() -> int:
    """Judge all mutants, or some files' (`--files`), or a sample of what is left to do (`--sample`)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", nargs="*", default=[], choices=FILES, metavar="FILE")
    parser.add_argument("--sample", type=int, default=0, help="how many of those left to do (all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--round",
        type=int,
        default=1,
        help="2 for a sample that is counted before any test is written for it, 3 for all of some files (1)",
    )
    parser.add_argument("--again", action="store_true", help="try those again that survived or were left out")
    parser.add_argument("--no-new", action="store_true", help="only what was tried before: with --again, what survived")
    parser.add_argument("--measure", action="store_true", help="only measure which lines each test reaches")
    trial = Trial(parser.parse_args())
    os.chdir(ROOT)
    os.nice(10)
    options = ["-q", "--capture=no", "-pno:cacheprovider", "-pno:xdist", "-oaddopts=--import-mode=importlib"]
    return int(pytest.main([*options, *TESTS], plugins=[trial]))


if __name__ == "__main__":
    sys.exit(main())
