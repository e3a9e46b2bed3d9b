"""What is seen on the screen while something takes long."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status


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


class Interrupted(KeyboardInterrupt):
    """The user stopped the work; the message says how to go on."""


@contextmanager
def stage(console: Console, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a stage of the work: what it is, how much of it is done, the rate and the time left.

    Yields `progress(done, all)`. Off a terminal, a line is written for each stage that took more than two seconds.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    started = time.perf_counter()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    logger, handler = logging.getLogger("passerby"), _Aside(console)
    logger.addHandler(handler)
    count = [0]
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
            bar = bars.add_task(what, total=None, rate="")
            first: list[tuple[float, int]] = []

            def progress(done: int, everything: int) -> None:
                now = time.perf_counter()
                first.append((now, done)) if not first else None
                count[0] = everything
                spent, made = now - first[0][0], done - first[0][1]
                rate = f"{done:,} of {everything:,}" + (f", {rate_of(made, spent)}" if made and spent > 0 else "")
                bars.update(bar, completed=done, total=everything, rate=rate)

            yield progress
    finally:
        logger.removeHandler(handler)
    spent = time.perf_counter() - started
    if spent > 2:
        size = f" ({count[0]:,}, {rate_of(count[0], spent)})" if count[0] else ""
        console.print(f"{what}: {spent:.0f} s{size}", markup=False, highlight=False)


def rate_of(done: int, seconds: float) -> str:
    """How fast something goes.

    >>> rate_of(500, 2), rate_of(1, 4)
    ('250 per second', '0.25 per second')
    """
    rate = done / seconds
    return f"{rate:,.0f} per second" if rate >= 10 else f"{rate:.2g} per second"
