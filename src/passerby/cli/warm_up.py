"""Compile all kernels ahead of their first use, side by side: `python -m passerby.cli.warm_up`."""

import logging
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import Thread

from passerby.kernels import jit

#: What is compiled side by side, in this order. What others build on comes first in one process and late in the other,
#: which then finds it on disk.
SHARES = (
    ("chain", "renewal", "best_guess", "score", "joint_maxima"),
    ("decode", "decode_lanes", "bisection", "lumping", "quantisation", "enumeration", "renewal_guess", "entropy"),
)

_log = logging.getLogger("passerby")


def number_of_kernels() -> int:
    """How many kernels there are in all of the package."""
    return sum(path.read_text(encoding="utf-8").count("\n@kernel(") for path in Path(jit.__file__).parent.glob("*.py"))


def warm_up() -> None:
    """Compile all kernels in as many processes as there are shares, and count them as they get ready."""
    ready: set[str] = set()
    total = number_of_kernels()

    def follow(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() not in ready:
                ready.add(line.strip())
                if len(ready) == total or len(ready) % 5 == 1:
                    _log.warning("compiled %d of %d kernels", len(ready), total)

    command = [sys.executable, "-m", __spec__.name]
    processes = [subprocess.Popen([*command, *share], stdout=subprocess.PIPE, text=True) for share in SHARES]
    followers = [Thread(target=follow, args=(process,)) for process in processes]
    for follower in followers:
        follower.start()
    for follower in followers:
        follower.join()
    failed = [process.args for process in processes if process.wait() != 0]
    if failed:
        raise subprocess.CalledProcessError(1, failed[0])


def compile_modules(names: list[str]) -> None:
    """Compile the kernels of some modules, unless they are on disk, and print the name of each that was not."""
    jit.listeners.append(lambda kernel: print(kernel, flush=True))
    for name in names:
        import_module(f"{jit.__package__}.{name}")


if __name__ == "__main__":
    if sys.argv[1:]:
        compile_modules(sys.argv[1:])
    else:
        logging.basicConfig(format="%(message)s")
        warm_up()
