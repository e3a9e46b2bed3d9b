"""Pieces of work: what an experiment asks for, done in this process or by a pool of others."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from passerby.errors import PasserbyError
from passerby.support.workers import one_thread_each

Row = dict[str, Any]


@dataclass(frozen=True)
class Piece:
    """A call that gives rows of a table: a function at the top of a module, and arguments that can be sent."""

    function: Callable[..., list[Row]]
    arguments: dict[str, Any] = field(default_factory=dict)

    def do(self) -> list[Row]:
        """The rows."""
        return self.function(**self.arguments)


def done(work: Sequence[tuple[str, Piece]], workers: int) -> Iterator[tuple[int, list[Row]]]:
    """Do all pieces, and yield the number of each with its rows, in the order in which they finish.

    Pieces are started in their order. With one worker everything is done here.
    """
    if workers <= 1 or len(work) <= 1:
        for i, (_, piece) in enumerate(work):
            yield i, piece.do()
        return
    with one_thread_each():
        # A key that interrupts reaches all processes; this one alone answers.
        deaf = (signal.SIGINT, signal.SIG_IGN)
        pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=signal.signal, initargs=deaf)
        try:
            waiting: dict[Future[list[Row]], int] = {pool.submit(piece.do): i for i, (_, piece) in enumerate(work)}
            while waiting:
                ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in sorted(ready, key=lambda f: waiting[f]):
                    yield waiting.pop(future), future.result()
        except BrokenProcessPool:
            raise PasserbyError(
                "a worker process ended before its time (killed, or out of memory); finished experiments are kept: "
                "run the same command again to go on, with fewer workers if memory is short"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
