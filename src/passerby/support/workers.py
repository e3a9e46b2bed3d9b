"""Many tasks over the same data, shared by processes on this machine or by any `Executor`.

    for number, result in stream(task, data, items): ...     # as they come
    results = collect(task, data, items)                     # all of them, in the order of the items

`task(data, item)` is a function at the top of a module. Results depend on the task, the data and the item alone, so
they are the same for any number of workers. Finished parts can be kept on disk (`support.checkpoints`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import uuid4

import numpy as np

from passerby.errors import InputError, PasserbyError

from .checkpoints import Checkpoints
from .checks import MOST_WORKERS, function, shown, whole
from .processes import all_cores, interruptible, pool_of

Data = TypeVar("Data")
Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
#: How it is called.
TOLD = "progress(done, all)"

#: Parts of the work handed out for each worker: one in work, and one waiting.
AHEAD = 2
#: Seconds without a result after which the list of workers is asked for.
PULSE = 10.0
#: How many callers' data a worker holds at a time; a worker of somebody else's may serve several.
HELD = 2


def silent(done: int, everything: int) -> None:
    """Progress without a listener."""


class LostWorker(BrokenExecutor):
    """The end of the scheduler or the last worker; the text names it."""


def stream(
    task: Callable[[Data, Item], Result],
    data: Data,
    items: Sequence[Item],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    chunk: int = 1,
    sizes: Sequence[int] | None = None,
    progress: Progress | None = None,
    kept: Checkpoints | None = None,
) -> Iterator[tuple[int, Result]]:
    """Do a task for many items side by side: yields the number of each item with `task(data, item)`, as they are done.

    The work is shared by `workers` processes of its own (all cores by default; one works here, in this process). It may
    instead be shared by an `executor`, left running afterwards: threads, processes, or a cluster's. `workers` then
    gives its number of workers, if it does not tell. `data` is handed to each worker once, and at most `chunk` items at
    a time.

    Results `kept` by an earlier call come first and are not computed again. `progress(done, all)` counts
    items, or their `sizes`.

    >>> sorted(stream(pow, 2, [1, 2, 3], workers=1))
    [(0, 2), (1, 4), (2, 8)]
    """
    if not callable(task):
        raise InputError(f"task is {shown(task)}; expected a function, called as task(data, item)")
    _check_list("items", items)
    check_executor(executor)
    function(progress, "progress", TOLD)
    whole(chunk, "chunk", 1)
    if workers is not None:
        whole(workers, "workers", 1, MOST_WORKERS)
    if kept is not None and not isinstance(kept, Checkpoints):
        raise InputError(f"kept is {shown(kept)}; expected Pieces(path, mark), or None")
    weights = [1] * len(items) if sizes is None else _weights(sizes, len(items))
    return _streamed(_Work(task, data, items), weights, workers, executor, chunk, progress, kept)


def check_executor(executor: object) -> None:
    """Refuse anything but an executor."""
    if (executor is not None and not callable(getattr(executor, "submit", None))) or isinstance(executor, type):
        raise InputError(f"executor is {shown(executor)}; expected one of concurrent.futures, or None")


def _check_list(name: str, values: object) -> None:
    """Refuse values without a length and an order."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
        raise InputError(f"{name} is {shown(values)}; expected a list")


def _weights(sizes: Sequence[int], count: int) -> list[int]:
    """How much each of so many items counts."""
    _check_list("sizes", sizes)
    if len(sizes) != count:
        raise InputError(f"sizes has {len(sizes)} entries; expected one for each of the {count} items")
    return [whole(size, "sizes: each") for size in sizes]


def _streamed(
    work: _Work[Data, Item, Result],
    weights: list[int],
    workers: int | None,
    executor: Executor | None,
    chunk: int,
    progress: Progress | None,
    kept: Checkpoints | None,
) -> Iterator[tuple[int, Result]]:
    """Kept results, and then new ones."""
    items = work.items
    found = {number: result for number, result in kept.begin().items() if number < len(items)} if kept else {}
    done, everything = sum(weights[number] for number in found), sum(weights)
    left = [number for number in range(len(items)) if number not in found]
    if progress:
        progress(done, everything)
    yield from found.items()
    for number, result in _fresh(work, left, workers, executor, chunk, kept is not None):
        if kept:
            kept.add(number, result)
        done += weights[number]
        if progress:
            progress(done, everything)
        yield number, result


def collect(
    task: Callable[[Data, Item], Result],
    data: Data,
    items: Sequence[Item],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    chunk: int = 1,
    sizes: Sequence[int] | None = None,
    progress: Progress | None = None,
    kept: Checkpoints | None = None,
) -> list[Result]:
    """`task(data, item)` for each item, in order. All arguments are as for `stream`.

    >>> collect(pow, 2, [1, 2, 3], workers=1)
    [2, 4, 8]
    """
    out: dict[int, Result] = dict(
        stream(
            task,
            data,
            items,
            workers=workers,
            executor=executor,
            chunk=chunk,
            sizes=sizes,
            progress=progress,
            kept=kept,
        )
    )
    return [out[number] for number in range(len(items))]


@dataclass(frozen=True)
class _Work(Generic[Data, Item, Result]):
    """A task, the shared data of its calls, and its items."""

    task: Callable[[Data, Item], Result]
    data: Data
    items: Sequence[Item]
    name: str = field(default_factory=lambda: uuid4().hex)


def _fresh(
    work: _Work[Data, Item, Result],
    left: list[int],
    workers: int | None,
    executor: Executor | None,
    chunk: int,
    kept: bool,
) -> Iterator[tuple[int, Result]]:
    """Do the rest, here or elsewhere."""
    try:
        width = min(_width(executor, workers), max(1, len(left)))
        if executor is None and width == 1:
            yield from _alone(work, left)
            return
        size = max(1, min(chunk, len(left) // (4 * width)))
        parts = [left[at : at + size] for at in range(0, len(left), size)]
        with pool_of(executor, width) as pool:
            yield from _together(pool, work, parts, lambda: _width(pool, workers))
    except BrokenExecutor as error:
        again = "what is finished is kept: run the same again to go on" if kept else "run it again"
        if isinstance(error, LostWorker):
            raise PasserbyError(f"{error}; {again}, once it is there") from None
        raise PasserbyError(
            "a worker process ended before its time (killed, or out of memory); "
            f"{again}, with fewer workers if memory is short"
        ) from None


def _alone(work: _Work[Data, Item, Result], left: list[int]) -> Iterator[tuple[int, Result]]:
    """Do the rest in this process."""
    for number in left:
        with interruptible():
            result = work.task(work.data, work.items[number])
        yield number, result


def _width(executor: Executor | None, workers: int | None) -> int:
    """How many parts are done at a time; a cluster's workers come and go."""
    if workers is not None:
        return whole(workers, "workers", 1, MOST_WORKERS)
    return getattr(executor, "_max_workers", None) or all_cores()


def _together(
    pool: Executor, work: _Work[Data, Item, Result], parts: Iterable[list[int]], wide: Callable[[], int]
) -> Iterator[tuple[int, Result]]:
    """Hand out parts, a few at a time: waiting for all of them at once would take longer the more there are.

    The data goes along with as many parts as there are workers. A worker without it says so, and gets it.
    """
    waiting, flying, told = deque(parts), dict[Future[list[Result] | None], list[int]](), 0
    ready = set[Future[list[Result] | None]]()

    def send(part: list[int], with_data: bool) -> None:
        box = (work.data,) if with_data else None
        flying[pool.submit(_do, work.name, work.task, box, [work.items[number] for number in part])] = part

    try:
        while waiting or flying:
            width = wide() if waiting or not ready else 1
            while waiting and len(flying) < AHEAD * width:
                try:
                    send(waiting[0], told < width)
                except BrokenExecutor:
                    if not flying:
                        raise
                    break  # finished parts are taken first
                waiting.popleft()
                told += 1
            ready, _ = wait(flying, PULSE, return_when=FIRST_COMPLETED)
            # Results come before failures, so they are not lost.
            for future in sorted(ready, key=lambda future: future.exception() is not None):
                part, results = flying.pop(future), future.result()
                if results is None:
                    send(part, True)
                else:
                    yield from zip(part, results, strict=True)
    finally:
        for future in flying:
            future.cancel()
        _forget(work.name)


_adopted: dict[str, Any] = {}
_lock = Lock()


def _do(name: str, task: Callable[[Any, Any], Any], box: tuple[Any] | None, items: list[Any]) -> list[Any] | None:
    """The work of a worker: the task for some items, with the data of now or before; None without any."""
    with _lock:
        if box is not None:
            _adopted.pop(name, None)
            _adopted[name] = box[0]
            for old in [*_adopted][:-HELD]:
                del _adopted[old]
        if name not in _adopted:
            return None
        data = _adopted[name]
    return [task(data, item) for item in items]


def _forget(name: str) -> None:
    """Let go of the data held by threads of this process."""
    with _lock:
        _adopted.pop(name, None)
