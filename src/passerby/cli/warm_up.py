"""Compile all kernels ahead of their first use, side by side: `python -m passerby.cli.warm_up`."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from threading import Thread

from passerby.kernels import jit

from .screen import consoles, stage

#: The modules compiled side by side, in this order. Modules that others build on come first in one process and late in
#: the other; the latter then finds them on disk.
SHARES = (
    ("chain.recursions", "renewal.sightings", "search.best_guess"),
    (
        "chain.decode",
        "chain.lumping",
        "chain.series",
        "renewal.best_guess",
        "fit",
        "chain.bounds",
        "chain.events",
        "renewal.events",
        "search.near",
    ),
)

_log = logging.getLogger("passerby")


def number_of_kernels() -> int:
    """How many kernels there are in all of the package."""
    return sum(path.read_text(encoding="utf-8").count("\n@kernel(") for path in jit.SOURCES.rglob("*.py"))


def ready() -> None:
    """Before the first measurement after an installation, compile all kernels in half of one process's time.

    If no processes can be started for it, kernels are compiled when they are loaded.
    """
    if jit.config.DISABLE_JIT or jit.complete():
        return
    _, aside = consoles()
    with suppress(OSError, subprocess.CalledProcessError), stage(aside, "Compiling the kernels, once") as progress:
        warm_up(progress)


def warm_up(progress: Callable[[int, int], None]) -> None:
    """Compile all kernels in as many processes as there are shares, and tell how many are ready."""
    made: set[str] = set()
    total = number_of_kernels()

    def follow(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() not in made:
                made.add(line.strip())
                progress(len(made), total)

    command = [sys.executable, "-m", __spec__.name]
    with ExitStack() as running:
        processes = [running.enter_context(_started([*command, *share])) for share in SHARES]
        followers = [Thread(target=follow, args=(process,)) for process in processes]
        for follower in followers:
            follower.start()
        for follower in followers:
            follower.join()
        failed = [process.args for process in processes if process.wait() != 0]
    if failed:
        raise subprocess.CalledProcessError(1, failed[0])
    jit.completed()


def _say(made: int, total: int) -> None:
    """Tell how many are ready, now and then."""
    if made == total or made % 5 == 1:
        _log.warning("compiled %d of %d kernels", made, total)


@contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process, killed at the end of its block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def compile_modules(names: list[str]) -> None:
    """Compile the kernels of some modules, unless they are on disk, and print the name of each compiled one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who interrupts is told so by the process that waits
    jit.listeners.append(lambda kernel: print(kernel, flush=True))
    for name in names:
        import_module(f"{jit.__package__}.{name}")


if __name__ == "__main__":
    if sys.argv[1:]:
        compile_modules(sys.argv[1:])
    else:
        logging.basicConfig(format="%(message)s")
        warm_up(_say)
