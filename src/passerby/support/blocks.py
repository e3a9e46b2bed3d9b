"""Data in blocks, one at a time in a worker: totals are added up over blocks.

Data in memory are one block, handled in this process. Data on disk are as many blocks as files, each read
by its own worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .checkpoints import Checkpoints
from .workers import Progress, stream

Block = TypeVar("Block")
Data = TypeVar("Data")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Team:
    """The workers: `workers` processes of this machine (all cores for None), or an `executor`.

    Whoever reads blocks from disk must see the same files.
    """

    workers: int | None = 1
    executor: Executor | None = None

    def __reduce__(self) -> tuple[type[Team], tuple[()]]:
        """A worker with blocks works on them alone."""
        return Team, ()


@dataclass(frozen=True)
class Slice:
    """Some rows of a file: so many from the `first` on."""

    path: Path
    first: int
    count: int

    def cut(self, size: int) -> Iterator[Slice]:
        """Smaller ones, of so many rows each.

        >>> [(each.first, each.count) for each in Slice(Path("rows"), 10, 5).cut(2)]
        [(10, 2), (12, 2), (14, 1)]
        """
        for first in range(0, self.count, size):
            yield replace(self, first=self.first + first, count=min(size, self.count - first))


@dataclass(frozen=True)
class Blocks(Generic[Block]):
    """Blocks by the input of `load`: the block itself, or its place on disk.

    >>> Blocks.here("abc").map(str.__add__, "x")
    ['xabc']
    """

    items: Sequence[Any]
    load: Callable[[Any], Block]
    team: Team = Team()

    @classmethod
    def of(cls, items: Sequence[Block], team: Team) -> Blocks[Block]:
        """Blocks sent as they are."""
        return cls(items, _itself, team)

    @classmethod
    def here(cls, block: Block) -> Blocks[Block]:
        """One block in memory."""
        return cls((block,), _itself)

    def __len__(self) -> int:
        """The number of blocks."""
        return len(self.items)

    def __iter__(self) -> Iterator[Block]:
        """One block after another, in this process."""
        return map(self.load, self.items)

    def map(
        self,
        task: Callable[[Data, Block], Result],
        data: Data,
        *,
        progress: Progress | None = None,
        sizes: Sequence[int] | None = None,
    ) -> list[Result]:
        """`task(data, block)` for all blocks, in their order."""
        found = dict(self.stream(task, data, progress=progress, sizes=sizes))
        return [found[number] for number in range(len(self.items))]

    def stream(
        self,
        task: Callable[[Data, Block], Result],
        data: Data,
        *,
        progress: Progress | None = None,
        kept: Checkpoints | None = None,
        sizes: Sequence[int] | None = None,
    ) -> Iterator[tuple[int, Result]]:
        """The same as they are done, with the number of each block; see `workers.stream`."""
        return stream(
            _loaded,
            (task, data, self.load),
            self.items,
            workers=self.team.workers,
            executor=self.team.executor,
            progress=progress,
            kept=kept,
            sizes=sizes,
        )

    def zipped(self, each: Sequence[Any]) -> Blocks[tuple[Block, Any]]:
        """The same blocks, each with something of its own."""
        items = list(zip(self.items, each, strict=True))
        return Blocks(items, _Pair(self.load), self.team)

    def picked(self, sizes: Sequence[int], numbers: NDArray[np.int64]) -> Blocks[tuple[Block, NDArray[np.int64]]]:
        """The blocks with some of these rows, each with their numbers in it; `sizes` are numbers of rows."""
        rows = split(numbers, sizes)
        wanted = [at for at, some in enumerate(rows) if len(some)]
        some = Blocks([self.items[at] for at in wanted], self.load, self.team)
        return some.zipped([rows[at] for at in wanted])

    def then(self, task: Callable[[Data, Block], Result], data: Data) -> Blocks[Result]:
        """The results of a task, one for each block as it is loaded."""
        return Blocks(self.items, _Then(self.load, task, data), self.team)


def split(numbers: NDArray[np.int64], sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Numbers of rows over all blocks, in increasing order, as numbers in each block of so many rows.

    >>> [part.tolist() for part in split(np.array([0, 3, 4]), [2, 1, 2])]
    [[0], [], [0, 1]]
    """
    ends = np.cumsum(sizes)
    parts = np.split(numbers, np.searchsorted(numbers, ends)[:-1])
    return [part - (end - size) for part, end, size in zip(parts, ends, sizes, strict=True)]


@dataclass(frozen=True)
class _Then:
    load: Callable[[Any], Any]
    task: Callable[[Any, Any], Any]
    data: Any

    def __call__(self, item: Any) -> Any:
        return self.task(self.data, self.load(item))


@dataclass(frozen=True)
class _Pair:
    load: Callable[[Any], Any]

    def __call__(self, item: tuple[Any, Any]) -> tuple[Any, Any]:
        return self.load(item[0]), item[1]


def _itself(block: Any) -> Any:
    return block


def _loaded(work: tuple[Callable[[Any, Any], Any], Any, Callable[[Any], Any]], item: Any) -> Any:
    task, data, load = work
    return task(data, load(item))
