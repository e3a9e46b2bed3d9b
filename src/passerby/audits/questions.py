"""Questions about everybody: a row per person and question, in partitions shared by workers, in memory or on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from passerby.support.workers import Progress

from .everyone import Everyone, Partition, check_own, joined
from .question_rows import SCHEMA, Asked, rows_of
from .results import Rows

#: The name of the table in an audit's folder.
TABLE = "questions.parquet"


def ask_everyone(
    asked: Asked,
    everyone: Everyone,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    *,
    part: bool = False,
) -> Rows:
    """The rows of everybody, in the order of people and of the questions; a folder keeps finished parts.

    Finished parts of other questions there are refused. They are removed if this is a `part` of an audit with the
    folder.
    """
    kept = everyone.kept(None if folder is None else pieces_of(Path(folder)), asked.questions, asked.words)
    if not part:
        check_own(kept)
    return everyone.rows(part_rows, replace(asked, job=everyone.job), TABLE, kept, progress)


def pieces_of(folder: Path) -> Path:
    """The folder for finished partitions: in the folder of a pass of its own."""
    return Path(folder) / "parts" / "questions" / "parts"


def part_rows(common: Asked, part: Partition | range) -> pl.DataFrame:
    """The rows of some people."""
    job, people = joined(common.job, part)
    asked = replace(common, job=job)
    rows = [(job.people.ids[person], row) for person in people for row in rows_of(asked, person)]
    table = pl.DataFrame([row for _, row in rows], schema=SCHEMA)
    return table.insert_column(0, pl.Series("person", [who for who, _ in rows], dtype=job.people.ids.dtype))
