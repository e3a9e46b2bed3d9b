"""Many small tasks over the same data, shared by all cores."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from passerby.errors import PasserbyError

from .files import whole_or_nothing

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
    kept: Kept | None = None,
) -> list[Result]:
    """`task(data, item)` for each item, in order; `data` is handed to each worker once.

    Results that were `kept` by an earlier call are not worked out again.

    >>> shared(pow, 2, [1, 2, 3], workers=1)
    [2, 4, 8]
    """
    out: list[Result] = kept.begin() if kept else []
    left = items[len(out) :]
    count = min(workers or os.cpu_count() or 1, max(1, len(left)))
    if progress:
        progress(len(out), len(items))
    for result in _alone(task, data, left) if count == 1 else _together(task, data, left, count):
        out.append(result)
        if kept:
            kept.add(result)
        if progress:
            progress(len(out), len(items))
    return out


@dataclass(frozen=True)
class Kept:
    """A file of finished results, a line each, so that an interrupted call goes on where it was.

    Results are lists of numbers and texts. `mark` tells what they depend on: a file with another mark is begun anew.
    """

    file: Path
    mark: str

    def begin(self) -> list[Any]:
        """What the file holds; it then holds whole lines only, and can be added to."""
        try:
            first, *lines = self.file.read_text(encoding="utf-8").split("\n")[:-1]
        except (OSError, ValueError):
            first, lines = "", []
        if first != self.mark:
            lines = []
        with whole_or_nothing(self.file) as draft:
            draft.write_text("".join(f"{line}\n" for line in (self.mark, *lines)), encoding="utf-8")
        return [json.loads(line) for line in lines]

    def add(self, result: Any) -> None:
        """Write one more result."""
        try:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        except OSError as error:
            raise PasserbyError(
                f"{self.file} could not be written: {error.strerror}; earlier results are kept"
            ) from error


def mark_of(*parts: object) -> str:
    """A digest of all that results depend on, from what these parts look like.

    >>> mark_of(1, "a") == mark_of(1, "a") != mark_of(1, "b")
    True
    """
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


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
