"""Everybody on disk: visits read, sorted by person, traced and fitted in blocks, and people audited in partitions.

Nothing of the size of all people is held. Shared knowledge (steps, places, habits, counts) is added up over blocks, and
a worker holds the people of one partition.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.counts import Count
from passerby.people.common import MOST
from passerby.people.fit import Fitting, fit_blocks, tracing_for, with_common, with_rows
from passerby.people.habits import People
from passerby.people.origins import Whereabouts, spread
from passerby.support.blocks import Blocks, Team
from passerby.support.dask import check_shared
from passerby.support.files import make_folder
from passerby.visits.readers import Reading
from passerby.visits.steps import Times
from passerby.visits.store import StoredVisits, store_visits
from passerby.visits.table import Traces
from passerby.visits.trace_store import StoredTraces, store_traces, taken
from passerby.visits.windows import Tracing

from .backtest import MOST_PEOPLE, Earlier, Origins, earlier_tracings, small
from .coverage import Absence
from .engine import FITTING, READING, Tell, begin
from .everyone import Everyone, Partition, joined, partition_size
from .job import Job, check_job, some_numbers
from .settings import AuditSettings, DataSettings

#: By default everybody is kept on disk from so many rows on; and the approximate bytes of a row of text.
LARGE, BYTES = 20_000_000, 40
#: The figures of a page, and its trials, rest on at most so many people if everybody is on disk.
SHOWN = 20_000


@dataclass(frozen=True, eq=False)
class StoredWhereabouts(Whereabouts):
    """Everybody's places from step `first` to before `stop`, with people seen too seldom, in blocks on disk."""

    blocks: Blocks[Traces]
    first: int
    stop: int

    @classmethod
    def over(cls, traces: StoredTraces, holdout: int) -> StoredWhereabouts:
        """Of the last steps of stored traces."""
        nobody, steps = np.empty((0, holdout), dtype=np.uint8), traces.common.array.shape[1]
        return cls(nobody, 0, len(traces.common.places) - 1, traces.everybody, steps - holdout, steps)

    def numbers(self, counts: Sequence[Count]) -> NDArray[np.int64]:
        """How many people each count counts."""
        return np.asarray(np.sum(self.blocks.map(_numbers, (self.first, self.stop, tuple(counts))), axis=0))


def _numbers(asked: tuple[int, int, tuple[Count, ...]], traces: Traces) -> NDArray[np.int64]:
    first, stop, counts = asked
    return Whereabouts.of(traces, first, stop).numbers(counts)


@dataclass(frozen=True)
class StoredPeople:
    """People on disk: the shared knowledge of them (`common`, without anybody), and partitions in their order.

    `absence` tells of each partition how many people it has and how often they are elsewhere, and `earlier` has traces
    at earlier origins.
    """

    common: People
    partitions: Blocks[People]
    absence: tuple[Absence, ...]
    traces: StoredTraces
    earlier: Origins = field(default_factory=dict)

    @classmethod
    def of(cls, common: People, traces: StoredTraces, least: int) -> StoredPeople:
        """The people of stored traces known often enough."""
        bare = replace(common, whereabouts=None)
        small = traces.cut(partition_size(len(traces))).then(_people, (bare, least))
        return cls(common, small, tuple(small.map(_absence, None)), traces)

    def __len__(self) -> int:
        """The number of people."""
        return sum(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """How many people each partition has."""
        return [each.people for each in self.absence]

    @property
    def all_absence(self) -> Absence:
        """How often all of them are elsewhere."""
        return reduce(Absence.__add__, self.absence)

    def some(self, numbers: NDArray[np.int64]) -> People:
        """The people of these numbers, in increasing order, in memory."""
        found = self.partitions.picked(self.sizes, numbers).map(_some, None)
        fitted, actual = (np.concatenate([part[at] for part in found]) for at in (0, 1))
        return replace(self.common, fitted=fitted, actual=actual, ids=pl.concat([part[2] for part in found]))

    def work(self, job: Job, store: Path) -> Everyone:
        """A job about all of them, made without anybody; their rows are put together in the store."""
        blocks = self.partitions.then(_rows, None)
        check_job(joined(job, Partition.of(self.some(np.arange(min(1, len(self))))))[0])
        return Everyone(job, self.common, blocks, self.sizes, (job, self.traces.digests, self.sizes), store)

    def some_traces(self, count: int, seed: int) -> Traces:
        """So many traces, drawn as a backtest draws them."""
        blocks = self.traces.blocks
        return taken(blocks, self.traces.sizes(blocks), some_numbers(len(self.traces), count, seed))


def _people(how: tuple[People, int], traces: Traces) -> People:
    return with_rows(how[0], traces, how[1])


def _absence(_: None, people: People) -> Absence:
    return Absence.of(people)


def _rows(_: None, people: People) -> Partition | range:
    return Partition.of(people)


def _some(_: None, block: tuple[People, NDArray[np.int64]]) -> tuple[Any, Any, pl.Series]:
    people, rows = block
    return people.fitted[rows], people.actual[rows], people.ids.gather(rows.tolist())


def store_of(folder: Path) -> Path:
    """The store of everybody during an audit, in the folder for the results; workers may run in another one."""
    return folder.absolute() / "parts" / "store"


@contextmanager
def passing(folder: Path) -> Iterator[None]:
    """The stored files in a folder go with the work, whatever ends it: a restart reads the visits again."""
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # finished partitions may be kept beside it, and results
            folder.parent.rmdir()
            folder.parent.parent.rmdir()


def on_disk(settings: AuditSettings) -> bool:
    """Whether everybody is kept on disk: as is asked for, or for many rows."""
    if settings.store != "auto" or settings.effort == "open":
        return settings.store == "disk"
    return rows_about(reading_of(settings)) >= LARGE


def reading_of(settings: AuditSettings) -> Reading:
    """The source and the method of reading."""
    return Reading.of(settings.files, settings.only(DataSettings, "visits"))


def rows_about(reading: Reading) -> int:
    """The approximate number of rows; rows of packed text are taken to be four times as short."""
    total = 0
    for file in reading.files or []:
        with file.open("rb") as start:
            magic = start.read(4)
        if magic == b"PAR1":
            try:
                total += pl.scan_parquet(file, glob=False).select(pl.len()).collect().item()
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
                continue  # it is refused when it is read
        else:
            packed = not magic.isascii() or magic[:3] == b"BZh"
            total += file.stat().st_size * (4 if packed else 1) // BYTES
    return total


def read_everyone(
    settings: AuditSettings,
    fitting: Fitting,
    zoned: Sequence[str],
    folder: Path,
    team: Team,
    tell: Tell | None = None,
    named: Sequence[str] | None = (),
) -> tuple[StoredPeople, StoredVisits, Times]:
    """Read the visits, sort them by person, and fit habits; a folder for intermediate files begins empty.

    `zoned` places are kept beside the chosen ones. Earlier origins also keep the `named` ones, or with None all places
    kept at the latest.
    """
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder.parent, "out", private=True)
    make_folder(folder, "out", private=True)
    reading = reading_of(settings)
    files = [file.absolute() for file in reading.files or []]
    check_shared(team.executor, folder, files)
    visits = store_visits(replace(reading, files=files), folder, team, begin(tell, READING))
    begin(tell, FITTING)
    tracing = tracing_for(visits.everybody, fitting, *settings.tracing, zoned)
    traces = store_traces(visits.everybody, tracing, folder / "traces", settings.min_active)
    common = fit_blocks(traces.common, traces.blocks, fitting)
    common = replace(common, whereabouts=StoredWhereabouts.over(traces, fitting.holdout))
    times = visits.everybody.all_times
    kept = traces.common.places[:-1] if named is None else named
    earlier = _earlier(settings, visits, tracing, fitting, kept, folder) if settings.backtest else {}
    shutil.rmtree(folder / "visits")
    return replace(_everyone(common, traces, fitting.least), earlier=earlier), visits, times


def _everyone(common: People, traces: StoredTraces, least: int) -> StoredPeople:
    """The people of stored traces, with the common part of the steps to find if habits have one."""
    everyone = StoredPeople.of(common, traces, least)
    if common.habits is None or not common.habits.chosen.common:
        return everyone
    told = with_common(common, everyone.some(spread(len(everyone), MOST)))
    return StoredPeople.of(told, traces, least)


def _earlier(
    settings: AuditSettings, visits: StoredVisits, how: Tracing, fitting: Fitting, named: Sequence[str], folder: Path
) -> Origins:
    """Traces at earlier origins, as `earlier_traces` makes them; empty if steps are too few."""
    try:
        tracings = earlier_tracings(visits.everybody, how, fitting, settings.origins, settings.kept, named)
    except InputError:
        return {}  # the backtest says why
    found: dict[int, Earlier | str] = {}
    for cut, tracing in tracings.items():
        try:
            traces = store_traces(visits.everybody, tracing, folder / f"origin-{cut}", tracing.min_active)
        except InputError as reason:
            found[cut] = str(reason)
            continue
        some = taken(traces.blocks, traces.sizes(traces.blocks), some_numbers(len(traces), MOST_PEOPLE, settings.seed))
        found[cut] = Earlier(small(some), StoredWhereabouts.over(traces, fitting.holdout))
    return found
