"""After the fact: how likely the best guess is, given exactly the counts that were published.

A published count is of everybody at the sensor. The adversary knows everybody but the target, so they take the others
off the count, and what is left tells of the target. The others are counted here from the visits of everybody who is in
the table, also of those who are too seldom seen to be audited.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .auditing import Job, Settings, fingerprint, over_states
from .errors import InputError, PasserbyError
from .measuring import measure
from .mechanisms import HIDDEN
from .pool import Kept, Progress, mark_of, shared
from .release import Release
from .visits.files import read_table
from .visits.people import People
from .visits.sensors import Sensors, place_number, step_number
from .visits.table import Visits
from .visits.traces import Rule, window_visits

SCHEMA: dict[str, pl.DataType] = {
    "realised_status": pl.String(),
    "realised_lower": pl.Float64(),
    "realised_upper": pl.Float64(),
}

Counts = list[list[float]]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Published:
    """What was published: the places with a sensor at each held-out step, and the value of each."""

    sensors: Sensors
    values: Counts


def read_published(people: People, path: str | Path) -> Published:
    """Read a table (CSV or Parquet) with the columns `place`, `count`, and `step` (1 is the first) or `time`.

    An empty count was not published: its mechanism left it out.
    """
    file = Path(path)
    table = read_table(file)
    if not {"place", "count"} <= set(table.columns) or not {"step", "time"} & set(table.columns):
        raise InputError(
            f"{file}: published counts need the columns step (or time), place and count; "
            f"it has {', '.join(table.columns)}"
        )
    held = people.actual.shape[1]
    sensors: Sensors = [[] for _ in range(held)]
    values: Counts = [[] for _ in range(held)]
    for line, row in enumerate(table.iter_rows(named=True), start=2):
        where = f"{file}, line {line}"
        step, place = step_number(people, row, where), place_number(people, str(row["place"]), where)
        if place in sensors[step]:
            raise InputError(f"{where}: the count of {row['place']!r} at step {step + 1} is given twice")
        sensors[step].append(place)
        values[step].append(HIDDEN if row["count"] in (None, "") else _number(row["count"], where))
    if not any(sensors):
        raise InputError(f"{file}: it holds no count")
    return Published(sensors, values)


def _number(value: object, where: str) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(f"{where}: count is {value!r}; expected a number")
    return number


def count_everybody(visits: Visits, people: People, rule: Rule = "most-visited") -> Whole:
    """How many of all people in the visits were at each place at each held-out step: an array (h, M).

    >>> from passerby.visits import simulate_city
    >>> from passerby.visits.people import fit_people
    >>> city = simulate_city(people=30, places=20, days=3)
    >>> people = fit_people(city, window="2h", places=10, min_active=1, holdout=4)
    >>> count_everybody(city, people).shape
    (4, 11)
    """
    held = people.starts[people.fitted.shape[1] :]
    if not len(held):
        return np.zeros((0, len(people.places)), dtype=np.int64)
    first, last = _instant(held[0]), _instant(held[-1]) + people.window
    recent = visits.table.filter((pl.col("time") >= first) & (pl.col("time") < last))
    if not recent.height:
        return np.zeros((len(held), len(people.places)), dtype=np.int64)
    known = dataclasses.replace(visits, table=recent)
    names = people.places[:-1]
    traces = window_visits(known, window=people.window, origin=first, end=last, places=names, min_active=1, rule=rule)
    return np.stack([np.bincount(step, minlength=len(people.places)) for step in traces.array.T])


def _instant(start: np.datetime64) -> datetime:
    moment: datetime = start.astype("datetime64[us]").item()
    return moment.replace(tzinfo=UTC)


@dataclass(frozen=True)
class _Job:
    people: People
    release: Release
    values: Counts
    totals: Whole
    settings: Settings


def realised_losses(
    people: People,
    release: Release,
    values: Counts,
    totals: Whole,
    settings: Settings,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> pl.DataFrame:
    """The realised loss of everyone: success of the best guess given the published `values`, as an interval.

    `totals` (h, M) are the true counts of everybody. The status is "ok", "impossible" where no trace of the person
    agrees with the published values and the others (then the counts were not made from these visits, or not in this
    way), or the reason for a refusal. With a `file`, what is finished is kept there when it is interrupted.
    """
    job = _Job(people, release, values, totals, settings)
    kept = (
        None
        if file is None
        else Kept(file, mark_of(fingerprint(Job(people, release, settings)), values, totals.tolist()))
    )
    rows = shared(_realised, job, range(len(people)), workers=workers, progress=progress, kept=kept)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _realised(job: _Job, person: int) -> tuple[str, float | None, float | None]:
    actual = job.people.actual[person]
    others = [
        [int(job.totals[t, place]) - int(actual[t] == place) for place in step]
        for t, step in enumerate(job.release.sensors)
    ]
    prior, release, _ = over_states(job.people, person, job.release.with_others(others))
    settings = job.settings
    try:
        loss = measure(
            prior,
            release,
            settings.misses,
            tolerance=settings.tolerance,
            budget=settings.budget,
            seed=settings.seed,
            published=job.values,
        )
    except InputError:
        return "impossible", None, None
    except PasserbyError as reason:
        return str(reason), None, None
    return "ok", loss.lower, loss.upper
