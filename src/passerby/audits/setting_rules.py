"""Demands of settings on each other: needs of some for others, and settings without effect beside others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from passerby.mechanisms.registry import BY_SETTING, PARAMETERS

from .settings import AuditSettings

#: The settings for the choice of sensors.
SENSORS = {"most-visited": "sensor_count", "random": "sensor_count", "fixed": "sensor_places", "schedule": "schedule"}
#: Further needs beside it, in words.
NEEDED = {
    "fixed": "the names of the places with a sensor",
    "schedule": "a file with the columns place and step (or time)",
}


class Speech(Protocol):
    """Names settings in the words of their source, and knows the source."""

    def name(self, name: str) -> str:
        """The name of a setting."""

    def given(self, name: str, value: object) -> str:
        """A setting with its value."""

    def rank(self, name: str) -> int:
        """The number of its source, later ones prevail; -1 without any."""


@dataclass(frozen=True)
class Idle:
    """A setting without effect because of another one; `instead` names the case with an effect."""

    name: str
    cause: str
    instead: tuple[str, tuple[str, ...]] | None = None


def idle_settings(settings: AuditSettings) -> Iterator[Idle]:
    """Settings without effect beside the others, given or not."""
    entry = BY_SETTING.get(settings.mechanism)
    for name in PARAMETERS:
        if entry is None or name not in entry.parameters:
            users = tuple(str(other.setting) for other in BY_SETTING.values() if name in other.parameters)
            yield Idle(name, "mechanism", ("mechanism", users))
    instead = next((name for name in ("published", "zones", "counts") if getattr(settings, name)), None)
    for name in dict.fromkeys(SENSORS.values()):
        if instead and not settings.of_sensors:
            yield Idle(name, instead)
        elif name != SENSORS[settings.sensors]:
            yield Idle(name, "sensors", ("sensors", tuple(kind for kind, part in SENSORS.items() if part == name)))
    if instead and not settings.of_sensors:
        yield Idle("sensors", instead)
    if settings.published:
        yield Idle("counts", "published")
    if "visitors" not in settings.kinds and not settings.counts and not settings.published:
        yield from (Idle(name, "count", ("count", ("visitors",))) for name in ("every", "times"))
    if settings.place_names:
        yield Idle("places", "place_names")
    if settings.habits != "paper":
        yield Idle("smoothing", "habits", ("habits", ("paper",)))
    if not settings.explore:
        yield from (Idle(name, "explore") for name in ("sigmas", "bases"))
    if not settings.backtest:
        yield Idle("origins", "backtest")
    if not settings.adversaries:
        yield from (Idle(name, "adversaries") for name in ("known_steps", "known_shares"))
    if not settings.presence:
        yield from (Idle(name, "presence") for name in ("sensitive", "known_shares"))
    if settings.engine != "dask":
        yield Idle("scheduler", "engine", ("engine", ("dask",)))
    cells = [name for name in ("grid_metres", "h3_resolution") if getattr(settings, name) is not None]
    if cells:
        yield Idle("place", cells[0])
    else:
        yield from (Idle(name, "grid_metres") for name in ("latitude", "longitude"))


def misfits(settings: AuditSettings, say: Speech) -> Iterator[tuple[tuple[str, ...], str]]:
    """Settings at odds with each other, by name, and the reason."""
    yield from _needs(settings, say)
    for each in idle_settings(settings):
        # A later source may take a setting back: an option may overrule a file.
        if say.rank(each.name) >= max(0, say.rank(each.cause)):
            yield (each.name, each.cause), _without_effect(each, settings, say)
    if settings.misses >= settings.holdout:
        misses, holdout = say.given("misses", settings.misses), say.given("holdout", settings.holdout)
        yield ("misses", "holdout"), f"{misses} must be below {holdout}, the steps to find"
    most = max(settings.known_steps, default=0)
    if most > settings.holdout and say.rank("known_steps") >= 0:
        known, holdout = say.given("known_steps", most), say.given("holdout", settings.holdout)
        yield ("known_steps", "holdout"), f"{known} must not be above {holdout}, the steps to find"
    same = [share for share in settings.known_shares if settings.known_shares.count(share) > 1]
    if same:
        yield ("known_shares",), f"{say.name('known_shares')} holds {same[0]:g} more than once; give each once"
    twice = [level for level in settings.thresholds if settings.thresholds.count(level) > 1]
    if twice:
        yield ("thresholds",), f"{say.name('thresholds')} holds {twice[0]:g} more than once; give each once"
    if any(path.is_dir() and path.resolve() == settings.out.resolve() for path in settings.visits):
        out = say.given("out", str(settings.out))
        yield ("out", "visits"), f"{out} is the folder of the visits, which results would be read as; choose another"
    if settings.store == "disk" and settings.effort == "open":
        store, effort = say.given("store", "disk"), say.given("effort", "open")
        yield ("store", "effort"), f"{effort} compares everybody's intervals, and so does not go with {store}"


def _needs(settings: AuditSettings, say: Speech) -> Iterator[tuple[tuple[str, ...], str]]:
    kind = settings.sensors
    name = SENSORS[kind]
    if kind in NEEDED and settings.of_sensors and not getattr(settings, name):
        yield ("sensors", name), f"{say.given('sensors', kind)} needs {say.name(name)}, {NEEDED[kind]}"
    yield from _needs_zones(settings, say)
    for name in ("published", "schedule", "counts"):
        if getattr(settings, name) and settings.window == "auto":
            reason = "the interval of the counts, since its rows speak of steps of that length"
            yield (name, "window"), f"{say.name(name)} needs {say.name('window')}, {reason}"


def _needs_zones(settings: AuditSettings, say: Speech) -> Iterator[tuple[tuple[str, ...], str]]:
    """Flows and visitors are of zones, or of places with a sensor at every step."""
    fixed = settings.sensors in ("most-visited", "fixed")
    for kind in settings.kinds if settings.of_sensors else ():
        asked = say.given("count", kind)
        if kind != "present" and not fixed:
            yield (
                ("count", "zones", "sensors"),
                f"{asked} needs {say.name('zones')}, a file with the columns place and zone, or sensors that stay "
                f"where they are ({say.given('sensors', 'most-visited')} or fixed)",
            )
        alone = settings.sensors == "most-visited" and settings.sensor_count < 2
        if kind == "moved" and (alone or (settings.sensors == "fixed" and len(settings.sensor_places) == 1)):
            name = SENSORS[settings.sensors]
            yield (
                ("count", "zones", "sensor_count", "sensor_places"),
                f"{asked} needs {say.name('zones')}, a file with the columns place and zone, or two sensors or more "
                f"({say.name(name)}): flows go from one to another",
            )
    if "moved" in settings.kinds and settings.holdout < 2 and not settings.published:
        asked, needed = say.given("count", "moved"), say.given("holdout", 2)
        yield ("count", "holdout"), f"{asked} needs {needed} or more: flows go from a published step to the next"


def _without_effect(each: Idle, settings: AuditSettings, say: Speech) -> str:
    cause = getattr(settings, each.cause)
    because = f"with {say.given(each.cause, cause)}" if cause not in (None, ()) else f"without {say.name(each.cause)}"
    said = f"{say.name(each.name)} has no effect {because}; leave it out"
    if each.instead:
        name, kinds = each.instead
        said += f", or set {say.given(name, kinds[0])}" + "".join(f" or {kind}" for kind in kinds[1:])
    return said
