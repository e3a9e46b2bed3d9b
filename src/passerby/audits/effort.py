"""Effort by need: a cheap pass for everyone, then a thorough one for people with a decisive interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from passerby.others.by_habits import ByHabits
from passerby.others.counted import Counted
from passerby.support.blocks import Team
from passerby.support.workers import Progress

from .audit import audit_everyone, clear_parts
from .doubt import doubted
from .everyone import Everyone
from .job import Job
from .population import open_people
from .publication import Counts
from .questions import pieces_of
from .sample import only
from .settings import Measurement

#: The first pass has half of the effort, the second one four times of it for an eighth of the people: the other half.
CHEAP, THOROUGH, SHARE = 0.5, 4.0, 8
#: Each pass has a share of the doubt: an interval may come from either.
EACH = 0.5
#: The second pass adds this to the seed: its draws must not be the draws behind the choice of people.
AFRESH = 2**32


def first_pass(how: Measurement) -> Measurement:
    """The effort of the first pass, for everyone."""
    return replace(doubted(how, EACH), runs=max(2, round(how.runs * CHEAP)), budget=how.budget * CHEAP)


def second_pass(how: Measurement) -> Measurement:
    """The effort of the second pass, for people with a decisive interval, from the requested effort."""
    runs, budget = round(how.runs * THOROUGH), how.budget * THOROUGH
    return replace(doubted(how, EACH), runs=runs, budget=budget, seed=how.seed + AFRESH)


def audit_open(
    job: Job,
    thresholds: Sequence[float],
    folder: Path | None = None,
    *,
    team: Team = Team(),  # noqa: B008
    values: Counts | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Everyone's rows, at no more effort than the job's, with second-pass rows for open people.

    People are open if their interval is wider than the tolerance: intervals around a threshold come first, then the
    widest (`open_people`). Their rows are of the second pass alone, but for pooled values. Keeping draws chosen by
    earlier ones would favour lucky ones. If others are known by their habits, one pass is made.
    """

    def audited(some: Job, kept: Path | None) -> pl.DataFrame:
        return audit_everyone(Everyone.here(some, team), kept, values, progress).table

    if isinstance(job.others, ByHabits):
        return audited(job, folder)
    table = audited(replace(job, measurement=first_pass(job.measurement)), folder)
    wide = np.flatnonzero((table["status"] == "wide").to_numpy())
    chosen = wide[
        open_people(table["lower"].gather(wide), table["upper"].gather(wide), thresholds, len(table) // SHARE)
    ]
    if not len(chosen):
        return table
    again = audited(_some(job, chosen), None if folder is None else second_folder(folder))
    pooled = [name for name in table.columns if name.startswith("pooled_")]
    again = again.with_columns(table[name].gather(chosen) for name in pooled)
    rows = pl.concat([table, again]).with_columns(row=pl.Series([*range(table.height), *chosen.tolist()]))
    return rows.unique("row", keep="last").sort("row").drop("row")


def second_folder(folder: Path) -> Path:
    """The folder of the second pass for finished parts."""
    return Path(folder) / "parts" / "open"


def clear_passes(folder: Path) -> None:
    """Remove the partitions of all passes of a finished audit."""
    for other in (second_folder(folder), pieces_of(folder).parent):
        _clear(other)
    clear_parts(folder)


def _clear(folder: Path) -> None:
    if folder.is_dir():
        clear_parts(folder)
        if not any(folder.iterdir()):
            folder.rmdir()


def _some(job: Job, chosen: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Job:
    """The second pass of a job, for the chosen people alone."""
    others = job.others
    if isinstance(others, Counted):
        others = replace(others, actual=others.actual[chosen])
    return replace(job, people=only(job.people, chosen), others=others, measurement=second_pass(job.measurement))
