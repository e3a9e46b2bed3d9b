"""Questions about everybody: a row per person and question, in partitions shared by workers, in memory or on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from passerby.audits.everyone import Everybody
from passerby.errors import PasserbyError
from passerby.model.release import Release
from passerby.questions.in_data import InData
from passerby.support.blocks import Team
from passerby.support.workers import Progress, collect

from .everyone import Everyone, Partition, check_own, joined
from .job import Job, some_numbers
from .person import stream_of
from .presence import Chosen, Presence, Watched, Work, by_cells, person_of, work_of
from .presence_habits import row_of_membership
from .question_rows import HABITS, SCHEMA, Asked, Row, rows_of
from .question_words import Named
from .results import Rows
from .settings import Measurement

#: The name of the table in an audit's folder.
TABLE = "questions.parquet"
#: On how many people membership is tried by habits, at most.
MEMBERS = 60


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


def counted_by_habits(
    everybody: Everybody, release: Release, how: Measurement, named: Named, sample: int, team: Team
) -> tuple[Asked, pl.DataFrame] | str:
    """Whether some people are counted at all, to somebody who knows the others by their habits only: asked, and rows.

    A reason in words where that is not tried.
    """
    if not by_cells(release):
        return "it is worked out for counts of people who are present, each in one at most"
    job = Job(everybody.common, release, how)
    chosen = some_numbers(sum(everybody.sizes), min(sample, MEMBERS), how.seed)
    nowhere = Presence(job, Watched((), ()), Chosen(chosen, ((),) * len(chosen)), HABITS)
    work = work_of(nowhere, everybody)
    crowd = Asked.of(replace(job, release=release.with_others(None)), [InData()], named)
    found = collect(_counted, work, range(len(chosen)), **vars(team), chunk=8)
    ids = work.job.people.ids
    rows = [{"question": crowd.words[0], "actual": True, **row} for row in found]
    table = pl.DataFrame(rows, schema=SCHEMA)
    return replace(crowd, adversary_name=HABITS), table.insert_column(0, pl.Series("person", ids, dtype=ids.dtype))


def _counted(work: Work, number: int) -> Row:
    """The row of one person, to somebody who knows the others by their habits only."""
    try:
        person, _ = person_of(work, number, [])
        rng = np.random.default_rng([*stream_of(work.job.measurement.seed, work.job.people.ids[number]), 5])
        return row_of_membership(person, rng)
    except PasserbyError as reason:
        return {"adversary": HABITS, "status": str(reason)}


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
