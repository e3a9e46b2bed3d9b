"""One way to time, and one way to write down what was found.

Times are processor seconds of this process, so that other work on the machine counts little, and every process that
measures is held to one thread (`ONE_THREAD`). Ours and theirs are timed in turns, after a call of each that is not
timed (it compiles, loads and warms up) and whose answers are compared first.
"""

import gc
import platform
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
Work = Callable[[], object]

RESULTS = Path(__file__).with_name("results.json")
#: Work that is shorter than this is repeated within a timing.
SHORTEST = 0.1

#: What holds every library here to one core.
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    "POLARS_MAX_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
}


class Section:
    """What one benchmark found: rows, the versions they hold for, and the peers that could not be had."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.rows: list[Row] = []
        self.missing: dict[str, str] = {}
        self.versions = {"python": platform.python_version()}
        for name in ("passerby", "numpy", "numba", "polars"):
            self.versions[name] = version(name)

    def peer(self, name: str, module: str) -> Any:
        """A module of a peer, or None: then the section says why, and the rest goes on."""
        try:
            found = import_module(module)
        except Exception as reason:  # a package may fail to load in any way it likes
            self.missing[name] = f"{type(reason).__name__}: {reason}"
            print(f"{name} is left out: {self.missing[name]}", flush=True)
            return None
        self.versions[name] = version(name)
        return found

    def compare(
        self, case: str, size: Mapping[str, int], peer: str, ours: Work, theirs: Work, *, repeats: int = 5, **more: Any
    ) -> None:
        """Time ours and theirs in turns, and add the ratio. Whoever calls has compared the answers of both."""
        self.ratio(case, size, peer, [(seconds(ours), seconds(theirs)) for _ in range(repeats)], **more)

    def ratio(
        self, case: str, size: Mapping[str, int], peer: str, pairs: Sequence[tuple[float, float]], **more: Any
    ) -> None:
        """Add how many times as long theirs takes: the ratio of the best times, and its range over the repeats."""
        best = [min(times) for times in zip(*pairs, strict=True)]
        each = [theirs / ours for ours, theirs in pairs]
        ends = {"ratio": best[1] / best[0], "lowest": min(each), "highest": max(each)}
        numbers = {name: rounded(value) for name, value in ends.items()}
        self.add(case=case, peer=peer, size=dict(size), **numbers, repeats=len(pairs), **more)

    def add(self, **row: Any) -> None:
        """Add a row, and show it."""
        self.rows.append(row)
        print("  ".join(f"{name} {shown(value)}" for name, value in row.items()), flush=True)

    def written(self) -> Row:
        """All of it, as it goes into the results."""
        return {"title": self.title, "versions": self.versions, "missing": self.missing, "rows": self.rows}


def seconds(work: Work, shortest: float = SHORTEST) -> float:
    """Processor seconds of one call, from as many calls as last long enough to be told from nothing."""
    gc.collect()
    calls = 0
    start = time.process_time()
    while True:
        work()
        calls += 1
        spent = time.process_time() - start
        if spent >= shortest:
            return spent / calls


def best_seconds(work: Work, repeats: int = 3) -> float:
    """The best of several timings, after a call that is not timed."""
    work()
    return min(seconds(work) for _ in range(repeats))


def peak_bytes(work: Work) -> int | None:
    """How much memory a call needs at most, beyond what is held already; None where the system does not tell."""
    reset, status = Path("/proc/self/clear_refs"), Path("/proc/self/status")
    if not reset.exists():
        work()
        return None
    gc.collect()
    reset.write_text("5")  # the high-water mark falls to what is held now
    before = _kilobytes(status, "VmRSS")
    work()
    return max(0, _kilobytes(status, "VmHWM") - before) * 1024


def _kilobytes(status: Path, name: str) -> int:
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(name))


def peak_of_process() -> int:
    """The most memory that this process has held."""
    status = Path("/proc/self/status")
    if status.exists():  # the other count includes what the parent held when it started this process
        return _kilobytes(status, "VmHWM") * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def pace() -> float:
    """Seconds that this core takes to multiply two 1,000 x 1,000 matrices, to read absolute times beside."""
    matrix = np.random.default_rng(0).random((1000, 1000))
    return rounded(best_seconds(lambda: matrix @ matrix))


def rounded(value: float, digits: int = 4) -> float:
    """A number to so many significant digits."""
    return float(f"{value:.{digits}g}")


def shown(value: object) -> str:
    """A value of a row for the screen."""
    if isinstance(value, Mapping):
        return ", ".join(f"{shown(count)} {name}" for name, count in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
