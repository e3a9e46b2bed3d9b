"""What is seen on the screen: numbers that a stranger can read, and what a long wait is for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status


def chance(p: float) -> str:
    """A probability with two digits: as a percentage down to 0.1 %, below that as a power of ten.

    >>> [chance(p) for p in (0, 5.43e-10, 0.0264, 0.257, 0.9999, 1)]
    ['0', '5.4e-10', '2.6 %', '26 %', '> 99 %', '100 %']
    """
    if p <= 0:
        return "0"
    if p >= 1 - 1e-9:
        return "100 %"
    if p > 0.99:
        return "> 99 %"
    if p < 0.001:
        digits, power = f"{p:.1e}".split("e")
        return f"{digits}e{int(power)}"
    return f"{100 * p:.{0 if p >= 0.0995 else 1 if p >= 0.00995 else 2}f} %"


def chances(lower: float, upper: float) -> str:
    """Two probabilities between which another one lies; one number where they look the same.

    >>> chances(0.1, 0.25), chances(0.1, 0.1001)
    ('10 % to 25 %', '10 %')
    """
    low, high = chance(lower), chance(upper)
    return low if low == high else f"{low} to {high}"


class _Aside(logging.Handler):
    """Shows what the library has to say without breaking into a spinner."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        self.console.print(record.getMessage(), markup=False, highlight=False)


@contextmanager
def waiting(console: Console, what: str) -> Iterator[Status]:
    """Show that something is going on, and what the library has to say of it.

    The one thing it says by itself is that kernels are being compiled, which happens once after an installation.
    """
    logger, handler = logging.getLogger("passerby"), _Aside(console)
    logger.addHandler(handler)
    try:
        with console.status(what) as status:
            yield status
    finally:
        logger.removeHandler(handler)
