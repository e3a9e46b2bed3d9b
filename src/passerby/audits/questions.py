"""Questions about everybody: a row per person and question, in partitions that workers share, in memory or on disk."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path

import polars as pl

from passerby.support.checkpoints import Checkpoints, fingerprint
from passerby.support.workers import Progress, collect

from .job import Job
from .partition import Partition, check_own, joined, partition_size, partitions
from .question_rows import SCHEMA, Asked, rows_of

#: The name of the table in an audit's folder.
TABLE = "questions.parquet"


def ask_everyone(
    asked: Asked,
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    part: bool = False,
) -> pl.DataFrame:
    """The rows of everybody, in the order of people and of the questions; a folder keeps what is finished.

    What is finished there of other questions is refused, or goes if this is a `part` of an audit that has the folder.
    """
    kept = None if folder is None else questions_of(asked, Path(folder))
    if kept and not part:
        check_own(kept)
    parts = partitions(asked.job)
    tables = collect(
        part_rows,
        _common(asked, parts.common),
        parts,
        workers=workers,
        executor=executor,
        sizes=parts.sizes,
        progress=progress,
        kept=kept,
    )
    return pl.concat(tables)


def pieces_of(folder: Path) -> Path:
    """Where finished partitions are kept: in the folder of a pass of its own."""
    return Path(folder) / "parts" / "questions" / "parts"


def questions_of(asked: Asked, folder: Path) -> Checkpoints:
    """The finished partitions of questions in a folder."""
    return Checkpoints(pieces_of(folder), fingerprint(asked, partition_size(len(asked.job.people))))


def _common(asked: Asked, job: Job) -> Asked:
    return Asked(job, asked.questions, asked.words, asked.places)


def part_rows(common: Asked, part: Partition | range) -> pl.DataFrame:
    """The rows of some people."""
    job, people = joined(common.job, part)
    asked = _common(common, job)
    rows = [(job.people.ids[person], row) for person in people for row in rows_of(asked, person)]
    table = pl.DataFrame([row for _, row in rows], schema=SCHEMA)
    return table.insert_column(0, pl.Series("person", [who for who, _ in rows], dtype=job.people.ids.dtype))
