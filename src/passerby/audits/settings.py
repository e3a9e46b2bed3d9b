"""The settings of an audit: what `audit.toml` holds, and what the options of the command line set.

Settings are checked as a whole, so that everything that is wrong with them is said at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from passerby.errors import ConfigError, PasserbyError
from passerby.mechanisms import Mechanism
from passerby.mechanisms.notation import read_mechanism
from passerby.mechanisms.registry import BY_SETTING, PARAMETERS
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.people.sensors import Sensors, fixed_sensors, most_visited_sensors, random_sensors, scheduled_sensors
from passerby.visits.steps import parse_instant, parse_length


def _limits(parameter: str) -> Any:
    """The limits of a parameter of mechanisms."""
    return Field(**PARAMETERS[parameter].limits)  # type: ignore[call-overload]


Share = Annotated[float, Field(ge=0, le=1)]
Probability = Annotated[float, Field(gt=0, lt=1)]
Sigma = Annotated[float, _limits("sigma")]
Scale = Annotated[float, _limits("scale")]
Base = Annotated[int, _limits("base")]
Below = Annotated[int, _limits("below")]
Rate = Annotated[float, _limits("rate")]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


#: The settings that are paths.
PATHS = ("visits", "schedule", "published", "out")


class AuditSettings(BaseModel):
    """Everything that an audit depends on.

    >>> AuditSettings(visits="visits.csv", misses=2).misses
    2
    """

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    # The visits.
    visits: Path
    layout: Literal["auto", "foursquare", "gowalla", "table"] = "auto"
    person: str | None = None
    time: str | None = None
    place: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    grid_metres: Positive | None = None
    h3_resolution: Annotated[int, Field(ge=0, le=15)] | None = None
    timezone: str = "UTC"
    max_unparsable: Share = 0.01
    # Steps, places and habits.
    window: str = "20d"
    origin: str | None = None
    end: str | None = None
    places: Count = 100
    place_names: tuple[str, ...] = ()
    min_active: Annotated[int, Field(ge=0)] = 10
    rule: Literal["most-visited", "first", "last"] = "most-visited"
    holdout: Count = 5
    smoothing: Annotated[float, Field(ge=1e-9, le=1e9)] | Literal["auto"] = 1.0
    rhythm: Literal["none", "hour", "weekday"] = "none"
    # The release.
    sensors: Literal["most-visited", "random", "fixed", "schedule"] = "most-visited"
    sensor_count: Count = 1
    sensor_places: tuple[str, ...] = ()
    schedule: Path | None = None
    mechanism: str = "raw"
    sigma: Sigma = PARAMETERS["sigma"].default
    scale: Scale = PARAMETERS["scale"].default
    base: Base = int(PARAMETERS["base"].default)
    below: Below = int(PARAMETERS["below"].default)
    rate: Rate = PARAMETERS["rate"].default
    published: Path | None = None
    # The measurement.
    misses: Annotated[int, Field(ge=0)] = 1
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    runs: Annotated[int, Field(ge=2)] = 200
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = 0.99
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1e9
    seed: Annotated[int, Field(ge=0)] = 0
    sample: Count | None = None
    # The report.
    explore: Annotated[int, Field(ge=0)] = 100
    sigmas: tuple[Sigma, ...] = (0.5, 1.0, 2.0, 4.0, 8.0)
    bases: tuple[Base, ...] = (5, 20)
    thresholds: tuple[Probability, ...] = (0.1, 0.25, 0.5, 0.9)
    delta: Probability = 1e-5
    title: str = "Audit of published counts"
    out: Path = Path("passerby-audit")

    @field_validator("window")
    @classmethod
    def _length(cls, value: str) -> str:
        return _told(lambda: parse_length(value), value)

    @field_validator(*PATHS)
    @classmethod
    def _path(cls, value: Path | None) -> Path | None:
        names = [name.encode(errors="replace") for name in Path(value or ".").parts]
        if b"\0" in b"".join(names) or any(len(name) > 255 for name in names) or sum(map(len, names)) > 3000:
            raise ValueError("it is no path: it holds the character NUL, or is too long")
        return value

    @field_validator("origin", "end")
    @classmethod
    def _instant(cls, value: str | None) -> str | None:
        return value if value is None else _told(lambda: parse_instant(value, "it"), value)

    @field_validator("mechanism")
    @classmethod
    def _known(cls, value: str) -> str:
        if "(" in value:
            return _told(lambda: read_mechanism(value), value)
        if value not in BY_SETTING:
            near = difflib.get_close_matches(value, BY_SETTING, 1)
            hint = f"; did you mean {near[0]}?" if near else ", nor as 'Then(Suppression(10), Rounding(5))'"
            raise ValueError(f"{value!r} is not one of {', '.join(BY_SETTING)}{hint}")
        return value

    @model_validator(mode="after")
    def _fit_together(self, info: ValidationInfo) -> AuditSettings:
        """What settings must be to each other; those that the context names are wrong in themselves and left alone."""
        asked, held = self.sensors, self.holdout
        wrong = [
            (
                asked == "fixed" and not self.sensor_places,
                ("sensors", "sensor_places"),
                "sensors = 'fixed' needs sensor_places, the names of the places with a sensor",
            ),
            (
                asked != "fixed" and bool(self.sensor_places),
                ("sensors", "sensor_places"),
                f"sensor_places has no meaning with sensors = {asked!r}; set sensors = 'fixed'",
            ),
            (
                asked == "schedule" and self.schedule is None,
                ("sensors", "schedule"),
                "sensors = 'schedule' needs schedule, a file with the columns place and step (or time)",
            ),
            (
                asked != "schedule" and self.schedule is not None,
                ("sensors", "schedule"),
                f"schedule has no meaning with sensors = {asked!r}; set sensors = 'schedule'",
            ),
            (
                self.misses >= held,
                ("misses", "holdout"),
                f"misses = {self.misses} must be below holdout = {held}, the steps to find",
            ),
        ]
        alone = info.context or set()
        said = [message for is_wrong, names, message in wrong if is_wrong and alone.isdisjoint(names)]
        if said:
            raise ValueError("\n".join(said))
        return self

    def build_mechanism(self) -> Mechanism:
        """The mechanism that these settings name."""
        return read_mechanism(self.mechanism) if "(" in self.mechanism else BY_SETTING[self.mechanism].build(self)

    def build_sensors(self, people: People) -> Sensors:
        """The sensors of each held-out step, by place numbers."""
        if self.sensors == "fixed":
            return fixed_sensors(people, self.sensor_places)
        if self.sensors == "schedule":
            assert self.schedule is not None
            return scheduled_sensors(people, self.schedule)
        if self.sensors == "random":
            return random_sensors(people, self.sensor_count, self.seed)
        return most_visited_sensors(people, self.sensor_count)

    def build_release(self, people: People) -> Release:
        """What would be published about these people."""
        return Release(self.build_sensors(people), self.build_mechanism())


def check_settings(values: Mapping[str, Any], where: str = "settings") -> AuditSettings:
    """Settings from plain values; a `ConfigError` says everything that is wrong with them.

    >>> check_settings({"visits": "v.csv", "missses": 1, "runs": 1})
    Traceback (most recent call last):
    passerby.errors.ConfigError: settings:
      runs = 1: it should be greater than or equal to 2
      missses: there is no such setting; did you mean misses?
    """
    try:
        return AuditSettings.model_validate(dict(values))
    except ValidationError as error:
        faults: list[Mapping[str, Any]] = [*error.errors()]
    # Settings that are wrong in themselves hide how the others fit together.
    alone = {str(fault["loc"][0]) for fault in faults if fault["loc"]}
    rest = {name: value for name, value in values.items() if name not in alone}
    try:
        AuditSettings.model_validate({"visits": Path(), **rest}, context=alone)
    except ValidationError as error:
        faults += error.errors()
    lines = [line for fault in faults for line in _said(fault)]
    raise ConfigError("\n  ".join([f"{where}:", *dict.fromkeys(lines)]))


def _said(fault: Mapping[str, Any]) -> list[str]:
    """What pydantic found, in plain words."""
    name = ".".join(str(part) for part in fault["loc"] if not str(part).startswith(("constrained", "literal")))
    message = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if fault["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, AuditSettings.model_fields, 1)
        return [f"{name}: there is no such setting" + (f"; did you mean {near[0]}?" if near else "")]
    if fault["type"] == "missing":
        return [f"{name}: this setting is needed"]
    if not name:
        return message.splitlines()
    return [
        f"{name} = {_shown(fault['input'])}: it {message}" if message.startswith("should") else f"{name}: {message}"
    ]


def _shown(value: object) -> str:
    return repr(str(value)) if isinstance(value, Path) else repr(value)


def _told(check: Callable[[], object], value: str) -> str:
    """`value`, or the complaint of a check in the form that pydantic collects."""
    try:
        check()
    except PasserbyError as error:
        raise ValueError(str(error)) from None
    return value
