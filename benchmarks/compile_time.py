"""How long the kernels take to compile from an empty cache, and to load from a full one.

Each figure is a fresh process that imports every module of `passerby.kernels`. The cache is a temporary folder, so
that the one in use is left alone. The import of numba itself is given beside. `make` compiles in two processes side by
side, which is told by the clock.
"""

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.record import Section, pace, rounded

#: Seconds that a first use may take.
TARGET = 30.0
QUICK = ("passerby.kernels.chain.series",)

PROBE = """
import time
start = time.process_time()
import numba
loaded = time.process_time()
import importlib, pkgutil, sys
import passerby.kernels as kernels
names = sys.argv[1:] or sorted(module.name for module in pkgutil.walk_packages(kernels.__path__, "passerby.kernels."))
for name in names:
    importlib.import_module(name)
print(loaded - start, time.process_time() - loaded)
"""


def probe(cache: str, *names: str) -> tuple[float, float]:
    """Processor seconds to import numba, and to import the kernels of these names; all if none is given."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    out = subprocess.run(
        [sys.executable, "-c", PROBE, *names], env=environment, capture_output=True, text=True, check=True
    )
    numba, kernels = map(float, out.stdout.split())
    return numba, kernels


def side_by_side(quick: bool) -> float:
    """Seconds by the clock until two processes have compiled all kernels; if quick, until they have found them."""
    with tempfile.TemporaryDirectory() as cache:
        start = time.perf_counter()
        command = [sys.executable, "-m", "passerby.cli.warm_up"]
        environment = dict(os.environ) if quick else {**os.environ, "NUMBA_CACHE_DIR": cache}
        subprocess.run(command, env=environment, capture_output=True, check=True)
        return time.perf_counter() - start


def run(quick: bool = False) -> Section:
    section = Section("compiling")
    with tempfile.TemporaryDirectory() as cache:
        for state in ("from nothing", "from the cache"):
            numba, kernels = probe(cache, *(QUICK if quick else ()))
            more = {"target": TARGET, "clock": rounded(side_by_side(quick))} if state == "from nothing" else {}
            section.add(case=state, seconds=rounded(kernels), importing_numba=rounded(numba), pace=pace(), **more)
    return section
