"""`passerby audit`: from a file of visits to a folder with everyone's loss, a summary and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

Several = Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")]
Numbers = Annotated[list[float] | None, Parameter(consume_multiple=True, negative="")]


def audit(
    visits: Path | None = None,
    /,
    *,
    settings: Path | None = None,
    out: Path | None = None,
    overwrite: Annotated[bool, Parameter(negative="")] = False,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    layout: Literal["auto", "foursquare", "gowalla", "table"] | None = None,
    person: str | None = None,
    time: str | None = None,
    place: str | None = None,
    latitude: str | None = None,
    longitude: str | None = None,
    grid_metres: float | None = None,
    h3_resolution: int | None = None,
    timezone: str | None = None,
    max_unparsable: float | None = None,
    window: str | None = None,
    origin: str | None = None,
    end: str | None = None,
    places: int | None = None,
    place_names: Several = None,
    min_active: int | None = None,
    rule: Literal["most-visited", "first", "last"] | None = None,
    holdout: int | None = None,
    smoothing: str | None = None,
    rhythm: Literal["none", "hour", "weekday"] | None = None,
    sensors: Literal["most-visited", "random", "fixed", "schedule"] | None = None,
    sensor_count: int | None = None,
    sensor_places: Several = None,
    schedule: Path | None = None,
    mechanism: str | None = None,
    sigma: float | None = None,
    scale: float | None = None,
    base: int | None = None,
    below: int | None = None,
    rate: float | None = None,
    published: Path | None = None,
    misses: int | None = None,
    tolerance: float | None = None,
    runs: int | None = None,
    confidence: float | None = None,
    budget: float | None = None,
    seed: int | None = None,
    sample: int | None = None,
    explore: int | None = None,
    sigmas: Numbers = None,
    bases: Annotated[list[int] | None, Parameter(consume_multiple=True, negative="")] = None,
    thresholds: Numbers = None,
    delta: float | None = None,
    title: str | None = None,
) -> None:
    """Audit everyone in a file of visits: how exposed each person is by counts that are about to be published.

    Writes a folder with people.parquet (a row per person), summary.json, report.html and audit.toml, which holds all
    settings: `passerby audit --settings FOLDER/audit.toml` runs it again. An interrupted audit goes on where it was.

    Parameters
    ----------
    visits
        Who was where and when: CSV, TSV, Parquet, Foursquare or Gowalla check-ins, compressed or not.
    settings
        Take settings from this file; options given beside it prevail.
    out
        Folder for the results. [default: passerby-audit]
    overwrite
        Replace a finished audit in the folder.
    dry_run
        Say what would be done and how long it would take, and write nothing.
    workers
        Processes that share the work. [default: all cores]
    layout
        Layout of the visits: auto, foursquare, gowalla or table. [default: auto]
    person
        Column that holds the person. [default: recognised by usual names]
    time
        Column that holds the time. [default: recognised]
    place
        Column that holds the place. [default: recognised]
    latitude
        Column that holds the latitude. [default: recognised]
    longitude
        Column that holds the longitude. [default: recognised]
    grid_metres
        Make places from coordinates: squares of this size, in metres.
    h3_resolution
        Make places from coordinates: H3 cells of this resolution (0 to 15).
    timezone
        Zone of times that name none. [default: UTC]
    max_unparsable
        Refuse the visits where more than this share of the rows cannot be read. [default: 0.01]
    window
        Length of a step, such as 20d, 1h or 30m. [default: 20d]
    origin
        When the first step begins. [default: the first visit]
    end
        Leave out visits from this time on. [default: none is left out]
    places
        How many of the most visited places to keep; all others are elsewhere. [default: 100]
    place_names
        Keep the places of these names instead.
    min_active
        Leave out people who are seen in fewer steps. [default: 10]
    rule
        The place of a step with several visits: most-visited, first or last. [default: most-visited]
    holdout
        How many of the last steps are published and to be found; habits are fitted to those before. [default: 5]
    smoothing
        Weight of the population's frequencies in a person's habits, in steps; or auto. [default: 1.0]
    rhythm
        Let habits differ by hour of the day or by weekday: none, hour or weekday. [default: none]
    sensors
        Which places are counted: most-visited, random (new ones each step), fixed or schedule. [default: most-visited]
    sensor_count
        How many sensors count at each step (most-visited and random). [default: 1]
    sensor_places
        Names of the places with a sensor (fixed).
    schedule
        File with the columns place and step (from 1) or time (schedule).
    mechanism
        What is done to a count before it is published: raw, gaussian, discrete-gaussian, laplace, geometric, rounding,
        random-rounding, suppression or sampling. [default: raw]
    sigma
        Standard deviation of the noise (gaussian, discrete-gaussian). [default: 1.0]
    scale
        Scale of the noise (laplace, geometric). [default: 1.0]
    base
        Counts become multiples of this (rounding, random-rounding). [default: 5]
    below
        Counts below this are left empty (suppression). [default: 10]
    rate
        Share of the people who are counted (sampling). [default: 0.5]
    published
        File of the counts that were really published (columns step or time, place, count); gives the realised loss.
    misses
        How many of the steps the adversary may get wrong. [default: 1]
    tolerance
        Stop searching where the interval is within this share of the loss. [default: 0.01]
    runs
        Published series that are drawn for a person where they cannot all be listed. [default: 200]
    confidence
        Level at which an upper end that rests on drawn series holds. [default: 0.99]
    budget
        Elementary operations per person (1e10 take a second or two). [default: 5e9]
    seed
        Seed of all random numbers. [default: 0]
    sample
        Audit only so many people, drawn at random; counts are still of everybody. [default: everyone]
    explore
        On how many people sensors, steps and noise are tried out for the report; 0 for none. [default: 100]
    sigmas
        Levels of noise to try out. [default: 0.5 1 2 4 8]
    bases
        Multiples to try out rounding to. [default: 5 20]
    thresholds
        Chances above which people are counted in the report. [default: 0.1 0.25 0.5 0.9]
    delta
        Delta of differential privacy. [default: 1e-5]
    title
        Title of the report. [default: Audit of published counts]
    """
    given: dict[str, Any] = {name: value for name, value in locals().items() if value is not None}
    for name in ("settings", "overwrite", "dry_run", "workers"):
        given.pop(name, None)
    from passerby.errors import ConfigError
    from passerby.settings import check_settings
    from passerby.settings_file import read_settings

    from .pipeline import dry_run as try_out
    from .pipeline import run

    values = {**(read_settings(settings) if settings else {}), **given}
    if "visits" not in values:
        raise ConfigError("no visits are given: passerby audit VISITS, or --settings with a file that names them")
    if isinstance(values.get("smoothing"), str) and values["smoothing"] != "auto":
        values["smoothing"] = _number(values["smoothing"])
    checked = check_settings(values, str(settings) if settings else "options")
    if dry_run:
        try_out(checked, workers)
    else:
        run(checked, workers, overwrite=overwrite)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
