"""The release of the settings: sensors by a rule, zones and counts by files, and a mechanism by its name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from passerby.errors import InputError
from passerby.mechanisms import Mechanism
from passerby.mechanisms.registry import BY_SETTING, read_mechanism
from passerby.model.counts import Count, Present
from passerby.model.release import Release
from passerby.people.count_rows import COUNTS, RowReader, windows, zone_counts
from passerby.people.habits import People
from passerby.people.sensors import Sensors, fixed_sensors, most_visited_sensors, random_sensors, scheduled_sensors
from passerby.people.zones import Zones
from passerby.visits.small_tables import DistinctRows, read_table
from passerby.visits.steps import parse_length

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
