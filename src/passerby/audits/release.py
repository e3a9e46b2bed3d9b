"""The release that settings ask for: sensors by a rule, and a mechanism by its name."""

from __future__ import annotations

from passerby.mechanisms import Mechanism
from passerby.mechanisms.notation import read_mechanism
from passerby.mechanisms.registry import BY_SETTING
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.people.sensors import Sensors, fixed_sensors, most_visited_sensors, random_sensors, scheduled_sensors

from .settings import ReleaseSettings


def build_mechanism(chosen: ReleaseSettings) -> Mechanism:
    """The mechanism that these settings name.

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


def build_release(chosen: ReleaseSettings, people: People, seed: int) -> Release:
    """What would be published about these people."""
    return Release(build_sensors(chosen, people, seed), build_mechanism(chosen))
