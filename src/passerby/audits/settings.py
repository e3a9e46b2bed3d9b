"""The settings of an audit, each with its default, its range and a sentence: this is their only definition.

Python, a settings file and the command line are made from it (`validation`, `settings_file`, `cli.options`). Nothing
heavy is imported here, so the help of the command line appears at once.
"""

# ruff: noqa: RUF009 - a setting is a field

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints

#: The limits of mechanisms; the mechanisms check them too, but would import numpy.
NOISE: dict[str, Any] = {"ge": 1e-6, "le": 1_000_000}
BASE: dict[str, Any] = {"ge": 2, "le": 1_000_000_000}


def setting(default: Any, text: str, *, shown: str = "", **limits: Any) -> Any:
    """A setting: its `default` (and a text for a default of none), its sentence, and limits as pydantic's."""
    return field(default=default, metadata={"text": text, "shown": shown, "limits": limits})


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """The visits: who was where and when."""

    visits: tuple[Path, ...] = setting(
        MISSING,
        "Who was where and when: one file or several, or a folder; CSV, TSV, Parquet, Foursquare or Gowalla check-ins, "
        "compressed or not.",
    )
    layout: Literal["auto", "foursquare", "gowalla", "table"] = setting(
        "auto", "Layout of the visits: auto, foursquare, gowalla or table."
    )
    person: str | None = setting(None, "Column that holds the person.", shown="recognised by its usual names")
    time: str | None = setting(None, "Column that holds the time.", shown="recognised by its usual names")
    place: str | None = setting(None, "Column that holds the place.", shown="recognised by its usual names")
    latitude: str | None = setting(None, "Column that holds the latitude.", shown="recognised by its usual names")
    longitude: str | None = setting(None, "Column that holds the longitude.", shown="recognised by its usual names")
    columns: str | None = setting(
        None, 'Names of all columns in order, where the first line is no header: "person,time,place".'
    )
    separator: str | None = setting(
        None,
        "What is between columns: one character, or tab, blank, comma or semicolon.",
        shown="seen in the first line",
    )
    skip_lines: int = setting(0, "Lines on top to pass over.", ge=0, le=1000)
    time_format: str | None = setting(
        None,
        'Form of the times: day-first, month-first (for 03/04/2012), or a pattern such as "%d.%m.%Y %H:%M".',
        shown="ISO 8601, or seconds since 1970",
    )
    since: str | None = setting(None, "Leave out visits before this time.", shown="none is left out")
    until: str | None = setting(None, "Leave out visits from this time on.", shown="none is left out")
    grid_metres: float | None = setting(
        None, "Make places from coordinates: squares of this size, in metres.", ge=1, le=1e7
    )
    h3_resolution: int | None = setting(
        None, "Make places from coordinates: H3 cells of this resolution (0 to 15).", ge=0, le=15
    )
    timezone: str = setting("UTC", "Zone of times that name none, by whose clock steps begin.")
    max_unparsable: float = setting(
        0.01, "Refuse the visits where more than this share of the rows cannot be read.", ge=0, le=1
    )


#: The choice among several places in a step.
Rule = Literal["most-visited", "first", "last"]


@dataclass(frozen=True)
class StepSettings:
    """Steps, places and habits."""

    window: str = setting("auto", "Length of a step, such as 20d, 1h or 30m; auto: one that fits the visits.")
    origin: str | None = setting(
        None,
        "When the first step begins; or first-visit, the instant of the first visit.",
        shown="aligned to the clock: midnight, full hours, Mondays",
    )
    end: str | None = setting(None, "When the last step ends.", shown="the last full step")
    places: int = setting(100, "How many of the most visited places to keep; all others are elsewhere.", ge=1)
    place_names: tuple[str, ...] = setting((), "Keep the places of these names instead.")
    min_active: int = setting(10, "Leave out people who are seen in fewer steps.", ge=0)
    rule: Rule = setting("most-visited", "The place of a step with several visits: most-visited, first or last.")
    holdout: int = setting(
        5, "How many of the last steps are published and to be found; habits are fitted to those before.", ge=1
    )
    habits: Literal["auto", "paper"] = setting(
        "auto", "How habits are fitted: auto (as they predict later steps best) or paper (smoothed counts)."
    )
    smoothing: float | Literal["auto"] = setting(
        1.0, "With paper: how much of everybody's habits to mix into a person's, in steps; or auto.", ge=1e-9, le=1e9
    )
    rhythm: Literal["none", "hour", "weekday", "workday"] = setting(
        "none",
        "Let habits differ by hour of the day, by weekday, or by hour and workday: none (or whichever predicts best, "
        "with habits auto), hour, weekday or workday.",
    )
    name_elsewhere: bool = setting(
        False, "Take a guess that says elsewhere for right where the person is at none of the chosen places."
    )
    common: Literal["auto", "none"] = setting(
        "auto",
        "Whether the adversary knows what everybody did that day: auto (from where the others were, unless earlier "
        "steps say otherwise; with habits auto), or none.",
    )

    @property
    def kept(self) -> int | tuple[str, ...]:
        """The places to keep: how many of the most visited, or their names."""
        return self.place_names or self.places

    @property
    def tracing(
        self,
    ) -> tuple[str, int | tuple[str, ...], Literal["most-visited", "first", "last"], str | None, str | None]:
        """The settings of traces, as arguments of `traces_of`."""
        return self.window, self.kept, self.rule, self.origin, self.end


@dataclass(frozen=True)
class ReleaseSettings:
    """The release: what is counted where, and what is done to the counts."""

    sensors: Literal["most-visited", "random", "fixed", "schedule"] = setting(
        "most-visited",
        "Which places are counted: most-visited, random (new ones at each step), fixed (see sensor-places) or schedule "
        "(a file).",
    )
    sensor_count: int = setting(1, "How many sensors count at each step (most-visited and random).", ge=1)
    sensor_places: tuple[str, ...] = setting(
        (), "Names of the places with a sensor, in quotes where they hold blanks (fixed)."
    )
    zones: Path | None = setting(
        None,
        "File of zones that are counted instead of single places: columns place and zone, and level where there are "
        "several kinds of zones. Their places are kept beside the most visited ones.",
    )
    count: tuple[Literal["present", "moved", "visitors"], ...] = setting(
        (),
        "What is counted of the zones, or of the places with a sensor: present (people who are there, at each step), "
        "moved (people who go from one to another, from each step to the next) and visitors (different people who are "
        "there, in each window of steps); one or several.",
        shown="present, or with a file of counts what it says",
    )
    every: str | None = setting(
        None,
        "Length of the windows in which different visitors are counted, such as 24h, by the clock (visitors).",
        shown="one window, all published steps",
    )
    times: int = setting(1, "At how many steps of a window somebody must be there to be a visitor (visitors).", ge=1)
    counts: Path | None = setting(
        None,
        "File of counts of any kind: columns kind, place or zone (or origin and destination), step (from 1) or time, "
        "times and mechanism; what a row leaves empty is as set elsewhere, and no step means all.",
    )
    schedule: Path | None = setting(None, "File of the sensors: columns place, and step (from 1) or time (schedule).")
    mechanism: str = setting(
        "raw",
        "What is done to a count before it is published: raw, gaussian, discrete-gaussian, laplace, geometric, "
        "rounding, random-rounding, suppression or sampling; or any mechanism as in Python, "
        '"Then(Suppression(10), Rounding(5))".',
    )
    sigma: float = setting(1.0, "Standard deviation of the noise (gaussian, discrete-gaussian).", **NOISE)
    scale: float = setting(1.0, "Scale of the noise (laplace, geometric).", **NOISE)
    base: int = setting(5, "Counts become multiples of this (rounding, random-rounding).", **BASE)
    below: int = setting(10, "Counts below this are left empty (suppression).", ge=1, le=BASE["le"])
    rate: float = setting(0.5, "Share of the people who are counted (sampling).", gt=0, lt=1)
    published: Path | None = setting(
        None,
        "File of the counts that were really published: the column count, and those of a file of counts: place or zone "
        "(or origin and destination), and step (from 1) or time. Each person then also gets a realised loss, given "
        "exactly these counts.",
    )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of counts of zones or sensors; empty if a file of counts alone decides."""
        return tuple(dict.fromkeys(self.count)) or (() if self.counts else ("present",))

    @property
    def ranked(self) -> bool:
        """Whether sensors alone are counted, at places chosen by fitted steps: others at another time."""
        chosen = self.sensors in ("most-visited", "random")
        return chosen and self.zones is None and self.counts is None and self.published is None

    @property
    def of_sensors(self) -> bool:
        """Whether sensors are counted, alone or among others."""
        return bool(self.kinds) and self.zones is None and self.published is None


@dataclass(frozen=True)
class Measurement:
    """How each person is measured; the arguments of `measure` of the same names."""

    misses: int = setting(1, "How many of the steps the adversary may get wrong.", ge=0)
    tolerance: float = setting(
        0.01, "Stop searching for better attacks and bounds where they are within this share of each other.", ge=0
    )
    runs: int = setting(
        200, "Series of published counts that are drawn for a person where they are too many to list.", ge=2
    )
    confidence: float = setting(0.99, "How sure an interval is where series are drawn.", ge=0.5, lt=1)
    budget: float = setting(1e9, "Effort for each person, in elementary operations: 1e10 take a second or two.", ge=0)
    seed: int = setting(0, "Seed of all random numbers.", ge=0)


@dataclass(frozen=True)
class MeasurementSettings(Measurement):
    """The measurement."""

    sample: int | None = setting(
        None, "Audit only so many people, drawn at random; counts are still of everybody.", shown="everyone", ge=1
    )
    effort: Literal["even", "open"] = setting(
        "even",
        "Who gets the effort: even (the same for everyone), or open (half of it for everyone, the rest for people "
        "whose interval holds a threshold of the report or is wide).",
    )


@dataclass(frozen=True)
class QuestionSettings:
    """What is asked of people beside their traces, and of whom."""

    question: tuple[str, ...] = setting(
        (),
        "What is asked besides, of everybody: visited:PLACE (were they ever there), 'visited 3 times:PLACE', "
        "never:PLACE or moved:PLACE>PLACE; several.",
        shown="the trace, whether somebody is counted, each step, and presence at each counted place",
    )
    sensitive: tuple[str, ...] = setting(
        (),
        "Names of places that nobody wants to be seen at, or one file of them: columns place, and label. Alerts come "
        "earlier for these.",
    )
    together: int = setting(1, "How many people move as one, such as a family, of whom each is asked about.", ge=1)
    presence: int = setting(
        200,
        "On how many people presence at each counted place is measured, of those who may well be there, for each kind "
        "of adversary; 0 for none.",
        ge=0,
    )


@dataclass(frozen=True)
class BacktestSettings:
    """Tests of the habits: whether such predictions came true, and what other adversaries would know."""

    backtest: int = setting(
        300,
        "On how many people habits are tried at each of several earlier origins: what they promised against what came "
        "true; 0 for none.",
        ge=0,
    )
    origins: int = setting(5, "From how many earlier steps on to try them, at most.", ge=1)
    adversaries: int = setting(
        100, "On how many people other adversaries are tried, who know less or more than habits; 0 for none.", ge=0
    )
    known_steps: tuple[int, ...] = setting(
        (1, 2), "At how many random steps these know where a person was: one adversary for each number.", ge=1
    )
    known_shares: tuple[float, ...] = setting(
        (0.0, 0.25, 0.5, 0.75, 1.0),
        "Which shares of the other people adversaries know, from 0 (habits) to 1 (an insider); 0 alone for none.",
        ge=0,
        le=1,
    )


@dataclass(frozen=True)
class EngineSettings:
    """Who shares the work; results are the same."""

    engine: Literal["processes", "dask"] = setting(
        "processes", "Who shares the work: processes of this machine, or dask (pip install 'passerby[cluster]')."
    )
    scheduler: str | None = setting(
        None, "With dask: the address of a scheduler, such as tcp://10.0.0.1:8786.", shown="a cluster on this machine"
    )
    store: Literal["auto", "memory", "disk"] = setting(
        "auto",
        "Where everybody is kept meanwhile: memory, disk (in the folder for the results, so that memory does not grow "
        "with the people), or auto: disk from about 20 million rows on.",
    )


@dataclass(frozen=True)
class ReportSettings:
    """The report."""

    explore: int = setting(
        100, "On how many people sensors, steps and noise are tried out for the report; 0 for none.", ge=0
    )
    sigmas: tuple[float, ...] = setting((0.5, 1.0, 2.0, 4.0, 8.0), "Standard deviations of noise to try out.", **NOISE)
    bases: tuple[int, ...] = setting((5, 20), "Multiples to try out rounding to.", **BASE)
    thresholds: tuple[float, ...] = setting(
        (0.1, 0.25, 0.5, 0.9), "Chances to be found: the report says how many people are above each.", gt=0, lt=1
    )
    delta: float = setting(1e-5, "Delta at which the epsilon of differential privacy is given.", gt=0, lt=1)
    title: str = setting("Audit of published counts", "Title of the report.")


#: The groups of settings by their names in the help, in the order of a settings file.
GROUPS: dict[str, type[Any]] = {
    "Data": DataSettings,
    "Steps and places": StepSettings,
    "Release": ReleaseSettings,
    "Measurement": MeasurementSettings,
    "Questions": QuestionSettings,
    "Backtest": BacktestSettings,
    "Report": ReportSettings,
    "Engine": EngineSettings,
}


@dataclass(frozen=True)
class AuditSettings(
    EngineSettings,
    ReportSettings,
    BacktestSettings,
    QuestionSettings,
    MeasurementSettings,
    ReleaseSettings,
    StepSettings,
    DataSettings,
):
    """Everything that an audit depends on. `check_settings` makes it from plain values, and checks them.

    >>> AuditSettings(visits=(Path("visits.csv"),), misses=2).measurement.misses
    2
    """

    out: Path = setting(Path("passerby-audit"), "Folder for the results.")
    assumed: tuple[str, ...] = field(default=(), compare=False)
    """The names in `SAYING` left to the defaults; no setting, since it follows from the given ones."""

    @property
    def measurement(self) -> Measurement:
        """How each person is measured."""
        return Measurement(**self.only(Measurement))

    @property
    def files(self) -> Path | tuple[Path, ...]:
        """The visits as readers take them: one path, by whose name they are called in messages, or several."""
        return self.visits[0] if len(self.visits) == 1 else self.visits

    def only(self, group: type[Any], *leave: str) -> dict[str, Any]:
        """The values of the settings of a group, but for some."""
        return {each.name: getattr(self, each.name) for each in fields(group) if each.name not in leave}


#: All settings by name.
SETTINGS: dict[str, Field[Any]] = {each.name: each for each in fields(AuditSettings) if each.metadata}
#: The types of their values.
TYPES: dict[str, Any] = {name: hint for name, hint in get_type_hints(AuditSettings).items() if name in SETTINGS}

#: The two parts of a release, its counts and its steps; any one of the listed settings describes the part.
SAYING: dict[str, tuple[str, ...]] = {
    "places": ("sensors", "sensor_count", "sensor_places", "zones", "counts", "schedule", "published"),
    "steps": ("window", "origin", "end", "holdout", "counts", "schedule", "published"),
}


def unsaid(given: Collection[str]) -> tuple[str, ...]:
    """The parts of a release left open by these settings.

    >>> unsaid(["visits", "holdout"]), unsaid(["schedule"]), unsaid([])
    (('places',), (), ('places', 'steps'))
    """
    return tuple(what for what, names in SAYING.items() if not {*names} & {*given})


def group_of(name: str) -> str | None:
    """The name of a setting's group; none for the folder of the results.

    >>> group_of("sample"), group_of("out")
    ('Measurement', None)
    """
    return next((title for title, group in GROUPS.items() if any(each.name == name for each in fields(group))), None)


def default_of(name: str) -> str:
    """A setting's default in words, for the help; empty without one.

    >>> default_of("budget"), default_of("sigmas"), default_of("sample"), default_of("schedule")
    ('1e9', '0.5 1 2 4 8', 'everyone', '')
    """
    value, shown = SETTINGS[name].default, str(SETTINGS[name].metadata.get("shown", ""))
    if shown or value in (None, ()) or value is False or value is MISSING:
        return shown
    if isinstance(value, tuple):
        return " ".join(f"{x:g}" for x in value)
    return {"1000000000.0": "1e9", "1e-05": "1e-5"}.get(str(value), str(value))
