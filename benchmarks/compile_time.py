"""How long the kernels take to compile from an empty cache, and to load from a full one.

Run with `.venv/bin/python benchmarks/compile_time.py`. Each figure is a fresh process that imports every module of
`passerby.kernels`, and counts its own processor time, so that other work on the machine does not matter. The cache is
a temporary folder, so that the one in use is left alone.
"""

import os
import subprocess
import sys
import tempfile

LIMIT = 30.0  # seconds that a first use may take

PROBE = """
import time
start = time.process_time()
import numba
loaded = time.process_time()
import importlib, pkgutil
import passerby.kernels as kernels
names = sorted(module.name for module in pkgutil.iter_modules(kernels.__path__))
spent = {}
for name in names:
    began = time.process_time()
    importlib.import_module(f"passerby.kernels.{name}")
    spent[name] = time.process_time() - began
print(loaded - start, sum(spent.values()), *(f"{name}={seconds:.2f}" for name, seconds in spent.items()))
"""


def probe(cache: str) -> tuple[float, float, str]:
    """Processor seconds to import numba and to import all kernels, and the latter by module."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    out = subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=True)
    numba, kernels, *modules = out.stdout.split()
    return float(numba), float(kernels), " ".join(modules)


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty cache", "full cache"):
            numba, kernels, modules = probe(cache)
            print(f"{state:>11}: kernels {kernels:6.2f} s, numba itself {numba:5.2f} s ({modules})")
            if state == "empty cache" and kernels > LIMIT:
                sys.exit(f"compiling took longer than {LIMIT:.0f} s")


if __name__ == "__main__":
    main()
