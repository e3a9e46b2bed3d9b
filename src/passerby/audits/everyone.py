"""All measured people, in blocks: a job shared by all blocks, and the people of each in memory or on disk.

Shared data go to a worker once, and a person's rows go out with their block. People on disk are loaded by the measuring
worker, so nothing of the size of all people is held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import ConfigError, PasserbyError
from passerby.others.by_habits import ByHabits
from passerby.others.counted import Counted
from passerby.people.habits import People
from passerby.support.blocks import Blocks, Team
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.files import whole_or_nothing
from passerby.support.workers import Progress

from .job import Job, check_job, only
from .results import Rows, write_rows

#: People per partition, at most: large enough to be worth a task and a file, small enough to lose little by a fault.
PARTITION = 1000


@dataclass(frozen=True)
class Partition:
    """A job's part about some people alone: N rows of steps, and their ids.

    If others are known by their habits, each person needs everybody's: then a range of numbers stands for the part.
    """

    ids: pl.Series
    fitted: NDArray[np.int32]
    actual: NDArray[np.int32]

    @classmethod
    def of(cls, people: People) -> Partition:
        """The rows of some people."""
        return cls(people.ids, people.fitted, people.actual)


@dataclass(frozen=True)
class Partitions(Sequence[Partition | range]):
    """The partitions of a job in memory, each made when it is asked for: people `number * size` and on."""

    job: Job
    size: int

    def __len__(self) -> int:
        """The number of partitions."""
        return -(-len(self.job.people) // self.size)

    @overload
    def __getitem__(self, number: int) -> Partition | range: ...
    @overload
    def __getitem__(self, number: slice) -> list[Partition | range]: ...
    def __getitem__(self, number: int | slice) -> Partition | range | list[Partition | range]:
        """One partition, or several."""
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        people, some, others = self.job.people, self.range(number), self.job.others
        if isinstance(others, ByHabits):
            return some
        cut = np.s_[some.start : some.stop]
        return Partition(people.ids[cut], people.fitted[cut], people.actual[cut])

    def range(self, number: int) -> range:
        """The numbers of the people of a partition."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        return range(number * self.size, min((number + 1) * self.size, len(self.job.people)))

    @property
    def sizes(self) -> list[int]:
        """How many people each partition holds."""
        return [len(self.range(number)) for number in range(len(self))]

    @property
    def common(self) -> Job:
        """The job without its people, unless everybody is needed for each one."""
        others = self.job.others
        if isinstance(others, ByHabits):
            return self.job
        nobody = np.empty(0, dtype=np.int64)
        return replace(
            self.job,
            # Everybody was counted when the job was made.
            people=replace(only(self.job.people, nobody), whereabouts=None),
            others=None if others is None else replace(others, actual=others.actual[:0]),
        )


@dataclass(frozen=True, eq=False)
class Everyone:
    """A job in blocks: `job` is shared by all, and `people` holds the knowledge of everybody, maybe on disk.

    `mark` tells this work from others. Rows of people on disk are put together in the folder `store`.
    """

    job: Job
    people: People
    blocks: Blocks[Partition | range]
    sizes: Sequence[int]
    mark: Any
    store: Path | None = None

    @classmethod
    def here(cls, job: Job, team: Team = Team()) -> Everyone:  # noqa: B008
        """The people of a job in memory, if they fit it."""
        check_job(job)
        parts = Partitions(job, partition_size(len(job.people)))
        return cls(parts.common, job.people, Blocks.of(parts, team), parts.sizes, (job, parts.size))

    def __len__(self) -> int:
        """The number of people."""
        return sum(self.sizes)

    def kept(self, folder: str | Path | None, *more: object) -> Checkpoints | None:
        """The store for finished partitions of this work and `more` inputs; None without a folder."""
        if folder is None:
            return None
        return Checkpoints(Path(folder), fingerprint(self.mark, *more), left=self.store is not None)

    def rows(
        self,
        task: Callable[[Any, Any], pl.DataFrame],
        shared: Any,
        name: str,
        kept: Checkpoints | None,
        progress: Progress | None = None,
    ) -> Rows:
        """A task's rows from each block, in the order of people; a file of this `name` in the store."""
        done = self.blocks.stream(task, shared, sizes=self.sizes, progress=progress, kept=kept)
        if self.store is None or kept is None:
            found = dict(done)
            return Rows.here(pl.concat([found[number] for number in range(len(self.blocks))]))
        for _ in done:
            pass  # each is on disk by now
        file = self.store / name
        with whole_or_nothing(file, private=True, lasting=False) as draft:
            write_rows(pl.scan_parquet(all_tables(kept, len(self.blocks)), glob=False), draft)
        return Rows.of(file, self.blocks.team)


def joined(common: Job, part: Partition | range) -> tuple[Job, range]:
    """The job of a partition, from the shared part and its people's part, and their numbers in it."""
    if isinstance(part, range):
        return common, part
    others = common.others
    if isinstance(others, Counted):
        others = replace(others, actual=part.actual)
    people = replace(common.people, ids=part.ids, fitted=part.fitted, actual=part.actual)
    return replace(common, people=people, others=others), range(len(people))


def partition_size(people: int) -> int:
    """People per partition: about 32 partitions, so even few people are shared by all workers.

    >>> partition_size(100), partition_size(2000), partition_size(1_000_000)
    (8, 62, 1000)
    """
    return min(PARTITION, max(8, people // 32))


def all_tables(kept: Checkpoints, count: int) -> list[Path]:
    """The files of all partitions in their order; refused if one of them changed since it was written."""
    files = kept.whole()
    lost = sum(number not in files for number in range(count))
    if lost:
        raise PasserbyError(
            f"{kept.path}: {lost:,} of {count:,} finished partitions were removed or changed by something else while "
            "the audit was at work, and no table is written without their people; the same audit, started again, "
            "measures them again and keeps the others"
        )
    return [files[number] for number in range(count)]


def check_own(kept: Checkpoints | None) -> None:
    """Refuse a folder with another interrupted audit, or with an unknown one."""
    if kept is None:
        return
    if kept.damaged():
        raise ConfigError(
            f"{kept.path / 'mark.json'} is damaged, so that it cannot be told whose unfinished audit lies beside it; "
            f"remove {kept.path} to start afresh, or choose another folder"
        )
    if kept.foreign():
        raise ConfigError(
            f"{kept.path} holds an unfinished audit of other people or with other settings; "
            "choose another folder, or remove it to start afresh"
        )


@dataclass(frozen=True, eq=False)
class Everybody:
    """All people in blocks, the numbers of each, and what is known of all of them (`common`)."""

    blocks: Blocks[People]
    sizes: tuple[int, ...]
    common: People

    @classmethod
    def here(cls, people: People, team: Team) -> Everybody:
        """People in memory."""
        size = partition_size(len(people))
        cuts = [range(at, min(at + size, len(people))) for at in range(0, len(people), size)]
        parts = [_part(people, np.arange(cut.start, cut.stop)) for cut in cuts]
        return cls(Blocks.of(parts, team), tuple(map(len, cuts)), people)

    def some(self, numbers: NDArray[np.int64]) -> People:
        """The people of these numbers, in increasing order."""
        if not len(numbers):
            return _part(self.common, numbers) if len(self.common) else self.common
        found = self.blocks.picked(self.sizes, numbers).map(_picked, None)
        fitted, actual = (np.concatenate([part[at] for part in found]) for at in (0, 1))
        return replace(self.common, fitted=fitted, actual=actual, ids=pl.concat([part[2] for part in found]))


def _part(people: People, numbers: NDArray[np.int64]) -> People:
    ids = people.ids.gather(numbers.tolist())
    return replace(people, fitted=people.fitted[numbers], actual=people.actual[numbers], ids=ids, whereabouts=None)


def _picked(_: None, block: tuple[People, NDArray[np.int64]]) -> tuple[Any, Any, pl.Series]:
    people, rows = block
    return people.fitted[rows], people.actual[rows], people.ids.gather(rows.tolist())
