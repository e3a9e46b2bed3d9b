"""Interruptions that come while a kernel runs.

Python hears of them when the compiled function hands back its result, and takes what is raised for a fault of that
function: a SystemError, with the interruption among its causes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this, an interruption is one also where a kernel was at work."""
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__
        if cause is None:
            raise
        raise cause from None
