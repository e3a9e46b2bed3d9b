"""Many small tasks over the same data, shared by all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

from .errors import PasserbyError

Data = TypeVar("Data")
Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]

_data: Any = None


def shared(
    task: Callable[[Data, Item], Result],
    data: Data,
    items: Sequence[Item],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """`task(data, item)` for each item, in order; `data` is handed to each worker once.

    >>> shared(pow, 2, [1, 2, 3], workers=1)
    [2, 4, 8]
    """
    count = min(workers or os.cpu_count() or 1, max(1, len(items)))
    out: list[Result] = []
    if progress:
        progress(0, len(items))
    for result in _alone(task, data, items) if count == 1 else _together(task, data, items, count):
        out.append(result)
        if progress:
            progress(len(out), len(items))
    return out


def _alone(task: Callable[[Data, Item], Result], data: Data, items: Sequence[Item]) -> Iterator[Result]:
    for item in items:
        yield task(data, item)


def _together(
    task: Callable[[Data, Item], Result], data: Data, items: Sequence[Item], workers: int
) -> Iterator[Result]:
    chunk = max(1, min(16, len(items) // (4 * workers)))
    with one_thread_each():
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_adopt, initargs=(data,))
        try:
            yield from pool.map(_Task(task), items, chunksize=chunk)
        except BrokenProcessPool:
            raise PasserbyError(
                "a worker process ended before its time (killed, or out of memory); run it again with fewer workers"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _Task:
    """A task bound to the data that its worker has adopted."""

    def __init__(self, task: Callable[[Any, Any], Any]) -> None:
        self.task = task

    def __call__(self, item: Any) -> Any:
        return self.task(_data, item)


def _adopt(data: Any) -> None:
    global _data
    _data = data


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
