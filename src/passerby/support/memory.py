"""Errors for want of memory, from Python, the system, Rust or LLVM."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator

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
