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
    """The user stopped the work; the message says where it was, and how to go on."""


@contextmanager
def stage(console: Console, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a stage of the work: what it is, how much of it is done, the rate and the time left.

    Yields `progress(done, all)`. Off a terminal, a line is written for each stage that took more than two seconds.
    An interruption says which stage it hit.
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
    pace = Pace()
    logger, handler = logging.getLogger("passerby"), _Aside(console)
    logger.addHandler(handler)
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
            bar = bars.add_task(what, total=None, rate="")

            def progress(done: int, everything: int) -> None:
                pace.note(done, everything)
                bars.update(bar, completed=done, total=everything, rate=str(pace))

            yield progress
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted while {what[0].lower()}{what[1:]}{pace.reached}") from None
    finally:
        logger.removeHandler(handler)
    spent = time.perf_counter() - started
    if spent > 2:
        size = f" ({pace.everything:,}, {rate_of(pace.everything, spent)})" if pace.everything else ""
        console.print(f"{what}: {spent:.0f} s{size}", markup=False, highlight=False)


class Pace:
    """How far a stage is, and how fast it goes since it was first heard of.

    >>> pace = Pace()
    >>> pace.note(3, 8)
    >>> str(pace), pace.reached
    ('3 of 8', ' (3 of 8)')
    """

    def __init__(self) -> None:
        self.done, self.everything = 0, 0
        self.first: tuple[float, int] | None = None

    def note(self, done: int, everything: int) -> None:
        """Take down how much is done."""
        self.done, self.everything = done, everything
        self.first = self.first or (time.perf_counter(), done)

    def __str__(self) -> str:
        began, before = self.first or (0.0, 0)
        spent, made = time.perf_counter() - began, self.done - before
        rate = f", {rate_of(made, spent)}" if made and spent > 0 else ""
        return f"{self.done:,} of {self.everything:,}{rate}"

    @property
    def reached(self) -> str:
        """How far it came, in brackets; nothing where that is not known."""
        return f" ({self.done:,} of {self.everything:,})" if self.everything else ""


def rate_of(done: int, seconds: float) -> str:
    """How fast something goes.

    >>> rate_of(500, 2), rate_of(1, 4)
    ('250 per second', '0.25 per second')
    """
    rate = done / seconds
    return f"{rate:,.0f} per second" if rate >= 10 else f"{rate:.2g} per second"
