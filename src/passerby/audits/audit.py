"""Everyone: the loss of each person, in partitions shared by workers and able to survive an interruption.

Effort by need: a cheap pass for everyone, then a thorough one for people with a decisive interval.

A share of the visits, audited by itself: the function for each partition of other engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.kinds import check_release
from passerby.model.release import Release
from passerby.others.by_habits import ByHabits, everyone_else
from passerby.others.counted import Counted, counted
from passerby.people.habits import People, check_people
from passerby.questions.question import Question
from passerby.support.blocks import Team
from passerby.support.checkpoints import Checkpoints
from passerby.support.checks import is_word, path, whole
from passerby.support.workers import Progress
from passerby.visits.readers import read_part
from passerby.visits.steps import Steps
from passerby.visits.table import Visits
from passerby.visits.windows import Rule, Tracing, traced

from .engine import engine_of
from .everyone import Everyone, Partition, check_own, joined
from .job import Job, check_group, check_job, doubted, enough_workers, only
from .person import SCHEMA, audit_person
from .question_rows import Asked
from .question_words import places_by_name
from .questions import ask_everyone, pieces_of
from .release import Counts, realised_rows
from .results import Rows, open_people
from .settings import EngineSettings, Measurement, StepSettings


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
    check_group(people, release.size)
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


def audit_partition(
    visits: Any,
    like: People,
    release: Release,
    misses: int = Measurement.misses,
    *,
    min_active: int = StepSettings.min_active,
    rule: Rule = "most-visited",
    tolerance: float = Measurement.tolerance,
    runs: int = Measurement.runs,
    confidence: float = Measurement.confidence,
    budget: float = Measurement.budget,
    seed: int = Measurement.seed,
    questions: Sequence[Question | str | int] | None = None,
) -> pl.DataFrame:
    """The loss of the people of some visits, as rows of the table of `audit`, ordered by person.

    `visits` is a table (polars, pandas or Arrow) with all visits of each person that is in it, and of nobody twice;
    times without a zone are by the clock of `like`. `like` are people whose steps, places and habits of everybody are
    taken, and whether times are cut: fitted to all visits, or to a sample of people. Rows are then those of
    `audit(fit_people(...))` of everybody,
    if `like` were. Numbers of others that the mechanism needs are those that `like` counted: give them with
    `Release(others=...)` where it is a sample. Who is known too seldom is left out; where that is everybody, the table
    is empty. The other arguments are those of `audit`, which works in this process alone.

    >>> import passerby as pb
    >>> city = pb.simulate_city(people=40, places=20, days=4)
    >>> like = pb.fit_people(city, window="3h", places=9, min_active=1, holdout=4)
    >>> frame = city.table.select("time", person=city.people.gather(city.table["person"]),
    ...                           place=city.places.gather(city.table["place"]))
    >>> some = audit_partition(frame.filter(pl.col("person") < 10), like, pb.Release([0, 1, 0, 1]), min_active=1)
    >>> whole = pb.audit(like, pb.Release([0, 1, 0, 1]))
    >>> some.equals(whole.filter(pl.col("person").is_in(some["person"].to_list())))
    True
    """
    check_people(like, "like")
    check_release(release)
    whole(min_active, "min_active")
    if not is_word(rule, get_args(Rule)):
        raise InputError(f"rule is {rule!r}; choose one of {', '.join(map(repr, get_args(Rule)))}")
    if release.crowd is not None and release.crowd.open:
        raise InputError("others: with Crowd(), everybody's habits are needed for each person; use audit instead")
    people = _people(read_part(visits, like.timezone, cut=like.left_out.cut), like, min_active, rule)
    if people is None or not len(people):
        return pl.DataFrame(schema={"person": like.ids.dtype, **SCHEMA})
    return audit(
        people,
        release,
        misses,
        tolerance=tolerance,
        runs=runs,
        confidence=confidence,
        budget=budget,
        seed=seed,
        workers=1,
        questions=questions,
    ).sort("person")


def _people(visits: Visits, like: People, min_active: int, rule: Rule) -> People | None:
    """People with the steps and places of others; None if nobody is seen in these steps at these places."""
    # Places are in the order of all of them, to settle ties. Steps go by the clock; it may not have such an hour.
    visited = set(visits.places.to_list())
    there = [number for number, name in enumerate(like.places[:-1]) if name in visited]
    if not there:
        return None
    cut, count = like.fitted.shape[1], like.fitted.shape[1] + like.actual.shape[1]
    steps = Steps(like.starts[0].astype("datetime64[us]").item(), like.window, count, like.timezone)
    end = steps.origin + count * like.window
    places = tuple(like.places[number] for number in there)
    traces, _, ids, *_ = traced(Tracing(steps, end, places, 1, rule, cut), visits)
    array = np.array([*there, like.elsewhere], dtype=np.int32)[traces]
    known = (array[:, :cut] != like.elsewhere).sum(axis=1)
    enough: NDArray[np.int64] = np.flatnonzero(known >= max(min_active, 1))
    return replace(
        like,
        fitted=np.ascontiguousarray(array[enough, :cut]),
        actual=np.ascontiguousarray(array[enough, cut:]),
        ids=ids.gather(enough.tolist()),
    )
