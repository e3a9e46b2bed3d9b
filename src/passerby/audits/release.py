"""The release of the settings: sensors by a rule, zones and counts by files, and a mechanism by its name.

After the fact: the success of the best guess, given exactly the published counts.

A published count is of everybody at the sensor. The adversary knows everybody but the target. They subtract the others
from the count, and the rest is evidence on the target (`others`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from passerby.errors import InputError, PasserbyError
from passerby.mechanisms import HIDDEN, Mechanism
from passerby.mechanisms.checks import LARGEST
from passerby.mechanisms.registry import BY_SETTING, read_mechanism
from passerby.model.counts import Count, Present
from passerby.model.release import Release
from passerby.people.count_rows import COUNTS, PUBLISHED, RowReader, windows, zone_counts
from passerby.people.habits import People
from passerby.people.sensors import (
    Sensors,
    Zones,
    fixed_sensors,
    given,
    most_visited_sensors,
    random_sensors,
    scheduled_sensors,
)
from passerby.questions.trace.measure import trace_loss
from passerby.visits.delimited import DistinctRows, read_table
from passerby.visits.steps import parse_length

from .job import Job, over_states
from .settings import AuditSettings, ReleaseSettings


def check_mechanism(text: str) -> str:
    """The text of a mechanism, if it is one: its name in settings, or as in Python."""
    if "(" not in text and text not in BY_SETTING:
        raise InputError(f"{text!r} is not one of {', '.join(BY_SETTING)}, nor as 'Then(Suppression(10), Rounding(5))'")
    return text


def build_mechanism(chosen: ReleaseSettings) -> Mechanism:
    """The mechanism of these settings.

    >>> build_mechanism(ReleaseSettings(mechanism="rounding", base=20))
    Rounding(base=20)
    """
    if "(" in chosen.mechanism:
        return read_mechanism(chosen.mechanism)
    return BY_SETTING[chosen.mechanism].build(chosen)


def build_sensors(chosen: ReleaseSettings, people: People, seed: int) -> Sensors:
    """The sensors of each held-out step, by place numbers."""
    if chosen.sensors == "fixed":
        return fixed_sensors(people, chosen.sensor_places)
    if chosen.sensors == "schedule":
        assert chosen.schedule is not None
        return scheduled_sensors(people, chosen.schedule)
    if chosen.sensors == "random":
        return random_sensors(people, chosen.sensor_count, seed)
    return most_visited_sensors(people, chosen.sensor_count)


def build_release(chosen: ReleaseSettings, people: People, seed: int, zones: Zones | None = None) -> Release:
    """The planned release about these people."""
    mechanism = build_mechanism(chosen)
    if zones is None and chosen.counts is None and set(chosen.kinds) == {"present"}:
        return Release(build_sensors(chosen, people, seed), mechanism)
    counts = [*_of_zones(chosen, people, seed, zones), *(_of_file(chosen, people, zones) if chosen.counts else ())]
    return Release(counts=counts, steps=people.actual.shape[1], mechanism=mechanism)


@dataclass(frozen=True)
class Sensing:
    """Makes the release of the settings for any people: sensors at their most visited places, or at random."""

    chosen: AuditSettings

    def __call__(self, people: People) -> Release:
        """The planned release about these people."""
        return build_release(self.chosen, people, self.chosen.seed).of_groups(self.chosen.together)


def _of_zones(chosen: ReleaseSettings, people: People, seed: int, zones: Zones | None) -> list[Count]:
    """The requested kinds of counts: of the zones of each level, or of the places with a sensor."""
    steps, out = people.actual.shape[1], list[Count]()
    sensors = build_sensors(chosen, people, seed) if zones is None and chosen.kinds else []
    for kind in chosen.kinds:
        if zones is None and kind == "present":
            out += [Present(place, t) for t, step in enumerate(sensors) for place in step]
            continue
        levels = [list(level.values()) for level in zones.levels.values()] if zones else [[(x,) for x in sensors[0]]]
        for level in levels:
            out += zone_counts(kind, level, steps, _windows(chosen, people), chosen.times)
    return out


def _of_file(chosen: ReleaseSettings, people: People, zones: Zones | None) -> list[Count]:
    """The counts of a file."""
    assert chosen.counts is not None
    _, rows = read_table(chosen.counts, COUNTS)
    reader = row_reader(chosen, people, zones)
    once, out = DistinctRows(chosen.counts), list[Count]()
    for line, row in rows:
        counts = reader.counts(row, f"{chosen.counts}, {line}")
        reader.say(once, line, row, counts)
        out += counts
    if not out:
        raise InputError(f"{chosen.counts}: it holds no count")
    return out


def row_reader(chosen: ReleaseSettings, people: People, zones: Zones | None) -> RowReader:
    """The reader of the rows of a file of planned or published counts."""
    kind = chosen.count[0] if len(set(chosen.count)) == 1 else "present"
    return RowReader(
        people,
        lambda text: build_mechanism(replace(chosen, mechanism=check_mechanism(text))),
        zones.named() if zones else {},
        kind,
        _windows(chosen, people),
        chosen.times,
    )


def _windows(chosen: ReleaseSettings, people: People) -> list[list[int]]:
    return windows(people, None if chosen.every is None else parse_length(chosen.every, "every"))


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
