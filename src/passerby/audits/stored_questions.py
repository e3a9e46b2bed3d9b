"""Questions about everybody on disk: the same rows as in memory, without holding the people."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from passerby.people.habits import People
from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.files import whole_or_nothing
from passerby.support.workers import Progress

from .partition import Partition
from .question_rows import Asked
from .questions import TABLE, part_rows, pieces_of
from .results import write_rows
from .stored import Everyone, all_tables, store_of


def ask_stored(asked: Asked, everyone: Everyone, folder: Path, progress: Progress | None = None) -> Path:
    """The same of people on disk, as a file; finished partitions are kept in the folder until all are done."""
    mark = fingerprint(asked, everyone.traces.digests, everyone.sizes)
    kept = Checkpoints(pieces_of(folder), mark, left=True)
    done = everyone.partitions.stream(_stored_rows, asked, sizes=everyone.sizes, progress=progress, kept=kept)
    for _ in done:
        pass  # each is on disk by now
    table = store_of(folder) / TABLE
    with whole_or_nothing(table, private=True, lasting=False) as draft:
        write_rows(pl.scan_parquet(all_tables(kept, len(everyone.partitions)), glob=False), draft)
    return table


def _stored_rows(common: Asked, people: People) -> pl.DataFrame:
    return part_rows(common, Partition(people.ids, people.fitted, people.actual))
