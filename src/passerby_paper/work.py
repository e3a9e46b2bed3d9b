"""Pieces of work: what an experiment asks for, done in this process or shared by several.

This is the only place that knows of processes.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import passerby as pb

Row = dict[str, Any]
#: A call that gives rows of a table; it is sent to other processes, so a `functools.partial` of a top-level function.
Piece = Callable[[], list[Row]]

#: Processes share the cores, so the matrix products inside each of them must not.
ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")


def done(pieces: Sequence[Piece], workers: int) -> Iterator[tuple[int, list[Row]]]:
    """Do all pieces, and yield the number of each with its rows, in the order in which they finish.

    Pieces are started in their order. With one worker everything is done here.
    """
    if workers <= 1 or len(pieces) <= 1:
        for i, piece in enumerate(pieces):
            yield i, piece()
        return
    with _surroundings(ALONE):
        # A key that interrupts reaches all processes; this one alone answers.
        deaf = (signal.SIGINT, signal.SIG_IGN)
        pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=signal.signal, initargs=deaf)
        try:
            waiting: dict[Future[list[Row]], int] = {pool.submit(piece): i for i, piece in enumerate(pieces)}
            while waiting:
                ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in sorted(ready, key=lambda f: waiting[f]):
                    yield waiting.pop(future), future.result()
        except BrokenProcessPool:
            raise pb.PasserbyError(
                "a worker process ended before its time (killed, or out of memory); finished experiments are kept: "
                "run the same command again to go on, with fewer workers if memory is short"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _surroundings(variables: dict[str, str]) -> Iterator[None]:
    """Environment variables that processes started within inherit."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
