"""Everyone: the loss of each person, in partitions shared by workers and able to survive an interruption."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from passerby.model.release import Release
from passerby.others.by_habits import everyone_else
from passerby.others.counted import Counted, counted
from passerby.people.habits import People
from passerby.questions.question import Question
from passerby.support.blocks import Team
from passerby.support.checkpoints import Checkpoints
from passerby.support.checks import path
from passerby.support.workers import Progress

from .columns import SCHEMA
from .engine import engine_of
from .everyone import Everyone, Partition, check_own, joined
from .job import Job, check_job, enough_workers
from .person import audit_person
from .publication import Counts, realised_rows
from .question_rows import Asked
from .question_words import places_by_name
from .questions import ask_everyone
from .results import Rows
from .settings import EngineSettings, Measurement


def audit(
    people: People,
    release: Release,
    misses: int = Measurement.misses,
    *,
    tolerance: float = Measurement.tolerance,
    runs: int = Measurement.runs,
    confidence: float = Measurement.confidence,
    budget: float = Measurement.budget,
    seed: int = Measurement.seed,
    workers: int | None = None,
    executor: Executor | None = None,
    engine: Any = EngineSettings.engine,
    scheduler: str | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    questions: Sequence[Question | str | int] | None = None,
) -> pl.DataFrame:
    """The loss of everyone: a row per person; with `questions`, a row per person and question.

    `release` covers the held-out steps, with places numbered as in `people.places`. If its mechanism depends on the
    number of other people and `others` is left out, they are counted for each person from everyone else's held-out
    trace. This includes people seen too seldom for an audit (`People.counts`). With `others=Crowd()`, the adversary
    knows the other audited people only by their habits; people without an audit have no habits to speak of.

    Rows hold the loss interval, baseline, advantage, and every attack (with its standard error) and bound by name;
    `estimated` names the averages over a sample. They also hold the probability of at least one sighting, the spectral
    gap of the person's habits, and the number of places they visited. Of each attack, a column tells whether it gets
    the real held-out trace right. The status of a row is "ok", "wide", "impossible", or the reason for a refusal.
    "wide" means the interval holds, but the budget or the number of sampled series was too small for the tolerance.
    "impossible" means the real trace cannot happen under the fitted habits; the attacks are not tried on it.

    Work is shared in partitions by `workers` processes: all cores by default, and none but this one for fewer than 64
    people. It may also be shared by any `executor` (`concurrent.futures.Executor`), left running, or by an `engine`. An
    engine is "dask", on this machine or with the workers of a `scheduler` ("tcp://..."), or a `distributed.Client`.
    With a `folder`, finished partitions are kept there until all are done. A restarted audit goes on from them. The
    table is the same for any number and kind of workers and interruptions: a person's random numbers depend on `seed`
    and on the person. `progress(done, all)` is called as people are done.

    `questions` are such as `[Trace(1), InData(), "visited:clinic"]`; the columns of their rows are in `question_rows`.

    >>> from passerby.visits import simulate_city
    >>> from passerby.people.fit import fit_people
    >>> city = simulate_city(people=30, places=20, days=3)
    >>> people = fit_people(city, window="2h", places=10, min_active=1, holdout=4)
    >>> table = audit(people, Release([0, 1, 2, 3]), misses=1, workers=1)
    >>> bool((table["lower"] <= table["upper"]).all())
    True
    """
    job = Job(people, release, Measurement(misses, tolerance, runs, confidence, budget, seed))
    check_job(job)
    folder = None if folder is None else path(folder, "folder")
    asked = None if questions is None else Asked.of(job, questions, places_by_name(people.places))
    job = replace(job, others=everyone_else(people, release))
    with engine_of(engine, scheduler, workers, executor) as pool:
        everyone = Everyone.here(job, Team(enough_workers(len(people), workers, pool), pool))
        if asked is not None:
            return weighted(ask_everyone(asked, everyone, folder, progress).table, people)
        return weighted(audit_everyone(everyone, folder, progress=progress).table, people)


def weighted(table: pl.DataFrame, people: People) -> pl.DataFrame:
    """Rows with the column `weight` after the person, if each row stands for so many."""
    if people.weights is None:
        return table
    weights = pl.DataFrame([people.ids.alias("person"), pl.Series("weight", people.weights)])
    joined = table.join(weights, on="person", how="left", maintain_order="left")
    return joined.select("person", "weight", pl.exclude("person", "weight"))


def audit_everyone(
    everyone: Everyone,
    folder: str | Path | None = None,
    values: Counts | None = None,
    progress: Progress | None = None,
) -> Rows:
    """Everyone's rows; a folder keeps finished partitions until all are done.

    With `values`, the published counts, rows have the realised loss as well.
    """
    kept = parts_of(everyone, folder, values)
    check_own(kept)
    shared = (everyone.job, None if values is None else _with_counted(everyone), values)
    return everyone.rows(_rows, shared, "people.parquet", kept, progress)


def audit_job(job: Job, folder: str | Path | None = None, progress: Progress | None = None) -> pl.DataFrame:
    """The table of a job in memory with its own numbers of others, made in this process."""
    return audit_everyone(Everyone.here(job), folder, progress=progress).table


def parts_of(everyone: Everyone, folder: str | Path | None, values: Counts | None = None) -> Checkpoints | None:
    """The finished partitions of an audit in its folder."""
    return everyone.kept(None if folder is None else Path(folder) / "parts", values)


def _with_counted(everyone: Everyone) -> Job:
    """The job with the really counted people as the others."""
    found = counted(everyone.people, everyone.job.release)
    alone = len(everyone.job.people) == 0
    others = Counted(found.actual[:0] if alone else found.actual, found.total, found.given)
    return replace(everyone.job, others=others)


def _rows(shared: tuple[Job, Job | None, Counts | None], part: Partition | range) -> pl.DataFrame:
    """The table of some people."""
    common, real, values = shared
    job, people = joined(common, part)
    table = pl.DataFrame([audit_person(job, person) for person in people], schema=SCHEMA)
    table = table.insert_column(0, job.people.ids.gather([*people]).alias("person"))
    if real is None or values is None:
        return table
    return pl.concat([table, realised_rows(*joined(real, part), values)], how="horizontal")


def clear_parts(folder: str | Path) -> None:
    """Remove a finished audit's partitions, their side files, and drafts of a killed process."""
    parts = Path(folder) / "parts"
    drafts = (*parts.glob(".*.part"), *Path(folder).glob(".*.part"))
    for file in (*parts.glob("*.parquet"), *parts.glob("*.jsonl"), *drafts, parts / "mark.json"):
        if not file.is_dir():  # a folder is somebody else's
            file.unlink(missing_ok=True)
    if parts.is_dir() and not any(parts.iterdir()):
        parts.rmdir()
