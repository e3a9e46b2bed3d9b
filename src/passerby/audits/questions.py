"""Questions about everybody: a row per person and question, in partitions that workers share, in memory or on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from passerby.errors import UnsupportedRelease
from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.others.crowd import Crowd
from passerby.questions.in_data import InData
from passerby.support.blocks import Team
from passerby.support.workers import Progress, collect

from .everyone import Everyone, Partition, check_own, joined
from .job import Job
from .presence import MOST_PEOPLE, Everybody
from .question_rows import SCHEMA, Asked, rows_of
from .question_words import Named
from .results import Rows
from .sample import some_people
from .settings import Measurement

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
    """The rows of everybody, in the order of people and of the questions; a folder keeps what is finished.

    What is finished there of other questions is refused, or goes if this is a `part` of an audit that has the folder.
    """
    kept = everyone.kept(None if folder is None else pieces_of(Path(folder)), asked.questions, asked.words)
    if not part:
        check_own(kept)
    return everyone.rows(part_rows, replace(asked, job=everyone.job), TABLE, kept, progress)


def counted_by_habits(
    everybody: Everybody, release: Release, how: Measurement, named: Named, sample: int, team: Team
) -> tuple[Asked, pl.DataFrame] | str:
    """Whether some people are counted at all, to somebody who knows the others by their habits only: asked, and rows.

    A reason in words where that is not tried.
    """
    total = sum(everybody.sizes)
    if total > MOST_PEOPLE:
        return f"the habits of {total:,} people are too many: {MOST_PEOPLE:,} at most"
    try:
        crowd = release.with_others(Crowd())
        people = everybody.some(np.arange(total))
        asked = Asked.of(Job(people, crowd, how, others=everyone_else(people, crowd)), [InData()], named)
        chosen = some_people(people, sample, how.seed).tolist()
        found = collect(rows_of, asked, chosen, **vars(team), chunk=8)
    except UnsupportedRelease as reason:
        return str(reason)
    ids = [people.ids[person] for person in chosen]
    table = pl.DataFrame([row for (row,) in found], schema=SCHEMA)
    return asked, table.insert_column(0, pl.Series("person", ids, dtype=people.ids.dtype))


def pieces_of(folder: Path) -> Path:
    """Where finished partitions are kept: in the folder of a pass of its own."""
    return Path(folder) / "parts" / "questions" / "parts"


def part_rows(common: Asked, part: Partition | range) -> pl.DataFrame:
    """The rows of some people."""
    job, people = joined(common.job, part)
    asked = replace(common, job=job)
    rows = [(job.people.ids[person], row) for person in people for row in rows_of(asked, person)]
    table = pl.DataFrame([row for _, row in rows], schema=SCHEMA)
    return table.insert_column(0, pl.Series("person", [who for who, _ in rows], dtype=job.people.ids.dtype))
