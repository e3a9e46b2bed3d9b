"""`passerby audit`: from a file of visits to a folder with everyone's loss, a summary and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

#: The options in the order of a settings file, and under the same headings.
RUN, READ, STEPS, RELEASE, MEASURE, REPORT = (
    Parameter(group=Group(name, sort_key=number), negative="", show_choices=False, consume_multiple=True)
    for number, name in enumerate(
        ("The audit", "The visits", "Steps, places and habits", "The release", "The measurement", "The report")
    )
)
Flag = Annotated[bool, Parameter(show_default=False)]


def audit(
    visits: Path | None = None,
    /,
    *,
    settings: Annotated[Path | None, RUN] = None,
    out: Annotated[Path | None, RUN] = None,
    overwrite: Annotated[Flag, RUN] = False,
    dry_run: Annotated[Flag, RUN] = False,
    workers: Annotated[int | None, RUN, Parameter(validator=Number(gte=1))] = None,
    layout: Annotated[Literal["auto", "foursquare", "gowalla", "table"] | None, READ] = None,
    person: Annotated[str | None, READ] = None,
    time: Annotated[str | None, READ] = None,
    place: Annotated[str | None, READ] = None,
    latitude: Annotated[str | None, READ] = None,
    longitude: Annotated[str | None, READ] = None,
    grid_metres: Annotated[float | None, READ] = None,
    h3_resolution: Annotated[int | None, READ] = None,
    timezone: Annotated[str | None, READ] = None,
    max_unparsable: Annotated[float | None, READ] = None,
    window: Annotated[str | None, STEPS] = None,
    origin: Annotated[str | None, STEPS] = None,
    end: Annotated[str | None, STEPS] = None,
    places: Annotated[int | None, STEPS] = None,
    place_names: Annotated[list[str] | None, STEPS] = None,
    min_active: Annotated[int | None, STEPS] = None,
    rule: Annotated[Literal["most-visited", "first", "last"] | None, STEPS] = None,
    holdout: Annotated[int | None, STEPS] = None,
    smoothing: Annotated[str | None, STEPS] = None,
    rhythm: Annotated[Literal["none", "hour", "weekday"] | None, STEPS] = None,
    sensors: Annotated[Literal["most-visited", "random", "fixed", "schedule"] | None, RELEASE] = None,
    sensor_count: Annotated[int | None, RELEASE] = None,
    sensor_places: Annotated[list[str] | None, RELEASE] = None,
    schedule: Annotated[Path | None, RELEASE] = None,
    mechanism: Annotated[str | None, RELEASE] = None,
    sigma: Annotated[float | None, RELEASE] = None,
    scale: Annotated[float | None, RELEASE] = None,
    base: Annotated[int | None, RELEASE] = None,
    below: Annotated[int | None, RELEASE] = None,
    rate: Annotated[float | None, RELEASE] = None,
    published: Annotated[Path | None, RELEASE] = None,
    misses: Annotated[int | None, MEASURE] = None,
    tolerance: Annotated[float | None, MEASURE] = None,
    runs: Annotated[int | None, MEASURE] = None,
    confidence: Annotated[float | None, MEASURE] = None,
    budget: Annotated[float | None, MEASURE] = None,
    seed: Annotated[int | None, MEASURE] = None,
    sample: Annotated[int | None, MEASURE] = None,
    explore: Annotated[int | None, REPORT] = None,
    sigmas: Annotated[list[float] | None, REPORT] = None,
    bases: Annotated[list[int] | None, REPORT] = None,
    thresholds: Annotated[list[float] | None, REPORT] = None,
    delta: Annotated[float | None, REPORT] = None,
    title: Annotated[str | None, REPORT] = None,
) -> None:
    """Audit everyone in a file of visits: how exposed each person is by counts that are about to be published.

    For example, hourly counts of the three most visited places over the last 8 hours, of which the adversary may get 2
    wrong: `passerby audit visits.csv --window 1h --holdout 8 --misses 2 --sensor-count 3`

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
        Column that holds the person. [default: recognised by its usual names]
    time
        Column that holds the time. [default: recognised by its usual names]
    place
        Column that holds the place. [default: recognised by its usual names]
    latitude
        Column that holds the latitude. [default: recognised by its usual names]
    longitude
        Column that holds the longitude. [default: recognised by its usual names]
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
        How much of everybody's habits to mix into a person's, in steps; or auto. [default: 1.0]
    rhythm
        Let habits differ by hour of the day or by weekday: none, hour or weekday. [default: none]
    sensors
        Which places are counted: most-visited, random (new ones at each step), fixed (see sensor-places) or schedule (a
        file). [default: most-visited]
    sensor_count
        How many sensors count at each step (most-visited and random). [default: 1]
    sensor_places
        Names of the places with a sensor, in quotes where they hold blanks (fixed).
    schedule
        File of the sensors: columns place, and step (from 1) or time (schedule).
    mechanism
        What is done to a count before it is published: raw, gaussian, discrete-gaussian, laplace, geometric, rounding,
        random-rounding, suppression or sampling; or any mechanism as in Python, "Then(Suppression(10), Rounding(5))".
        [default: raw]
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
        File of the counts that were really published: columns place, count, and step (from 1) or time. Each person then
        also gets a realised loss, given exactly these counts.
    misses
        How many of the steps the adversary may get wrong. [default: 1]
    tolerance
        Stop searching for better attacks and bounds where they are within this share of each other. [default: 0.01]
    runs
        Series of published counts that are drawn for a person where they are too many to list. [default: 200]
    confidence
        How sure an interval is where series are drawn. [default: 0.99]
    budget
        Effort for each person, in elementary operations: 1e10 take a second or two. [default: 1e9]
    seed
        Seed of all random numbers. [default: 0]
    sample
        Audit only so many people, drawn at random; counts are still of everybody. [default: everyone]
    explore
        On how many people sensors, steps and noise are tried out for the report; 0 for none. [default: 100]
    sigmas
        Standard deviations of noise to try out. [default: 0.5 1 2 4 8]
    bases
        Multiples to try out rounding to. [default: 5 20]
    thresholds
        Chances to be found: the report says how many people are above each. [default: 0.1 0.25 0.5 0.9]
    delta
        Delta at which the epsilon of differential privacy is given. [default: 1e-5]
    title
        Title of the report. [default: Audit of published counts]
    """
    given: dict[str, Any] = {name: value for name, value in locals().items() if value is not None}
    for name in ("settings", "overwrite", "dry_run", "workers"):
        given.pop(name, None)
    from passerby.audits.settings import check_settings
    from passerby.audits.settings_file import read_settings
    from passerby.errors import ConfigError

    from .dry_run import dry_run as estimate
    from .pipeline import run

    values = {**(read_settings(settings) if settings else {}), **given}
    if "visits" not in values:
        raise ConfigError("no visits are given: passerby audit VISITS, or --settings with a file that names them")
    checked = check_settings(values, str(settings) if settings else "options")
    if dry_run:
        estimate(checked, workers)
    else:
        run(checked, workers, overwrite=overwrite)
