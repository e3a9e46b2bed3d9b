"""The release that settings ask for: sensors by a rule, and a mechanism by its name."""

from __future__ import annotations

from collections.abc import Callable

from passerby.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    Geometric,
    Laplace,
    Mechanism,
    RandomRounding,
    Raw,
    Rounding,
    Sampling,
    Suppression,
)
from passerby.mechanisms.notation import read_mechanism
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.people.sensors import Sensors, fixed_sensors, most_visited_sensors, random_sensors, scheduled_sensors

from .settings import ReleaseSettings

#: The mechanisms that can be asked for by name: a line each.
MECHANISMS: dict[str, Callable[[ReleaseSettings], Mechanism]] = {
    "raw": lambda chosen: Raw(),
    "gaussian": lambda chosen: Gaussian(chosen.sigma),
    "discrete-gaussian": lambda chosen: DiscreteGaussian(chosen.sigma),
    "laplace": lambda chosen: Laplace(chosen.scale),
    "geometric": lambda chosen: Geometric(chosen.scale),
    "rounding": lambda chosen: Rounding(chosen.base),
    "random-rounding": lambda chosen: RandomRounding(chosen.base),
    "suppression": lambda chosen: Suppression(chosen.below),
    "sampling": lambda chosen: Sampling(chosen.rate),
}


def build_mechanism(chosen: ReleaseSettings) -> Mechanism:
    """The mechanism that these settings name.

    >>> build_mechanism(ReleaseSettings(mechanism="rounding", base=20))
    Rounding(base=20)
    """
    return read_mechanism(chosen.mechanism) if "(" in chosen.mechanism else MECHANISMS[chosen.mechanism](chosen)


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
