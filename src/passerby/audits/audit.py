"""Everyone: the loss of each person, in partitions that workers share and that survive an interruption."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby import __version__
from passerby.errors import ConfigError, InputError, PasserbyError
from passerby.measurement.best_guess import bracket_series
from passerby.measurement.information import sighted
from passerby.measurement.loss import Loss
from passerby.measurement.measure import measure
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import one_series
from passerby.people.habits import People
from passerby.people.others import Counted, Expected, everyone_else
from passerby.support.files import whole_or_nothing
from passerby.support.workers import Progress, one_thread_each

#: People per partition, at most: small enough to lose little when interrupted, large enough to be worth a task.
PARTITION = 200

ATTACKS = ("map", "prior", "constant", "marginal", "ascent")
BOUNDS = ("loose", "tight", "fano", "leakage", "dp", "posterior", "raw", "known", "crowd")
HITS = tuple(f"hit_{name}" for name in ATTACKS)

SCHEMA: dict[str, pl.DataType] = {
    "status": pl.String(),
    **{
        name: pl.Float64()
        for name in (
            "lower",
            "upper",
            "baseline_lower",
            "baseline_upper",
            "advantage_lower",
            "advantage_upper",
            *(f"attack_{name}" for name in ATTACKS),
            *(f"error_{name}" for name in ATTACKS),
            *(f"bound_{name}" for name in BOUNDS),
            "sighted",
            "spectral_gap",
        )
    },
    "places": pl.Int64(),
    "series": pl.Int64(),
    "sampled": pl.Boolean(),
    **{name: pl.Boolean() for name in HITS},
}


@dataclass(frozen=True)
class Settings:
    """How each person is measured; the arguments of `measure` of the same names."""

    misses: int
    tolerance: float = 0.01
    runs: int = 200
    confidence: float = 0.99
    budget: float = 1e9
    seed: int = 0


@dataclass(frozen=True)
class Job:
    """All that a worker needs."""

    people: People
    release: Release
    settings: Settings
    others: Counted | Expected | None = None

    def release_for(self, person: int) -> Release:
        """The release with the others as they are for this person."""
        if self.others is None:
            return self.release
        return self.release.with_others(self.others.besides(person, self.release))


def audit(
    people: People,
    release: Release,
    misses: int = 1,
    *,
    tolerance: float = 0.01,
    runs: int = 200,
    confidence: float = 0.99,
    budget: float = 1e9,
    seed: int = 0,
    workers: int | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """The loss of everyone: a row per person.

    `release` covers the held-out steps, with places numbered as in `people.places`. Where its mechanism depends on the
    number of other people and `others` is left out, they are counted for each person from everyone else's held-out
    trace, also of those who are seen too seldom to be audited (`People.counts`); with `others=Crowd()`, the adversary
    knows the other audited people, who alone have habits to speak of, only by their habits. Losses are then those of a
    day on which each of them was where they really were at every second step, and anywhere between.

    Rows hold the loss interval, baseline, advantage, every attack and bound by name, the probability of being sighted
    at least once, the spectral gap of the person's habits, the number of places they visited, whether each attack gets
    the real held-out trace right, and a status: "ok", "wide" (the interval holds, but the tolerance was not reached
    within the budget, or by as many sampled series),
    "impossible" (the real trace cannot happen under the fitted habits, so the attacks are not tried on it), or the
    reason for a refusal.

    Work is shared by `workers` processes (all cores by default) in partitions. With a `folder`, finished partitions are
    kept there until all are done, and an interrupted audit goes on where it was when it is started again. The table is
    the same for any number of workers and interruptions: a person's random numbers depend on `seed` and on the person.
    `progress(done, all)` is called as people are done.

    >>> from passerby.visits import simulate_city
    >>> from passerby.people.habits import fit_people
    >>> city = simulate_city(people=30, places=20, days=3)
    >>> people = fit_people(city, window="2h", places=10, min_active=1, holdout=4)
    >>> table = audit(people, Release([0, 1, 2, 3]), misses=1, workers=1)
    >>> bool((table["lower"] <= table["upper"]).all())
    True
    """
    job = Job(people, release, Settings(misses, tolerance, runs, confidence, budget, seed))
    _check(job)
    job = replace(job, others=everyone_else(people, release))
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="passerby-") as scratch:
            return _run(job, Path(scratch), workers, progress)
    return _run(job, Path(folder), workers, progress)


def audit_job(
    job: Job, folder: str | Path, *, workers: int | None = None, progress: Progress | None = None
) -> pl.DataFrame:
    """The audit of a job that says by itself who the others are, in a folder that keeps what is finished."""
    _check(job)
    return _run(job, Path(folder), workers, progress)


def _check(job: Job) -> None:
    held, places = job.people.actual.shape[1], len(job.people.places)
    if held and job.release.steps != held:
        raise InputError(f"release: it has {job.release.steps} steps, but {held} steps are held out to be found")
    job.release.check_misses(job.settings.misses)
    for t, step in enumerate(job.release.sensors):
        for place in step:
            if place >= places:
                raise InputError(f"sensors[{t}] = {place}: there are {places} places, numbered 0 to {places - 1}")


def _run(job: Job, folder: Path, workers: int | None, progress: Progress | None) -> pl.DataFrame:
    parts = folder / "parts"
    try:
        parts.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder: {parts} cannot be made: {error.strerror}") from None
    _claim(parts, fingerprint(job))
    everyone = len(job.people)
    size = partition_size(everyone)
    ranges = [(start, min(start + size, everyone)) for start in range(0, everyone, size)]
    names = [parts / f"{start:09d}.parquet" for start, _ in ranges]
    todo = [i for i, name in enumerate(names) if not name.exists()]
    done = sum(ranges[i][1] - ranges[i][0] for i in range(len(ranges)) if i not in set(todo))
    if progress:
        progress(done, len(job.people))
    for i in _finished(job, todo, ranges, names, min(workers or os.cpu_count() or 1, max(1, len(todo)))):
        done += ranges[i][1] - ranges[i][0]
        if progress:
            progress(done, len(job.people))
    table = pl.concat([pl.read_parquet(name) for name in names])
    return table.insert_column(0, job.people.ids.alias("person"))


def partition_size(people: int) -> int:
    """People per partition: about 32 partitions, so that few people are shared by all workers too.

    >>> partition_size(100), partition_size(2000), partition_size(1_000_000)
    (8, 62, 200)
    """
    return min(PARTITION, max(8, people // 32))


def clear_parts(folder: str | Path) -> None:
    """Remove the partitions of a finished audit, what was kept beside them, and drafts that a killed process left."""
    parts = Path(folder) / "parts"
    drafts = (*parts.glob(".*.part"), *Path(folder).glob(".*.part"))
    for file in (*parts.glob("*.parquet"), *parts.glob("*.jsonl"), *drafts, parts / "plan.json"):
        file.unlink(missing_ok=True)
    if parts.is_dir() and not any(parts.iterdir()):
        parts.rmdir()


def _claim(parts: Path, mark: str) -> None:
    """Make sure that partitions found here belong to this audit."""
    plan = parts / "plan.json"
    if plan.exists():
        try:
            found = json.loads(plan.read_text())["fingerprint"]
        except (ValueError, KeyError, TypeError):
            found = None
        if found != mark:
            raise ConfigError(
                f"{parts} holds an unfinished audit of other people or with other settings; "
                "choose another folder, or remove it to start afresh"
            )
        return
    with whole_or_nothing(plan) as temporary:
        temporary.write_text(json.dumps({"passerby": __version__, "fingerprint": mark}))


def fingerprint(job: Job) -> str:
    """A digest of everything that the table depends on."""
    digest = hashlib.blake2b(digest_size=16)
    people = job.people
    known: tuple[NDArray[Any], ...] = ()
    if isinstance(job.others, Counted):
        known = (job.others.there, job.others.total)
    elif job.others is not None:
        views = (job.others.habits, job.others.told)
        known = (job.others.rest, *(array for view in views for array in (view.known, view.chance)))
    elif job.release.crowd is not None:
        known = tuple(
            np.append(least, law) for step in job.release.crowd.laws(job.release.sensors) for least, law in step
        )
    arrays: tuple[NDArray[Any], ...] = (people.fitted, people.actual, people.background, *known)
    for array in arrays:
        digest.update(str((array.shape, array.dtype)).encode())
        digest.update(np.ascontiguousarray(array).data)
    phase = None if people.phase is None else people.phase.tolist()
    settings = asdict(job.settings)
    release = (job.release.sensors, job.release.mechanism, job.release.others)
    rest = (__version__, people.smoothing, phase, release, settings, partition_size(len(people)))
    digest.update(repr(rest).encode())
    digest.update("\n".join(map(str, people.ids.to_list())).encode())
    return digest.hexdigest()


def _finished(
    job: Job, todo: list[int], ranges: list[tuple[int, int]], names: list[Path], workers: int
) -> Iterator[int]:
    """Do the partitions that are left, and yield the number of each one as it is written."""
    if workers <= 1:
        for i in todo:
            _write(job, ranges[i], names[i])
            yield i
        return
    with one_thread_each():
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_adopt, initargs=(job,))
        try:
            waiting = {pool.submit(_work, ranges[i], str(names[i])): i for i in todo}
            while waiting:
                ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ready:
                    future.result()
                    yield waiting.pop(future)
        except BrokenProcessPool:
            raise PasserbyError(
                "a worker process ended before its time (killed, or out of memory); finished people are kept: "
                "run the same audit again to go on, with fewer workers if memory is short"
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_job: Job | None = None


def _adopt(job: Job) -> None:
    global _job
    _job = job


def _work(people: tuple[int, int], name: str) -> None:
    assert _job is not None
    _write(_job, people, Path(name))


def _write(job: Job, people: tuple[int, int], name: Path) -> None:
    rows = [audit_person(job, person) for person in range(*people)]
    with whole_or_nothing(name) as temporary:
        pl.DataFrame(rows, schema=SCHEMA).write_parquet(temporary)


def over_states(people: People, person: int, release: Release) -> tuple[MarkovPrior, Release, dict[int, int]]:
    """One person's reduced chain, the release over its states, and the state of each place (-1: all others)."""
    prior, states = people.prior(person, sorted({place for step in release.sensors for place in step}))
    state_of = {int(place): state for state, place in enumerate(states)}
    return prior, release.relabelled(state_of), state_of


def audit_person(job: Job, person: int) -> dict[str, object]:
    """One row of the table."""
    prior, release, state_of = over_states(job.people, person, job.release_for(person))
    seed = _stream(job.settings.seed, job.people.ids[person])
    try:
        loss = measure(prior, release, **{**vars(job.settings), "seed": seed})
    except PasserbyError as reason:
        return {"status": str(reason)}
    row = _row(loss)
    row["sighted"] = sighted(prior, release)
    row["spectral_gap"] = prior.spectral_gap if prior.homogeneous else None
    row["places"] = len(set(job.people.fitted[person].tolist()))
    if job.people.actual.shape[1]:
        others = state_of.get(-1, 0)
        trace = np.array([state_of.get(int(place), others) for place in job.people.actual[person]])
        try:
            row.update(_hits(prior, release, trace, loss, seed))
        except InputError:
            row["status"] = "impossible"
    return row


def _row(loss: Loss) -> dict[str, object]:
    return {
        "status": "ok" if loss.effort.reached else "wide",
        "lower": loss.lower,
        "upper": loss.upper,
        "baseline_lower": loss.baseline.lower,
        "baseline_upper": loss.baseline.upper,
        "advantage_lower": loss.advantage.lower,
        "advantage_upper": loss.advantage.upper,
        **{f"attack_{name}": attack.value for name, attack in loss.attacks.items()},
        **{f"error_{name}": attack.error for name, attack in loss.attacks.items()},
        **{f"bound_{name}": value for name, value in loss.bounds.items()},
        "series": loss.effort.series,
        "sampled": loss.effort.sampled,
    }


def _hits(
    prior: MarkovPrior, release: Release, trace: NDArray[np.int64], loss: Loss, seed: list[int]
) -> dict[str, object]:
    """Whether each attack gets the real trace right, given what would have been published about it."""
    rng = np.random.default_rng([*seed, 1])
    series = one_series(release.evidence(release.publish(trace[None], rng)))
    found = bracket_series(prior, release, series, loss.misses, 0.0, 0.0).guesses[0]
    guesses = dict(zip(("map", "marginal", "ascent"), found, strict=True))
    for name in ("prior", "constant"):
        guess = loss.attacks[name].guess
        if guess is not None:
            guesses[name] = np.array(guess)
    wrong = {name: int((guess != trace).sum()) for name, guess in guesses.items()}
    return {f"hit_{name}": count <= loss.misses for name, count in wrong.items()}


def _stream(seed: int, person: object) -> list[int]:
    """The seed of one person's random numbers: depends on the seed and the person alone."""
    digest = hashlib.blake2b(str(person).encode(), digest_size=8).digest()
    return [seed, int.from_bytes(digest, "big")]
