"""Processes sharing work, and interruptions.

Processes begin afresh, leave signals to their parent process, and end with it. Python hears of an interruption only
after a compiled function hands back its result. It takes it for a fault of this function: a SystemError, with the
interruption among its causes.

Errors for want of memory, from Python, the system, Rust or LLVM.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import current_process, get_context, parent_process
from threading import Thread

from passerby.errors import PasserbyError

#: The interrupting key, and the ending signal of systems: both may reach all processes at once.
SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: The exit code of a worker about to start workers of its own while still importing the main script.
UNGUARDED = 97


@contextmanager
def pool_of(executor: Executor | None, workers: int) -> Iterator[Executor]:
    """The given executor, or processes, ended with the work."""
    if executor is not None:
        yield executor
        return
    check_may_start()
    with one_thread_each():
        pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_serve)
        try:
            yield pool
        except BaseException as error:
            # Nobody takes their results; from Python 3.14 on this is `kill_workers`.
            processes = [*(getattr(pool, "_processes", None) or {}).values()]
            for process in processes:
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)  # only then it is known how each of them ended
            if isinstance(error, BrokenExecutor) and any(process.exitcode == UNGUARDED for process in processes):
                raise PasserbyError(
                    "workers import the script that starts them, and it starts the same work again; put what it does "
                    "under a line `if __name__ == '__main__':`, or work in this process alone, with workers=1"
                ) from None
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def all_cores() -> int:
    """The default number of workers: one for each core open to this process.

    A daemon works by itself, since it may not start others.
    """
    if current_process().daemon:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_may_start() -> None:
    """Refuse to start processes in a daemon or an unguarded script."""
    process = current_process()
    if getattr(process, "_inheriting", False):
        # A worker importing the main script finds that it does the same work again. Its parent says so.
        os._exit(UNGUARDED)
    if process.daemon:
        raise PasserbyError(
            "this is a daemon process, such as a worker of a pool or of dask, which may not start processes of its "
            "own; work in this process alone, with workers=1"
        )


def leave_signals() -> None:
    """Leave signals to the parent process: they reach both, and the parent alone answers."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _serve() -> None:
    """First steps of a worker: leave signals to its parent, and end with the parent, in any case."""
    leave_signals()
    Thread(target=_end_with_parent, name="parent", daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers: they would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Workers share the cores, so the matrix products inside each of them must not."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this, an interruption of a kernel is raised as an interruption."""
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__
        if cause is None:
            raise
        raise cause from None


#: Messages about memory from parts without an error of their own for it: the system's loader, threads, Rust and LLVM.
SIGNS = (
    "Cannot allocate memory",
    "ThreadPoolBuildError",
    "Unable to allocate",
    "can't start new thread",
    "cannot allocate memory",
    "failed to map segment",
    "memory allocation of",
    "out of memory",
    "Out of memory",
)


def is_about_memory(error: BaseException) -> bool:
    """Whether it, or an error behind it, is for want of memory.

    >>> is_about_memory(MemoryError()), is_about_memory(RuntimeError("can't start new thread"))
    (True, True)
    >>> is_about_memory(ValueError("memory"))
    False
    """
    return any(_says(each) for each in _chain(error))


def raise_about_memory(error: BaseException) -> None:
    """Raise `MemoryError` for an error about memory: an unread file is then not damaged."""
    if is_about_memory(error):
        raise MemoryError(str(error)) from error


def limit() -> str:
    """The limit on this process's memory in words; nothing without a limit."""
    try:
        import resource
    except ImportError:
        return ""
    most = min(value for value in map(_soft, (resource.RLIMIT_AS, resource.RLIMIT_DATA)))
    return "" if most == sys.maxsize else f" (it may have {most / 1e6:,.0f} MB: `ulimit -v`)"


def _soft(kind: int) -> int:
    import resource

    value = resource.getrlimit(kind)[0]
    return sys.maxsize if value == resource.RLIM_INFINITY else value


def _says(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    told = isinstance(error, OSError | RuntimeError | ImportError) or type(error).__module__.startswith(
        ("polars", "pyo3", "llvmlite", "numba")
    )
    return told and any(sign in str(error) for sign in SIGNS)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and the errors behind it."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
