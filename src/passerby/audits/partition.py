"""A job in partitions: what everybody shares goes to a worker once, and a person's rows go out with their partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import ConfigError
from passerby.others.by_habits import ByHabits
from passerby.others.counted import Counted
from passerby.support.checkpoints import Checkpoints

from .job import Job
from .sample import only

#: People per partition, at most: large enough to be worth a task and a file, small enough to lose little by a fault.
PARTITION = 1000


@dataclass(frozen=True)
class Partition:
    """What of a job is about some people alone: N rows of steps, and their ids.

    Where others are known by their habits, everybody's are needed for each one: then a range of numbers stands for it.
    """

    ids: pl.Series
    fitted: NDArray[np.int32]
    actual: NDArray[np.int32]


@dataclass(frozen=True)
class Partitions(Sequence[Partition | range]):
    """The partitions of a job, each made when it is asked for: people `number * size` and on."""

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


def partitions(job: Job) -> Partitions:
    """A job in partitions of the usual size."""
    return Partitions(job, partition_size(len(job.people)))


def joined(common: Job, part: Partition | range) -> tuple[Job, range]:
    """The job of a partition, from what everybody shares and what is of its people, and their numbers in it."""
    if isinstance(part, range):
        return common, part
    others = common.others
    if isinstance(others, Counted):
        others = replace(others, actual=part.actual)
    people = replace(common.people, ids=part.ids, fitted=part.fitted, actual=part.actual)
    return replace(common, people=people, others=others), range(len(people))


def partition_size(people: int) -> int:
    """People per partition: about 32 partitions, so that few people are shared by all workers too.

    >>> partition_size(100), partition_size(2000), partition_size(1_000_000)
    (8, 62, 1000)
    """
    return min(PARTITION, max(8, people // 32))


def check_own(kept: Checkpoints) -> None:
    """Refuse to go on where another audit was interrupted, or where it cannot be told which one was."""
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
