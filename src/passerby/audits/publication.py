"""After the fact: the success of the best guess, given exactly the published counts.

A published count is of everybody at the sensor. The adversary knows everybody but the target. They subtract the others
from the count, and the rest is evidence on the target (`others`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

from passerby.errors import InputError, PasserbyError
from passerby.mechanisms import HIDDEN, Mechanism
from passerby.mechanisms.checks import LARGEST
from passerby.mechanisms.registry import read_mechanism
from passerby.model.counts import Count
from passerby.people.count_rows import PUBLISHED, RowReader
from passerby.people.habits import People
from passerby.people.sensors import given
from passerby.questions.trace.measure import trace_loss
from passerby.visits.small_tables import DistinctRows, read_table

from .job import Job, over_states

SCHEMA: dict[str, pl.DataType] = {
    "realised_status": pl.String(),
    "realised_lower": pl.Float64(),
    "realised_upper": pl.Float64(),
}

Counts = list[list[float]]
#: The status, and both ends if there are any.
RealisedRow = tuple[str, float | None, float | None]


@dataclass(frozen=True)
class Published:
    """The published values: each count, in the order of the file, and their values by their reading step."""

    counts: tuple[Count, ...]
    values: Counts


def read_published(
    people: People, path: str | Path, reader: RowReader | None = None, mechanism: Mechanism | None = None
) -> Published:
    """Read a table (CSV or Parquet) with the columns `place`, `count`, and `step` (1 is the first) or `time`.

    Instead of a place, rows may name zones and flows, as a file of counts does (`RowReader`). An empty count was not
    published: its mechanism left it out. Its mechanism is the row's own, or the `mechanism` of all others (any, if none
    is given). A mechanism without empty counts is refused.
    """
    file, reader = Path(path), reader or RowReader(people, read_mechanism)
    _, rows = read_table(file, PUBLISHED)
    once, found = DistinctRows(file), list[Count]()
    values: Counts = [[] for _ in range(people.actual.shape[1])]
    for line, row in rows:
        where = f"{file}, {line}"
        if not given(row.get("step")) and not given(row.get("time")):
            raise InputError(f"{where}: it has neither a step nor a time")
        several = reader.counts(row, where)
        if len(several) > 1:
            raise InputError(f"{where}: it names {len(several)} steps, but a row is one number; give one row for each")
        (count,) = several
        reader.say(once, line, row, several)
        found.append(count)
        values[count.read].append(_number(row["count"], where, count.mechanism or mechanism))
    if not found:
        raise InputError(f"{file}: it holds no count")
    return Published(tuple(found), values)


def _number(value: object, where: str, way: Mechanism | None) -> float:
    """A count; an empty one was hidden, unless its mechanism hides none."""
    if not given(value):
        if way is not None and not way.hides:
            raise InputError(
                f"{where}: the count is empty, but {way!r} leaves none empty; leave out the row of a count that was "
                "not published, or give the mechanism that left it empty"
            )
        return HIDDEN
    try:
        number = float("nan" if "_" in str(value) else str(value))  # Python takes 1_000 for a thousand
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(f"{where}: the count is {value!r}; expected a number")
    if abs(number) > LARGEST:
        raise InputError(f"{where}: the count is {value!r}; expected a number from -2**53 to 2**53")
    return number


def realised_rows(job: Job, people: Iterable[int], values: Counts) -> pl.DataFrame:
    """The realised losses of some people of a job with known others, given the published `values`.

    It is the success of the best guess, as an interval. The status is "ok", "impossible", or the reason for a refusal.
    "impossible" means no trace of the person agrees with the published values and the others. The counts were then not
    made from these visits, or not in this way.
    """
    return pl.DataFrame([_loss(job, person, values) for person in people], schema=SCHEMA, orient="row")


def _loss(job: Job, person: int, values: Counts) -> RealisedRow:
    prior, release, *_ = over_states(job, person)
    try:
        loss = trace_loss(prior, release, **asdict(job.measurement), published=values)
    except InputError:
        return "impossible", None, None
    except PasserbyError as reason:
        return str(reason), None, None
    return "ok", loss.lower, loss.upper
