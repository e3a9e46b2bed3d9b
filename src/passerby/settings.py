"""The settings of an audit: what `audit.toml` holds, and what the options of the command line set.

Settings are checked as a whole, so that everything that is wrong with them is said at once. Paths in a settings file
are relative to the folder that the file lies in, so that a folder with an audit can be moved together with its visits.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from .errors import ConfigError, PasserbyError
from .files import whole_or_nothing
from .mechanisms import (
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
from .release import Release
from .visits.people import People
from .visits.sensors import Sensors, fixed_sensors, most_visited_sensors, random_sensors, scheduled_sensors
from .visits.steps import parse_instant, parse_length

Share = Annotated[float, Field(ge=0, le=1)]
Probability = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


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
    smoothing: Positive | Literal["auto"] = 1.0
    rhythm: Literal["none", "hour", "weekday"] = "none"
    # The release.
    sensors: Literal["most-visited", "random", "fixed", "schedule"] = "most-visited"
    sensor_count: Count = 1
    sensor_places: tuple[str, ...] = ()
    schedule: Path | None = None
    mechanism: str = "raw"
    sigma: Positive = 1.0
    scale: Positive = 1.0
    base: Annotated[int, Field(ge=2)] = 5
    below: Count = 10
    rate: Annotated[float, Field(gt=0, lt=1)] = 0.5
    published: Path | None = None
    # The measurement.
    misses: Annotated[int, Field(ge=0)] = 1
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    runs: Annotated[int, Field(ge=2)] = 200
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = 0.99
    budget: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5e9
    seed: Annotated[int, Field(ge=0)] = 0
    sample: Count | None = None
    # The report.
    explore: Annotated[int, Field(ge=0)] = 100
    sigmas: tuple[Positive, ...] = (0.5, 1.0, 2.0, 4.0, 8.0)
    bases: tuple[Annotated[int, Field(ge=2)], ...] = (5, 20)
    thresholds: tuple[Probability, ...] = (0.1, 0.25, 0.5, 0.9)
    delta: Probability = 1e-5
    title: str = "Audit of published counts"
    out: Path = Path("passerby-audit")

    @field_validator("window")
    @classmethod
    def _length(cls, value: str) -> str:
        return _told(lambda: parse_length(value), value)

    @field_validator("origin", "end")
    @classmethod
    def _instant(cls, value: str | None) -> str | None:
        return value if value is None else _told(lambda: parse_instant(value, "it"), value)

    @field_validator("mechanism")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in MECHANISMS:
            raise ValueError(f"expected {_listed(MECHANISMS)}")
        return value

    @model_validator(mode="after")
    def _fit_together(self) -> AuditSettings:
        wrong = []
        if self.sensors == "fixed" and not self.sensor_places:
            wrong.append("sensors = 'fixed' needs sensor_places, the names of the places with a sensor")
        if self.sensors != "fixed" and self.sensor_places:
            wrong.append(f"sensor_places has no meaning with sensors = {self.sensors!r}; set sensors = 'fixed'")
        if self.sensors == "schedule" and self.schedule is None:
            wrong.append("sensors = 'schedule' needs schedule, a file with the columns place and step (or time)")
        if self.sensors != "schedule" and self.schedule is not None:
            wrong.append(f"schedule has no meaning with sensors = {self.sensors!r}; set sensors = 'schedule'")
        if self.misses >= self.holdout:
            wrong.append(f"misses = {self.misses} must be below holdout = {self.holdout}, the steps to find")
        if wrong:
            raise ValueError("\n".join(wrong))
        return self

    def build_mechanism(self) -> Mechanism:
        """The mechanism that these settings name."""
        return MECHANISMS[self.mechanism](self)

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


#: The mechanisms that can be asked for by name: a line each.
MECHANISMS: dict[str, Callable[[AuditSettings], Mechanism]] = {
    "raw": lambda settings: Raw(),
    "gaussian": lambda settings: Gaussian(settings.sigma),
    "discrete-gaussian": lambda settings: DiscreteGaussian(settings.sigma),
    "laplace": lambda settings: Laplace(settings.scale),
    "geometric": lambda settings: Geometric(settings.scale),
    "rounding": lambda settings: Rounding(settings.base),
    "random-rounding": lambda settings: RandomRounding(settings.base),
    "suppression": lambda settings: Suppression(settings.below),
    "sampling": lambda settings: Sampling(settings.rate),
}

#: The settings that are paths.
PATHS = ("visits", "schedule", "published", "out")

#: The headings of a settings file, each above the setting that it begins with.
HEADINGS = {
    "visits": "The visits: who was where and when.",
    "window": "Steps, places and habits.",
    "sensors": "The release: which sensors count, and what is done to the counts.",
    "misses": "The measurement.",
    "explore": "The report.",
}


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
        lines = [line for fault in error.errors() for line in _said(fault)]
        raise ConfigError("\n  ".join([f"{where}:", *dict.fromkeys(lines)])) from None


def read_settings(path: str | Path) -> dict[str, Any]:
    """The values of a settings file, with its paths made relative to the working folder; not yet checked."""
    file = Path(path)
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{file}: there is no such settings file") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not a settings file (TOML): {error}") from None
    for name in PATHS:
        if isinstance(values.get(name), str):
            values[name] = Path(os.path.relpath(file.parent / values[name]))
    return values


def write_settings(settings: AuditSettings, path: str | Path) -> None:
    """Write settings as TOML, such that reading them gives the same settings."""
    file = Path(path)
    with whole_or_nothing(file) as temporary:
        temporary.write_text(as_toml(settings, file.parent), encoding="utf-8")


def as_toml(settings: AuditSettings, folder: Path = Path()) -> str:
    """Settings as the text of a TOML file that lies in `folder`; settings that are not given are left out."""
    lines = ["# Settings of an audit. To run it again: passerby audit --settings audit.toml"]
    for name in AuditSettings.model_fields:
        if name in HEADINGS:
            lines += ["", f"# {HEADINGS[name]}"]
        value = getattr(settings, name)
        if isinstance(value, Path):
            value = Path(os.path.relpath(value, folder)).as_posix()
        if value is not None:
            lines.append(f"{name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # JSON's strings are TOML's, but for the character DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


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


def _listed(names: Mapping[str, Any]) -> str:
    return " or ".join(map(repr, names))
